"""The objectives by name: each of the losses as the training loop takes it."""

from __future__ import annotations

__all__ = ["KL", "OBJECTIVES", "GoldPlusSoft", "Hard", "JensenShannon", "LabelSmoothing", "Soft"]

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, get_args

import torch
from torch import Tensor
from torch.nn import functional

from sfumato.errors import OptionError, check_choice
from sfumato.train.crowd_objectives import CROWD_OBJECTIVES
from sfumato.train.losses import (
    hard_cross_entropy_loss,
    jensen_shannon_loss,
    kl_loss,
    label_smoothing_loss,
    soft_cross_entropy_loss,
)
from sfumato.train.losses.gold_plus_soft import SOFT_TERMS, SoftTerm
from sfumato.train.losses.kl import Direction
from sfumato.train.objective import IGNORED, Objective, Shape, count_of
from sfumato.train.outputs import Outputs

Targets = Mapping[str, Tensor]


class _OneHead(Objective):
    """A loss of one head, computed by the function *loss* of logits and labels."""

    weight: Tensor | None

    def __init__(self, shape: Shape, loss: Callable[..., Tensor], class_weights: Sequence[float] | None) -> None:
        super().__init__()
        if class_weights is not None and len(class_weights) != shape.n_classes:
            raise OptionError(
                f"class_weights needs one number for each of the {shape.n_classes} classes. Got {len(class_weights)}."
            )
        if class_weights is not None and not (
            all(0 <= each < math.inf for each in class_weights) and any(class_weights)
        ):
            raise OptionError(
                f"class_weights must be numbers of 0 or more, not all of them 0. Got {list(class_weights)}."
            )
        self._n_classes, self._loss = shape.n_classes, loss
        self.register_buffer("weight", None if class_weights is None else torch.tensor(class_weights).float())

    def labels(self, targets: Targets) -> Tensor:
        """Return the targets in the form that the loss takes."""
        raise NotImplementedError

    def counts(self, targets: Targets, mask: Tensor) -> Tensor:
        keep = mask & _there(targets)
        weights = targets.get("item_weight")
        return count_of(keep) if weights is None else (weights * keep).sum().reshape(1)

    def forward(self, outputs: Outputs, targets: Targets, mask: Tensor) -> Tensor:
        # What is ignored is masked here, which spares the loss a look at every number of a soft label.
        keep = mask & _there(targets)
        weights = targets.get("item_weight")
        sums: Tensor = self._loss(
            outputs.logits[0],
            self.labels(targets),
            reduction="sum",
            weight=self.weight,
            mask=keep,
            item_weight=weights,
            ignore_index=None,
        )
        return sums.reshape(1)


class Hard(_OneHead):
    """Cross-entropy with classes: gold, silver, or what one annotator said."""

    target = "gold"
    teaches = "hard"

    def __init__(self, shape: Shape, *, class_weights: Sequence[float] | None = None) -> None:
        super().__init__(shape, hard_cross_entropy_loss, class_weights)

    def labels(self, targets: Targets) -> Tensor:
        if "label" not in targets:
            raise OptionError("This loss takes classes, and the target gives distributions. Choose the loss 'soft'.")
        return targets["label"]


class LabelSmoothing(Hard):
    """Cross-entropy with classes of which *smoothing* is spread over all."""

    def __init__(self, shape: Shape, *, smoothing: float = 0.1, class_weights: Sequence[float] | None = None) -> None:
        super().__init__(shape, class_weights=class_weights)
        self._loss = partial(label_smoothing_loss, smoothing=smoothing)


class Soft(_OneHead):
    """Cross-entropy with soft labels; a class is a soft label that is certain."""

    target = "soft"
    teaches = "soft"

    def __init__(self, shape: Shape, *, class_weights: Sequence[float] | None = None) -> None:
        super().__init__(shape, soft_cross_entropy_loss, class_weights)

    def labels(self, targets: Targets) -> Tensor:
        return targets["soft"] if "soft" in targets else _certain(targets["label"], self._n_classes)


class KL(Soft):
    """Kullback–Leibler divergence between soft labels and the model, in either direction."""

    def __init__(
        self, shape: Shape, *, direction: Direction = "forward", epsilon: float = 0.0,
        class_weights: Sequence[float] | None = None,
    ) -> None:  # fmt: skip
        super().__init__(shape, class_weights=class_weights)
        check_choice(direction, get_args(Direction), option="direction")
        self._loss = partial(kl_loss, direction=direction, epsilon=epsilon)


class JensenShannon(Soft):
    """Jensen–Shannon divergence between soft labels and the model."""

    def __init__(self, shape: Shape, *, class_weights: Sequence[float] | None = None) -> None:
        super().__init__(shape, class_weights=class_weights)
        self._loss = jensen_shannon_loss


class GoldPlusSoft(Objective):
    """Gold for one head, soft labels for a second one on the same encoder; the first one predicts.

    The loss of `sfumato.train.losses.gold_plus_soft_loss`, each term a mean over the items that have its label.
    """

    target = "gold_and_soft"
    teaches = "hard"
    n_heads = 2

    def __init__(
        self, shape: Shape, *, soft_term: SoftTerm = "kl", soft_share: float = 1.0, epsilon: float = 0.0,
        soft_base: float = math.e,
    ) -> None:  # fmt: skip
        super().__init__()
        check_choice(soft_term, get_args(SoftTerm), option="soft_term")
        if not 0 <= soft_share < math.inf:
            raise OptionError(f"The option 'soft_share' must be 0 or more. Got {soft_share} instead.")
        if epsilon and soft_term not in ("kl", "inverse_kl"):
            raise OptionError(f"The option 'epsilon' belongs to kl and inverse_kl. The term is {soft_term!r}.")
        given: dict[str, Any] = {"epsilon": epsilon} if epsilon else {}
        self._people = partial(SOFT_TERMS[soft_term], base=soft_base, **given)
        self._soft_share = soft_share

    def counts(self, targets: Targets, mask: Tensor) -> Tensor:
        hard, soft = targets["label"] != IGNORED, targets["soft"][..., 0] != IGNORED
        return torch.cat([count_of(hard & mask), count_of(soft & mask)])

    def forward(self, outputs: Outputs, targets: Targets, mask: Tensor) -> Tensor:
        same: dict[str, Any] = {"reduction": "sum", "mask": mask, "ignore_index": IGNORED}
        hard = hard_cross_entropy_loss(outputs.logits[0], targets["label"], **same)
        people = self._people(outputs.logits[1], targets["soft"], **same)
        return torch.stack([hard, self._soft_share * people])


OBJECTIVES: Mapping[str, type[Objective]] = {
    "hard": Hard,
    "label_smoothing": LabelSmoothing,
    "soft": Soft,
    "kl": KL,
    "jensen_shannon": JensenShannon,
    "gold_plus_soft": GoldPlusSoft,
    **CROWD_OBJECTIVES,
}


def _there(targets: Targets) -> Tensor:
    """Return where there is a target, shape (…)."""
    there: Tensor = targets["label"] != IGNORED if "label" in targets else targets["soft"][..., 0] != IGNORED
    return there


def _certain(labels: Tensor, n_classes: int) -> Tensor:
    """Return classes as soft labels, shape (…, n_classes); what is ignored stays so."""
    ignored = labels == IGNORED
    one_hot = functional.one_hot(labels.masked_fill(ignored, 0), n_classes).float()
    return one_hot.masked_fill(ignored.unsqueeze(-1), float(IGNORED))
