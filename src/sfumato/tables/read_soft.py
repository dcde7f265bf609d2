"""Soft labels and predictions in: from the files that sfumato writes, from other people's, and from tables."""

from __future__ import annotations

__all__ = ["read_soft"]

import json
from collections.abc import Collection, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.core.origin import GIVEN, Origin
from sfumato.core.predictions import Predictions
from sfumato.core.simplex import SUM_TOLERANCE
from sfumato.core.soft_labels import SoftLabels
from sfumato.core.vocabulary import Vocabulary
from sfumato.errors import FormatError, InputError
from sfumato.tables.frame_files import format_of, read_frame
from sfumato.tables.sheet import (
    Sheet,
    item_column,
    names_in,
    read_exactly,
    read_quickly,
    read_unzipped,
    sheet_of_records,
    table_of,
)
from sfumato.tables.soft_layout import SoftLayout, layout_by_names, layout_in_metadata
from sfumato.tables.source import check_file, parse_json_lines, read_text

S = TypeVar("S", bound=SoftLabels)

_NEVER_IN_OURS = (b"\\ud", b"\\uD", b":true", b":false", b": true", b": false")
_NESTED = frozenset({"item", "probs", "uncertainty", "logits"})


def read_soft(kind: type[S], source: Any) -> S:
    """Return soft labels or predictions (*kind*) from a file, or from a table that speaks Arrow.

    What `SoftLabels.save` wrote comes back equal, as far as the format holds it. In any other table the first column
    with a usual name for items names them, and each other column is a class; ``uncertainty`` and ``logit:<class>``
    mean what they say. In JSON lines the classes may also lie in an object ``probs`` (and ``logits``).
    """
    if not isinstance(source, str | PathLike):
        sheet = table_of(source)
        return _told(kind, sheet, layout_by_names(sheet.frame.columns, sheet.name))
    path = check_file(source)
    format = format_of(path)
    if format in ("parquet", "arrow"):
        frame, metadata = read_frame(path)
        return _stored(kind, Sheet(frame, str(path)), metadata)
    try:
        if format == "jsonl":
            return _built(kind, *_nested_quickly(path))
        sheet = read_quickly(path, format, numbers=True)
        return _built(kind, sheet, layout_by_names(sheet.frame.columns, sheet.name))
    # Whatever it was that the quick way stumbled over: the exact way can live with it, or tells where it is.
    except (Exception, pl.exceptions.PanicException):
        if format == "jsonl":
            return _told(kind, *_records(path))
        sheet = read_exactly(path, format)
        return _told(kind, sheet, layout_by_names(sheet.frame.columns, sheet.name))


def _stored(kind: type[S], sheet: Sheet, metadata: dict[str, Any] | None) -> S:
    if metadata is None:
        return _told(kind, sheet, layout_by_names(sheet.frame.columns, sheet.name))
    found = metadata.get("kind")
    if found not in ("SoftLabels", "Predictions"):
        raise InputError(
            f"{sheet.name} holds {found}, not a distribution for each item. Give a file of {kind.__name__}."
        )
    layout = layout_in_metadata(sheet.frame.columns, metadata)
    if layout is None:  # another program took columns away or added some, and left the metadata
        return _told(kind, sheet, layout_by_names(sheet.frame.columns, sheet.name))
    try:
        origin = Origin.from_dict(metadata["origin"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise FormatError(f"{sheet.name} has an origin that cannot be read ({error}). Write it again.") from None
    return _told(kind, sheet, layout, origin=origin)


def _built(kind: type[S], sheet: Sheet, layout: SoftLayout, *, origin: Origin = GIVEN) -> S:
    """Build it, or let the type itself refuse."""
    more: dict[str, Any] = {}
    if layout.uncertainty is not None:
        more["uncertainty"] = _numbers(sheet, layout.uncertainty).cast(pl.Float64).to_numpy()
    if layout.logits and issubclass(kind, Predictions):
        more["logits"] = _matrix(sheet, layout.logits)
    items = names_in(sheet, layout.item, what="item")
    return kind(_matrix(sheet, layout.probs), items=tuple(items), classes=layout.classes, origin=origin, **more)


def _told(kind: type[S], sheet: Sheet, layout: SoftLayout, *, origin: Origin = GIVEN) -> S:
    """Build it; where the type refuses, say where in the file the reason stands."""
    try:
        return _built(kind, sheet, layout, origin=origin)
    except InputError as error:
        fault = _fault(sheet, layout)
        if fault is None:
            raise
        raise InputError(fault) from error


def _fault(sheet: Sheet, layout: SoftLayout) -> str | None:
    """Return what is wrong with the numbers or the names, and where; None if neither is to blame."""
    blank = next((place for place, name in enumerate(layout.classes, start=1) if not name.strip()), None)
    if blank is not None:
        return f"{sheet.name}: the column of class {blank} has no name. Name it, or take it out if it is no class."
    row_of: dict[str, int] = {}
    for row, item in enumerate(names_in(sheet, layout.item, what="item")):
        if row_of.setdefault(item, row) != row:
            return (
                f"{sheet.where(row)}: the item {item!r} stands there a second time "
                f"(first: {sheet.where(row_of[item])}). Keep one of them; votes, of which an item has several, "
                "are another table (sf.read_annotations, on the command line --votes)."
            )
    return _hole(sheet, layout.probs) or _no_distribution(sheet, layout.probs) or _hole(sheet, layout.logits)


def _hole(sheet: Sheet, columns: Sequence[str]) -> str | None:
    values = _matrix(sheet, columns)
    holes = np.argwhere(~np.isfinite(values))
    if not holes.size:
        return None
    row, k = map(int, holes[0])
    place = f"{sheet.where(row)}, column {columns[k]!r}"
    if sheet.frame[columns[k]][row] is None:
        return f"{place}: the number is missing. Every item needs one for every class; write 0 for none."
    return f"{place}: {values[row, k]} is not a finite number."


def _no_distribution(sheet: Sheet, columns: Sequence[str]) -> str | None:
    probs = _matrix(sheet, columns)
    low, total = probs.min(axis=1, initial=0.0), probs.sum(axis=1)
    wrong = np.flatnonzero((low < 0) | (np.abs(total - 1) > SUM_TOLERANCE))
    if not wrong.size:
        return None
    row = int(wrong[0])
    if low[row] < 0:
        column = columns[int(probs[row].argmin())]
        return (
            f"{sheet.where(row)}, column {column!r}: {low[row]:.6g} is negative, which a probability never is. "
            "If these are logits, make probabilities of them first (sfumato.Predictions.from_logits)."
        )
    return f"{sheet.where(row)}: the probabilities sum to {total[row]:.6g}, not to 1. {_advice(probs)}"


def _advice(probs: NDArray[np.floating[Any]]) -> str:
    """Return what such numbers may be, and what to do with them."""
    total = probs.sum(axis=1)
    n_good = int((np.abs(total - 1) <= SUM_TOLERANCE).sum())
    if n_good > len(total) / 2:
        if n_good == len(total) - 1:
            return f"{n_good} of {len(total)} rows do; correct this one."
        return f"{n_good} of {len(total)} rows do; correct the others, and do not round what is written."
    if np.allclose(total, 100, atol=0.5):
        return "If these are percentages, divide them by 100."
    if (probs == np.round(probs)).all():
        return "If these are counts of votes, divide each row by its sum."
    return "If these are logits or scores, make probabilities of them first (sfumato.Predictions.from_logits)."


def _matrix(sheet: Sheet, columns: Sequence[str]) -> NDArray[np.floating[Any]]:
    """Return columns of numbers side by side, shape (n_rows, n_columns); what is missing is NaN."""
    if not columns:
        return np.zeros((sheet.frame.height, 0))
    series = [_numbers(sheet, column) for column in columns]
    if not all(cells.dtype == pl.Float32 for cells in series):
        series = [cells.cast(pl.Float64) for cells in series]
    values = pl.DataFrame(series).to_numpy(order="c")
    values.flags.writeable = False  # nobody else has it, so that the type need not copy it
    return values


def _numbers(sheet: Sheet, column: str) -> pl.Series:
    cells = sheet.frame[column]
    if cells.dtype.is_numeric() or cells.dtype == pl.Null:
        return cells if cells.dtype == pl.Float32 else cells.cast(pl.Float64)
    if cells.dtype != pl.String:
        raise InputError(f"{sheet.name}: the column {column!r} holds {cells.dtype}, no numbers. {_EXPECTED}")
    numbers = cells.str.strip_chars().cast(pl.Float64, strict=False)
    wrong = numbers.is_null() & cells.is_not_null()
    if wrong.any():
        row = wrong.arg_max() or 0
        raise InputError(f"{sheet.where(row)}, column {column!r}: {cells[row]!r} is not a number. {_EXPECTED}")
    return numbers


_EXPECTED = "Beside the column of the items, every column holds the probabilities of one class, as in 0.25."


def _nested_quickly(path: Path) -> tuple[Sheet, SoftLayout]:
    """Return a JSON-lines file in which every line looks exactly like the first, as `save` writes them."""
    data = read_unzipped(path)
    first = json.loads(data[: data.index(b"\n")])
    classes = tuple(first["probs"])
    if not _NESTED.issuperset(first) or tuple(first.get("logits", classes)) != classes:
        raise ValueError("not as sfumato writes it")
    numbers = pl.Struct(dict.fromkeys(classes, pl.Float64))
    types: dict[str, Any] = {"item": pl.String, "probs": numbers, "uncertainty": pl.Float64, "logits": numbers}
    frame = pl.read_ndjson(data, schema={key: types[key] for key in first})
    # Polars passes over keys that the first line has not, makes 1.1 of an item 1.10, a zero of half a character and
    # (before its version 2) 1 of true. All of these show in how often some bytes occur; so does a name that holds
    # them, which then goes the exact way for nothing.
    n_keys = len(first) + len(classes) * (1 + ("logits" in first))
    counts = {b'":': n_keys * frame.height, b'"item":"': frame.height, **dict.fromkeys(_NEVER_IN_OURS, 0)}
    if any(data.count(part) != count for part, count in counts.items()):
        raise ValueError("not as sfumato writes it")
    layout = _nested_layout("item", classes, first)
    columns = [frame["item"], *_unnested(frame["probs"], layout.probs)]
    columns += [frame["uncertainty"]] if layout.uncertainty else []
    columns += _unnested(frame["logits"], layout.logits) if layout.logits else []
    return Sheet(pl.DataFrame(columns), str(path)), layout


def _records(path: Path) -> tuple[Sheet, SoftLayout]:
    """Return a JSON-lines file as text cells, whether its classes are nested or lie flat beside the item."""
    records = parse_json_lines(read_text(path), where=str(path))
    first = records[0][1]
    if not isinstance(first.get("probs"), dict):
        sheet = sheet_of_records(records, str(path))
        return sheet, layout_by_names(sheet.frame.columns, sheet.name)
    item = item_column(list(first), str(path))
    classes: dict[str, None] = {}
    flat: list[tuple[int, dict[str, Any]]] = []
    for line, record in records:
        fields = {item: record.get(item), "uncertainty": record.get("uncertainty")}
        for name in ("probs", "logits"):
            inner = record.get(name, {} if name == "logits" else None)
            if not isinstance(inner, dict):
                raise InputError(f"{path}, line {line}, field {name!r}: an object of classes is wanted, as in line 1.")
            fields.update({f"{name}.{key}": value for key, value in inner.items()})
            classes.update(dict.fromkeys(inner))
        flat.append((line, fields))
    layout = _nested_layout(item, tuple(classes), {key for _, record in records for key in record})
    # Only what the layout names: whatever else the records hold is no part of a soft label.
    sheet = sheet_of_records([(line, {c: fields.get(c) for c in layout.columns()}) for line, fields in flat], str(path))
    return sheet, layout


def _nested_layout(item: str, classes: Vocabulary, keys: Collection[str]) -> SoftLayout:
    return SoftLayout(
        item=item,
        classes=classes,
        probs=tuple(f"probs.{name}" for name in classes),
        logits=tuple(f"logits.{name}" for name in classes) if "logits" in keys else (),
        uncertainty="uncertainty" if "uncertainty" in keys else None,
    )


def _unnested(struct: pl.Series, names: Sequence[str]) -> list[pl.Series]:
    return [column.rename(name) for column, name in zip(struct.struct.unnest(), names, strict=True)]
