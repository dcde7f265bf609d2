"""Are views better joined when each has a weight that was learnt without gold? (Wright and Augenstein's limitations)

The weights are those of stacking on annotations that were left out (`sfumato.aggregate.held_out`), without any gold.
"""

from __future__ import annotations

__all__ = ["Setting", "Weighting", "data_of", "measure", "seconds_of"]

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.aggregate import average, centroid
from sfumato.aggregate.held_out import held_out
from sfumato.aggregate.views import views
from sfumato.core.annotations import Annotations
from sfumato.core.soft_labels import SoftLabels
from sfumato.errors import ConvergenceWarning, InputError
from sfumato.evaluate.bootstrap import bootstrap_interval
from sfumato.reproduce.gains import Compared, gains
from sfumato.reproduce.outcome import Measured, Outcome
from sfumato.reproduce.sources import judged

# What stands against what: the weighted join, and the one view that foresees best, against the equal weights.
_AGAINST = {
    "Average, weighted": "Average",
    "Centroid, weighted": "Centroid",
    "Best foreseeing view": "Centroid",
}
_LEAST = 1e-12


@dataclass(frozen=True)
class Weighting:
    """Which crowds, and which views of them.

    ``sets`` maps what a set is called in the table to its name (or to a file of votes), ``gold`` to a file of reference
    classes where the set has none of its own; ``options`` are those of a public set. ``methods`` are the views with
    their options. ``folds`` is in how many parts the annotations are left out.
    """

    sets: Mapping[str, Any] = field(default_factory=lambda: {"RTE": "rte"}, metadata={"path": True})
    gold: Mapping[str, Any] = field(default_factory=dict, metadata={"path": True})
    options: Mapping[str, Any] = field(default_factory=dict)
    methods: Mapping[str, Any] = field(
        default_factory=lambda: {"standard": {}, "softmax": {}, "mace": {}, "dawid_skene": {}}
    )
    names: Mapping[str, Any] = field(default_factory=dict)
    folds: int = 4


Setting = Weighting


def measure(setting: Weighting, *, seed: int = 0, device: str = "cpu") -> Outcome:
    """Return accuracy and log loss of each join, the weights, and the gain of the weighted ones with Holm's p."""
    numbers: list[Measured] = []
    right: list[Compared] = []
    surprise: list[Compared] = []
    for on, name in setting.sets.items():
        votes, gold = judged(str(name), setting.options.get(on, {}), gold=str(setting.gold.get(on, "")))
        if gold is None:
            raise InputError(f"{name} has no gold, against which joins are measured here. Name a file of it.")
        truth = gold.aligned(votes.items, votes.classes)
        known = np.flatnonzero((truth >= 0) & (votes.per_item() > 0))
        joined, weights = _joined(setting, votes, seed)
        hits = {row: (soft.probs[known].argmax(axis=1) == truth[known]).astype(float) for row, soft in joined.items()}
        losses = {row: _log_losses(soft, known, truth) for row, soft in joined.items()}
        for metric, values in (("accuracy_score", hits), ("log_loss", losses)):
            numbers += [_mean(metric, each, on, row) for row, each in values.items()]
        numbers += [Measured("weight", float(weight), on, row) for row, weight in weights.items()]
        right += [Compared("accuracy_score", on, row, hits[row], hits[base]) for row, base in _AGAINST.items()]
        surprise += [Compared("log_loss", on, row, losses[row], losses[base]) for row, base in _AGAINST.items()]
    numbers += gains(right, higher_is_better=True, seed=seed)
    numbers += gains(surprise, higher_is_better=False, seed=seed)
    return Outcome(tuple(numbers))


def _joined(setting: Weighting, votes: Annotations, seed: int) -> tuple[dict[str, SoftLabels], dict[str, float]]:
    """Return the views and their joins by row, and the weight of each view."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = views(votes, setting.methods, seed=seed)
        scored = held_out(votes, setting.methods, folds=setting.folds, seed=seed)
    best = scored.names[int(np.argmax(scored.scores()))]
    said = {name: str(setting.names.get(name, name)) for name in found}
    joined = {
        **{said[name]: soft for name, soft in found.items()},
        "Average": average(found).soft_labels,
        "Average, weighted": average(found, weights=scored.weights).soft_labels,
        "Centroid": centroid(found).soft_labels,
        "Centroid, weighted": centroid(found, weights=scored.weights).soft_labels,
        "Best foreseeing view": found[best],
    }
    return joined, {said[name]: float(weight) for name, weight in zip(scored.names, scored.weights, strict=True)}


def _log_losses(soft: SoftLabels, known: NDArray[np.intp], truth: NDArray[np.int32]) -> NDArray[np.float64]:
    given = soft.probs[known, truth[known]].astype(np.float64)
    return np.asarray(-np.log(np.maximum(given, _LEAST)))


def _mean(metric: str, values: NDArray[np.float64], on: str, row: str) -> Measured:
    found = bootstrap_interval(values)
    return Measured(metric, found.value, on, row, found.low, found.high, len(values))


def data_of(setting: Weighting) -> tuple[str, ...]:
    """Return what is read."""
    return tuple(str(name) for name in (*setting.sets.values(), *setting.gold.values()))


def seconds_of(setting: Weighting) -> float:
    """Return about how long a run takes."""
    return 4.0 * len(setting.sets)
