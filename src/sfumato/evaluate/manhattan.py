"""Manhattan distance between the model and people."""

from __future__ import annotations

__all__ = ["manhattan_error", "manhattan_error_per_item", "manhattan_part"]

import numpy as np
from numpy.typing import NDArray

from sfumato.evaluate.blocks import Block, each_of, mean_of
from sfumato.evaluate.pairing import Distributions, paired


def manhattan_error(predicted: Distributions, people: Distributions) -> float:
    """Return the mean over items of Σ |q − p|; 0 to 2 (the soft score of LeWiDi 2025, Leonardelli et al. 2025).

    Both of shape (n_items, n_classes).

    >>> round(manhattan_error([[0.6, 0.4], [1.0, 0.0]], [[0.5, 0.5], [0.0, 1.0]]), 6)
    1.1
    """
    return mean_of(manhattan_part, *paired(predicted, people))


def manhattan_error_per_item(predicted: Distributions, people: Distributions) -> NDArray[np.float64]:
    """Return Σ |q − p| of each item, shape (n_items,), in the order of *predicted*."""
    return each_of(manhattan_part, *paired(predicted, people))


def manhattan_part(block: Block) -> NDArray[np.float64]:
    """Return Σ |q − p| of each item of the block."""
    return block.distance
