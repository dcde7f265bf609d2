"""Random distributions with a given mean and concentration, exact at the borders of the simplex."""

from __future__ import annotations

__all__ = ["draw_beta", "draw_dirichlet"]

import math

import numpy as np
from numpy.typing import NDArray

from sfumato.core.simplex import softmax


def draw_dirichlet(rng: np.random.Generator, mean: NDArray[np.float64], concentration: float) -> NDArray[np.float64]:
    """Return draws from Dirichlet(concentration · mean) over the last axis of *mean*, in its shape.

    A class whose mean is 0 gets exactly 0; an infinite concentration gives the mean itself. Gamma variates of a
    small shape underflow, all of a row at once where every shape is small, so they are drawn as logarithms: if
    G ~ Gamma(a + 1) and E ~ Exp(1), then log G − E/a is that of a Gamma(a) variate (Marsaglia & Tsang, 2000).

    >>> rng = np.random.default_rng(0)
    >>> draw_dirichlet(rng, np.array([[0.0, 1.0, 0.0]]), 1e-3).tolist()
    [[0.0, 1.0, 0.0]]
    """
    if math.isinf(concentration):
        return mean.copy()
    shape = concentration * mean
    logs = np.log(rng.standard_gamma(shape + 1))
    with np.errstate(divide="ignore"):
        logs -= rng.standard_exponential(mean.shape) / shape
    return np.asarray(softmax(logs), dtype=np.float64)


def draw_beta(rng: np.random.Generator, mean: float, concentration: float, size: int) -> NDArray[np.float64]:
    """Return draws from Beta(concentration · mean, concentration · (1 − mean)), shape (size,).

    >>> draw_beta(np.random.default_rng(0), 1.0, 2.0, 3).tolist()
    [1.0, 1.0, 1.0]
    """
    if mean in (0, 1):
        return np.full(size, float(mean))
    pair = np.broadcast_to(np.array([mean, 1 - mean]), (size, 2))
    return draw_dirichlet(rng, pair, concentration)[:, 0]
