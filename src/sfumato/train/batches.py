"""Batches of sequences of like length, so that little is computed for padding."""

from __future__ import annotations

__all__ = ["by_length"]

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

# So many batches are sorted together: enough for lengths to be alike, few enough that batches differ between epochs.
_TOGETHER = 64


def by_length(
    lengths: Sequence[int] | NDArray[np.int64], batch_size: int, *, seed: int = 0, epoch: int = 0, shuffle: bool = True
) -> list[NDArray[np.int64]]:
    """Return batches of places in *lengths*, each of sequences of like length.

    Where *shuffle* is true the places are drawn anew in each epoch, cut into pools of 64 batches, and sorted by length
    within a pool; the batches then come in random order. Otherwise the longest come first, so that too little memory
    shows at once.

    >>> [batch.tolist() for batch in by_length([3, 1, 2, 5], 2, shuffle=False)]
    [[3, 0], [2, 1]]
    """
    lengths = np.asarray(lengths)
    if not shuffle:
        order = np.argsort(-lengths, kind="stable")
        return [order[first : first + batch_size] for first in range(0, len(order), batch_size)]
    rng = np.random.default_rng([seed, epoch])
    order = rng.permutation(len(lengths))
    batches = []
    for first in range(0, len(order), batch_size * _TOGETHER):
        pool = order[first : first + batch_size * _TOGETHER]
        pool = pool[np.argsort(lengths[pool], kind="stable")]
        batches += [pool[start : start + batch_size] for start in range(0, len(pool), batch_size)]
    return [batches[place] for place in rng.permutation(len(batches))]
