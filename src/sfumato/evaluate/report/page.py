"""The page around the pictures: one self-contained HTML file, light and dark, for the screen and for paper."""

from __future__ import annotations

__all__ = ["Section", "html_page", "html_table"]

import html
from collections.abc import Sequence
from dataclasses import dataclass

from sfumato.core.origin import Origin

_STYLE = """
:root { color-scheme: light dark; --paper:#fbfaf8; --ink:#23211f; --soft:#6a645d; --line:#ddd7cf; --card:#fff;
  --accent:#7a4b2a; --c0:#3b6ea5; --c1:#d98032; --c2:#4c9a6a; --c3:#b5495b; --c4:#7d6bb0; --c5:#8a6d4f; --c6:#d483b4;
  --c7:#7b7f86; --c8:#b3a53b; --c9:#3aa6b2; }
@media (prefers-color-scheme: dark) { :root { --paper:#191817; --ink:#ece7e1; --soft:#aba399; --line:#3b3733;
  --card:#211f1e; --accent:#e0a878; --c0:#6ea3dc; --c1:#eda562; --c2:#71c192; --c3:#e07f8f; --c4:#a99bdb; --c5:#bf9f7d;
  --c6:#e7a6cd; --c7:#a4a8af; --c8:#d6c95f; --c9:#6fcdd7; } }
* { box-sizing: border-box; }
body { margin:0; background:var(--paper); color:var(--ink); font:16px/1.55 system-ui, sans-serif; }
header { padding:2.5rem 1.25rem 1.75rem; border-bottom:1px solid var(--line);
  background:linear-gradient(120deg, color-mix(in srgb, var(--accent) 16%, transparent), transparent 70%); }
header > *, main > * { max-width:60rem; margin-inline:auto; }
h1 { margin-block:0 .3rem; font:600 2rem/1.2 Georgia, serif; } h2 { margin:0 0 .4rem; font:600 1.3rem Georgia, serif; }
p { margin:.3rem 0 1rem; max-width:44rem; } header p { color:var(--soft); margin-block:.3rem 0; max-width:60rem; }
main { padding:1.25rem; } section { margin-block:1.25rem; padding:1.25rem; background:var(--card);
  border:1px solid var(--line); border-radius:10px; break-inside:avoid; }
.scroll { overflow-x:auto; } table { border-collapse:collapse; font-variant-numeric:tabular-nums; font-size:.93rem; }
th, td { padding:.35rem .9rem .35rem 0; text-align:right; border-bottom:1px solid var(--line); white-space:nowrap; }
th:first-child, td:first-child { text-align:left; } thead th { color:var(--soft); font-weight:500; }
td.best { font-weight:650; color:var(--accent); }
figure { margin:0; } figcaption { color:var(--soft); font-size:.9rem; margin-top:.4rem; max-width:44rem; }
.pair { display:grid; gap:1.5rem; grid-template-columns:repeat(auto-fit, minmax(min(100%, 20rem), 1fr));
  margin-top:1.25rem; }
svg { display:block; width:100%; height:auto; } svg text { fill:var(--ink); font:12px system-ui, sans-serif; }
svg .quiet { fill:var(--soft); } svg .rule { stroke:var(--line); } svg .axis { stroke:var(--soft); }
footer { max-width:60rem; margin:0 auto; padding:0 1.25rem 2.5rem; color:var(--soft); font-size:.85rem; }
footer code { overflow-wrap:anywhere; }
@media print { body { background:#fff; } section { border-color:#ccc; } header { background:none; } }
"""


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page: a heading, a sentence of what to see, and ready HTML (tables, figures)."""

    heading: str
    text: str
    body: str = ""


def html_page(title: str, summary: str, sections: Sequence[Section], *, origin: Origin) -> str:
    """Return a whole HTML document that needs nothing beside itself; its foot says where the numbers come from."""
    parts = "".join(
        f"<section><h2>{html.escape(part.heading)}</h2><p>{html.escape(part.text)}</p>{part.body}</section>\n"
        for part in sections
    )
    seed = "none" if origin.seed is None else str(origin.seed)
    options = " ".join(f"{name}={value}" for name, value in origin.options.items())
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


def html_table(
    head: Sequence[str], rows: Sequence[Sequence[str]], *, name: str, best: Sequence[tuple[int, int]] = ()
) -> str:
    """Return a table that scrolls sideways where it is too wide; *best* marks cells as (row, column).

    *name* is what a screen reader announces it by; no two tables of a page may share one.
    """
    marked = set(best)
    top = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in head)
    lines = []
    for r, row in enumerate(rows):
        cells = [f'<th scope="row">{html.escape(row[0])}</th>']
        for c, cell in enumerate(row[1:], start=1):
            mark = ' class="best"' if (r, c) in marked else ""
            cells.append(f"<td{mark}>{html.escape(cell)}</td>")
        lines.append(f"<tr>{''.join(cells)}</tr>")
    # Scrolling by keyboard needs the region to take focus, and a name to be announced by.
    return (
        f'<div class="scroll" role="region" aria-label="{html.escape(name)}" tabindex="0"><table><thead><tr>{top}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )
