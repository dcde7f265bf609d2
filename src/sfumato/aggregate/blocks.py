"""The annotations as one sparse matrix, cut into blocks of items that stay in the cache.

Row i of A holds the weight of each (annotator, label) that judged item i: shape (n_items, n_annotators·n_classes).
Rows stand in the alphabetical order of the items, and within a row the annotators are in alphabetical order too, so
that every sum over them gives the same bits however the rows of the input were shuffled. Where a table over the columns
would be large, items with the same leading label stand together: most of their votes then are in the columns of
that label, a fraction of the table that stays in the cache.
"""

from __future__ import annotations

__all__ = ["AnnotationMatrix", "Block", "annotation_matrix", "cut", "slabs"]

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sfumato.core.annotations import Annotations

Floats = NDArray[np.floating[Any]]
Indices = NDArray[np.signedinteger[Any]]

# Scores of a block: two arrays of this many numbers stay within one core's second-level cache.
_BLOCK_CELLS = 1 << 16
_MOST_ITEMS = 8192
_FEWEST_ITEMS = 16
# Columns from which on items are grouped by their leading label: tables are then about to outgrow the cache.
_GROUPED_COLUMNS = 1 << 12
# Rows that are put in order at a time.
_SLAB_ROWS = 1 << 20


class Block(NamedTuple):
    """Some consecutive rows of the matrix: ``offsets`` starts at 0, ``weights`` are ones for plain votes."""

    start: int
    stop: int
    offsets: Indices
    columns: Indices
    weights: Floats

    @property
    def size(self) -> int:
        return self.stop - self.start


@dataclass(frozen=True, eq=False)
class AnnotationMatrix:
    """A in compressed rows: those of row i are offsets[i]:offsets[i + 1] of ``columns`` and ``weights``.

    A column is rank of the annotator · n_classes + label. ``weights`` is None where every weight is 1. Items that
    nobody judged have no row; ``item_order`` says which item (as a code of the annotations) each row is, and
    ``annotator_order`` which annotator each rank is.
    """

    offsets: NDArray[np.int64]
    columns: Indices
    weights: Floats | None
    n_items: int
    n_annotators: int
    n_classes: int
    item_order: NDArray[np.int64]
    annotator_order: NDArray[np.int64]
    dtype: np.dtype[np.floating[Any]]

    @property
    def n_judged(self) -> int:
        """The number of items with at least one annotation: the rows of the matrix."""
        return len(self.item_order)

    @property
    def n_columns(self) -> int:
        return self.n_annotators * self.n_classes

    @property
    def n_rows(self) -> int:
        """The number of (item, annotator, label) entries."""
        return int(self.offsets[-1])

    @cached_property
    def column_totals(self) -> NDArray[np.float64]:
        """The weight of each (annotator, label) over all items, shape (n_columns,)."""
        total = np.zeros(self.n_columns)
        for start, stop in slabs(self.offsets):
            place = slice(self.offsets[start], self.offsets[stop])
            weights = None if self.weights is None else self.weights[place]
            total += np.bincount(self.columns[place], weights=weights, minlength=self.n_columns)
        return total

    def block(self, start: int, stop: int, ones: Floats) -> Block:
        """Return rows start:stop; *ones* lends the weights of plain votes."""
        first, last = self.offsets[start], self.offsets[stop]
        offsets = (self.offsets[start : stop + 1] - first).astype(self.columns.dtype)
        columns = np.asarray(self.columns[first:last])
        # asarray: of a memory-mapped file the compiled products want the plain array.
        weights = ones[: last - first] if self.weights is None else np.asarray(self.weights[first:last])
        return Block(start, stop, offsets, columns, weights)


def annotation_matrix(
    annotations: Annotations, *, dtype: str | np.dtype[Any] = "float64", folder: Path | None = None
) -> AnnotationMatrix:
    """Return the annotations as a sparse matrix in canonical order; in *folder*, memory-mapped, where one is given.

    >>> votes = Annotations.from_rows(["b", "a", "a"], ["ann", "bob", "ann"], ["no", "yes", "no"])
    >>> matrix = annotation_matrix(votes)
    >>> matrix.offsets.tolist(), matrix.columns.tolist(), matrix.item_order.tolist()
    ([0, 2, 3], [0, 3, 0], [1, 0])
    """
    lengths = np.diff(annotations.offsets)
    order = annotations.canonical_items
    order = order[lengths[order] > 0]
    n_columns = annotations.n_annotators * annotations.n_classes
    if n_columns > _GROUPED_COLUMNS:
        order = order[np.argsort(annotations.leading_labels()[order], kind="stable")]
    offsets = np.zeros(len(order) + 1, dtype=np.int64)
    np.cumsum(lengths[order], out=offsets[1:])
    index = np.dtype(np.int32 if n_columns <= np.iinfo(np.int32).max else np.int64)
    columns = _room(folder, "columns.npy", int(offsets[-1]), index)
    weights = None if annotations.is_hard else _room(folder, "weights.npy", int(offsets[-1]), np.dtype(dtype))
    for start, stop in slabs(offsets):
        place = slice(offsets[start], offsets[stop])
        columns[place], slab_weights = _ordered(annotations, order[start:stop], n_columns)
        if weights is not None:
            weights[place] = slab_weights
    return AnnotationMatrix(
        offsets=offsets, columns=columns, weights=weights, n_items=annotations.n_items,
        n_annotators=annotations.n_annotators, n_classes=annotations.n_classes, item_order=order,
        annotator_order=annotations.canonical_annotators, dtype=np.dtype(dtype),
    )  # fmt: skip


def cut(matrix: AnnotationMatrix, n_states: int, n_chunks: int) -> list[list[tuple[int, int]]]:
    """Return the rows in *n_chunks* runs of about equal work, each a list of blocks (start, stop).

    What is cut where depends on the annotations and the model alone, never on the number of threads.
    """
    size = min(_MOST_ITEMS, max(_FEWEST_ITEMS, _BLOCK_CELLS // n_states))
    # The softmax of an item costs about as much as four annotations.
    work = matrix.offsets + 4 * np.arange(len(matrix.offsets))
    ends = np.searchsorted(work, np.linspace(0, work[-1], n_chunks + 1)[1:-1])
    bounds = [0, *np.unique(ends[ends > 0]).tolist(), matrix.n_judged]
    return [
        [(start, min(start + size, end)) for start in range(begin, end, size)]
        for begin, end in pairwise(bounds)
        if end > begin
    ]


def slabs(offsets: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Yield runs (start, stop) of items with about a million rows each, so that temporaries stay small."""
    start, n = 0, len(offsets) - 1
    while start < n:
        stop = max(start + 1, int(np.searchsorted(offsets, offsets[start] + _SLAB_ROWS, side="right")) - 1)
        yield start, stop
        start = stop


def _room(folder: Path | None, name: str, size: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    if folder is None or size == 0:  # a file of no bytes cannot be mapped
        return np.empty(size, dtype=dtype)
    return np.lib.format.open_memmap(folder / name, mode="w+", dtype=dtype, shape=(size,))


def _ordered(
    annotations: Annotations, items: NDArray[np.int64], n_columns: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return columns and weights of some items, each item's rows sorted by annotator and label."""
    first = annotations.offsets[items]
    lengths = annotations.offsets[items + 1] - first
    ends = np.cumsum(lengths)
    rows = np.repeat(first - (ends - lengths), lengths) + np.arange(ends[-1])
    ranks = _ranks(annotations.canonical_annotators)
    # Item and column in one number: sorting plain integers is far quicker than sorting by several keys.
    base = np.repeat(np.arange(len(items)) * n_columns, lengths)
    key = ranks[annotations.annotator[rows]] * annotations.n_classes + annotations.label[rows] + base
    if annotations.is_hard:
        key.sort()
        return key - base, np.ones(0)
    weights = annotations.weight[rows]
    # The weight decides between two distributions by one annotator of one item.
    order = np.lexsort((weights, key))
    return key[order] - base, weights[order]


def _ranks(order: NDArray[np.int64]) -> NDArray[np.int64]:
    result = np.empty_like(order)
    result[order] = np.arange(len(order))
    return result
