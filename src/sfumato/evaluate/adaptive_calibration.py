"""Adaptive RMS calibration error: the gap between confidence and accuracy in bins of equally many items."""

from __future__ import annotations

__all__ = ["adaptive_rms_calibration", "adaptive_rms_calibration_error"]

import math

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import OptionError
from sfumato.evaluate.blocks import each_of
from sfumato.evaluate.confidence import outcomes
from sfumato.evaluate.pairing import Distributions, Labels, labelled


def adaptive_rms_calibration_error(
    probs: Distributions, labels: Labels, *, bin_size: int = 100, as_published: bool = False
) -> float:
    """Return √(Σ n_b/n · (accuracy_b − confidence_b)²), 0 to 1 (Hendrycks et al. 2019, section 4, and 2022).

    *probs* of shape (n_items, n_classes). *labels* are gold (class numbers of shape (n_items,), or a `Gold` table), or
    soft labels of people: then a prediction is as right as the share of people who say the same. Items are sorted by
    confidence and cut into bins of *bin_size*; the last bin takes what is left over, and fewer items than that are one
    bin. Items of equal confidence count as equally right, so that the order of the rows does not matter.

    *as_published* repeats the released program: it leaves out the last bin, so that fewer than two bins give 0, and
    takes items of equal confidence in the order of the rows.

    >>> round(adaptive_rms_calibration_error([[0.9, 0.1], [0.8, 0.2]], [0, 0], bin_size=1), 4)
    0.1581
    >>> adaptive_rms_calibration_error([[0.9, 0.1], [0.9, 0.1]], [0, 1], as_published=True)
    0.0
    """
    columns = each_of(outcomes, *labelled(probs, labels))
    return adaptive_rms_calibration(columns, bin_size=bin_size, as_published=as_published)


def adaptive_rms_calibration(columns: NDArray[np.float64], *, bin_size: int = 100, as_published: bool = False) -> float:
    """Return the error from the confidence and rightness of each item, shape (2, n_items)."""
    if bin_size < 1:
        raise OptionError(f"The option 'bin_size' must be 1 or more. Got {bin_size} instead.")
    order = np.argsort(columns[0], kind="stable" if as_published else None)
    confidence, right = columns[:, order]
    if not as_published:
        right = _even_within_ties(confidence, right)
    n_items = len(confidence)
    starts = np.arange(max(n_items // bin_size, 1)) * bin_size
    counts = np.diff(np.append(starts, n_items))
    gaps = np.add.reduceat(right - confidence, starts) / counts
    kept = slice(0, len(starts) - 1) if as_published else slice(None)
    return math.sqrt(float((counts * gaps**2)[kept].sum() / n_items))


def _even_within_ties(confidence: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.float64]:
    new = np.concatenate([[True], confidence[1:] != confidence[:-1]])
    if new.all():
        return right
    starts = np.flatnonzero(new)
    lengths = np.diff(np.append(starts, len(confidence)))
    return np.repeat(np.add.reduceat(right, starts) / lengths, lengths)
