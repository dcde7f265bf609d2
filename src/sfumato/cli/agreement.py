"""``sfumato agreement``: how far annotators agree, under the right names."""

from __future__ import annotations

__all__ = ["agreement", "register"]

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli import screen
from sfumato.cli import votes as reading


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command(name="agreement", epilog="Example: sfumato agreement votes.csv --gold gold.csv")(agreement)


def agreement(
    votes: reading.Votes,
    gold: Annotated[Path | None, typer.Option(help="A file of reference classes: item, label.")] = None,
    resamples: Annotated[int, typer.Option(help="How many bootstrap samples the intervals are made of.")] = 1000,
    seed: Annotated[int, typer.Option(help="The seed of everything that is random.")] = 0,
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
    from sfumato.tables.doors import check_target
    from sfumato.tables.read_gold import read_gold

    if annotators_out is not None:
        check_target(annotators_out)
    said = reading.read(
        votes, format=format, item=item, annotator=annotator, label=label, classes=classes, duplicates=duplicates
    )
    reference = None if gold is None else read_gold(gold)
    with screen.working("Comparing annotators"):
        report = examine(said, gold=reference, resamples=resamples, seed=seed)
    table = report.details["annotators"]
    if annotators_out is not None:
        storage.save_columns(table, annotators_out)
    if json:
        screen.say_json(report.to_dict())
        return
    whole = [number for number in report.numbers if not number.of]
    screen.table(
        ["", "value", "95 % interval", "n"],
        [
            [
                number.name.replace("_", " "),
                f"{number.value:.4f}",
                "" if number.low is None else f"{number.low:.4f} to {number.high:.4f}",
                f"{number.n:,}",
            ]
            for number in whole
        ],
    )
    screen.say("")
    for line in report.notes:
        screen.say(line)
    if annotators_out is not None:
        screen.say(f"→ {annotators_out}")
