"""Calibration errors as the size of mean gaps, and intervals that know that noise alone gives them a size.

A gap is how right an item was less how sure the model was of it. A calibration error is the size of a list of mean
gaps, one for each bin: the sum of what they are without their sign, or the root of their weighted squares. Noise never
cancels in it, so the error of a well calibrated model is above 0, that of a resample lies higher still, and neither
quantiles of resamples nor the mirror image of these hold what they promise.
"""

from __future__ import annotations

__all__ = ["GapSamples", "Gaps", "class_gaps", "count_gaps", "resampled_gaps", "width_gaps"]

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from sfumato.core.order_free import on_grid
from sfumato.evaluate.draws import drawn_counts

Floats = NDArray[np.float64]
Key = TypeVar("Key")

# Halvings of the range in which the end of an interval lies.
_HALVINGS = 24


@dataclass(frozen=True, eq=False)
class Gaps:
    """The gaps of items in their bins, a sparse array of shape (n_items, n_bins), and the size of their means.

    ``size`` takes means of shape (m, n_bins) to m numbers; twice the means have twice the size.
    """

    columns: Any
    size: Callable[[Floats], Floats]

    @property
    def n_items(self) -> int:
        return int(self.columns.shape[0])

    @property
    def means(self) -> Floats:
        """The mean of each column, over all items as they are."""
        total: Floats = np.asarray(self.columns.sum(axis=0), dtype=np.float64).ravel()
        return total / self.n_items


def width_gaps(confidence: Floats, right: Floats, *, n_bins: int = 15) -> Gaps:
    """Return the gaps in bins of equal width, whose size is the expected calibration error; both of shape (n_items,).

    >>> gaps = width_gaps(np.array([0.9, 0.9]), np.array([1.0, 0.0]))
    >>> gaps.size(gaps.means[None]).round(3).tolist()
    [0.4]
    """
    place = _bin_of(confidence, n_bins)
    return Gaps(_sparse(right - confidence, np.arange(len(place)), place, len(place)), _sum)


def class_gaps(q: NDArray[np.floating[Any]], labels: NDArray[Any], *, n_bins: int = 15) -> Gaps:
    """Return the gaps of every class in bins of equal width, whose size is the classwise calibration error.

    *q* of shape (n_items, n_classes); *labels* are class numbers of shape (n_items,) or people's distributions.
    """
    n_items, n_classes = q.shape
    said = q.astype(np.float64)
    gaps = -said if labels.ndim == 1 else labels - said
    if labels.ndim == 1:
        known = np.flatnonzero(labels < n_classes)
        gaps[known, labels[known]] += 1
    place = _bin_of(said, n_bins) + np.arange(n_classes) * n_bins
    rows = np.repeat(np.arange(n_items), n_classes)
    return Gaps(_sparse(gaps.ravel(), rows, place.ravel(), n_items), lambda means: _sum(means) / n_classes)


def count_gaps(confidence: Floats, right: Floats, *, bin_size: int = 100) -> Gaps:
    """Return the gaps in bins of equally many items, whose size is the adaptive RMS calibration error.

    The bins are those of the items as they are, also for resamples. Items of equal confidence that stand in several
    bins are in each with a share; the bins that hold nothing else are one.

    >>> gaps = count_gaps(np.array([0.9, 0.8]), np.array([1.0, 1.0]), bin_size=1)
    >>> gaps.size(gaps.means[None]).round(4).tolist()
    [0.1581]
    """
    n_items = len(confidence)
    order = np.argsort(confidence, kind="stable")
    ordered = confidence[order]
    last = max(n_items // bin_size, 1) - 1
    first = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    end = np.append(first[1:], n_items)
    group = np.repeat(np.arange(len(first)), end - first)
    # The bin in which a group of equals begins, the one in which it ends, and those between, which are as one.
    begins, ends = np.minimum(first // bin_size, last), np.minimum((end - 1) // bin_size, last)
    several = ends > begins
    in_first = np.where(several, (begins + 1) * bin_size - first, end - first)
    in_last = np.where(several, end - ends * bin_size, 0)
    between = end - first - in_first - in_last
    length = end - first
    middle = last + 1 + np.arange(len(first))
    gap = (right - confidence)[order]
    values, rows, columns = [], [], []
    for held, place in ((in_first, begins), (in_last, ends), (between, middle)):
        kept = np.flatnonzero(held[group] > 0)
        values.append(gap[kept] * (held / length)[group[kept]])
        rows.append(order[kept])
        columns.append(place[group[kept]])
    sizes = np.bincount(np.concatenate([begins, ends, middle]), np.concatenate([in_first, in_last, between]))
    used = np.flatnonzero(sizes)
    weight = n_items / sizes[used]
    made = _sparse(np.concatenate(values), np.concatenate(rows), np.concatenate(columns), n_items, used=used)
    return Gaps(made, lambda means: np.sqrt((means**2 * weight).sum(axis=1)))


@dataclass(frozen=True, eq=False)
class GapSamples:
    """Resamples of a calibration error: for each run the mean gaps, and how far those of each resample are from them.

    ``weights`` of shape (resamples, n_runs) say how often each run was drawn.
    """

    size: Sequence[Callable[[Floats], Floats]]
    means: Sequence[Floats]
    moved: Sequence[Floats]
    weights: Floats

    @property
    def value(self) -> float:
        return float(np.mean(self._sizes(1.0)))

    @property
    def numbers(self) -> Floats:
        """The error over items (and runs) drawn anew, shape (resamples,)."""
        return self._with(1.0)

    def interval(self, level: float, *, most: float = 1.0) -> tuple[float, float]:
        """Return the interval of the error: all sizes under which one like this would be no surprise.

        Were the gaps *t* times what they are, resamples would have the size of t · gaps + noise. The lower end is the
        smallest t · error at which more than (1 − level)/2 of them are as large as the error, the upper end the largest
        at which more than that are as small. Where chance made the error smaller than noise alone would leave it, such
        an end lies below the error itself, so the upper end is at least as far above the error as the upper quantile
        of the resamples is above their mean.
        """
        tail = (1 - level) / 2
        value = self.value
        slack = 1e-10 * max(value, 1e-300)

        def as_large(t: float) -> bool:
            return bool(np.mean(self._with(t) >= value - slack) > tail)

        def as_small(t: float) -> bool:
            return bool(np.mean(self._with(t) <= value + slack) > tail)

        low = 0.0 if as_large(0.0) else value * _boundary(lambda t: not as_large(t), 0.0, 1.0)
        high = 0.0
        if value > 0 and as_small(1.0):
            top = 2.0
            while as_small(top) and value * top <= most:
                top *= 2
            high = value * _boundary(as_small, top / 2, top)
        drawn = self.numbers
        high = max(high, value + float(np.quantile(drawn, 1 - tail) - drawn.mean()))
        return min(low, value), min(high, most)

    def _sizes(self, t: float) -> Floats:
        return np.array([float(size(t * means[None])[0]) for size, means in zip(self.size, self.means, strict=True)])

    def _with(self, t: float) -> Floats:
        """Return the error of each resample were all gaps *t* times what they are; runs differ by what they do."""
        of_runs, sizes = self._sizes(1.0), self._sizes(t)
        result: Floats = sizes.mean() + (self.weights - 1 / len(sizes)) @ of_runs
        for r, size in enumerate(self.size):
            result = result + self.weights[:, r] * (size(t * self.means[r] + self.moved[r]) - sizes[r])
        return result


def resampled_gaps(systems: Mapping[Key, Sequence[Gaps]], *, resamples: int, seed: int) -> dict[Key, list[Floats]]:
    """Return how far the mean gaps of each resample are from those of all items, a table for each run.

    Each of shape (resamples, n_bins); all are about the same items, and the draws are those of `resampled_numbers`
    with the same seed.
    """
    runs = [(key, run) for key, each in systems.items() for run in each]
    found: list[list[Floats]] = [[] for _ in runs]
    # On a grid the sums are exact, so that they are the same bits in any order.
    exact = [run.columns.T.tocsr() for _, run in runs]
    for columns in exact:
        columns.data = on_grid(columns.data, max(runs[0][1].n_items, 1))
    for chunk in drawn_counts(runs[0][1].n_items, resamples=resamples, seed=seed):
        # How often an item was drawn less the once that it is there: the sums are then the deviations themselves.
        moved = np.ascontiguousarray(chunk.T, dtype=np.float64) - 1
        for each, columns in zip(found, exact, strict=True):
            each.append(np.asarray(columns @ moved).T / len(moved))
    result: dict[Key, list[Floats]] = {key: [] for key in systems}
    for (key, _), each in zip(runs, found, strict=True):
        result[key].append(np.concatenate(each))
    return result


def _boundary(holds: Callable[[float], bool], low: float, high: float) -> float:
    """Return the largest number between *low*, at which something holds, and *high* at which it still does."""
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def _bin_of(confidence: Floats, n_bins: int) -> NDArray[np.int64]:
    # Open below and closed above, as in `expected_calibration_error`.
    place: NDArray[np.int64] = np.clip(np.ceil(confidence * n_bins).astype(np.int64) - 1, 0, n_bins - 1)
    return place


def _sparse(
    values: Floats,
    rows: NDArray[np.int64],
    columns: NDArray[np.int64],
    n_items: int,
    *,
    used: NDArray[np.int64] | None = None,
) -> Any:
    from scipy.sparse import csr_array

    used = np.unique(columns) if used is None else used
    return csr_array((values, (rows, np.searchsorted(used, columns))), shape=(n_items, len(used)))


def _sum(means: Floats) -> Floats:
    return np.asarray(np.abs(means).sum(axis=1))
