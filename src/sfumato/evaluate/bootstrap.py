"""Bootstrap: how far a number would move had other items, and other runs, been drawn."""

from __future__ import annotations

__all__ = [
    "Interval",
    "bootstrap_interval",
    "bootstrap_samples",
    "integer_seed",
    "interval_of",
    "numbers_of_runs",
    "over_runs",
    "resampled_numbers",
    "resampled_rows",
    "runs_of",
]

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.core.seeds import Seed, generator
from sfumato.errors import InputError, OptionError, check_choice
from sfumato.evaluate.draws import drawn_counts, drawn_runs, resampled_means
from sfumato.evaluate.sums import Sums, mean_sums

Floats = NDArray[np.float64]
Method = Literal["percentile", "basic"]
Key = TypeVar("Key")

# Columns are resampled together up to this many numbers (256 MiB); a further batch makes the same draws again.
_TOGETHER = 1 << 25


@dataclass(frozen=True, slots=True)
class Interval:
    """A number with its bootstrap interval, and what both were computed from."""

    value: float
    low: float
    high: float
    level: float
    n_items: int
    n_runs: int
    resamples: int
    method: str


def bootstrap_interval(
    values: ArrayLike | Sums | Sequence[Sums],
    *,
    level: float = 0.95,
    resamples: int = 1000,
    method: Method = "percentile",
    seed: Seed = 0,
) -> Interval:
    """Return a number with its bootstrap interval over items, and over runs where there are several.

    *values* of shape (n_items,) or (n_runs, n_items), whose mean is the number; or `Sums`, one for each run, for what
    is no mean (F1, a correlation, a calibration error). Percentile: the quantiles of the resampled numbers (Efron
    1979); basic: those mirrored at the number itself, which takes the bias of the resampled numbers out. A single item
    has no interval (NaN), and those of fewer than some twenty items are too narrow.

    >>> found = bootstrap_interval([0.0, 1.0] * 200)
    >>> found.value, 0.44 < found.low < 0.46, 0.54 < found.high < 0.56
    (0.5, True, True)
    """
    runs = runs_of(values)
    value = float(np.mean([run.value for run in runs]))
    samples = bootstrap_samples(runs, resamples=resamples, seed=seed)
    low, high = interval_of(samples, value, level=level, method=method)
    if runs[0].n_items == 1:
        low = high = math.nan
    return Interval(value, low, high, level, runs[0].n_items, len(runs), resamples, method)


def bootstrap_samples(values: ArrayLike | Sums | Sequence[Sums], *, resamples: int = 1000, seed: Seed = 0) -> Floats:
    """Return the number over items (and runs) drawn anew, shape (resamples,); *values* as in `bootstrap_interval`.

    >>> bootstrap_samples([3.0, 3.0], resamples=2).tolist()
    [3.0, 3.0]
    """
    return resampled_numbers({"": runs_of(values)}, resamples=resamples, seed=seed)[""]


def resampled_numbers(
    systems: Mapping[Key, Sequence[Sums]], *, resamples: int = 1000, seed: Seed = 0
) -> dict[Key, Floats]:
    """Return many numbers over the same draws of items, each of shape (resamples,).

    Each entry is one number of one system, a `Sums` for each run; all are about the same items, in the same order.
    Items are drawn once for all entries, so that differences between systems are paired. Runs are drawn for each
    entry in turn (the k-th entry has the k-th stream of random numbers), as the runs of one system have nothing to
    do with those of another; a number is the mean over the drawn runs. Both levels are resampled, which for crossed
    effects is slightly cautious (Owen 2007, "The pigeonhole bootstrap").

    >>> both = resampled_numbers({"a": [mean_sums([0.0, 1.0])], "b": [mean_sums([1.0, 0.0])]}, resamples=3)
    >>> (both["a"] + both["b"]).tolist()
    [1.0, 1.0, 1.0]
    """
    root = integer_seed(seed)
    numbers = numbers_of_runs(systems, resamples=resamples, seed=root)
    return {
        key: over_runs(of_runs, np.random.default_rng([root, place]))
        for place, (key, of_runs) in enumerate(numbers.items())
    }


def numbers_of_runs(systems: Mapping[Key, Sequence[Sums]], *, resamples: int, seed: int) -> dict[Key, Floats]:
    """Return the number of every run over the same draws of items, each of shape (resamples, n_runs).

    As in `resampled_numbers`, before runs are drawn.

    >>> numbers_of_runs({"a": [mean_sums([2.0]), mean_sums([3.0])]}, resamples=1, seed=0)["a"].tolist()
    [[2.0, 3.0]]
    """
    sizes = {run.n_items for runs in systems.values() for run in runs}
    if len(sizes) != 1 or not all(systems.values()):
        raise InputError(f"All runs of all systems must be about the same items. Got {sorted(sizes)} items.")
    result: dict[Key, Floats] = {}
    batch: list[Key] = []
    columns: list[Floats] = []

    def finish_batch() -> None:
        means = resampled_means(np.hstack(columns), resamples=resamples, seed=seed)
        start = 0
        for key in batch:
            numbers = np.empty((resamples, len(systems[key])))
            for r, run in enumerate(systems[key]):
                numbers[:, r] = run.finish(means[:, start : start + run.columns.shape[1]])
                start += run.columns.shape[1]
            result[key] = numbers
        batch.clear()
        columns.clear()

    held = 0
    for key, runs in systems.items():
        size = sum(run.columns.size for run in runs)
        if batch and held + size > _TOGETHER:
            finish_batch()
            held = 0
        held += size
        batch.append(key)
        columns += [run.columns for run in runs]
    finish_batch()
    return result


def over_runs(numbers: Floats, rng: np.random.Generator) -> Floats:
    """Return the mean over drawn runs, shape (resamples,), of numbers of shape (resamples, n_runs).

    >>> over_runs(np.array([[1.0], [2.0]]), np.random.default_rng(0)).tolist()
    [1.0, 2.0]
    """
    resamples, n_runs = numbers.shape
    if n_runs == 1:
        return numbers[:, 0]
    weights = drawn_runs(n_runs, resamples=resamples, seed=rng)
    # A run that was not drawn counts nothing, even where its number is infinite or not a number.
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(weights > 0, weights * numbers, 0.0).sum(axis=1))


def resampled_rows(
    function: Callable[[NDArray[np.int64]], float], n_items: int, *, resamples: int = 1000, seed: Seed = 0
) -> Floats:
    """Return function(rows) for rows drawn with replacement: for numbers that no sums give, at their own speed.

    The draws are those of `resampled_numbers` with the same seed; rows come in rising order.

    >>> resampled_rows(lambda rows: float(len(rows)), 3, resamples=2).tolist()
    [3.0, 3.0]
    """
    root = integer_seed(seed)
    every = np.arange(n_items)
    return np.array(
        [
            function(np.repeat(every, counts))
            for chunk in drawn_counts(n_items, resamples=resamples, seed=root)
            for counts in chunk
        ]
    )


def integer_seed(seed: Seed) -> int:
    """Return an integer that makes the same draws every time, also of a generator, which moves on when it is used.

    >>> integer_seed(3)
    3
    """
    if isinstance(seed, np.random.Generator):
        return int(seed.integers(2**62))
    generator(seed)  # refuses what is no seed
    return int(seed)


def interval_of(
    samples: Floats, value: float, *, level: float = 0.95, method: Method = "percentile"
) -> tuple[float, float]:
    """Return the interval that resampled numbers give; resamples without a number (NaN) are left out.

    >>> interval_of(np.arange(101.0), 40.0, level=0.5), interval_of(np.arange(101.0), 40.0, level=0.5, method="basic")
    ((25.0, 75.0), (5.0, 55.0))
    """
    check_choice(method, ("percentile", "basic"), option="method")
    if not 0 < level < 1:
        raise OptionError(f"The option 'level' must lie between 0 and 1. Got {level} instead.")
    known = samples[~np.isnan(samples)]
    if math.isnan(value) or not known.size:
        return math.nan, math.nan
    tails = [(1 - level) / 2, (1 + level) / 2]
    # Between two infinite samples an interpolated quantile would be NaN.
    finite = bool(np.isfinite(known).all())
    low, high = np.quantile(known, tails).tolist() if finite else np.quantile(known, tails, method="higher").tolist()
    return (low, high) if method == "percentile" else (2 * value - high, 2 * value - low)


def runs_of(values: ArrayLike | Sums | Sequence[Sums]) -> list[Sums]:
    """Return one `Sums` for each run, of values of shape (n_items,) or (n_runs, n_items) or of `Sums`.

    >>> [run.value for run in runs_of([[0.0, 1.0], [1.0, 1.0]])]
    [0.5, 1.0]
    """
    if isinstance(values, Sums):
        return [values]
    if isinstance(values, list | tuple) and values and all(isinstance(run, Sums) for run in values):
        return list(values)
    array = np.asarray(values, dtype=np.float64)
    if array.ndim not in (1, 2) or not array.size:
        raise InputError(f"Values need the shape (items,) or (runs, items), one at least. Got {array.shape} instead.")
    return [mean_sums(run) for run in np.atleast_2d(array)]
