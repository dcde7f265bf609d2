"""Gold labels in: from a file of their own, or from the column that stands beside the votes."""

from __future__ import annotations

__all__ = ["read_gold"]

from collections.abc import Sequence
from os import PathLike
from typing import Any

import polars as pl

from sfumato.core.gold import Gold
from sfumato.errors import InputError, OptionError
from sfumato.tables.frame_files import format_of, read_frame
from sfumato.tables.sheet import Sheet, item_column, names_in, read_exactly, read_quickly, table_of, texts_in
from sfumato.tables.source import check_file

# What people call the column of the reference class, by letters and digits alone; the first of these is meant.
_LABEL_COLUMNS = (
    "gold", "goldlabel", "truth", "groundtruth", "truelabel", "trueclass", "label",
    "class", "category", "answer", "target", "reference", "expert",
)  # fmt: skip


def read_gold(
    source: Any, *, item: str | None = None, label: str | None = None, classes: Sequence[str] | None = None
) -> Gold:
    """Return the gold labels in a CSV, TSV, JSON-lines, Parquet or Arrow file, or in a table that speaks Arrow.

    *item* and *label* name the columns where they do not have one of the usual names. A row without a label is an
    item without gold. An item may stand in several rows, as it does beside votes, if they agree. *classes* gives the
    classes and their order; without it they are the labels, by value where all are numbers, else sorted.

    >>> gold = read_gold(pl.DataFrame({"task": ["a", "b", "c"], "truth": ["no", None, "yes"]}))
    >>> gold.items, gold.names()
    (('a', 'c'), ('no', 'yes'))
    """
    if not isinstance(source, str | PathLike):
        return _gold(table_of(source), item, label, classes)
    path = check_file(source)
    format = format_of(path)
    if format in ("parquet", "arrow"):
        frame, metadata = read_frame(path)
        if metadata is not None and metadata.get("kind") == "Gold" and classes is None:
            classes = metadata["classes"]
        return _gold(Sheet(frame, str(path)), item, label, classes)
    if format != "jsonl":
        try:
            return _gold(read_quickly(path, format, numbers=False), item, label, classes)
        # Whatever it was that the quick way stumbled over: the exact way can live with it, or tells where it is.
        except (Exception, pl.exceptions.PanicException):
            pass
    return _gold(read_exactly(path, format), item, label, classes)


def _gold(sheet: Sheet, item: str | None, label: str | None, classes: Sequence[str] | None) -> Gold:
    item, label = _columns(sheet, item, label)
    names = names_in(sheet, item, what="item")
    texts = texts_in(sheet, label)
    rows = pl.DataFrame({"item": names, "label": texts}).with_row_index("row").drop_nulls("label")
    if not rows.height:
        raise InputError(f"{sheet.name}: the column {label!r} holds no gold label at all. Name another with 'label'.")
    distinct = rows.unique(["item", "label"], keep="first", maintain_order=True)
    twice = distinct.filter(pl.col("item").is_duplicated())
    if twice.height:
        first, second = twice.filter(pl.col("item") == twice["item"][0]).head(2).rows()
        raise InputError(
            f"{sheet.where(second[0])}: the item {second[1]!r} has the gold label {second[2]!r}, "
            f"and {first[2]!r} before ({sheet.where(first[0])}). Keep the right one."
        )
    if classes is not None:
        unknown = distinct.filter(~pl.col("label").is_in(list(classes)))
        if unknown.height:
            row, _, name = unknown.row(0)
            raise InputError(
                f"{sheet.where(row)}, column {label!r}: {name!r} is not one of the {len(classes)} classes. "
                "Add it to the classes, or correct the label."
            )
    return Gold.from_names(distinct["item"].to_list(), distinct["label"].to_list(), classes=classes)


def _columns(sheet: Sheet, item: str | None, label: str | None) -> tuple[str, str]:
    """Return the columns of items and labels: those that were named, else the usual ones, else the only ones left."""
    columns = sheet.frame.columns
    listed = ", ".join(map(repr, columns[:20]))
    for option, name in (("item", item), ("label", label)):
        if name is not None and name not in columns:
            raise OptionError(f"{sheet.name} has no column {name!r} ({option}={name!r}). It has: {listed}.")
    usual = {"".join(filter(str.isalnum, column.lower())): column for column in reversed(columns) if column != item}
    if label is None:
        label = next((usual[name] for name in _LABEL_COLUMNS if name in usual), None)
    others = [column for column in columns if column not in (item, label)]
    if item is None:
        item = others[0] if label is not None and len(others) == 1 else item_column(others, sheet.name)
        others.remove(item)
    if label is None:
        if len(others) != 1:
            raise InputError(
                f"{sheet.name} has no column that is clearly the gold label. Name one of {listed} (label=…)."
            )
        label = others[0]
    return item, label
