"""Does the stem belong to the word? Convolutions over the characters of both (Fornaciari et al. 2021).

Each of word and stem goes through two convolutional layers of 64 and 128 channels with windows of 3, 4 and 5
characters; attention over its places makes a vector of it.
"""

from __future__ import annotations

__all__ = ["ARCHITECTURE", "StemmingCNN"]

from collections.abc import Mapping
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from sfumato.errors import OptionError
from sfumato.train.models.architecture import Architecture, Batch, Collate, Examples, Heads, Kind, item_columns, padded
from sfumato.train.models.mlp import check_dropout
from sfumato.train.models.words import PADDING, UNKNOWN, code_of, known_characters
from sfumato.train.outputs import Outputs

_CHANNELS = (64, 128)
_WINDOWS = (3, 4, 5)


class StemmingCNN(nn.Module):
    """Two texts, character by character, through one network; what it makes of both goes to the heads."""

    def __init__(self, settings: Mapping[str, Any], n_classes: int, n_heads: int) -> None:
        super().__init__()
        self.characters = nn.Embedding(len(settings["characters"]) + 2, settings["character_width"], PADDING)
        first, second = _CHANNELS
        before = settings["character_width"]
        self.first = nn.ModuleList(nn.Conv1d(before, first, window) for window in _WINDOWS)
        self.second = nn.ModuleList(nn.Conv1d(first, second, window) for window in _WINDOWS)
        width = second * len(_WINDOWS)
        self.attention = nn.ModuleList(nn.Linear(width, 1) for _ in range(2))
        self.dropout = nn.Dropout(settings["dropout"])
        self.width = 2 * width
        self.heads = Heads(n_heads, partial(nn.Linear, self.width, n_classes))

    def forward(self, batch: Batch) -> Outputs:
        both = [
            self._read(batch[name], attention) for name, attention in zip(("text", "pair"), self.attention, strict=True)
        ]
        outputs: Outputs = self.heads(self.dropout(torch.cat(both, dim=-1)))
        return outputs

    def _read(self, codes: Tensor, attention: nn.Module) -> Tensor:
        there = (codes != PADDING).unsqueeze(1)
        letters = self.dropout(self.characters(codes)).transpose(1, 2)
        seen = []
        for window, first, second in zip(_WINDOWS, self.first, self.second, strict=True):
            # What stands behind the end of a text is put back to zero, so that the length of its neighbours in the
            # batch changes nothing.
            states = first(functional.pad(letters, _margins(window))).relu() * there
            states = functional.max_pool1d(states, 3, stride=1, padding=1) * there
            seen.append(second(functional.pad(states, _margins(window))).relu() * there)
        places = torch.cat(seen, dim=1).transpose(1, 2)
        scores = attention(places).squeeze(-1).masked_fill(~there.squeeze(1), float("-inf"))
        read: Tensor = (scores.softmax(dim=-1).unsqueeze(-1) * places).sum(dim=1)
        return read


def _margins(window: int) -> tuple[int, int]:
    """Return how many places to put before and behind, so that as many come out of a window as went in."""
    return (window - 1) // 2, window // 2


def _settings(examples: Examples, kind: Kind, *, character_width: int = 50, dropout: float = 0.1) -> dict[str, Any]:
    if character_width < 1:
        raise OptionError(f"The option 'character_width' must be 1 or more. Got {character_width} instead.")
    check_dropout(dropout)
    texts = [example[name] for example in examples for name in ("text", "text_pair")]
    return {"characters": known_characters(texts), "character_width": character_width, "dropout": dropout}


def _collate(characters: Mapping[str, int], examples: Examples) -> Batch:
    def codes(name: str) -> Tensor:
        return padded(
            [[characters.get(character, UNKNOWN) for character in example[name]] or [UNKNOWN] for example in examples]
        )

    return {"text": codes("text"), "pair": codes("text_pair"), **item_columns(examples)}


def _collator(settings: Mapping[str, Any]) -> Collate:
    return partial(_collate, code_of(settings["characters"]))


def _build(settings: Mapping[str, Any], n_classes: int, n_heads: int, pretrained: bool) -> nn.Module:
    return StemmingCNN(settings, n_classes, n_heads)


ARCHITECTURE = Architecture(frozenset({"text pair"}), _settings, _build, _collator)
