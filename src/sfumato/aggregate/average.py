"""The average of views."""

from __future__ import annotations

__all__ = ["average"]

import numpy as np

from sfumato.aggregate.joining import JoinResult, ViewNames, Views, Weights, aligned, join_result
from sfumato.core.seeds import Seed


def average(
    views: Views, *, names: ViewNames | None = None, weights: Weights | None = None, seed: Seed = 0
) -> JoinResult:
    """Return the weighted mean of the views, shape (n_items, n_classes).

    q = Σ_m w_m p_m with Σ w = 1 (Wright and Augenstein 2024, Equation 1). *views* are soft labels of the same items
    and classes, or annotations, of which the views *names* are then made.

    >>> from sfumato.core.soft_labels import SoftLabels
    >>> first = SoftLabels([[1.0, 0.0]], items=["a"], classes=["cat", "dog"])
    >>> second = SoftLabels([[0.5, 0.5]], items=["a"], classes=["cat", "dog"])
    >>> average([first, second], weights=[3, 1]).soft_labels.probs.tolist()
    [[0.875, 0.125]]
    """
    given = aligned(views, names=names, weights=weights, seed=seed)
    probs = np.zeros(given.probs[0].shape)
    weighted = np.empty_like(probs)
    for view, weight in zip(given.probs, given.weights, strict=True):
        probs += np.multiply(view, weight, out=weighted)
    return join_result(given, probs, "average", {}, seed)
