"""The learner: a model and what it is taught, made for the data that it learns from."""

from __future__ import annotations

__all__ = ["Learner", "Learning", "build_learner", "needs_of", "prepare", "target_of"]

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from sfumato.errors import OptionError, check_choice
from sfumato.train.config import Config
from sfumato.train.models import MODELS, Collate
from sfumato.train.objective import Objective, Shape
from sfumato.train.objectives import OBJECTIVES
from sfumato.train.options import checked_options
from sfumato.train.targets import Targets, make_targets, target_needs
from sfumato.train.training_data import KIND_WORDS, Example, TrainingData


class Learner(nn.Module):
    """A model with its objective; ``forward`` gives the sum of each term of the loss over a batch."""

    def __init__(self, model: nn.Module, objective: Objective) -> None:
        super().__init__()
        self.model = model
        self.objective = objective

    def forward(self, batch: Mapping[str, Tensor], targets: Mapping[str, Tensor]) -> Tensor:
        sums: Tensor = self.objective(self.model(batch), targets, batch["mask"])
        return sums

    def predict(self, batch: Mapping[str, Tensor], annotator: Tensor | None = None) -> Tensor:
        """Return logits of shape (…, n_classes): of the model, or of what annotators would say."""
        return self.objective.predict(self.model(batch), annotator)


@dataclass(frozen=True)
class Learning:
    """All that the loop needs of model and data.

    ``settings`` are what the model took from the training data (its vocabulary, say) and its options; with them
    `build_learner` makes the same learner again. ``numbers`` are the examples to learn from, ``lengths`` theirs.
    """

    learner: Learner
    settings: dict[str, Any]
    collate: Collate
    examples: Sequence[Example]
    numbers: NDArray[np.int64]
    lengths: NDArray[np.int64] | None
    targets: Targets
    teaches: Literal["hard", "soft"]
    names_of: Callable[[NDArray[np.int64]], list[str]]


def needs_of(config: Config) -> frozenset[str]:
    """Return which labels every train item must have: "gold", "soft", "annotations".

    >>> from sfumato.train.config import config_from
    >>> sorted(needs_of(config_from({"loss": {"name": "gold_plus_soft"}})))
    ['gold', 'soft']
    """
    return target_needs(target_of(config), config.target.options)


def target_of(config: Config) -> str:
    """Return the kind of target; "auto" is what the loss asks for."""
    objective = OBJECTIVES[check_choice(config.loss.name, OBJECTIVES, option="loss.name")]
    kind = objective.target if config.target.kind == "auto" else config.target.kind
    # One sparse list of annotations, or a table of labels: a loss takes the one or the other.
    if (kind == "annotations") != (objective.target == "annotations"):
        raise OptionError(
            f"The loss '{config.loss.name}' learns from the target '{objective.target}', not from '{kind}'."
        )
    if objective.n_heads == 2 and kind != objective.target:
        raise OptionError(
            f"The loss '{config.loss.name}' needs the target '{objective.target}'. Leave target.kind out."
        )
    if objective.n_heads == 1 and kind == "gold_and_soft":
        raise OptionError(f"The target '{kind}' belongs to the loss 'gold_plus_soft'. Choose it, or another target.")
    return kind


def prepare(data: TrainingData, config: Config) -> Learning:
    """Return a learner for the data, and the data as the learner takes it."""
    numbers = data.splits["train"]
    architecture = MODELS[check_choice(config.model.name, MODELS, option="model.name")]
    kind = data.kind
    if kind not in architecture.kinds:
        fitting = ", ".join(name for name, each in MODELS.items() if kind in each.kinds)
        raise OptionError(
            f"The model '{config.model.name}' cannot see items that are {KIND_WORDS[kind]}. Choose one of {fitting}."
        )
    options = checked_options(architecture.settings, config.model.options, what=f"The model '{config.model.name}'")
    settings = architecture.settings([data.examples[number] for number in numbers], kind, **options)
    n_annotators = 0 if data.annotations is None else data.annotations.n_annotators
    learner = build_learner(config, settings, n_classes=data.n_classes, n_annotators=n_annotators, pretrained=True)
    targets = make_targets(data, target_of(config), config.target.options, seed=config.seed)
    lengths = data.lengths()
    return Learning(
        learner=learner,
        settings=settings,
        collate=architecture.collator(settings),
        examples=data.examples,
        numbers=numbers,
        lengths=None if lengths is None else lengths[numbers],
        targets=targets,
        teaches=learner.objective.teaches,
        names_of=lambda step: _names(data, step),
    )


def build_learner(
    config: Config, settings: dict[str, Any], *, n_classes: int, n_annotators: int, pretrained: bool
) -> Learner:
    """Return a learner of the shape that *config* and *settings* describe.

    With *pretrained* false its weights are to be loaded, and none are read from elsewhere.
    """
    architecture = MODELS[config.model.name]
    kind = OBJECTIVES[config.loss.name]
    options = checked_options(kind, config.loss.options, what=f"The loss '{config.loss.name}'")
    model = architecture.build(settings, n_classes, kind.n_heads, pretrained)
    objective = kind(Shape(n_classes, n_annotators, int(model.width)), **options)  # type: ignore[arg-type]
    return Learner(model, objective)


def _names(data: TrainingData, step: NDArray[np.int64]) -> list[str]:
    rows = np.concatenate([np.atleast_1d(data.examples[number]["item"]) for number in step])
    return [data.items[row] for row in rows if row >= 0]
