"""Seeds for everything: the random numbers of a stretch of work depend on the numbers given here and on nothing else.

PyTorch draws dropout and starting weights from generators that the whole process shares. They are set for the
stretch and put back afterwards, so that a run neither depends on what ran before it nor disturbs what comes after.
"""

from __future__ import annotations

__all__ = ["seeded"]

import random
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch


@contextmanager
def seeded(*numbers: int) -> Iterator[None]:
    """Draw every random number of the block from the stream that *numbers* name (seed, epoch, process, …).

    >>> with seeded(0, 1):
    ...     first = torch.rand(2)
    >>> with seeded(0, 1):
    ...     torch.equal(first, torch.rand(2))
    True
    """
    words = np.random.SeedSequence(numbers).generate_state(3)
    python, numpy = random.getstate(), np.random.get_state()  # noqa: NPY002
    with torch.random.fork_rng():
        torch.manual_seed(int(words[0]))
        random.seed(int(words[1]))
        np.random.seed(int(words[2]))  # noqa: NPY002  # other people's models draw from it
        try:
            yield
        finally:
            random.setstate(python)
            np.random.set_state(numpy)  # noqa: NPY002
