"""What a model is taught: from its outputs and the targets of a batch to sums that the loop turns into one loss."""

from __future__ import annotations

__all__ = ["IGNORED", "Objective", "Shape", "count_of"]

from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from torch import Tensor, nn

from sfumato.errors import OptionError
from sfumato.train.outputs import Outputs

# In the place of a label that is not there: as a class, and as every number of a soft label.
IGNORED = -100


@dataclass(frozen=True)
class Shape:
    """How many classes and annotators there are, and how wide the embedding is."""

    n_classes: int
    n_annotators: int
    width: int


class Objective(nn.Module):
    """A loss as the training loop takes it: sums and counts instead of means.

    A step may be cut into parts and shared between processes; only sums add up then. ``forward`` gives the sum of each
    term over the batch, shape (n_terms,), and ``counts`` what each is divided by, shape (n_terms,), both float32; the
    loss of a step is Σ sum/count, with sums and counts added over all of its parts. A regulariser is a term of count 1.

    ``target`` is the kind of target that it asks for (see `sfumato.train.targets`), ``teaches`` whether the best epoch
    is chosen by gold or by soft labels where nobody says, ``n_heads`` how many heads the model needs.
    """

    target: ClassVar[str]
    teaches: ClassVar[Literal["hard", "soft"]]
    n_heads: ClassVar[int] = 1

    def counts(self, targets: dict[str, Tensor], mask: Tensor) -> Tensor:
        """Return what each term is divided by; *mask*, shape (…), is false where there is no item."""
        raise NotImplementedError

    def forward(self, outputs: Outputs, targets: dict[str, Tensor], mask: Tensor) -> Tensor:
        """Return the sum of each term."""
        raise NotImplementedError

    def predict(self, outputs: Outputs, annotator: Tensor | None = None) -> Tensor:
        """Return the logits of what the model says, shape (…, n_classes).

        With *annotator*, codes of shape (…), those of what that annotator would say.
        """
        if annotator is not None:
            raise OptionError(
                "This model was not taught who said what, and cannot say what one annotator would. "
                "Train it with the loss 'annotator_heads' or a crowd layer."
            )
        return outputs.logits[0]


def count_of(keep: Tensor) -> Tensor:
    """Return the number of true entries, float32, shape (1,)."""
    return keep.sum(dtype=torch.float32).reshape(1)
