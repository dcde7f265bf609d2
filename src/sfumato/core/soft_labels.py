"""Soft labels: a distribution over the classes for each item, and where it comes from."""

from __future__ import annotations

__all__ = ["SoftLabels", "check_shape", "fingerprints", "frozen", "same_or_none"]

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sfumato.core import storage
from sfumato.core.origin import GIVEN, Origin, fingerprint_of, hash_of_names, with_arrays
from sfumato.core.row_blocks import over_blocks
from sfumato.core.simplex import check_simplex
from sfumato.core.vocabulary import Vocabulary, check_vocabulary, counted, positions
from sfumato.errors import InputError


@dataclass(frozen=True, eq=False)
class SoftLabels:
    """A distribution over ``classes`` for each of ``items``.

    ``probs`` has shape (n_items, n_classes), float64 (or float32 where that was asked for), rows on the simplex;
    ``uncertainty``, shape (n_items,), is optional and says how unsure the method is of its own soft label.

    >>> soft = SoftLabels([[0.7, 0.3], [0.0, 1.0]], items=["a", "b"], classes=["cat", "dog"])
    >>> soft["b"].tolist(), soft.top()
    ([0.0, 1.0], ('cat', 'dog'))
    """

    probs: NDArray[np.floating[Any]]
    items: Vocabulary
    classes: Vocabulary
    origin: Origin = GIVEN
    uncertainty: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        for names, what in ((self.items, "item"), (self.classes, "class")):
            check_vocabulary(names, what=what)
        object.__setattr__(self, "items", tuple(self.items))
        object.__setattr__(self, "classes", tuple(self.classes))
        probs = frozen(self.probs)
        check_shape(probs, self.items, self.classes, what="probabilities")
        check_simplex(probs, names=self.items)
        object.__setattr__(self, "probs", probs)
        if self.uncertainty is not None:
            uncertainty = np.array(self.uncertainty, dtype=np.float64)
            if uncertainty.shape != (len(self.items),):
                raise InputError(f"uncertainty needs one number per item. Got the shape {uncertainty.shape}.")
            uncertainty.flags.writeable = False
            object.__setattr__(self, "uncertainty", uncertainty)

    @classmethod
    def trusted(cls, probs: NDArray[np.floating[Any]], items: Vocabulary, classes: Vocabulary, origin: Origin) -> Self:
        """Return soft labels without looking at them again: for rows on the simplex by construction, under names
        that annotations or soft labels already carry. *probs* is taken over and becomes read-only."""
        probs.flags.writeable = False
        result = object.__new__(cls)
        for name, value in (("probs", probs), ("items", items), ("classes", classes), ("origin", origin)):
            object.__setattr__(result, name, value)
        object.__setattr__(result, "uncertainty", None)
        return result

    @property
    def n_items(self) -> int:
        return len(self.items)

    @property
    def n_classes(self) -> int:
        return len(self.classes)

    @cached_property
    def fingerprint(self) -> str:
        """A short hash of items, classes and probabilities."""
        return fingerprint_of((self.items, self.classes), (self.probs,))

    def top(self) -> Vocabulary:
        """Return the most probable class of each item; ties go to the first class."""
        return tuple(self.classes[k] for k in self.probs.argmax(axis=1))

    def take(self, items: Sequence[str]) -> Self:
        """Return the soft labels of *items*, in that order."""
        rows = positions(self.items, items, what="item")
        uncertainty = None if self.uncertainty is None else self.uncertainty[rows]
        return replace(self, probs=self.probs[rows], items=tuple(items), uncertainty=uncertainty)

    def with_classes(self, classes: Sequence[str]) -> Self:
        """Return the same soft labels with the classes in another order (the same classes)."""
        if len(classes) != self.n_classes:
            raise InputError(
                f"The soft labels have {counted(self.n_classes, 'class')}; the order that was given has {len(classes)}."
            )
        columns = positions(self.classes, classes, what="class")
        return replace(self, probs=self.probs[:, columns], classes=tuple(classes))

    def save(self, path: str | PathLike[str]) -> None:
        """Write the soft labels to a Parquet, Arrow, CSV, TSV or JSONL file, whole or not at all.

        CSV and TSV hold the column ``item`` and one column per class, named by the class: the uncertainty, the logits
        of predictions and the origin are not in them. JSONL holds uncertainty and logits too, Parquet and Arrow
        everything, the origin included. Numbers come back equal to the last bit from each of them.
        """
        storage.save(self, path)

    @classmethod
    def load(cls, path: Any) -> Self:
        """Read soft labels from a file that `save` (or anybody) wrote, or from any Arrow table."""
        result: Self = storage.load(cls, path)
        return result

    def __getitem__(self, item: str) -> NDArray[np.floating[Any]]:
        """Return the distribution of one item, by name."""
        distribution: NDArray[np.floating[Any]] = self.probs[self._rows[item]]
        return distribution

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {name: row for row, name in enumerate(self.items)}

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return storage.arrow_stream(self, requested_schema)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        same = (self.items, self.classes, self.origin) == (other.items, other.classes, other.origin)
        return same and np.array_equal(self.probs, other.probs) and same_or_none(self.uncertainty, other.uncertainty)

    __hash__ = None  # type: ignore[assignment]  # equal by content, and content this large is no key

    def __repr__(self) -> str:
        size = f"{counted(self.n_items, 'item')}, {counted(self.n_classes, 'class')}"
        return f"SoftLabels({size}, from {self.origin.method!r})"


def frozen(values: Any) -> NDArray[np.floating[Any]]:
    """Return the values as a read-only array of float64 (float32 stays), copied unless nobody can write to it."""
    try:
        array = np.asarray(values)
        if array.dtype not in (np.float32, np.float64):
            array = array.astype(np.float64)
    except (TypeError, ValueError):
        shown = repr(values)
        shown = shown if len(shown) <= 60 else f"{shown[:60]}…"
        raise InputError(f"A table of numbers is wanted, a row for each item. Got {shown} instead.") from None
    owner = array if array.base is None else array.base
    if array.flags.writeable or (isinstance(owner, np.ndarray) and owner.flags.writeable):
        array = array.copy()
        array.flags.writeable = False
    return np.ascontiguousarray(array)


def check_shape(values: NDArray[Any], items: Sequence[str], classes: Sequence[str], *, what: str) -> None:
    """Raise an `InputError` unless *values* is (n_items, n_classes)."""
    if values.shape != (len(items), len(classes)):
        raise InputError(
            f"The {what} must have the shape (items, classes) = ({len(items)}, {len(classes)}). "
            f"Got {values.shape} instead."
        )


def same_or_none(left: NDArray[Any] | None, right: NDArray[Any] | None) -> bool:
    """Return whether two optional arrays are equal."""
    return left is right if left is None or right is None else np.array_equal(left, right)


def fingerprints(tables: Sequence[SoftLabels]) -> list[str]:
    """Return the fingerprint of each table, which keeps it; names that tables share are hashed once."""
    new = [table for table in tables if "fingerprint" not in table.__dict__]
    names = {}
    for table in new:
        if (shared := (id(table.items), id(table.classes))) not in names:
            names[shared] = hash_of_names((table.items, table.classes))

    def make(place: int, _: int) -> None:
        table = new[place]
        table.__dict__["fingerprint"] = with_arrays(names[id(table.items), id(table.classes)], (table.probs,))

    over_blocks(make, len(new), 1)
    return [table.fingerprint for table in tables]
