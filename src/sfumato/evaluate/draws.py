"""Items drawn with replacement: many draws at a time, as counts, so that a resampled mean is one matrix product."""

from __future__ import annotations

__all__ = ["drawn_counts", "drawn_runs", "resampled_means", "tiled_product"]

import math
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.core.order_free import on_grid
from sfumato.core.seeds import Seed, generator, spawn
from sfumato.errors import InputError, OptionError

Counts = NDArray[np.unsignedinteger[Any]]

# Counts made at a time. It fixes which generator makes which draw, so it must not depend on the machine.
_CHUNK = 1 << 21
# From here on counts come from a table of the Poisson distribution, which is twice as quick as drawing one by one.
_MANY = 4096
# Numbers drawn at a time: they stay in the cache.
_CACHED = 1 << 16
# A product of a tile: 2¹⁸ multiplications, the most that OpenBLAS does without threads of its own.
_TILE_ROWS, _TILE_ITEMS, _TILE_COLUMNS = 16, 1024, 16


def resampled_means(values: ArrayLike, *, resamples: int = 1000, seed: Seed = 0) -> NDArray[np.float64]:
    """Return the means of each column over items drawn with replacement, shape (resamples, n_columns).

    *values* of shape (n_items, n_columns), one row per item. Every column sees the same draws, and so does another
    call with as many items and the same seed. The values are rounded by some 10⁻¹⁵ · n_items of the largest of their
    column, so that the sums are exact and the same bits come out on every machine, with any number of threads.

    >>> means = resampled_means([[0.0, 1.0], [1.0, 0.0]], resamples=500, seed=1)
    >>> means.shape, means.sum(axis=1).min(), means.sum(axis=1).max()
    ((500, 2), np.float64(1.0), np.float64(1.0))
    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 2 or not array.size:
        raise InputError(f"Values to resample need the shape (items, columns), one of each at least: {array.shape}.")
    if np.isnan(array).any():
        row, column = np.argwhere(np.isnan(array))[0]
        raise InputError(f"The value of item {row + 1} in column {column + 1} is not a number, so it has no mean.")
    n = len(array)
    # An infinite value makes a mean infinite as soon as its item is drawn; as a factor of 0 it would be NaN.
    infinite = np.isinf(array).any(axis=0)
    exact = np.column_stack([on_grid(np.where(np.isinf(column), 0, column), n) for column in array.T])
    marks = np.isinf(array[:, infinite]).astype(np.float64) * np.sign(array[:, infinite])
    exact = np.ascontiguousarray(np.hstack([exact, marks])) if infinite.any() else exact

    parts = _parts(n, resamples, seed)

    def sums(part: tuple[int, np.random.Generator]) -> NDArray[np.float64]:
        return tiled_product(_counts(part[1], part[0], n), exact)

    if len(parts) == 1:
        result = sums(parts[0]) / n
    else:
        with ThreadPoolExecutor(min(len(parts), os.cpu_count() or 1, 8)) as pool:
            result = np.concatenate(list(pool.map(sums, parts))) / n
    means = result[:, : array.shape[1]]
    if infinite.any():
        hit = result[:, array.shape[1] :]
        means[:, infinite] = np.where(hit == 0, means[:, infinite], np.copysign(math.inf, hit))
    return means


def drawn_counts(n_items: int, *, resamples: int, seed: Seed) -> Iterator[Counts]:
    """Yield how often each item was drawn, some resamples at a time, each chunk of shape (rows, n_items).

    The draws are those of `resampled_means` with the same seed: each row sums to n_items.

    >>> [chunk.sum(axis=1).tolist() for chunk in drawn_counts(3, resamples=2, seed=0)]
    [[3, 3]]
    """
    for rows, rng in _parts(n_items, resamples, seed):
        yield _counts(rng, rows, n_items)


def drawn_runs(n_runs: int, *, resamples: int, seed: Seed) -> NDArray[np.float64]:
    """Return the weights of runs that were drawn with replacement, shape (resamples, n_runs), rows summing to 1.

    One run fewer than there are is drawn: with as many the variance between R runs would come out as (R − 1)/R of
    what it is, which for three runs is a third too small (McCarthy and Snowden 1985; Rao and Wu 1988).

    >>> drawn_runs(1, resamples=2, seed=0).tolist()
    [[1.0], [1.0]]
    """
    if n_runs == 1:
        return np.ones((resamples, 1))
    drawn = generator(seed).integers(0, n_runs, size=(resamples, n_runs - 1))
    flat = (drawn + np.arange(resamples)[:, None] * n_runs).ravel()
    return np.bincount(flat, minlength=resamples * n_runs).reshape(resamples, n_runs) / (n_runs - 1)


def tiled_product(counts: NDArray[Any], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return counts @ values, shapes (rows, items) and (items, columns).

    In tiles so small that the linear algebra library does each in the calling thread: its own threads wait for one
    another by spinning, which on a busy machine made the product ten to a hundred times slower.

    >>> tiled_product(np.array([[1, 2]]), np.array([[0.5], [1.0]])).tolist()
    [[2.5]]
    """
    (rows, n), columns = counts.shape, values.shape[1]
    total = np.zeros((rows, columns))
    for top in range(0, rows, _TILE_ROWS):
        for start in range(0, n, _TILE_ITEMS):
            tile = counts[top : top + _TILE_ROWS, start : start + _TILE_ITEMS].astype(np.float64)
            for left in range(0, columns, _TILE_COLUMNS):
                right = values[start : start + _TILE_ITEMS, left : left + _TILE_COLUMNS]
                total[top : top + _TILE_ROWS, left : left + _TILE_COLUMNS] += tile @ right
    return total


def _parts(n_items: int, resamples: int, seed: Seed) -> list[tuple[int, np.random.Generator]]:
    """Return how many resamples each chunk holds, and the generator that makes it."""
    if resamples < 1:
        raise OptionError(f"The option 'resamples' must be 1 or more. Got {resamples} instead.")
    if n_items < 1:
        raise InputError("There are no items to resample.")
    rows = max(1, min(resamples, _CHUNK // n_items))
    starts = range(0, resamples, rows)
    return [(min(rows, resamples - start), rng) for start, rng in zip(starts, spawn(seed, len(starts)), strict=True)]


def _counts(rng: np.random.Generator, rows: int, n: int) -> Counts:
    """Return multinomial counts, n draws from n items in each row."""
    if n < _MANY:
        counts = np.empty((rows, n), dtype=np.uint16)
        step = max(1, _CACHED // n)
        for start in range(0, rows, step):
            part = counts[start : start + step]
            drawn = rng.integers(0, n, size=part.shape)
            drawn += np.arange(len(part))[:, None] * n
            part[:] = np.bincount(drawn.ravel(), minlength=part.size).reshape(part.shape)
        return counts
    # Poisson counts are multinomial once their sum is known. A rate a little below 1 leaves a few draws open
    # (4·√n of them, and in one row of 30,000 too many), which are then drawn one by one.
    many = _poisson(rng, rows * n, 1 - 4 / math.sqrt(n)).reshape(rows, n)
    missing = n - many.sum(axis=1, dtype=np.int64)
    for row in np.flatnonzero(missing < 0):
        many[row] = np.bincount(rng.integers(0, n, size=n), minlength=n)
    missing = np.maximum(missing, 0)
    places = rng.integers(0, n, size=int(missing.sum())) + np.repeat(np.arange(rows) * n, missing)
    np.add.at(many.reshape(-1), places, np.uint8(1))
    return many


def _poisson(rng: np.random.Generator, size: int, rate: float) -> NDArray[np.uint8]:
    """Return Poisson counts, each probability rounded to 2⁻¹⁶: the variance of a mean is right to 10⁻⁴ of itself."""
    terms = np.array([rate**k / math.factorial(k) for k in range(12)])
    bounds = np.rint(np.cumsum(terms) * math.exp(-rate) * (1 << 16))
    limits = bounds[bounds < (1 << 16)].astype(np.uint16)
    counts = np.empty(size, dtype=np.uint8)
    above = np.empty(_CACHED, dtype=np.bool_)
    # How many limits a number reaches is its count: eight comparisons of whole blocks beat a look-up for each.
    for start in range(0, size, _CACHED):
        out = counts[start : start + _CACHED]
        raw = rng.bit_generator.random_raw(_CACHED // 4)
        numbers, reached = raw.astype("<u8", copy=False).view("<u2")[: len(out)], above[: len(out)]
        np.greater_equal(numbers, limits[0], out=out.view(np.bool_))
        for limit in limits[1:]:
            np.greater_equal(numbers, limit, out=reached)
            out += reached.view(np.uint8)
    return counts
