"""Accuracy: how often the most probable class is the gold class."""

from __future__ import annotations

__all__ = ["accuracy_part", "accuracy_score", "accuracy_score_per_item"]

from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.core.gold import Gold
from sfumato.errors import check_choice
from sfumato.evaluate.blocks import Block, each_of, mean_of, over_classes
from sfumato.evaluate.pairing import Distributions, gold_codes

Ties = Literal["first", "share"]


def accuracy_score(predicted: Distributions, gold: ArrayLike | Gold, *, ties: Ties = "first") -> float:
    """Return the share of items whose most probable class is the gold class; between 0 and 1.

    *predicted* of shape (n_items, n_classes); *gold* of shape (n_items,), class numbers, or a `Gold` table (items
    without gold are left out). Where several classes are most probable, the first counts, or each its share.

    >>> accuracy_score([[0.9, 0.1], [0.5, 0.5]], [0, 1]), accuracy_score([[0.9, 0.1], [0.5, 0.5]], [0, 1], ties="share")
    (0.5, 0.75)
    """
    check_choice(ties, ("first", "share"), option="ties")
    return mean_of(partial(accuracy_part, ties=ties), *gold_codes(predicted, gold))


def accuracy_score_per_item(
    predicted: Distributions, gold: ArrayLike | Gold, *, ties: Ties = "first"
) -> NDArray[np.float64]:
    """Return 1 for each item that is right and 0 for each that is wrong, of the items that have gold."""
    check_choice(ties, ("first", "share"), option="ties")
    return each_of(partial(accuracy_part, ties=ties), *gold_codes(predicted, gold))


def accuracy_part(block: Block, *, ties: Ties = "first") -> NDArray[np.float64]:
    """Return how right the most probable class of each item of the block is."""
    if ties == "first":
        return block.right
    # A gold class that the predictions do not know has no column, and no share.
    known = block.codes < len(block.q)
    chosen = block.q[np.where(known, block.codes, 0), np.arange(len(known))]
    shares: NDArray[np.float64] = (known & (chosen == block.confidence)) / over_classes(block.q == block.confidence)
    return shares
