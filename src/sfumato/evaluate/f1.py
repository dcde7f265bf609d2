"""Precision, recall and F1: of each class, and averaged."""

from __future__ import annotations

__all__ = [
    "Average",
    "f1",
    "f1_score",
    "micro_f1_score",
    "precision",
    "precision_score",
    "recall",
    "recall_score",
    "weighted_f1_score",
]

import math
from typing import Literal, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.core.gold import Gold
from sfumato.errors import check_choice
from sfumato.evaluate.accuracy import Ties
from sfumato.evaluate.confusion import confusion_matrix
from sfumato.evaluate.pairing import Distributions

Average = Literal["macro", "micro", "weighted"]

_Floats = NDArray[np.float64]


@overload
def f1_score(
    predicted: Distributions, gold: ArrayLike | Gold, *, average: Average = "macro", ties: Ties = "first"
) -> float: ...
@overload
def f1_score(predicted: Distributions, gold: ArrayLike | Gold, *, average: None, ties: Ties = "first") -> _Floats: ...
def f1_score(
    predicted: Distributions, gold: ArrayLike | Gold, *, average: Average | None = "macro", ties: Ties = "first"
) -> float | _Floats:
    """Return F1 = 2·tp / (2·tp + fp + fn), 0 to 1: the mean over classes, or one number for each (average=None).

    *predicted* of shape (n_items, n_classes), *gold* of shape (n_items,) or a `Gold` table. "macro" is the plain mean
    over classes, "weighted" weights them by their gold items, "micro" counts all together and equals the accuracy. A
    class that is neither in the gold nor ever predicted has no F1 (nan) and is left out of the mean (van Rijsbergen
    1979, chapter 7; Wright et al. 2024, appendix C).

    >>> f1_score([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7]], [0, 1, 1], average=None).round(3).tolist()
    [0.667, 0.667]
    """
    return f1(confusion_matrix(predicted, gold, ties=ties), average)


def micro_f1_score(predicted: Distributions, gold: ArrayLike | Gold, *, ties: Ties = "first") -> float:
    """Return `f1_score` with average="micro", under a name of its own: all classes counted together, the accuracy.

    >>> micro_f1_score([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.4, 0.6]], [0, 1, 1, 1])
    0.75
    """
    return f1_score(predicted, gold, average="micro", ties=ties)


def weighted_f1_score(predicted: Distributions, gold: ArrayLike | Gold, *, ties: Ties = "first") -> float:
    """Return `f1_score` with average="weighted", under a name of its own: each class as often as it is gold.

    >>> round(weighted_f1_score([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.4, 0.6]], [0, 1, 1, 1]), 6)
    0.766667
    """
    return f1_score(predicted, gold, average="weighted", ties=ties)


@overload
def precision_score(
    predicted: Distributions, gold: ArrayLike | Gold, *, average: Average = "macro", ties: Ties = "first"
) -> float: ...
@overload
def precision_score(
    predicted: Distributions, gold: ArrayLike | Gold, *, average: None, ties: Ties = "first"
) -> _Floats: ...
def precision_score(
    predicted: Distributions, gold: ArrayLike | Gold, *, average: Average | None = "macro", ties: Ties = "first"
) -> float | _Floats:
    """Return tp / (tp + fp), 0 to 1, averaged or of each class as in `f1_score`: how often what is predicted is right.

    A class of the gold that is never predicted has the precision 0.

    >>> precision_score([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7]], [0, 1, 1], average=None).tolist()
    [0.5, 1.0]
    """
    return precision(confusion_matrix(predicted, gold, ties=ties), average)


@overload
def recall_score(
    predicted: Distributions, gold: ArrayLike | Gold, *, average: Average = "macro", ties: Ties = "first"
) -> float: ...
@overload
def recall_score(
    predicted: Distributions, gold: ArrayLike | Gold, *, average: None, ties: Ties = "first"
) -> _Floats: ...
def recall_score(
    predicted: Distributions, gold: ArrayLike | Gold, *, average: Average | None = "macro", ties: Ties = "first"
) -> float | _Floats:
    """Return tp / (tp + fn), 0 to 1, averaged or of each class as in `f1_score`: how much of a class is found.

    A class that is predicted but never gold has the recall 0.

    >>> recall_score([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7]], [0, 1, 1], average=None).tolist()
    [1.0, 0.5]
    """
    return recall(confusion_matrix(predicted, gold, ties=ties), average)


def f1(confusion: _Floats, average: Average | None = "macro") -> float | _Floats:
    """Return the F1 of a confusion matrix."""
    hits, predicted, gold = _totals(confusion)
    return _averaged(_ratio(2 * hits, predicted + gold), confusion, average)


def precision(confusion: _Floats, average: Average | None = "macro") -> float | _Floats:
    """Return the precision of a confusion matrix."""
    hits, predicted, _ = _totals(confusion)
    return _averaged(_ratio(hits, predicted), confusion, average)


def recall(confusion: _Floats, average: Average | None = "macro") -> float | _Floats:
    """Return the recall of a confusion matrix."""
    hits, _, gold = _totals(confusion)
    return _averaged(_ratio(hits, gold), confusion, average)


def _averaged(of_classes: _Floats, confusion: _Floats, average: Average | None) -> float | _Floats:
    hits, predicted, gold = _totals(confusion)
    seen = predicted + gold > 0
    if average is None:
        return np.where(seen, of_classes, math.nan)
    check_choice(average, ("macro", "micro", "weighted"), option="average")
    if average == "micro":  # each item has one prediction and one gold class, so all three are the accuracy
        return float(hits.sum() / gold.sum())
    return float(np.average(of_classes[seen], weights=gold[seen] if average == "weighted" else None))


def _totals(confusion: _Floats) -> tuple[_Floats, _Floats, _Floats]:
    """Return the right, predicted and gold items of each class; gold classes without a column are never predicted."""
    n_rows, n_classes = confusion.shape
    square = np.zeros((n_rows, n_rows))
    square[:, :n_classes] = confusion
    return np.diagonal(square), square.sum(axis=0), square.sum(axis=1)


def _ratio(part: _Floats, whole: _Floats) -> _Floats:
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)
