"""Figures as files: every mark is drawn, the same bytes come out twice, and what is not known is refused."""

from __future__ import annotations

import re
import zlib
from pathlib import Path

import numpy as np
import pytest

from sfumato.errors import OptionError
from sfumato.evaluate.report.drawing import COLOURS, Area, Box, Curve, Dot, Drawing, Image, Line, Words
from sfumato.evaluate.report.figure import Figure
from sfumato.evaluate.report.figure_files import save_figure, save_figures
from sfumato.evaluate.report.thumbnails import png_uri

MARKS = (
    Box((0, 0), 40, 20, "c1"),
    Area(((0, 0), (40, 0), (0, 30)), "c2"),
    Line((0, 40), (80, 40), dashed=True),
    Curve(((0, 0), (40, 20), (80, 0)), "c0"),
    Curve((), "c0"),
    Dot((70, 12), 8, "c3"),
    Words((10, 35), "50 % of $5 ± ε", bold=True),
    Image((60, 45), 10, 10, png_uri(np.zeros((2, 2), dtype=np.uint8)), sharp=True),
)
FIGURE = Figure("one", "One", "of each mark", (Drawing(80, 60, MARKS, "One", "of each mark"),))


def test_every_mark_stands_in_every_format(tmp_path: Path) -> None:
    picture = pytest.importorskip("PIL.Image")
    written = save_figures([FIGURE], tmp_path / "new" / "folder", formats=("svg", "pdf", "png"))
    assert [path.name for path in written] == ["one.svg", "one.pdf", "one.png"]
    svg = written[0].read_text()
    for element in ("<rect", "<polygon", "<line", "<polyline", "<circle", "<text", "<image"):
        assert element in svg
    assert "50 % of $5 ± ε" in svg
    pdf = written[1].read_bytes()
    assert pdf.startswith(b"%PDF")
    assert re.search(rb"/MediaBox \[ 0 0 60 45 \]", pdf)  # points: 80 by 60 CSS pixels
    drawn = b"".join(zlib.decompress(each) for each in re.findall(rb"stream\r?\n(x.*?)\r?\nendstream", pdf, re.S)[:1])
    assert drawn.count(b" re\n") + drawn.count(b" l\n") + drawn.count(b" c\n") > 6
    with picture.open(written[2]) as image:
        assert image.size == (240, 180)
        wanted = tuple(int(COLOURS["c3"][0][k : k + 2], 16) for k in (1, 3, 5))
        assert image.convert("RGB").getpixel((210, 36)) == wanted
        assert image.convert("RGB").getpixel((65 * 3, 50 * 3)) == (0, 0, 0)


@pytest.mark.parametrize("ending", ["svg", "pdf", "png"])
def test_the_same_figure_is_the_same_file(tmp_path: Path, ending: str) -> None:
    pytest.importorskip("matplotlib")
    first, second = (save_figure(FIGURE, tmp_path / f"{name}.{ending}").read_bytes() for name in "ab")
    assert first == second


def test_other_formats_are_refused_before_anything_is_made(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"\.svg, \.pdf or \.png"):
        save_figure(FIGURE, tmp_path / "one.gif")
    with pytest.raises(OptionError, match="formats"):
        save_figures([FIGURE], tmp_path / "none", formats=("svg", "eps"))
    assert list(tmp_path.iterdir()) == []


def test_writing_on_bars_is_legible_by_day_and_by_night() -> None:
    def luminance(colour: str) -> float:
        shares = np.array([int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)])
        light = np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)
        return float(light @ [0.2126, 0.7152, 0.0722])

    for k in range(10):
        for place in (0, 1):
            dark, light = sorted(luminance(COLOURS[name][place]) for name in (f"c{k}", f"on-c{k}"))
            assert (light + 0.05) / (dark + 0.05) >= 4.5, (k, place)
