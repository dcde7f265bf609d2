"""The data of a training run: files or a public set, votes made into soft labels where those are needed."""

from __future__ import annotations

__all__ = ["read_training_data"]

from typing import TYPE_CHECKING

import numpy as np

from sfumato.cli import screen
from sfumato.core.vocabulary import counted
from sfumato.errors import OptionError, check_choice

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sfumato.core.annotations import Annotations
    from sfumato.core.gold import Gold
    from sfumato.core.soft_labels import SoftLabels
    from sfumato.train.config import Config
    from sfumato.train.items_file import ItemsFile
    from sfumato.train.training_data import TrainingData

Splits = dict[str, "NDArray[np.int64]"]


def read_training_data(config: Config) -> TrainingData:
    """Return the items of a configuration joined with their labels; what was decided on the way is said."""
    from sfumato.train import join, needs_of

    needs = needs_of(config)
    _check_view(config)
    found, soft, gold, votes = _public(config) if config.data.set is not None else _files(config)
    if votes is not None and soft is None:
        soft = _view(votes, config)
    data = config.data
    return join(
        found.examples, items=found.items, splits=_splits(found, config, gold, soft), needs=needs,
        soft=soft, gold=gold, annotations=votes, classes=data.classes, missing=data.missing,
        features=found.features,
    )  # fmt: skip


def _check_view(config: Config) -> None:
    """Refuse a view that there is none of, or that nothing is made by."""
    from sfumato.aggregate.methods import JOINS, VIEWS

    data = config.data
    check_choice(data.view, [*VIEWS, *JOINS], option="data.view")
    if data.soft is not None and data.view != type(data).view:
        raise OptionError(
            f"data.view = {data.view!r} makes soft labels of votes, and data.soft gives them already. Leave one out "
            f"(--set data.view={type(data).view})."
        )


def _files(config: Config) -> tuple[ItemsFile, SoftLabels | None, Gold | None, Annotations | None]:
    from sfumato.core.soft_labels import SoftLabels
    from sfumato.tables.read import read_annotations
    from sfumato.tables.read_gold import read_gold
    from sfumato.train import read_items
    from sfumato.train.items_file import shortened

    data = config.data
    if data.items is None:
        raise OptionError("There are no items to learn from. Give a file with --items (data.items), or a data.set.")
    with screen.working(f"Reading {data.items}"):
        found = read_items(data.items, split=data.split)
        soft = None if data.soft is None else SoftLabels.load(data.soft)
        gold = None if data.gold is None else read_gold(data.gold)
        votes = None if data.votes is None else read_annotations(data.votes)
    if found.left_out:
        screen.note(
            f"No feature is what is named like an answer: {', '.join(found.left_out)}. If it is one, rename the column."
        )
    if found.features is not None:
        screen.note(f"The features are {shortened(found.features)}.")
    for line in () if votes is None else votes.notes:
        screen.note(line)
    return found, soft, gold, votes


def _public(config: Config) -> tuple[ItemsFile, SoftLabels | None, Gold | None, Annotations | None]:
    from sfumato import data as sets
    from sfumato.train.public_sets import examples_of, gold_of

    name = str(config.data.set)
    with screen.working(f"Reading {name}"):
        dataset = sets.load(name, splits=True) if name == "cifar10h" else sets.load(name)
        found, gold = examples_of(dataset), gold_of(dataset)
    for line in dataset.notes:
        screen.note(line)
    return found, dataset.soft_labels if dataset.annotations is None else None, gold, dataset.annotations


def _view(votes: Annotations, config: Config) -> SoftLabels:
    from sfumato.aggregate.methods import METHODS

    view = config.data.view
    with screen.working(f"Aggregating {votes.n_annotations:,} annotations"):
        soft: SoftLabels = METHODS[view].function(votes, seed=config.seed).soft_labels
    screen.note(f"The soft labels are the view '{view}' of {votes.n_annotations:,} annotations (data.view).")
    return soft


def _splits(found: ItemsFile, config: Config, gold: Gold | None, soft: SoftLabels | None) -> Splits:
    from sfumato.train import draw_splits

    data = config.data
    splits: Splits
    if found.splits is None:
        strata = _strata(found, gold, soft) if data.balanced else None
        splits = draw_splits(
            len(found.examples), dev_share=data.dev_share, test_share=data.test_share, seed=data.split_seed,
            strata=strata,
        )  # fmt: skip
        shares = f"{data.dev_share:.0%} for dev, {data.test_share:.0%} for test"
        screen.note(f"Nobody has said which split an item is in (column '{data.split}'): drawn by seed, {shares}.")
    else:
        splits = dict(found.splits)
        drawing = not len(splits["dev"]) and data.dev_share
        unused = ["test_share"] if drawing else ["dev_share", "test_share", "split_seed", "balanced"]
        given = [f"data.{name}" for name in unused if getattr(data, name) != getattr(type(data), name)]
        if given:
            screen.note(f"The items say which split they are in: {', '.join(given)} changed nothing.")
        if drawing:
            strata = _strata(found, gold, soft)[splits["train"]] if data.balanced else None
            drawn = draw_splits(
                len(splits["train"]), dev_share=data.dev_share, test_share=0.0, seed=data.split_seed, strata=strata
            )
            splits |= {"train": splits["train"][drawn["train"]], "dev": splits["train"][drawn["dev"]]}
            if len(splits["dev"]):
                screen.note(
                    f"There is no dev split: {data.dev_share:.0%} of the train split were drawn for it by seed."
                )
    if data.dev_share and not len(splits["dev"]):
        n = counted(len(splits["train"]), "example")
        screen.note(
            f"There is no dev split: {data.dev_share:.0%} of {n} are none. Nothing "
            "chooses an epoch, and the last one is kept."
        )
    if data.limit is not None:
        splits = {name: numbers[: data.limit] for name, numbers in splits.items()}
        screen.note(f"Only the first {data.limit:,} examples of each split are used (data.limit).")
    return splits


def _strata(found: ItemsFile, gold: Gold | None, soft: SoftLabels | None) -> NDArray[np.int64]:
    """Return the class of each example, by gold or else by the top of its soft label; −1 where there is none."""
    if found.kind == "tokens":
        raise OptionError(
            "data.balanced divides items by their class, and a sequence of tokens has many. Leave it out."
        )
    if gold is not None:
        return gold.aligned(found.items, gold.classes).astype(np.int64)
    if soft is None:
        raise OptionError("data.balanced needs gold or soft labels to know the class of an item.")
    top = dict(zip(soft.items, soft.probs.argmax(axis=1).tolist(), strict=True))
    return np.array([top.get(name, -1) for name in found.items], dtype=np.int64)
