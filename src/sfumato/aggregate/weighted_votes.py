"""Votes weighted by the skill of the annotator, and skill measured against an aggregate.

Both are sums over rows; the terms are rounded to a grid on which sums are exact, so that the order of the rows
does not show in the last bit.
"""

from __future__ import annotations

__all__ = ["agreement_with", "weighted_counts"]

import numpy as np
from numpy.typing import NDArray

from sfumato.core.annotations import Annotations
from sfumato.core.order_free import on_grid


def weighted_counts(annotations: Annotations, skill: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return Σ_j skill_j · weight over the annotations of each item and class, shape (n_items, n_classes)."""
    most = int(np.diff(annotations.offsets).max(initial=1))
    if annotations.is_hard:
        weights = on_grid(skill, most)[annotations.annotator]
    else:
        weights = on_grid(skill[annotations.annotator] * annotations.weight, most)
    return annotations.summed(weights)


def agreement_with(annotations: Annotations, probs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return for each annotator the mean over their annotations of Σ_k weight_k · probs(i, k); shape (n_annotators,).

    Against one-hot *probs* it is the share of answers equal to the aggregate. Annotators who said nothing get NaN.
    """
    annotator = annotations.annotator
    agreed = probs.ravel()[annotations.item.astype(np.int64) * annotations.n_classes + annotations.label]
    if not annotations.is_hard:
        agreed *= annotations.weight
    said = annotations.per_annotator()
    rows = np.bincount(annotator, minlength=annotations.n_annotators)
    total = np.bincount(annotator, weights=on_grid(agreed, int(rows.max(initial=1)), largest=1.0), minlength=len(rows))
    result = np.full(len(rows), np.nan)
    np.divide(total, said, out=result, where=said > 0)
    return result
