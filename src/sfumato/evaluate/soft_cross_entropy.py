"""Soft cross-entropy: how surprised the model is by what people say."""

from __future__ import annotations

__all__ = ["soft_cross_entropy_loss"]

import numpy as np

from sfumato.core.simplex import cross_entropy
from sfumato.evaluate.pairing import Distributions, paired


def soft_cross_entropy_loss(predicted: Distributions, people: Distributions, *, floor: float = 1e-12) -> float:
    """Return the mean over items of −Σ p log q in nats, p of people, q predicted (Uma et al. 2020, equation 1).

    Both of shape (n_items, n_classes). A q below *floor* counts as *floor*, so that one impossible class does not
    make the whole mean infinite; set it to 0 for the bare formula.

    >>> round(soft_cross_entropy_loss([[0.5, 0.5]], [[1.0, 0.0]]), 4)
    0.6931
    """
    q, p = paired(predicted, people)
    return float(np.mean(cross_entropy(p, q, floor=floor)))
