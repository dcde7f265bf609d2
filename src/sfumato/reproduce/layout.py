"""A comparison laid out: what stands in which column, in words, for the screen and for a page."""

from __future__ import annotations

__all__ = [
    "HEAD", "Grid", "cells_in_words", "grids", "notes", "size_in_words", "spent", "time_in_words",
    "verdicts_in_words",
]  # fmt: skip

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass

from sfumato.core.vocabulary import counted
from sfumato.reproduce.comparison import Cell, Ours, Table, Verdict, lower_is_better
from sfumato.reproduce.published import Printed

HEAD = ("row", "on", "number", "paper", "ours [95 %]", "as published", "digits", "sign")
_VERDICT_HEAD = ("", "claim", "in the paper", "ours [95 %]", "pairs")
# Up to so many columns stand side by side; more numbers stand below each other.
_ABREAST = 12


@dataclass(frozen=True, slots=True)
class Grid:
    """A table of texts with a title; ``good`` marks the cells, as (row, column), that meet what is printed."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    good: tuple[tuple[int, int], ...] = ()


def cells_in_words(table: Table) -> list[tuple[str, ...]]:
    """Return one line of texts for each cell, under `HEAD`."""
    return [
        (
            cell.row, cell.on, _named(cell.metric), cell.printed.text if cell.printed else "",
            _ours(cell) or cell.absent, _number(cell.as_published, cell.printed),
            _yes(cell.same_digits) if table.experiment.exact else "", _yes(cell.same_sign),
        )
        for cell in table.cells
    ]  # fmt: skip


def verdicts_in_words(table: Table) -> Grid | None:
    """Return the claims with the difference between their two rows, in the paper and here."""
    if not table.verdicts:
        return None
    title, head = "What the paper claims", _VERDICT_HEAD
    if not any(verdict.printed is not None for verdict in table.verdicts) and not table.experiment.paper:
        title, head = "What is claimed", (*head[:2], "", *head[3:])
    return Grid(title, head, tuple(map(_verdict, table.verdicts)))


def size_in_words(table: Table) -> str:
    """Return which size the table is of, and which made its runs where that was another with the same settings."""
    if table.experiment.exact:
        return "the same at every size"
    others = [size for size in table.made_at if size != table.size]
    made = (
        f", in part made at size {', '.join(others)}"
        if table.size in table.made_at
        else f", made at size {', '.join(others)}"
    )
    planned, done = table.experiment.n_seeds(table.size), len({seed for _, seed in table.took})
    of_them = f"{done:,} of " if 0 < done < planned else ""
    said = f"size {table.size}, {of_them}{counted(planned, 'seed')}"
    return f"{said}{made}, which has the same settings" if others else said


def time_in_words(seconds: float) -> str:
    """Return a time in the unit that suits it.

    >>> time_in_words(0.2), time_in_words(75), time_in_words(600), time_in_words(9000)
    ('less than a second', '75 seconds', '10 minutes', '2.5 hours')
    """
    if seconds < 0.5:
        return "less than a second"
    if seconds < 90:
        return counted(round(seconds), "second")
    return counted(round(seconds / 60), "minute") if seconds < 5400 else f"{seconds / 3600:,.1f} hours"


def spent(seconds: float, devices: Collection[str]) -> str:
    """Return what was spent on runs: time of cores, or the time of runs on a device, which they may have shared.

    >>> spent(600, ["cpu"]), spent(9000, ["cuda"])
    ('10 minutes of a core', '2.5 hours, summed over runs that may have shared a device (cuda)')
    """
    others = ", ".join(sorted({*devices} - {"cpu"}))
    if not others:
        return f"{time_in_words(seconds)} of a core"
    return f"{time_in_words(seconds)}, summed over runs that may have shared a device ({others})"


def notes(table: Table) -> list[str]:
    """Return the remarks of the experiment that are about the size of the table; "Small: …" is about that one."""
    return [note for note in table.experiment.notes if table.size == "small" or not note.startswith("Small: ")]


def grids(table: Table) -> list[Grid]:
    """Return the cells as tables like the paper's: one for each set, the numbers side by side where they are few."""
    places = dict.fromkeys(cell.on for cell in table.cells)
    return [_grid(table, on, [cell for cell in table.cells if cell.on == on]) for on in places]


def _grid(table: Table, on: str, cells: list[Cell]) -> Grid:
    metrics = list(dict.fromkeys(cell.metric for cell in cells))
    odd, printed = any(cell.as_published for cell in cells), any(cell.printed for cell in cells)
    whose = (*(["paper"] if printed else []), "ours", *(["as published"] if odd else []))
    if len(metrics) * len(whose) > _ABREAST:
        lines = [((cell.row, _named(cell.metric)), (cell,)) for cell in cells]
        head: tuple[str, ...] = ("", "", *whose)
    else:
        by_row = {cell.row: {each.metric: each for each in cells if each.row == cell.row} for cell in cells}
        lines = [((row,), tuple(found.get(metric) for metric in metrics)) for row, found in by_row.items()]  # type: ignore[misc]
        named = [f"{_named(metric)} {_arrow(metric)}".strip() for metric in metrics]
        head = ("", *(f"{name}: {who}" if len(whose) > 1 else name for name in named for who in whose))
    rows, good = [], []
    for place, (names, found) in enumerate(lines):
        texts = list(names)
        for cell in found:
            if cell is not None and _meets(table, cell):
                good.append((place, len(texts) + printed))
            texts += _texts(cell, printed, odd)
        rows.append(tuple(texts))
    return Grid(on, head, tuple(rows), tuple(good))


def _texts(cell: Cell | None, printed: bool, odd: bool) -> list[str]:
    if cell is None:
        return [""] * (1 + printed + odd)
    paper = cell.printed.text if cell.printed else ""
    ours = _ours(cell) or _short(cell.absent)
    return [*([paper] if printed else []), ours, *([_number(cell.as_published, cell.printed)] if odd else [])]


def _meets(table: Table, cell: Cell) -> bool:
    return bool(cell.same_digits if table.experiment.exact else cell.same_sign)


def _ours(cell: Cell) -> str:
    """Return our number with the stars that the papers use: two where p ≤ 0.01, one where p ≤ 0.05."""
    number, bracket, interval = _number(cell.ours, cell.printed).partition(" [")
    stars = "" if cell.p_value is None else "**" if cell.p_value <= 0.01 else "*" if cell.p_value <= 0.05 else ""
    return number + stars + bracket + interval


def _number(ours: Ours | None, printed: Printed | None) -> str:
    if ours is None or math.isnan(ours.value):
        return ""
    if printed is None:
        return _plain(ours.value) + _bounds(ours, _plain)
    # With a digit more than the paper has, where there is one more to see; bounds in the unit of the number.
    digits = printed.digits + (0 if ours.value == int(ours.value) else 1)

    def like(value: float) -> str:
        return f"{value * printed.scale:,.{digits}f}"

    return like(ours.value) + (" %" if printed.scale == 100 else "") + _bounds(ours, like)


def _bounds(ours: Ours, shown: Callable[[float], str]) -> str:
    return "" if ours.low is None or ours.high is None else f" [{shown(ours.low)}, {shown(ours.high)}]"


def _plain(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) and abs(value) >= 2 else f"{value:.4g}"


def _verdict(verdict: Verdict) -> tuple[str, ...]:
    interval = "" if verdict.low is None or verdict.high is None else f" [{verdict.low:+.3g}, {verdict.high:+.3g}]"
    where = f" ({_named(verdict.claim.metric)}{f', {verdict.claim.on}' if verdict.claim.on else ''})"
    return (
        verdict.word,
        verdict.claim.text + where,
        "" if verdict.printed is None else f"{verdict.printed:+.3g}",
        "" if math.isnan(verdict.difference) else f"{verdict.difference:+.3g}{interval}",
        str(verdict.n_pairs or ""),
    )


def _named(metric: str) -> str:
    return metric.replace("_", " ")


def _arrow(metric: str) -> str:
    return "↓" if lower_is_better(metric) else "↑" if metric.endswith("_score") else ""


def _yes(said: bool | None) -> str:
    return "" if said is None else "same" if said else "other"


def _short(text: str) -> str:
    return text.partition(":")[0]
