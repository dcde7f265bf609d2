"""Predictions: a model's distribution for each item."""

from __future__ import annotations

__all__ = ["Predictions"]

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.core.origin import GIVEN, Origin
from sfumato.core.simplex import softmax
from sfumato.core.soft_labels import SoftLabels, check_shape, frozen, same_or_none
from sfumato.core.vocabulary import counted, positions
from sfumato.errors import InputError


@dataclass(frozen=True, eq=False)
class Predictions(SoftLabels):
    """What a model says: the shape of `SoftLabels`, plus the logits of shape (n_items, n_classes) where known.

    >>> Predictions.from_logits([[0.0, 0.0]], items=["a"], classes=["cat", "dog"]).probs.tolist()
    [[0.5, 0.5]]
    """

    origin: Origin = GIVEN
    logits: NDArray[np.floating[Any]] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.logits is not None:
            logits = frozen(self.logits)
            check_shape(logits, self.items, self.classes, what="logits")
            if not np.isfinite(logits).all():
                row = int(np.argmin(np.isfinite(logits).all(axis=1)))
                raise InputError(f"The logits of item {self.items[row]!r} hold a value that is not a finite number.")
            object.__setattr__(self, "logits", logits)

    @classmethod
    def from_logits(
        cls, logits: ArrayLike, *, items: Sequence[str], classes: Sequence[str], origin: Origin | None = None
    ) -> Self:
        """Return the predictions that softmax makes of the logits."""
        logits = frozen(logits)
        check_shape(logits, items, classes, what="logits")
        return cls(
            softmax(logits), items=tuple(items), classes=tuple(classes), logits=logits,
            origin=origin or GIVEN,
        )  # fmt: skip

    def take(self, items: Sequence[str]) -> Self:
        """Return the predictions for *items*, in that order."""
        rows = positions(self.items, items, what="item")
        taken = super().take(items) if self.logits is None else replace(self, logits=None).take(items)
        return taken if self.logits is None else replace(taken, logits=self.logits[rows])

    def with_classes(self, classes: Sequence[str]) -> Self:
        """Return the same predictions with the classes in another order (the same classes)."""
        if self.logits is None:
            return super().with_classes(classes)
        reordered = replace(self, logits=None).with_classes(classes)
        return replace(reordered, logits=self.logits[:, positions(self.classes, classes, what="class")])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Predictions):
            return NotImplemented
        return super().__eq__(other) is True and same_or_none(self.logits, other.logits)

    __hash__ = None  # as for soft labels

    def __repr__(self) -> str:
        size = f"{counted(self.n_items, 'item')}, {counted(self.n_classes, 'class')}"
        return f"Predictions({size}, from {self.origin.method!r})"
