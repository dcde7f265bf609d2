"""How many processors there are to work with."""

from __future__ import annotations

__all__ = ["n_processors"]

import os


def n_processors() -> int:
    """Return how many processors this process may use, which in a container can be fewer than the machine has.

    >>> n_processors() >= 1
    True
    """
    if hasattr(os, "sched_getaffinity"):  # not on every system
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
