"""Blocks of items: what a metric looks at, classes first, small enough to stay in the cache.

A metric is a sum over classes for each item. On arrays of shape (n_items, n_classes) NumPy adds up ten numbers at a
time; on a transposed block it adds up thousands, ten times quicker. The blocks also bound the memory: whatever the
number of items, only a few blocks are at work.
"""

from __future__ import annotations

__all__ = ["Block", "Part", "each_of", "logarithm", "mean_of", "over_blocks", "over_classes"]

import math
from collections.abc import Callable
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from sfumato.core import row_blocks

Floats = NDArray[np.float64]
Made = TypeVar("Made")

# Numbers in one array of a block, half a mebibyte. Smaller ones would all lie in the second level of the cache, but the
# calls would be so short that threads wait for the interpreter: the whole room takes a third more time at an eighth.
_NUMBERS = 1 << 16
# The smallest number above zero: below it there is only zero itself, so a logarithm that is floored here is exact
# for everything that has one, and 0 · log 0 comes out as 0 without a mask.
_SMALLEST = 5e-324


class Block:
    """Some items: ``q`` predicted and ``p`` of people, of shape (n_classes, n_items), or their gold ``codes``.

    Everything that several metrics need is worked out once, when the first of them asks.
    """

    def __init__(self, predicted: NDArray[np.floating[Any]], labels: NDArray[Any]) -> None:
        self.predicted = predicted
        self.labels = labels

    @cached_property
    def q(self) -> Floats:
        return np.ascontiguousarray(self.predicted.T, dtype=np.float64)

    @cached_property
    def p(self) -> Floats:
        return np.ascontiguousarray(self.labels.T, dtype=np.float64)

    @property
    def codes(self) -> NDArray[np.int64]:
        return self.labels

    @cached_property
    def log_q(self) -> Floats:
        return logarithm(self.q)

    @cached_property
    def log_p(self) -> Floats:
        return logarithm(self.p)

    @cached_property
    def entropy_q(self) -> Floats:
        return -over_classes(self.q * self.log_q)

    @cached_property
    def entropy_p(self) -> Floats:
        return -over_classes(self.p * self.log_p)

    @cached_property
    def gap(self) -> Floats:
        """q − p, shape (n_classes, n_items)."""
        return self.q - self.p

    @cached_property
    def distance(self) -> Floats:
        """Σ |q − p|, shape (n_items,)."""
        return over_classes(np.abs(self.gap))

    @cached_property
    def confidence(self) -> Floats:
        """The largest probability of each item, shape (n_items,)."""
        largest: Floats = self.q.max(axis=0)
        return largest

    @cached_property
    def top(self) -> NDArray[np.int64]:
        """The most probable class of each item, the first of several."""
        first: NDArray[np.int64] = self.predicted.argmax(axis=1)
        return first

    @cached_property
    def right(self) -> Floats:
        """How right the most probable class is: 1 or 0 against gold, the share of people who say it against people."""
        if self.labels.ndim == 1:
            hits: Floats = (self.top == self.codes).astype(np.float64)
            return hits
        shares: Floats = self.labels[np.arange(len(self.labels)), self.top].astype(np.float64)
        return shares


# What a metric says of one block: a number for each item, shape (n_items,), or columns of shape (n, n_items).
Part = Callable[[Block], Floats]


def over_blocks(
    work: Callable[[Block], Made], predicted: NDArray[np.floating[Any]], labels: NDArray[Any]
) -> list[Made]:
    """Return work(block) for consecutive blocks of items, in their order; blocks never depend on the threads."""
    n_items, n_classes = predicted.shape
    size = max(16, _NUMBERS // n_classes)

    def one(start: int, stop: int) -> Made:
        return work(Block(predicted[start:stop], labels[start:stop]))

    return row_blocks.over_blocks(one, n_items, size)


def each_of(part: Part, predicted: NDArray[np.floating[Any]], labels: NDArray[Any]) -> Floats:
    """Return what *part* says of each item, shape (n_items,) or (n, n_items), in the order of the items."""
    return np.concatenate(over_blocks(part, predicted, labels), axis=-1)


def mean_of(part: Part, predicted: NDArray[np.floating[Any]], labels: NDArray[Any]) -> float:
    """Return the mean over items of what *part* says of each."""
    sums = over_blocks(lambda block: float(part(block).sum()), predicted, labels)
    return math.fsum(sums) / len(predicted)


def over_classes(values: NDArray[Any]) -> Floats:
    """Return the sum over the classes, the first axis, for each item."""
    sums: Floats = values.sum(axis=0)
    return sums


def logarithm(values: Floats) -> Floats:
    """Return the logarithms, finite at zero too, so that 0 · log 0 = 0."""
    return np.log(np.maximum(values, _SMALLEST))
