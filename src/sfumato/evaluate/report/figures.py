"""The figures of the reports, each with a text alternative that says in numbers what the picture shows."""

from __future__ import annotations

__all__ = [
    "Point",
    "confusions",
    "curves",
    "distributions",
    "heat_map",
    "histogram",
    "intervals",
    "reliability_diagram",
    "scatter",
]

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.evaluate.confidence import Bin
from sfumato.evaluate.report.axes import Axis, plane
from sfumato.evaluate.report.drawing import (
    N_SERIES,
    Area,
    Box,
    Curve,
    Dot,
    Drawing,
    Image,
    Line,
    Mark,
    Words,
    series_colour,
    shortened,
)
from sfumato.evaluate.report.figure import Figure, Panel, in_words

Floats = NDArray[np.floating[Any]]

_UNIT = Axis(0, 1, (0, 0.25, 0.5, 0.75, 1))
# What a letter of 12 units takes up on average, with some room to spare.
_LETTER = 6.6
# Classes that a panel of many shows with a colour of their own, and letters that a bar has room for.
_LARGEST = 7
_IN_A_BAR = 12


@dataclass(frozen=True, slots=True)
class Point:
    """A number with its interval, in a figure of intervals."""

    name: str
    value: float
    low: float | None = None
    high: float | None = None
    marked: bool = False


def distributions(panels: Sequence[Panel], classes: Sequence[str], *, name: str, title: str, caption: str) -> Figure:
    """Return distributions as stacked bars, a panel for each item, its picture beside them.

    Of many classes each panel shows the largest, with a colour each, and the others together; a legend names them
    where they are many or their names too long to stand in a bar.
    """
    height, left, width = 22, 116, 260
    few = len(classes) <= N_SERIES
    named = not few or max(map(len, classes)) > _IN_A_BAR
    drawn = []
    for panel in panels:
        shift = 92 if panel.picture else 0
        marks: list[Mark] = [Words((0, 16), shortened(panel.caption, 56), bold=True)]
        if panel.picture:
            marks.append(Image((0, 28), 78, 78, panel.picture, sharp=True))
        held = np.max([np.asarray(probs, dtype=np.float64) for _, probs in panel.rows], axis=0)
        largest = np.flatnonzero(held >= 0.005)
        if not few:
            largest = np.sort(np.argsort(-held, kind="stable")[:_LARGEST])
        colours = {int(k): series_colour(int(k) if few else place) for place, k in enumerate(largest)}
        for place, (row, probs) in enumerate(panel.rows):
            y = 28 + place * height
            marks.append(Words((shift, y + 13), shortened(row, 15), colour="soft"))
            x = float(shift + left)
            for k, colour in colours.items():
                share = float(probs[k]) * width
                if probs[k] < 0.005:
                    continue
                marks.append(Box((x, y), max(share - 1, 0.5), height - 5, colour))
                if share > _LETTER * len(classes[k]) + 6:
                    marks.append(
                        Words((x + share / 2, y + 12.5), classes[k], anchor="middle", colour=f"on-{colour}", size=11)
                    )
                x += share
            rest = shift + left + width - x
            if not few and rest > 1.5:
                marks.append(Box((x, y), rest - 1, height - 5, "line"))
        tall = 34 + height * len(panel.rows)
        if named:
            entries = [*((colour, classes[k]) for k, colour in colours.items()), *([] if few else [("line", "others")])]
            for place, (colour, text) in enumerate(entries):
                x, y = shift + (place % 2) * (left + width) / 2, tall + (place // 2) * 18
                marks.append(Box((x, y), 10, 10, colour, radius=2))
                marks.append(Words((x + 15, y + 9), shortened(text, 24), colour="soft", size=11))
            tall += 18 * -(-len(entries) // 2)
        said = "; ".join(f"{row}: {in_words(np.asarray(probs), classes)}" for row, probs in panel.rows)
        drawn.append(
            Drawing(left + shift + width + 4, max(tall + 6, 114 if panel.picture else 0), tuple(marks), panel.caption,
                    said)
        )  # fmt: skip
    return Figure(name, title, caption, tuple(drawn))


def heat_map(values: Floats, names: Sequence[str], *, name: str, title: str, caption: str) -> Figure:
    """Return a square table of numbers as shaded cells, the darkest for the largest."""
    largest = float(np.nanmax(values)) or 1.0
    said = "; ".join(
        f"{names[r]} and {names[c]}: {values[r, c]:.3f}" for r in range(len(names)) for c in range(r + 1, len(names))
    )
    drawing = _cells(values, names, names, largest=largest, digits=3, title=title, description=said)
    return Figure(name, title, caption, (drawing,))


def confusions(
    tables: Mapping[str, Floats], classes: Sequence[str], *, rows: str, name: str, title: str, caption: str
) -> Figure:
    """Return tables of shares (of each class in rows) side by side, all shaded by the same measure; NaN stays empty."""
    drawn = []
    for whose, values in tables.items():
        said = "; ".join(
            f"{rows} {cls}: {in_words(row, classes)}"
            for cls, row in zip(classes, values, strict=True)
            if not np.isnan(row).any()
        )
        drawn.append(
            _cells(values, classes, classes, largest=1.0, digits=2, title=f"Confusion of {whose}", description=said,
                   heading=whose)
        )  # fmt: skip
    return Figure(name, title, caption, tuple(drawn))


def reliability_diagram(systems: Sequence[tuple[str, Sequence[Bin]]], *, name: str, title: str, caption: str) -> Figure:
    """Return accuracy against confidence, a line for each system; on the diagonal confidence is deserved."""
    on = plane(_UNIT, _UNIT, x_name="confidence", y_name="accuracy")
    marks = [*on.marks, Line(on.at(0, 0), on.at(1, 1), "soft", dashed=True)]
    for k, (_, bins) in enumerate(systems):
        colour = series_colour(k)
        largest = max((one.n for one in bins), default=1)
        marks.append(Curve(tuple(on.at(one.confidence, one.accuracy) for one in bins), colour))
        marks += [Dot(on.at(one.confidence, one.accuracy), 2 + 4 * math.sqrt(one.n / largest), colour) for one in bins]
    said = "; ".join(
        f"{whose}: " + ", ".join(f"{one.accuracy:.2f} right at {one.confidence:.2f} ({one.n} items)" for one in bins)
        for whose, bins in systems
    )
    return Figure(name, title, caption, (on.drawing(marks, [whose for whose, _ in systems], title, said),))


def scatter(
    systems: Sequence[tuple[str, Floats, Floats]],
    *,
    x_name: str,
    y_name: str,
    name: str,
    title: str,
    caption: str,
    most: int = 400,
) -> Figure:
    """Return points in the unit square, a colour for each system; at most *most* of each are drawn, evenly chosen."""
    on = plane(_UNIT, _UNIT, x_name=x_name, y_name=y_name)
    marks = [*on.marks, Line(on.at(0, 0), on.at(1, 1), "soft", dashed=True)]
    dots = []
    for k, (_, x, y) in enumerate(systems):
        # Few annotators give few distinct values: side by side, no system hides another.
        aside = 2.6 * (k - (len(systems) - 1) / 2)
        for row in np.unique(np.linspace(0, len(x) - 1, min(most, len(x))).astype(int)).tolist():
            left, top = on.at(float(x[row]), float(y[row]))
            dots.append((row, Dot((left + aside, top), 2.2, series_colour(k), 0.45)))
    marks += [dot for _, dot in sorted(dots, key=lambda one: one[0])]
    said = [
        f"{whose}: {len(x)} items, mean {x_name} {x.mean():.3f}, mean {y_name} {y.mean():.3f}"
        for whose, x, y in systems
    ]
    drawing = on.drawing(marks, [whose for whose, _, _ in systems], title, "; ".join(said))
    return Figure(name, title, caption, (drawing,))


def curves(
    series: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    *,
    x_name: str,
    y_name: str,
    name: str,
    title: str,
    caption: str,
    bands: Mapping[str, tuple[Sequence[float], Sequence[float]]] | None = None,
) -> Figure:
    """Return lines of (x, y) by name, each with a band (low, high) around it where there is one."""
    xs, ys = ([value for pair in series.values() for value in pair[side]] for side in (0, 1))
    edges = [value for low, high in (bands or {}).values() for value in (*low, *high)]
    on = plane(Axis.around(xs), Axis.around([*ys, *edges]), x_name=x_name, y_name=y_name)
    marks = list(on.marks)
    said = []
    for k, (whose, (x, y)) in enumerate(series.items()):
        if bands and whose in bands:
            low, high = bands[whose]
            around = [*zip(x, high, strict=True), *reversed(list(zip(x, low, strict=True)))]
            marks.append(Area(tuple(on.at(a, b) for a, b in around), series_colour(k)))
        points = [on.at(a, b) for a, b in zip(x, y, strict=True) if math.isfinite(a) and math.isfinite(b)]
        marks.append(Curve(tuple(points), series_colour(k)))
        marks += [Dot(point, 2.4, series_colour(k)) for point in points] if len(points) <= 40 else []
        said.append(f"{whose}: {y[0]:.4g} at {x[0]:g}, {y[-1]:.4g} at {x[-1]:g}, {min(y):.4g} to {max(y):.4g}")
    return Figure(name, title, caption, (on.drawing(marks, list(series), title, "; ".join(said)),))


def histogram(
    values: Mapping[str, Floats],
    *,
    x_name: str,
    name: str,
    title: str,
    caption: str,
    y_name: str = "items",
    n_bins: int = 20,
) -> Figure:
    """Return how many values, 0 to 1, fall into bins of equal width, a bar for each name; one of each at least."""
    counts = {whose: np.histogram(np.clip(each, 0, 1), n_bins, (0, 1))[0] for whose, each in values.items()}
    tallest = max(int(each.max()) for each in counts.values())
    on = plane(_UNIT, Axis.around([0, tallest]), x_name=x_name, y_name=y_name)
    marks = list(on.marks)
    for k, each in enumerate(counts.values()):
        for b, count in enumerate(each.tolist()):
            # Side by side within a bin, so that no bar hides another.
            left, top = on.at((b + k / len(counts)) / n_bins, count)
            right, foot = on.at((b + (k + 1) / len(counts)) / n_bins, 0)
            marks.append(Box((left + 0.5, top), right - left - 0.5, foot - top, series_colour(k)))
    said = "; ".join(
        f"{whose}: mean {float(np.mean(each)):.3f}, median {float(np.median(each)):.3f}"
        for whose, each in values.items()
    )
    return Figure(name, title, caption, (on.drawing(marks, list(values), title, said),))


def intervals(points: Sequence[Point], *, x_name: str, name: str, title: str, caption: str) -> Figure:
    """Return numbers with their intervals below each other, to be compared along one axis."""
    letters = max(12, min(30, max((len(one.name) for one in points), default=0)))
    step, left, width, top = 26, 10 + 7.6 * letters, 300, 10
    known = [edge for one in points for edge in (one.value, one.low, one.high) if edge is not None]
    axis = Axis.around(known)
    bottom = top + step * len(points)

    def x(value: float) -> float:
        return left + width * axis.share(min(max(value, axis.low), axis.high))

    marks: list[Mark] = []
    for tick in axis.ticks:
        marks.append(Line((x(tick), top), (x(tick), bottom)))
        marks.append(Words((x(tick), bottom + 16), f"{tick:g}", anchor="middle", colour="soft"))
    marks.append(Words((left + width / 2, bottom + 34), x_name, anchor="middle"))
    for place, one in enumerate(points):
        y = top + step * (place + 0.5)
        colour = "c1" if one.marked else "c0"
        marks.append(Words((left - 10, y + 4), shortened(one.name, letters), anchor="end", bold=one.marked))
        if one.low is not None and one.high is not None and math.isfinite(one.low) and math.isfinite(one.high):
            marks.append(Line((x(one.low), y), (x(one.high), y), colour, 3))
        if math.isfinite(one.value):
            marks.append(Dot((x(one.value), y), 4.5, colour))
    said = "; ".join(
        f"{one.name}: {one.value:.4g}"
        + (f" ({one.low:.4g} to {one.high:.4g})" if one.low is not None and one.high is not None else "")
        for one in points
    )
    return Figure(name, title, caption, (Drawing(left + width + 20, bottom + 42, tuple(marks), title, said),))


def _cells(
    values: Floats,
    row_names: Sequence[str],
    column_names: Sequence[str],
    *,
    largest: float,
    digits: int,
    title: str,
    description: str,
    heading: str = "",
) -> Drawing:
    letters = max(4, min(18, max(map(len, row_names))))
    # A head has as many letters as fit without touching the next one.
    head = max(1, min(12, max(map(len, column_names))))
    left, top, tall = 7.2 * letters + 16, 26 + (20 if heading else 0), 34
    wide = max(44, 7.2 * head + 10)
    marks: list[Mark] = [Words((0, 14), shortened(heading, 40), bold=True)] if heading else []
    for c, column in enumerate(column_names):
        middle = left + c * wide + wide / 2 - 1.5
        marks.append(Words((middle, top - 9), shortened(column, head), anchor="middle", colour="soft"))
    for r, row in enumerate(row_names):
        y = top + r * tall
        marks.append(Words((left - 10, y + 20), shortened(row, letters), anchor="end"))
        for c in range(len(column_names)):
            value = float(values[r, c])
            if math.isnan(value):
                continue
            share = min(max(value / largest, 0), 1)
            x = left + c * wide
            marks.append(Box((x, y), wide - 3, tall - 3, "c0", 0.05 + 0.5 * share, 3))
            marks.append(Words((x + (wide - 3) / 2, y + 20), f"{value:.{digits}f}", anchor="middle"))
    width, height = left + wide * len(column_names), top + tall * len(row_names)
    return Drawing(width, height, tuple(marks), title, description)
