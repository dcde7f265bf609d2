"""What the papers print: numbers as they stand there, with their spread and their stars."""

from __future__ import annotations

__all__ = ["Printed", "read_published"]

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from sfumato.errors import FormatError

_SHAPE = re.compile(r"^(≈ ?)?([-+]?\d[\d,]*\.?\d*)(?: ?± ?(\d+\.?\d*))? ?(%|s)?(\*{0,2})$")


@dataclass(frozen=True, slots=True)
class Printed:
    """A number of a paper: the ``text`` as printed, its value, its digits after the point, and the printed spread.

    A number printed as a percentage has the ``scale`` 100: its value here is that of ours, between 0 and 1.

    >>> printed = Printed.of("86.62 %**")
    >>> round(printed.value, 6), printed.matches(0.86618), printed.matches(0.8663)
    (0.8662, True, False)
    """

    text: str
    value: float
    digits: int
    scale: float
    spread: float | None
    stars: str

    @classmethod
    def of(cls, text: str) -> Printed:
        """Read a number as a paper prints it: 0.927, 1.293±0.08, 86.62 %**."""
        found = _SHAPE.match(text)
        if found is None:
            raise FormatError(f"{text!r} is not a printed number, such as 0.927, 1.293±0.08 or 86.62 %**.")
        _, number, spread, unit, stars = found.groups()
        scale = 100.0 if unit == "%" else 1.0
        digits = len(number.partition(".")[2])
        value = float(number.replace(",", "")) / scale
        return cls(text, value, digits, scale, None if spread is None else float(spread) / scale, stars)

    def shown(self, value: float) -> str:
        """Return one of our numbers with the digits and the unit of the paper's."""
        # A float that is a hair below the half would else be rounded down where the exact number is rounded up.
        shown = f"{round(value * self.scale, 9):,.{self.digits}f}"
        return shown + (" %" if self.scale == 100 else "")

    def matches(self, value: float) -> bool:
        """Return whether our number rounds to what is printed."""
        half = 0.5 * 10.0**-self.digits
        return abs(round(value * self.scale, 9) - self.value * self.scale) <= half + 1e-9


def read_published(path: Path, table: str) -> Mapping[tuple[str, str, str], Printed]:
    """Return the numbers of one table of a ``published.toml``: (row, on, metric) → what is printed there."""
    if not path.is_file():
        return {}
    found: dict[tuple[str, str, str], Printed] = {}
    for row, cells in _parts(_tables(path).get(table, {}), f"{path}, {table},"):
        for on, numbers in _parts(cells, f"{path}, {table}, {row!r},"):
            for metric, text in _parts(numbers, f"{path}, {table}, {row!r}, {on!r},"):
                if not isinstance(text, str):
                    raise FormatError(f'{path}, {table}, {row!r}, {on!r}, has {metric} without quotes; write "{text}".')
                found[row, on, metric] = Printed.of(text)
    return found


def _parts(given: Any, where: str) -> Iterable[tuple[str, Any]]:
    if not isinstance(given, Mapping):
        raise FormatError(f'{where} is {given!r}; it must be a table, such as [table."row"] with "on" = {{ … }}.')
    return given.items()


@lru_cache(maxsize=64)
def _tables(path: Path) -> Mapping[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise FormatError(f"{path} is not TOML: {error}.") from None
