"""What each annotator said of each item, one row per pair of them, in an order that no shuffling changes."""

from __future__ import annotations

__all__ = ["Answers", "in_canonical_order"]

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.core.annotations import Annotations

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


def in_canonical_order(annotations: Annotations) -> Annotations:
    """Return the same annotations with items and annotators in alphabetical order.

    Draws and sums over them then give the same bits however the rows of the input were shuffled.

    >>> votes = Annotations.from_rows(["b", "a"], ["x", "x"], ["no", "yes"])
    >>> in_canonical_order(votes).items
    ('a', 'b')
    """
    items, annotators = annotations.canonical_items, annotations.canonical_annotators
    if _ascending(items) and _ascending(annotators):
        return annotations
    hard = annotations.is_hard
    # Two distributions of one annotator for one item keep their numbers, which is all that tells them apart.
    annotation = np.repeat(np.arange(annotations.n_annotations), np.diff(annotations.starts))
    return Annotations.from_codes(
        _ranks(items)[annotations.item],
        _ranks(annotators)[annotations.annotator],
        annotations.label,
        weight=None if hard else annotations.weight,
        annotation=None if hard else annotation,
        items=[annotations.items[code] for code in items],
        annotators=[annotations.annotators[code] for code in annotators],
        classes=annotations.classes,
    )


@dataclass(frozen=True, eq=False)
class Answers:
    """One row for each pair of an item and an annotator who judged it, sorted by item and annotator.

    ``item``, ``annotator`` and ``n`` (how many annotations the row stands for, more than 1 where an annotator judged
    an item again) have shape (n_rows,). ``said`` is a sparse matrix of shape (n_rows, n_classes): the mean
    distribution that the annotator gave to the item; one-hot where it was a plain class.
    """

    item: Codes
    annotator: Codes
    n: Codes
    said: Any
    n_items: int
    n_annotators: int

    @classmethod
    def of(cls, annotations: Annotations) -> Answers:
        """Return the answers in *annotations*, whose rows are sorted by item and annotator already."""
        from scipy.sparse import csr_array

        first = annotations.starts[:-1]
        item, annotator = annotations.item[first], annotations.annotator[first]
        new = np.ones(len(first), dtype=np.bool_)
        new[1:] = (item[1:] != item[:-1]) | (annotator[1:] != annotator[:-1])
        begins = np.flatnonzero(new)
        n = np.diff(begins, append=len(first))
        offsets = np.append(first[begins], len(annotations.item))
        share = annotations.weight / np.repeat(n, np.diff(offsets))
        said = csr_array((share, annotations.label, offsets), shape=(len(begins), annotations.n_classes))
        said.sum_duplicates()
        return cls(
            item[begins].astype(np.int64), annotator[begins].astype(np.int64), n, said,
            annotations.n_items, annotations.n_annotators,
        )  # fmt: skip

    @cached_property
    def item_starts(self) -> Codes:
        """Rows of item i are item_starts[i]:item_starts[i + 1]."""
        return np.searchsorted(self.item, np.arange(self.n_items + 1))

    @cached_property
    def _by_annotator(self) -> tuple[Codes, Codes]:
        order = np.argsort(self.annotator, kind="stable")
        return order, np.searchsorted(self.annotator[order], np.arange(self.n_annotators + 1))

    def rows_of(self, annotator: int) -> Codes:
        """Return the rows of one annotator, by item."""
        order, starts = self._by_annotator
        return order[starts[annotator] : starts[annotator + 1]]

    @cached_property
    def counts(self) -> Floats:
        """How much weight the annotations of each item give to each class, shape (n_items, n_classes)."""
        item = np.repeat(self.item, np.diff(self.said.indptr))
        weight = self.said.data * np.repeat(self.n, np.diff(self.said.indptr))
        n_classes = self.said.shape[1]
        flat = np.bincount(item * n_classes + self.said.indices, weights=weight, minlength=self.n_items * n_classes)
        return flat.astype(np.float64).reshape(self.n_items, n_classes)

    @cached_property
    def totals(self) -> Floats:
        """The weight of each class in all annotations, shape (n_classes,)."""
        return np.asarray(self.counts.sum(axis=0))

    @cached_property
    def per_item(self) -> Codes:
        """The number of annotations of each item, shape (n_items,)."""
        return np.bincount(self.item, weights=self.n, minlength=self.n_items).astype(np.int64)

    @cached_property
    def n_others(self) -> Codes:
        """How many annotations of the item are by other annotators, shape (n_rows,)."""
        return self.per_item[self.item] - self.n

    def agreement(self) -> Floats:
        """Return for each row the share of the other annotators' annotations of the item that agree; nan without any.

        Two distributions agree by Σ_k p_k q_k, which is 0 or 1 for plain classes.
        """
        row = np.repeat(np.arange(len(self.item)), np.diff(self.said.indptr))
        said, label = self.said.data, self.said.indices
        of_others = self.counts[self.item[row], label] - self.n[row] * said
        agreeing = np.bincount(row, weights=said * of_others, minlength=len(self.item))
        n_others = self.n_others
        # What is left of a sum after the own part was taken away may miss 0 or 1 by rounding.
        return np.clip(np.where(n_others > 0, agreeing / np.maximum(n_others, 1), np.nan), 0, 1)


def _ascending(codes: Codes) -> bool:
    return bool((codes[1:] > codes[:-1]).all())


def _ranks(order: Codes) -> Codes:
    result = np.empty_like(order)
    result[order] = np.arange(len(order))
    return result
