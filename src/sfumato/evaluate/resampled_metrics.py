"""Metrics over items drawn anew: by sums where a metric is made of sums, else by the rows themselves."""

from __future__ import annotations

__all__ = ["Target", "metric_samples", "sums_of"]

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from sfumato.core.gold import Gold
from sfumato.core.soft_labels import SoftLabels
from sfumato.evaluate.blocks import each_of
from sfumato.evaluate.bootstrap import over_runs, resampled_numbers, resampled_rows
from sfumato.evaluate.confidence import outcomes
from sfumato.evaluate.entropy_correlation import entropies
from sfumato.evaluate.metrics import Metric
from sfumato.evaluate.pairing import gold_codes, gold_rows, labelled, paired
from sfumato.evaluate.sums import Sums, calibration_sums, correlation_sums, f1_sums, mean_sums

Target = SoftLabels | Gold
Key = TypeVar("Key")


def sums_of(metric: Metric, predicted: SoftLabels, target: Target) -> Sums | None:
    """Return the sums that *metric* is made of, None where it is made of none.

    >>> from sfumato.evaluate.metrics import METRICS
    >>> soft = SoftLabels([[0.9, 0.1], [0.2, 0.8]], items=["a", "b"], classes=["x", "y"])
    >>> found = sums_of(METRICS["f1_score"], soft, Gold.from_names(["a", "b"], ["x", "y"]))
    >>> None if found is None else found.value
    1.0
    """
    if metric.per_item is not None:
        return mean_sums(metric.per_item(predicted, target))
    if metric.name == "f1_score" and isinstance(target, Gold):
        probs, codes = gold_codes(predicted, target)
        return f1_sums(probs.argmax(axis=1), codes, n_classes=predicted.n_classes)
    if metric.name == "entropy_correlation_score" and isinstance(target, SoftLabels):
        return correlation_sums(*each_of(entropies, *paired(predicted, target)))
    if metric.name == "expected_calibration_error":
        return calibration_sums(*each_of(outcomes, *labelled(predicted, target)))
    return None


def metric_samples(
    metric: Metric, systems: Mapping[Key, Sequence[SoftLabels]], target: Target, *, resamples: int, seed: int
) -> dict[Key, NDArray[np.float64] | None]:
    """Return the metric of each system over the same resamples of the items of *target*, each of shape (resamples,).

    Each system is a table for each of its runs. None where rows drawn anew would not do: for the calibrated log loss,
    which would meet the same item in both of its halves, and for metrics that are made of no sums where the gold has
    a class that the predictions do not know.
    """
    sums = {key: [sums_of(metric, run, target) for run in runs] for key, runs in systems.items()}
    known = {key: [one for one in each if one is not None] for key, each in sums.items()}
    if all(len(known[key]) == len(runs) for key, runs in systems.items()):
        return dict(resampled_numbers(known, resamples=resamples, seed=seed))
    result: dict[Key, NDArray[np.float64] | None] = {}
    streams = np.random.default_rng(seed + 1).spawn(len(systems))
    for (key, runs), stream in zip(systems.items(), streams, strict=True):
        columns = [_by_rows(metric, run, target, resamples=resamples, seed=seed) for run in runs]
        numbers = [column for column in columns if column is not None]
        result[key] = over_runs(np.column_stack(numbers), stream) if len(numbers) == len(runs) else None
    return result


def _by_rows(
    metric: Metric, predicted: SoftLabels, target: Target, *, resamples: int, seed: int
) -> NDArray[np.float64] | None:
    if metric.needs == "logits":
        return None
    labels: NDArray[Any]
    rows: slice | NDArray[np.int64] = slice(None)
    if isinstance(target, Gold):
        rows, labels = gold_rows(predicted, target)
        if labels.max() >= predicted.n_classes:
            return None
    else:
        labels = paired(predicted, target)[1]
    values = predicted.probs[rows]
    return resampled_rows(
        lambda drawn: metric.function(values[drawn], labels[drawn]), len(labels), resamples=resamples, seed=seed
    )
