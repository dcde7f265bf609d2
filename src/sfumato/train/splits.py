"""Train, dev and test where nobody has named them: drawn by seed, the same share of each class where that is asked."""

from __future__ import annotations

__all__ = ["draw_splits"]

import numpy as np
from numpy.typing import NDArray


def draw_splits(
    n_examples: int, *, dev_share: float, test_share: float, seed: int, strata: NDArray[np.int64] | None = None
) -> dict[str, NDArray[np.int64]]:
    """Return the numbers of the examples of each split, each in rising order.

    The test examples depend on *seed* and *test_share* alone, so that another *dev_share* does not change them. With
    *strata*, shape (n_examples,), each stratum is divided by itself.

    >>> {name: len(rows) for name, rows in draw_splits(10, dev_share=0.1, test_share=0.3, seed=0).items()}
    {'train': 6, 'dev': 1, 'test': 3}
    """
    rng = np.random.default_rng(seed)
    groups = [np.arange(n_examples)]
    if strata is not None:
        groups = [np.flatnonzero(strata == value) for value in np.unique(strata)]
    parts: dict[str, list[NDArray[np.int64]]] = {"train": [], "dev": [], "test": []}
    for group in groups:
        shuffled = rng.permutation(group)
        n_test, n_dev = round(test_share * len(group)), round(dev_share * len(group))
        parts["test"].append(shuffled[:n_test])
        parts["dev"].append(shuffled[n_test : n_test + n_dev])
        parts["train"].append(shuffled[n_test + n_dev :])
    return {name: np.sort(np.concatenate(part)).astype(np.int64) for name, part in parts.items()}
