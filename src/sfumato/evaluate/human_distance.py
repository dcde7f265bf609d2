"""Distance to the human distribution (DistCE)."""

from __future__ import annotations

__all__ = ["human_distance_error", "human_distance_error_per_item", "human_distance_part"]

import numpy as np
from numpy.typing import NDArray

from sfumato.evaluate.blocks import Block, each_of, mean_of
from sfumato.evaluate.pairing import Distributions, paired


def human_distance_error(predicted: Distributions, people: Distributions) -> float:
    """Return the mean over items of ½ Σ |q − p|, the total variation distance; 0 to 1 (DistCE, Baan et al. 2022).

    Both of shape (n_items, n_classes). It is the largest difference between the two in the probability of any set of
    classes, half of the Manhattan distance, and 1 minus the soft accuracy.

    >>> human_distance_error([[0.75, 0.25]], [[0.5, 0.5]])
    0.25
    """
    return mean_of(human_distance_part, *paired(predicted, people))


def human_distance_error_per_item(predicted: Distributions, people: Distributions) -> NDArray[np.float64]:
    """Return ½ Σ |q − p| of each item, shape (n_items,), in the order of *predicted*."""
    return each_of(human_distance_part, *paired(predicted, people))


def human_distance_part(block: Block) -> NDArray[np.float64]:
    """Return ½ Σ |q − p| of each item of the block."""
    return block.distance / 2
