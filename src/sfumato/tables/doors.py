"""The doors that `core.storage` is connected to: every type of the data model into files and out of them.

What a format holds:

- Parquet and Arrow hold everything, the origin included, and give back what is equal to what was saved.
- JSON lines hold one item per line; of soft labels and predictions the probabilities, the uncertainty and the logits,
  not the origin.
- CSV and TSV hold names and numbers; of soft labels and predictions the probabilities alone.

From JSON lines, CSV and TSV annotations and gold come back with their classes in the usual order, and without the
classes, annotators and items that no row names; a list of classes at the reading door brings the classes back, and
whoever saves annotations that need one is told. Numbers come back equal to the last bit from every format.
"""

from __future__ import annotations

__all__ = ["arrow_stream", "check_target", "load", "save", "save_columns"]

import warnings
from collections.abc import Mapping
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from sfumato.core.annotations import Annotations, class_order
from sfumato.core.gold import Gold
from sfumato.core.report import Report
from sfumato.core.soft_labels import SoftLabels
from sfumato.errors import FormatError, OptionError, SfumatoWarning
from sfumato.tables.annotation_layout import annotations_frame
from sfumato.tables.check_names import are_plain_labels
from sfumato.tables.frame_files import Format, Metadata, format_of, write_frame
from sfumato.tables.read import read_annotations
from sfumato.tables.read_gold import read_gold
from sfumato.tables.read_soft import read_soft
from sfumato.tables.soft_layout import soft_frame, soft_records
from sfumato.tables.source import check_file, read_json
from sfumato.tables.write import check_writable, write_whole


def save(table: Any, path: str | PathLike[str]) -> None:
    """Write a table of the data model in the format that the ending of *path* names, whole or not at all."""
    if isinstance(table, Report):
        _save_report(table, path)
    else:
        format = format_of(path)
        frame, metadata = _laid_out(table, format)
        write_frame(path, frame, metadata)
        if isinstance(table, Annotations) and format not in ("parquet", "arrow"):
            _warn_of_classes(table, path)


def save_columns(columns: Mapping[str, Any], path: str | PathLike[str]) -> None:
    """Write columns of equal length, by name, in the format that the ending of *path* names, whole or not at all."""
    write_frame(path, pl.DataFrame(dict(columns)), {"kind": "columns"})


def check_target(path: str | PathLike[str]) -> None:
    """Refuse a path to which no table could be saved, before the work for it begins."""
    format_of(path)
    check_writable(path)


def load(kind: type[Any], path: Any) -> Any:
    """Read a table of the data model from a file, or from an object that speaks Arrow."""
    if issubclass(kind, SoftLabels):
        return read_soft(kind, path)
    if issubclass(kind, Gold):
        return read_gold(path)
    if issubclass(kind, Report):
        return _load_report(path)
    return read_annotations(path)


def arrow_stream(table: Any, requested_schema: object | None) -> object:
    """Return the table as an Arrow stream capsule; it holds the columns that a Parquet file would."""
    frame, _ = _laid_out(table, "arrow")
    return frame.__arrow_c_stream__(requested_schema)


def _laid_out(table: Any, format: Format) -> tuple[pl.DataFrame, Metadata]:
    if isinstance(table, SoftLabels):
        return (
            soft_frame(table) if format in ("parquet", "arrow") else (soft_records(table, nested=format == "jsonl"), {})
        )
    if isinstance(table, Gold):
        columns = {"item": table.items, "label": table.names()}
        return pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String)), {
            "kind": "Gold",
            "classes": table.classes,
        }
    return annotations_frame(table)


def _warn_of_classes(votes: Annotations, path: str | PathLike[str]) -> None:
    """Warn where rows alone do not give the classes back: their order, those that nobody chose, and odd names."""
    used = [votes.classes[code] for code in np.unique(votes.label)]
    if class_order(used) != votes.classes or not are_plain_labels(used):
        listed = ",".join(votes.classes)
        shown = listed if len(listed) <= 60 else f"{listed[:60]}…"
        warnings.warn(
            f"{path} holds the rows of the annotations, and not their list of classes. Read it with classes=… (on the "
            f"command line --classes {shown!r}) to have them as they are, or save as .parquet, which holds everything.",
            SfumatoWarning,
            stacklevel=5,
        )


def _save_report(report: Report, path: str | PathLike[str]) -> None:
    ending = Path(path).suffix.lower()
    if ending == ".json":
        write_whole(path, report.to_json() + "\n")
    elif ending == ".md":
        write_whole(path, f"{report}\n")
    else:
        raise OptionError(f"A report is saved as .json (which can be loaded again) or .md. Got {fspath(path)} instead.")


def _load_report(path: str | PathLike[str]) -> Report:
    try:
        return Report.from_dict(read_json(check_file(path)))
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise FormatError(f"{path} is not a report that sfumato saved ({error}). Give the .json file of one.") from None
