"""The loss of a crowd layer: each annotation is what its annotator made of what the model believes."""

from __future__ import annotations

__all__ = ["crowd_layer_loss"]

import math
from collections.abc import Callable

from torch import Tensor

from sfumato.errors import InputError
from sfumato.train.losses.cross_entropy import hard_cross_entropy_loss, soft_cross_entropy_loss
from sfumato.train.losses.reduction import Reduction


def crowd_layer_loss(
    logits: Tensor,
    annotator: Tensor,
    label: Tensor,
    row: Tensor,
    *,
    layer: Callable[[Tensor, Tensor], Tensor],
    base: float = math.e,
    reduction: Reduction = "mean",
    weight: Tensor | None = None,
    item_weight: Tensor | None = None,
) -> Tensor:
    """Return the cross-entropy of each annotation with what *layer* says its annotator would answer.

    *logits* of shape (…, n_classes); the annotations of the batch are *annotator* and *label* of shape (m,), and
    *row* (m,), the place of the item of each in the flattened logits. ``layer(logits, annotator)`` takes the logits of
    m items and their annotators and gives the logits of m answers, as those of `sfumato.train.crowd_layers` do.
    *label* may be distributions (m, n_classes). What nobody annotated costs nothing, and a batch without any
    annotation has the loss 0; *item_weight* is per annotation. (Rodrigues and Pereira 2018.)

    >>> import torch
    >>> logits, once = torch.zeros(1, 2), torch.tensor([0])
    >>> float(crowd_layer_loss(logits, once, once, once, layer=lambda logits, annotator: logits, base=2))
    1.0
    """
    if not annotator.shape == row.shape == label.shape[:1] or annotator.ndim != 1:
        raise InputError(
            "Annotations are three rows of one length: annotator, label and row. "
            f"Got the shapes {tuple(annotator.shape)}, {tuple(label.shape)} and {tuple(row.shape)}."
        )
    answers = layer(logits.flatten(end_dim=-2)[row], annotator)
    if label.is_floating_point():
        return soft_cross_entropy_loss(
            answers, label, base=base, reduction=reduction, weight=weight, item_weight=item_weight
        )
    return hard_cross_entropy_loss(
        answers, label, base=base, reduction=reduction, weight=weight, item_weight=item_weight
    )
