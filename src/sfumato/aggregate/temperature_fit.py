"""Where the loss of the temperatures is least, from several starts, first on a part of the items and then on all.

The loss has few variables and much data, and can have several minima. So the starts go down a sample of the items,
the best minima go on to a larger sample, and what is left of them to all items, where a few evaluations are enough
because the larger sample has already given the Hessian. Samples are chosen by the items' names, not by their order.
"""

from __future__ import annotations

__all__ = ["Optimum", "least"]

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sfumato.aggregate.temperature_loss import TemperatureLoss

Floats = NDArray[np.float64]

# Pairs of views × items × classes in the two samples, and the fewest items of a sample.
_SAMPLES = (1 << 17, 1 << 20)
_FEWEST_ITEMS = 256
# Minima that are further above the best than this, divided by the root of the number of items, are left behind; a loss
# per item scatters by about 0.1, so it is five standard errors. Minima nearer than _SAME (in log T) are one.
_SLACK = 0.5
_SAME = 0.05
# |∂L/∂log T| at which a descent ends, on a sample and on all items.
_ROUGH, _FINE = 1e-5, 1e-9
_MOST_STEPS = 100
# No temperature goes beyond it: where nothing holds one back (the last view under the paper's penalty) it ends here.
_HOTTEST = 1e6
# So many views at most are tried softer than all others.
_MOST_ALONE = 8


class Optimum(NamedTuple):
    """Temperatures, shape (n_views,), whether the gradient vanished there, and the loss after each step."""

    temperatures: Floats
    converged: bool
    trace: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class _Point:
    """Where a descent begins or has ended, in log T; ``hessian`` may be that of a sample."""

    place: Floats
    hessian: Floats | None = None
    converged: bool = False
    trace: tuple[float, ...] = ()


def least(loss: TemperatureLoss, keys: NDArray[np.uint64], *, coldest: float) -> Optimum:
    """Return the lowest minimum found of *loss* over temperatures of at least *coldest*; *keys* choose the samples."""
    bounds = (float(np.log(coldest)), float(np.log(_HOTTEST)))
    points = [_Point(start) for start in _starts(len(loss.views), bounds[0])]
    pair_cells = len(loss.views) * (len(loss.views) - 1) // 2 * loss.n_classes
    for size in _SAMPLES:
        n_items = max(size // pair_cells, _FEWEST_ITEMS)
        if n_items < loss.n_items:
            sample = loss.part(np.argpartition(keys, n_items)[:n_items])
            best = _minima([_descend(sample, point, bounds, _ROUGH) for point in points], _SLACK / np.sqrt(n_items))
            points = [replace(point, hessian=_hessian(sample, point.place)) for point in best]
    best = _minima([_descend(loss, point, bounds, _FINE) for point in points], 0.0)
    return Optimum(np.exp(best[0].place), best[0].converged, best[0].trace)


def _starts(n_views: int, low: float) -> list[Floats]:
    """Return points to start from: all views as they are, all softer (or harder, if they may be), each alone softer."""
    levels = [1.0, 1.5, 3.0] + ([0.5, 0.2] if low < 0 else [])
    together = [np.full(n_views, np.log(level)) for level in levels]
    # Each start costs a gradient per view, and each gradient the square of their number.
    alone = [np.log(np.where(np.arange(n_views) == view, 3.0, 1.0)) for view in range(min(n_views, _MOST_ALONE))]
    return [np.maximum(start, low) for start in (*together, *alone)]


def _minima(points: list[_Point], slack: float) -> list[_Point]:
    """Return the best of the points, and others that are no more than *slack* above it and not near a better one."""
    # Sorting is stable: of equals the first start wins.
    ordered = sorted(points, key=lambda point: point.trace[-1])
    kept: list[_Point] = []
    for point in ordered:
        near = any(np.abs(point.place - other.place).max() < _SAME for other in kept)
        if not near and point.trace[-1] <= ordered[0].trace[-1] + slack:
            kept.append(point)
    return kept


def _descend(loss: TemperatureLoss, start: _Point, bounds: tuple[float, float], tolerance: float) -> _Point:
    """Go down by Newton steps within the bounds; the Hessian is corrected on the way (BFGS)."""
    place = np.clip(start.place, *bounds)
    value, slope = loss(place)
    hessian = _hessian(loss, place) if start.hessian is None else start.hessian
    trace = [value]
    while len(trace) <= _MOST_STEPS:
        free = _free(place, slope, bounds)
        if np.abs(slope[free]).max(initial=0) <= tolerance:
            return _Point(place, hessian, True, tuple(trace))
        moved = _step(loss, place, value, slope, free, hessian, bounds)
        if moved is None:  # rounding hides any further descent
            break
        step = moved[0] - place
        change = moved[2] - slope
        place, value, slope = moved
        trace.append(value)
        if step @ change > 1e-12 * (step @ step):
            bent = hessian @ step
            hessian = hessian + np.outer(change, change) / (step @ change) - np.outer(bent, bent) / (step @ bent)
    return _Point(place, hessian, False, tuple(trace))


def _step(
    loss: TemperatureLoss,
    place: Floats,
    value: float,
    slope: Floats,
    free: NDArray[np.bool_],
    hessian: Floats,
    bounds: tuple[float, float],
) -> tuple[Floats, float, Floats] | None:
    """Return a lower place with its loss and gradient: along Newton's direction, else straight down."""
    for direction in (_newton(hessian, slope, free), np.where(free, -slope, 0)):
        for halvings in range(30):
            there = np.clip(place + direction * 0.5**halvings, *bounds)
            value_there, slope_there = loss(there)
            if value_there <= value + 1e-4 * (slope @ (there - place)):
                return there, value_there, slope_there
            # Near the minimum the fall of the loss is lost in rounding, that of the gradient is not.
            gentler = np.abs(slope_there[_free(there, slope_there, bounds)]).max(initial=0) < np.abs(slope[free]).max()
            if gentler and value_there <= value + 1e-14:
                return there, value_there, slope_there
    return None


def _newton(hessian: Floats, slope: Floats, free: NDArray[np.bool_]) -> Floats:
    """Return Newton's direction over the free variables, downhill even where the Hessian bends the other way."""
    bends, axes = np.linalg.eigh(hessian[np.ix_(free, free)])
    bends = np.maximum(np.abs(bends), max(1e-3 * np.abs(bends).max(), 1e-12))
    direction = np.zeros_like(slope)
    direction[free] = -axes @ ((axes.T @ slope[free]) / bends)
    # At most a factor of e per step: beyond it the quadratic says little.
    longest: Floats = direction / max(1.0, np.abs(direction).max())
    return longest


def _free(place: Floats, slope: Floats, bounds: tuple[float, float]) -> NDArray[np.bool_]:
    """Return which variables may move: those that are not pressed against a bound."""
    pressed: NDArray[np.bool_] = ((place <= bounds[0]) & (slope > 0)) | ((place >= bounds[1]) & (slope < 0))
    return ~pressed


def _hessian(loss: TemperatureLoss, place: Floats) -> Floats:
    """Return the Hessian by differences of the gradient, shape (n_views, n_views)."""
    _, slope = loss(place)
    rows = [(loss(place + 1e-4 * axis)[1] - slope) / 1e-4 for axis in np.eye(len(place))]
    result: Floats = (np.array(rows) + np.array(rows).T) / 2
    return result
