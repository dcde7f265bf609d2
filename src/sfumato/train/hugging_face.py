"""Soft labels within the Trainer of Hugging Face: its loss, and a collator that keeps distributions as they are.

Left alone, a Hugging Face model with floating-point labels trains a yes-or-no question per class (BCE), without a word.
A Trainer that is given ``compute_loss_func`` keeps the labels from the model and hands them to that function.
"""

from __future__ import annotations

__all__ = ["SoftLabelCollator", "trainer_loss"]

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from sfumato.errors import InputError, check_choice
from sfumato.train.losses import LOSSES

_IGNORED = -100
# Those that take one head and one kind of label.
_ONE_HEAD = ("soft_cross_entropy", "kl", "jensen_shannon", "hard_cross_entropy", "label_smoothing")


def trainer_loss(loss: str = "soft_cross_entropy", **options: Any) -> Callable[..., Tensor]:
    """Return a function for the ``compute_loss_func`` of a Trainer: the *loss* of that name, with its *options*.

    It is the mean over items (or tokens; rows of −100 are none) of the whole step, however many parts and processes
    share it. (The Trainer counts the numbers in the labels; soft labels have n_classes of them for each item.)

    >>> from types import SimpleNamespace
    >>> outputs = SimpleNamespace(logits=torch.zeros(2, 2))
    >>> float(trainer_loss(base=2)(outputs, torch.tensor([[0.25, 0.75], [1.0, 0.0]])))
    1.0
    """
    function = LOSSES[check_choice(loss, _ONE_HEAD, option="loss")]
    options = {"ignore_index": _IGNORED, **options}

    def compute(outputs: Any, labels: Tensor | None, num_items_in_batch: Tensor | int | None = None) -> Tensor:
        logits = outputs["logits"] if isinstance(outputs, Mapping) else outputs.logits
        if labels is None:
            raise InputError("The batch has no 'labels'. Give the Trainer a data set with a column 'labels'.")
        if num_items_in_batch is None:
            return function(logits, labels, **options)
        n_items = num_items_in_batch / logits.shape[-1] if labels.is_floating_point() else num_items_in_batch
        return function(logits, labels, reduction="sum", **options) / n_items

    return compute


@dataclass(frozen=True)
class SoftLabelCollator:
    """A collator that takes the labels out, lets *inner* pad the rest, and puts them back as float32.

    A label is a distribution over the classes, or for tokens one per token; shorter sequences are filled with rows of
    −100 on the side on which *inner* pads, and so is a token without a label (None). *inner* is any collator of
    Hugging Face.
    """

    inner: Callable[[list[dict[str, Any]]], Mapping[str, Any]]
    column: str = "labels"

    def __call__(self, features: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        lacking = [place for place, feature in enumerate(features) if feature.get(self.column) is None]
        if lacking:
            raise InputError(
                f"Item {lacking[0] + 1} of this batch has no {self.column!r}. "
                f"It has: {', '.join(features[lacking[0]])}."
            )
        rest = [{name: value for name, value in feature.items() if name != self.column} for feature in features]
        batch = dict(self.inner(rest))
        ids = [feature.get("input_ids") for feature in features]
        # Where inner makes the codes itself, nobody can say here how many there should be.
        n_tokens = [
            len(feature[self.column] if codes is None else codes) for feature, codes in zip(features, ids, strict=True)
        ]
        left = getattr(getattr(self.inner, "tokenizer", None), "padding_side", "right") == "left"
        batch["labels"] = _soft_tensor([feature[self.column] for feature in features], batch, n_tokens, left)
        return batch


def _soft_tensor(labels: Sequence[Any], batch: Mapping[str, Any], n_tokens: Sequence[int], left: bool) -> Tensor:
    first = next((row for label in labels for row in label if row is not None), None)
    if first is None or not hasattr(first, "__len__"):  # one distribution for each item
        sizes = {len(label) for label in labels}
        if len(sizes) > 1:
            raise InputError(f"Soft labels of one batch need as many classes each. Got {sorted(sizes)}.")
        return torch.as_tensor([list(map(float, label)) for label in labels], dtype=torch.float32)
    length = batch["input_ids"].shape[1]
    found = torch.full((len(labels), length, len(first)), float(_IGNORED))
    for place, (label, size) in enumerate(zip(labels, n_tokens, strict=True)):
        if len(label) != size or size > length:
            raise InputError(
                f"Item {place + 1} of this batch has {size} tokens and {len(label)} soft labels. Give one for each "
                "token, None where it has none; where texts are cut, cut the labels too."
            )
        start = _start(batch, place, size, left)
        for position, row in enumerate(label):
            if row is None:
                continue
            if len(row) != len(first):
                raise InputError(
                    f"Soft labels of one batch need as many classes each. Got {sorted({len(row), len(first)})}."
                )
            found[place, start + position] = torch.as_tensor(row, dtype=torch.float32)
    return found


def _start(batch: Mapping[str, Any], place: int, n_tokens: int, left: bool) -> int:
    """Return the place of the first token of an item, which a tokenizer that pads on the left moves."""
    seen = batch.get("attention_mask")
    if seen is not None and int(seen[place].sum()) == n_tokens:
        return int(seen[place].int().argmax())
    return int(batch["input_ids"].shape[1]) - n_tokens if left else 0
