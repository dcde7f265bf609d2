"""A network for CIFAR-10, of whose images 900 are taught by what single people said of them (Collins et al. 2022)."""

from __future__ import annotations

__all__ = ["EveryAnnotator", "Setting", "data_of", "measure", "seconds_of"]

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.core.annotations import Annotations
from sfumato.core.gold import Gold
from sfumato.core.predictions import Predictions
from sfumato.core.responses import Response, annotations_of
from sfumato.core.soft_labels import SoftLabels
from sfumato.data import load
from sfumato.evaluate import adaptive_rms_calibration_error
from sfumato.reproduce.networks import config_of, network_in_words, seconds_per_thousand
from sfumato.reproduce.outcome import Measured, Outcome
from sfumato.reproduce.own_answers import own_answers
from sfumato.reproduce.scored import scored
from sfumato.reproduce.task import Task, open_task, people_of, shares_of
from sfumato.train import join

if TYPE_CHECKING:
    from sfumato.train import Run

Labels = Literal["hard", "random", "uniform", "cifar10h", "cifar10s"]
_HELD_OUT = 100
_HELD_OUT_SEED = 7
_NOBODY = "CIFAR-10"
# What a vote for CIFAR-10H takes at the median (section 5.1); the times themselves are not at hand.
_SECONDS_OF_A_VOTE = 1.8
_VOTES_PER_IMAGE = 51.1


@dataclass(frozen=True)
class EveryAnnotator:
    """What the 900 images are taught by; the other train images have the class of CIFAR-10.

    ``labels`` are that class, random or uniform numbers, the votes of CIFAR-10H or the answers of CIFAR-10S; of
    these, the share of their ``panel`` (0: all people) or, where ``drawn``, one person of it each time an image is
    drawn. ``smoothing`` is laid over the labels of all images. ``use``, ``redistribute`` and ``gamma`` say how a soft
    label is made of an answer, ``select_top_two`` leaves its numbers out: the mass is shared by both classes.
    ``as_released`` follows the authors' code: what people leave open is given to no class, and the last bin of the
    calibration error is dropped.

    ``answers`` is a file of `sfumato collect export` in place of CIFAR-10S, from a study of one's own about the same
    images, named by their place in the test set of CIFAR-10: what it cost is then the time of each input that a label
    is made of. The images that are held out are tested on all that people said (T2, clamp), whatever was taught.

    The network and its training are those of `Training`. ``n_hard`` is how many images have the class of CIFAR-10,
    ``n_people`` how many the labels in question, ``n_test`` how many test images there are (0: all).
    """

    labels: Labels = "cifar10s"
    drawn: bool = False
    panel: int = 0
    smoothing: float = 0.0
    use: Literal["T1", "T2"] = "T2"
    redistribute: Literal["clamp", "uniform"] = "clamp"
    gamma: float = 0.1
    select_top_two: bool = False
    as_released: bool = False
    answers: str = field(default="", metadata={"path": True})
    optimizer: Mapping[str, Any] = field(default_factory=dict)
    schedule: Mapping[str, Any] = field(default_factory=dict)
    loop: Mapping[str, Any] = field(default_factory=dict)
    network: str = "resnet34a"
    networks: Mapping[str, Any] = field(
        default_factory=lambda: {"resnet34a": {"model": {"name": "resnet34a"}}}, metadata={"size": True}
    )
    epochs: int = field(default=0, metadata={"size": True})
    n_hard: int = field(default=0, metadata={"size": True})
    n_people: int = field(default=0, metadata={"size": True})
    n_test: int = field(default=0, metadata={"size": True})

    @property
    def loss(self) -> Mapping[str, Any]:
        """One vote is a class, everything else a distribution."""
        return {"name": "hard" if self.drawn and self.labels == "cifar10h" else "soft"}

    @property
    def target(self) -> Mapping[str, Any]:
        """Where people are drawn, they are drawn of their panel."""
        return {"kind": "drawn"} if self.drawn else {}


Setting = EveryAnnotator


def measure(setting: EveryAnnotator, *, seed: int = 0, device: str = "cpu") -> Outcome:
    """Return how the network does on CIFAR-10H's test images, and on the images of CIFAR-10S that are held out."""
    # Not before it is needed: settings can be read, and experiments listed, without PyTorch.
    from sfumato.train import fit, needs_of

    task = open_task("cifar10h", {"splits": True})
    answers = _answers(setting)
    held_out, taught = _divided_images(answers)
    chosen = _fewer(taught, setting.n_people, seed)
    hard = _others(task, [*held_out, *taught], setting.n_hard, seed)
    config = config_of(setting, seed=seed, device=device)
    soft, annotations = _labels(setting, task, answers, chosen, hard, seed)
    place = {name: row for row, name in enumerate(task.items)}
    data = join(
        task.examples, items=task.items, splits={"train": [place[name] for name in (*chosen, *hard)]},
        needs=needs_of(config), classes=task.classes, soft=soft, annotations=annotations, missing="drop",
    )  # fmt: skip
    run = fit(data, config)
    voted = shares_of(people_of(task, _fewer(task.item_names(task.splits["test"]), setting.n_test, seed)))
    unseen = set(held_out)
    asked = shares_of(annotations_of([one for one in answers if one.item in unseen], task.classes))
    numbers = [
        number
        for on, people in (("CIFAR-10H", voted), ("CIFAR-10S", asked))
        for number in _tested(setting, task, run, people, on)
    ]
    return Outcome((*numbers, *_cost(setting, answers)), network_in_words(setting))


def _cost(setting: EveryAnnotator, answers: Sequence[Response]) -> list[Measured]:
    """Return the seconds that the people of one image spend on it."""
    if setting.labels not in ("cifar10h", "cifar10s"):
        return []
    if setting.labels == "cifar10h":
        each, people = _SECONDS_OF_A_VOTE, _VOTES_PER_IMAGE
    else:
        each = float(np.median(_seconds(setting, answers)))
        people = len(answers) / len({one.item for one in answers})
    people = setting.panel or people
    return [Measured("annotation_seconds", each * people, "one image")]


def _answers(setting: EveryAnnotator) -> tuple[Response, ...]:
    if setting.answers:
        return tuple(one.response for one in own_answers(setting.answers))
    return load("cifar10s").responses


def _seconds(setting: EveryAnnotator, answers: Sequence[Response]) -> list[float]:
    """Return what each answer took: the inputs that a label is made of, where they were timed, else all of it."""
    if not setting.answers:
        return [one.seconds for one in answers if one.seconds is not None]
    parts = ["top", *(["second"] if setting.use == "T2" else [])]
    if setting.redistribute == "clamp" and not setting.select_top_two:
        parts.append("impossible")
    return [sum(one.seconds.get(part, 0.0) for part in parts) for one in own_answers(setting.answers)]


def _divided_images(answers: Sequence[Response]) -> tuple[list[str], list[str]]:
    """Return the images that are held out, 100 of the 1,000 of CIFAR-10S, and the others."""
    images = sorted({one.item for one in answers}, key=int)
    order = np.random.default_rng(_HELD_OUT_SEED).permutation(len(images))
    shuffled = [images[row] for row in order]
    n = min(_HELD_OUT, len(images) // 10)
    return shuffled[:n], shuffled[n:]


def _others(task: Task, judged: Sequence[str], n: int, seed: int) -> list[str]:
    known = set(judged)
    return _fewer([name for name in task.item_names(task.splits["train"]) if name not in known], n, seed)


def _fewer(names: Sequence[str], most: int, seed: int) -> list[str]:
    if not most or len(names) <= most:
        return list(names)
    return [names[row] for row in np.random.default_rng([seed, most]).choice(len(names), most, replace=False)]


def _labels(
    setting: EveryAnnotator, task: Task, answers: Sequence[Response], chosen: list[str], hard: list[str], seed: int
) -> tuple[SoftLabels | None, Annotations | None]:
    """Return the labels of the train images: soft labels, or, where people are drawn, what each of them said."""
    certain = _certain(task, hard)
    if setting.labels in ("cifar10h", "cifar10s"):
        votes = _panel(_said(setting, task, answers, chosen), setting.panel, seed)
        if setting.drawn:
            return None, _with_certain(votes, certain)
        found = shares_of(votes)
    elif setting.labels == "hard":
        found = _certain(task, chosen)
    else:
        shape = (len(chosen), len(task.classes))
        raw = np.ones(shape) if setting.labels == "uniform" else np.random.default_rng([seed, 11]).random(shape)
        found = SoftLabels(raw / raw.sum(axis=1, keepdims=True), items=tuple(chosen), classes=task.classes)
    probs = np.concatenate([found.probs, certain.probs])
    probs = (1 - setting.smoothing) * probs + setting.smoothing / len(task.classes)
    return SoftLabels(probs, items=(*found.items, *certain.items), classes=task.classes), None


def _certain(task: Task, names: Sequence[str]) -> SoftLabels:
    """Return the class of CIFAR-10 as soft labels that are certain."""
    gold: Gold | None = task.gold
    assert gold is not None  # noqa: S101  # CIFAR-10 has a class for every image
    codes = gold.aligned(names, task.classes)
    return SoftLabels(np.eye(len(task.classes))[codes], items=tuple(names), classes=task.classes)


def _said(setting: EveryAnnotator, task: Task, answers: Sequence[Response], names: Sequence[str]) -> Annotations:
    if setting.labels == "cifar10h":
        return people_of(task, names)
    wanted = set(names)
    return _answered(setting, [one for one in answers if one.item in wanted], task.classes)


def _answered(setting: EveryAnnotator, answers: Sequence[Response], classes: tuple[str, ...]) -> Annotations:
    """Return answers as soft annotations, by the construction of the setting."""
    if setting.select_top_two:
        return _stated([_top_two(one) for one in answers], classes)
    if setting.as_released:
        return _stated([_as_stated(one, setting.use) for one in answers], classes)
    return annotations_of(
        answers, classes, use=setting.use, redistribute=setting.redistribute, gamma=setting.gamma
    )  # fmt: skip


def _top_two(answer: Response) -> tuple[Response, dict[str, float]]:
    names = list(dict.fromkeys(name for name, _ in answer.stated[:2]))
    return answer, {name: 1 / len(names) for name in names}


def _as_stated(answer: Response, use: str) -> tuple[Response, dict[str, float]]:
    """Return what was stated and nothing else, scaled to sum to 1: what is left open goes nowhere."""
    stated = dict(answer.stated[: 1 if use == "T1" else 2])
    total = sum(stated.values())
    if not total:
        return answer, {answer.stated[0][0]: 1.0}
    return answer, {name: percent / total for name, percent in stated.items()}


def _stated(answers: Sequence[tuple[Response, dict[str, float]]], classes: tuple[str, ...]) -> Annotations:
    rows = [
        (one.item, one.annotator, name, share, number)
        for number, (one, shares) in enumerate(answers)
        for name, share in shares.items()
        if share > 0
    ]
    item, annotator, label, weight, number = zip(*rows, strict=True)
    return Annotations.from_rows(item, annotator, label, weights=weight, annotation=number, classes=classes)


def _panel(votes: Annotations, size: int, seed: int) -> Annotations:
    if not size:
        return votes
    from sfumato.train.targets import panel_of

    return panel_of(votes, size, seed=seed)


def _with_certain(votes: Annotations, certain: SoftLabels) -> Annotations:
    """Return the annotations, and for each other image one that gives its class."""
    items = (*votes.items, *certain.items)
    nobody = len(votes.annotators)
    n = certain.n_items
    item = np.concatenate([votes.item, np.arange(votes.n_items, votes.n_items + n)])
    annotator = np.concatenate([votes.annotator, np.full(n, nobody)])
    label = np.concatenate([votes.label, certain.probs.argmax(axis=1)])
    said = np.repeat(np.arange(votes.n_annotations), np.diff(votes.starts))
    return Annotations.from_codes(
        item, annotator, label,
        weight=None if votes.is_hard else np.concatenate([votes.weight, np.ones(n)]),
        annotation=None if votes.is_hard else np.concatenate([said, np.arange(n) + votes.n_annotations]),
        items=items, annotators=(*votes.annotators, _NOBODY), classes=votes.classes,
    )  # fmt: skip


def _tested(setting: EveryAnnotator, task: Task, run: Run, people: SoftLabels, on: str) -> list[Measured]:
    from sfumato.reproduce.attacked import loss_under_attack

    place = {name: row for row, name in enumerate(task.items)}
    examples = [task.examples[place[name]] for name in people.items]
    predicted: Predictions = run.predictor.predict(examples, task.items).take(people.items)
    numbers = scored(predicted, gold=task.gold, people=people, on=on)
    right: NDArray[np.int64] = people.probs.argmax(axis=1)
    apart = adaptive_rms_calibration_error(predicted.probs, right, as_published=setting.as_released)
    lost = loss_under_attack(run.learner.model, examples, people)
    n = people.n_items
    return [
        *numbers,
        Measured("adaptive_rms_calibration_error", apart, on, n=n),
        Measured("fgsm_loss", lost, on, n=n),
    ]


def data_of(setting: EveryAnnotator) -> tuple[str, ...]:
    """Return what is read."""
    return ("cifar10h", setting.answers or "cifar10s", "cifar10")


def seconds_of(setting: EveryAnnotator) -> float:
    """Return about how long a run takes on one core: a guess from the network, its epochs and its images."""
    images = (setting.n_hard or 6_100) + (setting.n_people or 900)
    return 0.5 + seconds_per_thousand(setting) * images / 1000
