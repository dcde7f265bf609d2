"""Axes: which numbers stand along them, and where a value lies between them."""

from __future__ import annotations

__all__ = ["Axis", "Plane", "plane"]

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sfumato.evaluate.report.drawing import Box, Drawing, Line, Mark, Words, series_colour, shortened

# Where the plane begins and ends within the drawing.
_LEFT, _TOP, _SIDE_X, _SIDE_Y = 52, 24, 290, 250
_LEGEND = 18
# Letters of a name in the legend, so that it ends within the drawing.
_NAME = 38


@dataclass(frozen=True, slots=True)
class Axis:
    """The range of an axis and the numbers that are written along it."""

    low: float
    high: float
    ticks: tuple[float, ...]

    @classmethod
    def around(cls, values: Iterable[float], *, n_ticks: int = 5) -> Axis:
        """Return an axis with round numbers that holds all finite *values*.

        >>> Axis.around([0.13, 0.87])
        Axis(low=0.0, high=1.0, ticks=(0.0, 0.2, 0.4, 0.6, 0.8, 1.0))
        """
        known = [value for value in values if math.isfinite(value)]
        low, high = (min(known), max(known)) if known else (0.0, 1.0)
        if low == high:
            low, high = low - (abs(low) or 1) / 2, high + (abs(high) or 1) / 2
        rough = (high - low) / n_ticks
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor >= rough * (1 - 1e-9))
        first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
        # Through a decimal text: 3 · 0.1 is not 0.3.
        ticks = tuple(float(f"{place * step:.12g}") + 0.0 for place in range(first, last + 1))
        return cls(ticks[0], ticks[-1], ticks)

    def share(self, value: float) -> float:
        """Return where a value lies, 0 at the low end and 1 at the high one.

        >>> Axis(0, 10, (0, 5, 10)).share(2.5)
        0.25
        """
        return (value - self.low) / (self.high - self.low)


@dataclass(frozen=True, slots=True)
class Plane:
    """Two axes, and the marks that draw them."""

    x: Axis
    y: Axis
    marks: tuple[Mark, ...]

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Return the point of the drawing at which (x, y) lies."""
        return _LEFT + _SIDE_X * self.x.share(x), _TOP + _SIDE_Y * (1 - self.y.share(y))

    def drawing(self, marks: Sequence[Mark], series: Sequence[str], title: str, description: str) -> Drawing:
        """Return the marks as a drawing; where there are several *series*, a legend below names them."""
        top = _TOP + _SIDE_Y + (54 if len(series) > 1 else 42)
        legend: list[Mark] = []
        for k, name in enumerate(series if len(series) > 1 else ()):
            y = top + _LEGEND * k
            legend.append(Box((_LEFT, y), 10, 10, series_colour(k), radius=2))
            legend.append(Words((_LEFT + 17, y + 9), shortened(name, _NAME)))
        return Drawing(_LEFT + _SIDE_X + 14, top + _LEGEND * len(legend) / 2, (*marks, *legend), title, description)


def plane(x: Axis, y: Axis, *, x_name: str, y_name: str) -> Plane:
    """Return a plane with a grid, numbers and names along both axes.

    >>> plane(Axis(0, 1, (0, 1)), Axis(0, 1, (0, 1)), x_name="x", y_name="y").at(0, 1)
    (52.0, 24.0)
    """
    empty = Plane(x, y, ())
    marks: list[Mark] = []
    for tick in x.ticks:
        foot, head = empty.at(tick, y.low), empty.at(tick, y.high)
        marks.append(Line(foot, head))
        marks.append(Words((foot[0], foot[1] + 16), f"{tick:g}", anchor="middle", colour="soft"))
    for tick in y.ticks:
        foot, head = empty.at(x.low, tick), empty.at(x.high, tick)
        marks.append(Line(foot, head))
        marks.append(Words((foot[0] - 7, foot[1] + 4), f"{tick:g}", anchor="end", colour="soft"))
    marks.append(Words((_LEFT + _SIDE_X / 2, _TOP + _SIDE_Y + 36), x_name, anchor="middle"))
    marks.append(Words((_LEFT, 12), y_name))
    return Plane(x, y, tuple(marks))
