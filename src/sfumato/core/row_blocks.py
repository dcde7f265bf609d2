"""Work on blocks of items in a pool of threads.

NumPy's loops release the interpreter lock, so threads run side by side. Each item's numbers are its own, whatever
block it falls into, and so are the bits.
"""

from __future__ import annotations

__all__ = ["block_size", "columns", "over_blocks", "pair"]

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from sfumato.core.processors import n_processors
from sfumato.errors import OptionError

Made = TypeVar("Made")

# Numbers of one thread's arrays together, four mebibytes: a share of the last-level cache. Blocks that fit the second
# level would be quicker on one thread, but their calls are so short that threads wait for the interpreter.
_CACHED = 1 << 19
_FEWEST_ITEMS = 16


def block_size(n_classes: int, n_arrays: int) -> int:
    """Return how many items to take at a time, when *n_arrays* arrays of (items, n_classes) are at work."""
    return max(_FEWEST_ITEMS, _CACHED // (n_classes * n_arrays))


def over_blocks(work: Callable[[int, int], Made], n_items: int, size: int, *, threads: int | None = None) -> list[Made]:
    """Return work(start, stop) for consecutive blocks of *size* items, in their order.

    *threads* is the number of threads (default: one for each processor that this process may use).

    >>> over_blocks(lambda start, stop: stop - start, 10, 4)
    [4, 4, 2]
    """
    if threads is not None and threads < 1:
        raise OptionError(f"The option 'threads' must be at least 1. Got {threads} instead.")
    starts = range(0, n_items, size)
    stops = [min(start + size, n_items) for start in starts]
    workers = min(threads or n_processors(), len(stops))
    if workers <= 1:
        return [work(start, stop) for start, stop in zip(starts, stops, strict=True)]
    with ThreadPoolExecutor(workers, thread_name_prefix="sfumato-rows") as pool:
        try:
            return list(pool.map(work, starts, stops))
        except BaseException:  # after Ctrl-C the blocks that have not begun never do
            pool.shutdown(cancel_futures=True)
            raise


def pair(start: int, stop: int) -> NDArray[np.int64]:
    """Return the items start … stop − 1; a single one twice.

    NumPy adds up a single column in another order than several, and the bits of an item must not depend on its
    neighbours.
    """
    return np.arange(start, stop) if stop - start > 1 else np.array([start, start])


def columns(view: NDArray[np.floating[Any]], items: NDArray[np.int64] | slice) -> NDArray[np.float64]:
    """Return the distributions of *items* as columns, so that a sum over the classes is one of long rows."""
    return np.ascontiguousarray(view[items].T, dtype=np.float64)
