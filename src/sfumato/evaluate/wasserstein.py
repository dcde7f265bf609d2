"""Wasserstein distance over ordered classes: how far mass must travel from the model to people."""

from __future__ import annotations

__all__ = ["wasserstein_error", "wasserstein_error_per_item", "wasserstein_part"]

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import OptionError
from sfumato.evaluate.blocks import Block, each_of, mean_of, over_classes
from sfumato.evaluate.pairing import Distributions, paired


def wasserstein_error(
    predicted: Distributions, people: Distributions, *, positions: Sequence[float] | None = None
) -> float:
    """Return the mean over items of Σ |Q_k − P_k| · (x_{k+1} − x_k), Q and P the sums up to class k.

    Both of shape (n_items, n_classes), classes in their order (of named tables, that of *predicted*). *positions*
    say where they lie on their scale, ascending; without them they are 1 apart, and the result is 0 to K − 1 (LeWiDi
    2025's score of ordinal tasks). It is the 1-Wasserstein distance in one dimension (Vallender 1974).

    >>> wasserstein_error([[1.0, 0.0, 0.0]], [[0.0, 0.5, 0.5]])
    1.5
    >>> wasserstein_error([[1.0, 0.0, 0.0]], [[0.0, 0.5, 0.5]], positions=[0, 1, 10])
    5.5
    """
    q, p = paired(predicted, people)
    return mean_of(partial(wasserstein_part, steps=_steps(positions, q.shape[1])), q, p)


def wasserstein_error_per_item(
    predicted: Distributions, people: Distributions, *, positions: Sequence[float] | None = None
) -> NDArray[np.float64]:
    """Return the distance of each item, shape (n_items,), in the order of *predicted*."""
    q, p = paired(predicted, people)
    return each_of(partial(wasserstein_part, steps=_steps(positions, q.shape[1])), q, p)


def wasserstein_part(block: Block, *, steps: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
    """Return the distance of each item of the block; *steps* lie between one class and the next, shape (K − 1, 1)."""
    ahead = np.abs(np.cumsum(block.gap, axis=0)[:-1])
    return over_classes(ahead if steps is None else ahead * steps)


def _steps(positions: Sequence[float] | None, n_classes: int) -> NDArray[np.float64] | None:
    if positions is None:
        return None
    places = np.asarray(positions, dtype=np.float64)
    if places.shape != (n_classes,) or not np.isfinite(places).all() or (np.diff(places) <= 0).any():
        raise OptionError(
            f"The option 'positions' must be {n_classes} ascending numbers, one for each class. "
            f"Got {list(positions)} instead."
        )
    return np.diff(places)[:, None]
