"""What the networks for images share: pixels in, normalised inside the model, with or without augmentation."""

from __future__ import annotations

__all__ = ["Pixels", "collator", "image_settings"]

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from sfumato.errors import InputError
from sfumato.train.models.architecture import Batch, Collate, Examples, item_columns

# Crops start up to so many pixels beyond the border (He et al. 2016).
_MARGIN = 4


class Pixels(nn.Module):
    """Images in [0, 1], shape (B, 3, height, width), normalised by the mean and deviation of the training images.

    While it is trained, each image is cropped after a margin of 4 pixels and mirrored at random, where *augment* is
    true. The normalisation is part of the model, so that a perturbation is measured in pixels.
    """

    mean: Tensor
    deviation: Tensor

    def __init__(self, settings: Mapping[str, Any]) -> None:
        super().__init__()
        self.register_buffer("mean", torch.tensor(settings["mean"]).view(1, 3, 1, 1))
        self.register_buffer("deviation", torch.tensor(settings["deviation"]).view(1, 3, 1, 1))
        self.augment: bool = settings["augment"]

    def forward(self, images: Tensor) -> Tensor:
        if self.training and self.augment:
            images = _augmented(images)
        return (images - self.mean) / self.deviation


def _augmented(images: Tensor) -> Tensor:
    n, _, height, width = images.shape
    wide = functional.pad(images, [_MARGIN] * 4)
    # Drawn on the processor, so that the same are drawn whatever the device; nothing waits for the device.
    draw = torch.randint(0, 2 * _MARGIN + 1, (2, n), device="cpu").to(images.device, non_blocking=True)
    mirrored = (torch.rand(n, device="cpu") < 0.5).to(images.device, non_blocking=True)
    rows = draw[0].view(-1, 1) + torch.arange(height, device=images.device)
    columns = torch.arange(width, device=images.device).expand(n, width)
    columns = draw[1].view(-1, 1) + torch.where(mirrored.view(-1, 1), width - 1 - columns, columns)
    batch = torch.arange(n, device=images.device).view(-1, 1, 1)
    return wide.permute(0, 2, 3, 1)[batch, rows.unsqueeze(2), columns.unsqueeze(1)].permute(0, 3, 1, 2)


def image_settings(examples: Examples, *, augment: bool) -> dict[str, Any]:
    """Return what the networks for images take from the training images."""
    pixels = np.stack([example["image"] for example in examples])
    if pixels.ndim != 4 or pixels.shape[3] != 3:
        raise InputError(
            "Images must have three colours: the shape (height, width, 3). Got the shape "
            f"{pixels.shape[1:]}. Grey ones become so with np.repeat(images, 3, axis=-1)."
        )
    # Whole numbers up to 255: their sums are exact, whatever the order.
    count = pixels.size / 3
    total = pixels.sum(axis=(0, 1, 2), dtype=np.int64)
    squares = np.array([np.square(pixels[..., channel], dtype=np.int64).sum() for channel in range(3)])
    mean = total / count
    deviation = np.sqrt(np.maximum(squares / count - mean**2, 1.0))
    return {
        "mean": (mean / 255).tolist(), "deviation": (deviation / 255).tolist(), "augment": augment,
        "size": list(pixels.shape[1:3]),
    }  # fmt: skip


def collator(settings: Mapping[str, Any]) -> Collate:
    """Return the function that makes a batch of images."""
    return partial(_collate, *settings["size"])


def _collate(height: int, width: int, examples: Examples) -> Batch:
    pixels = np.stack([example["image"] for example in examples])
    if pixels.shape[1:] != (height, width, 3):
        raise InputError(f"The model was made for images of {width}×{height} pixels. Got the shape {pixels.shape[1:]}.")
    images = torch.from_numpy(pixels).permute(0, 3, 1, 2).contiguous().float().div_(255)
    return {"image": images, **item_columns(examples)}
