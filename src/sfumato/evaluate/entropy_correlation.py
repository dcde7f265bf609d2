"""Entropy correlation: is the model unsure where people disagree?"""

from __future__ import annotations

__all__ = ["entropies", "entropy_correlation", "entropy_correlation_score"]

import math

import numpy as np
from numpy.typing import NDArray

from sfumato.evaluate.blocks import Block, each_of
from sfumato.evaluate.pairing import Distributions, paired


def entropy_correlation_score(predicted: Distributions, people: Distributions) -> float:
    """Return Pearson's r over items between the normalised entropies of both; −1 to 1 (Uma et al. 2020, section 4).

    Both of shape (n_items, n_classes). Where one of them has the same entropy for every item there is no
    correlation to speak of, and the result is nan.

    >>> entropy_correlation_score([[0.6, 0.4], [0.9, 0.1]], [[0.5, 0.5], [1.0, 0.0]])
    1.0
    """
    return entropy_correlation(each_of(entropies, *paired(predicted, people)))


def entropies(block: Block) -> NDArray[np.float64]:
    """Return the normalised entropies of model and people for each item of the block, shape (2, n_items)."""
    # Of a single class the entropy is 0, whatever it is divided by.
    return np.stack([block.entropy_q, block.entropy_p]) / math.log(max(len(block.q), 2))


def entropy_correlation(columns: NDArray[np.float64]) -> float:
    """Return Pearson's r between the two rows of *columns*."""
    x, y = columns
    # A spread that is rounding and nothing else is no spread.
    if len(x) < 2 or min(np.ptp(x), np.ptp(y)) < 1e-12:
        return math.nan
    x, y = x - x.mean(), y - y.mean()
    return float(np.clip((x @ y) / math.sqrt((x @ x) * (y @ y)), -1, 1))
