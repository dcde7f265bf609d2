"""The Jensen–Shannon centroid of each item, to the last digits, by Newton's method on log q.

The minimiser of Σ_m w_m JSD(p_m‖q) over the simplex has, for a multiplier μ,

    g_k = Σ_m w_m log(2 q_k / (q_k + p_mk)) = μ   for every class k that some view gives mass, and q_k = 0 elsewhere.

In t = log q each g_k depends on its own t_k alone, rises and is concave, with slope h_k = Σ_m w_m p_mk/(q_k + p_mk),
so a step costs one pass over the views: t_k += (μ − g_k)/h_k, with the μ that keeps the linearised total mass. It
starts from the Hellinger centroid q ∝ (Σ_m w_m √p_m)², which agrees with the Jensen–Shannon centroid to second
order in the differences between the views, and takes about three steps, the first two of them in single precision:
each squares the error, so what they lack in digits the third has. The few items for which this fails (classes
whose share is near the smallest float) go to a nested iteration that cannot fail, see `_safely`.
"""

from __future__ import annotations

__all__ = ["Centroids", "centroids"]

import math
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from sfumato.core.row_blocks import block_size, columns, over_blocks, pair

Floats = NDArray[np.float64]
# Single or double precision.
F = TypeVar("F", np.float32, np.float64)

_LOG_2 = math.log(2)
# An item is done after a step d of log q with max_k |d_k| below this. By the bounds on the curvatures of g (1/4) and of
# the total mass (1) the residual max_k |g_k − μ| is then at most 0.65 max_k d_k², and as a rule it is rounding.
_STEP = 1e-5
_MOST_STEPS = 12
# So many of them are taken in single precision, in which shares below the second number are not trusted.
_ROUGH_STEPS = 2
_SMALLEST_ROUGH = 1e-25
_MOST_SAFE_STEPS = 200


class Centroids(NamedTuple):
    """Centroids, shape (n_items, n_classes); what max_k |g_k − μ| is at most, and the steps."""

    probs: Floats
    residuals: Floats
    steps: NDArray[np.int64]


def centroids(views: Sequence[NDArray[np.floating[Any]]], weights: Floats, *, threads: int | None = None) -> Centroids:
    """Return the centroid of each item of *views*, arrays of shape (n_items, n_classes); *weights* sum to 1.

    >>> found = centroids([np.array([[1.0, 0.0, 0.0]]), np.array([[0.0, 1.0, 0.0]])], np.array([0.5, 0.5]))
    >>> found.probs.round(12).tolist()
    [[0.5, 0.5, 0.0]]
    """
    said = [view for view, weight in zip(views, weights, strict=True) if weight > 0]
    weights = weights[weights > 0]
    n_items, n_classes = said[0].shape
    if len(said) == 1:  # to the last bit, which steps would not keep
        return Centroids(said[0].astype(np.float64), np.zeros(n_items), np.zeros(n_items, dtype=np.int64))
    made = Centroids(np.empty((n_items, n_classes)), np.empty(n_items), np.empty(n_items, dtype=np.int64))

    def solve(start: int, stop: int) -> None:
        items = pair(start, stop)
        # Where a share is 0 logarithms and ratios are not finite: that is seen to below.
        with np.errstate(all="ignore"):
            where = slice(start, stop) if stop - start > 1 else items
            left = _quickly([columns(view, where) for view in said], weights, items, made)
            if left.size:
                _safely([np.log(columns(view, left)) for view in said], weights, left, made)

    over_blocks(solve, n_items, block_size(n_classes, len(said) + 6), threads=threads)
    return made


def _quickly(views: list[Floats], weights: Floats, items: NDArray[np.int64], made: Centroids) -> NDArray[np.int64]:
    """Take Newton steps until each item is done, write those into *made*, and return the items that are left.

    *items* may name one item twice.
    """
    # Classes without mass in any view take no part: they get q = 1 as a place-holder that never moves or counts.
    live = np.logical_or.reduce([view > 0 for view in views])
    q = _roughly(views, weights, live)
    for step in range(_ROUGH_STEPS + 1, _MOST_STEPS + 1):
        farthest = _newton(q, views, weights, live)
        done = farthest <= _STEP
        if done.any():
            place = items[done]
            made.probs[place] = (q if done.all() else q.compress(done, axis=1)).T
            made.residuals[place] = farthest[done] ** 2
            made.steps[place] = step
            kept = np.flatnonzero(~done)
            if not kept.size:
                return items[kept]
            kept = _pair(kept)
            # take keeps classes in rows; indexing would turn the array round, and its sums with it.
            views = [view.take(kept, axis=1) for view in views]
            items, q, live = items[kept], q.take(kept, axis=1), live.take(kept, axis=1)
    return items


def _roughly(views: list[Floats], weights: Floats, live: NDArray[np.bool_]) -> Floats:
    """Return q after the first steps, which single precision takes in half of the time."""
    single = [view.astype(np.float32) for view in views]
    q = _hellinger(single, weights.astype(np.float32))
    for _ in range(_ROUGH_STEPS):
        _newton(q, single, weights.astype(np.float32), live)
    result = q.astype(np.float64)
    # A step keeps the total mass, which must not be that of single precision.
    result /= result.sum(axis=0)
    # Where a share is too small for that, the double-precision steps begin at the beginning.
    poor = np.flatnonzero((live & ~(q > _SMALLEST_ROUGH)).any(axis=0))
    if poor.size:
        poor = _pair(poor)
        result[:, poor] = _hellinger([view.take(poor, axis=1) for view in views], weights)
    return result


def _hellinger(views: Sequence[NDArray[F]], weights: NDArray[F]) -> NDArray[F]:
    """Return (Σ_m w_m √p_m)², scaled to a sum of 1."""
    q = np.zeros_like(views[0])
    for view, weight in zip(views, weights, strict=True):
        q += weight * np.sqrt(view)
    q *= q
    q /= q.sum(axis=0)
    return q


def _newton(q: NDArray[F], views: Sequence[NDArray[F]], weights: NDArray[F], live: NDArray[np.bool_]) -> NDArray[F]:
    """Take a step in *q*, and return how far log q went in it at most; shape (n_items,)."""
    whole = bool(live.all())
    if not whole:
        q[~live] = 1
    g, h = _slopes(q, views, weights)
    if not whole:
        h[~live], g[~live] = np.inf, 0
    mass = q / h
    total = mass.sum(axis=0)
    mass *= g
    np.subtract(mass.sum(axis=0) / total, g, out=g)
    g /= h
    farthest: NDArray[F] = np.maximum(g.max(axis=0), -g.min(axis=0))
    q *= np.exp(g, out=g)
    if not whole:
        q *= live
    q /= q.sum(axis=0)
    return farthest


def _pair(places: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the places, a single one twice (see `sfumato.core.row_blocks.pair`)."""
    return np.repeat(places, 2) if places.size == 1 else places


def _slopes(q: NDArray[F], views: Sequence[NDArray[F]], weights: NDArray[F]) -> tuple[NDArray[F], NDArray[F]]:
    """Return g − log 2 = Σ w log(q/(q + p)) and its slope in log q, h = Σ w p/(q + p)."""
    g, h = np.zeros_like(q), np.zeros_like(q)
    share, product = np.empty_like(q), np.empty_like(q)
    # Where all weights are equal, one logarithm of a product does for several views. Four shares cannot underflow
    # unless one is next to 0; then the residual is not finite, and the item goes to `_safely`.
    equal = bool((weights == weights[0]).all())
    together = 4 if equal else 1
    for first in range(0, len(views), together):
        for place, view in enumerate(views[first : first + together]):
            out = share if place else product
            np.add(q, view, out=out)
            np.divide(q, out, out=out)
            h += out if equal else weights[first] * out
            if place:
                product *= share
        np.log(product, out=product)
        product *= weights[first]
        g += product
    h *= -(weights[0] if equal else 1)
    h += 1
    return g, h


def _safely(logs: list[Floats], weights: Floats, items: NDArray[np.int64], made: Centroids) -> None:
    """Solve the items by two nested Newton iterations that both converge from where they start.

    Everything is in logarithms, so no share underflows before the end. For a given μ each t_k is approached from
    the left, where a concave g makes Newton's steps rise without passing the root; log Σ_k exp t_k(μ) is convex in
    μ, rises, and is at most 0 at μ = 0 (at the optimum μ = 2 Σ_m w_m KL(q‖(q + p_m)/2) ≥ 0), while g < log 2.
    """
    live = np.maximum.reduce(logs) > -np.inf
    # Σ_{p > 0} w (log 2 + t − log p) + Σ_{p = 0} w log 2 is above g: its root in t is to the left of that of g.
    slope = np.add.reduce([weight * np.isfinite(log) for log, weight in zip(logs, weights, strict=True)])
    lift = np.add.reduce(
        [weight * np.where(np.isfinite(log), log, 0) for log, weight in zip(logs, weights, strict=True)]
    )
    low, high, mu = np.zeros(len(items)), np.full(len(items), _LOG_2), np.zeros(len(items))
    t = np.full_like(lift, -np.inf)
    steps = np.zeros(len(items), dtype=np.int64)
    active = np.ones(len(items), dtype=np.bool_)
    for _ in range(_MOST_SAFE_STEPS):
        t = np.where(live & active, (mu - _LOG_2 + lift) / slope, t)
        moving = active.copy()
        for _ in range(_MOST_SAFE_STEPS):
            g, h = _log_slopes(t, logs, weights)
            move = np.where(live & moving, (mu - g) / h, 0)
            t += move
            steps += moving
            moving &= (np.abs(move) > 1e-14 * (1 + np.where(live, np.abs(t), 0))).any(axis=0)
            if not moving.any():
                break
        # Anew for all: those that stood still before others have seen the slope at another place.
        _, h = _log_slopes(t, logs, weights)
        top = t.max(axis=0)
        mass = np.exp(t - top)
        total = mass.sum(axis=0)
        excess = top + np.log(total)
        active &= np.abs(excess) > 1e-14
        if not active.any():
            break
        high, low = np.where(excess > 0, mu, high), np.where(excess > 0, low, mu)
        newton = mu - excess * total / np.where(live, mass / h, 0).sum(axis=0)
        inside = (newton > low) & (newton < high)
        mu = np.where(active, np.where(inside, newton, (low + high) / 2), mu)
    t -= excess
    q = np.exp(t)
    g, _ = _log_slopes(t, logs, weights)
    made.probs[items] = q.T
    made.residuals[items] = np.abs(np.where(live, g - np.where(live, q * g, 0).sum(axis=0), 0)).max(axis=0)
    made.steps[items] = steps + _MOST_STEPS


def _log_slopes(t: Floats, logs: list[Floats], weights: Floats) -> tuple[Floats, Floats]:
    """Return g and h as functions of t = log q and the views' log p, either of which may be −∞."""
    g, h = np.full_like(t, _LOG_2), np.zeros_like(t)
    for log, weight in zip(logs, weights, strict=True):
        said = np.isfinite(log)
        g += np.where(said, -weight * np.logaddexp(0, log - t), 0)
        h += np.where(said, weight / (1 + np.exp(t - log)), 0)
    return g, h
