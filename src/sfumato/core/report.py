"""Report: numbers with their evidence, ready to be printed, saved and compared."""

from __future__ import annotations

__all__ = ["Number", "Report"]

import html
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from os import PathLike
from typing import Any

import numpy as np

from sfumato.core import storage
from sfumato.core.origin import Origin


@dataclass(frozen=True, slots=True)
class Number:
    """One number: what it is called, what it describes, its value, its n, and its interval where there is one."""

    name: str
    value: float
    n: int
    of: str = ""
    low: float | None = None
    high: float | None = None
    level: float | None = None

    def __str__(self) -> str:
        interval = f" [{_short(self.low)}, {_short(self.high)}]" if self.low is not None else ""
        return _short(self.value) + interval


@dataclass(frozen=True)
class Report:
    """Numbers about one thing, or the same numbers about several, with the origin they share.

    >>> report = Report("Votes", [Number("accuracy_score", 0.5, n=2, of="standard")], Origin("compare", seed=0))
    >>> report["accuracy_score", "standard"].value
    0.5
    """

    title: str
    numbers: tuple[Number, ...]
    origin: Origin
    notes: tuple[str, ...] = ()
    # Larger evidence than one number, as plain lists: a matrix, a curve, names with scores.
    details: Mapping[str, Any] = field(default_factory=dict)

    def __init__(
        self,
        title: str,
        numbers: Sequence[Number],
        origin: Origin,
        notes: Sequence[str] = (),
        details: Mapping[str, Any] | None = None,
    ) -> None:
        object.__setattr__(self, "title", title)
        object.__setattr__(self, "numbers", tuple(numbers))
        object.__setattr__(self, "origin", origin)
        object.__setattr__(self, "notes", tuple(notes))
        object.__setattr__(self, "details", dict(details or {}))

    def __getitem__(self, key: str | tuple[str, str]) -> Number:
        """Return a number by name, or by name and what it describes."""
        name, of = (key, None) if isinstance(key, str) else key
        for number in self.numbers:
            if number.name == name and (of is None or number.of == of):
                return number
        raise KeyError(key)

    def names(self) -> list[str]:
        """Return the names of the numbers, each once, in order."""
        return list(dict.fromkeys(number.name for number in self.numbers))

    def rows(self) -> dict[str, dict[str, Number]]:
        """Return the numbers as rows (what they describe) of columns (their names)."""
        table: dict[str, dict[str, Number]] = {}
        for number in self.numbers:
            table.setdefault(number.of, {})[number.name] = number
        return table

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain data."""
        return {
            "title": self.title,
            "origin": self.origin.to_dict(),
            "numbers": [asdict(number) for number in self.numbers],
            "notes": list(self.notes),
            "details": dict(self.details),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Report:
        """Return the report that `to_dict` wrote."""
        numbers = [Number(**_measured(number)) for number in data["numbers"]]
        return cls(data["title"], numbers, Origin.from_dict(data["origin"]), data["notes"], data.get("details"))

    def to_json(self) -> str:
        """Return the report as JSON; a number that is not finite stands as text, as JSON has none."""
        return json.dumps(_finite(self.to_dict()), ensure_ascii=False, indent=2, allow_nan=False)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the report as .json, which `load` reads again, or as .md, whole or not at all."""
        storage.save(self, path)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Report:
        """Read a report that was saved as .json."""
        result: Report = storage.load(cls, path)
        return result

    def to_markdown(self) -> str:
        """Return the report as a Markdown table."""
        names = self.names()
        lines = ["| | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
        for of, numbers in self.rows().items():
            cells = [str(numbers[name]) if name in numbers else "" for name in names]
            lines.append(f"| {of or self.title} | " + " | ".join(cells) + " |")
        return "\n".join(lines)

    def __str__(self) -> str:
        return "\n".join([self.title, "", self.to_markdown(), *([""] if self.notes else []), *self.notes])

    def _repr_html_(self) -> str:
        names = self.names()
        head = "".join(f"<th>{html.escape(name)}</th>" for name in names)
        body = "".join(
            f"<tr><th>{html.escape(of)}</th>" + "".join(f"<td>{numbers.get(name, '')}</td>" for name in names) + "</tr>"
            for of, numbers in self.rows().items()
        )
        return f"<table><caption>{html.escape(self.title)}</caption><tr><th></th>{head}</tr>{body}</table>"


def _short(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}" if abs(value) < 1e-3 and value else f"{value:.4f}"


def _measured(number: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a number with those that are not finite, which JSON has as text, as numbers again."""
    floats = {key: float(number[key]) for key in ("value", "low", "high", "level") if number.get(key) is not None}
    return {**number, **floats}


def _finite(value: Any) -> Any:
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(inner) for inner in value]
    return value
