"""How sure the model is of its most probable class, and how right it is: what every calibration error starts from."""

from __future__ import annotations

__all__ = ["Bin", "equal_width_bins", "outcomes"]

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import OptionError
from sfumato.evaluate.blocks import Block

_Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Bin:
    """Items of similar confidence: how many, how sure the model was on average, how often it was right."""

    n: int
    confidence: float
    accuracy: float


def outcomes(block: Block) -> _Floats:
    """Return the confidence of each item of the block and how right it is, shape (2, n_items).

    Against gold right is 1 or 0; against people it is the share of them who say the class that the model says.
    """
    return np.stack([block.confidence, block.right])


def equal_width_bins(confidence: _Floats, right: _Floats, n_bins: int) -> tuple[_Floats, _Floats, _Floats]:
    """Return the number, summed confidence and summed rightness of the items in each of *n_bins* bins of (0, 1].

    Bins are open below and closed above, so that a confidence of exactly 1 falls into the last one; a confidence of 0
    falls into the first.
    """
    if n_bins < 1:
        raise OptionError(f"The option 'n_bins' must be 1 or more. Got {n_bins} instead.")
    place = np.clip(np.ceil(confidence * n_bins).astype(np.int64) - 1, 0, n_bins - 1)
    n: _Floats = np.bincount(place, minlength=n_bins).astype(np.float64)
    sure: _Floats = np.bincount(place, weights=confidence, minlength=n_bins).astype(np.float64)
    hits: _Floats = np.bincount(place, weights=right, minlength=n_bins).astype(np.float64)
    return n, sure, hits
