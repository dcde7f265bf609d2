"""``sfumato compare``: which method to trust, without any gold."""

from __future__ import annotations

__all__ = ["compare", "register"]

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli import screen
from sfumato.cli import votes as reading
from sfumato.errors import OptionError

if TYPE_CHECKING:
    from sfumato.core.annotations import Annotations
    from sfumato.core.report import Number, Report


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command(name="compare", epilog="Example: sfumato compare votes.csv --gold gold.csv")(compare)


def compare(
    votes: reading.Votes,
    gold: Annotated[Path | None, typer.Option(help="A file of reference classes: item, label.")] = None,
    views: Annotated[
        str | None, typer.Option(help="The views to compare, separated by commas; every method where not given.")
    ] = None,
    folds: Annotated[int, typer.Option(help="In how many parts the annotations are left out.")] = 4,
    resamples: Annotated[int, typer.Option(help="How many bootstrap samples the intervals are made of.")] = 1000,
    panel_size: Annotated[
        bool, typer.Option("--panel-size", help="Ask instead how many annotators per item are enough.")
    ] = False,
    seed: Annotated[int, typer.Option(help="The seed of everything that is random.")] = 0,
    out: Annotated[Path | None, typer.Option(help="A file for the report: .json or .md.")] = None,
    format: reading.Format = "auto",
    item: reading.Item = None,
    annotator: reading.Annotator = None,
    label: reading.Label = None,
    classes: reading.Classes = None,
    duplicates: reading.Duplicates = "error",
    json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Score every method by annotations that it has not seen, best first; no gold is needed."""
    if panel_size and (gold is not None or views is not None):
        raise OptionError("--panel-size compares panels, not views: it goes neither with --gold nor with --views.")
    if out is not None and out.suffix.lower() not in (".json", ".md"):
        raise OptionError(f"A report is written as .json or .md. Got {out} instead.")
    said = reading.read(
        votes, format=format, item=item, annotator=annotator, label=label, classes=classes, duplicates=duplicates
    )
    if panel_size:
        from sfumato.aggregate.panel_size import panel_size as shrink

        with screen.working("Drawing smaller panels"):
            report = shrink(said, repeats=min(resamples, 20), seed=seed)
    else:
        report = _views(said, gold, views, folds, resamples, seed)
    if out is not None:
        report.save(out)
    if json:
        screen.say(report.to_json())
        return
    screen.table(*(_as_it_is(report) if panel_size else _shortened(report)))
    screen.say("")
    for line in report.notes:
        screen.say(line)
    if out is not None:
        screen.say(f"→ {out}")


_HEADS = {
    "held_out_log_likelihood_score": "log-likelihood",
    "behind": "behind the best (95 %)",
    "weight": "weight",
    "accuracy_score": "accuracy",
    "log_loss": "log loss",
    "expected_calibration_error": "calibration error",
}


def _shortened(report: Report) -> tuple[list[str], list[list[str]]]:
    """Return the comparison as head and rows that fit a terminal; --json and --out have every digit."""
    names = report.names()

    def cell(number: Number | None) -> str:
        if number is None:
            return ""
        if number.name == "behind":
            return f"{number.value:.4f} ({number.low:.4f} to {number.high:.4f})"
        return f"{number.value:.3f}" if number.name in ("weight", "accuracy_score") else f"{number.value:.4f}"

    rows = [[of, *(cell(row.get(name)) for name in names)] for of, row in report.rows().items()]
    return ["view", *(_HEADS[name] for name in names)], rows


def _as_it_is(report: Report) -> tuple[list[str], list[list[str]]]:
    names = report.names()
    rows = [[of, *(str(row.get(name, "")) for name in names)] for of, row in report.rows().items()]
    return ["panel", *(name.replace("_", " ") for name in names)], rows


def _views(said: Annotations, gold: Path | None, views: str | None, folds: int, resamples: int, seed: int) -> Report:
    from sfumato.aggregate.compare import compare as score
    from sfumato.tables.read_gold import read_gold

    reference = None if gold is None else read_gold(gold)
    names = [name.strip() for name in (views or "").split(",") if name.strip()]
    with screen.working("Leaving annotations out") as advance:
        return score(said, names, gold=reference, folds=folds, resamples=resamples, seed=seed, progress=advance)
