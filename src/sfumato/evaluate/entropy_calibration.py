"""Entropy calibration (EntCE): is the model as unsure as people are?"""

from __future__ import annotations

__all__ = ["entropy_calibration_error", "entropy_calibration_error_per_item", "entropy_calibration_part"]

import numpy as np
from numpy.typing import NDArray

from sfumato.evaluate.blocks import Block, each_of, mean_of
from sfumato.evaluate.pairing import Distributions, paired


def entropy_calibration_error(predicted: Distributions, people: Distributions) -> float:
    """Return the mean over items of |H(q) − H(p)| in nats; 0 to log K (EntCE, Baan et al. 2022, section 4).

    Both of shape (n_items, n_classes). It asks how much they disagree with themselves, not on what: a model that is
    sure of the wrong class has no error here where people are sure of the right one.

    >>> round(entropy_calibration_error([[0.5, 0.5]], [[1.0, 0.0]]), 4)
    0.6931
    """
    return mean_of(entropy_calibration_part, *paired(predicted, people))


def entropy_calibration_error_per_item(
    predicted: Distributions, people: Distributions, *, signed: bool = False
) -> NDArray[np.float64]:
    """Return |H(q) − H(p)| of each item, shape (n_items,); *signed* leaves the sign: above 0 the model is less sure."""
    gaps = each_of(_gap, *paired(predicted, people))
    return gaps if signed else np.abs(gaps)


def entropy_calibration_part(block: Block) -> NDArray[np.float64]:
    """Return |H(q) − H(p)| of each item of the block."""
    return np.abs(_gap(block))


def _gap(block: Block) -> NDArray[np.float64]:
    return block.entropy_q - block.entropy_p
