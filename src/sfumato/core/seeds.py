"""Randomness is an argument: a seed, or a generator that somebody else made."""

from __future__ import annotations

__all__ = ["Seed", "generator", "recorded", "spawn"]

import numpy as np

from sfumato.errors import OptionError

Seed = int | np.random.Generator


def generator(seed: Seed) -> np.random.Generator:
    """Return the generator that *seed* stands for; a generator is used as it is, and moves on.

    >>> float(generator(0).random()) == float(generator(0).random())
    True
    """
    if isinstance(seed, np.random.Generator):
        return seed
    if not isinstance(seed, int | np.integer) or seed < 0:
        raise OptionError(f"The option 'seed' must be a whole number, 0 or more, or a generator. Got {seed!r} instead.")
    return np.random.default_rng(seed)


def spawn(seed: Seed, count: int) -> list[np.random.Generator]:
    """Return *count* independent generators, the same ones for the same seed, whoever runs them and when."""
    return generator(seed).spawn(count)


def recorded(seed: Seed) -> int | None:
    """Return the seed as it stands in a result's origin; None where a generator was handed in."""
    return None if isinstance(seed, np.random.Generator) else int(seed)
