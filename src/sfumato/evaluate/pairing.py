"""The door of every metric: two tables become two arrays whose rows and columns mean the same."""

from __future__ import annotations

__all__ = ["Distributions", "gold_codes", "paired"]

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.core.gold import Gold
from sfumato.core.simplex import check_simplex
from sfumato.core.soft_labels import SoftLabels
from sfumato.errors import InputError

# Arrays of shape (n_items, n_classes), or the types of the data model.
Distributions = ArrayLike | SoftLabels


def paired(predicted: Distributions, people: Distributions) -> tuple[NDArray[np.floating[Any]], ...]:
    """Return both as arrays of shape (n_items, n_classes); named tables are aligned by name, never by position."""
    if isinstance(predicted, SoftLabels) and isinstance(people, SoftLabels):
        if set(predicted.items) != set(people.items):
            shared = len(set(predicted.items) & set(people.items))
            raise InputError(
                f"The predictions have {predicted.n_items} items and the labels {people.n_items}, {shared} of them "
                "shared. Choose the shared ones first (take), so that none is left out unseen."
            )
        aligned = people if people.items == predicted.items else people.take(predicted.items)
        aligned = aligned if aligned.classes == predicted.classes else aligned.with_classes(predicted.classes)
        return predicted.probs, aligned.probs
    q, p = _array(predicted), _array(people)
    if q.shape != p.shape or q.ndim != 2 or not q.size:
        raise InputError(f"Both need the shape (items, classes), at least one of each. Got {q.shape} and {p.shape}.")
    check_simplex(q, what="predicted probabilities")
    check_simplex(p, what="probabilities of people")
    return q, p


def gold_codes(predicted: Distributions, gold: ArrayLike | Gold) -> tuple[NDArray[np.floating[Any]], NDArray[np.int64]]:
    """Return the predictions of the items that have gold, and their gold classes as column numbers."""
    if isinstance(gold, Gold):
        if not isinstance(predicted, SoftLabels):
            raise InputError("A gold table names its items, so the predictions must too. Hand in SoftLabels.")
        codes = gold.aligned(predicted.items, predicted.classes)
        known = codes >= 0
        if not known.any():
            raise InputError("None of the predicted items has a gold label.")
        return predicted.probs[known], codes[known].astype(np.int64)
    q, codes = _array(predicted), np.asarray(gold)
    if q.ndim != 2 or codes.shape != q.shape[:1] or not len(codes) or codes.dtype.kind not in "iu":
        raise InputError(f"Gold needs one class number per item. Got {codes.dtype} {codes.shape} for {q.shape}.")
    if codes.min() < 0 or codes.max() >= q.shape[1]:
        raise InputError(f"A gold class must be one of 0 to {q.shape[1] - 1}. Got {codes.min()} to {codes.max()}.")
    check_simplex(q, what="predicted probabilities")
    return q, codes.astype(np.int64)


def _array(values: Distributions) -> NDArray[np.floating[Any]]:
    return values.probs if isinstance(values, SoftLabels) else np.asarray(values, dtype=np.float64)
