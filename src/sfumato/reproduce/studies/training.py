"""A network taught by gold, by a majority, by soft labels or by both, and tested where it was not taught."""

from __future__ import annotations

__all__ = ["Setting", "Training", "data_of", "measure", "seconds_of", "trained"]

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from sfumato.aggregate import majority
from sfumato.aggregate.views import views
from sfumato.core.annotations import Annotations
from sfumato.core.gold import Gold
from sfumato.core.soft_labels import SoftLabels
from sfumato.errors import OptionError, check_choice
from sfumato.reproduce.differences import with_differences
from sfumato.reproduce.networks import config_of, network_in_words, seconds_per_thousand
from sfumato.reproduce.outcome import Outcome
from sfumato.reproduce.scored import scored
from sfumato.reproduce.sources import without_folder
from sfumato.reproduce.studies.views import Views, joined_views
from sfumato.reproduce.task import Roles, Task, divided, open_task, people_of, shares_of
from sfumato.train import join

if TYPE_CHECKING:
    from sfumato.train import Run

_JOINS = ("average", "centroid", "temperature", "hybrid")
# Which labels of other sets are which classes of the one that is trained on; "" takes them by name.
Classes = Mapping[str, Any]


@dataclass(frozen=True)
class Training:
    """What is taught, by which labels, to which network, and what it is tested on.

    ``data`` is the name of a public set, with its ``options``, or a file of votes with a file of ``items`` and one of
    ``gold``. ``roles``, ``folds`` and the shares say how it is divided (`sfumato.reproduce.task.divided`). ``test``
    is another set to test on, its splits ``test_splits``, its classes renamed by ``test_classes``.

    ``view`` names the soft labels: a method of aggregation, or a join of ``views``. ``majority_is_gold`` teaches the
    majority where gold would be taught; ``ties`` go as they say there. ``loss``, ``target``, ``optimizer``,
    ``schedule`` and ``loop`` are those of a configuration of `sfumato train`, ``networks`` the changes of each network.

    ``tasks`` are sets of these settings with a name, of which ``task`` chooses one, so that an experiment can run the
    same arms on several. ``epochs``, ``n_train`` and ``n_test`` (examples) make it smaller; 0 leaves all.
    """

    task: str = ""
    tasks: Mapping[str, Any] = field(default_factory=dict)
    data: str = field(default="pos", metadata={"path": True})
    options: Mapping[str, Any] = field(default_factory=dict)
    items: str = field(default="", metadata={"path": True})
    gold: str = field(default="", metadata={"path": True})
    roles: Mapping[str, Any] = field(default_factory=dict)
    folds: int = 0
    fold: int = 0
    dev_share: float = 0.1
    test_share: float = 0.0
    test: str = ""
    test_splits: tuple[str, ...] = ()
    test_classes: Classes = field(default_factory=dict)
    on: str = ""
    view: str = "standard"
    views: Mapping[str, Any] = field(default_factory=dict)
    majority_is_gold: bool = False
    ties: Literal["first", "random"] = "first"
    loss: Mapping[str, Any] = field(default_factory=dict)
    target: Mapping[str, Any] = field(default_factory=dict)
    optimizer: Mapping[str, Any] = field(default_factory=dict)
    schedule: Mapping[str, Any] = field(default_factory=dict)
    loop: Mapping[str, Any] = field(default_factory=dict)
    network: str = "mlp"
    networks: Mapping[str, Any] = field(
        default_factory=lambda: {"mlp": {"model": {"name": "mlp"}}}, metadata={"size": True}
    )
    epochs: int = field(default=0, metadata={"size": True})
    n_train: int = field(default=0, metadata={"size": True})
    n_test: int = field(default=0, metadata={"size": True})


Setting = Training


def measure(setting: Training, *, seed: int = 0, device: str = "cpu") -> Outcome:
    """Return how well the network meets gold and people on the test items."""
    setting = _of_task(setting)
    task, _, run = trained(setting, seed=seed, device=device)
    on = setting.on or without_folder(setting.test or setting.data)
    if setting.test:
        other = _renamed(open_task(setting.test, {}), setting.test_classes)
        parts = {"train": [], "dev": [], "test": list(setting.test_splits) or list(other.splits)}
        numbers = divided(
            other, roles=parts, folds=0, fold=0, dev_share=0.0, test_share=0.0 if other.splits else 1.0,
            n_train=0, n_test=setting.n_test, seed=seed,
        )["test"]  # fmt: skip
        predicted = run.predictor.predict([other.examples[number] for number in numbers], other.items)
        tested, gold = other, other.gold
    else:
        predicted, tested, gold = run.predictions["test"], task, task.gold
    people = None if tested.annotations is None else shares_of(people_of(tested, predicted.items))
    return Outcome(
        tuple(scored(predicted, gold=gold, people=people, on=on)), network_in_words(setting), {on: predicted}
    )


def trained(setting: Training, *, seed: int, device: str) -> tuple[Task, Roles, Run]:
    """Return the task, how it was divided, and what came out of training."""
    # Not before it is needed: settings can be read, and experiments listed, without PyTorch.
    from sfumato.train import fit, needs_of

    setting = _of_task(setting)
    task = open_task(setting.data, setting.options, items=setting.items, gold=setting.gold)
    roles = divided(
        task, roles=setting.roles, folds=setting.folds, fold=setting.fold, dev_share=setting.dev_share,
        test_share=setting.test_share, n_train=setting.n_train, n_test=setting.n_test, seed=seed,
    )  # fmt: skip
    if not setting.test and not len(roles["test"]):
        raise OptionError(
            "No example is left to test on. Set 'test_share' or 'folds', or mark some with the split 'test'."
        )
    config = config_of(setting, seed=seed, device=device)
    needs = needs_of(config)
    names = task.item_names(roles["train"])
    votes = people_of(task, names) if {"soft", "annotations"} & needs or setting.majority_is_gold else None
    gold = task.gold
    if setting.majority_is_gold and votes is not None:
        gold = _with_majority(task.gold, votes, setting.ties, seed)
    data = join(
        task.examples, items=task.items, splits=roles, needs=needs, classes=task.classes,
        soft=_soft_labels(setting, task, votes, roles, seed) if "soft" in needs and votes is not None else None,
        gold=gold, annotations=votes if "annotations" in needs else None, missing="drop",
    )  # fmt: skip
    return task, roles, fit(data, config)


def _of_task(setting: Training) -> Training:
    if not setting.task:
        return setting
    chosen = setting.tasks[check_choice(setting.task, setting.tasks, option="task")]
    return replace(with_differences(setting, chosen, where=f"The task {setting.task!r}"), task="", on=setting.task)


def _soft_labels(setting: Training, task: Task, votes: Annotations, roles: Roles, seed: int) -> SoftLabels:
    """Return the soft labels of the train items, and the plain shares of those that choose the epoch."""
    if setting.view in _JOINS:
        methods = setting.views or Views().methods
        found = joined_views(Views(methods=methods), votes, seed=seed)[setting.view]
    else:
        found = views(votes, {setting.view: dict(setting.views.get(setting.view, {}))}, seed=seed)[setting.view]
    dev = set(task.item_names(roles["dev"])) & set(() if task.annotations is None else task.annotations.items)
    if not dev:
        return found
    shares = shares_of(people_of(task, sorted(dev)))
    return SoftLabels(
        np.concatenate([found.probs, shares.probs]), items=(*found.items, *shares.items), classes=found.classes
    )


def _with_majority(gold: Gold | None, votes: Annotations, ties: Literal["first", "random"], seed: int) -> Gold:
    """Return gold in which the items with votes have what most people said."""
    silver = majority(votes, ties=ties, seed=seed).soft_labels
    codes = silver.probs.argmax(axis=1)
    voted = set(silver.items)
    kept = [] if gold is None else [(name, label) for name, label in zip(gold.items, gold.names(), strict=True)]
    other = [(name, label) for name, label in kept if name not in voted]
    return Gold.from_names(
        [*silver.items, *(name for name, _ in other)],
        [*(silver.classes[code] for code in codes), *(label for _, label in other)],
        classes=votes.classes if gold is None else gold.classes,
    )


def _renamed(task: Task, classes: Classes) -> Task:
    if not classes or task.gold is None:
        return task
    unknown = [name for name in task.gold.classes if name not in classes]
    if unknown:
        raise OptionError(
            f"test_classes says nothing of {unknown[0]!r}. The classes are {', '.join(task.gold.classes)}."
        )
    names = tuple(dict.fromkeys(str(classes[name]) for name in task.gold.classes))
    gold = Gold.from_names(task.gold.items, [str(classes[name]) for name in task.gold.names()], classes=names)
    return Task(task.examples, task.items, names, task.splits, None, gold)


def data_of(setting: Training) -> tuple[str, ...]:
    """Return what is read."""
    setting = _of_task(setting)
    found: Sequence[str] = (setting.data, setting.items, setting.gold, setting.test)
    return tuple(filter(None, found))


def seconds_of(setting: Training) -> float:
    """Return about how long a run takes on one core: a guess from the network, its epochs and its examples."""
    setting = _of_task(setting)
    there = _EXAMPLES.get(setting.data, 1000)
    return 0.5 + seconds_per_thousand(setting) * min(setting.n_train or there, there) / 1000


# How many examples are trained on at most, where these are not about a thousand.
_EXAMPLES = {"stemming": 5500, "cifar10h": 7000, "lewidi2023/md_agreement": 6600}
