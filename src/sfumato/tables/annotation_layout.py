"""Annotations as a long table, on the way out and back.

One row per (item, annotator, label), in the order of the items; ``weight`` where an annotation is a distribution,
``annotation`` (0, 1, …) where an annotator judged an item more than once, ``sequence`` and ``position`` for tokens.
What rows cannot hold stands in the metadata: the order of the classes, classes and annotators and items without a
row, and the order of the annotators where it is not that of their first rows.
"""

from __future__ import annotations

__all__ = ["annotations_frame", "annotations_in", "stored_annotations"]

from collections.abc import Mapping
from os import PathLike
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.core.annotations import Annotations
from sfumato.errors import InputError
from sfumato.tables.frame_files import format_of, read_frame

Codes = NDArray[np.integer[Any]]


def annotations_frame(votes: Annotations) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Return annotations as a frame, and as metadata all that a frame cannot hold.

    >>> votes = Annotations.from_rows(["a", "a"], ["ann", "bob"], ["yes", "no"])
    >>> annotations_frame(votes)[0].rows()
    [('a', 'ann', 'yes'), ('a', 'bob', 'no')]
    """
    columns = {
        "item": _named(votes.items, votes.item),
        "annotator": _named(votes.annotators, votes.annotator),
        "label": _named(votes.classes, votes.label),
    }
    if not (votes.is_hard and (votes.weight == 1).all()):
        columns["weight"] = pl.Series(np.ascontiguousarray(votes.weight))
    number = _number_within_pair(votes)
    if number.any():
        columns["annotation"] = pl.Series(np.repeat(number, np.diff(votes.starts)))
    silent = np.flatnonzero(np.diff(votes.offsets) == 0)
    unjudged: dict[str, list[Any]] = {"place": silent.tolist(), "item": [votes.items[i] for i in silent]}
    for name in ("sequence", "position"):
        values = getattr(votes, name)
        if values is not None:
            columns[name] = pl.Series(values[votes.item])
            unjudged[name] = values[silent].tolist()
    metadata: dict[str, Any] = {"kind": "Annotations", "n_rows": len(votes.item), "classes": votes.classes}
    if silent.size:
        metadata["unjudged"] = unjudged
    if not _in_order_of_appearance(votes.annotator, votes.n_annotators):
        metadata["annotators"] = votes.annotators
    return pl.DataFrame(columns), metadata


def stored_annotations(path: str | PathLike[str]) -> Annotations | None:
    """Return the annotations in a file that `Annotations.save` wrote, exactly as they were.

    None for every other file: for CSV and JSONL, which say nothing of where they come from, for files of other
    programs, and for those of ours that another program has changed since.
    """
    if format_of(path) not in ("parquet", "arrow"):
        return None
    frame, metadata = read_frame(path)
    if metadata is None:
        return None
    if metadata.get("kind") != "Annotations":
        kind = {"SoftLabels": "soft labels", "Predictions": "predictions", "Gold": "gold"}.get(
            str(metadata.get("kind"))
        )
        raise InputError(
            f"{path} holds {kind or metadata.get('kind')}, not annotations. Give the file of the annotations."
        )
    return annotations_in(frame, metadata)


def annotations_in(frame: pl.DataFrame, metadata: Mapping[str, Any]) -> Annotations | None:
    """Return the annotations that a frame and its metadata hold, or None where they do not belong together."""
    if metadata.get("n_rows") != frame.height:
        return None
    try:
        item, seen = _coded(frame["item"])
        named = metadata.get("annotators")
        annotator, annotators = _coded(frame["annotator"], named)
        label, classes = _coded(frame["label"], metadata["classes"])
        unjudged = metadata.get("unjudged", {"place": [], "item": []})
        judged = np.ones(len(seen) + len(unjudged["place"]), dtype=np.bool_)
        judged[unjudged["place"]] = False
        items = np.empty(len(judged), dtype=object)
        items[judged], items[~judged] = seen, unjudged["item"]
        row_of_item = np.flatnonzero(judged)[item]
        places: dict[str, NDArray[np.int32]] = {}
        for name in ("sequence", "position"):
            if name in frame.columns:
                places[name] = np.zeros(len(judged), dtype=np.int32)
                places[name][row_of_item] = frame[name].to_numpy()
                places[name][~judged] = unjudged.get(name, [])
        # Plain votes stand in the order of their labels; only where they do not, their numbers say more than that.
        again = (row_of_item[1:] == row_of_item[:-1]) & (annotator[1:] == annotator[:-1])
        weighted = "weight" in frame.columns or bool((again & (label[1:] < label[:-1])).any())
        return Annotations.from_codes(
            row_of_item, annotator, label,
            weight=frame.get_column("weight", default=pl.repeat(1.0, frame.height, eager=True)) if weighted else None,
            annotation=frame.get_column("annotation", default=None),
            items=items.tolist(), annotators=annotators, classes=classes,
            sequence=places.get("sequence"), position=places.get("position"),
        )  # fmt: skip
    except (pl.exceptions.PolarsError, KeyError, IndexError, TypeError, ValueError):
        return None


def _named(names: tuple[str, ...], codes: Codes) -> pl.Series:
    return pl.Series(names, dtype=pl.String).gather(pl.Series(codes))


def _coded(cells: pl.Series, names: list[str] | None = None) -> tuple[Codes, list[str]]:
    """Return codes and names; without *names*, these stand in the order in which they first appear."""
    # Rows of one item follow each other, so that a run of them needs one look only.
    heads = cells.filter(cells.ne_missing(cells.shift()))
    run = cells.rle_id().to_numpy()
    if names is None:
        names = heads.unique(maintain_order=True).to_list()
        if len(names) == len(heads):
            return run.astype(np.int32), names
    codes = heads.cast(pl.Enum(names)).to_physical().to_numpy()
    return codes[run].astype(np.int32), names


def _number_within_pair(votes: Annotations) -> NDArray[np.int64]:
    """Return 0 for the first annotation of an item by an annotator, 1 for the second, …; shape (n_annotations,)."""
    first = votes.starts[:-1]
    i, j = votes.item[first], votes.annotator[first]
    place = np.arange(len(first))
    begins = np.ones(len(first), dtype=np.bool_)
    begins[1:] = (i[1:] != i[:-1]) | (j[1:] != j[:-1])
    return place - np.maximum.accumulate(np.where(begins, place, 0))


def _in_order_of_appearance(codes: Codes, size: int) -> bool:
    """Return whether every code occurs, and each for the first time after the one before it."""
    first = np.full(size, len(codes))
    first[codes[::-1]] = np.arange(len(codes))[::-1]
    return bool((first[1:] > first[:-1]).all() and (first < len(codes)).all())
