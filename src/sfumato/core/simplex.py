"""The mathematics of distributions, exact at the borders of the simplex.

Every function works along the last axis, in nats unless a base is given, and takes zeros as what they
are: 0·log 0 = 0, and nothing is clipped.
"""

from __future__ import annotations

__all__ = [
    "check_simplex",
    "cross_entropy",
    "entropy",
    "jensen_shannon_divergence",
    "kl_divergence",
    "log_softmax",
    "normalise",
    "softmax",
    "temper",
]

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.errors import InputError

Floats = NDArray[np.floating[Any]]

# How far the sum of a row may be from 1 at the door: float32 rounding over 10,000 classes stays below it,
# a mistake of a person or a program does not.
SUM_TOLERANCE = 1e-5


def softmax(scores: ArrayLike) -> Floats:
    """Return exp(scores) / Σ exp(scores) over the last axis; −inf is a class that cannot be.

    >>> softmax([0.0, 0.0]).tolist()
    [0.5, 0.5]
    """
    scores = _floats(scores)
    top = scores.max(axis=-1, keepdims=True)
    result = np.exp(scores - np.where(np.isfinite(top), top, 0))
    result /= result.sum(axis=-1, keepdims=True)
    return result


def log_softmax(scores: ArrayLike) -> Floats:
    """Return log softmax(scores) over the last axis, without passing through the probabilities.

    >>> log_softmax([0.0, -2000.0]).tolist()
    [0.0, -2000.0]
    """
    scores = _floats(scores)
    top = scores.max(axis=-1, keepdims=True)
    shifted: Floats = scores - np.where(np.isfinite(top), top, 0)
    result: Floats = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
    return result


def normalise(counts: ArrayLike) -> Floats:
    """Return counts / Σ counts over the last axis; a row without any mass becomes uniform.

    >>> normalise([[3, 1], [0, 0]]).tolist()
    [[0.75, 0.25], [0.5, 0.5]]
    """
    counts = _floats(counts)
    total = counts.sum(axis=-1, keepdims=True)
    empty = total == 0
    return np.where(empty, 1 / counts.shape[-1], counts / np.where(empty, 1, total))


def entropy(probs: ArrayLike, *, base: float = math.e, normalised: bool = False) -> Floats:
    """Return −Σ p log p; *normalised* divides by the entropy of the uniform distribution.

    >>> float(entropy([0.5, 0.5], base=2)), float(entropy([1.0, 0.0]))
    (1.0, 0.0)
    """
    from scipy.special import entr

    probs = _floats(probs)
    result: Floats = np.asarray(entr(probs).sum(axis=-1))
    if normalised:
        n_classes = probs.shape[-1]
        return result / math.log(n_classes) if n_classes > 1 else np.zeros_like(result)
    return _in_base(result, base)


def kl_divergence(probs: ArrayLike, other: ArrayLike) -> Floats:
    """Return KL(probs ‖ other) = Σ p log(p/q); infinite where p has mass and q has none.

    >>> float(kl_divergence([1.0, 0.0], [0.5, 0.5])) == math.log(2)
    True
    """
    from scipy.special import rel_entr

    result: Floats = np.asarray(rel_entr(_floats(probs), _floats(other)).sum(axis=-1))
    return np.maximum(result, 0)


def cross_entropy(probs: ArrayLike, other: ArrayLike, *, floor: float = 0.0) -> Floats:
    """Return −Σ p log max(q, floor); with the default floor a zero in q under mass of p gives infinity.

    >>> float(cross_entropy([1.0, 0.0], [0.5, 0.5])) == math.log(2)
    True
    """
    probs, other = _floats(probs), _floats(other)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = probs * np.log(np.maximum(other, floor))
    terms[np.broadcast_to(probs == 0, terms.shape)] = 0
    result: Floats = np.abs(np.asarray(terms.sum(axis=-1)))
    return result


def jensen_shannon_divergence(probs: ArrayLike, other: ArrayLike, *, base: float = math.e) -> Floats:
    """Return ½ KL(p‖m) + ½ KL(q‖m) with m = (p + q)/2; between 0 and log 2.

    >>> float(jensen_shannon_divergence([1.0, 0.0], [0.0, 1.0], base=2))
    1.0
    """
    from scipy.special import rel_entr

    probs, other = _floats(probs), _floats(other)
    both = probs + other
    # Half of the smallest number there is rounds to zero, and p log(p/0) would make the divergence infinite.
    middle = np.where(both / 2 == 0, both, both / 2)
    result = (rel_entr(probs, middle) + rel_entr(other, middle)).sum(axis=-1) / 2
    # Rounding may leave it an ulp below zero or above log 2, and a square root downstream must not see that.
    return _in_base(np.clip(result, 0, math.log(2)), base)


def temper(probs: ArrayLike, temperature: float | ArrayLike) -> Floats:
    """Return p^(1/T) / Σ p^(1/T): T > 1 softens, T < 1 sharpens; a class without mass stays without.

    At T = 0 all mass goes to the largest classes in equal shares; at T = ∞ to all classes with mass.

    >>> temper([0.8, 0.2, 0.0], 0).tolist(), temper([0.8, 0.2, 0.0], math.inf).tolist()
    ([1.0, 0.0, 0.0], [0.5, 0.5, 0.0])
    """
    probs = _floats(probs)
    temperature = np.asarray(temperature, dtype=np.float64)[..., None]
    if np.any(temperature < 0) or np.any(np.isnan(temperature)):
        raise InputError(f"A temperature must be 0 or more. Got {temperature.min():g} instead.")
    with np.errstate(divide="ignore", invalid="ignore"):
        scores = np.log(probs) - np.log(probs.max(axis=-1, keepdims=True))
        tempered = scores / temperature
    # 0/0 at the largest class (T = 0) and -inf/inf at classes without mass (T = inf) have limits: take them.
    tempered = np.where(scores == 0, 0.0, np.where(np.isneginf(scores), -np.inf, tempered))
    return softmax(tempered)


def check_simplex(probs: Floats, *, names: Sequence[str] | None = None, what: str = "probabilities") -> None:
    """Raise an `InputError` that names the first row of *probs* that is not a distribution."""
    with np.errstate(invalid="ignore"):  # ∞ − ∞, which is told below
        low, total = probs.min(axis=-1, initial=0.0), probs.sum(axis=-1)
    # A NaN fails both comparisons, so one look at the sums and the minima finds every kind of fault.
    good = (low >= 0) & (np.abs(total - 1) <= SUM_TOLERANCE)
    if good.all():
        return
    row = int(np.argmin(good))
    name = repr(names[row]) if names is not None else f"in row {row + 1}"
    if not np.isfinite(probs[row]).all():
        raise InputError(f"The {what} of item {name} hold a value that is not a finite number.")
    if low[row] < 0:
        raise InputError(f"The {what} of item {name} hold {low[row]:.6g}; a probability is never negative.")
    raise InputError(
        f"The {what} of item {name} sum to {total[row]:.6g}, not to 1. "
        "If they are counts or scores, turn them into distributions first (normalise or softmax)."
    )


def _in_base(nats: Floats, base: float) -> Floats:
    return nats if base == math.e else np.asarray(nats / math.log(base))


def _floats(values: ArrayLike) -> Floats:
    """Return *values* as floating point, float32 left as it is."""
    array = np.asarray(values)
    return array if array.dtype in (np.float32, np.float64) else array.astype(np.float64)
