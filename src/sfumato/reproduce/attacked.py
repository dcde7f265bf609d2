"""The loss of a network under attack: apart from its study, which can be listed without PyTorch."""

from __future__ import annotations

__all__ = ["loss_under_attack"]

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from sfumato.core.soft_labels import SoftLabels
from sfumato.evaluate import fgsm_loss


class _OfPixels(nn.Module):
    """The network as a function of images alone."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, images: Tensor) -> Tensor:
        logits: Tensor = self.model({"image": images}).logits[0]
        return logits


def loss_under_attack(model: nn.Module, examples: Sequence[Mapping[str, Any]], people: SoftLabels) -> float:
    """Return the soft cross-entropy after one step of the fast gradient sign, ε = 4/255 of pixels between 0 and 1."""
    pixels = np.stack([example["image"] for example in examples])
    images = torch.from_numpy(pixels).permute(0, 3, 1, 2).float() / 255
    return fgsm_loss(_OfPixels(model), images, people.probs)
