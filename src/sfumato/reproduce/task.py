"""A task: what a network sees of the items, what people said of them, what is right, and who is trained on what."""

from __future__ import annotations

__all__ = ["Roles", "Task", "divided", "open_task", "people_of", "shares_of"]

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato import data
from sfumato.core.annotations import Annotations
from sfumato.core.gold import Gold
from sfumato.core.simplex import normalise
from sfumato.core.soft_labels import SoftLabels
from sfumato.errors import InputError, OptionError
from sfumato.reproduce.sources import is_public
from sfumato.tables.read import read_annotations
from sfumato.tables.read_gold import read_gold
from sfumato.train import draw_splits, examples_of, read_items
from sfumato.train.public_sets import gold_of
from sfumato.train.training_data import SPLITS, Example

# The numbers of the examples that have each role.
Roles = dict[str, NDArray[np.int64]]


@dataclass(frozen=True, eq=False)
class Task:
    """The examples of a set or of files, and all labels that there are; ``splits`` are those that have a name."""

    examples: Sequence[Example]
    items: tuple[str, ...]
    classes: tuple[str, ...]
    splits: Mapping[str, NDArray[np.int64]]
    annotations: Annotations | None
    gold: Gold | None

    def item_names(self, numbers: NDArray[np.int64]) -> tuple[str, ...]:
        """Return the names of the items in examples, in their order."""
        return tuple(self.items[row] for number in numbers for row in np.atleast_1d(self.examples[number]["item"]))


def open_task(name: str, options: Mapping[str, Any], *, items: str = "", gold: str = "") -> Task:
    """Return a public set with its *options*, or a file of votes with a file of *items* and one of *gold*."""
    return _opened(name, json.dumps(dict(options), sort_keys=True), items, gold)


# Many runs of one process share a set; two of them, since some are tested on another one.
@lru_cache(maxsize=3)
def _opened(name: str, options: str, items: str, gold: str) -> Task:
    if is_public(name):
        known = data.load(name, **json.loads(options))
        found = examples_of(known)
        first = [found.items[int(np.atleast_1d(example["item"])[0])] for example in found.examples]
        split_of = {item: split for split, names in known.splits.items() for item in names}
        told = np.array([split_of.get(item, "") for item in first])
        splits = {split: np.flatnonzero(told == split) for split in known.splits}
        more = {} if found.splits is None else {name: rows for name, rows in found.splits.items() if len(rows)}
        return Task(
            found.examples, found.items, known.classes, more | splits, known.annotations,
            gold_of(known) if not gold else read_gold(gold),
        )  # fmt: skip
    if not items:
        raise OptionError(f"{name} is a file of votes. Name the file of its items with 'items'.")
    votes, read = read_annotations(name), read_items(items)
    right = read_gold(gold) if gold else None
    return Task(read.examples, read.items, votes.classes, read.splits or {}, votes, right)


def divided(
    task: Task,
    *,
    roles: Mapping[str, Any],
    folds: int,
    fold: int,
    dev_share: float,
    test_share: float,
    n_train: int,
    n_test: int,
    seed: int,
) -> Roles:
    """Return which examples are trained on, which choose the epoch, and which are tested on.

    *roles* says which splits of the set have a role ({"train": ["train", "dev"], "test": "test"}); what is missing is
    drawn from the train examples by *seed*. With *folds*, the train examples are cut into so many and *fold* is tested
    on: the same cut for every seed. Of each role at most *n_train* and *n_test* examples stay (0: all).
    """
    chosen = {role: _of_splits(task, roles.get(role, role), role) for role in SPLITS}
    if not len(chosen["train"]):
        chosen["train"] = np.setdiff1d(np.arange(len(task.examples)), np.concatenate([chosen["dev"], chosen["test"]]))
    if folds:
        if not 0 <= fold < folds:
            raise OptionError(f"The option 'fold' must be from 0 to {folds - 1}. Got {fold} instead.")
        parts = np.array_split(np.random.default_rng(folds).permutation(chosen["train"]), folds)
        chosen["test"] = np.sort(parts[fold])
        chosen["train"] = np.setdiff1d(chosen["train"], chosen["test"])
        chosen["dev"] = np.zeros(0, dtype=np.int64)
    pool = chosen["train"]
    drawn = draw_splits(
        len(pool), dev_share=0.0 if len(chosen["dev"]) else dev_share,
        test_share=0.0 if len(chosen["test"]) else test_share, seed=seed,
    )  # fmt: skip
    chosen["train"] = pool[drawn["train"]]
    for role in ("dev", "test"):
        if not len(chosen[role]):
            chosen[role] = pool[drawn[role]]
    most = {"train": n_train, "dev": n_test, "test": n_test}
    return {role: _fewer(numbers, most[role], seed) for role, numbers in chosen.items()}


def _of_splits(task: Task, names: Any, role: str) -> NDArray[np.int64]:
    wanted = [names] if isinstance(names, str) else list(names)
    for name in wanted:
        if name not in task.splits and name != role:
            raise OptionError(f"There is no split {name!r}. The set has {', '.join(task.splits) or 'none'}.")
    parts = [task.splits[name] for name in wanted if name in task.splits]
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)


def _fewer(numbers: NDArray[np.int64], most: int, seed: int) -> NDArray[np.int64]:
    if not most or len(numbers) <= most:
        return numbers
    return np.sort(np.random.default_rng([seed, most]).choice(numbers, most, replace=False))


def people_of(task: Task, names: Sequence[str]) -> Annotations:
    """Return the annotations of those of the items *names* that have any, and of no other."""
    votes = task.annotations
    if votes is None:
        raise InputError("There are no annotations, of which soft labels could be made.")
    wanted = set(names)
    kept = np.array([item in wanted for item in votes.items])
    said = votes.take_annotations(kept[votes.item[votes.starts[:-1]]])
    seen = np.flatnonzero(said.per_item() > 0)
    place = np.full(votes.n_items, -1)
    place[seen] = np.arange(len(seen))
    number = np.repeat(np.arange(said.n_annotations), np.diff(said.starts))
    return Annotations.from_codes(
        place[said.item], said.annotator, said.label,
        weight=None if said.is_hard else said.weight, annotation=None if said.is_hard else number,
        items=[votes.items[row] for row in seen], annotators=votes.annotators, classes=votes.classes,
        sequence=None if said.sequence is None else said.sequence[seen],
        position=None if said.position is None else said.position[seen],
    )  # fmt: skip


def shares_of(votes: Annotations) -> SoftLabels:
    """Return what share of its people gave an item each class."""
    return SoftLabels(normalise(votes.counts()), items=votes.items, classes=votes.classes)
