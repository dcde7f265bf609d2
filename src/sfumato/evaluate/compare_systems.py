"""Systems against people and gold: every number with its interval and baselines, and tests between the systems."""

from __future__ import annotations

__all__ = ["DEFAULT_METRICS", "evaluate"]

import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.core.annotations import Annotations
from sfumato.core.gold import Gold
from sfumato.core.origin import Origin
from sfumato.core.report import Number, Report
from sfumato.core.seeds import Seed, recorded
from sfumato.core.soft_labels import SoftLabels
from sfumato.errors import OptionError, check_choice
from sfumato.evaluate.baseline_rows import PEOPLE_AGAINST_GOLD, baseline_rows, ceiling_gold, ceiling_rows
from sfumato.evaluate.bootstrap import integer_seed, interval_of
from sfumato.evaluate.metrics import METRICS, Metric
from sfumato.evaluate.resampled_metrics import Entry, Target, metric_samples, sums_of
from sfumato.evaluate.significance import compare_samples, effect_of, holm, mcnemar_test
from sfumato.evaluate.sums import Sums
from sfumato.evaluate.systems import Given, Systems, line_up

# What is computed where nothing is named: as many of these as labels and gold allow.
DEFAULT_METRICS = (
    "accuracy_score",
    "f1_score",
    "soft_cross_entropy_loss",
    "jensen_shannon_divergence",
    "manhattan_error",
    "soft_accuracy_score",
    "entropy_correlation_score",
    "expected_calibration_error",
)
# Drawing items anew adds noise within each bin, so resampled calibration errors lie too high, often all above the
# error itself; mirrored at it, the interval is right on average.
_BIASED = frozenset({"expected_calibration_error", "adaptive_rms_calibration_error", "classwise_calibration_error"})


def evaluate(
    predictions: Given,
    *,
    labels: SoftLabels | None = None,
    gold: Gold | None = None,
    annotations: Annotations | None = None,
    metrics: Sequence[str] | None = None,
    baselines: bool = True,
    missing: Literal["error", "drop"] = "error",
    level: float = 0.95,
    resamples: int = 1000,
    seed: Seed = 0,
) -> Report:
    """Return every metric of every system with its interval, the baselines beside them, and tests between systems.

    *predictions* are one table, a list of tables (runs of one system), or such by name of the system. A number is the
    mean over the runs of a system; its interval comes from drawing items anew, and runs where there are several. With
    *annotations* the report shows what people reach among themselves; without *labels* the shares of the annotations
    are the labels. ``details["comparisons"]`` holds every pair of
    systems in every metric: the difference with its interval, the p-value of the paired bootstrap, and the same after
    Holm's correction for all comparisons of the report; for accuracies of single runs also McNemar's.

    >>> people = SoftLabels([[0.9, 0.1], [0.2, 0.8]] * 20, items=[*map(str, range(40))], classes=["x", "y"])
    >>> report = evaluate({"A": people}, labels=people, metrics=["manhattan_error"], resamples=100)
    >>> report["manhattan_error", "A"].value, round(report["manhattan_error", "baseline: uniform"].value, 2)
    (0.0, 0.7)
    """
    if not 0 < level < 1:
        raise OptionError(f"The option 'level' must lie between 0 and 1. Got {level} instead.")
    if resamples < 1:
        raise OptionError(f"The option 'resamples' must be 1 or more. Got {resamples} instead.")
    systems = line_up(predictions, labels=labels, gold=gold, annotations=annotations, missing=missing)
    chosen = _chosen(metrics, systems)
    root = integer_seed(seed)
    notes = list(systems.notes)
    entries = {
        (metric.name, name): Entry(metric, runs, target)
        for metric, target in chosen
        for name, runs in systems.runs.items()
    }
    if baselines:
        for metric, target in chosen:
            for name, table in baseline_rows(metric, systems).items():
                entries[metric.name, name] = Entry(metric, (table,), target)
    if annotations is not None:
        ceilings, remark = ceiling_rows(annotations, systems, seed=root)
        notes.append(remark)
        for metric, _ in chosen:
            for name, ceiling in ceilings.items():
                against = None
                if metric.needs == "people":
                    against = Target(ceiling.people)
                elif metric.name in PEOPLE_AGAINST_GOLD and systems.gold is not None:
                    known = ceiling_gold(ceiling, systems.gold)
                    against = None if known is None else Target.of(known, ceiling.predicted)
                if against is not None:
                    entries[metric.name, name] = Entry(metric, (ceiling.predicted,), against)
    values = {key: entry.value for key, entry in entries.items()}
    samples = metric_samples(entries, resamples=resamples, seed=root)
    # A baseline may have no number at all: a constant has no entropy correlation.
    numbers = [
        _number(entry, key[1], values[key], samples[key], level)
        for key, entry in entries.items()
        if key[1] in systems.runs or not math.isnan(values[key])
    ]
    comparisons = [row for metric, target in chosen for row in _pairs(metric, systems, target, values, samples, level)]
    notes += [
        f"{metric.name} has no interval and no test: it cannot be computed from items drawn anew."
        for metric, _ in chosen
        if any(samples[metric.name, name] is None for name in systems.runs)
    ]
    _correct(comparisons)
    n_runs = {len(runs) for runs in systems.runs.values()}
    if n_runs != {1}:
        notes.append("Where a system has several runs, its number is their mean, and its interval is over both.")
    if 2 in n_runs:
        notes.append("Two runs say little of how much runs differ: tests with them err twice as often as they say.")
    if len(comparisons) > 1:
        notes.append(f"P-values are corrected for {len(comparisons)} comparisons (Holm 1979).")
    # A bootstrap p-value is 1 / (1 + resamples) at least, and the smallest is multiplied by how many there are.
    smallest = min(len(comparisons) / (1 + resamples), 1.0)
    if smallest > 1 - level:
        notes.append(
            f"{resamples:,} resamples are too few for {len(comparisons)} comparisons: no corrected p-value can be "
            f"below {smallest:.2g}. Ask for {math.ceil(2 * len(comparisons) / (1 - level)):,} or more."
        )
    options = {
        "metrics": [metric.name for metric, _ in chosen], "missing": missing, "resamples": resamples, "level": level,
        "baselines": baselines, "annotations": None if annotations is None else annotations.fingerprint,
    }  # fmt: skip
    details = {
        "comparisons": comparisons,
        "higher_is_better": {metric.name: metric.higher_is_better for metric, _ in chosen},
        "runs": {name: len(runs) for name, runs in systems.runs.items()},
        "n_items": len(systems.items),
        "n_gold": 0 if systems.gold is None else systems.gold.n_items,
    }
    origin = Origin("evaluate", options=options, seed=recorded(seed), fingerprint=systems.fingerprint)
    return Report("Evaluation", numbers, origin, notes, details)


def _chosen(names: Sequence[str] | None, systems: Systems) -> list[tuple[Metric, Target]]:
    """Return the metrics to compute, each with what it is measured against."""
    people = None if systems.labels is None else Target.of(systems.labels, systems.first)
    gold = None if systems.gold is None else Target.of(systems.gold, systems.first)
    result: list[tuple[Metric, Target]] = []
    for name in dict.fromkeys(DEFAULT_METRICS if names is None else names):
        metric = METRICS[check_choice(name, METRICS, option="metrics")]
        target = people if metric.needs == "people" or (gold is None and metric.also_people) else gold
        if metric.needs == "annotations":
            raise OptionError(
                f"The metric {name!r} compares annotations with annotations, not predictions with labels."
            )
        if target is not None:
            result.append((metric, target))
        elif names is not None:
            wanted = "soft labels, which were" if metric.needs == "people" else "gold, which was"
            raise OptionError(f"The metric {name!r} needs {wanted} not given.")
    if not result:
        raise OptionError("There is no metric to compute. Name one at least.")
    return result


def _number(entry: Entry, of: str, value: float, samples: NDArray[np.float64] | None, level: float) -> Number:
    name, n = entry.metric.name, entry.target.n_items
    if samples is None:
        return Number(name, value, n=n, of=of)
    method = _interval(entry.metric)
    low, high = interval_of(samples, value, level=level, method=method)
    if math.isnan(low):
        return Number(name, value, n=n, of=of)
    if method == "basic":
        low, high = max(low, 0.0), max(high, 0.0)
    return Number(name, value, n=n, of=of, low=low, high=high, level=level)


def _interval(metric: Metric) -> Literal["percentile", "basic"]:
    return "basic" if metric.name in _BIASED else "percentile"


def _pairs(
    metric: Metric,
    systems: Systems,
    target: Target,
    values: Mapping[tuple[str, str], float],
    samples: Mapping[tuple[str, str], NDArray[np.float64] | None],
    level: float,
) -> list[dict[str, Any]]:
    """Return the comparison of every pair of systems in one metric, as plain data."""
    result = []
    sums: dict[str, list[Sums | None]] = {
        name: [None if metric.per_item is None else sums_of(metric, run, target) for run in runs]
        for name, runs in systems.runs.items()
    }
    for a, b in combinations(systems.runs, 2):
        drawn_a, drawn_b = samples[metric.name, a], samples[metric.name, b]
        if drawn_a is None or drawn_b is None:
            continue
        found = compare_samples(
            (values[metric.name, a], drawn_a), (values[metric.name, b], drawn_b),
            n_items=target.n_items, higher_is_better=metric.higher_is_better, level=level,
            interval=_interval(metric), effect_size=effect_of(sums[a], sums[b]),
        )  # fmt: skip
        row: dict[str, Any] = {
            "metric": metric.name, "a": a, "b": b, "difference": found.difference, "low": found.low,
            "high": found.high, "p_value": found.p_value, "p_holm": math.nan, "effect_size": found.effect_size,
            "better": {"A": a, "B": b, "neither": None}[found.better],
        }  # fmt: skip
        if metric.name == "accuracy_score" and len(systems.runs[a]) == len(systems.runs[b]) == 1:
            left, right = (one.columns[:, 0] for name in (a, b) for one in sums[name] if one is not None)
            row["p_mcnemar"] = mcnemar_test(left, right).p_value
        result.append(row)
    return result


def _correct(comparisons: list[dict[str, Any]]) -> None:
    corrected = holm([row["p_value"] for row in comparisons])
    for row, p in zip(comparisons, corrected.tolist(), strict=True):
        row["p_holm"] = p
