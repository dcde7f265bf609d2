"""Residual networks for small images (He et al. 2016): 6n + 2 layers, or 50 with bottlenecks.

"ResNet-34A" of Uma et al. and Collins et al. is the network of their code: n = 7, which makes 44 layers; A stands for
the shortcut without parameters, every second pixel and channels of zeros.
"""

from __future__ import annotations

__all__ = ["ARCHITECTURES", "ResNet"]

from collections.abc import Mapping
from functools import partial
from typing import Any

from torch import Tensor, nn
from torch.nn import functional

from sfumato.train.models.architecture import Architecture, Batch, Examples, Heads, Kind
from sfumato.train.models.images import Pixels, collator, image_settings
from sfumato.train.outputs import Outputs


class _Plain(nn.Module):
    """Two 3×3 convolutions beside shortcut A."""

    def __init__(self, before: int, width: int, stride: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(before, width, 3, stride, padding=1, bias=False)
        self.norm_first = nn.BatchNorm2d(width)
        self.second = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.norm_second = nn.BatchNorm2d(width)
        self.stride, self.new_channels, self.after = stride, width - before, width

    def forward(self, x: Tensor) -> Tensor:
        short = x
        if self.stride > 1 or self.new_channels:
            half = self.new_channels // 2
            short = functional.pad(
                x[:, :, :: self.stride, :: self.stride], [0, 0, 0, 0, half, self.new_channels - half]
            )
        y = functional.relu(self.norm_first(self.first(x)), inplace=True)
        return functional.relu(self.norm_second(self.second(y)) + short, inplace=True)


class _Bottleneck(nn.Module):
    """1×1, 3×3 and 1×1 convolutions beside a projection where shapes differ."""

    def __init__(self, before: int, width: int, stride: int) -> None:
        super().__init__()
        self.after = 4 * width
        self.steps = nn.Sequential(
            nn.Conv2d(before, width, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(inplace=True),
            nn.Conv2d(width, width, 3, stride, padding=1, bias=False), nn.BatchNorm2d(width), nn.ReLU(inplace=True),
            nn.Conv2d(width, self.after, 1, bias=False), nn.BatchNorm2d(self.after),
        )  # fmt: skip
        self.short: nn.Module = nn.Identity()
        if stride > 1 or before != self.after:
            self.short = nn.Sequential(nn.Conv2d(before, self.after, 1, stride, bias=False), nn.BatchNorm2d(self.after))

    def forward(self, x: Tensor) -> Tensor:
        return functional.relu(self.steps(x) + self.short(x), inplace=True)


class ResNet(nn.Module):
    """A 3×3 convolution, stages of blocks each of half the size, the mean over all pixels, and the heads."""

    def __init__(self, settings: Mapping[str, Any], n_classes: int, n_heads: int) -> None:
        super().__init__()
        block = _Bottleneck if settings["bottleneck"] else _Plain
        widths = [settings["first_width"] * 2**stage for stage in range(len(settings["blocks"]))]
        self.pixels = Pixels(settings)
        self.start = nn.Conv2d(3, widths[0], 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(widths[0])
        blocks, before = [], widths[0]
        for stage, (width, count) in enumerate(zip(widths, settings["blocks"], strict=True)):
            for number in range(count):
                blocks.append(block(before, width, stride=2 if stage and not number else 1))
                before = blocks[-1].after
        self.blocks = nn.Sequential(*blocks)
        self.width = before
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
        self.heads = Heads(n_heads, partial(nn.Linear, before, n_classes))

    def forward(self, batch: Batch) -> Outputs:
        x = functional.relu(self.norm(self.start(self.pixels(batch["image"]))), inplace=True)
        outputs: Outputs = self.heads(self.blocks(x).mean(dim=(2, 3)))
        return outputs


def _settings(
    blocks: list[int], first_width: int, bottleneck: bool, examples: Examples, kind: Kind, *, augment: bool = False
) -> dict[str, Any]:
    given = {"blocks": blocks, "first_width": first_width, "bottleneck": bottleneck}
    return {**image_settings(examples, augment=augment), **given}


def _build(settings: Mapping[str, Any], n_classes: int, n_heads: int, pretrained: bool) -> nn.Module:
    return ResNet(settings, n_classes, n_heads)


def _architecture(blocks: list[int], first_width: int = 16, *, bottleneck: bool = False) -> Architecture:
    settings = partial(_settings, blocks, first_width, bottleneck)
    return Architecture(frozenset({"image"}), settings, _build, collator)


ARCHITECTURES: Mapping[str, Architecture] = {
    "resnet8": _architecture([1, 1, 1]),
    "resnet20": _architecture([3, 3, 3]),
    "resnet34a": _architecture([7, 7, 7]),
    "resnet50": _architecture([3, 4, 6, 3], 64, bottleneck=True),
}
