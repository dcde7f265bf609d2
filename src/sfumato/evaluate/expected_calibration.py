"""Expected calibration error: does 80 % sure mean right in 80 of 100 cases?"""

from __future__ import annotations

__all__ = ["Bin", "expected_calibration_error", "reliability"]

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from sfumato.core.gold import Gold
from sfumato.errors import OptionError
from sfumato.evaluate.pairing import Distributions, gold_codes


@dataclass(frozen=True, slots=True)
class Bin:
    """Items of similar confidence: how many, how sure the model was on average, how often it was right."""

    n: int
    confidence: float
    accuracy: float


def reliability(predicted: Distributions, gold: ArrayLike | Gold, *, n_bins: int = 15) -> list[Bin]:
    """Return the bins of equal width over the confidence (0, 1] that hold any item, from low to high.

    >>> reliability([[0.9, 0.1], [0.9, 0.1]], [0, 1], n_bins=10)
    [Bin(n=2, confidence=0.9, accuracy=0.5)]
    """
    if n_bins < 1:
        raise OptionError(f"The option 'n_bins' must be 1 or more. Got {n_bins} instead.")
    probs, codes = gold_codes(predicted, gold)
    confidence = probs.max(axis=1)
    right = probs.argmax(axis=1) == codes
    # Bins are open below and closed above, so that a confidence of exactly 1 falls into the last one.
    place = np.clip(np.ceil(confidence * n_bins).astype(np.int64) - 1, 0, n_bins - 1)
    n = np.bincount(place, minlength=n_bins)
    sure = np.bincount(place, weights=confidence, minlength=n_bins)
    hits = np.bincount(place, weights=right, minlength=n_bins)
    return [Bin(int(n[b]), float(sure[b] / n[b]), float(hits[b] / n[b])) for b in np.flatnonzero(n)]


def expected_calibration_error(predicted: Distributions, gold: ArrayLike | Gold, *, n_bins: int = 15) -> float:
    """Return Σ n_b/n · |accuracy_b − confidence_b| over bins of equal width; 0 to 1 (Guo et al. 2017, equation 3).

    *predicted* of shape (n_items, n_classes); *gold* of shape (n_items,), class numbers, or a `Gold` table.

    >>> round(expected_calibration_error([[0.9, 0.1], [0.9, 0.1]], [0, 1]), 3)
    0.4
    """
    bins = reliability(predicted, gold, n_bins=n_bins)
    total = sum(part.n for part in bins)
    return sum(part.n / total * abs(part.accuracy - part.confidence) for part in bins)
