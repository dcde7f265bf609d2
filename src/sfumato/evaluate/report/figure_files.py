"""Figures as files of their own: SVG by hand, PDF and PNG by matplotlib."""

from __future__ import annotations

__all__ = ["FORMATS", "save_figure", "save_figures"]

import base64
import io
from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.errors import MissingExtraError, OptionError, check_choice
from sfumato.evaluate.report.drawing import COLOURS, Area, Box, Curve, Dot, Drawing, Image, Line, Mark, Words, svg
from sfumato.evaluate.report.figure import Figure
from sfumato.tables.write import write_whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FORMATS = ("svg", "pdf", "png")

# A unit of a drawing is a CSS pixel, of which there are 96 to the inch; matplotlib measures lines and text in points.
_PIXELS, _POINTS = 96, 72
_ANCHORS = {"start": "left", "middle": "center", "end": "right"}


def save_figure(figure: Figure, path: str | PathLike[str]) -> Path:
    """Write a figure, in the colours of daylight, as .svg, .pdf or .png (the last two need matplotlib).

    >>> import tempfile
    >>> dot = Figure("dot", "A dot", "in the middle", (Drawing(10, 10, (Dot((5, 5), 2, "c0"),), "A dot", "one"),))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_figure(dot, f"{folder}/dot.svg").read_text()[:4]
    '<svg'
    """
    target = Path(path)
    ending = target.suffix.lower().removeprefix(".")
    if ending not in FORMATS:
        raise OptionError(f"A figure is saved as .svg, .pdf or .png. Got {target} instead.")
    if ending == "svg":
        write_whole(target, svg(figure.whole, alone=True) + "\n")
    else:
        write_whole(target, _painted(figure.whole, ending))
    return target


def save_figures(figures: Iterable[Figure], folder: str | PathLike[str], *, formats: Sequence[str]) -> list[Path]:
    """Write each figure by its name into *folder*, which is made where there is none, once in each of *formats*."""
    for ending in formats:
        check_choice(ending, FORMATS, option="formats")
    if {*formats} - {"svg"}:  # before a folder is made
        _check_matplotlib()
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    return [save_figure(figure, target / f"{figure.name}.{ending}") for figure in figures for ending in formats]


def _check_matplotlib() -> None:
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError:
        raise MissingExtraError("Saving figures as PDF or PNG", "report") from None


def _painted(drawing: Drawing, ending: str) -> bytes:
    """Return the drawing as the bytes of a PDF or PNG; the same drawing gives the same bytes."""
    about: dict[str, Any] = {"Title": drawing.title}
    if ending == "pdf":  # without a date, which would be the clock's
        about |= {"Subject": drawing.description, "CreationDate": None}
    else:
        about |= {"Description": drawing.description}
    _check_matplotlib()
    from matplotlib import rc_context
    from matplotlib.figure import Figure as Canvas

    # Type 42 embeds the letters as TrueType, which journals ask for and which can be selected and searched.
    with rc_context({"pdf.fonttype": 42, "font.family": "sans-serif", "font.sans-serif": ["DejaVu Sans"]}):
        canvas = Canvas(figsize=(drawing.width / _PIXELS, drawing.height / _PIXELS), facecolor=_colour("card"))
        axes = canvas.add_axes((0, 0, 1, 1))
        axes.set_axis_off()
        axes.set_xlim(0, drawing.width)
        axes.set_ylim(drawing.height, 0)
        for order, mark in enumerate(drawing.marks):
            _paint(axes, mark, order)
        buffer = io.BytesIO()
        canvas.savefig(buffer, format=ending, dpi=3 * _PIXELS if ending == "png" else _POINTS, metadata=about)
    return buffer.getvalue()


def _paint(axes: Axes, mark: Mark, order: int) -> None:
    from matplotlib import patches

    def points(pixels: float) -> float:
        return pixels * _POINTS / _PIXELS

    def draw(at: Sequence[tuple[float, float]], colour: str, width: float, dashed: bool) -> None:
        x, y = zip(*at, strict=True)
        style = (0, (4, 4)) if dashed else "-"
        axes.plot(x, y, color=_colour(colour), linewidth=points(width), linestyle=style, zorder=order)

    match mark:
        case Line(start, end, colour, width, dashed):
            draw((start, end), colour, width, dashed)
        case Curve(at, colour, width, dashed):
            if at:
                draw(at, colour, width, dashed)
        case Area(at, colour, opacity):
            axes.add_patch(patches.Polygon(at, fc=_colour(colour), alpha=opacity, lw=0, zorder=order))
        case Box(at, width, height, colour, opacity, _):
            axes.add_patch(patches.Rectangle(at, width, height, fc=_colour(colour), alpha=opacity, lw=0, zorder=order))
        case Dot(at, radius, colour, opacity):
            axes.add_patch(patches.Circle(at, radius, fc=_colour(colour), alpha=opacity, lw=0, zorder=order))
        case Words(at, text, anchor, colour, bold, size):
            # DejaVu is a ninth wider than the letters the drawing leaves room for. A dollar sign is one here.
            axes.text(
                *at, text, ha=_ANCHORS[anchor], va="baseline", color=_colour(colour), parse_math=False,
                fontsize=points(size) * 0.88, fontweight="bold" if bold else "normal", zorder=order,
            )  # fmt: skip
        case Image(at, width, height, uri, sharp):
            pixels, nearest = _pixels(uri), "nearest" if sharp else "antialiased"
            extent = (at[0], at[0] + width, at[1] + height, at[1])
            axes.imshow(pixels, extent=extent, interpolation=nearest, aspect="auto", zorder=order)


def _pixels(uri: str) -> Any:
    from matplotlib.image import pil_to_array
    from PIL import Image as Picture

    with Picture.open(io.BytesIO(base64.b64decode(uri.partition(",")[2]))) as picture:
        return pil_to_array(picture.convert("RGB"))


def _colour(name: str) -> str:
    return COLOURS[name][0]
