"""Annotations in: from plain tables of any origin, and from the exports of other people's tools."""

from __future__ import annotations

__all__ = ["read_annotations"]

from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from sfumato.core.annotations import Annotations, class_order
from sfumato.core.soft_labels import SoftLabels
from sfumato.core.vocabulary import Vocabulary, check_vocabulary
from sfumato.errors import InputError, OptionError, check_choice
from sfumato.tables import formats
from sfumato.tables.annotation_layout import stored_annotations
from sfumato.tables.check_names import check_names, notes_on_names
from sfumato.tables.coded_votes import CodedVotes, long_votes, soft_votes, wide_votes
from sfumato.tables.duplicates import DUPLICATES, Duplicates, as_annotations
from sfumato.tables.frame_files import ENDINGS
from sfumato.tables.plain_table import FrameTable, PlainTable, RecordTable, open_frame, open_table, table_in_memory
from sfumato.tables.recognise_columns import Columns, Shape, recognise_columns
from sfumato.tables.source import check_file

_SHAPES: tuple[Shape, ...] = ("long", "wide", "soft")
# Formats whose files are plain long tables, which are read here faster and with the line of every row.
_PLAIN = frozenset({"crowdkit"})
# How many cells of a column are looked at to see whether it holds numbers.
_SAMPLED = 100


def read_annotations(
    source: Any,
    *,
    format: str = "auto",
    item: str | None = None,
    annotator: str | Sequence[str] | None = None,
    label: str | None = None,
    weight: str | None = None,
    classes: Sequence[str] | None = None,
    duplicates: Duplicates = "error",
) -> Annotations:
    """Read annotations from a file, or from a table that speaks Arrow (pandas, polars, pyarrow, duckdb, datasets).

    Files are CSV and its kin, JSON lines, Parquet or Arrow, text also as .gz, and the exports of other people's tools.
    *format* is ``long`` (a row per vote), ``wide`` (a row per item, a column per annotator), ``soft`` (a row per vote,
    a column per class with its probability) or the name of a tool (see `sfumato.tables.formats.FORMATS`); ``auto``
    recognises it, and ``notes`` of what comes back say what was taken for what. Where a tool writes a file per
    annotator (doccano, Potato) or per batch, a list of paths is read as one.

    *item*, *annotator*, *label* and *weight* name columns; *annotator* may name several, those of a wide table. The
    rows of one annotation have weights that sum to 1. *classes* gives the classes and their order, and refuses any
    other label. *duplicates* says what to do where an annotator judged an item more than once: ``error``, ``keep``
    (each counts), ``first``, ``last`` or ``mean`` (one distribution).

    Everything is text and stays exactly what it is: the id ``08`` is not 8, and no white space is cut off.

    >>> votes = read_annotations(pl.DataFrame({"task": ["08", "08"], "worker": ["a", "b"], "answer": ["no", "yes"]}))
    >>> votes
    Annotations(1 item, 2 annotators, 2 classes, 2 annotations)
    >>> votes.notes
    ("The table: long table; item = 'task', annotator = 'worker', label = 'answer'.",)
    """
    check_choice(format, ["auto", *_SHAPES, *formats.FORMATS], option="format")
    check_choice(duplicates, DUPLICATES, option="duplicates")
    if classes is not None:
        check_vocabulary(classes, what="class")
        classes = tuple(classes)
        if not classes:
            raise OptionError("The option 'classes' names no class. Name all in their order, or leave it out.")
    for option, given in (("item", item), ("annotator", annotator), ("label", label), ("weight", weight)):
        _check_column(option, given)
    names: dict[str, Any] = {"item": item, "annotator": annotator, "label": label, "weight": weight}
    if isinstance(source, SoftLabels):
        raise _soft_labels("The table")
    paths = [source] if isinstance(source, str | PathLike) else source
    if not (isinstance(paths, list | tuple) and paths and all(isinstance(one, str | PathLike) for one in paths)):
        if format in formats.FORMATS and format not in _PLAIN:
            raise OptionError(f"The format {format} is one of files. Give the path of one, not a table.")
        return _read_table(table_in_memory(source), format, names, classes, duplicates)
    return _read_files([check_file(one) for one in paths], format, names, classes, duplicates)


def _read_files(
    paths: Sequence[Path],
    format: str,
    names: dict[str, Any],
    classes: Vocabulary | None,
    duplicates: Duplicates,
) -> Annotations:
    path = paths[0]
    if format == "auto" and len(paths) > 1:
        format = _format_of_all(paths)
    if len(paths) > 1 and (format in _SHAPES or format in _PLAIN):
        raise OptionError(f"Several files are read together only as an export of a tool, not as {format}. Join them.")
    if ENDINGS.get(path.suffix.lower()) in ("parquet", "arrow") and format in ("auto", *_SHAPES):
        table, metadata = open_frame(path)
        asked = format != "auto" or duplicates != "error" or classes is not None or any(names.values())
        stored = None if asked or metadata is None else stored_annotations(path)
        return stored if stored is not None else _read_table(table, format, names, classes, duplicates)
    if format == "auto":
        format = formats.recognise(path) or "auto"
    if format in formats.FORMATS and format not in _PLAIN:
        return _read_export(paths, format, names, classes, duplicates)
    return _read_table(open_table(path), format, names, classes, duplicates)


def _check_column(option: str, given: object) -> None:
    """Refuse what is no name of a column; only annotators may stand in several."""
    several = option == "annotator" and isinstance(given, Sequence) and all(isinstance(name, str) for name in given)
    if not isinstance(given, str | None) and not (several and given):
        wanted = "the name of a column" + (", or several names" if option == "annotator" else "")
        raise OptionError(f"The option '{option}' must be {wanted}. Got {given!r} instead.")


def _format_of_all(paths: Sequence[Path]) -> str:
    """Return the one format of several files; tools that write a file per annotator have one."""
    found = {path: formats.recognise(path) for path in paths}
    first = found[paths[0]]
    if first is None or first in _PLAIN:
        raise InputError(f"{paths[0]} is a plain table, of which one is read at a time. Join the files into one.")
    other = next((path for path, format in found.items() if format != first), None)
    if other is not None:
        raise InputError(f"{paths[0]} was written by {formats.FORMATS[first].TITLE}, {other} was not. Name the format.")
    return first


def _read_table(
    table: PlainTable,
    format: str,
    names: dict[str, Any],
    classes: Vocabulary | None,
    duplicates: Duplicates,
) -> Annotations:
    if isinstance(table, RecordTable) and {"item", "probs"} <= set(table.header):
        raise _soft_labels(table.name)
    shape: Shape | None = format if format in _SHAPES else "long" if format in _PLAIN else None
    columns = recognise_columns(
        table.header,
        name=table.name,
        shape=shape,
        classes=classes,
        is_numeric=lambda place: _is_numeric(table, place),
        **_parted(table),
        **names,
    )
    if columns.shape == "wide":
        sure = shape == "wide" or not isinstance(names["annotator"], str | None)
        if not sure and _holds_soft_labels(table, columns):
            raise _soft_labels(table.name)
        votes = wide_votes(table, columns, sure=sure)
    else:
        votes = (long_votes if columns.shape == "long" else soft_votes)(table, columns)
    if columns.shape == "soft":
        classes = votes.labels.names()  # their columns have an order
    return _annotations(votes, classes, duplicates, [_taken_for(table, columns), *_on_floats(table, columns)])


def _read_export(
    paths: Sequence[Path],
    format: str,
    names: dict[str, Any],
    classes: Vocabulary | None,
    duplicates: Duplicates,
) -> Annotations:
    title = formats.FORMATS[format].TITLE
    if names.pop("weight") is not None:
        raise OptionError(f"The format {title} takes no option 'weight'. Leave it out.")
    if not isinstance(names["annotator"], str | None):
        raise OptionError(f"The format {title} takes one name for the option 'annotator'. Got {names['annotator']!r}.")
    export = formats.read(format, paths, **names)
    frame, roles = export.frame, ["item", "annotator", "label", "weight", "annotation"]
    rows = frame["row"].to_list() if "row" in frame.columns else None
    frame = frame.select(role for role in roles if role in frame.columns)
    header = [export.columns.get(role, role) for role in frame.columns]
    shown = str(paths[0]) if len(paths) == 1 else f"{paths[0]} and {len(paths) - 1} more"
    table = FrameTable(frame, shown, header=header, rows=rows)
    item, annotator, label, weight, number = (
        frame.columns.index(role) if role in frame.columns else -1 for role in roles
    )
    votes = long_votes(table, Columns("long", item, annotator, label, weight, annotation=number))
    if export.tokens is not None:
        votes = _with_tokens(votes, export.tokens)
    taken = ", ".join(f"{role} = {name!r}" for role, name in export.columns.items())
    notes = [f"{shown}: {title}{'; ' if taken else ''}{taken}.", *export.notes]
    return _annotations(votes, classes or export.classes, duplicates, notes)


def _annotations(
    votes: CodedVotes, classes: Vocabulary | None, duplicates: Duplicates, notes: Sequence[str]
) -> Annotations:
    check_names(votes, classes)
    ordered = classes if classes is not None else class_order(votes.labels.names())
    return as_annotations(
        votes, ordered, duplicates=duplicates, notes=(*notes, *votes.notes, *notes_on_names(votes, classes))
    )


def _with_tokens(votes: CodedVotes, tokens: pl.DataFrame) -> CodedVotes:
    """Return the votes with the sequence and the position of the token that each judges."""
    items = pl.DataFrame({"item": votes.items.names()}, schema={"item": pl.String})
    places = items.join(tokens, on="item", how="left", maintain_order="left")
    sequence, position = (places[name].to_numpy().astype(np.int64) for name in ("sequence", "position"))
    return replace(votes, sequence=sequence[votes.item], position=position[votes.item])


def _is_numeric(table: PlainTable, place: int) -> bool:
    """Return whether most of the first cells of a column are numbers."""
    try:
        texts = next((cells.take(slice(_SAMPLED)).texts() for (cells,) in table.batches([place])), ())
    except InputError:  # a column of lists, say
        return False
    return 2 * sum(map(_is_number, texts)) > len(texts)


def _parted(table: PlainTable) -> dict[str, str]:
    """Return how the columns of a table that is no text are told apart."""
    if isinstance(table, RecordTable):
        return {"parted": ": a key for each, in one object per judgement"}
    return {"parted": ""} if isinstance(table, FrameTable) else {}


def _holds_soft_labels(table: PlainTable, columns: Columns) -> bool:
    """Return whether the first rows are probabilities that sum to 1, as no votes of annotators do."""
    if len(columns.many) < 2:
        return False
    try:
        cells = next((batch for batch in table.batches(list(columns.many))), [])
    except InputError:
        return False
    rows = list(zip(*(column.take(slice(_SAMPLED)).texts() for column in cells), strict=True))
    if not all(_is_number(text) and 0 <= float(text) <= 1 for row in rows for text in row):
        return False
    sums = (sum(map(float, row)) for row in rows)
    return any(0 < float(text) < 1 for row in rows for text in row) and all(abs(total - 1) < 1e-3 for total in sums)


def _soft_labels(name: str) -> InputError:
    return InputError(
        f"{name} holds soft labels (an item and its probabilities in each row), not annotations: nobody says who "
        "judged. Give the annotations that they were made of; soft labels are read with SoftLabels.load."
    )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _taken_for(table: PlainTable, columns: Columns) -> str:
    """Return the sentence that says what was taken for what."""
    parts = [
        f"{role} = {table.header[place]!r}"
        for role in ("item", "annotator", "label", "weight")
        if (place := getattr(columns, role)) >= 0
    ]
    if columns.many:
        what = "annotators" if columns.shape == "wide" else "classes"
        shown = ", ".join(repr(table.header[place]) for place in columns.many[:6])
        parts.append(f"{what} = {shown}" + (f", … ({len(columns.many)} columns)" if len(columns.many) > 6 else ""))
    left_out = [repr(table.header[place]) for place in columns.left_out if table.header[place].strip()]
    aside = f"; left out: {', '.join(left_out)}" if left_out else ""
    return f"{table.name}: {columns.shape} table; {', '.join(parts)}{aside}."


def _on_floats(table: PlainTable, columns: Columns) -> list[str]:
    """Return a note on names that came as floating-point numbers, as pandas makes of whole ones with gaps."""
    if not isinstance(table, FrameTable):
        return []
    of_names = [columns.item, columns.annotator, columns.label, *(columns.many if columns.shape == "wide" else ())]
    floats = [repr(table.header[place]) for place in of_names if place >= 0 and table.holds_floats(place)]
    if not floats:
        return []
    shown = ", ".join(floats[:6]) + (", …" if len(floats) > 6 else "")
    return [f"Floating-point numbers stand as names in {shown}; whole ones were read without the point, 1.0 as '1'."]
