"""Does a model of the annotators help when they answer with probabilities? (The open question of Collins et al. 2022)

Their labels are the naive average of what people said. Every aggregator here takes soft annotations, so Dawid–Skene and
the others can be fitted to the same responses and held against other people's judgements of the same items.
"""

from __future__ import annotations

__all__ = ["Setting", "SoftResponses", "data_of", "measure", "seconds_of"]

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.aggregate import centroid
from sfumato.aggregate.views import views
from sfumato.core.annotations import Annotations
from sfumato.core.responses import annotations_of
from sfumato.core.seeds import generator
from sfumato.core.simplex import normalise
from sfumato.core.soft_labels import SoftLabels
from sfumato.data import load
from sfumato.errors import ConvergenceWarning, InputError
from sfumato.evaluate import jensen_shannon_divergence_per_item, soft_cross_entropy_loss_per_item
from sfumato.evaluate.bootstrap import bootstrap_interval
from sfumato.reproduce.gains import Compared, gains
from sfumato.reproduce.outcome import Measured, Outcome
from sfumato.reproduce.sources import judged

_NAIVE = "Naive average"
_CLASSES = ("no", "yes")


@dataclass(frozen=True)
class SoftResponses:
    """Which soft responses, and which aggregators of them.

    ``sets`` maps what a set is called to "cifar10s", whose labels are held against the votes of CIFAR-10H, or to an
    emotion of snow2008, whose ratings of 0 to 100 are probabilities of "yes", held against the mean rating of the
    experts. ``panel`` is, by that name, how many people per item are drawn by the seed (all where it says nothing).
    ``methods`` are the aggregators beside the naive average, ``names`` what the table calls them.
    """

    sets: Mapping[str, Any] = field(default_factory=lambda: {"CIFAR-10S": "cifar10s"})
    panel: Mapping[str, Any] = field(default_factory=dict)
    methods: Mapping[str, Any] = field(default_factory=lambda: {"dawid_skene": {}, "one_coin": {}})
    names: Mapping[str, Any] = field(default_factory=dict)


Setting = SoftResponses


def measure(setting: SoftResponses, *, seed: int = 0, device: str = "cpu") -> Outcome:
    """Return how far each aggregator's labels are from other people's, and its gain over the naive average."""
    numbers: list[Measured] = []
    divergences: list[Compared] = []
    losses: list[Compared] = []
    for on, name in setting.sets.items():
        said, people = _responses(str(name), int(setting.panel.get(on, 0)), seed)
        made = _made(setting, said, seed)
        apart = {row: jensen_shannon_divergence_per_item(soft, people) for row, soft in made.items()}
        loss = {row: soft_cross_entropy_loss_per_item(soft, people) for row, soft in made.items()}
        top = people.probs.argmax(axis=1)
        for row, soft in made.items():
            numbers += [_mean("jensen_shannon_divergence", apart[row], on, row)]
            numbers += [_mean("soft_cross_entropy_loss", loss[row], on, row)]
            numbers += [_mean("accuracy_score", (soft.probs.argmax(axis=1) == top).astype(np.float64), on, row)]
        rows = [row for row in made if row != _NAIVE]
        divergences += [Compared("jensen_shannon_divergence", on, row, apart[row], apart[_NAIVE]) for row in rows]
        losses += [Compared("soft_cross_entropy_loss", on, row, loss[row], loss[_NAIVE]) for row in rows]
    numbers += gains(divergences, higher_is_better=False, seed=seed)
    numbers += gains(losses, higher_is_better=False, seed=seed)
    return Outcome(tuple(numbers))


def _made(setting: SoftResponses, said: Annotations, seed: int) -> dict[str, SoftLabels]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = views(said, {"standard": {}, **setting.methods}, seed=seed)
    rows = {name: str(setting.names.get(name, name)) for name in found} | {"standard": _NAIVE}
    return {
        **{rows[name]: soft for name, soft in found.items()},
        "Centroid of all": centroid(found).soft_labels,
    }


def _responses(name: str, panel: int, seed: int) -> tuple[Annotations, SoftLabels]:
    """Return what people said, and the judgement of others on the same items, in the same order."""
    if name == "cifar10s":
        data = load(name)
        said = annotations_of(data.responses, data.classes)
        votes, _ = judged("cifar10h", {"gold": False})
        people = SoftLabels(normalise(votes.counts()), items=votes.items, classes=votes.classes)
    else:
        said, people = _emotion(name)
    if panel:
        said = _drawn(said, panel, seed)
    return said, people.take(said.items)


def _drawn(said: Annotations, panel: int, seed: int) -> Annotations:
    """Return *panel* annotations of each item, drawn at random."""
    order = np.argsort(generator(seed).random(said.n_annotations), kind="stable")
    item = said.item[said.starts[:-1]][order]
    by_item = np.argsort(item, kind="stable")
    sorted_item = item[by_item]
    place = np.arange(len(item)) - np.searchsorted(sorted_item, sorted_item)
    taken = np.zeros(said.n_annotations, dtype=np.bool_)
    taken[order[by_item[place < panel]]] = True
    return said.take_annotations(taken)


def _emotion(name: str) -> tuple[Annotations, SoftLabels]:
    data = load(name)
    if data.ratings is None or data.gold_ratings is None:
        raise InputError(f"{name} has no ratings of 0 to 100. Name cifar10s, or an emotion of snow2008.")
    rows = data.ratings
    share = rows["rating"].to_numpy() / 100
    said = Annotations.from_rows(
        [item for item in rows["item"] for _ in _CLASSES],
        [person for person in rows["annotator"] for _ in _CLASSES],
        list(_CLASSES) * len(rows),
        weights=np.column_stack([1 - share, share]).ravel(),
        classes=_CLASSES,
    )
    expert = data.gold_ratings["rating"].to_numpy() / 100
    return said, SoftLabels(
        np.column_stack([1 - expert, expert]), items=tuple(data.gold_ratings["item"]), classes=_CLASSES
    )


def _mean(metric: str, values: NDArray[np.float64], on: str, row: str) -> Measured:
    found = bootstrap_interval(values)
    return Measured(metric, found.value, on, row, found.low, found.high, len(values))


def data_of(setting: SoftResponses) -> tuple[str, ...]:
    """Return what is read."""
    names = [str(name) for name in setting.sets.values()]
    return (*names, *(["cifar10h"] if "cifar10s" in names else []))


def seconds_of(setting: SoftResponses) -> float:
    """Return about how long a run takes."""
    return 2.0 * len(setting.sets)
