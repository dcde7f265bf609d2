"""The page around the pictures: one self-contained HTML file, light and dark, for the screen and for paper."""

from __future__ import annotations

__all__ = ["Piece", "Section", "html_notes", "html_page", "html_table"]

import html
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sfumato.core.origin import Origin
from sfumato.evaluate.report.drawing import COLOURS
from sfumato.evaluate.report.figure import Figure

_STYLE = """
:root { color-scheme: light dark; @DAY@ }
@media (prefers-color-scheme: dark) { :root { @NIGHT@ } }
@SERIES@
* { box-sizing: border-box; }
body { margin:0; background:var(--paper); color:var(--ink); font:16px/1.55 system-ui, sans-serif; }
header { padding:2.5rem 1.25rem 1.75rem; border-bottom:1px solid var(--line);
  background:linear-gradient(120deg, color-mix(in srgb, var(--accent) 16%, transparent), transparent 70%); }
header > *, main > * { max-width:70rem; margin-inline:auto; }
h1 { margin-block:0 .3rem; font:600 2rem/1.2 Georgia, serif; } h2 { margin:0 0 .4rem; font:600 1.3rem Georgia, serif; }
p { margin:.3rem 0 1rem; max-width:46rem; } header p { color:var(--soft); margin:.3rem auto 0; max-width:70rem; }
main { padding:1.25rem; } section { margin-block:1.25rem; padding:1.25rem; background:var(--card);
  border:1px solid var(--line); border-radius:10px; }
.scroll { overflow-x:auto; margin-block:.25rem 1rem; background:linear-gradient(90deg, var(--card) 30%, transparent),
  linear-gradient(270deg, var(--card) 30%, transparent) 100% 0,
  linear-gradient(90deg, color-mix(in srgb, var(--ink) 24%, transparent), transparent),
  linear-gradient(270deg, color-mix(in srgb, var(--ink) 24%, transparent), transparent) 100% 0;
  background-repeat:no-repeat; background-size:2.5rem 100%, 2.5rem 100%, .7rem 100%, .7rem 100%;
  background-attachment:local, local, scroll, scroll; }
table { border-collapse:collapse; font-variant-numeric:tabular-nums; font-size:.93rem; }
th, td { padding:.35rem .9rem .35rem 0; text-align:right; border-bottom:1px solid var(--line); white-space:nowrap; }
th:first-child, td:first-child, th.text { text-align:left; } thead th { color:var(--soft); font-weight:500; }
thead > * { vertical-align:bottom; } thead th { white-space:normal; min-width:4.2rem; max-width:9rem; }
td.best { font-weight:650; color:var(--accent); }
td.text { white-space:normal; text-align:left; min-width:16rem; }
.notes { margin:.2rem 0 1rem; padding-left:1.1rem; max-width:46rem; color:var(--soft); font-size:.9rem; }
td small { display:block; color:var(--soft); font-size:.78rem; font-weight:400; }
figure { margin:0 0 1rem; } figcaption { color:var(--soft); font-size:.9rem; margin-top:.4rem; max-width:46rem; }
.pair { display:grid; gap:1.5rem; grid-template-columns:repeat(auto-fit, minmax(min(100%, 24rem), 1fr)); }
.pair > * { min-width:0; }
svg { display:block; width:100%; height:auto; } svg text { fill:var(--ink); font:12px system-ui, sans-serif; }
svg text[font-weight] { font-weight:600; }
@media (max-width:40rem) { main { padding:.75rem; } section { padding:1rem; margin-block:.75rem; }
  th, td { padding-right:.6rem; }
  tbody th { white-space:normal; min-width:6.5rem; max-width:8.5rem; font-weight:550; } }
footer { max-width:72.5rem; margin:0 auto; padding:0 1.25rem 2.5rem; color:var(--soft); font-size:.85rem; }
footer code { overflow-wrap:anywhere; }
@page { margin:14mm; }
@media print { :root { color-scheme:light; font-size:11.5px; @DAY@ }
  body { background:#fff; } td small { white-space:nowrap; }
  header { background:none; padding:0 0 1rem; }
  main { padding:0; } section { border:none; border-top:1px solid #ccc; border-radius:0; padding:1rem 0; margin:0; }
  h2, p { break-after:avoid; } figure, tr, .pair > * { break-inside:avoid; }
  .scroll { overflow:visible; background:none; } .scroll svg { min-width:0 !important; }
  th, td { padding-right:.6rem; white-space:normal; }
  .pair { grid-template-columns:repeat(2, minmax(0, 1fr)); } svg { max-height:120mm; } }
"""
for _place, _name in enumerate(("@DAY@", "@NIGHT@")):
    _STYLE = _STYLE.replace(_name, " ".join(f"--{name}:{both[_place]};" for name, both in COLOURS.items()))
_STYLE = _STYLE.replace(
    "@SERIES@",
    " ".join(f"svg .f-{name} {{ fill:var(--{name}); }} svg .s-{name} {{ stroke:var(--{name}); }}" for name in COLOURS),
)

# Ready HTML, a figure, or several of them side by side where there is room.
Piece = str | Figure | tuple[str | Figure, ...]


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page: a heading, a sentence of what to see, and tables and figures."""

    heading: str
    text: str
    body: tuple[Piece, ...] = ()

    @property
    def figures(self) -> list[Figure]:
        """The figures of the part, in their order."""
        flat = [one for piece in self.body for one in (piece if isinstance(piece, tuple) else (piece,))]
        return [one for one in flat if isinstance(one, Figure)]

    @property
    def html(self) -> str:
        """The part as it stands on the page."""
        return (
            f"<section><h2>{html.escape(self.heading)}</h2><p>{html.escape(self.text)}</p>"
            f"{''.join(map(_placed, self.body))}</section>\n"
        )


def html_page(title: str, summary: str, sections: Sequence[Section], *, origin: Origin) -> str:
    """Return a whole HTML document that needs nothing beside itself; its foot says where the numbers come from."""
    parts = "".join(part.html for part in sections)
    seed = "none" if origin.seed is None else str(origin.seed)
    options = " ".join(f"{name}={_plain(value)}" for name, value in origin.options.items())
    made = f"sfumato {origin.version} · {origin.method} · {options} · seed {seed} · data {origin.fingerprint}"
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        # An empty icon: otherwise a browser that opens the page from a server asks for one and logs an error.
        '<link rel="icon" href="data:,">\n'
        f"<title>{html.escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        f"<header><h1>{html.escape(title)}</h1><p>{html.escape(summary)}</p></header>\n<main>\n{parts}</main>\n"
        f"<footer>Made by <code>{html.escape(made)}</code></footer>\n</body>\n</html>\n"
    )


def html_notes(lines: Sequence[str]) -> str:
    """Return remarks as a list in small letters; nothing where there are none."""
    items = "".join(f"<li>{html.escape(line)}</li>" for line in lines)
    return f'<ul class="notes">{items}</ul>' if lines else ""


def html_table(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    name: str,
    best: Sequence[tuple[int, int]] = (),
    text: Sequence[int] = (),
) -> str:
    """Return a table that scrolls sideways where it is too wide; *best* marks cells as (row, column).

    *name* is what a screen reader announces it by; no two tables of a page may share one. *text* are the columns that
    hold sentences. An interval in brackets stands small below its number.
    """
    marked = set(best)
    top = "".join(
        f'<th scope="col"{" class=text" if c in text else ""}>{html.escape(cell)}</th>' if cell else "<td></td>"
        for c, cell in enumerate(head)
    )
    lines = []
    for r, row in enumerate(rows):
        cells = [f'<th scope="row">{html.escape(row[0])}</th>']
        for c, cell in enumerate(row[1:], start=1):
            kind = ' class="best"' if (r, c) in marked else ' class="text"' if c in text else ""
            cells.append(f"<td{kind}>{_with_interval(cell) if c not in text else html.escape(cell)}</td>")
        lines.append(f"<tr>{''.join(cells)}</tr>")
    # Scrolling by keyboard needs the region to take focus, and a name to be announced by.
    return (
        f'<div class="scroll" role="region" aria-label="{html.escape(name)}" tabindex="0"><table>'
        f"<thead><tr>{top}</tr></thead><tbody>{''.join(lines)}</tbody></table></div>"
    )


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _placed(piece: Piece) -> str:
    if isinstance(piece, tuple):
        return f'<div class="pair">{"".join(f"<div>{_placed(one)}</div>" for one in piece)}</div>'
    return piece.html if isinstance(piece, Figure) else piece


def _with_interval(cell: str) -> str:
    number, bracket, interval = cell.partition(" [")
    return f"{html.escape(number)}<small>[{html.escape(interval)}</small>" if bracket else html.escape(cell)
