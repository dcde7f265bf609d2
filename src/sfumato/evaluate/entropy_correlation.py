"""Entropy correlation: is the model unsure where people disagree?"""

from __future__ import annotations

__all__ = ["entropy_correlation_score"]

import math

import numpy as np

from sfumato.core.simplex import entropy
from sfumato.evaluate.pairing import Distributions, paired


def entropy_correlation_score(predicted: Distributions, people: Distributions) -> float:
    """Return Pearson's r over items between the normalised entropies of both; −1 to 1 (Uma et al. 2020, section 4).

    Both of shape (n_items, n_classes). Where one of them has the same entropy for every item there is no
    correlation to speak of, and the result is nan.

    >>> entropy_correlation_score([[0.6, 0.4], [0.9, 0.1]], [[0.5, 0.5], [1.0, 0.0]])
    1.0
    """
    q, p = paired(predicted, people)
    x, y = entropy(q, normalised=True), entropy(p, normalised=True)
    # A spread that is rounding and nothing else is no spread.
    if len(x) < 2 or min(np.ptp(x), np.ptp(y)) < 1e-12:
        return math.nan
    x, y = x - x.mean(), y - y.mean()
    return float(np.clip((x @ y) / math.sqrt((x @ x) * (y @ y)), -1, 1))
