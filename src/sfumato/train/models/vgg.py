"""VGG-11 for images of 32×32 pixels (Simonyan and Zisserman 2015), with batch normalisation."""

from __future__ import annotations

__all__ = ["ARCHITECTURE", "VGG11"]

from collections.abc import Mapping
from functools import partial
from typing import Any

from torch import nn

from sfumato.errors import InputError, OptionError
from sfumato.train.models.architecture import Architecture, Batch, Examples, Heads, Kind
from sfumato.train.models.images import Pixels, collator, image_settings
from sfumato.train.outputs import Outputs

# Convolutions of so many times the first width; 0 halves the size.
_LAYERS = (1, 0, 2, 0, 4, 4, 0, 8, 8, 0, 8, 8, 0)
_HALVED = 32


class VGG11(nn.Module):
    """Eight 3×3 convolutions, the size halved five times, the mean over what is left of it, and the heads."""

    def __init__(self, settings: Mapping[str, Any], n_classes: int, n_heads: int) -> None:
        super().__init__()
        layers: list[nn.Module] = [Pixels(settings)]
        before = 3
        for times in _LAYERS:
            if not times:
                layers.append(nn.MaxPool2d(2))
                continue
            width = times * settings["first_width"]
            layers += [nn.Conv2d(before, width, 3, padding=1, bias=False), nn.BatchNorm2d(width), nn.ReLU(inplace=True)]
            before = width
        self.layers = nn.Sequential(*layers)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
        self.width = before
        self.heads = Heads(n_heads, partial(nn.Linear, before, n_classes))

    def forward(self, batch: Batch) -> Outputs:
        outputs: Outputs = self.heads(self.layers(batch["image"]).mean(dim=(2, 3)))
        return outputs


def _settings(examples: Examples, kind: Kind, *, first_width: int = 64, augment: bool = False) -> dict[str, Any]:
    if first_width < 1:
        raise OptionError(f"The option 'first_width' must be 1 or more. Got {first_width} instead.")
    settings = {**image_settings(examples, augment=augment), "first_width": first_width}
    height, width = settings["size"]
    if min(height, width) < _HALVED:
        raise InputError(f"VGG-11 needs images of {_HALVED}×{_HALVED} pixels or more. Got {width}×{height}.")
    return settings


def _build(settings: Mapping[str, Any], n_classes: int, n_heads: int, pretrained: bool) -> nn.Module:
    return VGG11(settings, n_classes, n_heads)


ARCHITECTURE = Architecture(frozenset({"image"}), _settings, _build, collator)
