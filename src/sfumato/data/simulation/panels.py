"""Which annotators judge which item."""

from __future__ import annotations

__all__ = ["draw_panels", "panel_sizes"]

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import OptionError

# Cells of the table of waiting times that a race holds at a time.
_CELLS = 1 << 21


def panel_sizes(rng: np.random.Generator, per_item: float | str, n_items: int, n_annotators: int) -> NDArray[np.int64]:
    """Return how many annotators judge each item, shape (n_items,)."""
    if per_item == "all":
        return np.full(n_items, n_annotators)
    if isinstance(per_item, bool) or not isinstance(per_item, int | float | np.integer):
        raise OptionError(f"The option 'per_item' must be a number or 'all'. Got {per_item!r} instead.")
    if not 1 <= per_item <= n_annotators:
        raise OptionError(
            f"The option 'per_item' must be at least 1 and at most the number of annotators, {n_annotators}: "
            f"nobody judges an item twice. Got {per_item} instead."
        )
    if isinstance(per_item, int | np.integer):
        return np.full(n_items, int(per_item))
    return np.minimum(1 + rng.poisson(per_item - 1, n_items), n_annotators)


def draw_panels(
    rng: np.random.Generator, sizes: NDArray[np.int64], weights: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return item and annotator of each annotation, sorted: draws without replacement, in proportion to *weights*.

    >>> item, annotator = draw_panels(np.random.default_rng(0), np.array([1, 3]), np.ones(3))
    >>> item.tolist(), annotator[1:].tolist()
    ([0, 1, 1, 1], [0, 1, 2])
    """
    n_annotators = len(weights)
    share = weights / weights.sum()
    # Drawing on until n different annotators have come takes about t draws, where Σ_j 1 − exp(−t·share_j) = n. A race
    # costs one number per annotator, so panels of at most the size that t = n_annotators/4 draws give are drawn on.
    small = sizes <= -np.expm1(-share * n_annotators / 4).sum()
    parts = [_drawn_on(rng, np.flatnonzero(small), sizes, share)]
    large = np.flatnonzero(~small)
    step = max(1, _CELLS // n_annotators)
    parts += [_raced(rng, large[k : k + step], sizes, share) for k in range(0, len(large), step)]
    keys = np.sort(np.concatenate(parts))
    return np.divmod(keys, n_annotators)


def _drawn_on(
    rng: np.random.Generator, rows: NDArray[np.int64], sizes: NDArray[np.int64], share: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Draw with replacement what is still missing, until every row has as many different annotators as it needs.

    Never more at once than are missing, so that the result is that of drawing one at a time.
    """
    n_annotators = len(share)
    uniform = bool((share == share[0]).all())
    bounds = np.cumsum(share)[:-1]
    keys = np.zeros(0, dtype=np.int64)
    done = []
    missing = sizes[rows]
    while rows.size:
        owner = np.repeat(rows, missing)
        drawn = (
            rng.integers(n_annotators, size=len(owner))
            if uniform
            else np.searchsorted(bounds, rng.random(len(owner)), side="right")
        )
        keys = np.sort(np.concatenate([keys, owner * n_annotators + drawn]))
        keys = keys[np.concatenate([[True], keys[1:] != keys[:-1]])]
        owner = keys // n_annotators
        missing = sizes[rows] - np.bincount(owner, minlength=len(sizes))[rows]
        rows, missing = rows[missing > 0], missing[missing > 0]
        open_row = np.zeros(len(sizes), dtype=np.bool_)
        open_row[rows] = True
        is_open = open_row[owner]
        done.append(keys[~is_open])
        keys = keys[is_open]
    return np.concatenate(done) if done else keys


def _raced(
    rng: np.random.Generator, rows: NDArray[np.int64], sizes: NDArray[np.int64], share: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Let all annotators run, with exponential times of rate *share*; the first ones in are the panel.

    This is drawing without replacement (Efraimidis & Spirakis, 2006).
    """
    times = rng.standard_exponential((len(rows), len(share))) / share
    order = np.argsort(times, axis=1)
    chosen = np.arange(len(share)) < sizes[rows, None]
    owner = np.repeat(rows, sizes[rows])
    keys: NDArray[np.int64] = owner * len(share) + order[chosen]
    return keys
