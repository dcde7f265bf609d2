"""Brier score against soft labels: the squared distance, so lower is better and it is called an error here."""

from __future__ import annotations

__all__ = ["brier_error", "brier_error_per_item", "brier_part"]

import numpy as np
from numpy.typing import NDArray

from sfumato.evaluate.blocks import Block, each_of, mean_of, over_classes
from sfumato.evaluate.pairing import Distributions, paired


def brier_error(predicted: Distributions, people: Distributions) -> float:
    """Return the mean over items of Σ (q − p)²; 0 to 2 (Brier 1950, equation 2, with shares of people as outcomes).

    Both of shape (n_items, n_classes); one-hot labels give the usual score over all classes. With K = 2 it is twice
    the score that looks at one class alone.

    >>> brier_error([[0.75, 0.25]], [[0.5, 0.5]])
    0.125
    """
    return mean_of(brier_part, *paired(predicted, people))


def brier_error_per_item(predicted: Distributions, people: Distributions) -> NDArray[np.float64]:
    """Return Σ (q − p)² of each item, shape (n_items,), in the order of *predicted*."""
    return each_of(brier_part, *paired(predicted, people))


def brier_part(block: Block) -> NDArray[np.float64]:
    """Return Σ (q − p)² of each item of the block."""
    return over_classes(np.square(block.gap))
