"""Systems against people and gold: every number with its interval and baselines, and tests between the systems."""

from __future__ import annotations

__all__ = ["DEFAULT_METRICS", "evaluate"]

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
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
from sfumato.evaluate.bootstrap import integer_seed
from sfumato.evaluate.calibrated_log import scored_losses
from sfumato.evaluate.confusion import confusion_matrix
from sfumato.evaluate.f1 import f1, precision, recall
from sfumato.evaluate.metrics import METRICS, Metric
from sfumato.evaluate.resampled_metrics import CALIBRATION, Entry, Samples, Target, metric_samples
from sfumato.evaluate.significance import (
    FEW_ITEMS,
    FEWEST,
    compare_samples,
    effect_of_values,
    holm,
    mcnemar_test,
)
from sfumato.evaluate.systems import Given, Systems, line_up
from sfumato.evaluate.wasserstein import wasserstein_error, wasserstein_error_per_item

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


def evaluate(
    predictions: Given,
    *,
    labels: SoftLabels | None = None,
    gold: Gold | None = None,
    annotations: Annotations | None = None,
    metrics: Sequence[str] | None = None,
    baselines: bool = True,
    missing: Literal["error", "drop"] = "error",
    positions: Sequence[float] | Literal["classes"] | None = None,
    level: float = 0.95,
    resamples: int = 1000,
    seed: Seed = 0,
) -> Report:
    """Return every metric of every system with its interval, the baselines beside them, and tests between systems.

    *predictions* are one table, a list of tables (runs of one system), or such by name of the system. A number is the
    mean over the runs of a system; its interval comes from drawing items anew, and runs where there are several. With
    *annotations* the report shows what people reach among themselves; without *labels* the shares of the annotations
    are the labels. *positions* place the classes on a scale for the Wasserstein distance: a number for each, or
    "classes" where they are called by their numbers.

    ``details["comparisons"]`` holds every pair of systems in every metric: the difference with its interval, the
    p-value of the paired bootstrap (of fewer than fifty items that of the exchange, for means; NaN where nothing can be
    said), and the same after Holm's correction for all comparisons of the report; for accuracies of single runs also
    McNemar's. ``details["classes"]`` holds precision, recall and F1 of each class for each system, where there is gold.

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
    places = _places(positions, systems)
    chosen = _chosen(metrics, systems, places)
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
    samples = metric_samples(entries, values, resamples=resamples, seed=root, level=level)
    # A baseline may have no number at all: a constant has no entropy correlation.
    numbers = [
        _number(entry, key[1], values[key], samples[key], level)
        for key, entry in entries.items()
        if key[1] in systems.runs or not math.isnan(values[key])
    ]
    comparisons = [
        row for metric, target in chosen for row in _pairs(metric, systems, target, values, samples, level, root)
    ]
    notes += _on_few_items(chosen, systems, comparisons)
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
        **({} if places is None else {"positions": list(places)}),
        "baselines": baselines, "annotations": None if annotations is None else annotations.fingerprint,
    }  # fmt: skip
    details = {
        "comparisons": comparisons,
        "higher_is_better": {metric.name: metric.higher_is_better for metric, _ in chosen},
        "runs": {name: len(runs) for name, runs in systems.runs.items()},
        "n_items": len(systems.items),
        "n_gold": 0 if systems.gold is None else systems.gold.n_items,
        "classes": {} if systems.gold is None else _by_class(systems, systems.gold),
    }
    origin = Origin("evaluate", options=options, seed=recorded(seed), fingerprint=systems.fingerprint)
    return Report("Evaluation", numbers, origin, notes, details)


def _chosen(
    names: Sequence[str] | None, systems: Systems, positions: Sequence[float] | None
) -> list[tuple[Metric, Target]]:
    """Return the metrics to compute, each with what it is measured against."""
    people = None if systems.labels is None else Target.of(systems.labels, systems.first)
    gold = None if systems.gold is None else Target.of(systems.gold, systems.first)
    result: list[tuple[Metric, Target]] = []
    usual = DEFAULT_METRICS if positions is None else (*DEFAULT_METRICS, "wasserstein_error")
    for name in dict.fromkeys(usual if names is None else names):
        metric = METRICS[check_choice(name, METRICS, option="metrics")]
        target = people if metric.needs == "people" or (gold is None and metric.also_people) else gold
        if metric.needs == "annotations":
            raise OptionError(
                f"The metric {name!r} compares annotations with annotations, not predictions with labels."
            )
        if positions is not None and name == "wasserstein_error":
            metric = replace(
                metric,
                function=partial(wasserstein_error, positions=positions),
                per_item=partial(wasserstein_error_per_item, positions=positions),
            )
        if target is not None:
            result.append((metric, target))
        elif names is not None:
            wanted = "soft labels, which were" if metric.needs == "people" else "gold, which was"
            raise OptionError(f"The metric {name!r} needs {wanted} not given.")
    if not result:
        raise OptionError("There is no metric to compute. Name one at least.")
    if positions is not None and all(metric.name != "wasserstein_error" for metric, _ in result):
        raise OptionError(
            "Positions of the classes are for the metric 'wasserstein_error', which "
            + ("was not asked for." if names is not None else "needs soft labels, and these were not given.")
        )
    return result


def _places(positions: Sequence[float] | Literal["classes"] | None, systems: Systems) -> Sequence[float] | None:
    if not isinstance(positions, str):
        return positions
    check_choice(positions, ("classes",), option="positions")
    try:
        return [float(name) for name in systems.classes]
    except ValueError:
        raise OptionError(
            f"The classes are not called by numbers ({', '.join(systems.classes[:5])}), so these cannot be their "
            "positions. Give a number for each class."
        ) from None


def _number(entry: Entry, of: str, value: float, samples: Samples | None, level: float) -> Number:
    name, n = entry.metric.name, entry.target.n_items
    if samples is None or math.isnan(samples.low):
        return Number(name, value, n=n, of=of)
    return Number(name, value, n=n, of=of, low=samples.low, high=samples.high, level=level)


def _pairs(
    metric: Metric,
    systems: Systems,
    target: Target,
    values: Mapping[tuple[str, str], float],
    samples: Mapping[tuple[str, str], Samples | None],
    level: float,
    seed: int,
) -> list[dict[str, Any]]:
    """Return the comparison of every pair of systems in one metric, as plain data."""
    result = []
    per_item = {name: _per_item(metric, runs, target) for name, runs in systems.runs.items()}
    for a, b in combinations(systems.runs, 2):
        drawn_a, drawn_b = samples[metric.name, a], samples[metric.name, b]
        if drawn_a is None or drawn_b is None:
            continue
        of_items = (per_item[a], per_item[b])
        means = None if of_items[0] is None or of_items[1] is None else (of_items[0], of_items[1])
        value_a, value_b = values[metric.name, a], values[metric.name, b]
        found = compare_samples(
            (value_a, drawn_a.numbers), (value_b, drawn_b.numbers),
            n_items=target.n_items, higher_is_better=metric.higher_is_better, level=level, seed=seed,
            interval=_apart(value_a, drawn_a, value_b, drawn_b) if metric.name in CALIBRATION else "percentile",
            effect_size=math.nan if means is None else effect_of_values(*means), per_item=means,
            several_runs=max(len(systems.runs[a]), len(systems.runs[b])) > 1,
        )  # fmt: skip
        row: dict[str, Any] = {
            "metric": metric.name, "a": a, "b": b, "difference": found.difference, "low": found.low,
            "high": found.high, "p_value": found.p_value, "p_holm": math.nan, "effect_size": found.effect_size,
            "better": {"A": a, "B": b, "neither": None}[found.better],
            "n": target.n_items,
            "test": "" if math.isnan(found.p_value) else found.method.replace("recentred", "bootstrap"),
        }  # fmt: skip
        if metric.name == "accuracy_score" and len(systems.runs[a]) == len(systems.runs[b]) == 1 and means is not None:
            row["p_mcnemar"] = mcnemar_test(*means).p_value
        result.append(row)
    return result


def _per_item(metric: Metric, runs: Sequence[SoftLabels], target: Target) -> NDArray[np.float64] | None:
    """Return the values of which the number of a system is the mean, its runs averaged; None where it is no mean."""
    if metric.name == "calibrated_log_loss":
        # Its splits are the same for every system, so that the difference of two is a mean over items too.
        losses = [scored_losses(*target.pair(metric, run)) for run in runs]
        of_runs = [total * (len(total) / times.sum()) for total, times in losses]
    elif metric.per_item is not None:
        of_runs = [metric.per_item(*target.pair(metric, run)) for run in runs]
    else:
        return None
    with np.errstate(invalid="ignore"):
        values: NDArray[np.float64] = np.mean(of_runs, axis=0)
    return values


def _apart(value_a: float, a: Samples, value_b: float, b: Samples) -> tuple[float, float]:
    """Return the interval of the difference of two numbers from the intervals of both (Zou and Donner 2008).

    It holds for intervals that are longer on one side, as those of calibration errors are, and stays within what their
    ends allow. That both are measured on the same items is not used, which makes it rather too wide.
    """
    difference = value_a - value_b
    return (
        difference - math.hypot(value_a - a.low, b.high - value_b),
        difference + math.hypot(a.high - value_a, value_b - b.low),
    )


def _on_few_items(
    chosen: Sequence[tuple[Metric, Target]], systems: Systems, comparisons: Sequence[Mapping[str, Any]]
) -> list[str]:
    """Return what a reader must know about intervals and tests where items are few."""
    fewest = min(target.n_items for _, target in chosen)
    if fewest == 1:
        notes = ["A single item has no interval" + (" and no test." if comparisons else ".")]
    elif fewest < FEWEST:
        notes = [f"With {fewest} items the intervals are narrower than they say; below {FEWEST} they are a hint."]
    else:
        notes = []
    untested = list(dict.fromkeys(row["metric"] for row in comparisons if row["n"] < FEWEST and not row["test"]))
    if untested and fewest > 1:
        notes.append(
            f"Fewer than {FEWEST} items say nothing about differences in {' and '.join(untested)}, which "
            f"{'is no mean' if len(untested) == 1 else 'are no means'} over items: no test."
        )
    exchanged = min((target.n_items for _, target in chosen if 1 < target.n_items < FEW_ITEMS), default=0)
    if exchanged and any("permutation" in row["test"] for row in comparisons):
        least = f" With {exchanged} items no p-value can be below {2 ** (1 - exchanged):.2g}." if exchanged < 10 else ""
        notes.append(
            f"Below {FEW_ITEMS} items, means are tested by exchanging the systems item by item, as the bootstrap "
            f"would err too often.{least}"
        )
        if any(row["test"] == "bootstrap" for row in comparisons):
            notes.append("Tests of numbers that are no means err somewhat more often than they say on so few items.")
    return notes


def _by_class(systems: Systems, gold: Gold) -> dict[str, list[dict[str, Any]]]:
    """Return precision, recall and F1 of each class for each system, its runs averaged; None where a class has none.

    Gold classes that nobody predicts stand below the others.
    """
    names = [*systems.classes, *(name for name in gold.classes if name not in systems.classes)]
    result = {}
    for system, runs in systems.runs.items():
        tables = [confusion_matrix(run, gold) for run in runs]
        support = tables[0].sum(axis=1)
        with warnings.catch_warnings():
            # A class of which no run has a number has none in the mean.
            warnings.simplefilter("ignore", RuntimeWarning)
            of_class = {
                kind: np.nanmean([np.asarray(of(table, None)) for table in tables], axis=0)
                for kind, of in (("precision", precision), ("recall", recall), ("f1", f1))
            }
        result[system] = [
            {
                "class": names[k],
                **{kind: None if math.isnan(of[k]) else float(of[k]) for kind, of in of_class.items()},
                "support": int(support[k]),
            }
            for k in range(len(support))
        ]
    return result


def _correct(comparisons: list[dict[str, Any]]) -> None:
    corrected = holm([row["p_value"] for row in comparisons])
    for row, p in zip(comparisons, corrected.tolist(), strict=True):
        row["p_holm"] = p
