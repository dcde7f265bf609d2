"""What a model gives for a batch."""

from __future__ import annotations

__all__ = ["Outputs"]

from typing import NamedTuple

from torch import Tensor


class Outputs(NamedTuple):
    """The logits of each head, shape (…, n_classes), and what the heads see, shape (…, width).

    All heads have the same shape, so that a second one is no larger model for its task than the first.
    """

    logits: tuple[Tensor, ...]
    embedding: Tensor
