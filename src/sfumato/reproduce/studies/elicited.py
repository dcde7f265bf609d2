"""What people say when they are asked for probabilities, beside what fifty others vote (Collins et al. 2022, 4.3)."""

from __future__ import annotations

__all__ = ["Elicited", "Setting", "data_of", "measure", "seconds_of"]

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.core.responses import Response, annotations_of, contradictions, distribution
from sfumato.core.simplex import entropy, normalise
from sfumato.core.soft_labels import SoftLabels
from sfumato.data import DataSet, load
from sfumato.evaluate import wasserstein_error
from sfumato.evaluate.bootstrap import bootstrap_interval
from sfumato.evaluate.sums import correlation_sums
from sfumato.evaluate.values_wasserstein import values_wasserstein_error_per_item
from sfumato.reproduce.outcome import Measured, Outcome
from sfumato.reproduce.sources import judged

_PEOPLE = "people"


@dataclass(frozen=True)
class Elicited:
    """How a soft label is made of what a person filled in.

    ``as_released`` takes the responses and the rules of the authors' label file: a person who is stored twice counts
    twice, repeats count as further annotators. ``people`` adds the figures of the people themselves. ``groups`` cuts
    the images into so many groups by the entropy of their CIFAR-10H label, and gives the means of each (0: none).
    """

    use: Literal["T1", "T2"] = "T2"
    redistribute: Literal["clamp", "uniform"] = "clamp"
    gamma: float = 0.1
    as_released: bool = False
    people: bool = False
    groups: int = 0


Setting = Elicited


def measure(setting: Elicited, *, seed: int = 0, device: str = "cpu") -> Outcome:
    """Return how the soft labels compare with CIFAR-10H; nothing here is random."""
    data = load("cifar10s", as_released=setting.as_released)
    crowd, _ = judged("cifar10h", {"gold": False})
    votes = annotations_of(
        data.responses, data.classes, use=setting.use, redistribute=setting.redistribute, gamma=setting.gamma,
        as_published=setting.as_released,
    )  # fmt: skip
    ours = SoftLabels(normalise(votes.counts()), items=votes.items, classes=votes.classes)
    theirs = SoftLabels(normalise(crowd.counts()), items=crowd.items, classes=crowd.classes).take(ours.items)
    numbers = [*_alike(ours, theirs)]
    if setting.people:
        numbers += _people(data)
    if setting.groups:
        numbers += _by_entropy(setting, data, theirs)
    return Outcome(tuple(numbers))


def _alike(ours: SoftLabels, theirs: SoftLabels) -> list[Measured]:
    """Return how far the soft labels agree with the votes of CIFAR-10H on the same images."""
    own, voted = entropy(ours.probs, normalised=True), entropy(theirs.probs, normalised=True)
    correlation = bootstrap_interval(correlation_sums(own, voted))
    apart = bootstrap_interval(values_wasserstein_error_per_item(ours, theirs))
    n = ours.n_items
    on = "CIFAR-10H"
    return [
        Measured("entropy_correlation_score", correlation.value, on, "", correlation.low, correlation.high, n),
        Measured("values_wasserstein_error", apart.value, on, "", apart.low, apart.high, n),
        Measured("wasserstein_error", wasserstein_error(ours, theirs), on, n=n),
        Measured("mean_entropy", float(own.mean()), "soft labels", n=n),
        Measured("mean_entropy", float(voted.mean()), on, n=n),
    ]


def _people(data: DataSet) -> list[Measured]:
    """Return what is known of the people: how often they are right, how long they take, whether they stay."""
    gold = dict(zip(data.gold.items, data.gold.names(), strict=True)) if data.gold else {}
    answers = data.responses
    top = [one.stated[0][0] == gold[one.item] for one in answers]
    either = [gold[one.item] in [name for name, _ in one.stated[:2]] for one in answers]
    contradict = [bool(contradictions(one, data.classes)) for one in answers]
    seconds = [one.seconds for one in answers if one.seconds is not None]
    numbers = {
        "n_annotations": float(len(answers)),
        "n_annotators": float(len({one.annotator for one in answers})),
        "annotations_per_item": len(answers) / len({one.item for one in answers}),
        "top_class_accuracy": float(np.mean(top)),
        "top_two_accuracy": float(np.mean(either)),
        "median_seconds": float(np.median(seconds)),
        "share_that_contradict_themselves": float(np.mean(contradict)),
    }
    if data.repeats:
        numbers |= _again(answers, data.repeats)
    return [Measured(name, value, _PEOPLE, n=len(answers)) for name, value in numbers.items()]


def _again(first: Sequence[Response], second: Sequence[Response]) -> dict[str, float]:
    """Return how people answer when they meet an image again."""
    before = {(one.item, one.annotator): one.stated[0] for one in first}
    pairs = [(before[one.item, one.annotator], one.stated[0]) for one in second if (one.item, one.annotator) in before]
    same = [abs(old[1] - new[1]) for old, new in pairs if old[0] == new[0]]
    return {
        "n_repeats": float(len(second)),
        "share_that_change_class": 1 - len(same) / len(pairs),
        "mean_change_in_percent": float(np.mean(same)),
    }


def _by_entropy(setting: Elicited, data: DataSet, theirs: SoftLabels) -> list[Measured]:
    """Return the mass on the top class and the possible classes for groups of images of rising entropy."""
    row = {item: place for place, item in enumerate(theirs.items)}
    of_answer = np.array([row[one.item] for one in data.responses])
    labels = [
        distribution(one, data.classes, use=setting.use, redistribute=setting.redistribute, gamma=setting.gamma)
        for one in data.responses
    ]
    n_images = np.bincount(of_answer, minlength=theirs.n_items)
    mass = np.bincount(of_answer, weights=[label.max() for label in labels]) / n_images
    left = [len(data.classes) - len(one.impossible) for one in data.responses]
    possible = np.bincount(of_answer, weights=left) / n_images
    people = entropy(theirs.probs, normalised=True)
    numbers = [
        Measured("correlation_with_entropy", float(np.corrcoef(values, people)[0, 1]), on, "all images", n=len(people))
        for on, values in (("mass on the top class", mass), ("possible classes", possible))
    ]
    order = np.argsort(people, kind="stable")
    for place, group in enumerate(np.array_split(order, setting.groups), start=1):
        of = f"group {place}"
        numbers += [
            Measured("mean_entropy", float(people[group].mean()), "CIFAR-10H", of, n=len(group)),
            _mean("top_class_mass", mass[group], of),
            _mean("n_possible_classes", possible[group], of),
        ]
    return numbers


def _mean(metric: str, values: NDArray[np.float64], row: str) -> Measured:
    found = bootstrap_interval(values)
    return Measured(metric, found.value, "", row, found.low, found.high, len(values))


def data_of(setting: Elicited) -> tuple[str, ...]:
    """Return what is read."""
    return ("cifar10s", "cifar10h")


def seconds_of(setting: Elicited) -> float:
    """Return about how long a run takes."""
    return 4.0
