"""Predictions: of the examples of a run, and of any others by what a run has left."""

from __future__ import annotations

__all__ = ["Predictor", "as_predictions", "predict_rows"]

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
import torch
from accelerate import Accelerator
from accelerate.utils import gather_object
from numpy.typing import NDArray
from torch import Tensor

from sfumato.core.origin import GIVEN, Origin
from sfumato.core.predictions import Predictions
from sfumato.errors import InputError, OptionError
from sfumato.train.batches import by_length
from sfumato.train.config import LoopConfig
from sfumato.train.devices import out_of_memory
from sfumato.train.learner import Learner
from sfumato.train.models import Collate
from sfumato.train.training_data import KIND_WORDS, Example, Kind, TrainingData, kind_of, lengths_of

Logits = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Predictor:
    """A trained model with all that it needs to say something of new items.

    ``annotators`` are the people whose annotations it was taught, in the order of their codes; ``features`` the names
    of its features, where they had names.
    """

    learner: Learner
    collate: Collate
    kind: Kind
    classes: tuple[str, ...]
    annotators: tuple[str, ...]
    loop: LoopConfig
    origin: Origin = GIVEN
    features: tuple[str, ...] | None = None

    def predict(
        self, examples: Sequence[Example], items: Sequence[str], *, annotator: str | None = None
    ) -> Predictions:
        """Return what the model says of *items*, the names of the rows that the examples hold under "item".

        With *annotator*, what that person would say.
        """
        self._check(examples)
        who = None if annotator is None else self._code_of(annotator)
        numbers = np.arange(len(examples))
        batches = _batches(examples, numbers, self.loop.batch_size)
        device = next(self.learner.parameters()).device
        with out_of_memory(self.loop):
            found = _logits(self.learner, self.collate, examples, batches, device, who)
        return as_predictions(*_in_order(found), tuple(items), self.classes, self.origin)

    def embed(self, examples: Sequence[Example]) -> NDArray[np.float32]:
        """Return what the heads see of each example, shape (n_items in the examples, width), in their order."""
        self._check(examples)
        device = next(self.learner.parameters()).device
        self.learner.eval()
        parts = []
        with torch.inference_mode():
            for start in range(0, len(examples), self.loop.batch_size):
                batch = self.collate(examples[start : start + self.loop.batch_size])
                given = {name: tensor.to(device) for name, tensor in batch.items()}
                parts.append(self.learner.model(given).embedding[given["mask"]].float().cpu().numpy())
        return np.concatenate(parts)

    @classmethod
    def load(cls, folder: str | Path, *, device: str = "cpu") -> Predictor:
        """Return the model in the folder of a run."""
        from sfumato.train.folder import load_predictor

        return load_predictor(Path(folder), device=device)

    def _check(self, examples: Sequence[Example]) -> None:
        kinds = {kind_of(example) for example in examples}
        if not kinds:
            raise InputError("There are no items to say anything of.")
        if kinds != {self.kind}:
            other = KIND_WORDS[(kinds - {self.kind}).pop()]
            raise InputError(
                f"The model was taught {KIND_WORDS[self.kind]}, and these are {other}. "
                "Give items like those that it learned from."
            )

    def _code_of(self, annotator: str) -> int:
        if annotator not in self.annotators:
            if not self.annotators:
                raise OptionError("This model was not taught who said what, and cannot say what one annotator would.")
            near = get_close_matches(annotator, self.annotators, n=1)
            raise OptionError(
                f"The model does not know the annotator {annotator!r}. It knows {len(self.annotators):,}: "
                f"{', '.join(sorted(self.annotators)[:5])}{', …' if len(self.annotators) > 5 else ''}."
                f"{f' Is it {near[0]}?' if near else ''}"
            )
        return self.annotators.index(annotator)


def predict_rows(
    learner: Learner, data: TrainingData, split: str, collate: Collate, *, loop: LoopConfig, accelerator: Accelerator
) -> tuple[Logits, NDArray[np.int64]]:
    """Return the logits of the items of a split, shape (n, n_classes), and the rows of those items, shape (n,).

    Every process computes some of the batches, and all of them get all logits.
    """
    batches = _batches(data.examples, data.splits[split], loop.batch_size)
    mine = batches[accelerator.process_index :: accelerator.num_processes]
    with out_of_memory(loop), accelerator.autocast():
        found = _logits(learner, collate, data.examples, mine, accelerator.device, None)
    if accelerator.num_processes > 1:
        found = gather_object(found)
    return _in_order(found)


def as_predictions(
    logits: Logits, rows: NDArray[np.int64], items: Sequence[str], classes: Sequence[str], origin: Origin
) -> Predictions:
    """Return logits of rows of *items* as predictions."""
    if not np.isfinite(logits).all():
        row = rows[int(np.argmin(np.isfinite(logits).all(axis=1)))]
        raise InputError(
            f"What the model says of the item {items[row]!r} is not a finite number. Train it with a lower "
            "optimizer.learning_rate, or with loop.clip."
        )
    return Predictions.from_logits(
        logits.astype(np.float64), items=tuple(items[row] for row in rows), classes=tuple(classes), origin=origin
    )


def _batches(examples: Sequence[Example], numbers: NDArray[np.int64], batch_size: int) -> list[NDArray[np.int64]]:
    lengths = lengths_of(examples)
    if lengths is None:
        return [numbers[start : start + batch_size] for start in range(0, len(numbers), batch_size)]
    return [numbers[places] for places in by_length(lengths[numbers], batch_size, shuffle=False)]


def _logits(
    learner: Learner, collate: Collate, examples: Sequence[Example], batches: Sequence[NDArray[np.int64]],
    device: torch.device, annotator: int | None,
) -> list[tuple[Logits, NDArray[np.int64]]]:  # fmt: skip
    learner.eval()
    found = []
    with torch.inference_mode():
        for numbers in batches:
            batch = collate([examples[number] for number in numbers])
            given = {name: tensor.to(device) for name, tensor in batch.items()}
            who = None if annotator is None else torch.full_like(given["item"], annotator)
            logits = learner.predict(given, who)[given["mask"]]
            found.append((logits.float().cpu().numpy(), _rows(batch)))
    return found


def _rows(batch: dict[str, Tensor]) -> NDArray[np.int64]:
    rows: NDArray[Any] = batch["item"][batch["mask"]].numpy()
    return rows


def _in_order(found: Sequence[tuple[Logits, NDArray[np.int64]]]) -> tuple[Logits, NDArray[np.int64]]:
    """Return the logits of all batches, the rows in rising order: the same however the batches were cut."""
    logits = np.concatenate([logits for logits, _ in found])
    rows = np.concatenate([rows for _, rows in found])
    order = np.argsort(rows, kind="stable")
    return logits[order], rows[order]
