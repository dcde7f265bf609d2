"""Numbers as functions of sums over items: what must be summed, and what is made of the sums.

A mean is one sum. F1, a correlation or a calibration error is no mean, but a function of a few means: draw items
anew, and only the means must be made again. So a thousand resamples of any of them are one matrix product.
"""

from __future__ import annotations

__all__ = ["Sums", "accuracy_sums", "calibration_sums", "correlation_sums", "f1_sums", "mean_sums", "ratio_sums"]

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.errors import InputError, check_choice

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Sums:
    """A number that depends on the items through means: ``finish(means of columns)``.

    ``columns`` of shape (n_items, n_columns); ``finish`` takes means of shape (n, n_columns) to n numbers.

    >>> squared_mean = Sums(np.array([[1.0], [3.0]]), lambda means: means[:, 0] ** 2)
    >>> squared_mean.value
    4.0
    """

    columns: Floats
    finish: Callable[[Floats], Floats]
    # Whether the number is the mean of the one column.
    is_mean: bool = False

    @property
    def n_items(self) -> int:
        return len(self.columns)

    @property
    def value(self) -> float:
        """The number over all items as they are."""
        return float(self.finish(self.columns.mean(axis=0, keepdims=True))[0])


def mean_sums(values: ArrayLike) -> Sums:
    """Return a mean over items; *values* of shape (n_items,).

    >>> mean_sums([1.0, 2.0]).value
    1.5
    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or not array.size:
        raise InputError(f"A mean needs one value per item, and one at least. Got the shape {array.shape}.")
    return Sums(array[:, None], lambda means: means[:, 0], is_mean=True)


def ratio_sums(totals: ArrayLike, counts: ArrayLike) -> Sums:
    """Return Σ totals / Σ counts, the mean of what some items have more of than others; both of shape (n_items,).

    >>> ratio_sums([6.0, 1.0], [2, 1]).value
    2.3333333333333335
    """
    columns = np.column_stack([np.asarray(totals, dtype=np.float64), np.asarray(counts, dtype=np.float64)])

    def finish(means: Floats) -> Floats:
        # Where none of the items drawn has any there is no number.
        nothing = np.full(len(means), math.nan)
        return np.asarray(np.divide(means[:, 0], means[:, 1], out=nothing, where=means[:, 1] > 0))

    return Sums(columns, finish)


def accuracy_sums(predicted: ArrayLike, gold: ArrayLike) -> Sums:
    """Return the accuracy; both of shape (n_items,), class numbers."""
    return mean_sums(np.asarray(predicted) == np.asarray(gold))


def f1_sums(
    predicted: ArrayLike,
    gold: ArrayLike,
    *,
    n_classes: int,
    average: Literal["macro", "micro", "weighted"] = "macro",
) -> Sums:
    """Return F1 = 2 tp / (predicted + gold), averaged over classes; both of shape (n_items,), class numbers.

    Macro averages over the classes that are predicted or gold for some item of the (re)sample, weighted by how often
    each is gold. A gold number of n_classes or more is a class that cannot be predicted: it counts as missed.

    >>> f1_sums([0, 1, 1], [0, 0, 1], n_classes=2).value
    0.6666666666666666
    """
    check_choice(average, ("macro", "micro", "weighted"), option="average")
    guess, truth = np.asarray(predicted), np.asarray(gold)
    size = max(n_classes, int(truth.max(initial=0)) + 1)
    is_guess, is_truth = (_one_hot(codes, size) for codes in (guess, truth))

    def finish(means: Floats) -> Floats:
        hit, said, true = means[:, :size], means[:, size : 2 * size], means[:, 2 * size :]
        if average == "micro":
            return np.asarray(2 * hit.sum(axis=1) / (said + true).sum(axis=1))
        # The sums of zeros and ones are exact, so a class that was not drawn has exactly 0.
        occurs = said + true > 0
        f1 = np.divide(2 * hit, said + true, out=np.zeros_like(hit), where=occurs)
        weight = occurs.astype(np.float64) if average == "macro" else true
        return np.asarray((f1 * weight).sum(axis=1) / weight.sum(axis=1))

    return Sums(np.hstack([is_guess * is_truth, is_guess, is_truth]), finish)


def correlation_sums(x: ArrayLike, y: ArrayLike) -> Sums:
    """Return Pearson's r over items, NaN where either does not vary; both of shape (n_items,).

    >>> correlation_sums([1.0, 2.0, 4.0], [2.0, 4.0, 8.0]).value
    1.0
    """
    a, b = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    # Moments about the mean of all items: those about 0 would cancel.
    a, b = a - a.mean(), b - b.mean()

    def finish(means: Floats) -> Floats:
        spread_a, spread_b = means[:, 2] - means[:, 0] ** 2, means[:, 3] - means[:, 1] ** 2
        together = means[:, 4] - means[:, 0] * means[:, 1]
        # A spread that is rounding and nothing else is no spread.
        varies = np.minimum(spread_a, spread_b) > 1e-24
        scale = np.sqrt(np.where(varies, spread_a * spread_b, 1))
        return np.where(varies, np.clip(together / scale, -1, 1), math.nan)

    return Sums(np.column_stack([a, b, a * a, b * b, a * b]), finish)


def calibration_sums(confidence: ArrayLike, right: ArrayLike, *, n_bins: int = 15) -> Sums:
    """Return Σ over bins of |Σ (right − confidence)| / n_items, bins of equal width; both of shape (n_items,).

    It is the expected calibration error Σ n_b/n · |accuracy_b − confidence_b|: the n_b cancel.

    >>> round(calibration_sums([0.9, 0.9], [1, 0], n_bins=10).value, 3)
    0.4
    """
    sure = np.asarray(confidence, dtype=np.float64)
    gap = np.asarray(right, dtype=np.float64) - sure
    # Open below and closed above, as in `expected_calibration_error`.
    place = np.clip(np.ceil(sure * n_bins).astype(np.int64) - 1, 0, n_bins - 1)
    used, place = np.unique(place, return_inverse=True)
    return Sums(_one_hot(place, len(used)) * gap[:, None], lambda means: np.abs(means).sum(axis=1))


def _one_hot(codes: NDArray[np.integer[Any]], size: int) -> Floats:
    result: Floats = (codes[:, None] == np.arange(size)).astype(np.float64)
    return result
