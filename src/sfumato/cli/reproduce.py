"""``sfumato reproduce``: the tables and figures of four papers, and experiments of one's own."""

from __future__ import annotations

__all__ = ["app", "list_experiments", "report", "run", "show"]

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli import screen
from sfumato.errors import OptionError

if TYPE_CHECKING:
    from sfumato.reproduce.comparison import Cell, Table
    from sfumato.reproduce.experiment import Experiment, Size
    from sfumato.reproduce.running import Progress

app = typer.Typer(help="The tables and figures of four papers, and experiments of one's own.", no_args_is_help=True)

_FOLDER = Path("reproduction")
_SECONDS_BETWEEN_LINES = 10.0
Names = Annotated[
    list[str],
    typer.Argument(
        metavar="NAME...", help="An experiment (wright/table1), a paper (wright), all, or a .toml of one's own."
    ),
]
Folder = Annotated[Path, typer.Option(help="The folder of the results.")]
Json = Annotated[bool, typer.Option("--json", help="Print as JSON.")]


@app.command("list", epilog="Example: sfumato reproduce list")
def list_experiments(folder: Folder = _FOLDER, json: Json = False) -> None:
    """List every table and figure: what it needs, whether the data are here, and how long it takes at each size."""
    from sfumato.reproduce.catalogue import experiments
    from sfumato.reproduce.expected import Costs
    from sfumato.reproduce.experiment import SIZES

    known, costs = experiments(), Costs(folder)
    lines = [
        {
            "name": one.name, "title": one.title, "needs": _needs(one), "missing": _missing(one),
            **{size: costs.of([one], size).seconds for size in SIZES},
        }
        for one in known
    ]  # fmt: skip
    if json:
        screen.say_json(lines)
        return
    rows = [
        [
            one.name, one.title, _in_words(_needs(one), _missing(one)),
            *("same" if size != "smoke" and one.exact else _spoken(float(line[size])) for size in SIZES),
        ]
        for line, one in zip(lines, known, strict=True)
    ]  # fmt: skip
    together = [costs.of(known, size) for size in SIZES]
    rows.append(
        ["all", "Runs that several of them share are computed once.", "", *(_spoken(one.seconds) for one in together)]
    )
    rows.append(["", "How many runs that are.", "", *(f"{one.n_runs:,}" for one in together)])
    screen.table(["name", "what", "needs", *SIZES], rows, left=3)
    screen.say("")
    screen.say("Times are those of one core of the machine they were written on, scaled by what was measured here.")


@app.command("run", epilog="Example: sfumato reproduce run collins/table2 --size smoke --jobs 2")
def run(
    name: Names,
    size: Annotated[
        str, typer.Option(help="smoke, small or full: how long, how wide, on how much, how often.")
    ] = "small",
    seeds: Annotated[int | None, typer.Option(help="How many seeds, in place of the number of the size.")] = None,
    device: Annotated[str, typer.Option(help="Where to train: auto, cpu, cuda or mps.")] = "cpu",
    jobs: Annotated[int, typer.Option(help="How many processes share the cores.")] = 1,
    folder: Folder = _FOLDER,
    json: Json = False,
) -> None:
    """Compute what is missing of experiments, and show each beside the paper; stop it at any time and run it again.

    A run that is stored is never computed again, whichever experiment it belongs to.
    """
    from sfumato.core.vocabulary import counted
    from sfumato.reproduce.comparison import compare
    from sfumato.reproduce.running import run_all

    chosen = _found(name)
    of_size = _size(size)
    with screen.working(f"Running {', '.join(name)}") as advance:
        summary = run_all(
            chosen, folder=folder, size=of_size, seeds=seeds, device=device, jobs=jobs, progress=_in_lines(advance)
        )  # fmt: skip
    for line in (*summary.left_out, *summary.again, *summary.failed):
        screen.note(line)
    tables = [compare(one, folder, size=of_size, seeds=seeds) for one in chosen]
    for line in (line for table in tables for line in _named_in_vain(table)):
        screen.note(line)
    if json:
        screen.say_json({"computed": summary.computed, "found": summary.found, "left_out": list(summary.left_out),
                         "failed": list(summary.failed), "again": list(summary.again),
                         "tables": [_plain(table) for table in tables]})  # fmt: skip
    else:
        for table in tables if len(tables) < 4 else ():
            _tell(table)
        were = "was" if summary.found == 1 else "were"
        screen.say(f"{counted(summary.computed, 'run')} computed, {summary.found:,} {were} there. → {folder}")
    if summary.left_out and not any(table.n_runs for table in tables):
        screen.complain("Nothing could be run: the data are not there.")
        raise typer.Exit(1)
    if summary.failed or any(table.n_runs and not any(_ours(cell) for cell in table.cells) for table in tables):
        raise typer.Exit(1)


@app.command("show", epilog="Example: sfumato reproduce show wright/table1")
def show(
    name: Names,
    size: Annotated[
        str | None, typer.Option(help="smoke, small or full; the largest with results if not given.")
    ] = None,
    folder: Folder = _FOLDER,
    json: Json = False,
) -> None:
    """Show the paper's numbers beside ours: interval, digits, sign of the effect, and what deviates."""
    from sfumato.reproduce.comparison import compare

    tables = [compare(one, folder, size=None if size is None else _size(size)) for one in _found(name)]
    if json:
        screen.say_json([_plain(table) for table in tables])
        return
    for table in tables:
        _tell(table)


@app.command("report", epilog="Example: sfumato reproduce report all --out reproduction.html")
def report(
    name: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME...]", help="Experiments, papers, or .toml files; all if none.")
    ] = None,
    out: Annotated[
        list[Path] | None, typer.Option(help="The file to write: .html (with figures) or .md; may be given twice.")
    ] = None,
    size: Annotated[
        str | None, typer.Option(help="smoke, small or full; the largest with results if not given.")
    ] = None,
    folder: Folder = _FOLDER,
) -> None:
    """Write one page of all results: tables beside the papers', figures, claims, seeds and intervals."""
    from sfumato.reproduce.comparison import compare
    from sfumato.reproduce.page import report_markdown, report_page
    from sfumato.tables.write import write_whole

    targets = out or [Path("reproduction.html")]
    for target in targets:
        if target.suffix.lower() not in (".html", ".md"):
            raise OptionError(f"A page of results is written as .html or .md. Got {target} instead.")
    of_size = None if size is None else _size(size)
    with screen.working("Comparing"):
        tables = [compare(one, folder, size=of_size) for one in _found(name or ["all"])]
    for target in targets:
        write_whole(target, (report_page if target.suffix.lower() == ".html" else report_markdown)(tables))
        screen.say(f"→ {target}")


def _found(names: list[str]) -> list[Experiment]:
    from sfumato.reproduce.catalogue import find

    found = {one.source: one for name in names for one in find(name)}
    return list(found.values())


def _size(said: str) -> Size:
    from sfumato.errors import check_choice
    from sfumato.reproduce.experiment import SIZES

    return check_choice(said, SIZES, option="size")  # type: ignore[return-value]


def _needs(one: Experiment) -> list[str]:
    return sorted({name for run in one.runs("full", seeds=1) for name in run.data})


def _missing(one: Experiment) -> list[str]:
    from sfumato.reproduce.sources import missing_data

    return [name for name in _needs(one) if missing_data([name])]


def _in_words(needs: list[str], missing: list[str]) -> str:
    """Return the sets by name, those that are not on this machine marked; parts of one set are told once."""
    sets = dict.fromkeys(name.partition("/")[0] for name in needs)
    marked = {one: any(name.partition("/")[0] == one for name in missing) for one in sets}
    return ", ".join(f"{name} (missing)" if absent else name for name, absent in marked.items())


def _spoken(seconds: float) -> str:
    if seconds < 90:
        return f"{max(seconds, 1):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:,.0f} h"


def _in_lines(advance: screen.Advance) -> Progress:
    """Tell how far it is where there is a bar, and where a log is written in a line every few seconds at most."""
    bar, told = sys.stderr.isatty(), time.monotonic()

    def progress(done: int, total: int, name: str) -> None:
        nonlocal told
        advance(done, total)
        if not bar and (now := time.monotonic()) - told >= _SECONDS_BETWEEN_LINES:
            told = now
            screen.note(f"{done:,} of {total:,} runs, the last: {name}")

    return progress


def _tell(table: Table) -> None:
    from sfumato.core.vocabulary import counted
    from sfumato.reproduce.layout import HEAD, cells_in_words, notes, size_in_words, spent, verdicts_in_words

    one = table.experiment
    screen.say(f"{one.name}: {one.title}")
    runs = f"{table.n_runs:,} of {counted(table.n_wanted, 'run')}"
    screen.say(f"{size_in_words(table)}; {runs}, {spent(table.seconds, table.devices)}. {'; '.join(table.made_with)}")
    lines = cells_in_words(table)
    shown = [place for place in range(len(HEAD)) if any(line[place] for line in lines)]
    screen.table([HEAD[place] for place in shown], [[line[place] for place in shown] for line in lines], left=3)
    claims = verdicts_in_words(table)
    if claims is not None:
        screen.say("")
        screen.table(claims.head, claims.rows, left=2)
    screen.say("")
    for line in notes(table):
        screen.say(line)
    if one.quirk is not None:
        screen.say(f"As published: {one.quirk.why}")
    screen.say("")


def _named_in_vain(table: Table) -> list[str]:
    """Say which claims, numbers and rows the experiment names that its table, of which all runs are there, lacks."""
    if not table.n_runs or table.n_runs < table.n_wanted:
        return []
    one = table.experiment
    ours = [cell for cell in table.cells if _ours(cell)]
    rows = list(dict.fromkeys(cell.row for cell in ours))
    said = [
        f"shows names {name!r}, a number that is not there. There are {', '.join(table.measured)}."
        for name in one.shows if name not in table.measured
    ]  # fmt: skip
    if one.reference and rows and one.reference not in rows:
        said.append(f"the reference {one.reference!r} is a row that is not there. There are {', '.join(rows)}.")
    if one.x and not table.places:
        said.append(f"x is {one.x!r}, which is no setting and no number of it. There are {', '.join(table.measured)}.")
    places = sorted({f"{cell.metric} on {cell.on!r}" for cell in ours})
    said += [
        f"the claim {each.claim.text!r} is of a number that is not there: {each.claim.metric} "
        f"on {each.claim.on!r} for {each.claim.better!r} and {each.claim.worse!r}. There are {', '.join(places)}."
        for each in table.verdicts if each.word == "not run" and places
    ]  # fmt: skip
    return [f"{one.name}: {line}" for line in said]


def _ours(cell: Cell) -> bool:
    return cell.ours is not None or cell.as_published is not None


def _plain(table: Table) -> dict[str, Any]:
    from dataclasses import asdict

    return {
        "experiment": table.experiment.name,
        "size": table.size,
        "made_at": list(table.made_at),
        "runs": table.n_runs,
        "wanted": table.n_wanted,
        "seconds": table.seconds,
        "devices": list(table.devices),
        "made_with": list(table.made_with),
        "cells": [
            {
                "row": cell.row, "on": cell.on, "metric": cell.metric,
                "paper": cell.printed.text if cell.printed else None, "ours": _number(cell.ours),
                "as_published": _number(cell.as_published), "same_digits": cell.same_digits,
                "same_sign": cell.same_sign, "absent": cell.absent,
            }
            for cell in table.cells
        ],
        "claims": [
            {**asdict(verdict.claim), "paper": verdict.printed, "difference": _finite(verdict.difference),
             "low": verdict.low, "high": verdict.high, "pairs": verdict.n_pairs, "verdict": verdict.word}
            for verdict in table.verdicts
        ],
    }  # fmt: skip


def _number(ours: Any) -> dict[str, Any] | None:
    if ours is None:
        return None
    return {"value": _finite(ours.value), "low": ours.low, "high": ours.high, "runs": ours.n_runs}


def _finite(value: float) -> float | None:
    return value if value == value else None
