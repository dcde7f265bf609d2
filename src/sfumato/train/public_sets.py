"""The items of a public data set as a model sees them."""

from __future__ import annotations

__all__ = ["examples_of", "gold_of"]

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.core.gold import Gold
from sfumato.data.cifar10 import load as _load_cifar10
from sfumato.data.dataset import DataSet
from sfumato.data.registry import path
from sfumato.errors import InputError
from sfumato.train.items_file import ItemsFile
from sfumato.train.training_data import SPLITS, Example

# Which columns are the two texts of a pair; the first pair that is there counts.
_PAIRS = (("text", "hypothesis"), ("premise", "hypothesis"), ("word", "stem"), ("sentence1", "sentence2"))
_TEXTS = ("text", "sentence")
# Sets that judge images of another set, whose items have the same names.
_IMAGES_OF = {"cifar10h": "cifar10", "cifar10s": "cifar10"}
# Uma et al. (2020) choose the epoch on images that nobody judged: so many of CIFAR-10's training images.
_N_DEV_IMAGES = 3_000


def examples_of(data: DataSet) -> ItemsFile:
    """Return the examples of a public set, its items, and the split of each example where the set has splits.

    The images of CIFAR-10H and CIFAR-10S come from CIFAR-10; where CIFAR-10H is split, 3,000 of CIFAR-10's training
    images are the dev split, of which there is gold alone (`gold_of`).
    """
    items = data.items
    split_of = {name: split for split, names in data.splits.items() if split in SPLITS for name in names}
    if data.name in _IMAGES_OF:
        images, more = _images(data)
        items = (*items, *more)
        split_of |= dict.fromkeys(more, "dev")
        examples, kind = _each(items, {"image": images}), "image"
    elif data.images is not None:
        examples, kind = _each(items, {"image": data.images}), "image"
    elif data.features is not None:
        examples, kind = _each(items, {"features": np.asarray(data.features, dtype=np.float32)}), "features"
    elif data.texts is None:
        raise InputError(
            f"The set '{data.name}' holds judgements alone: there is nothing of its items that a model could see."
        )
    else:
        table = {column: data.texts[column].to_list() for column in data.texts.columns}
        items = tuple(table["item"])
        if "sequence" in table:
            examples, kind = _tokens(table), "tokens"
        else:
            examples, kind = _texts(data.name, table)
    splits = None
    if split_of:
        splits = tuple(split_of.get(items[int(np.atleast_1d(example["item"])[0])], "") for example in examples)
    return ItemsFile(examples, items, splits, kind)


def gold_of(data: DataSet) -> Gold | None:
    """Return the gold of a public set, that of the dev images which `examples_of` adds included."""
    if data.gold is None or data.name not in _IMAGES_OF or not data.splits:
        return data.gold
    more = _load_cifar10(path(_IMAGES_OF[data.name])).gold
    if more is None or more.classes != data.gold.classes:
        raise InputError(f"The classes of {data.name} and {_IMAGES_OF[data.name]} differ, and so would their gold.")
    chosen = set(data.gold.items)
    rows = [row for row, name in enumerate(more.items) if name not in chosen and name.startswith("train-")]
    rows = rows[:_N_DEV_IMAGES]
    return Gold(
        (*data.gold.items, *(more.items[row] for row in rows)),
        np.concatenate([data.gold.labels, more.labels[rows]]),
        more.classes,
    )


def _each(items: Sequence[str], contents: Mapping[str, Any]) -> list[Example]:
    return [{**{name: values[row] for name, values in contents.items()}, "item": row} for row in range(len(items))]


def _texts(name: str, table: Mapping[str, list[Any]]) -> tuple[list[Example], str]:
    for first, second in _PAIRS:
        if first in table and second in table:
            return _each(table["item"], {"text": table[first], "text_pair": table[second]}), "text pair"
    for column in _TEXTS:
        if column in table:
            return _each(table["item"], {"text": table[column]}), "text"
    raise InputError(f"The set '{name}' has no column of texts that is known here. It has: {', '.join(table)}.")


def _tokens(table: Mapping[str, list[Any]]) -> list[Example]:
    sequence = np.array(table["sequence"])
    # By sequence, then by position in it; the frame need not be in that order.
    order = np.lexsort((np.array(table["position"]), sequence))
    cuts = np.flatnonzero(np.diff(sequence[order])) + 1
    return [{"tokens": [table["text"][row] for row in rows], "item": rows.tolist()} for rows in np.split(order, cuts)]


def _images(data: DataSet) -> tuple[NDArray[np.uint8], list[str]]:
    whole = _load_cifar10(path(_IMAGES_OF[data.name]))
    place = {name: row for row, name in enumerate(whole.items)}
    more = list(whole.splits["train"][:_N_DEV_IMAGES]) if data.splits else []
    images: NDArray[np.uint8] = whole.images[[place[name] for name in (*data.items, *more)]]  # type: ignore[index]
    return images, more
