"""A drawing: lines, boxes, dots and words on a plane, which becomes SVG for a page or for a file of its own.

Colours are names. On a page they are the page's own, light or dark; in a file of its own they are the light ones.
"""

from __future__ import annotations

__all__ = [
    "COLOURS",
    "N_SERIES",
    "WIDE",
    "Area",
    "Box",
    "Curve",
    "Dot",
    "Drawing",
    "Image",
    "Line",
    "Mark",
    "Words",
    "below_each_other",
    "series_colour",
    "shortened",
    "svg",
]

import html
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

# Each by daylight and by night. A series is told apart by hue and by lightness, so that grey print shows it too.
COLOURS = {
    "paper": ("#fbfaf8", "#191817"), "ink": ("#23211f", "#ece7e1"), "soft": ("#645e57", "#aba399"),
    "line": ("#ddd7cf", "#3b3733"), "card": ("#ffffff", "#211f1e"), "accent": ("#7a4b2a", "#e0a878"),
    "c0": ("#3b6ea5", "#6ea3dc"), "c1": ("#d98032", "#eda562"), "c2": ("#4c9a6a", "#71c192"),
    "c3": ("#b5495b", "#e07f8f"), "c4": ("#7d6bb0", "#a99bdb"), "c5": ("#8a6d4f", "#bf9f7d"),
    "c6": ("#d483b4", "#e7a6cd"), "c7": ("#6f737a", "#a4a8af"), "c8": ("#b3a53b", "#d6c95f"),
    "c9": ("#3aa6b2", "#6fcdd7"),
}  # fmt: skip
N_SERIES = 10
# Drawings of more units scroll on a phone.
WIDE = 480


def _readable_on(ground: str) -> str:
    """Return white or near-black, whichever stands out more (WCAG 2.2, relative luminance)."""
    shares = [int(ground[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    light = [share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares]
    luminance = 0.2126 * light[0] + 0.7152 * light[1] + 0.0722 * light[2]
    return "#ffffff" if 1.05 / (luminance + 0.05) > (luminance + 0.05) / 0.06 else "#171615"


# What is written on a bar of a series.
COLOURS |= {f"on-c{k}": (_readable_on(COLOURS[f"c{k}"][0]), _readable_on(COLOURS[f"c{k}"][1])) for k in range(N_SERIES)}

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Line:
    """A straight line."""

    start: Point
    end: Point
    colour: str = "line"
    width: float = 1
    dashed: bool = False


@dataclass(frozen=True, slots=True)
class Curve:
    """A line through several points."""

    points: tuple[Point, ...]
    colour: str
    width: float = 2
    dashed: bool = False


@dataclass(frozen=True, slots=True)
class Area:
    """What lies within several points."""

    points: tuple[Point, ...]
    colour: str
    opacity: float = 0.18


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle; ``at`` is its upper left corner."""

    at: Point
    width: float
    height: float
    colour: str
    opacity: float = 1
    radius: float = 0


@dataclass(frozen=True, slots=True)
class Dot:
    """A filled circle around ``at``."""

    at: Point
    radius: float
    colour: str
    opacity: float = 1


@dataclass(frozen=True, slots=True)
class Words:
    """A line of text whose baseline starts, has its middle or ends at ``at``."""

    at: Point
    text: str
    anchor: Literal["start", "middle", "end"] = "start"
    colour: str = "ink"
    bold: bool = False
    size: float = 12


@dataclass(frozen=True, slots=True)
class Image:
    """A picture given as a data address; ``sharp`` keeps its pixels apart when it is enlarged."""

    at: Point
    width: float
    height: float
    uri: str
    sharp: bool = False


Mark = Line | Curve | Area | Box | Dot | Words | Image


@dataclass(frozen=True, slots=True)
class Drawing:
    """Marks on a plane of so many units, y downwards; the description says in words what they show."""

    width: float
    height: float
    marks: tuple[Mark, ...]
    title: str
    description: str


def series_colour(k: int) -> str:
    """Return the name of the colour of the k-th series.

    >>> series_colour(0), series_colour(11)
    ('c0', 'c1')
    """
    return f"c{k % N_SERIES}"


def shortened(text: str, most: int) -> str:
    """Return a name in *most* letters, with its beginning and its end: names often differ in the last letters alone.

    >>> shortened("roberta, seed 1", 11), shortened("deer", 11)
    ('rober…eed 1', 'deer')
    """
    if len(text) <= most:
        return text
    end = (most - 1) // 2
    return f"{text[: most - 1 - end]}…{text[len(text) - end :]}"


def svg(drawing: Drawing, *, alone: bool = False) -> str:
    """Return the drawing as SVG text; *alone* for a file of its own, else for a page that knows the colours.

    >>> print(svg(Drawing(10, 10, (Dot((5, 5), 2, "c0"),), "A dot", "in the middle"), alone=True).splitlines()[-2])
    <circle cx="5" cy="5" r="2" fill="#3b6ea5"/>
    """
    body = "\n".join(_element(mark, alone) for mark in drawing.marks)
    # Named by its content: the same figure is the same text, in every run.
    number = zlib.crc32(f"{drawing.title}\n{drawing.description}".encode())
    words = (
        f'<title id="t{number}">{html.escape(drawing.title)}</title>\n'
        f'<desc id="d{number}">{html.escape(drawing.description)}</desc>'
    )
    box = f'viewBox="0 0 {drawing.width:g} {drawing.height:g}" role="img" aria-labelledby="t{number} d{number}"'
    if not alone:
        # What is wider than a phone keeps its letters readable and scrolls.
        least = f"min-width:{drawing.width * 0.8:g}px;" if drawing.width > WIDE else ""
        return f'<svg {box} style="{least}max-width:{drawing.width * 1.4:g}px">{words}{body}</svg>'
    ground = f'<rect width="100%" height="100%" fill="{COLOURS["card"][0]}"/>'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{drawing.width:g}" height="{drawing.height:g}" {box} '
        f'font-family="Helvetica, Arial, sans-serif">\n{words}\n{ground}\n{body}\n</svg>'
    )


def below_each_other(drawings: Sequence[Drawing], *, title: str, gap: float = 18) -> Drawing:
    """Return several drawings as one, each below the one before.

    >>> dot = Drawing(10, 10, (Dot((5, 5), 2, "c0"),), "A", "one")
    >>> both = below_each_other([dot, dot], title="Two", gap=5)
    >>> both.height, [mark.at for mark in both.marks]
    (25.0, [(5, 5.0), (5, 20.0)])
    """
    marks: list[Mark] = []
    top = 0.0
    for drawing in drawings:
        marks += [_moved(mark, top) for mark in drawing.marks]
        top += drawing.height + gap
    return Drawing(
        max(drawing.width for drawing in drawings), top - gap, tuple(marks), title,
        " ".join(f"{drawing.title}: {drawing.description}." for drawing in drawings),
    )  # fmt: skip


def _moved(mark: Mark, down: float) -> Mark:
    if isinstance(mark, Line):
        return replace(mark, start=(mark.start[0], mark.start[1] + down), end=(mark.end[0], mark.end[1] + down))
    if isinstance(mark, Curve | Area):
        return replace(mark, points=tuple((x, y + down) for x, y in mark.points))
    return replace(mark, at=(mark.at[0], mark.at[1] + down))


def _element(mark: Mark, alone: bool) -> str:
    match mark:
        case Line(start, end, colour, width, dashed):
            dashes = ' stroke-dasharray="4 4"' if dashed else ""
            place = f'x1="{_n(start[0])}" y1="{_n(start[1])}" x2="{_n(end[0])}" y2="{_n(end[1])}"'
            return f"<line {place} {_paint('stroke', colour, alone)}{_width(width)}{dashes}/>"
        case Curve(points, colour, width, dashed):
            dashes = ' stroke-dasharray="4 4"' if dashed else ""
            return (
                f'<polyline points="{_points(points)}" fill="none" {_paint("stroke", colour, alone)}{_width(width)}'
                f'{dashes} stroke-linejoin="round"/>'
            )
        case Area(points, colour, opacity):
            return f'<polygon points="{_points(points)}" {_paint("fill", colour, alone)}{_opacity(opacity)}/>'
        case Box(at, width, height, colour, opacity, radius):
            round_ = f' rx="{_n(radius)}"' if radius else ""
            place = f'x="{_n(at[0])}" y="{_n(at[1])}" width="{_n(width)}" height="{_n(height)}"'
            return f"<rect {place}{round_} {_paint('fill', colour, alone)}{_opacity(opacity)}/>"
        case Dot(at, radius, colour, opacity):
            place = f'cx="{_n(at[0])}" cy="{_n(at[1])}" r="{_n(radius)}"'
            return f"<circle {place} {_paint('fill', colour, alone)}{_opacity(opacity)}/>"
        case Words():
            return _words(mark, alone)
        case Image(at, width, height, uri, sharp):
            crisp = ' style="image-rendering:pixelated"' if sharp else ""
            place = f'x="{_n(at[0])}" y="{_n(at[1])}" width="{_n(width)}" height="{_n(height)}"'
            return f'<image href="{html.escape(uri)}" {place}{crisp}/>'


def _words(mark: Words, alone: bool) -> str:
    anchor = "" if mark.anchor == "start" else f' text-anchor="{mark.anchor}"'
    weight = ' font-weight="600"' if mark.bold else ""
    # On a page the style sheet says how text looks, and it is stronger than an attribute.
    size = f' font-size="{mark.size:g}"' if alone else f' style="font-size:{mark.size:g}px"' if mark.size != 12 else ""
    colour = "" if mark.colour == "ink" and not alone else f" {_paint('fill', mark.colour, alone)}"
    place = f'x="{_n(mark.at[0])}" y="{_n(mark.at[1])}"'
    return f"<text {place}{anchor}{weight}{size}{colour}>{html.escape(mark.text)}</text>"


def _paint(what: str, colour: str, alone: bool) -> str:
    if alone:
        return f'{what}="{COLOURS[colour][0]}"'
    return f'class="{what[0]}-{colour}"'


def _points(points: Sequence[Point]) -> str:
    return " ".join(f"{_n(x)},{_n(y)}" for x, y in points)


def _width(width: float) -> str:
    return "" if width == 1 else f' stroke-width="{_n(width)}"'


def _opacity(opacity: float) -> str:
    return "" if opacity == 1 else f' fill-opacity="{opacity:.3g}"'


def _n(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
