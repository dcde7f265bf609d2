"""Objectives that learn from raw annotations: who said what of which item."""

from __future__ import annotations

__all__ = [
    "CROWD_OBJECTIVES",
    "CommonConfusionsObjective",
    "CrowdObjective",
    "HeadsObjective",
    "MatrixObjective",
    "ScaleObjective",
    "VectorBiasObjective",
    "VectorObjective",
]

from collections.abc import Mapping
from typing import ClassVar, Literal

import torch
from torch import Tensor

from sfumato.errors import OptionError
from sfumato.train.crowd_layers import AnnotatorHeads, CommonConfusions, MatrixLayer, On, ScaleLayer, VectorLayer
from sfumato.train.losses import crowd_layer_loss, hard_cross_entropy_loss, soft_cross_entropy_loss
from sfumato.train.objective import Objective, Shape
from sfumato.train.outputs import Outputs


class CrowdObjective(Objective):
    """Cross-entropy of every annotation with what its annotator would answer, by `answers`; a mean over annotations.

    Predictions for nobody in particular are those of the model below, as Rodrigues and Pereira (2018) take them.
    """

    target = "annotations"
    teaches: ClassVar[Literal["hard", "soft"]] = "hard"

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        if not shape.n_annotators:
            raise OptionError("This loss learns from who said what, and there are no annotations. Give votes.")

    def answers(self, logits: Tensor, annotator: Tensor, embedding: Tensor) -> Tensor:
        """Return the logits (m, n_classes) of what *annotator* (m,) answers to items of *embedding* (m, width)."""
        raise NotImplementedError

    def penalty(self, annotator: Tensor) -> Tensor | None:
        """Return what is added to the loss of each annotation, shape (m,), for the sake of its annotator's numbers."""
        return None

    def counts(self, targets: Mapping[str, Tensor], mask: Tensor) -> Tensor:
        return torch.tensor([float(len(targets["row"]))], device=mask.device)

    def forward(self, outputs: Outputs, targets: Mapping[str, Tensor], mask: Tensor) -> Tensor:
        annotator, row = targets["annotator"], targets["row"]
        embedding = outputs.embedding.flatten(end_dim=-2)[row]
        loss = crowd_layer_loss(
            outputs.logits[0], annotator, targets["label"], row,
            layer=lambda logits, annotator: self.answers(logits, annotator, embedding), reduction="sum",
        )  # fmt: skip
        penalty = self.penalty(annotator)
        return (loss if penalty is None else loss + penalty.sum()).reshape(1)

    def predict(self, outputs: Outputs, annotator: Tensor | None = None) -> Tensor:
        logits = outputs.logits[0]
        if annotator is None:
            return logits
        answers = self.answers(
            logits.flatten(end_dim=-2), annotator.flatten(), outputs.embedding.flatten(end_dim=-2)
        )  # fmt: skip
        return answers.reshape(logits.shape)


class MatrixObjective(CrowdObjective):
    """MW: a matrix for each annotator."""

    def __init__(self, shape: Shape, *, on: On = "probabilities", sparse: bool = True) -> None:
        super().__init__(shape)
        self.layer = MatrixLayer(shape.n_classes, shape.n_annotators, on=on, sparse=sparse)

    def answers(self, logits: Tensor, annotator: Tensor, embedding: Tensor) -> Tensor:
        answers: Tensor = self.layer(logits, annotator)
        return answers


class VectorObjective(CrowdObjective):
    """VW: a factor for each annotator and class."""

    def __init__(self, shape: Shape, *, on: On = "probabilities", sparse: bool = True) -> None:
        super().__init__(shape)
        self.layer = VectorLayer(shape.n_classes, shape.n_annotators, on=on, sparse=sparse)

    def answers(self, logits: Tensor, annotator: Tensor, embedding: Tensor) -> Tensor:
        answers: Tensor = self.layer(logits, annotator)
        return answers


class VectorBiasObjective(VectorObjective):
    """VW+B: a factor and a bias for each annotator and class."""

    def __init__(self, shape: Shape, *, on: On = "probabilities", sparse: bool = True) -> None:
        super().__init__(shape)
        self.layer = VectorLayer(shape.n_classes, shape.n_annotators, bias=True, on=on, sparse=sparse)


class ScaleObjective(CrowdObjective):
    """S: a factor for each annotator."""

    def __init__(self, shape: Shape, *, on: On = "probabilities", sparse: bool = True) -> None:
        super().__init__(shape)
        self.layer = ScaleLayer(shape.n_classes, shape.n_annotators, on=on, sparse=sparse)

    def answers(self, logits: Tensor, annotator: Tensor, embedding: Tensor) -> Tensor:
        answers: Tensor = self.layer(logits, annotator)
        return answers


class CommonConfusionsObjective(CrowdObjective):
    """CoNAL: a matrix for each annotator and one for all, less λ · Σʳ ‖W − Wʳ‖ (Chu, Ma and Wang 2021, equation 5).

    *distance* is λ. The sum over annotators is taken as its expectation over the annotations of the batch, so that a
    step does not visit annotators who are not in it.
    """

    def __init__(
        self, shape: Shape, *, directions: int = 20, distance: float = 1e-5, sparse: bool = True
    ) -> None:  # fmt: skip
        super().__init__(shape)
        _check_positive(directions=directions)
        _check_not_negative(distance=distance)
        self._factor = distance * shape.n_annotators
        self.layer = CommonConfusions(
            shape.n_classes, shape.n_annotators, width=shape.width, directions=directions, sparse=sparse
        )

    def answers(self, logits: Tensor, annotator: Tensor, embedding: Tensor) -> Tensor:
        answers: Tensor = self.layer(logits, annotator, embedding)
        return answers

    def penalty(self, annotator: Tensor) -> Tensor | None:
        return -self._factor * self.layer.distance(annotator) if self._factor else None


class HeadsObjective(CrowdObjective):
    """A head for each annotator beside one for all: the first learn what each says, the second what people say.

    The loss is the cross-entropy of both with each annotation. *pull* is the weight of the squares of what a head adds
    to that of all; with *linear* false it is only a leaning to some classes. (Davani, Díaz and Prabhakaran 2022, with a
    head for all in the place of a vote.)
    """

    teaches = "soft"

    def __init__(
        self, shape: Shape, *, linear: bool = True, pull: float = 1e-3, sparse: bool = True
    ) -> None:  # fmt: skip
        super().__init__(shape)
        _check_not_negative(pull=pull)
        self._pull = pull
        self.layer = AnnotatorHeads(
            shape.n_classes, shape.n_annotators, width=shape.width, linear=linear, sparse=sparse
        )

    def answers(self, logits: Tensor, annotator: Tensor, embedding: Tensor) -> Tensor:
        # The model learns from all at once, through the head of all; a head of one follows it, and does not lead it.
        answers: Tensor = self.layer(logits.detach(), annotator, embedding.detach())
        return answers

    def penalty(self, annotator: Tensor) -> Tensor | None:
        return self._pull * self.layer.size(annotator) if self._pull else None

    def forward(self, outputs: Outputs, targets: Mapping[str, Tensor], mask: Tensor) -> Tensor:
        logits, label = outputs.logits[0].flatten(end_dim=-2)[targets["row"]], targets["label"]
        loss = soft_cross_entropy_loss if label.is_floating_point() else hard_cross_entropy_loss
        return super().forward(outputs, targets, mask) + loss(logits, label, reduction="sum")


def _check_positive(**options: float) -> None:
    for name, value in options.items():
        if not value >= 1:
            raise OptionError(f"The option '{name}' must be 1 or more. Got {value} instead.")


def _check_not_negative(**options: float) -> None:
    for name, value in options.items():
        if not 0 <= value < float("inf"):
            raise OptionError(f"The option '{name}' must be 0 or more. Got {value} instead.")


CROWD_OBJECTIVES: Mapping[str, type[Objective]] = {
    "crowd_mw": MatrixObjective,
    "crowd_vw": VectorObjective,
    "crowd_vwb": VectorBiasObjective,
    "crowd_s": ScaleObjective,
    "conal": CommonConfusionsObjective,
    "annotator_heads": HeadsObjective,
}
