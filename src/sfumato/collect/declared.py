"""A table of settings in study.toml as the frozen dataclass that it declares."""

from __future__ import annotations

__all__ = ["declared"]

import dataclasses
import difflib
import math
from collections.abc import Mapping
from typing import Any, TypeVar

from sfumato.errors import OptionError

T = TypeVar("T")
_WORDS = {bool: "true or false", int: "a whole number", float: "a number", str: "a text", tuple: "a list of texts"}


def declared(start: T, told: Mapping[str, Any], *, table: str, more: tuple[str, ...] = ()) -> T:
    """Return *start*, an object of a dataclass, with what was *told*; each value is of the type that stands there.

    Unknown names are refused, with those that are known and *more* that are known beside them.

    >>> @dataclasses.dataclass(frozen=True)
    ... class Rule:
    ...     least: float = 0.5
    >>> declared(Rule(), {"least": 1}, table="rule")
    Rule(least=1.0)
    """
    known = [each.name for each in dataclasses.fields(start)]  # type: ignore[arg-type]
    values: dict[str, Any] = {}
    for name, value in told.items():
        if name not in known:
            near = difflib.get_close_matches(name, [*more, *known], n=1)
            meant = f" Did you mean {near[0]}?" if near else ""
            raise OptionError(f"There is no setting {table}.{name}.{meant} Known here: {', '.join([*more, *known])}.")
        wanted = type(getattr(start, name))
        if wanted is tuple:
            right = isinstance(value, list | tuple) and all(isinstance(each, str) for each in value)
        else:
            right = isinstance(value, (int, float) if wanted is float else wanted)
        if not right or (isinstance(value, bool) and wanted is not bool):
            raise OptionError(f"{table}.{name} must be {_WORDS[wanted]}. Got {value!r} instead.")
        if wanted is float and not math.isfinite(value):
            raise OptionError(f"{table}.{name} must be a number that is finite. Got {value!r} instead.")
        values[name] = wanted(value)
    return dataclasses.replace(start, **values)  # type: ignore[type-var]
