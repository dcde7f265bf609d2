"""Soft accuracy: the mass that model and people share."""

from __future__ import annotations

__all__ = ["soft_accuracy_part", "soft_accuracy_score", "soft_accuracy_score_per_item"]

import numpy as np
from numpy.typing import NDArray

from sfumato.evaluate.blocks import Block, each_of, mean_of, over_classes
from sfumato.evaluate.pairing import Distributions, paired


def soft_accuracy_score(predicted: Distributions, people: Distributions) -> float:
    """Return the mean over items of Σ min(q, p); 0 to 1 (Kurniawan et al. 2025, soft micro F1).

    Both of shape (n_items, n_classes). Where both are one-hot it is the accuracy.

    >>> soft_accuracy_score([[0.75, 0.25]], [[0.5, 0.5]])
    0.75
    """
    return mean_of(soft_accuracy_part, *paired(predicted, people))


def soft_accuracy_score_per_item(predicted: Distributions, people: Distributions) -> NDArray[np.float64]:
    """Return Σ min(q, p) of each item, shape (n_items,), in the order of *predicted*."""
    return each_of(soft_accuracy_part, *paired(predicted, people))


def soft_accuracy_part(block: Block) -> NDArray[np.float64]:
    """Return Σ min(q, p) of each item of the block."""
    return over_classes(np.minimum(block.q, block.p))
