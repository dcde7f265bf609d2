"""Metrics over items drawn anew: by sums where a metric is made of sums, else by the rows themselves."""

from __future__ import annotations

__all__ = ["CALIBRATION", "Entry", "Samples", "Target", "gaps_of", "metric_samples", "sums_of"]

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from sfumato.core.gold import Gold
from sfumato.core.soft_labels import SoftLabels
from sfumato.evaluate.blocks import each_of
from sfumato.evaluate.bootstrap import interval_of, numbers_of_runs, over_runs, resampled_rows
from sfumato.evaluate.calibrated_log import scored_losses
from sfumato.evaluate.calibration_gaps import Gaps, GapSamples, class_gaps, count_gaps, resampled_gaps, width_gaps
from sfumato.evaluate.confidence import outcomes
from sfumato.evaluate.draws import drawn_runs
from sfumato.evaluate.entropy_correlation import entropies
from sfumato.evaluate.metrics import Metric
from sfumato.evaluate.pairing import gold_codes, gold_rows, labelled, paired
from sfumato.evaluate.sums import Sums, correlation_sums, f1_sums, mean_sums, ratio_sums

Key = TypeVar("Key")

# The errors whose gaps noise alone makes larger, each with how its gaps are made.
CALIBRATION = frozenset({"expected_calibration_error", "adaptive_rms_calibration_error", "classwise_calibration_error"})
_F1 = {"f1_score": "macro", "micro_f1_score": "micro", "weighted_f1_score": "weighted"}

# Sums are made and resampled together up to this many numbers (256 MiB); more of them see the same draws again.
_TOGETHER = 1 << 25


@dataclass(frozen=True, eq=False)
class Target:
    """What predictions are measured against: soft labels of people, or gold.

    ``rows`` are the items that have gold and ``codes`` their classes, looked up once for all tables with the items and
    classes of the one that `of` was given; None for soft labels, and where a gold class is none of the predicted.
    """

    labels: SoftLabels | Gold
    rows: slice | NDArray[np.int64] | None = None
    codes: NDArray[np.int64] | None = None

    @classmethod
    def of(cls, labels: SoftLabels | Gold, predicted: SoftLabels) -> Self:
        """Return the target for tables with the items and classes of *predicted*."""
        if not isinstance(labels, Gold):
            return cls(labels)
        rows, codes = gold_rows(predicted, labels)
        return cls(labels, rows, codes) if codes.max() < predicted.n_classes else cls(labels)

    @property
    def n_items(self) -> int:
        return self.labels.n_items

    def pair(self, metric: Metric, predicted: SoftLabels) -> tuple[Any, Any]:
        """Return what a metric takes: arrays of gold where they are at hand, else the tables themselves."""
        if self.codes is None or self.rows is None or metric.needs == "logits":
            return predicted, self.labels
        return predicted.probs[self.rows], self.codes


@dataclass(frozen=True, eq=False)
class Entry:
    """One number to resample: a metric of one system, a table for each of its runs."""

    metric: Metric
    runs: Sequence[SoftLabels]
    target: Target

    @property
    def value(self) -> float:
        """The mean over the runs of the metric over the items as they are."""
        return float(np.mean([self.metric(*self.target.pair(self.metric, run)) for run in self.runs]))


def sums_of(metric: Metric, predicted: SoftLabels, target: Target) -> Sums | None:
    """Return the sums that *metric* is made of, None where it is made of none.

    >>> from sfumato.evaluate.metrics import METRICS
    >>> soft = SoftLabels([[0.9, 0.1], [0.2, 0.8]], items=["a", "b"], classes=["x", "y"])
    >>> found = sums_of(METRICS["f1_score"], soft, Target.of(Gold.from_names(["a", "b"], ["x", "y"]), soft))
    >>> None if found is None else found.value
    1.0
    """
    pair = target.pair(metric, predicted)
    if metric.per_item is not None:
        return mean_sums(metric.per_item(*pair))
    if metric.name in _F1:
        probs, codes = gold_codes(*pair)
        average: Any = _F1[metric.name]
        return f1_sums(probs.argmax(axis=1), codes, n_classes=predicted.n_classes, average=average)
    if metric.name == "entropy_correlation_score":
        return correlation_sums(*each_of(entropies, *paired(*pair)))
    if metric.name == "calibrated_log_loss":
        return ratio_sums(*scored_losses(*pair))
    return None


def gaps_of(metric: Metric, predicted: SoftLabels, target: Target) -> Gaps | None:
    """Return the gaps whose size a calibration error is, None for any other metric."""
    if metric.name not in CALIBRATION:
        return None
    values, labels = labelled(*target.pair(metric, predicted))
    if metric.name == "classwise_calibration_error":
        return class_gaps(values, labels)
    confidence, right = each_of(outcomes, values, labels)
    make = width_gaps if metric.name == "expected_calibration_error" else count_gaps
    return make(confidence, right)


@dataclass(frozen=True, eq=False)
class Samples:
    """A number over resamples of its items, of shape (resamples,), and its interval (NaN where it has none)."""

    numbers: NDArray[np.float64]
    low: float
    high: float


def metric_samples(
    entries: Mapping[Key, Entry], values: Mapping[Key, float], *, resamples: int, seed: int, level: float = 0.95
) -> dict[Key, Samples | None]:
    """Return each number over resamples of its items, with its interval; the same items see the same draws.

    *values* are the numbers themselves. None where rows drawn anew would not do: for metrics that are made of no sums
    where the gold has a class that the predictions do not know.
    """
    # Of every run, shape (resamples, n_runs).
    found: dict[Key, NDArray[np.float64]] = {}
    gaps: dict[Key, GapSamples] = {}
    together: dict[int, dict[Key, list[Sums]]] = {}
    held = 0
    # Each number has a stream of its own, from which its runs are drawn.
    streams = {key: np.random.default_rng([seed, place]) for place, key in enumerate(entries)}

    def resample() -> None:
        for group in together.values():
            found.update(numbers_of_runs(group, resamples=resamples, seed=seed))
        together.clear()

    of_gaps: dict[int, dict[Key, list[Gaps]]] = {}
    for key, entry in entries.items():
        sized = [one for one in (gaps_of(entry.metric, run, entry.target) for run in entry.runs) if one is not None]
        if sized:
            of_gaps.setdefault(sized[0].n_items, {})[key] = sized
            continue
        sums = [one for one in (sums_of(entry.metric, run, entry.target) for run in entry.runs) if one is not None]
        if len(sums) == len(entry.runs):
            together.setdefault(sums[0].n_items, {})[key] = sums
            held += sum(one.columns.size for one in sums)
            if held > _TOGETHER:
                resample()
                held = 0
            continue
        columns = [_by_rows(entry.metric, run, entry.target, resamples=resamples, seed=seed) for run in entry.runs]
        numbers = [column for column in columns if column is not None]
        if len(numbers) == len(entry.runs):
            found[key] = np.column_stack(numbers)
    resample()
    for systems in of_gaps.values():
        for key, moved in resampled_gaps(systems, resamples=resamples, seed=seed).items():
            weights = drawn_runs(len(moved), resamples=resamples, seed=streams[key])
            gaps[key] = GapSamples(
                [run.size for run in systems[key]], [run.means for run in systems[key]], moved, weights
            )
    result: dict[Key, Samples | None] = {}
    for key, entry in entries.items():
        one = entry.target.n_items == 1
        if key in gaps:
            ends = (math.nan, math.nan) if one else gaps[key].interval(level)
            result[key] = Samples(gaps[key].numbers, *ends)
        elif key in found:
            drawn = over_runs(found[key], streams[key])
            result[key] = Samples(
                drawn, *((math.nan, math.nan) if one else interval_of(drawn, values[key], level=level))
            )
        else:
            result[key] = None
    return result


def _by_rows(
    metric: Metric, predicted: SoftLabels, target: Target, *, resamples: int, seed: int
) -> NDArray[np.float64] | None:
    if isinstance(target.labels, Gold) and target.codes is None:
        return None
    values, labels = labelled(*target.pair(metric, predicted))
    return resampled_rows(
        lambda drawn: metric.function(values[drawn], labels[drawn]), len(labels), resamples=resamples, seed=seed
    )
