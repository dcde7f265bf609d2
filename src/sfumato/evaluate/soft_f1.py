"""Soft F1: F1 with the shared mass of model and people in the place of right items."""

from __future__ import annotations

__all__ = ["class_masses", "soft_f1", "soft_f1_score"]

import math
from typing import overload

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import check_choice
from sfumato.evaluate.blocks import Block, over_blocks
from sfumato.evaluate.f1 import Average
from sfumato.evaluate.pairing import Distributions, paired

_Floats = NDArray[np.float64]


@overload
def soft_f1_score(predicted: Distributions, people: Distributions, *, average: Average = "macro") -> float: ...
@overload
def soft_f1_score(predicted: Distributions, people: Distributions, *, average: None) -> _Floats: ...
def soft_f1_score(
    predicted: Distributions, people: Distributions, *, average: Average | None = "macro"
) -> float | _Floats:
    """Return 2·Σ min(q, p) / (Σ q + Σ p), sums over items, for each class or averaged; 0 to 1 (Kurniawan et al. 2025).

    Both of shape (n_items, n_classes). "macro" is the plain mean over classes, "weighted" weights them by the mass
    that people give, "micro" takes all classes together and equals the soft accuracy. A class without any mass on
    either side has none (nan) and is left out of the mean. Where both are one-hot it is the F1 score.

    >>> soft_f1_score([[1.0, 0.0], [0.5, 0.5]], [[0.5, 0.5], [0.5, 0.5]], average=None).tolist()
    [0.8, 0.6666666666666666]
    """
    if average is not None:
        check_choice(average, ("macro", "micro", "weighted"), option="average")
    q, p = paired(predicted, people)
    return soft_f1(np.sum(over_blocks(class_masses, q, p), axis=0), average)


def class_masses(block: Block) -> _Floats:
    """Return Σ min(q, p), Σ q and Σ p over the items of the block, shape (3, n_classes)."""
    return np.stack([np.minimum(block.q, block.p).sum(axis=1), block.q.sum(axis=1), block.p.sum(axis=1)])


def soft_f1(masses: _Floats, average: Average | None = "macro") -> float | _Floats:
    """Return the soft F1 from the masses of the classes, shape (3, n_classes)."""
    shared, predicted, people = masses
    both = predicted + people
    if average == "micro":
        return float(2 * shared.sum() / both.sum())
    of_classes = np.divide(2 * shared, both, out=np.full_like(both, math.nan), where=both > 0)
    if average is None:
        every: _Floats = of_classes
        return every
    if average == "weighted":
        return float(np.nansum(of_classes * people) / people.sum())
    return float(of_classes[both > 0].mean())
