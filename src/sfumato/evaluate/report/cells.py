"""How numbers, intervals, p-values and levels are written in the tables of every report."""

from __future__ import annotations

__all__ = [
    "UNKNOWN",
    "arrow",
    "cell",
    "d_z",
    "difference",
    "interval",
    "leading",
    "level_words",
    "number",
    "p_value",
    "verdict",
    "words",
]

import math
from collections.abc import Mapping, Sequence
from typing import Any

from sfumato.core.report import Number

# Stands where there is no number.
UNKNOWN = "–"


def number(value: float | None, digits: int = 3) -> str:
    """Return a number with a true minus sign; a dash where it is none.

    >>> number(-0.12345), number(float("nan")), number(float("inf")), number(-0.00001)
    ('−0.123', '–', '∞', '0.000')
    """
    if value is None or math.isnan(value):
        return UNKNOWN
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    shown = f"{value:.{digits}f}"
    return shown.lstrip("-") if float(shown) == 0 else shown.replace("-", "−")


def interval(low: float | None, high: float | None, digits: int = 3) -> str:
    """Return an interval in brackets, nothing where there is none.

    >>> interval(-0.1, 0.2), interval(None, None)
    ('[−0.100, 0.200]', '')
    """
    if low is None or high is None or math.isnan(low) or math.isnan(high):
        return ""
    return f"[{number(low, digits)}, {number(high, digits)}]"


def cell(one: Number | None, digits: int = 3, *, mark: str = "") -> str:
    """Return a number with its interval; nothing where a system has no such number.

    >>> cell(Number("f1_score", 0.5, n=9, low=0.4, high=0.6), mark="*")
    '0.500* [0.400, 0.600]'
    """
    if one is None:
        return ""
    return f"{number(one.value, digits)}{mark} {interval(one.low, one.high, digits)}".rstrip()


def difference(row: Mapping[str, Any], digits: int = 4) -> str:
    """Return a difference with its interval, each with its sign; what is nothing at all has neither.

    >>> difference({"difference": -0.5, "low": -0.75, "high": 0.25}, 2)
    '−0.50 [−0.75, +0.25]'
    >>> difference({"difference": 0.0, "low": 0.0, "high": 0.0})
    '0.0000'
    """
    if math.isnan(row["difference"]):
        return UNKNOWN
    shown = _signed(row["difference"], digits)
    ends = [_signed(row[end], digits) for end in ("low", "high")]
    return (
        shown if math.isnan(row["low"]) or not "".join([shown, *ends]).strip("0.") else f"{shown} [{', '.join(ends)}]"
    )


def p_value(value: float) -> str:
    """Return a p-value.

    >>> p_value(0.0004), p_value(0.2), p_value(float("nan"))
    ('<0.001', '0.200', '–')
    """
    return UNKNOWN if math.isnan(value) else "<0.001" if value < 0.001 else f"{value:.3f}"


def d_z(value: float) -> str:
    """Return an effect size with its sign."""
    return UNKNOWN if math.isnan(value) else _signed(value, 2)


def verdict(row: Mapping[str, Any], level: float) -> str:
    """Return what the test of a comparison says.

    >>> verdict({"p_value": 0.01, "p_holm": 0.02, "better": "A"}, 0.95), verdict({"p_value": float("nan")}, 0.95)
    ('A is better', 'not tested')
    """
    if math.isnan(row["p_value"]):
        return "not tested"
    return f"{row['better']} is better" if row["p_holm"] <= 1 - level and row["better"] else "not told apart"


def leading(numbers: Sequence[Number | None], *, higher: bool) -> list[int]:
    """Return the places of the best of several numbers, those that tie with it too; none where all are equally good.

    >>> [leading([Number("f1_score", v, n=9) for v in values], higher=True) for values in ([1, 2, 2], [2, 2], [1])]
    [[1, 2], [], []]
    """
    known = [one.value for one in numbers if one is not None and not math.isnan(one.value)]
    if len(known) < 2 or _same(min(known), max(known)):
        return []
    top = max(known) if higher else min(known)
    return [place for place, one in enumerate(numbers) if one is not None and _same(one.value, top)]


def words(name: str) -> str:
    """Return the name of a metric in words.

    >>> words("f1_score")
    'f1 score'
    """
    return name.replace("_", " ")


def arrow(higher: bool) -> str:
    """Return which way is better."""
    return "↑" if higher else "↓"


def level_words(level: float) -> str:
    """Return the level of an interval.

    >>> level_words(0.95), level_words(0.995)
    ('95%', '99.5%')
    """
    return f"{level * 100:.10g}%"


def _same(a: float, b: float) -> bool:
    # The mean of three runs that are equal differs from each of them in the last bit.
    return a == b or math.isclose(a, b, rel_tol=1e-12, abs_tol=1e-15)


def _signed(value: float, digits: int) -> str:
    shown = number(value, digits)
    return f"+{shown}" if value > 0 and shown.strip("0.") else shown
