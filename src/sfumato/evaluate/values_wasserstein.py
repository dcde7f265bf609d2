"""Wasserstein distance "over values": between the two sets of probabilities, whichever class has them.

This is what is printed for CIFAR-10S as the Wasserstein distance of two labels. It says whether the probabilities are
of the same sizes, and not whether they stand with the same classes; `wasserstein_error` is the distance over classes.
"""

from __future__ import annotations

__all__ = ["values_wasserstein_error", "values_wasserstein_error_per_item", "values_wasserstein_part"]

import numpy as np
from numpy.typing import NDArray

from sfumato.evaluate.blocks import Block, each_of, mean_of, over_classes
from sfumato.evaluate.pairing import Distributions, paired

# A network for K classes has about K·log²K/4 exchanges; beyond this many classes NumPy's own sort is quicker.
_NETWORK = 32


def values_wasserstein_error(predicted: Distributions, people: Distributions) -> float:
    """Return the mean over items of 1/K · Σ |q_(k) − p_(k)|, both sorted by size (Collins et al. 2022, section 4).

    Both of shape (n_items, n_classes). Of each item it is ``scipy.stats.wasserstein_distance(q, p)``, which takes the
    probabilities themselves for observations. 0 for any two one-hot labels, right or wrong.

    >>> values_wasserstein_error([[1.0, 0.0]], [[0.0, 1.0]]), values_wasserstein_error([[1.0, 0.0]], [[0.5, 0.5]])
    (0.0, 0.5)
    """
    return mean_of(values_wasserstein_part, *paired(predicted, people))


def values_wasserstein_error_per_item(predicted: Distributions, people: Distributions) -> NDArray[np.float64]:
    """Return the distance of each item, shape (n_items,), in the order of *predicted*."""
    return each_of(values_wasserstein_part, *paired(predicted, people))


def values_wasserstein_part(block: Block) -> NDArray[np.float64]:
    """Return the distance of each item of the block."""
    return over_classes(np.abs(_sorted(block.q) - _sorted(block.p))) / len(block.q)


def _sorted(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the values sorted along the first axis."""
    n_classes = len(values)
    if n_classes > _NETWORK:
        return np.sort(values, axis=0)
    # Batcher's merge exchange (Knuth, The Art of Computer Programming 3, 5.2.2, Algorithm M): the same exchanges for
    # every item, so that each is two operations on whole rows.
    result = values.copy()
    smaller = np.empty_like(result[0])
    for low, high in _exchanges(n_classes):
        np.minimum(result[low], result[high], out=smaller)
        np.maximum(result[low], result[high], out=result[high])
        result[low] = smaller
    return result


def _exchanges(n: int) -> list[tuple[int, int]]:
    pairs = []
    highest = 1 << max(0, (n - 1).bit_length() - 1)
    p = highest
    while p > 0:
        q, r, d = highest, 0, p
        while True:
            pairs += [(i, i + d) for i in range(n - d) if i & p == r]
            if q == p:
                break
            q, r, d = q // 2, p, q - p
        p //= 2
    return pairs
