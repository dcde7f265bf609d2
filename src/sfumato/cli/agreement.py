"""``sfumato agreement``: how far annotators agree, under the right names."""

from __future__ import annotations

__all__ = ["agreement", "register"]

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli import screen
from sfumato.cli import votes as reading
from sfumato.errors import OptionError

if TYPE_CHECKING:
    from sfumato.core.report import Number

# How many annotators, pairs and items are named.
_SHOWN = 5


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command(name="agreement", epilog="Example: sfumato agreement votes.csv --gold gold.csv")(agreement)


def agreement(
    votes: reading.Votes,
    gold: Annotated[Path | None, typer.Option(help="A file of reference classes: item, label.")] = None,
    ordinal: Annotated[
        bool, typer.Option("--ordinal", help="The classes have an order, that of --classes: add the ordinal α.")
    ] = False,
    resamples: Annotated[int, typer.Option(min=1, help="How many bootstrap samples the intervals are made of.")] = 1000,
    seed: reading.Seed = 0,
    annotators_out: Annotated[
        Path | None, typer.Option(help="A file for the table of annotators: .csv, .jsonl or .parquet.")
    ] = None,
    format: reading.Format = "auto",
    item: reading.Item = None,
    annotator: reading.Annotator = None,
    label: reading.Label = None,
    classes: reading.Classes = None,
    duplicates: reading.Duplicates = "error",
    json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Show how far the annotators agree, who stands out, and who may have copied."""
    from sfumato.aggregate.panel import agreement as examine
    from sfumato.core import storage
    from sfumato.core.agreement import all_numbers
    from sfumato.tables.doors import check_target
    from sfumato.tables.read_gold import read_gold

    reading.keep_apart([annotators_out], (*votes, gold))
    reading.check_given(gold)
    if annotators_out is not None:
        check_target(annotators_out)
    said = reading.read(
        votes, format=format, item=item, annotator=annotator, label=label, classes=classes, duplicates=duplicates
    )
    if ordinal and classes is None and not all_numbers(said.classes):
        raise OptionError("--ordinal needs the order of the classes, which are no numbers. Give it with --classes.")
    reference = None if gold is None else read_gold(gold)
    with screen.working("Comparing annotators"):
        report = examine(said, gold=reference, ordinal=ordinal, resamples=resamples, seed=seed)
    if annotators_out is not None:
        storage.save_columns(report.details["annotators"], annotators_out)
    if json:
        # The report writes what is not a number as text, which JSON has no other word for.
        screen.say(report.to_json())
        return
    screen.table(["", "value", "95 % interval", "n"], [_row(number) for number in report.numbers])
    of_annotators, of_copies, *others = report.notes
    screen.say(f"\n{of_annotators}")
    _tell_annotators(report.details["annotators"])
    screen.say(f"\n{of_copies}")
    _tell_copies(report.details["copies"])
    _tell_items(report.details["items"])
    for line in others:
        screen.say(f"\n{line}")
    if annotators_out is not None:
        screen.say(f"→ {annotators_out}")


def _row(number: Number) -> list[str]:
    interval = "" if number.low is None else f"{number.low:.4f} to {number.high:.4f}"
    return [number.name.replace("_score", "").replace("_", " "), f"{number.value:.4f}", interval, f"{number.n:,}"]


def _tell_annotators(columns: Mapping[str, list[Any]]) -> None:
    """Name the suspected annotators who said most: they do the most harm."""
    told = ("", "unclear")
    rows = [row for row, verdict in enumerate(columns["suspected"]) if verdict not in told]
    rows.sort(key=lambda row: (-columns["n_annotations"][row], columns["annotator"][row]))
    if not rows:
        return
    accuracy = "accuracy" in columns
    screen.table(
        ["annotator", "suspected", "annotations", "agreement", "information", *(["accuracy"] if accuracy else [])],
        [
            [
                columns["annotator"][row],
                columns["suspected"][row],
                f"{columns['n_annotations'][row]:,}",
                _share(columns["agreement"][row]),
                _share(columns["information"][row]),
                *([_share(columns["accuracy"][row])] if accuracy else []),
            ]
            for row in rows[:_SHOWN]
        ],
        left=2,
    )
    _tell_more(len(rows), "annotators")


def _tell_copies(columns: Mapping[str, list[Any]]) -> None:
    n_pairs = len(columns["annotator"])
    if not n_pairs:
        return
    screen.table(
        ["annotator", "other", "items", "same", "expected", "z"],
        [
            [
                columns["annotator"][row],
                columns["other"][row],
                f"{columns['n_shared'][row]:,}",
                f"{columns['same'][row]:,.0f}",
                f"{columns['expected'][row]:,.1f}",
                f"{columns['z'][row]:.1f}",
            ]
            for row in range(min(n_pairs, _SHOWN))
        ],
        left=2,
    )
    _tell_more(n_pairs, "pairs")


def _tell_items(columns: Mapping[str, list[Any]]) -> None:
    """Name the items that split people most; of those that split them alike, the ones that more people judged."""
    rows = [row for row, n in enumerate(columns["n_annotations"]) if n > 1 and columns["entropy"][row] > 0]
    rows.sort(key=lambda row: (-columns["entropy"][row], -columns["n_annotations"][row], columns["item"][row]))
    if not rows:
        return
    screen.say(f"\nPeople are split over {len(rows):,} of {len(columns['item']):,} items, over these the most.")
    screen.table(
        ["item", "annotations", "entropy", "share of the top class"],
        [
            [
                columns["item"][row],
                f"{columns['n_annotations'][row]:,}",
                f"{columns['entropy'][row]:.3f}",
                _share(columns["top_share"][row]),
            ]
            for row in rows[:_SHOWN]
        ],
    )


def _tell_more(count: int, what: str) -> None:
    if count > _SHOWN:
        screen.say(f"… and {count - _SHOWN:,} more {what}: all of them with --json")


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"
