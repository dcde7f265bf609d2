"""Any encoder of Hugging Face, by name or path, for texts, pairs of texts, and tokens.

Configuration and tokenizer become part of the settings, so that the folder of a run needs nothing from elsewhere.
A token is represented by its first sub-word. A sequence that is longer than the encoder can see is read in pieces; a
text that is longer is cut.
"""

from __future__ import annotations

__all__ = ["ARCHITECTURE", "Encoder", "TextCollator"]

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, Literal, get_args

import torch
from torch import nn

from sfumato.errors import InputError, MissingExtraError, OptionError, check_choice
from sfumato.train.models.architecture import Architecture, Batch, Collate, Examples, Heads, Kind, padded
from sfumato.train.models.mlp import check_dropout
from sfumato.train.outputs import Outputs

Pooling = Literal["first", "mean"]
# Some tokenizers know no limit, and say so with a number beyond any.
_LONGEST = 512


class Encoder(nn.Module):
    """A pretrained encoder with heads: on the first place or the mean of a text, or on each token."""

    def __init__(self, settings: Mapping[str, Any], n_classes: int, n_heads: int, pretrained: bool) -> None:
        super().__init__()
        self.encoder = _loaded(settings) if pretrained else _empty(settings)
        # Nothing here looks at what BERT's pooler makes of the first place.
        if getattr(self.encoder, "pooler", None) is not None:
            self.encoder.pooler = None
        self.tokens = settings["kind"] == "tokens"
        self.pooling: Pooling = settings["pooling"]
        self.typed = settings["typed"]
        width = self.width = int(self.encoder.config.hidden_size)
        dropout = partial(nn.Dropout, settings["dropout"])
        if self.tokens:
            self.heads = Heads(n_heads, lambda: nn.Sequential(dropout(), nn.Linear(width, n_classes)))
        else:
            self.heads = Heads(
                n_heads,
                lambda: nn.Sequential(
                    dropout(), nn.Linear(width, width), nn.Tanh(), dropout(), nn.Linear(width, n_classes)
                ),
            )

    def forward(self, batch: Batch) -> Outputs:
        given = {"token_type_ids": batch["types"]} if self.typed else {}
        states = self.encoder(input_ids=batch["codes"], attention_mask=batch["seen"], **given).last_hidden_state
        if self.tokens:
            places = batch["first"].unsqueeze(-1).expand(-1, -1, states.shape[-1])
            embedding = states.gather(1, places)
        elif self.pooling == "mean":
            seen = batch["seen"].unsqueeze(-1).to(states.dtype)
            embedding = (states * seen).sum(dim=1) / seen.sum(dim=1)
        else:
            embedding = states[:, 0]
        outputs: Outputs = self.heads(embedding)
        return outputs


class TextCollator:
    """Makes batches of texts, pairs or tokens; what was tokenised once is kept."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self.settings = settings
        self._open()

    def _open(self) -> None:
        from tokenizers import Tokenizer

        self._tokenizer = Tokenizer.from_str(self.settings["tokenizer"])
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        if self.settings["kind"] != "tokens":
            self._tokenizer.enable_truncation(self.settings["max_length"])
        self._kept: dict[Any, Any] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {"settings": self.settings}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self.settings = state["settings"]
        self._open()

    def __call__(self, examples: Examples) -> Batch:
        if self.settings["kind"] == "tokens":
            return self._tokens(examples)
        keys = [(example["text"], example.get("text_pair")) for example in examples]
        new = [key for key in dict.fromkeys(keys) if key not in self._kept]
        encoded = self._tokenizer.encode_batch([text if pair is None else (text, pair) for text, pair in new])
        self._kept.update({key: (one.ids, one.type_ids) for key, one in zip(new, encoded, strict=True)})
        item = torch.tensor([example["item"] for example in examples])
        return {**self._columns([self._kept[key] for key in keys]), "item": item, "mask": item >= 0}

    def _tokens(self, examples: Examples) -> Batch:
        rows, first, items = [], [], []
        for example in examples:
            key = tuple(example["tokens"])
            if key not in self._kept:
                self._kept[key] = list(self._pieces(key))
            for codes, places, begin in self._kept[key]:
                rows.append((codes, [0] * len(codes)))
                first.append(places)
                items.append(example["item"][begin : begin + len(places)])
        item = padded(items, fill=-1)
        return {**self._columns(rows), "first": padded(first), "item": item, "mask": item >= 0}

    def _pieces(self, tokens: Sequence[str]) -> Iterator[tuple[list[int], list[int], int]]:
        """Give of each piece its codes, the places of the first sub-words in it, and the number of its first token."""
        room = self.settings["max_length"] - self._tokenizer.num_special_tokens_to_add(False)
        pieces = self._tokenizer.encode_batch(
            [[token] for token in tokens], is_pretokenized=True, add_special_tokens=False
        )
        # A token of which the tokenizer leaves nothing (a lone accent, say) is unknown; one longer than a piece is cut.
        unknown = [self.settings["unknown"]]
        codes = [(piece.ids or unknown)[:room] for piece in pieces]
        begin = 0
        while begin < len(codes):
            end, size = begin, 0
            while end < len(codes) and size + len(codes[end]) <= room:
                size += len(codes[end])
                end += 1
            before, after = self.settings["around"]
            places, at = [], len(before)
            for token in codes[begin:end]:
                places.append(at)
                at += len(token)
            yield [*before, *(code for token in codes[begin:end] for code in token), *after], places, begin
            begin = end

    def _columns(self, rows: Sequence[tuple[Sequence[int], Sequence[int]]]) -> Batch:
        columns = {
            "codes": padded([codes for codes, _ in rows], fill=self.settings["padding"]),
            "seen": padded([[1] * len(codes) for codes, _ in rows]),
        }
        return {**columns, "types": padded([types for _, types in rows])} if self.settings["typed"] else columns


def _settings(
    examples: Examples,
    kind: Kind,
    *,
    pretrained: str = "roberta-base",
    max_length: int = 512,
    pooling: Pooling = "first",
    dropout: float = 0.1,
    layers: int | None = None,
) -> dict[str, Any]:
    check_choice(pooling, get_args(Pooling), option="pooling")
    check_dropout(dropout)
    config, tokenizer = _fetched(pretrained, kind)
    if layers is not None:
        if not 1 <= layers <= config.num_hidden_layers:
            raise OptionError(
                f"The option 'layers' must be from 1 to {config.num_hidden_layers}. Got {layers} instead."
            )
        config.num_hidden_layers = layers  # the lower ones of the encoder; the others are left out
    special = tokenizer.num_special_tokens_to_add(pair=kind == "text pair")
    limits = [max_length, _LONGEST if tokenizer.model_max_length > 10**6 else tokenizer.model_max_length]
    if max_length <= special:
        raise OptionError(
            f"The option 'max_length' must be above {special}, the marks around a text. Got {max_length}."
        )
    inside, whole = (tokenizer("a", add_special_tokens=marks)["input_ids"] for marks in (False, True))
    begin = next(place for place in range(len(whole)) if whole[place : place + len(inside)] == inside)
    return {
        "pretrained": pretrained,
        "config": config.to_dict(),
        "tokenizer": tokenizer.backend_tokenizer.to_str(),
        "padding": tokenizer.pad_token_id or 0,
        "unknown": tokenizer.unk_token_id or 0,
        "around": [whole[:begin], whole[begin + len(inside) :]],
        "typed": getattr(config, "type_vocab_size", 0) > 1,
        "kind": kind,
        "max_length": min(limits),
        "pooling": pooling,
        "dropout": dropout,
    }


def _fetched(pretrained: str, kind: Kind) -> tuple[Any, Any]:
    try:
        from transformers import AutoConfig, AutoTokenizer
    except ImportError:
        raise MissingExtraError("A pretrained encoder", "text") from None
    try:
        with _quiet():
            config = AutoConfig.from_pretrained(pretrained)
            # RoBERTa's tokenizer takes a word at the beginning for another word, unless told that tokens are words.
            words = {"add_prefix_space": True} if kind == "tokens" and config.model_type in _BYTE_LEVEL else {}
            tokenizer = AutoTokenizer.from_pretrained(pretrained, use_fast=True, **words)
    except (OSError, ValueError, KeyError) as error:
        reason = str(error).strip().split("\n", 1)[0]
        raise InputError(
            f"There is no encoder {pretrained!r}: no folder of that name, and the hub did not give it ({reason}) "
            "Give the folder of a model, or the name of one on the hub."
        ) from None
    if not getattr(tokenizer, "is_fast", False):
        raise InputError(f"The encoder {pretrained!r} comes without a fast tokenizer (tokenizer.json). Choose another.")
    return config, tokenizer


_BYTE_LEVEL = ("roberta", "longformer", "gpt2", "bart", "deberta")


def _loaded(settings: Mapping[str, Any]) -> Any:
    from transformers import AutoModel

    try:
        with _quiet():
            layers = settings["config"]["num_hidden_layers"]
            return AutoModel.from_pretrained(settings["pretrained"], dtype=torch.float32, num_hidden_layers=layers)
    except OSError as error:
        reason = str(error).strip().split("\n", 1)[0]
        raise InputError(f"The weights of the encoder {settings['pretrained']!r} cannot be read ({reason}).") from None


def _empty(settings: Mapping[str, Any]) -> Any:
    try:
        from transformers import AutoConfig, AutoModel
    except ImportError:
        raise MissingExtraError("A pretrained encoder", "text") from None
    config = dict(settings["config"])
    kind = AutoConfig.for_model(config.pop("model_type"), **config)
    return AutoModel.from_config(kind, dtype=torch.float32)  # type: ignore[no-untyped-call]


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep transformers from printing bars, and remarks on the heads that are not used."""
    from transformers.utils import logging as chatter

    before, bars = chatter.get_verbosity(), chatter.is_progress_bar_enabled()
    hub = logging.getLogger("huggingface_hub")
    hub_before = hub.level
    chatter.set_verbosity(logging.ERROR)
    # It would tell of each attempt to reach a hub that cannot be reached; the last one is told in our sentence.
    hub.setLevel(logging.CRITICAL)
    chatter.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        chatter.set_verbosity(before)
        hub.setLevel(hub_before)
        if bars:
            chatter.enable_progress_bar()  # type: ignore[no-untyped-call]


def _collator(settings: Mapping[str, Any]) -> Collate:
    return TextCollator(settings)


def _build(settings: Mapping[str, Any], n_classes: int, n_heads: int, pretrained: bool) -> nn.Module:
    return Encoder(settings, n_classes, n_heads, pretrained)


ARCHITECTURE = Architecture(frozenset({"text", "text pair", "tokens"}), _settings, _build, _collator)
