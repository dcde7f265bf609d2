"""Distributions at the borders of the simplex, for all metrics."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

Pair = tuple[np.ndarray, np.ndarray]


@pytest.fixture(scope="session")
def pair() -> Callable[[int, int, int], Pair]:
    """Return the function (seed, n_items, n_classes) → predicted and people, with zeros, ties and one-hot rows."""

    def made(seed: int, n_items: int, n_classes: int) -> Pair:
        rng = np.random.default_rng(seed)

        def one() -> np.ndarray:
            probs = rng.dirichlet(np.full(n_classes, 0.5), n_items)
            probs[rng.random(probs.shape) < 0.2] = 0
            kind = rng.random(n_items)
            probs[kind < 0.15] = 1  # uniform: every class is tied
            probs[kind > 0.9] = 0  # certain
            empty = probs.sum(axis=1) == 0
            probs[empty, rng.integers(0, n_classes, int(empty.sum()))] = 1
            return probs / probs.sum(axis=1, keepdims=True)

        return one(), one()

    return made
