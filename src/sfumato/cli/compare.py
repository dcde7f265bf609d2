"""``sfumato compare``: which method to trust, without any gold."""

from __future__ import annotations

__all__ = ["compare", "register"]

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli import screen
from sfumato.cli import votes as reading
from sfumato.errors import OptionError

if TYPE_CHECKING:
    from sfumato.core.annotations import Annotations
    from sfumato.core.gold import Gold
    from sfumato.core.report import Number, Report
    from sfumato.core.soft_labels import SoftLabels


_FOLDS, _RESAMPLES, _DRAWS = 4, 1000, 20
_ENDINGS = (".html", ".json", ".md")


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command(name="compare", epilog="Example: sfumato compare votes.csv --gold gold.csv")(compare)


def compare(
    votes: reading.Votes,
    gold: Annotated[
        Path | None,
        typer.Option(help="A file of reference classes (item, label), or of soft labels (item, a column per class)."),
    ] = None,
    views: Annotated[
        str | None, typer.Option(help="The views to compare, separated by commas; every method where not given.")
    ] = None,
    folds: Annotated[
        int | None,
        typer.Option(min=2, help="In how many parts the annotations are left out.", show_default=str(_FOLDS)),
    ] = None,
    resamples: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="How many bootstrap samples the intervals are made of; with --panel-size, how often panels are drawn.",
            show_default=f"{_RESAMPLES}, or {_DRAWS} panels",
        ),
    ] = None,
    panel_size: Annotated[
        bool, typer.Option("--panel-size", help="Ask instead how many annotators per item are enough.")
    ] = False,
    seconds: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER|COLUMN",
            help="For --panel-size: the seconds of an annotation, or the column that holds them; adds the cost.",
        ),
    ] = None,
    seed: reading.Seed = 0,
    report: Annotated[
        list[Path] | None,
        typer.Option(
            "--report", "--out", "-o", help="A report to write: .html (with pictures), .json or .md; repeatable."
        ),
    ] = None,
    format: reading.Format = "auto",
    item: reading.Item = None,
    annotator: reading.Annotator = None,
    label: reading.Label = None,
    classes: reading.Classes = None,
    duplicates: reading.Duplicates = "error",
    json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Score every method by annotations that it has not seen, best first; no gold is needed."""
    from sfumato.aggregate.compare import compare as score
    from sfumato.aggregate.panel_size import panel_size as shrink
    from sfumato.tables.write import check_writable

    if panel_size and any(given is not None for given in (gold, views, folds)):
        raise OptionError("--panel-size compares panels, not views: --gold, --views and --folds do not go with it.")
    if seconds is not None and not panel_size:
        raise OptionError("--seconds gives the cost of panels: it goes with --panel-size.")
    chosen = None if views is None else reading.names_of_views(views)
    reading.keep_apart(report or [], (*votes, gold))
    reading.check_given(gold)
    for target in report or []:
        if target.suffix.lower() not in _ENDINGS:
            raise OptionError(f"A report ends in {', '.join(_ENDINGS)}. Got {target} instead.")
        check_writable(target)
    said = reading.read(
        votes, format=format, item=item, annotator=annotator, label=label, classes=classes, duplicates=duplicates
    )
    if panel_size:
        cost = None if seconds is None else _cost(seconds, votes, item, annotator, label)
        with screen.working("Drawing smaller panels"):
            found = shrink(said, repeats=_DRAWS if resamples is None else resamples, seconds=cost, seed=seed)
    else:
        reference = None if gold is None else _gold(gold)
        with screen.working("Leaving annotations out") as advance:
            found = score(
                said, chosen or (), gold=reference, folds=_FOLDS if folds is None else folds,
                resamples=_RESAMPLES if resamples is None else resamples, seed=seed, progress=advance,
            )  # fmt: skip
    for target in report or []:
        _write(found, target, said, chosen, panel_size, seed)
    if json:
        screen.say(found.to_json())
        return
    screen.table(*(_as_it_is(found) if panel_size else _shortened(found, _WITHOUT_GOLD)))
    screen.say("")
    if gold is not None:
        screen.table(*_shortened(found, _BY_GOLD), title="By gold; held_out is the average under these weights")
        screen.say("")
    for line in found.notes:
        screen.say(line)
    for target in report or []:
        screen.say(f"→ {target}")


def _gold(path: Path) -> Gold | SoftLabels:
    """Return the reference classes in a file, or the soft labels where it holds those."""
    from sfumato.core.soft_labels import SoftLabels
    from sfumato.errors import InputError
    from sfumato.tables.read_gold import read_gold

    try:
        return read_gold(path)
    except InputError as no_classes:
        try:
            return SoftLabels.load(path)
        except InputError:
            raise no_classes from None


def _cost(
    seconds: str, votes: list[Path], item: str | None, annotator: str | None, label: str | None
) -> float | dict[tuple[str, str], float]:
    """Return the seconds of an annotation, or of each one by item and annotator where a column holds them."""
    from sfumato.tables.read_seconds import read_seconds

    try:
        mean = float(seconds)
    except ValueError:
        if len(votes) > 1:
            raise OptionError("--seconds takes a column of one file of votes. Join them, or give the mean.") from None
        return read_seconds(votes[0], seconds, item=item, annotator=annotator, label=label)
    if not 0 <= mean < float("inf"):
        raise OptionError(f"--seconds must be 0 or more. Got {seconds} instead.")
    return mean


def _write(
    found: Report, target: Path, said: Annotations, views: list[str] | None, panel_size: bool, seed: int
) -> None:
    """Write the report; a page shows the views themselves, too, which are made of all annotations for it."""
    from sfumato.aggregate.compare import COMPARED
    from sfumato.aggregate.views import views as views_of
    from sfumato.evaluate.report.comparison_page import comparison_page
    from sfumato.tables.write import write_whole

    if target.suffix.lower() != ".html":
        found.save(target)
        return
    with screen.working("Drawing"):
        made = None if panel_size else views_of(said, views or COMPARED, seed=seed)
        write_whole(target, comparison_page(found, views=made))


_WITHOUT_GOLD = {
    "held_out_log_likelihood_score": "log-likelihood",
    "behind": "behind the best (95 %)",
    "weight": "weight",
}
_BY_GOLD = {
    "accuracy_score": "accuracy",
    "soft_cross_entropy_loss": "soft cross-entropy",
    "expected_calibration_error": "calibration error",
}


def _shortened(report: Report, heads: Mapping[str, str]) -> tuple[list[str], list[list[str]]]:
    """Return the numbers under *heads* as head and rows that fit a terminal; --json and --report have every digit."""

    def cell(number: Number | None) -> str:
        if number is None:
            return ""
        if number.name == "behind":
            return f"{number.value:.4f} ({number.low:.4f} to {number.high:.4f})"
        return f"{number.value:.3f}" if number.name in ("weight", "accuracy_score") else f"{number.value:.4f}"

    rows = [[of, *(cell(row.get(name)) for name in heads)] for of, row in report.rows().items()]
    return ["view", *heads.values()], [row for row in rows if any(row[1:])]


def _as_it_is(report: Report) -> tuple[list[str], list[list[str]]]:
    names = report.names()
    rows = [[of, *(str(row.get(name, "")) for name in names)] for of, row in report.rows().items()]
    return ["panel", *(name.replace("_", " ") for name in names)], rows
