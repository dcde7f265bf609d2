"""A multi-layer perceptron on features: Uma et al. (2020) put one on VGG-16 features of LabelMe."""

from __future__ import annotations

__all__ = ["ARCHITECTURE", "MLP", "check_dropout"]

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from sfumato.errors import OptionError
from sfumato.train.models.architecture import Architecture, Batch, Collate, Examples, Heads, Kind, item_columns
from sfumato.train.outputs import Outputs


class MLP(nn.Module):
    """Features, standardised, through hidden layers with ReLU and dropout."""

    mean: Tensor
    scale: Tensor

    def __init__(self, settings: Mapping[str, Any], n_classes: int, n_heads: int) -> None:
        super().__init__()
        self.register_buffer("mean", torch.tensor(settings["mean"]))
        self.register_buffer("scale", torch.tensor(settings["scale"]))
        layers: list[nn.Module] = []
        width = len(settings["mean"])
        for size in settings["hidden"]:
            layers += [nn.Linear(width, size), nn.ReLU(), nn.Dropout(settings["dropout"])]
            width = size
        self.layers = nn.Sequential(*layers)
        self.width = width
        self.heads = Heads(n_heads, partial(nn.Linear, width, n_classes))

    def forward(self, batch: Batch) -> Outputs:
        outputs: Outputs = self.heads(self.layers((batch["features"] - self.mean) * self.scale))
        return outputs


def _settings(
    examples: Examples, kind: Kind, *, hidden: tuple[int, ...] = (128,), dropout: float = 0.5, standardise: bool = True
) -> dict[str, Any]:
    if not all(isinstance(size, int) and size > 0 for size in hidden):
        raise OptionError(f"The option 'hidden' must be a list of sizes of layers above 0. Got {hidden!r} instead.")
    check_dropout(dropout)
    features = np.stack([example["features"] for example in examples])
    mean, scale = np.zeros(features.shape[1]), np.ones(features.shape[1])
    if standardise:
        mean, deviation = features.mean(axis=0, dtype=np.float64), features.std(axis=0, dtype=np.float64)
        # A feature that never changes says nothing, and must not become a division by nearly zero.
        scale = np.where(deviation > 1e-6 * np.maximum(np.abs(mean), 1), 1 / np.maximum(deviation, 1e-12), 0)
    return {"mean": mean.tolist(), "scale": scale.tolist(), "hidden": list(hidden), "dropout": dropout}


def check_dropout(share: float) -> None:
    """Raise an `OptionError` unless *share* can be dropped."""
    if not 0 <= share < 1:
        raise OptionError(f"The option 'dropout' must be between 0 and 1. Got {share} instead.")


def _collate(n_features: int, examples: Examples) -> Batch:
    features = torch.from_numpy(np.stack([example["features"] for example in examples]).astype(np.float32, copy=False))
    if features.shape[1] != n_features:
        raise OptionError(f"The model sees {n_features} features of an item. Got {features.shape[1]}.")
    return {"features": features, **item_columns(examples)}


def _collator(settings: Mapping[str, Any]) -> Collate:
    return partial(_collate, len(settings["mean"]))


def _build(settings: Mapping[str, Any], n_classes: int, n_heads: int, pretrained: bool) -> nn.Module:
    return MLP(settings, n_classes, n_heads)


ARCHITECTURE = Architecture(frozenset({"features"}), _settings, _build, _collator)
