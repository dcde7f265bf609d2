"""Which column of a table holds what of soft labels or predictions, on the way out and on the way in.

A table of soft labels is the column ``item`` and then one column per class, named by the class. ``uncertainty`` and,
for predictions, ``logit:<class>`` follow where there are any. A class whose name is one of these is written as
``class:<name>``, which the metadata of a Parquet or Arrow file says and a CSV has no way to say.
"""

from __future__ import annotations

__all__ = ["SoftLayout", "layout_by_names", "layout_in_metadata", "layout_of", "soft_frame", "soft_records"]

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.core.predictions import Predictions
from sfumato.core.soft_labels import SoftLabels
from sfumato.core.vocabulary import Vocabulary
from sfumato.errors import InputError
from sfumato.tables.sheet import item_column

_ITEM, _UNCERTAINTY, _LOGIT, _CLASS = "item", "uncertainty", "logit:", "class:"


@dataclass(frozen=True)
class SoftLayout:
    """The names of the columns; ``probs`` and ``logits`` (empty where there are none) follow ``classes``."""

    item: str
    classes: Vocabulary
    probs: tuple[str, ...]
    logits: tuple[str, ...] = ()
    uncertainty: str | None = None

    def columns(self) -> list[str]:
        """Return the columns in the order in which they are written."""
        return [self.item, *self.probs, *([self.uncertainty] if self.uncertainty else []), *self.logits]


def layout_of(soft: SoftLabels) -> SoftLayout:
    """Return how soft labels are laid out.

    >>> layout_of(SoftLabels([[0.5, 0.5]], items=["a"], classes=["item", "cat"])).columns()
    ['item', 'class:item', 'cat']
    """
    taken = {_ITEM, _UNCERTAINTY}
    probs = []
    for name in soft.classes:
        column = name
        while column in taken or column.startswith(_LOGIT):
            column = _CLASS + column
        taken.add(column)
        probs.append(column)
    return SoftLayout(
        item=_ITEM,
        classes=soft.classes,
        probs=tuple(probs),
        logits=tuple(_LOGIT + name for name in soft.classes) if _logits(soft) is not None else (),
        uncertainty=None if soft.uncertainty is None else _UNCERTAINTY,
    )


def layout_by_names(columns: Sequence[str], name: str) -> SoftLayout:
    """Return what the names of the columns say of a table that nothing else is known of.

    >>> layout_by_names(["id", "cat", "dog", "uncertainty"], "soft.csv").classes
    ('cat', 'dog')
    """
    item = item_column(columns, name)
    rest = [column for column in columns if column not in (item, _UNCERTAINTY)]
    classes = tuple(column for column in rest if not column.startswith(_LOGIT))
    found = [column for column in rest if column.startswith(_LOGIT)]
    logits = tuple(_LOGIT + column for column in classes)
    odd = sorted({*found} ^ {*logits}) if found else []
    if odd:
        raise InputError(
            f"{name} has columns of logits that do not match its classes ({odd[0]!r} is one too many or too few). "
            "Give one column 'logit:<class>' for each class, or none."
        )
    if not classes:
        raise InputError(
            f"{name} has the column {item!r} and no column of a class. "
            "A table of soft labels has one column per class, named by the class."
        )
    return SoftLayout(
        item=item,
        classes=classes,
        probs=classes,
        logits=logits if found else (),
        uncertainty=_UNCERTAINTY if _UNCERTAINTY in columns else None,
    )


def layout_in_metadata(columns: Sequence[str], metadata: dict[str, Any]) -> SoftLayout | None:
    """Return the layout that the metadata describe, or None where the columns have been changed since."""
    try:
        said = metadata["columns"]
        layout = SoftLayout(
            item=said["item"],
            classes=tuple(metadata["classes"]),
            probs=tuple(said["probs"]),
            logits=tuple(said.get("logits", ())),
            uncertainty=said.get("uncertainty"),
        )
        fits = len(layout.probs) == len(layout.classes) and len(layout.logits) in (0, len(layout.classes))
        return layout if fits and sorted(layout.columns()) == sorted(columns) else None
    except (KeyError, TypeError, AttributeError):
        return None


def soft_frame(soft: SoftLabels) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Return soft labels as a frame, and as metadata all that a frame cannot hold."""
    layout = layout_of(soft)
    series = [pl.Series(layout.item, soft.items, dtype=pl.String), *_columns(soft.probs, layout.probs)]
    said: dict[str, Any] = {"item": layout.item, "probs": layout.probs}
    if layout.uncertainty is not None:
        series.append(pl.Series(layout.uncertainty, soft.uncertainty))
        said["uncertainty"] = layout.uncertainty
    logits = _logits(soft)
    if logits is not None:
        series += _columns(logits, layout.logits)
        said["logits"] = layout.logits
    kind = "Predictions" if isinstance(soft, Predictions) else "SoftLabels"
    metadata = {"kind": kind, "classes": soft.classes, "columns": said, "origin": soft.origin.to_dict()}
    return pl.DataFrame(series), metadata


def soft_records(soft: SoftLabels, *, nested: bool) -> pl.DataFrame:
    """Return soft labels as a frame for a text file: probabilities alone, or *nested* in JSON with all numbers.

    Numbers are widened to float64, of which the shortest text that reads back equal is written.
    """
    layout = layout_of(soft)
    items = pl.Series(layout.item, soft.items, dtype=pl.String)
    if not nested:
        changed = next(
            (name for name, column in zip(layout.classes, layout.probs, strict=True) if name != column), None
        )
        if changed is not None:
            raise InputError(
                f"A class called {changed!r} cannot name a column of a CSV or TSV file, where it means something else. "
                "Save to .parquet, .arrow or .jsonl, or rename the class."
            )
        return pl.DataFrame([items, *_columns(soft.probs, layout.probs, widen=True)])
    parts = [items, pl.DataFrame(_columns(soft.probs, soft.classes, widen=True)).to_struct("probs")]
    if soft.uncertainty is not None:
        if np.isinf(soft.uncertainty).any():
            raise InputError("JSON has no infinite numbers, and an uncertainty is one. Save to .parquet or .arrow.")
        parts.append(pl.Series(_UNCERTAINTY, soft.uncertainty))
    logits = _logits(soft)
    if logits is not None:
        parts.append(pl.DataFrame(_columns(logits, soft.classes, widen=True)).to_struct("logits"))
    return pl.DataFrame(parts)


def _logits(soft: SoftLabels) -> NDArray[np.floating[Any]] | None:
    return soft.logits if isinstance(soft, Predictions) else None


def _columns(values: NDArray[np.floating[Any]], names: Sequence[str], *, widen: bool = False) -> list[pl.Series]:
    # Column by column: polars takes a contiguous array as it is.
    across = np.ascontiguousarray(values.T, dtype=np.float64 if widen else None)
    return [pl.Series(name, column) for name, column in zip(names, across, strict=True)]
