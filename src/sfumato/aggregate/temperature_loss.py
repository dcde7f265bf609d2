"""The loss that sets the temperatures of views: how far the tempered views are from each other.

    L(T) = 1/Z Σ_{a<b} mean_i JSD(p̃_ia‖p̃_ib) + λ Σ_m r_m T_m²,   p̃_m ∝ p_m^(1/T_m),   Z = M(M−1)/2

Written with G_a = Σ_{b≠a} log(2 p̃_a/(p̃_a + p̃_b)), the divergences of an item add up to ½ Σ_a Σ_k p̃_a G_a, and
their slope in log T_a is −½ Σ_k p̃_a (z_a − E z_a) G_a with z = log(p)/T and E the mean under p̃_a.
"""

from __future__ import annotations

__all__ = ["TemperatureLoss", "tempered", "tempered_mean"]

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.core.order_free import on_grid
from sfumato.core.row_blocks import block_size, columns, over_blocks, pair

Floats = NDArray[np.float64]

_LOG_2 = math.log(2)
# Logarithms are kept between calls where they take at most this many numbers (512 MiB), else made anew each time.
_KEPT = 1 << 26
# The sums of two views' shares whose logarithms are added up: of so many one logarithm of their product is taken, which
# none below the second number lets underflow. A class of so small a share counts for nothing in what its share weighs.
_TOGETHER = 4
_SMALLEST = 1e-75


class TemperatureLoss:
    """L and its gradient in log T, over all items of *views*, arrays of shape (n_items, n_classes).

    *penalties* are λ r_m. With *floor*, log-probabilities below it are raised to it; without, a class of probability
    0 keeps it at every temperature. The order of the items does not change a bit.
    """

    def __init__(
        self,
        views: Sequence[NDArray[np.floating[Any]]],
        penalties: Floats,
        *,
        floor: float | None = None,
        threads: int | None = None,
    ) -> None:
        self.views = views
        self.penalties = penalties
        self.floor = floor
        self.threads = threads
        self.n_items, self.n_classes = views[0].shape
        self._size = block_size(self.n_classes, 3 * len(views) + 3)
        self._kept: dict[int, list[Floats]] | None = {} if len(views) * views[0].size <= _KEPT else None

    def part(self, items: NDArray[np.int64]) -> TemperatureLoss:
        """Return the same loss over some of the items."""
        return TemperatureLoss(
            [view[items] for view in self.views], self.penalties, floor=self.floor, threads=self.threads
        )

    def __call__(self, log_temperatures: Floats) -> tuple[float, Floats]:
        """Return the loss, and its gradient in log T of shape (n_views,)."""
        return self.at(np.exp(log_temperatures))

    def at(self, temperatures: Floats) -> tuple[float, Floats]:
        """Return the loss and T·∂L/∂T at the temperatures themselves."""

        def terms(start: int, stop: int) -> Floats:
            with np.errstate(divide="ignore", under="ignore"):
                return _terms(self._logs(start, stop), temperatures)[:, : stop - start]

        parts = over_blocks(terms, self.n_items, self._size, threads=self.threads)
        # Without items there is nothing to be apart from.
        of_items = np.concatenate([np.zeros((len(self.views) + 1, 0)), *parts], axis=1)
        sums = np.array([on_grid(row, self.n_items).sum() for row in of_items])
        n_pairs = math.comb(len(self.views), 2)
        means = sums / (2 * n_pairs * max(self.n_items, 1))
        penalty = self.penalties * temperatures**2
        return float(means[0] + penalty.sum()), means[1:] + 2 * penalty

    def _logs(self, start: int, stop: int) -> list[Floats]:
        """Return the logarithms of each view's probabilities as columns, the largest of each item moved to 0."""
        if self._kept is not None and start in self._kept:
            return self._kept[start]
        items = pair(start, stop)
        logs = [_log(columns(view, items), self.floor) for view in self.views]
        if self._kept is not None:
            self._kept[start] = logs
        return logs


def tempered(
    view: NDArray[np.floating[Any]], temperature: float, *, floor: float | None = None, threads: int | None = None
) -> Floats:
    """Return p^(1/T) / Σ p^(1/T) for each item, shape (n_items, n_classes).

    >>> tempered(np.array([[0.8, 0.2, 0.0]]), 2.0).round(4).tolist()
    [[0.6667, 0.3333, 0.0]]
    """
    return tempered_mean([view], np.array([temperature]), np.ones(1), floor=floor, threads=threads)


def tempered_mean(
    views: Sequence[NDArray[np.floating[Any]]],
    temperatures: Floats,
    weights: Floats,
    *,
    floor: float | None = None,
    threads: int | None = None,
) -> Floats:
    """Return Σ_m w_m p̃_m, each view softened by its temperature first."""
    n_items, n_classes = views[0].shape
    result = np.empty((n_items, n_classes))

    def temper(start: int, stop: int) -> None:
        items = pair(start, stop)
        mean = np.zeros((n_classes, len(items)))
        with np.errstate(divide="ignore", under="ignore"):
            for view, temperature, weight in zip(views, temperatures, weights, strict=True):
                shares = _log(columns(view, items), floor)
                shares /= temperature
                np.exp(shares, out=shares)
                shares *= weight / shares.sum(axis=0)
                mean += shares
        result[start:stop] = mean.T[: stop - start]

    over_blocks(temper, n_items, block_size(n_classes, 4), threads=threads)
    return result


def _log(probs: Floats, floor: float | None) -> Floats:
    logs = np.log(probs, out=probs)
    if floor is not None:
        np.maximum(logs, floor, out=logs)
    logs -= logs.max(axis=0)
    return logs


def _terms(logs: list[Floats], temperatures: Floats) -> Floats:
    """Return Σ_a Σ_k p̃_a G_a and −Σ_k p̃_a (z_a − E z_a) G_a of each item, shape (1 + n_views, n_items)."""
    n_views = len(logs)
    result = np.zeros((1 + n_views, logs[0].shape[1]))
    shares, scores, gains = [], [], []
    for log, temperature in zip(logs, temperatures, strict=True):
        z = log * (1 / temperature)
        share = np.exp(z)
        total = share.sum(axis=0)
        share *= 1 / total
        # A class without mass has z = −∞; any finite number does, as everything is multiplied by its share, 0.
        np.maximum(z, -1e300, out=z)
        shares.append(share)
        scores.append(z)
        gains.append((n_views - 1) * (z - (np.log(total) - _LOG_2)))
    _subtract_logs_of_sums(gains, shares)
    for place, (share, z, gain) in enumerate(zip(shares, scores, gains, strict=True), start=1):
        gain *= share
        result[0] += gain.sum(axis=0)
        z -= (share * z).sum(axis=0)
        z *= gain
        result[place] = -z.sum(axis=0)
    return result


def _subtract_logs_of_sums(gains: list[Floats], shares: list[Floats]) -> None:
    """Take Σ_{b≠a} log(p̃_a + p̃_b) from each of the gains."""
    shares = [np.maximum(share, _SMALLEST) for share in shares]
    both, product = np.empty_like(shares[0]), np.empty_like(shares[0])
    if len(shares) < _TOGETHER:  # a logarithm for each pair is then no more than one for each view
        for a, b in combinations(range(len(shares)), 2):
            np.add(shares[a], shares[b], out=both)
            np.log(both, out=both)
            gains[a] -= both
            gains[b] -= both
        return
    for a, gain in enumerate(gains):
        others = [share for b, share in enumerate(shares) if b != a]
        for first in range(0, len(others), _TOGETHER):
            product.fill(1)
            for other in others[first : first + _TOGETHER]:
                product *= np.add(shares[a], other, out=both)
            gain -= np.log(product, out=product)
