"""Confusion matrix: which class is taken for which."""

from __future__ import annotations

__all__ = ["confusion_matrix", "confusion_part", "total_confusion"]

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.core.gold import Gold
from sfumato.errors import check_choice
from sfumato.evaluate.accuracy import Ties
from sfumato.evaluate.blocks import Block, over_blocks, over_classes
from sfumato.evaluate.pairing import Distributions, gold_codes


def confusion_matrix(predicted: Distributions, gold: ArrayLike | Gold, *, ties: Ties = "first") -> NDArray[np.float64]:
    """Return how many items of each gold class (rows) have which most probable class (columns).

    *predicted* of shape (n_items, n_classes), *gold* of shape (n_items,) or a `Gold` table; the result has the shape
    (n_classes, n_classes). Gold classes that the predictions do not know have rows of their own below. Where several
    classes are most probable the first counts, or each its share.

    >>> confusion_matrix([[0.9, 0.1], [0.5, 0.5]], [0, 1]).tolist()
    [[1.0, 0.0], [1.0, 0.0]]
    >>> confusion_matrix([[0.9, 0.1], [0.5, 0.5]], [0, 1], ties="share").tolist()
    [[1.0, 0.0], [0.5, 0.5]]
    """
    check_choice(ties, ("first", "share"), option="ties")
    probs, codes = gold_codes(predicted, gold)
    return total_confusion(over_blocks(partial(confusion_part, ties=ties), probs, codes))


def confusion_part(block: Block, *, ties: Ties = "first") -> NDArray[np.float64]:
    """Return the confusion matrix of the block, with as many rows as the gold classes of the block need."""
    n_classes = block.predicted.shape[1]
    n_rows = max(n_classes, int(block.codes.max()) + 1)
    if ties == "first":
        cells = np.bincount(block.codes * n_classes + block.top, minlength=n_rows * n_classes)
        return cells.reshape(n_rows, n_classes).astype(np.float64)
    shares = (block.q == block.confidence) / over_classes(block.q == block.confidence)
    return np.stack([np.bincount(block.codes, weights=share, minlength=n_rows) for share in shares], axis=1)


def total_confusion(parts: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Return the sum of the confusion matrices of blocks."""
    result = np.zeros((max(map(len, parts)), parts[0].shape[1]))
    for part in parts:
        result[: len(part)] += part
    return result
