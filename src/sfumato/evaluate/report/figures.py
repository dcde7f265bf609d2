"""Pictures as SVG text, drawn with the page's own colours, each with a text alternative."""

from __future__ import annotations

__all__ = ["Panel", "distributions", "heat_map", "png_uri", "reliability_diagram", "scatter"]

import base64
import html
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.evaluate.expected_calibration import Bin

_N_COLOURS = 10


@dataclass(frozen=True, slots=True)
class Panel:
    """One item of a figure: a caption, rows of (name, distribution over the classes), and a picture if there is one."""

    caption: str
    rows: Sequence[tuple[str, NDArray[np.floating]]]
    picture: str | None = None


def distributions(panels: Sequence[Panel], classes: Sequence[str], *, title: str, caption: str) -> str:
    """Return distributions as stacked bars, a panel for each item, its picture beside them."""
    height, left = 22, 100
    drawn = []
    for panel in panels:
        shift = 92 if panel.picture else 0
        total = 40 + height * len(panel.rows)
        marks = [f'<text x="0" y="16" font-weight="600">{html.escape(panel.caption)}</text>']
        if panel.picture:
            marks.append(
                f'<image href="{panel.picture}" x="0" y="28" width="72" height="72" style="image-rendering:pixelated"/>'
            )
        for place, (name, probs) in enumerate(panel.rows):
            y = 28 + place * height
            marks.append(f'<text x="{shift}" y="{y + 14}" class="quiet">{html.escape(name)}</text>')
            x = float(shift + left)
            for k in np.flatnonzero(np.asarray(probs) >= 0.005).tolist():
                width = float(probs[k]) * 260
                marks.append(
                    f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{height - 5}" fill="{_colour(k)}"/>'
                )
                if width > 8 * len(classes[k]) + 4:
                    marks.append(
                        f'<text x="{x + width / 2:.1f}" y="{y + 13}" text-anchor="middle" '
                        f'style="fill:var(--card)">{html.escape(classes[k])}</text>'
                    )
                x += width
        said = "; ".join(f"{name}: {_in_words(probs, classes)}" for name, probs in panel.rows)
        drawn.append(_svg(left + shift + 264, max(total, 108 if panel.picture else 0), marks, panel.caption, said))
    return _figure(f'<div class="pair">{"".join(drawn)}</div>', title, caption)


def heat_map(values: NDArray[np.floating], names: Sequence[str], *, title: str, caption: str) -> str:
    """Return a square table of numbers as shaded cells, the darkest for the largest."""
    cell, left, top = 64, 110, 24
    largest = float(np.max(values)) or 1.0
    marks = []
    for r, name in enumerate(names):
        y = top + r * 34
        marks.append(f'<text x="{left - 8}" y="{y + 21}" text-anchor="end">{html.escape(name)}</text>')
        x = left + r * cell + cell / 2
        marks.append(f'<text x="{x}" y="14" text-anchor="middle" class="quiet">{html.escape(name[:9])}</text>')
        for c in range(len(names)):
            share = float(values[r, c]) / largest
            x = left + c * cell
            marks.append(
                f'<rect x="{x}" y="{y}" width="{cell - 3}" height="31" rx="3" fill="var(--c0)" '
                f'fill-opacity="{0.06 + 0.5 * share:.2f}"/>'
                f'<text x="{x + cell / 2}" y="{y + 20}" text-anchor="middle">{values[r, c]:.3f}</text>'
            )
    said = "; ".join(
        f"{names[r]} and {names[c]}: {values[r, c]:.3f}" for r in range(len(names)) for c in range(r + 1, len(names))
    )
    drawn = _svg(left + cell * len(names), top + 34 * len(names), marks, title, said)
    return _figure(drawn, title, caption)


def reliability_diagram(systems: Sequence[tuple[str, Sequence[Bin]]], *, title: str, caption: str) -> str:
    """Return accuracy against confidence, a line for each system; on the diagonal confidence is deserved."""
    marks = _axes("confidence", "accuracy")
    marks.append(f'<line x1="{_x(0)}" y1="{_y(0)}" x2="{_x(1)}" y2="{_y(1)}" class="axis" stroke-dasharray="4 4"/>')
    for k, (name, bins) in enumerate(systems):
        points = " ".join(f"{_x(b.confidence):.1f},{_y(b.accuracy):.1f}" for b in bins)
        largest = max(b.n for b in bins)
        marks.append(f'<polyline points="{points}" fill="none" stroke="{_colour(k)}" stroke-width="2"/>')
        marks += [
            f'<circle cx="{_x(b.confidence):.1f}" cy="{_y(b.accuracy):.1f}" '
            f'r="{2 + 4 * (b.n / largest) ** 0.5:.1f}" fill="{_colour(k)}"/>'
            for b in bins
        ]
        marks.append(_legend(k, name))
    said = "; ".join(
        f"{name}: " + ", ".join(f"{b.accuracy:.2f} right at {b.confidence:.2f} ({b.n} items)" for b in bins)
        for name, bins in systems
    )
    return _figure(_svg(340, 320, marks, title, said), title, caption)


def scatter(
    systems: Sequence[tuple[str, NDArray[np.floating], NDArray[np.floating]]],
    *,
    x_name: str,
    y_name: str,
    title: str,
    caption: str,
    most: int = 400,
) -> str:
    """Return points in the unit square, a colour for each system; at most *most* of each are drawn, evenly chosen."""
    marks = _axes(x_name, y_name)
    said = []
    for k, (name, x, y) in enumerate(systems):
        rows = np.unique(np.linspace(0, len(x) - 1, min(most, len(x))).astype(int))
        marks += [
            f'<circle cx="{_x(x[row]):.1f}" cy="{_y(y[row]):.1f}" r="2.2" fill="{_colour(k)}" fill-opacity=".45"/>'
            for row in rows
        ]
        marks.append(_legend(k, name))
        said.append(f"{name}: {len(x)} items, mean {x_name} {x.mean():.3f}, mean {y_name} {y.mean():.3f}")
    return _figure(_svg(340, 320, marks, title, "; ".join(said)), title, caption)


def png_uri(grey: NDArray[np.uint8]) -> str:
    """Return a grey image of shape (height, width), 0 to 255, as a data address that a page can show."""
    height, width = grey.shape
    # A PNG is a header, the deflated rows (each after a filter byte, 0: none) and an end, each with its checksum.
    rows = b"".join(b"\x00" + row.tobytes() for row in grey.astype(np.uint8))
    parts = [(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)), (b"IDAT", zlib.compress(rows, 9))]
    data = b"\x89PNG\r\n\x1a\n"
    for kind, content in [*parts, (b"IEND", b"")]:
        data += struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
    return "data:image/png;base64," + base64.b64encode(data).decode()


def _colour(k: int) -> str:
    return f"var(--c{k % _N_COLOURS})"


def _in_words(probs: NDArray[np.floating], classes: Sequence[str]) -> str:
    return ", ".join(f"{classes[k]} {probs[k]:.0%}" for k in np.argsort(-probs, kind="stable")[:4] if probs[k] >= 0.005)


def _x(value: float) -> float:
    return 44 + 280 * float(value)


def _y(value: float) -> float:
    return 278 - 260 * float(value)


def _axes(x_name: str, y_name: str) -> list[str]:
    marks = []
    for step in (0, 0.25, 0.5, 0.75, 1):
        x, y = _x(step), _y(step)
        marks.append(f'<line x1="{x}" y1="{_y(0)}" x2="{x}" y2="{_y(1)}" class="rule"/>')
        marks.append(f'<line x1="{_x(0)}" y1="{y}" x2="{_x(1)}" y2="{y}" class="rule"/>')
        marks.append(f'<text x="{x}" y="294" text-anchor="middle" class="quiet">{step:g}</text>')
        marks.append(f'<text x="38" y="{y + 4}" text-anchor="end" class="quiet">{step:g}</text>')
    marks.append(f'<text x="{_x(0.5)}" y="312" text-anchor="middle">{html.escape(x_name)}</text>')
    marks.append(f'<text x="{_x(0) + 4}" y="12">{html.escape(y_name)}</text>')
    return marks


def _legend(k: int, name: str) -> str:
    y = _y(1) + 14 + 18 * k
    return (
        f'<rect x="{_x(0) + 10}" y="{y}" width="10" height="10" rx="2" fill="{_colour(k)}"/>'
        f'<text x="{_x(0) + 26}" y="{y + 9}">{html.escape(name)}</text>'
    )


def _svg(width: float, height: float, marks: Sequence[str], title: str, description: str) -> str:
    # Named by its content: the same figure is the same text, in every run.
    number = zlib.crc32(f"{title}\n{description}".encode())
    return (
        f'<svg viewBox="0 0 {width:g} {height:g}" style="max-width:{width * 1.4:g}px" role="img" '
        f'aria-labelledby="t{number} d{number}"><title id="t{number}">{html.escape(title)}</title>'
        f'<desc id="d{number}">{html.escape(description)}</desc>{"".join(marks)}</svg>'
    )


def _figure(drawn: str, title: str, caption: str) -> str:
    said = title if title.endswith(("?", ".", "!")) else f"{title}."
    return f"<figure>{drawn}<figcaption>{html.escape(said)} {html.escape(caption)}</figcaption></figure>"
