"""Temperature scaling: one number that makes a model as sure as it deserves to be."""

from __future__ import annotations

__all__ = ["fit_temperature", "fitted_temperature", "log_losses_per_item", "with_logits"]

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.core.gold import Gold
from sfumato.core.predictions import Predictions
from sfumato.core.simplex import SUM_TOLERANCE
from sfumato.core.soft_labels import SoftLabels
from sfumato.errors import InputError
from sfumato.evaluate.blocks import Block, each_of, over_blocks, over_classes
from sfumato.evaluate.pairing import Labels, aligned, gold_rows, labelled

_Floats = NDArray[np.floating[Any]]

# Where every item is right the best temperature is 0, and where the logits say nothing it is infinite. Neither can be
# used on another half of the items, so the search keeps to these.
_LOWEST, _HIGHEST = 1e-2, 1e2
# Items on which the search starts; on all of them it then needs two or three steps instead of ten.
_FIRST = 1 << 14


def fit_temperature(logits: ArrayLike | SoftLabels, labels: Labels) -> float:
    """Return the T between 0.01 and 100 that minimises the mean of −Σ p log softmax(logits/T) (Guo et al. 2017, 4.2).

    *logits* of shape (n_items, n_classes), or `Predictions`. *labels* are gold (class numbers of shape (n_items,), or a
    `Gold` table), or soft labels of people. The loss is convex in 1/T, so the minimum is the only one, and it is found
    to the last digits. T > 1 says that the model is too sure of itself.

    >>> logits = [[2.0, 0.0], [2.0, 0.0], [2.0, 0.0], [2.0, 0.0]]
    >>> round(2 / fit_temperature(logits, [0, 0, 0, 1]), 6), round(math.log(3), 6)
    (1.098612, 1.098612)
    """
    scores, known, _ = with_logits(logits, labels)
    return fitted_temperature(scores, known)


def fitted_temperature(logits: _Floats, labels: NDArray[Any]) -> float:
    """Return the temperature for logits and labels that stand in the same rows."""
    start = 1.0
    if len(logits) > 2 * _FIRST:
        spread = slice(None, None, len(logits) // _FIRST)
        start = _minimum(_slopes(logits[spread], labels[spread]), start)
    return 1 / _minimum(_slopes(logits, labels), start)


def log_losses_per_item(logits: _Floats, labels: NDArray[Any], temperature: float) -> NDArray[np.float64]:
    """Return −Σ p log softmax(logits/T) of each item, shape (n_items,)."""

    def loss(block: Block) -> NDArray[np.float64]:
        scores = block.q / temperature
        scores -= scores.max(axis=0)
        return np.log(over_classes(np.exp(scores))) - _expected(scores, block)

    return each_of(loss, logits, labels)


def with_logits(logits: ArrayLike | SoftLabels, labels: Labels) -> tuple[_Floats, NDArray[Any], Sequence[str] | None]:
    """Return logits and labels (gold codes or distributions), rows and columns matched, and the names of the items.

    Of predictions without logits the logarithms of the probabilities will do, as softmax ignores a constant.
    """
    if not isinstance(logits, SoftLabels):
        scores = _checked(logits)
        # The door takes distributions, so uniform ones stand in for the scores while it looks at the labels.
        return scores, labelled(np.broadcast_to(1 / scores.shape[1], scores.shape), labels)[1], None
    if isinstance(labels, SoftLabels):
        logits, labels = aligned(logits, labels)
        return _scores(logits), labels.probs, logits.items
    if isinstance(labels, Gold):
        rows, codes = gold_rows(logits, labels)
        if codes.max() >= logits.n_classes:
            wanted = [name for name in labels.classes if name not in logits.classes]
            raise InputError(f"The gold class {wanted[0]!r} is not one of the {logits.n_classes} predicted classes.")
        items = logits.items if isinstance(rows, slice) else [logits.items[row] for row in rows]
        return _scores(logits)[rows], codes, items
    return _scores(logits), labelled(logits.probs, labels)[1], logits.items


def _scores(predicted: SoftLabels) -> _Floats:
    if isinstance(predicted, Predictions) and predicted.logits is not None:
        return predicted.logits
    zero = (predicted.probs == 0).any(axis=1)
    if zero.any():
        raise InputError(
            f"The predictions carry no logits, and item {predicted.items[int(np.argmax(zero))]!r} has a class of "
            "probability 0, whose logarithm is not finite. Save the logits of the model with the predictions, or leave "
            "this number out."
        )
    logs: _Floats = np.log(predicted.probs)
    return logs


def _checked(logits: ArrayLike) -> _Floats:
    scores = np.asarray(logits)
    scores = scores if scores.dtype in (np.float32, np.float64) else scores.astype(np.float64)
    if scores.ndim != 2 or not scores.size:
        raise InputError(f"Logits need the shape (items, classes), at least one of each. Got {scores.shape}.")
    if not np.isfinite(scores).all():
        row = int(np.argmin(np.isfinite(scores).all(axis=1)))
        raise InputError(f"The logits in row {row + 1} hold a value that is not a finite number.")
    if scores.shape[1] > 1 and scores.min() >= 0 and (np.abs(scores.sum(axis=1) - 1) <= SUM_TOLERANCE).all():
        raise InputError(
            "The logits look like probabilities (none is negative, and every row sums to 1). "
            "Hand in the logits, or the logarithms of the probabilities."
        )
    return scores


def _expected(scores: NDArray[np.float64], block: Block) -> NDArray[np.float64]:
    """Return what the labels expect of the scores of each item: the score of the gold class, or Σ p · score."""
    if block.labels.ndim == 1:
        of_gold: NDArray[np.float64] = scores[block.codes, np.arange(len(block.codes))]
        return of_gold
    return over_classes(block.p * scores)


def _slopes(logits: _Floats, labels: NDArray[Any]) -> Callable[[float], tuple[float, float]]:
    """Return the function from 1/T to the first and second derivative of the mean loss."""

    def at(inverse: float) -> tuple[float, float]:
        def sums(block: Block) -> tuple[float, float]:
            scores = block.q - block.confidence  # the largest is 0, so that no exponential overflows
            weights = np.exp(scores * inverse)
            weights /= weights.sum(axis=0)
            weighted = weights * scores
            mean = over_classes(weighted)
            spread = over_classes(weighted * scores) - mean**2
            return float((mean - _expected(scores, block)).sum()), float(spread.sum())

        parts = over_blocks(sums, logits, labels)
        return math.fsum(a for a, _ in parts) / len(logits), math.fsum(b for _, b in parts) / len(logits)

    return at


def _minimum(slopes: Callable[[float], tuple[float, float]], start: float) -> float:
    """Return the inverse temperature at which the slope is zero, by Newton's steps kept within a bracket."""
    low, high = 1 / _HIGHEST, 1 / _LOWEST
    seen: set[float] = set()
    inverse, moved, newton = start, 0.0, 0.0
    # A step that leaves the bracket becomes a halving of it, so that a hundred are enough in any case.
    for _ in range(100):
        slope, curvature = slopes(inverse)
        seen.add(inverse)
        low, high = (low, inverse) if slope > 0 else (inverse, high)
        if slope == 0 or low == high:  # at an end of the range, with the slope still pointing outwards
            return inverse
        step = -slope / curvature if curvature > 0 else -math.copysign(math.inf, slope)
        if abs(step) <= 1e-12 * inverse:
            return min(max(inverse + step, low), high)
        # Where every item is right the slope fades like an exponential, and Newton takes equal steps for ever.
        equal = step * newton > 0 and abs(step) > abs(newton) / 2
        newton = step
        following = min(max(inverse + (2 * moved if equal else step), low), high)
        following = (low + high) / 2 if following in seen else following
        inverse, moved = following, following - inverse
    return inverse
