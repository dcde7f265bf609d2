"""One page of all results: every table beside the paper's, with figures, claims, seeds and intervals."""

from __future__ import annotations

__all__ = ["report_markdown", "report_page"]

from collections import Counter
from collections.abc import Sequence

import numpy as np

from sfumato.core.origin import Origin, fingerprint_of
from sfumato.core.vocabulary import counted
from sfumato.evaluate.report import Figure, Section, figures, html_page, html_table
from sfumato.evaluate.report.figures import Point
from sfumato.reproduce.comparison import Cell, Table
from sfumato.reproduce.layout import Grid, grids, notes, size_in_words, spent, verdicts_in_words

_TITLE, _OWN_TITLE = "Four papers, and ours beside them", "Results"
_WORDS = ("shown", "same direction", "not shown", "the opposite is shown", "no paired runs", "not run")
# More rows than this are no figure but a table.
_MOST_POINTS = 16
_MOST_FIGURES = 6
# What stands between the two names of a row that is about a pair.
_PAIR = " · "


def report_page(tables: Sequence[Table]) -> str:
    """Return all tables as one HTML document that needs nothing beside itself."""
    parts = [_overview(tables), *(part for table in tables for part in _sections(table))]
    return html_page(_title(tables), _summary(tables), parts, origin=_origin(tables))


def report_markdown(tables: Sequence[Table]) -> str:
    """Return all tables as Markdown, without the figures."""
    lines = [f"# {_title(tables)}", "", _summary(tables), "", *_in_markdown(_claims_of_all(tables))]
    for table in tables:
        lines += ["", f"## {table.experiment.name}", "", f"**{table.experiment.title}.** {_how(table)}", ""]
        claims = verdicts_in_words(table)
        for grid in [*([claims] if claims else []), *grids(table)]:
            lines += [f"*{grid.title}*", "", *_in_markdown(grid), ""] if grid.title else [*_in_markdown(grid), ""]
        lines += [f"- {line}" for line in _remarks(table)]
    return "\n".join(lines) + "\n"


def _title(tables: Sequence[Table]) -> str:
    return _TITLE if any(table.experiment.paper for table in tables) else _OWN_TITLE


def _summary(tables: Sequence[Table]) -> str:
    # Tables share runs.
    runs = {run: seconds for table in tables for run, seconds in table.took.items()}
    took = spent(sum(runs.values()), {device for table in tables for device in table.devices})
    exact = [cell for table in tables if table.experiment.exact for cell in table.cells if cell.same_digits is not None]
    digits = (
        f" Of {len(exact)} printed numbers that need no training, {sum(bool(cell.same_digits) for cell in exact)} come "
        "out to the last digit; the others are explained below their tables."
    )
    shared = " Runs that tables share are counted once." if sum(table.n_runs for table in tables) > len(runs) else ""
    return (
        f"{counted(len(tables), 'experiment')}, {counted(len(runs), 'run')}, {took}.{shared}"
        f"{digits if exact else ''} Intervals are 95 %: over runs where there are several, else over items."
    )


def _overview(tables: Sequence[Table]) -> Section:
    grid = _claims_of_all(tables)
    text = "Shown: the interval of the paired difference lies on the claimed side of 0. Same direction: it holds 0."
    title = "What the papers claim" if any(table.experiment.paper for table in tables) else "What is claimed"
    return Section(title, text, (_html(grid, "All claims"),))


def _claims_of_all(tables: Sequence[Table]) -> Grid:
    rows = []
    for table in tables:
        counted = Counter(verdict.word for verdict in table.verdicts)
        rows.append(
            (
                table.experiment.name, table.size if table.n_runs else "not run", f"{table.n_runs}/{table.n_wanted}",
                *(str(counted[word] or "") for word in _WORDS),
            )
        )  # fmt: skip
    return Grid("Claims", ("experiment", "size", "runs", *_WORDS), tuple(rows))


def _sections(table: Table) -> list[Section]:
    body: list[str | Figure | tuple[str | Figure, ...]] = []
    name = table.experiment.name
    claims = verdicts_in_words(table)
    if claims:
        body.append(_html(claims, f"{name}: claims", text=(1,)))
    body += [
        (f"<h3>{_escaped(grid.title)}</h3>" if grid.title else "") + _html(grid, f"{name}: {grid.title}")
        for grid in grids(table)
    ]
    drawn = _figures(table)
    if drawn:
        body.append(tuple(drawn))
    remarks = "".join(f"<p>{_escaped(line)}</p>" for line in _remarks(table))
    return [Section(f"{name}: {table.experiment.title}", _how(table), (*body, remarks))]


def _how(table: Table) -> str:
    if not table.n_runs:
        return "Nothing of it was run yet."
    size = "Every size is the same." if table.experiment.exact else f"S{size_in_words(table)[1:]}."
    whole = "" if table.n_runs == table.n_wanted else f" {table.n_runs} of {counted(table.n_wanted, 'run')} are done."
    made = f" Made with {'; '.join(table.made_with)}." if table.made_with else ""
    took = spent(table.seconds, table.devices)
    return f"{size}{whole} {took[:1].upper()}{took[1:]}.{made}"


def _remarks(table: Table) -> list[str]:
    one = table.experiment
    said = notes(table)
    if one.quirk is not None:
        said.append(f"As published: {one.quirk.why}")
    if any(cell.p_value is not None for cell in table.cells):
        said.append(
            f"Stars stand where ours differs from {one.reference!r}: one for p ≤ 0.05, two for p ≤ 0.01, by a paired t "
            "test over runs (seed, network, fold), Holm over the table. Folds share most of what they are trained on."
        )
    if any(grid.good for grid in grids(table)):
        said.append(
            "Bold: the last digit of the paper's comes out."
            if one.exact
            else "Bold: ours differs from its reference row in the paper's direction, however little."
        )
    return [*said, *(f"{', '.join(filter(None, (gap.row, gap.on)))}: {gap.why}." for gap in one.absent)]


def _figures(table: Table) -> list[Figure]:
    metrics = table.experiment.shows or tuple(dict.fromkeys(cell.metric for cell in table.cells if cell.ours))
    drawn = []
    for metric in metrics:
        for on in dict.fromkeys(cell.on for cell in table.cells if cell.metric == metric):
            cells = [cell for cell in table.cells if cell.metric == metric and cell.on == on and cell.ours]
            figure = _between(table, cells) or _along(table, cells) or _beside(table, cells)
            if figure is not None:
                drawn.append(figure)
    return drawn[:_MOST_FIGURES]


def _between(table: Table, cells: Sequence[Cell]) -> Figure | None:
    """Return how far each two are apart as a map, where the rows name pairs (A · B)."""
    pairs = {tuple(cell.row.split(_PAIR)): cell for cell in cells if _PAIR in cell.row}
    if not pairs:
        return None
    names = list(dict.fromkeys(name for pair in pairs for name in pair))
    apart = np.zeros((len(names), len(names)))
    for (a, b), cell in pairs.items():
        if cell.ours is not None:
            apart[names.index(a), names.index(b)] = apart[names.index(b), names.index(a)] = cell.ours.value
    return figures.heat_map(
        apart, names, **{**_named(table, cells[0]), "caption": "Ours; the darker, the further apart."}
    )


def _along(table: Table, cells: Sequence[Cell]) -> Figure | None:
    """Return a number along what was varied, a line for each series."""
    if not table.experiment.x or not cells or cells[0].metric == table.experiment.x:
        return None
    lines: dict[str, list[tuple[float, float, float, float]]] = {}
    for cell in cells:
        if cell.ours is not None and cell.row in table.places:
            series, x = table.places[cell.row]
            value = cell.ours.value
            low, high = (value if bound is None else bound for bound in (cell.ours.low, cell.ours.high))
            lines.setdefault(series, []).append((x, value, low, high))
    if not any(len(points) > 1 for points in lines.values()):
        return None
    columns = {series: list(zip(*sorted(points), strict=True)) for series, points in lines.items()}
    return figures.curves(
        {series: (found[0], found[1]) for series, found in columns.items()},
        bands={series: (found[2], found[3]) for series, found in columns.items()},
        x_name=table.experiment.x.replace("_", " "),
        y_name=cells[0].metric.replace("_", " "),
        **_named(table, cells[0]),
    )


def _beside(table: Table, cells: Sequence[Cell]) -> Figure | None:
    """Return a number of all rows below each other with its intervals."""
    points = [
        Point(cell.row, cell.ours.value, cell.ours.low, cell.ours.high, marked=cell.row == table.experiment.reference)
        for cell in cells
        if cell.ours is not None and cell.ours.low is not None
    ]
    if not 1 < len(points) <= _MOST_POINTS:
        return None
    return figures.intervals(points, x_name=cells[0].metric.replace("_", " "), **_named(table, cells[0]))


def _named(table: Table, cell: Cell) -> dict[str, str]:
    words = cell.metric.replace("_", " ")
    title = f"{words[:1].upper()}{words[1:]}{f', {cell.on}' if cell.on else ''}"
    name = f"{table.experiment.name}-{cell.metric}-{cell.on}".replace("/", "-").replace(" ", "-").lower()
    return {"name": name, "title": title, "caption": "With 95 % intervals."}


def _html(grid: Grid, name: str, *, text: Sequence[int] = ()) -> str:
    return html_table(grid.head, grid.rows, name=name, best=grid.good, text=text)


def _in_markdown(grid: Grid) -> list[str]:
    lines = [grid.head, tuple("---" for _ in grid.head)]
    for r, row in enumerate(grid.rows):
        plain = [cell.replace("|", "\\|").replace("*", "\\*") for cell in row]
        lines.append(tuple(_bold(cell) if (r, c) in grid.good else cell for c, cell in enumerate(plain)))
    return [f"| {' | '.join(line)} |" for line in lines]


def _bold(cell: str) -> str:
    number, bracket, interval = cell.partition(" [")
    return f"**{number}**{bracket}{interval}" if number else ""


def _escaped(text: str) -> str:
    import html

    return html.escape(text)


def _origin(tables: Sequence[Table]) -> Origin:
    said = [f"{table.experiment.name} {table.size} {table.n_runs}" for table in tables]
    versions = sorted({version for table in tables for version in table.versions})
    return Origin("reproduce", {"with": "; ".join(versions)}, None, fingerprint_of([said], []))
