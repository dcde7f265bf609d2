"""Soft labels by several methods, and their joins, against gold (Wright and Augenstein 2024, table 1)."""

from __future__ import annotations

__all__ = ["Setting", "Views", "data_of", "joined_views", "measure", "seconds_of"]

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sfumato.aggregate import average, centroid, temperature
from sfumato.aggregate.temperature_loss import tempered
from sfumato.aggregate.views import views
from sfumato.core.annotations import Annotations
from sfumato.core.soft_labels import SoftLabels
from sfumato.errors import ConvergenceWarning, InputError
from sfumato.evaluate.bootstrap import bootstrap_interval
from sfumato.reproduce.outcome import Measured, Outcome
from sfumato.reproduce.sources import judged, without_folder

_PUBLISHED_FLOOR = -15.0


@dataclass(frozen=True)
class Views:
    """Which annotations, which views of them, and how they are joined.

    ``data`` is the name of a public set, with its ``options``, or a file of votes; ``gold`` a file of references.
    ``methods`` are the names of views with their options; ``names`` says what the table calls them. The temperatures
    are found ``as_published`` by the authors' schedule with its ``learning_rate``, or exactly. ``on`` is what the set
    is called in the table.
    """

    data: str = field(default="rte", metadata={"path": True})
    options: Mapping[str, Any] = field(default_factory=dict)
    gold: str = field(default="", metadata={"path": True})
    methods: Mapping[str, Any] = field(
        default_factory=lambda: {"standard": {}, "softmax": {}, "mace": {}, "dawid_skene": {}}
    )
    names: Mapping[str, Any] = field(default_factory=dict)
    join: bool = True
    as_published: bool = False
    learning_rate: float | None = None
    on: str = ""


Setting = Views


def measure(setting: Views, *, seed: int = 0, device: str = "cpu") -> Outcome:
    """Return the accuracy of each view and join against gold, with an interval; ties go to the first class."""
    votes, gold = judged(setting.data, setting.options, gold=setting.gold)
    if gold is None:
        raise InputError(f"{setting.data} has no gold, against which views are measured here. Name a file of it.")
    found = joined_views(setting, votes, seed=seed)
    truth = gold.aligned(votes.items, votes.classes)
    known = truth >= 0
    numbers = []
    for name, soft in found.items():
        right = (soft.probs.argmax(axis=1) == truth)[known].astype(np.float64)
        interval = bootstrap_interval(right)
        row = str(setting.names.get(name, name))
        on = setting.on or without_folder(setting.data)
        numbers.append(
            Measured("accuracy_score", interval.value, on, row, interval.low, interval.high, n=int(known.sum()))
        )
    return Outcome(tuple(numbers))


def joined_views(setting: Views, votes: Annotations, *, seed: int) -> dict[str, SoftLabels]:
    """Return the views by name, and the four joins of them behind."""
    with warnings.catch_warnings():
        # The published settings stop before they have converged, which is what they are there for.
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = views(votes, setting.methods, seed=seed)
        if not setting.join:
            return found
        softened = (
            temperature(found, as_published=True, learning_rate=setting.learning_rate)
            if setting.as_published
            else temperature(found)
        )
    floor = _PUBLISHED_FLOOR if setting.as_published else None
    heats = [1.0] * len(found) if softened.temperatures is None else softened.temperatures.tolist()
    # The hybrid is the centroid of the softened views: the same temperatures, which are the costly part.
    cooled = {
        name: SoftLabels(tempered(soft.probs, heat, floor=floor), items=soft.items, classes=soft.classes)
        for (name, soft), heat in zip(found.items(), heats, strict=True)
    }
    return {
        **found,
        "average": average(found).soft_labels,
        "centroid": centroid(found).soft_labels,
        "temperature": softened.soft_labels,
        "hybrid": centroid(cooled).soft_labels,
    }


def data_of(setting: Views) -> tuple[str, ...]:
    """Return what is read."""
    return tuple(filter(None, (setting.data, setting.gold)))


def seconds_of(setting: Views) -> float:
    """Return about how long a run takes; the published schedule of temperatures is nearly all of it."""
    return 6.0 if setting.as_published else 3.0
