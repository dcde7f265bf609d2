"""How long each annotation took its annotator, from a column of the file of votes."""

from __future__ import annotations

__all__ = ["read_seconds"]

from os import PathLike

import numpy as np

from sfumato.errors import OptionError
from sfumato.tables.frame_files import ENDINGS
from sfumato.tables.number_column import NumberColumn
from sfumato.tables.plain_table import open_frame, open_table
from sfumato.tables.recognise_columns import recognise_columns
from sfumato.tables.source import check_file


def read_seconds(
    path: str | PathLike[str],
    column: str,
    *,
    item: str | None = None,
    annotator: str | None = None,
    label: str | None = None,
) -> dict[tuple[str, str], float]:
    """Return the seconds in *column* of a table with a row per vote, by item and annotator.

    The columns of items, annotators and labels are recognised as by `sfumato.read_annotations`. Where an annotator
    judged an item several times, the times are added up.
    """
    path = check_file(path)
    table = open_frame(path)[0] if ENDINGS.get(path.suffix.lower()) in ("parquet", "arrow") else open_table(path)
    if column not in table.header:
        raise OptionError(
            f"{table.name} has no column {column!r} for the seconds. The columns are {', '.join(table.header)}."
        )
    columns = recognise_columns(
        table.header, name=table.name, shape="long", item=item, annotator=annotator, label=label
    )
    seconds = NumberColumn(table, table.header.index(column))
    pairs: list[tuple[str, str]] = []
    for items, annotators, times in table.batches([columns.item, columns.annotator, seconds.place]):
        pairs += zip(items.texts(), annotators.texts(), strict=True)
        seconds.add(times)
    found: dict[tuple[str, str], float] = {}
    for pair, value in zip(pairs, seconds.durations().tolist() if pairs else np.zeros(0), strict=True):
        found[pair] = found.get(pair, 0.0) + float(value)
    return found
