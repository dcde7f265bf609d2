"""Gold: a reference class for each of some items."""

from __future__ import annotations

__all__ = ["Gold"]

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sfumato.core import storage
from sfumato.core.annotations import class_order
from sfumato.core.vocabulary import Vocabulary, check_vocabulary, code_names, counted
from sfumato.errors import InputError


@dataclass(frozen=True, eq=False)
class Gold:
    """The reference class of each of ``items``; ``labels`` are int32 codes into ``classes``, shape (n_items,).

    Gold need not cover every item that was judged, and its classes need not be those of the annotators.

    >>> gold = Gold.from_names(["a", "b"], ["yes", "no"])
    >>> gold.classes, gold.labels.tolist()
    (('no', 'yes'), [1, 0])
    """

    items: Vocabulary
    labels: NDArray[np.int32]
    classes: Vocabulary

    def __post_init__(self) -> None:
        for names, what in ((self.items, "item"), (self.classes, "class")):
            check_vocabulary(names, what=what)
        object.__setattr__(self, "items", tuple(self.items))
        object.__setattr__(self, "classes", tuple(self.classes))
        given = np.asarray(self.labels)
        if given.shape != (len(self.items),) or (given.size and given.dtype.kind not in "iu"):
            raise InputError(
                f"Gold needs one integer code per item: {len(self.items)}. Got {given.dtype} of shape {given.shape}."
            )
        outside = (given < 0) | (given >= len(self.classes))
        if outside.any():
            row = int(np.argmax(outside))
            raise InputError(
                f"The gold code {given[row]} of item {self.items[row]!r} points outside "
                f"the {counted(len(self.classes), 'class')} that were given."
            )
        labels = given.astype(np.int32)
        labels.flags.writeable = False
        object.__setattr__(self, "labels", labels)

    @classmethod
    def from_names(cls, items: Iterable[str], labels: Iterable[str], classes: Sequence[str] | None = None) -> Self:
        """Build gold from names; a label that is not in *classes* is refused.

        Without *classes* they are the labels, by value where all are numbers, else sorted.
        """
        codes, seen = code_names(labels)
        check_vocabulary(seen, what="gold label")
        ordered = tuple(classes) if classes is not None else class_order(seen)
        place = {name: code for code, name in enumerate(ordered)}
        unknown = [name for name in seen if name not in place]
        if unknown:
            raise InputError(
                f"The gold label {unknown[0]!r} is not one of the {counted(len(ordered), 'class')}. "
                "Add it to the classes, or correct the label."
            )
        return cls(tuple(items), np.array([place[name] for name in seen], dtype=np.int32)[codes], ordered)

    @property
    def n_items(self) -> int:
        return len(self.items)

    @property
    def n_classes(self) -> int:
        return len(self.classes)

    def names(self) -> Vocabulary:
        """Return the reference class of each item, by name."""
        return tuple(self.classes[code] for code in self.labels)

    def aligned(self, items: Sequence[str], classes: Sequence[str]) -> NDArray[np.int32]:
        """Return the gold of *items* as codes into *classes*, shape (len(items),).

        An item without gold has −1. Where the gold is a class that is not in *classes*, the code is len(classes): it
        equals no class that anybody could have named, so such an item counts as missed and is not left out.

        >>> Gold.from_names(["a", "b"], ["yes", "no"]).aligned(["b", "c", "a"], ["maybe", "no"]).tolist()
        [1, -1, 2]
        """
        place = {name: code for code, name in enumerate(classes)}
        # One entry more than there are classes, so that −1 (no gold) finds −1 at the end.
        code_of = np.array([*(place.get(name, len(classes)) for name in self.classes), -1], dtype=np.int32)
        rows = {name: row for row, name in enumerate(self.items)}
        found = np.array([rows.get(name, -1) for name in items], dtype=np.int64)
        own = np.append(self.labels, np.int32(-1))[found]
        result: NDArray[np.int32] = code_of[own]
        return result

    def save(self, path: str | PathLike[str]) -> None:
        """Write the columns ``item`` and ``label`` to a Parquet, Arrow, CSV, TSV or JSONL file, whole or not at all.

        Parquet and Arrow keep the list of classes; from the others they come back in the usual order, and without those
        that no item has, unless ``read_gold(path, classes=…)`` names them.
        """
        storage.save(self, path)

    @classmethod
    def load(cls, path: Any) -> Self:
        """Read gold from a file that `save` (or anybody) wrote, or from any Arrow table."""
        result: Self = storage.load(cls, path)
        return result

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return storage.arrow_stream(self, requested_schema)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Gold):
            return NotImplemented
        same = (self.items, self.classes) == (other.items, other.classes)
        return same and np.array_equal(self.labels, other.labels)

    __hash__ = None  # type: ignore[assignment]  # equal by content, as soft labels are

    def __repr__(self) -> str:
        return f"Gold({counted(self.n_items, 'item')}, {counted(self.n_classes, 'class')})"
