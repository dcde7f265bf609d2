"""The door of every metric: two tables become two arrays whose rows and columns mean the same."""

from __future__ import annotations

__all__ = ["Distributions", "Labels", "aligned", "gold_codes", "gold_rows", "labelled", "paired"]

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.core.gold import Gold
from sfumato.core.simplex import SUM_TOLERANCE, check_simplex
from sfumato.core.soft_labels import SoftLabels
from sfumato.errors import InputError, check_choice
from sfumato.evaluate.blocks import over_blocks

# Arrays of shape (n_items, n_classes), or the types of the data model.
Distributions = ArrayLike | SoftLabels
# What people say (distributions) or a reference class for each item.
Labels = ArrayLike | SoftLabels | Gold

_Floats = NDArray[np.floating[Any]]


def paired(predicted: Distributions, people: Distributions) -> tuple[_Floats, _Floats]:
    """Return both as arrays of shape (n_items, n_classes); named tables are aligned by name, never by position.

    A plain array has no names, so beside a named table it is taken row by row and column by column.

    >>> from sfumato import SoftLabels
    >>> left = SoftLabels([[0.9, 0.1]], items=["a"], classes=["x", "y"])
    >>> paired(left, SoftLabels([[0.3, 0.7]], items=["a"], classes=["y", "x"]))[1].tolist()
    [[0.7, 0.3]]
    """
    if isinstance(people, Gold):
        raise InputError("This number compares distributions with distributions. Got a gold table as the labels.")
    if isinstance(predicted, SoftLabels) and isinstance(people, SoftLabels):
        predicted, people = aligned(predicted, people)
        return predicted.probs, people.probs
    q, p = _array(predicted, what="predictions"), _array(people, what="labels")
    if q.shape != p.shape or q.ndim != 2 or not q.size:
        raise InputError(
            "Both need the shape (items, classes), the same one, at least one of each. "
            f"Got predictions of shape {q.shape} and labels of shape {p.shape}."
        )
    _check(q, predicted, what="predicted probabilities")
    _check(p, people, what="probabilities of people")
    return q, p


def aligned(
    predicted: SoftLabels, people: SoftLabels, *, missing: Literal["error", "drop"] = "error"
) -> tuple[SoftLabels, SoftLabels]:
    """Return both with the items and classes of *predicted*, in its order.

    Items that only one of them has are an error, or are dropped from both; the classes must be the same.

    >>> from sfumato import SoftLabels
    >>> left = SoftLabels([[0.9, 0.1], [0.5, 0.5]], items=["a", "b"], classes=["x", "y"])
    >>> aligned(left, left.take(["b"]), missing="drop")[0].items
    ('b',)
    """
    check_choice(missing, ("error", "drop"), option="missing")
    if set(predicted.classes) != set(people.classes):
        only = [name for name in people.classes if name not in predicted.classes]
        more = [name for name in predicted.classes if name not in people.classes]
        raise InputError(
            f"The predictions have {predicted.n_classes} classes and the labels {people.n_classes}; only the labels "
            f"have {_listed(only)}, only the predictions {_listed(more)}. Both need the same classes, in any order."
        )
    if predicted.items != people.items:
        known = set(people.items)
        shared = [name for name in predicted.items if name in known]
        if missing == "error" and not len(shared) == predicted.n_items == people.n_items:
            raise InputError(
                f"The predictions have {predicted.n_items} items and the labels {people.n_items}, {len(shared)} of "
                'them shared. Choose the shared ones first (aligned with missing="drop"), so that none is left out '
                "unseen."
            )
        if not shared:
            raise InputError(
                f"None of the {predicted.n_items} predicted items is among the {people.n_items} labelled ones; "
                f"the first are named {predicted.items[0]!r} and {people.items[0]!r}."
            )
        predicted = predicted if len(shared) == predicted.n_items else predicted.take(shared)
        people = people.take(shared)
    if not predicted.n_items:
        raise InputError("There are no items to compare.")
    return predicted, people if people.classes == predicted.classes else people.with_classes(predicted.classes)


def gold_codes(predicted: Distributions, gold: ArrayLike | Gold) -> tuple[_Floats, NDArray[np.int64]]:
    """Return the predictions of the items that have gold, and their gold classes as column numbers.

    A gold class that the predictions do not know gets a number of its own from n_classes on, so that such an item
    counts as missed and is not left out.
    """
    if isinstance(gold, SoftLabels):
        raise InputError("This number needs one reference class for each item. Got soft labels.")
    if isinstance(gold, Gold):
        if not isinstance(predicted, SoftLabels):
            raise InputError("A gold table names its items, so the predictions must too. Hand in SoftLabels.")
        rows, codes = gold_rows(predicted, gold)
        return predicted.probs[rows], codes
    q, codes = _array(predicted, what="predictions"), np.asarray(gold)
    if q.ndim != 2 or codes.shape != q.shape[:1] or not len(codes) or codes.dtype.kind not in "iu":
        raise InputError(f"Gold needs one class number per item. Got {codes.dtype} {codes.shape} for {q.shape}.")
    if codes.min() < 0 or codes.max() >= q.shape[1]:
        raise InputError(f"A gold class must be one of 0 to {q.shape[1] - 1}. Got {codes.min()} to {codes.max()}.")
    _check(q, predicted, what="predicted probabilities")
    return q, codes.astype(np.int64, copy=False)


def gold_rows(predicted: SoftLabels, gold: Gold) -> tuple[slice | NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows of the predicted items that have gold, and their gold classes as in `gold_codes`."""
    unknown = [name for name in gold.classes if name not in predicted.classes]
    codes = gold.aligned(predicted.items, [*predicted.classes, *unknown]).astype(np.int64)
    known = np.flatnonzero(codes >= 0)
    if not len(known):
        raise InputError(
            f"None of the {predicted.n_items} predicted items is among the {gold.n_items} that have a gold label."
        )
    return (slice(None), codes) if len(known) == len(codes) else (known, codes[known])


def labelled(predicted: Distributions, labels: Labels) -> tuple[_Floats, NDArray[Any]]:
    """Return the predictions with labels of either kind: gold codes of shape (n_items,) or people's distributions."""
    if isinstance(labels, Gold) or (not isinstance(labels, SoftLabels) and np.ndim(labels) == 1):
        return gold_codes(predicted, labels)
    return paired(predicted, labels)


def _array(values: Any, *, what: str) -> _Floats:
    if isinstance(values, SoftLabels):
        return values.probs
    try:
        array = np.asarray(values)
        return array if array.dtype in (np.float32, np.float64) else array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"The {what} must be numbers of shape (items, classes). Got something else: {error}") from None


def _check(values: _Floats, given: Distributions, *, what: str) -> None:
    """Raise an `InputError` unless the rows are distributions; scores that a model gives before are recognised."""
    if isinstance(given, SoftLabels):  # looked at when it was made
        return
    bad = over_blocks(lambda block: not _good(block.q), values, values)
    if not any(bad):
        return
    total = values.sum(axis=1)
    off = ~(np.abs(total - 1) <= SUM_TOLERANCE) & np.isfinite(total)
    if off.any() and np.isfinite(values).all():
        row = int(np.argmax(off))
        if values.max() <= 0 and np.allclose(np.exp(values).sum(axis=1), 1, atol=1e-4):
            raise InputError(
                f"The {what} look like log-probabilities (all are at most 0, and the exponentials sum to 1). "
                "Hand in their exponentials: numpy.exp(…)."
            )
        if values.min() < 0:
            raise InputError(
                f"The {what} look like logits: row {row + 1} sums to {total[row]:.6g}, and the smallest value is "
                f"{values.min():.6g}. Hand in softmax(logits), or Predictions with logits."
            )
    check_simplex(values, what=what)


def _good(block: _Floats) -> bool:
    total = block.sum(axis=0)
    # A NaN fails every comparison.
    return bool(block.min() >= 0 and total.min() >= 1 - SUM_TOLERANCE and total.max() <= 1 + SUM_TOLERANCE)


def _listed(names: list[str], most: int = 5) -> str:
    shown = ", ".join(map(repr, names[:most])) or "none of their own"
    return shown if len(names) <= most else f"{shown}, … ({len(names)} in all)"
