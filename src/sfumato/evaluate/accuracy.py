"""Accuracy: how often the most probable class is the gold class."""

from __future__ import annotations

__all__ = ["accuracy_score"]

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from sfumato.core.gold import Gold
from sfumato.errors import check_choice
from sfumato.evaluate.pairing import Distributions, gold_codes


def accuracy_score(
    predicted: Distributions, gold: ArrayLike | Gold, *, ties: Literal["first", "share"] = "first"
) -> float:
    """Return the share of items whose most probable class is the gold class; between 0 and 1.

    *predicted* of shape (n_items, n_classes); *gold* of shape (n_items,), class numbers, or a `Gold` table (items
    without gold are left out). Where several classes are most probable, the first counts, or each its share.

    >>> accuracy_score([[0.9, 0.1], [0.5, 0.5]], [0, 1]), accuracy_score([[0.9, 0.1], [0.5, 0.5]], [0, 1], ties="share")
    (0.5, 0.75)
    """
    check_choice(ties, ("first", "share"), option="ties")
    probs, codes = gold_codes(predicted, gold)
    if ties == "first":
        return float(np.mean(probs.argmax(axis=1) == codes))
    top = probs == probs.max(axis=1, keepdims=True)
    return float(np.mean(top[np.arange(len(codes)), codes] / top.sum(axis=1)))
