"""``sfumato aggregate``: votes in, soft labels out."""

from __future__ import annotations

__all__ = ["aggregate", "register"]

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli import screen
from sfumato.cli import votes as reading
from sfumato.errors import OptionError, SfumatoError

if TYPE_CHECKING:
    from sfumato.aggregate.methods import Method
    from sfumato.aggregate.result import Result
    from sfumato.core.annotations import Annotations

_SHOWN = 10


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    example = "Example: sfumato aggregate votes.csv --method dawid_skene --option prior=ml --out soft.parquet"
    app.command(name="aggregate", epilog=example)(aggregate)


def _print_methods(wanted: bool) -> None:
    """Print every method with what it does and its options, as the registry has them."""
    from sfumato.aggregate.methods import METHODS

    if not wanted:
        return
    for method in METHODS.values():
        taken = [f"{name}={_as_typed(option.default)}" for name, option in method.options.items()]
        screen.say(f"{method.name}: {method.summary}.\n    {', '.join(taken) or 'no options'}")
    raise typer.Exit


def _as_typed(value: object) -> str:
    return str(value).lower() if value is None or isinstance(value, bool) else str(value)


def aggregate(
    votes: reading.Votes,
    method: Annotated[
        str,
        typer.Option(
            help="A view (majority, standard, softmax, dawid_skene, mace, …) or a join (centroid, hybrid, …)."
        ),
    ] = "dawid_skene",
    views: Annotated[
        str | None, typer.Option(help="For a join: the views to make and join, separated by commas.")
    ] = None,
    model: Annotated[
        Path | None, typer.Option(help="For with_model: a file of a classifier's out-of-sample probabilities.")
    ] = None,
    option: Annotated[
        list[str] | None, typer.Option(help="An option of the method as NAME=VALUE; may be given several times.")
    ] = None,
    seed: reading.Seed = 0,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="The file of soft labels to write: .csv, .tsv, .jsonl, .parquet or .arrow."),
    ] = None,
    annotators_out: Annotated[
        Path | None, typer.Option(help="A file for what was learnt about each annotator: .csv, .jsonl or .parquet.")
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="A page to write (.html): the soft labels and the annotators, in pictures.")
    ] = None,
    format: reading.Format = "auto",
    item: reading.Item = None,
    annotator: reading.Annotator = None,
    label: reading.Label = None,
    classes: reading.Classes = None,
    duplicates: reading.Duplicates = "error",
    json: Annotated[bool, typer.Option("--json", help="Print a summary as JSON.")] = False,
    methods: Annotated[
        bool,
        typer.Option(
            "--methods", help="Print every method with its options, and stop.", is_eager=True, callback=_print_methods
        ),
    ] = False,
) -> None:
    """Make soft labels of votes, by one method or by several whose views are joined.

    Without --out, the first soft labels are printed and nothing is written.
    """
    from sfumato.aggregate.methods import METHODS
    from sfumato.core.soft_labels import SoftLabels
    from sfumato.errors import check_choice
    from sfumato.tables.doors import check_target
    from sfumato.tables.write import check_writable

    # Everything that can be refused is refused before a long file is read.
    chosen = METHODS[check_choice(method, METHODS, option="method")]
    options = _options(chosen, option or [])
    if views is not None and chosen.needs == "annotations":
        raise OptionError(f"The method '{method}' is a view itself; --views goes with a join such as centroid.")
    if chosen.needs == "views" and views is not None:
        options["names"] = reading.names_of_views(views)
    if (model is None) == (chosen.needs == "annotations and model"):
        needed = "needs --model, a file of probabilities" if model is None else "takes no --model; with_model does"
        raise OptionError(f"The method '{method}' {needed}.")
    if option and model is None:
        _check_options(chosen, options)
    reading.keep_apart((out, annotators_out, report), (*votes, model))
    reading.check_given(model)
    for target in (out, annotators_out):
        if target is not None:
            check_target(target)
    if report is not None:
        if report.suffix.lower() != ".html":
            raise OptionError(f"The report of an aggregation ends in .html. Got {report} instead.")
        check_writable(report)

    said = reading.read(
        votes, format=format, item=item, annotator=annotator, label=label, classes=classes, duplicates=duplicates
    )
    with screen.working(f"Aggregating {said.n_annotations:,} annotations"):
        given = () if model is None else (SoftLabels.load(model),)
        result = chosen.function(said, *given, seed=seed, **options)
    for line in result.notes:
        screen.note(line)
    with screen.working("Writing"):
        if out is not None:
            result.soft_labels.save(out)
        if annotators_out is not None:
            result.save_annotators(annotators_out)
        if report is not None:
            _write_page(said, result, report, options.get("names"), seed)
    written = {"out": out, "annotators_out": annotators_out, "report": report}
    if json:
        screen.say_json(_summary(said, result, written))
    else:
        _tell(said, result, method, written)


def _options(method: Method, pairs: list[str]) -> dict[str, Any]:
    """Return NAME=VALUE pairs as keywords, each value read as its option wants it."""
    options: dict[str, Any] = {}
    for pair in pairs:
        name, separator, text = pair.partition("=")
        name = name.strip().replace("-", "_")
        if not separator:
            raise OptionError(f"An option is given as NAME=VALUE. Got {pair!r} instead.")
        if name not in method.options:
            known = ", ".join(method.options) or "no options"
            raise OptionError(f"The method '{method.name}' takes {known}. Got the option {name!r} instead.")
        options[name] = method.options[name].parse(text.strip())
    return options


def _check_options(method: Method, options: Mapping[str, Any]) -> None:
    """Let the method refuse a value out of range before a long file is read: on four votes, in a step."""
    from sfumato.core.annotations import Annotations

    quick = {name: 1 for name in ("max_iter", "restarts") if options.get(name, 0) > 1}
    few = Annotations.from_rows(list("aabb"), list("xyxy"), list("0101"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            method.function(few, **{**options, **quick})
        except OptionError:
            raise
        except SfumatoError:  # four votes are not enough for it; those in the file may be
            pass


def _write_page(said: Annotations, result: Result, target: Path, names: list[str] | None, seed: int) -> None:
    """Write the page of the result; that of a join shows its views, which are made once more for it."""
    from sfumato.aggregate.joining import JoinResult
    from sfumato.aggregate.views import DEFAULT_VIEWS
    from sfumato.aggregate.views import views as views_of
    from sfumato.evaluate.report.aggregation_page import aggregation_page
    from sfumato.tables.write import write_whole

    joined = isinstance(result, JoinResult)
    page = aggregation_page(
        said,
        result.soft_labels,
        annotators=result.annotator_columns(),
        views=views_of(said, names or DEFAULT_VIEWS, seed=seed) if joined else None,
        trace=result.trace,
        notes=result.notes,
    )
    write_whole(target, page)


def _summary(said: Annotations, result: Result, written: Mapping[str, Path | None]) -> dict[str, Any]:
    soft = result.soft_labels
    return {
        "n_items": said.n_items,
        "n_annotators": said.n_annotators,
        "n_annotations": said.n_annotations,
        "classes": list(said.classes),
        "origin": soft.origin.to_dict(),
        "converged": result.converged,
        "n_iter": result.n_iter,
        "objective": result.trace[-1] if result.trace else None,
        "mean_top_probability": float(soft.probs.max(axis=1).mean()),
        **{name: None if target is None else str(target) for name, target in written.items()},
        "notes": [*said.notes, *result.notes],
    }


def _tell(said: Annotations, result: Result, method: str, written: Mapping[str, Path | None]) -> None:
    soft = result.soft_labels
    ran = f", {result.n_iter} iterations" if result.n_iter else ""
    screen.say(
        f"{said.n_annotations:,} annotations of {said.n_items:,} items by {said.n_annotators:,} annotators, "
        f"{said.n_classes:,} classes · {method}{ran}"
    )
    for target in written.values():
        if target is not None:
            screen.say(f"→ {target}")
    if written["out"] is None:
        shown = soft.classes[:8]
        screen.table(
            ["item", *shown],
            [
                [name, *(f"{p:.3f}" for p in soft.probs[row, : len(shown)])]
                for row, name in enumerate(soft.items[:_SHOWN])
            ],
        )
        more = [f"{soft.n_items - _SHOWN:,} more items"] if soft.n_items > _SHOWN else []
        more += [f"{soft.n_classes - 8:,} more classes"] if soft.n_classes > 8 else []
        screen.say(f"{'… ' if more else ''}{', '.join(more)}{'. ' if more else ''}Write all with --out soft.csv")
