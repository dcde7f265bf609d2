"""What the room needs to know of a kind of model."""

from __future__ import annotations

__all__ = ["Architecture", "Batch", "Collate", "Examples", "Heads", "Kind", "item_columns", "padded"]

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from sfumato.train.outputs import Outputs
from sfumato.train.training_data import Example, Kind

Batch = dict[str, Tensor]
Examples = Sequence[Example]
Collate = Callable[[Examples], Batch]


@dataclass(frozen=True)
class Architecture:
    """A kind of model: which items it sees, and how one is made.

    ``settings(examples, kind, *, options…)`` gives all that has to be known to build it again, as plain data for JSON:
    its options, and what it takes from the training examples. ``build(settings, n_classes, n_heads, pretrained)`` gives
    a module with ``width`` whose ``forward(batch)`` gives `Outputs`; ``collator(settings)`` the function that makes a
    batch of examples.
    """

    kinds: frozenset[Kind]
    settings: Callable[..., dict[str, Any]]
    build: Callable[[Mapping[str, Any], int, int, bool], nn.Module]
    collator: Callable[[Mapping[str, Any]], Collate]


class Heads(nn.Module):
    """Heads of one shape beside each other, on one embedding; *make* gives a single one."""

    def __init__(self, n_heads: int, make: Callable[[], nn.Module]) -> None:
        super().__init__()
        self.heads = nn.ModuleList(make() for _ in range(n_heads))

    def forward(self, embedding: Tensor) -> Outputs:
        return Outputs(tuple(head(embedding) for head in self.heads), embedding)


def item_columns(examples: Examples) -> Batch:
    """Return the columns ``item`` and ``mask`` of a batch, shape (B,) or, padded, (B, T)."""
    if isinstance(examples[0]["item"], Sequence):
        item = padded([example["item"] for example in examples], fill=-1)
    else:
        item = torch.tensor([example["item"] for example in examples])
    return {"item": item, "mask": item >= 0}


def padded(rows: Sequence[Sequence[int]], *, fill: int = 0) -> Tensor:
    """Return rows of whole numbers as one tensor, filled up at the end.

    >>> padded([[1, 2], [3]]).tolist()
    [[1, 2], [3, 0]]
    """
    longest = max(map(len, rows))
    return torch.tensor([[*row, *[fill] * (longest - len(row))] for row in rows])
