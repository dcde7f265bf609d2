"""Hashes and sums that do not depend on the order in which the rows came.

A file with its lines shuffled says the same thing, so it must have the same fingerprint and give the same bits.
Sorting first would do, but for ten million rows that costs more than the work itself.
"""

from __future__ import annotations

__all__ = ["name_keys", "on_grid", "scrambled"]

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Keys = NDArray[np.uint64]

_CHUNK = 1 << 15  # names at a time: their characters and powers stay in the cache
_RADIX = np.uint64(0x9E3779B97F4A7C15)


def name_keys(names: Sequence[str]) -> Keys:
    """Return a 64-bit key for each name, the same on every machine; shape (n_names,).

    A polynomial in the bytes of the name modulo 2^64, scrambled. It tells names apart; it keeps no secret.

    >>> keys = name_keys(["a", "b", "a"])
    >>> bool(keys[0] == keys[2]), bool(keys[0] == keys[1])
    (True, False)
    """
    result = np.empty(len(names), dtype=np.uint64)
    for first in range(0, len(names), _CHUNK):
        part: Sequence[Any] = names[first : first + _CHUNK]
        # One more byte per name, so that a name of no bytes has a term too.
        joined = "\x00".join([*part, ""])
        if not joined.isascii():  # then characters are not bytes, and the lengths must be counted in bytes
            part = [name.encode() for name in part]
        text = np.frombuffer(joined.encode(), dtype=np.uint8)
        lengths = np.fromiter(map(len, part), dtype=np.int64, count=len(part)) + 1
        starts = np.cumsum(lengths) - lengths
        powers = np.multiply.accumulate(np.full(int(lengths.max()), _RADIX))
        terms = powers[np.arange(len(text)) - np.repeat(starts, lengths)]
        terms *= text.astype(np.uint64) + np.uint64(1)
        result[first : first + len(part)] = np.add.reduceat(terms, starts)
    return scrambled(result)


def scrambled(keys: Keys) -> Keys:
    """Return the keys after a mixing step in which each bit of the input moves half of the bits of the output.

    The finaliser of splitmix64 (Steele, Lea and Flood, OOPSLA 2014), a bijection; it changes *keys* in place.
    """
    other = keys >> np.uint64(30)
    for factor, shift in ((0xBF58476D1CE4E5B9, 27), (0x94D049BB133111EB, 31)):
        keys ^= other
        keys *= np.uint64(factor)
        np.right_shift(keys, np.uint64(shift), out=other)
    keys ^= other
    return keys


def on_grid(values: ArrayLike, n_terms: int, *, largest: float | None = None) -> NDArray[np.float64]:
    """Return the values rounded to a grid so coarse that *n_terms* of them add up exactly, in any order.

    *largest* is a bound on the absolute values (else it is looked up). The grid is a power of two of at most
    2^-51 · n_terms · largest (or four times that), which for a thousand terms between 0 and 1 is 10^-12.

    >>> bool(0.1 + 0.2 + 0.3 == 0.3 + 0.2 + 0.1)
    False
    >>> a, b, c = on_grid([0.1, 0.2, 0.3], 3)
    >>> bool(a + b + c == c + b + a)
    True
    """
    array: NDArray[Any] = np.asarray(values, dtype=np.float64)
    bound = float(np.abs(array).max(initial=0.0)) if largest is None else largest
    if bound == 0 or not math.isfinite(bound):
        return array.copy()
    # Both are rounded up to powers of two, so that a sum never needs more than 53 bits. A coarser grid does no
    # harm: it keeps the two factors finite where all values are next to nothing.
    step = math.ldexp(1.0, max(math.frexp(bound)[1] + math.frexp(max(n_terms, 1))[1] - 53, -1020))
    result = array * (1 / step)
    np.rint(result, out=result)
    result *= step
    return result
