"""A tagger: words in context, their characters, and attention (after Plank et al. 2016, Fornaciari et al. 2021).

The tweet is the sequence that context and attention run over; whatever stands in the batch beside it changes nothing.
"""

from __future__ import annotations

__all__ = ["ARCHITECTURE", "PosTagger"]

from collections.abc import Mapping
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from sfumato.errors import OptionError
from sfumato.train.models.architecture import Architecture, Batch, Collate, Examples, Heads, Kind, item_columns, padded
from sfumato.train.models.mlp import check_dropout
from sfumato.train.models.words import (
    PADDING,
    UNKNOWN,
    check_glove,
    code_of,
    glove_vectors,
    known_characters,
    known_words,
)
from sfumato.train.outputs import Outputs

# The characters of a longer word are cut in the middle of the internet address that it is.
_LONGEST_WORD = 40


class PosTagger(nn.Module):
    """Word and character embeddings, a bi-RNN over each word's characters, one over the words, and attention."""

    def __init__(self, settings: Mapping[str, Any], n_classes: int, n_heads: int) -> None:
        super().__init__()
        word_width, character_width, hidden = settings["word_width"], settings["character_width"], settings["hidden"]
        self.words = nn.Embedding(len(settings["words"]) + 2, word_width, padding_idx=PADDING)
        self.characters = nn.Embedding(len(settings["characters"]) + 2, character_width, padding_idx=PADDING)
        self.spelling = nn.GRU(character_width, character_width, batch_first=True, bidirectional=True)
        self.context = nn.LSTM(word_width + 2 * character_width, hidden, batch_first=True, bidirectional=True)
        self.query = nn.Linear(2 * hidden, 2 * hidden)
        self.dropout = nn.Dropout(settings["dropout"])
        self.width = 4 * hidden
        self.heads = Heads(n_heads, partial(nn.Linear, self.width, n_classes))

    def forward(self, batch: Batch) -> Outputs:
        there = batch["words"] != PADDING
        # Each word of the batch is spelt once, however often it occurs.
        letters = self.dropout(self.characters(batch["spelling"]))
        letter_counts = (batch["spelling"] != PADDING).sum(dim=1).cpu()
        _, last = self.spelling(pack_padded_sequence(letters, letter_counts, batch_first=True, enforce_sorted=False))
        spelt = torch.cat([last[0], last[1]], dim=-1)[batch["spelt"]]
        seen = self.dropout(torch.cat([self.words(batch["words"]), spelt], dim=-1))
        packed = pack_padded_sequence(seen, there.sum(dim=1).cpu(), batch_first=True, enforce_sorted=False)
        states, _ = pad_packed_sequence(self.context(packed)[0], batch_first=True, total_length=there.shape[1])
        states = self.dropout(states)
        around = functional.scaled_dot_product_attention(
            self.query(states), states, states, attn_mask=there.unsqueeze(1)
        )
        outputs: Outputs = self.heads(torch.cat([states, self.dropout(around)], dim=-1))
        return outputs


def _settings(
    examples: Examples,
    kind: Kind,
    *,
    word_width: int = 100,
    character_width: int = 50,
    hidden: int = 100,
    dropout: float = 0.1,
    at_least: int = 2,
    glove: str | None = None,
) -> dict[str, Any]:
    for name, value in (("word_width", word_width), ("character_width", character_width), ("hidden", hidden)):
        if value < 1:
            raise OptionError(f"The option '{name}' must be 1 or more. Got {value} instead.")
    check_dropout(dropout)
    tokens = [token for example in examples for token in example["tokens"]]
    # A word that occurs once is unknown: so the vector of the unknown learns something, too.
    words = known_words(tokens, at_least=at_least)
    if glove is not None:
        words = list(dict.fromkeys([*words, *check_glove(glove, word_width)]))
    return {
        "words": words, "characters": known_characters(tokens), "word_width": word_width,
        "character_width": character_width, "hidden": hidden, "dropout": dropout, "glove": glove,
    }  # fmt: skip


def _collate(words: Mapping[str, int], characters: Mapping[str, int], examples: Examples) -> Batch:
    place: dict[str, int] = {}
    spelt = [[place.setdefault(token, len(place)) for token in example["tokens"]] for example in examples]
    spelling = [
        [characters.get(character, UNKNOWN) for character in token[:_LONGEST_WORD]] or [UNKNOWN] for token in place
    ]
    return {
        "words": padded([[words.get(token.lower(), UNKNOWN) for token in example["tokens"]] for example in examples]),
        "spelt": padded(spelt),
        "spelling": padded(spelling),
        **item_columns(examples),
    }


def _collator(settings: Mapping[str, Any]) -> Collate:
    return partial(_collate, code_of(settings["words"]), code_of(settings["characters"]))


def _build(settings: Mapping[str, Any], n_classes: int, n_heads: int, pretrained: bool) -> nn.Module:
    model = PosTagger(settings, n_classes, n_heads)
    if pretrained and settings["glove"] is not None:
        places, vectors = glove_vectors(settings["glove"], settings["words"], settings["word_width"])
        with torch.no_grad():
            known: Tensor = torch.from_numpy(places) + 2
            model.words.weight[known] = torch.from_numpy(vectors)
    return model


ARCHITECTURE = Architecture(frozenset({"tokens"}), _settings, _build, _collator)
