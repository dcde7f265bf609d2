"""Soft cross-entropy: how surprised the model is by what people say."""

from __future__ import annotations

__all__ = ["soft_cross_entropy_loss", "soft_cross_entropy_loss_per_item", "soft_cross_entropy_part"]

import math
from functools import partial

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import OptionError
from sfumato.evaluate.blocks import Block, each_of, mean_of, over_classes
from sfumato.evaluate.pairing import Distributions, paired

_FLOOR = 1e-12


def soft_cross_entropy_loss(predicted: Distributions, people: Distributions, *, floor: float = _FLOOR) -> float:
    """Return the mean over items of −Σ p log q in nats, p of people, q predicted (Uma et al. 2020, equation 1).

    Both of shape (n_items, n_classes). A q below *floor* counts as *floor*, so that one impossible class does not
    make the whole mean infinite; set it to 0 for the bare formula.

    >>> round(soft_cross_entropy_loss([[0.5, 0.5]], [[1.0, 0.0]]), 4)
    0.6931
    """
    return mean_of(partial(soft_cross_entropy_part, floor=_checked(floor)), *paired(predicted, people))


def soft_cross_entropy_loss_per_item(
    predicted: Distributions, people: Distributions, *, floor: float = _FLOOR
) -> NDArray[np.float64]:
    """Return −Σ p log q of each item, shape (n_items,), in the order of *predicted*."""
    return each_of(partial(soft_cross_entropy_part, floor=_checked(floor)), *paired(predicted, people))


def soft_cross_entropy_part(block: Block, *, floor: float = _FLOOR) -> NDArray[np.float64]:
    """Return −Σ p log max(q, floor) of each item of the block."""
    if floor > 0:
        logs = np.maximum(block.log_q, math.log(floor))
        return np.abs(over_classes(block.p * logs))
    losses: NDArray[np.float64] = np.abs(over_classes(block.p * block.log_q))
    losses[((block.q == 0) & (block.p > 0)).any(axis=0)] = math.inf
    return losses


def _checked(floor: float) -> float:
    if not 0 <= floor < 1:
        raise OptionError(f"The option 'floor' must be 0 or more and below 1. Got {floor} instead.")
    return floor
