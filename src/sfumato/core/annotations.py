"""Annotations: who judged what, and how. The one type that every aggregator takes.

Hard and soft judgements are the same thing here. A plain class is one row of weight 1; a distribution is
several rows of one annotation, whose weights sum to 1.
"""

from __future__ import annotations

__all__ = ["Annotations", "class_order"]

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.core import storage
from sfumato.core.alphabetical import alphabetical
from sfumato.core.order_free import name_keys, on_grid, scrambled
from sfumato.core.origin import fingerprint_of
from sfumato.core.row_blocks import over_blocks
from sfumato.core.simplex import SUM_TOLERANCE
from sfumato.core.vocabulary import Vocabulary, check_vocabulary, code_names, counted
from sfumato.errors import InputError

Codes = NDArray[np.int32]

# Annotations whose keys are made at a time, and sums that are filled: the arrays of the step stay in the cache.
_KEYED_AT_A_TIME = 1 << 15
_SUMMED_AT_A_TIME = 1 << 16


@dataclass(frozen=True, eq=False)
class Annotations:
    """Annotations of items by annotators: integer codes, vocabularies, validated once, immutable.

    Rows are sorted by item, annotator, annotation and label. ``item``, ``annotator`` and ``label`` are int32
    codes of shape (n_rows,) into ``items``, ``annotators`` and ``classes``; ``weight`` has shape (n_rows,).
    Items and annotators stand in the order in which they first appeared. Make one with
    `sfumato.read_annotations`, `Annotations.from_rows` or `Annotations.from_codes`.

    >>> votes = Annotations.from_rows(["a", "a", "b"], ["ann", "bob", "ann"], ["yes", "no", "yes"])
    >>> votes
    Annotations(2 items, 2 annotators, 2 classes, 3 annotations)
    >>> votes.counts().tolist()
    [[1.0, 1.0], [0.0, 1.0]]
    """

    item: Codes
    annotator: Codes
    label: Codes
    weight: NDArray[np.float64]
    items: Vocabulary
    annotators: Vocabulary
    classes: Vocabulary
    # Where each annotation starts in the rows, shape (n_annotations + 1,); for hard annotations 0, 1, 2, …
    starts: NDArray[np.int64]
    # For tokens: which sequence an item belongs to and its place in it, both of shape (n_items,).
    sequence: Codes | None = None
    position: Codes | None = None
    # What the door took for what, in sentences for the reader of a command's output.
    notes: tuple[str, ...] = field(default=(), compare=False)

    @classmethod
    def from_rows(
        cls,
        items: Iterable[str],
        annotators: Iterable[str],
        labels: Iterable[str],
        *,
        weights: ArrayLike | None = None,
        annotation: ArrayLike | None = None,
        classes: Sequence[str] | None = None,
    ) -> Self:
        """Build annotations from one row per (item, annotator, label), names as strings.

        With *weights*, the rows of one (item, annotator) are one distribution; where an annotator gave several
        distributions for one item, *annotation* numbers them. A label that is not in *classes* is refused.
        """
        item, item_names = code_names(items)
        annotator, annotator_names = code_names(annotators)
        label, seen = code_names(labels)
        check_vocabulary(seen, what="label")
        ordered = tuple(classes) if classes is not None else class_order(seen)
        check_vocabulary(ordered, what="class")
        if seen and not ordered:
            raise InputError("The option 'classes' names no class. Name all in their order, or leave it out.")
        place = {name: code for code, name in enumerate(ordered)}
        unknown = [name for name in seen if name not in place]
        if unknown:
            raise InputError(
                f"The label {unknown[0]!r} is not one of the classes {_shortened(ordered)}. "
                "Add it to the classes, or correct the label."
            )
        label = np.array([place[name] for name in seen], dtype=np.int32)[label]
        return cls.from_codes(
            item, annotator, label, weight=weights, annotation=annotation,
            items=item_names, annotators=annotator_names, classes=ordered,
        )  # fmt: skip

    @classmethod
    def from_codes(
        cls,
        item: ArrayLike,
        annotator: ArrayLike,
        label: ArrayLike,
        *,
        items: Sequence[str],
        annotators: Sequence[str],
        classes: Sequence[str],
        weight: ArrayLike | None = None,
        annotation: ArrayLike | None = None,
        sequence: ArrayLike | None = None,
        position: ArrayLike | None = None,
        notes: Sequence[str] = (),
    ) -> Self:
        """Build annotations from integer codes into the three vocabularies, in any order of rows.

        Without *weight* each row is an annotation of its own. With it, the rows that share item, annotator and
        *annotation* (0 where not given) are one distribution; rows of weight 0 are dropped, as they say nothing.
        """
        for names, what in ((items, "item"), (annotators, "annotator"), (classes, "class")):
            check_vocabulary(names, what=what)
        i = _checked_codes(item, len(items), what="item")
        j = _checked_codes(annotator, len(annotators), what="annotator")
        k = _checked_codes(label, len(classes), what="label")
        if not len(i) == len(j) == len(k):
            raise InputError(f"Item, annotator and label must be equally long. Got {len(i)}, {len(j)}, {len(k)}.")
        if weight is None:
            order = _row_order(i, j, k)
            if order is not None:
                i, j, k = i[order], j[order], k[order]
            w, starts = None, None
        else:
            i, j, k, w, starts = _sorted_distributions(i, j, k, weight, annotation, items, annotators)
        return cls._from_sorted(
            i, j, k, w, starts,
            items=items, annotators=annotators, classes=classes,
            sequence=None if sequence is None else np.array(sequence, dtype=np.int32),
            position=None if position is None else np.array(position, dtype=np.int32),
            notes=notes,
        )  # fmt: skip

    @classmethod
    def _from_sorted(
        cls,
        item: Codes,
        annotator: Codes,
        label: Codes,
        weight: NDArray[np.float64] | None = None,
        starts: NDArray[np.int64] | None = None,
        *,
        items: Sequence[str],
        annotators: Sequence[str],
        classes: Sequence[str],
        sequence: Codes | None = None,
        position: Codes | None = None,
        notes: Sequence[str] = (),
    ) -> Self:
        """Build annotations from rows that are sorted and names that are checked, which then belong to them.

        For doors that know both already: to check two million names again takes longer than to read them.
        """
        if weight is None:
            # One float, seen n times: the weights of ten million plain votes take no memory.
            weight = np.broadcast_to(np.float64(1), item.shape)
        if starts is None:
            starts = np.arange(len(item) + 1, dtype=np.int64)
        for place in (sequence, position):
            if place is not None and place.shape != (len(items),):
                raise InputError("sequence and position need one entry per item.")
        arrays: list[NDArray[Any] | None] = [item, annotator, label, weight, starts, sequence, position]
        for array in arrays:
            if array is not None:
                array.flags.writeable = False
        return cls(
            item=item, annotator=annotator, label=label, weight=weight,
            items=tuple(items), annotators=tuple(annotators), classes=tuple(classes), starts=starts,
            sequence=sequence, position=position, notes=tuple(notes),
        )  # fmt: skip

    @property
    def n_items(self) -> int:
        return len(self.items)

    @property
    def n_annotators(self) -> int:
        return len(self.annotators)

    @property
    def n_classes(self) -> int:
        return len(self.classes)

    @property
    def n_annotations(self) -> int:
        """The number of judgements; a distribution over classes is one."""
        return len(self.starts) - 1

    @property
    def is_hard(self) -> bool:
        """Whether every annotation is a plain class."""
        return self.n_annotations == len(self.item)

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        """Rows of item i are offsets[i]:offsets[i + 1]; shape (n_items + 1,)."""
        result = np.zeros(self.n_items + 1, dtype=np.int64)
        np.cumsum(_tally(self.item, self.n_items), out=result[1:])
        result.flags.writeable = False
        return result

    @cached_property
    def canonical_items(self) -> NDArray[np.int64]:
        """The items in alphabetical order, as codes; sums taken in this order do not depend on the row order."""
        return alphabetical(self.items)

    @cached_property
    def canonical_annotators(self) -> NDArray[np.int64]:
        """The annotators in alphabetical order, as codes."""
        return alphabetical(self.annotators)

    @cached_property
    def fingerprint(self) -> str:
        """A short hash of everything that was said; the order of the rows does not enter it."""
        item_keys, annotator_keys = name_keys(self.items), name_keys(self.annotators)

        # The key of an annotation comes from who, what and how; its sums over all annotations know no order.
        def keyed(start: int, stop: int) -> NDArray[np.uint64]:
            starts = self.starts[start : stop + 1]
            rows = slice(int(starts[0]), int(starts[-1]))
            said = scrambled(self.label[rows].astype(np.uint64))
            if not self.is_hard:
                said += self.weight[rows].view(np.uint64)
                said = np.add.reduceat(scrambled(said), starts[:-1] - starts[0])
            said += item_keys[self.item[starts[:-1]]]
            said ^= annotator_keys[self.annotator[starts[:-1]]]
            keys = scrambled(said)
            return np.array([keys.sum(), np.dot(keys, keys)])

        parts = over_blocks(keyed, self.n_annotations, _KEYED_AT_A_TIME)
        totals: NDArray[np.uint64] = np.vstack([np.zeros(2, dtype=np.uint64), *parts]).sum(axis=0)
        names = [np.array([len(keys), keys.sum(), (keys * keys).sum()]) for keys in (item_keys, annotator_keys)]
        return fingerprint_of((self.classes,), [totals, *names])

    def counts(self) -> NDArray[np.float64]:
        """Return how much weight each item gives to each class, shape (n_items, n_classes)."""
        return self.summed(self._exact_weights())

    def summed(self, weights: NDArray[np.float64] | None) -> NDArray[np.float64]:
        """Return the sums of *weights*, one per row (1 each where None), by item and class: (n_items, n_classes)."""
        result = np.empty((self.n_items, self.n_classes))
        self._over_sums(weights, lambda start, stop, sums: np.copyto(result[start:stop], sums))
        return result

    def from_counts(self, made: Callable[[int, int, NDArray[Any]], NDArray[Any]]) -> NDArray[np.float64]:
        """Return made(start, stop, counts) of one run of items after the other, shape (n_items, n_classes).

        What is made of the counts (see `counts`) of a run is made while they are in the cache, in several threads.
        """
        result = np.empty((self.n_items, self.n_classes))

        def write(start: int, stop: int, counts: NDArray[Any]) -> None:
            result[start:stop] = made(start, stop, counts)

        self._over_sums(self._exact_weights(), write)
        return result

    def leading_labels(self) -> NDArray[np.int64]:
        """Return the class to which each item gives the most weight, the first of several; shape (n_items,)."""
        result = np.empty(self.n_items, dtype=np.int64)
        self._over_sums(
            self._exact_weights(), lambda start, stop, sums: np.copyto(result[start:stop], sums.argmax(axis=1))
        )
        return result

    def _exact_weights(self) -> NDArray[np.float64] | None:
        """Return the weights rounded by some 10^-15, so that their sums are exact and know no order of rows."""
        return None if self.is_hard else on_grid(self.weight, int(np.diff(self.offsets).max(initial=1)))

    def _over_sums(self, weights: NDArray[np.float64] | None, use: Callable[[int, int, NDArray[Any]], None]) -> None:
        """Call use(start, stop, sums) with the sums by item and class of each run of items, in several threads."""

        def one(start: int, stop: int) -> None:
            # The rows are sorted by item.
            rows = slice(int(self.offsets[start]), int(self.offsets[stop]))
            flat = (self.item[rows] - np.int64(start)) * self.n_classes + self.label[rows]
            size = (stop - start) * self.n_classes
            sums = np.bincount(flat, None if weights is None else weights[rows], minlength=size)
            use(start, stop, sums.reshape(stop - start, self.n_classes))

        # So many items at a time that their sums stay in the cache.
        over_blocks(one, self.n_items, max(_SUMMED_AT_A_TIME // max(self.n_classes, 1), 1))

    def per_item(self) -> NDArray[np.int64]:
        """Return the number of annotations of each item, shape (n_items,)."""
        item = self.item if self.is_hard else self.item[self.starts[:-1]]
        return _tally(item, self.n_items)

    def per_annotator(self) -> NDArray[np.int64]:
        """Return the number of annotations by each annotator, shape (n_annotators,)."""
        annotator = self.annotator if self.is_hard else self.annotator[self.starts[:-1]]
        return _tally(annotator, self.n_annotators)

    def per_class(self) -> NDArray[np.int64]:
        """Return the number of annotations that name each class, shape (n_classes,)."""
        return _tally(self.label, self.n_classes)

    def take_annotations(self, chosen: NDArray[np.bool_] | NDArray[np.integer[Any]]) -> Self:
        """Return the annotations that *chosen* (a mask or indices) picks; the vocabularies stay whole."""
        chosen = np.flatnonzero(chosen) if chosen.dtype == np.bool_ else np.unique(chosen)
        if self.is_hard:
            rows, starts = chosen, np.arange(len(chosen) + 1, dtype=np.int64)
        else:
            lengths = np.diff(self.starts)[chosen]
            starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
            rows = np.repeat(self.starts[:-1][chosen] - starts[:-1], lengths) + np.arange(starts[-1])
        weight = np.broadcast_to(np.float64(1), rows.shape) if self.is_hard else self.weight[rows]
        item, annotator, label = self.item[rows], self.annotator[rows], self.label[rows]
        for array in (item, annotator, label, weight, starts):
            array.flags.writeable = False
        return type(self)(
            item=item, annotator=annotator, label=label, weight=weight,
            items=self.items, annotators=self.annotators, classes=self.classes, starts=starts,
            sequence=self.sequence, position=self.position,
        )  # fmt: skip

    def save(self, path: str | PathLike[str]) -> None:
        """Write the annotations to a Parquet, Arrow, CSV, TSV or JSONL file, whole or not at all.

        Parquet and Arrow hold everything and come back equal. CSV, TSV and JSONL hold the rows: annotators and items
        without any are left out, and classes that the rows alone do not give back (their order, those that nobody
        chose, names such as "NaN") come back with ``read_annotations(path, classes=…)``; a warning says so.
        """
        storage.save(self, path)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return storage.arrow_stream(self, requested_schema)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Annotations):
            return NotImplemented
        arrays = ("item", "annotator", "label", "weight", "starts", "sequence", "position")
        names = ("items", "annotators", "classes")
        return all(getattr(self, name) == getattr(other, name) for name in names) and all(
            _same(getattr(self, name), getattr(other, name)) for name in arrays
        )

    __hash__ = None  # type: ignore[assignment]  # equal by content, and content this large is no key

    def __repr__(self) -> str:
        soft = "" if self.is_hard else " (soft)"
        return (
            f"Annotations({counted(self.n_items, 'item')}, {counted(self.n_annotators, 'annotator')}, "
            f"{counted(self.n_classes, 'class')}, "
            f"{counted(self.n_annotations, 'annotation')}{soft})"
        )


def class_order(labels: Iterable[str]) -> tuple[str, ...]:
    """Return the labels as classes: by value where all are numbers, else sorted.

    >>> class_order(["10", "9", "08"]), class_order(["b", "a", "10"])
    (('08', '9', '10'), ('10', 'a', 'b'))
    """
    unique = sorted(set(labels))
    try:
        values = {label: float(label) for label in unique}
    except ValueError:
        return tuple(unique)
    if any(value != value for value in values.values()):  # "nan" has no place in an order of numbers
        return tuple(unique)
    return tuple(sorted(unique, key=lambda label: (values[label], label)))


def _checked_codes(codes: ArrayLike, size: int, *, what: str) -> Codes:
    array = np.asarray(codes)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise InputError(f"The {what} codes must be a row of integers. Got {array.dtype} of shape {array.shape}.")
    if array.size and (array.min() < 0 or array.max() >= size):
        bad = array[(array < 0) | (array >= size)][0]
        raise InputError(f"The {what} code {bad} points outside the {counted(size, 'name')} that were given.")
    return array.astype(np.int32)


def _tally(codes: Codes, size: int) -> NDArray[np.int64]:
    """Return how often each code occurs, shape (size,).

    NumPy would widen all codes to 64 bits at once, and for ten million the new memory costs several times the count.
    """
    result = np.zeros(size, dtype=np.int64)
    is_sorted = len(codes) > _SUMMED_AT_A_TIME and bool((codes[:-1] <= codes[1:]).all())
    # Of sorted codes a part holds a narrow run; of others any, and then a part must be worth adding *size* numbers.
    step = _SUMMED_AT_A_TIME if is_sorted else max(_SUMMED_AT_A_TIME, size)
    for first in range(0, len(codes), step):
        part = codes[first : first + step]
        low = int(part[0]) if is_sorted else 0
        found = np.bincount(part - low if low else part)
        result[low : low + len(found)] += found
    return result


def _row_order(i: Codes, j: Codes, k: Codes) -> NDArray[np.int64] | None:
    """Return the stable order by item, annotator and label, or None where the rows have it already."""
    same_item = i[1:] == i[:-1]
    same_both = same_item & (j[1:] == j[:-1])
    in_order = (i[1:] > i[:-1]) | (same_item & (j[1:] > j[:-1])) | (same_both & (k[1:] >= k[:-1]))
    return None if in_order.all() else np.lexsort((k, j, i))


def _sorted_distributions(
    i: Codes,
    j: Codes,
    k: Codes,
    weight: ArrayLike,
    annotation: ArrayLike | None,
    items: Sequence[str],
    annotators: Sequence[str],
) -> tuple[Codes, Codes, Codes, NDArray[np.float64], NDArray[np.int64]]:
    """Sort the rows of distributions, find where each annotation starts, and check that each sums to 1."""
    try:
        w = np.array(weight, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"The weights must be numbers, one per row. Got {weight!r:.60} instead.") from None
    if w.ndim != 1:
        raise InputError(f"The weights must be numbers, one per row. Got the shape {w.shape} instead.")
    a = np.zeros(len(i), dtype=np.int64) if annotation is None else np.array(annotation, dtype=np.int64)
    if not len(w) == len(a) == len(i):
        raise InputError(f"Weights and annotations need one entry per row: {len(i)}. Got {len(w)} and {len(a)}.")

    def whose(row: int) -> str:
        return f"item {items[i[row]]!r} by annotator {annotators[j[row]]!r}"

    bad = np.flatnonzero(~((w >= 0) & (w <= 1 + SUM_TOLERANCE)))
    if bad.size:
        raise InputError(f"The annotation of {whose(bad[0])} has the weight {w[bad[0]]:.6g}, not one between 0 and 1.")
    order = np.lexsort((k, a, j, i))
    i, j, k, a, w = i[order], j[order], k[order], a[order], w[order]
    new = np.ones(len(i), dtype=np.bool_)
    new[1:] = (i[1:] != i[:-1]) | (j[1:] != j[:-1]) | (a[1:] != a[:-1])
    starts = np.flatnonzero(new)
    twice = np.flatnonzero(~new[1:] & (k[1:] == k[:-1]))
    if twice.size:
        raise InputError(f"The annotation of {whose(twice[0])} gives a weight to the same class twice.")
    total = np.add.reduceat(w, starts) if len(i) else np.zeros(0)
    bad = np.flatnonzero(np.abs(total - 1) > SUM_TOLERANCE)
    if bad.size:
        where = whose(starts[bad[0]])
        raise InputError(f"The annotation of {where} has weights that sum to {total[bad[0]]:.6g}, not to 1.")
    annotation_of_row = np.cumsum(new) - 1
    said = w > 0
    kept = np.bincount(annotation_of_row[said], minlength=len(starts))
    starts = np.concatenate([[0], np.cumsum(kept)]).astype(np.int64)
    return i[said], j[said], k[said], w[said], starts


def _same(left: NDArray[Any] | None, right: NDArray[Any] | None) -> bool:
    if left is None or right is None:
        return left is right
    return np.array_equal(left, right)


def _shortened(names: Sequence[str], most: int = 8) -> str:
    shown = ", ".join(map(repr, names[:most]))
    return shown if len(names) <= most else f"{shown}, … ({len(names)} in all)"
