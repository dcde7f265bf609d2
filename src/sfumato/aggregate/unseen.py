"""What is said of items without annotations, annotators who said nothing, and classes that nobody named."""

from __future__ import annotations

__all__ = ["unseen"]

from sfumato.core.annotations import Annotations


def unseen(
    annotations: Annotations, *, items: str = "the prior stands there", annotators: str = "nothing is known of them"
) -> tuple[str, ...]:
    """Return a sentence for each kind that there is; *items* and *annotators* say what becomes of those.

    >>> votes = Annotations.from_rows(["a"], ["ann"], ["yes"], classes=["yes", "no"])
    >>> unseen(votes)
    ('Given by nobody: 1 of 2 classes.',)
    """
    # Rows are sorted by item: each change is a new one.
    judged = int((annotations.item[1:] != annotations.item[:-1]).sum()) + min(len(annotations.item), 1)
    silent = int((annotations.per_annotator() == 0).sum())
    unnamed = int((annotations.per_class() == 0).sum())
    empty = annotations.n_items - judged
    notes = []
    if empty:
        notes.append(f"Without an annotation: {empty:,} of {annotations.n_items:,} items; {items}.")
    if silent:
        notes.append(f"Without an annotation: {silent:,} of {annotations.n_annotators:,} annotators; {annotators}.")
    if unnamed:
        notes.append(f"Given by nobody: {unnamed:,} of {annotations.n_classes:,} classes.")
    return tuple(notes)
