"""The optimiser of Wright and Augenstein (2024) for their temperatures: limited-memory BFGS without a line search.

It is the algorithm of torch.optim.LBFGS with its defaults (history 100, tolerances 1e-7 and 1e-9) and max_iter=1000,
on parameters in single precision: each step is the quasi-Newton direction times a learning rate so small that the
steps run out long before a minimum. The published table needs exactly that.
"""

from __future__ import annotations

__all__ = ["Schedule", "follow_schedule"]

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Singles = NDArray[np.float32]

_START = 1.5
_STEPS = 1000
_HISTORY = 100
_FLAT = 1e-7  # largest slope at which it stops
_STILL = 1e-9  # change of the loss or of a parameter at which it stops
_STRAIGHT = 1e-10  # curvature below which a step is not remembered


class Schedule(NamedTuple):
    """Where the schedule ended: temperatures, whether by a tolerance, the losses on the way, and the last slope."""

    temperatures: NDArray[np.float64]
    converged: bool
    trace: tuple[float, ...]
    slope: NDArray[np.float64]


def follow_schedule(
    divergence: Callable[[NDArray[np.float64]], tuple[float, NDArray[np.float64]]],
    penalties: NDArray[np.float64],
    *,
    learning_rate: float,
) -> Schedule:
    """Return where the schedule ends on D(T) + Σ_m penalties_m T_m²; *divergence* returns D and T·∂D/∂T.

    >>> bowl = lambda t: (float(((t - 2) ** 2).sum()), 2 * (t - 2) * t)
    >>> follow_schedule(bowl, np.zeros(1), learning_rate=0.01).temperatures.round(3).tolist()
    [2.0]
    """
    # Where the steps run away, the last numbers are not finite, and the caller sees to it.
    with np.errstate(all="ignore"):
        return _followed(divergence, penalties.astype(np.float32), np.float32(learning_rate))


def _followed(
    divergence: Callable[[NDArray[np.float64]], tuple[float, NDArray[np.float64]]], penalties: Singles, rate: np.float32
) -> Schedule:
    steps: deque[Singles] = deque(maxlen=_HISTORY)
    changes: deque[Singles] = deque(maxlen=_HISTORY)
    scale = np.float32(1)

    def evaluate(place: Singles) -> tuple[float, Singles]:
        wide = place.astype(np.float64)
        value, slope = divergence(wide)
        # The penalty in single precision too: its rounding decides when the loss is taken to stand still.
        held = penalties * place**2
        return value + float(held.sum()), (slope / wide).astype(np.float32) + 2 * penalties * place

    place = np.full(len(penalties), _START, dtype=np.float32)
    value, slope = evaluate(place)
    trace = [value]
    converged = bool(np.abs(slope).max() <= _FLAT)
    # The first step is shorter still.
    length = rate * np.minimum(np.float32(1), 1 / np.abs(slope).sum())
    while len(trace) <= _STEPS and not converged and np.isfinite(value):
        direction = _direction(slope, steps, changes, scale)
        if slope @ direction > -_STILL:
            converged = True
            break
        step = length * direction
        place, before, value_before = place + step, slope, value
        value, slope = evaluate(place)
        trace.append(value)
        still = np.abs(step).max() <= _STILL or abs(value - value_before) < _STILL
        converged = bool(np.abs(slope).max() <= _FLAT or still)
        change, length = slope - before, rate
        if change @ step > _STRAIGHT:
            steps.append(step)
            changes.append(change)
            scale = (change @ step) / (change @ change)
    return Schedule(place.astype(np.float64), converged, tuple(trace), slope.astype(np.float64))


def _direction(
    slope: Singles,
    steps: deque[Singles],
    changes: deque[Singles],
    scale: np.float32,
) -> Singles:
    """Return the two-loop recursion's −H·slope (Nocedal 1980)."""
    direction: Singles = -slope
    pulls: list[np.float32] = []
    for step, change in zip(reversed(steps), reversed(changes), strict=True):
        pulls.append(np.float32((step @ direction) / (change @ step)))
        direction -= pulls[-1] * change
    direction *= scale
    for step, change, pull in zip(steps, changes, reversed(pulls), strict=True):
        direction += (pull - (change @ direction) / (change @ step)) * step
    return direction
