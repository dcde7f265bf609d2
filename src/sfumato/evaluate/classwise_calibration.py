"""Classwise calibration error: the calibration of every class, not of the most probable one alone."""

from __future__ import annotations

__all__ = ["classwise_bins", "classwise_calibration", "classwise_calibration_error"]

from functools import partial

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import OptionError
from sfumato.evaluate.blocks import Block, over_blocks
from sfumato.evaluate.pairing import Distributions, Labels, labelled


def classwise_calibration_error(predicted: Distributions, labels: Labels, *, n_bins: int = 15) -> float:
    """Return 1/K · Σ_k Σ_b n_bk/n · |share_bk − mean q_bk| over bins of equal width of each class; 0 to 1.

    *predicted* of shape (n_items, n_classes). *labels* are gold (class numbers of shape (n_items,), or a `Gold`
    table), or soft labels of people. In bin b of class k are the items to which the model gives class k a probability
    of that size; share_bk is how much of them is of class k (Kull et al. 2019, equation 5).

    >>> round(classwise_calibration_error([[0.9, 0.1], [0.9, 0.1]], [0, 1]), 3)
    0.4
    """
    if n_bins < 1:
        raise OptionError(f"The option 'n_bins' must be 1 or more. Got {n_bins} instead.")
    q, known = labelled(predicted, labels)
    return classwise_calibration(np.sum(over_blocks(partial(classwise_bins, n_bins=n_bins), q, known), axis=0), len(q))


def classwise_bins(block: Block, *, n_bins: int = 15) -> NDArray[np.float64]:
    """Return Σ (share − q) over the items of the block in each bin of each class, shape (n_classes, n_bins)."""
    n_classes = len(block.q)
    if block.labels.ndim == 1:
        gaps = -block.q
        known = np.flatnonzero(block.codes < n_classes)
        gaps[block.codes[known], known] += 1
    else:
        gaps = -block.gap
    # As in `equal_width_bins`: open below, closed above.
    place = np.ceil(block.q * n_bins)
    place -= 1
    np.clip(place, 0, n_bins - 1, out=place)
    place += np.arange(0, n_classes * n_bins, n_bins)[:, None]
    sums = np.bincount(place.ravel().astype(np.intp), weights=gaps.ravel(), minlength=n_classes * n_bins)
    return sums.astype(np.float64).reshape(n_classes, n_bins)


def classwise_calibration(gaps: NDArray[np.float64], n_items: int) -> float:
    """Return the error from the summed gaps of each bin of each class."""
    return float(np.abs(gaps).sum() / (n_items * len(gaps)))
