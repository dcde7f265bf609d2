"""How unsure people were of what one network gets right and the other does not (Fornaciari et al. 2021, table 3)."""

from __future__ import annotations

__all__ = ["ErrorAnalysis", "Setting", "data_of", "measure", "seconds_of"]

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sfumato.aggregate.views import views
from sfumato.errors import InputError
from sfumato.evaluate import by_correctness, soft_label_kurtosis
from sfumato.evaluate.bootstrap import bootstrap_interval
from sfumato.reproduce.networks import network_in_words
from sfumato.reproduce.outcome import Measured, Outcome
from sfumato.reproduce.studies import training
from sfumato.reproduce.studies.training import Training
from sfumato.reproduce.task import people_of

_ROWS = {"both": "both right", "only A": "only STL right", "only B": "only MTL right", "none": "both wrong"}


@dataclass(frozen=True)
class ErrorAnalysis(Training):
    """Two networks that differ in their loss alone: ``loss`` teaches the first, ``other_loss`` the second.

    Each is trained as `Training` says, and both are asked of the same test items, of which people said something.
    """

    other_loss: Mapping[str, Any] = field(default_factory=lambda: {"name": "gold_plus_soft"})


Setting = ErrorAnalysis


def measure(setting: ErrorAnalysis, *, seed: int = 0, device: str = "cpu") -> Outcome:
    """Return the mean kurtosis of the soft labels by which network is right, with an interval over items."""
    right = []
    for loss in (setting.loss, setting.other_loss):
        plain = {name: getattr(setting, name) for name in Training.__dataclass_fields__}
        task, _, run = training.trained(Training(**{**plain, "loss": loss}), seed=seed, device=device)
        predicted = run.predictions["test"]
        votes = people_of(task, predicted.items)
        if task.gold is None or not votes.n_items:
            raise InputError("An error analysis needs gold, and people's labels of the test items. Choose other roles.")
        gold = task.gold.aligned(votes.items, predicted.classes)
        right.append(predicted.take(votes.items).probs.argmax(axis=1) == gold)
    soft = views(votes, {setting.view: {}}, seed=seed)[setting.view]
    kurtosis = soft_label_kurtosis(soft)
    groups, _ = by_correctness(soft, *right)
    first, second = right
    chosen = {"both": first & second, "only A": first & ~second, "only B": ~first & second, "none": ~first & ~second}
    numbers = []
    for group in groups:
        values = kurtosis[chosen[group.name]]
        known = values[~np.isnan(values)]
        if not group.n or math.isnan(group.kurtosis):
            continue
        interval = bootstrap_interval(known)
        row = _ROWS[group.name]
        numbers.append(Measured("kurtosis", group.kurtosis, "", row, interval.low, interval.high, group.n))
        numbers.append(Measured("mean_entropy", group.entropy, "", row, n=group.n))
    return Outcome(tuple(numbers), network_in_words(setting))


def data_of(setting: ErrorAnalysis) -> tuple[str, ...]:
    """Return what is read."""
    return training.data_of(setting)


def seconds_of(setting: ErrorAnalysis) -> float:
    """Return about how long a run takes: that of both networks."""
    return 2 * training.seconds_of(setting)
