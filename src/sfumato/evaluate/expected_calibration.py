"""Expected calibration error: does 80 % sure mean right in 80 of 100 cases?"""

from __future__ import annotations

__all__ = ["Bin", "expected_calibration", "expected_calibration_error", "reliability"]

import numpy as np
from numpy.typing import NDArray

from sfumato.evaluate.blocks import each_of
from sfumato.evaluate.confidence import Bin, equal_width_bins, outcomes
from sfumato.evaluate.pairing import Distributions, Labels, labelled


def expected_calibration_error(predicted: Distributions, labels: Labels, *, n_bins: int = 15) -> float:
    """Return Σ n_b/n · |accuracy_b − confidence_b| over bins of equal width; 0 to 1 (Guo et al. 2017, equation 3).

    *predicted* of shape (n_items, n_classes). *labels* are gold (class numbers of shape (n_items,), or a `Gold`
    table), or soft labels of people: then a prediction is as right as the share of people who say the same.

    >>> round(expected_calibration_error([[0.9, 0.1], [0.9, 0.1]], [0, 1]), 3)
    0.4
    >>> round(expected_calibration_error([[0.9, 0.1]], [[0.8, 0.2]]), 3)
    0.1
    """
    return expected_calibration(each_of(outcomes, *labelled(predicted, labels)), n_bins=n_bins)


def reliability(predicted: Distributions, labels: Labels, *, n_bins: int = 15) -> list[Bin]:
    """Return the bins of equal width over the confidence (0, 1] that hold any item, from low to high.

    >>> reliability([[0.9, 0.1], [0.9, 0.1]], [0, 1], n_bins=10)
    [Bin(n=2, confidence=0.9, accuracy=0.5)]
    """
    confidence, right = each_of(outcomes, *labelled(predicted, labels))
    n, sure, hits = equal_width_bins(confidence, right, n_bins)
    return [Bin(int(n[b]), float(sure[b] / n[b]), float(hits[b] / n[b])) for b in np.flatnonzero(n)]


def expected_calibration(columns: NDArray[np.float64], *, n_bins: int = 15) -> float:
    """Return the error from the confidence and rightness of each item, shape (2, n_items)."""
    n, sure, hits = equal_width_bins(columns[0], columns[1], n_bins)
    return float(np.abs(hits - sure).sum() / n.sum())
