"""Crowd layers: what each annotator makes of what the model believes.

Each has one row of numbers per annotator, all alike at the start. A step reads and changes the rows of the annotators
of its batch and no others: the gradient of the table is sparse, so that a thousand annotators who did not label the
batch cost nothing (`sfumato.train.optimizers` has an optimiser to match). ``sparse=False`` gives an ordinary gradient.
"""

from __future__ import annotations

__all__ = ["AnnotatorHeads", "CommonConfusions", "MatrixLayer", "On", "ScaleLayer", "VectorLayer", "annotator_table"]

from typing import Literal, get_args

import torch
from torch import Tensor, nn

from sfumato.errors import check_choice

# What annotators look at: the model's probabilities, or its logits.
On = Literal["probabilities", "logits"]


def annotator_table(n_annotators: int, start: Tensor, *, sparse: bool) -> nn.Embedding:
    """Return a table with the row *start*, flattened, for every annotator."""
    weight = start.flatten().repeat(n_annotators, 1)
    return nn.Embedding(n_annotators, start.numel(), sparse=sparse, _weight=weight)


class MatrixLayer(nn.Module):
    """MW: the logits of what annotator r says are Wʳ·softmax(logits), Wʳ the identity at the start.

    (Rodrigues and Pereira 2018, section 4; Uma et al. 2020 take the logits themselves for some of their tasks.)

    >>> layer = MatrixLayer(n_classes=2, n_annotators=3)
    >>> layer(torch.tensor([[0.0, 0.0]]), torch.tensor([2])).tolist()
    [[0.5, 0.5]]
    """

    def __init__(
        self, n_classes: int, n_annotators: int, *, on: On = "probabilities", start: float = 1.0, sparse: bool = True
    ) -> None:
        super().__init__()
        self.on = _checked(on)
        self.rows = annotator_table(n_annotators, start * torch.eye(n_classes), sparse=sparse)

    def forward(self, logits: Tensor, annotator: Tensor) -> Tensor:
        """Return the logits of answers, shape (m, n_classes), of *annotator* (m,) to items with *logits*."""
        with torch.autocast(logits.device.type, enabled=False):
            return _product(self.rows, annotator, _seen(logits, self.on))


class VectorLayer(nn.Module):
    """VW: logits wʳ·softmax(logits), a factor per class, 1 at the start; with *bias* (VW+B) plus bʳ, first 0."""

    def __init__(
        self, n_classes: int, n_annotators: int, *, bias: bool = False, on: On = "probabilities", sparse: bool = True
    ) -> None:
        super().__init__()
        self.on = _checked(on)
        start = torch.stack([torch.ones(n_classes), torch.zeros(n_classes)]) if bias else torch.ones(n_classes)
        self.rows = annotator_table(n_annotators, start, sparse=sparse)

    def forward(self, logits: Tensor, annotator: Tensor) -> Tensor:
        """Return the logits of answers, shape (m, n_classes), of *annotator* (m,) to items with *logits*."""
        with torch.autocast(logits.device.type, enabled=False):
            seen, rows = _seen(logits, self.on), self.rows(annotator)
            n_classes = seen.shape[-1]
            answers: Tensor = rows[:, :n_classes] * seen
            return answers + rows[:, n_classes:] if rows.shape[-1] > n_classes else answers


class ScaleLayer(nn.Module):
    """S: logits sʳ·softmax(logits), one factor per annotator: how sure one may be of what somebody says."""

    def __init__(self, n_classes: int, n_annotators: int, *, on: On = "probabilities", sparse: bool = True) -> None:
        super().__init__()
        self.on = _checked(on)
        self.rows = annotator_table(n_annotators, torch.ones(1), sparse=sparse)

    def forward(self, logits: Tensor, annotator: Tensor) -> Tensor:
        """Return the logits of answers, shape (m, n_classes), of *annotator* (m,) to items with *logits*."""
        with torch.autocast(logits.device.type, enabled=False):
            answers: Tensor = self.rows(annotator) * _seen(logits, self.on)
            return answers


class CommonConfusions(nn.Module):
    """CoNAL: some confusions are everybody's, some one's own (Chu, Ma and Wang 2021, equations 1 to 4).

    The logits of what annotator r says of item i are (ω·W + (1 − ω)·Wʳ)·softmax(logits), with a matrix W of all and one
    of each, and ω = σ(uʳ·vⁱ) from a direction of the annotator and one that a linear layer makes of the item's
    embedding. Matrices start as 2·identity, as in the authors' program.
    """

    def __init__(
        self, n_classes: int, n_annotators: int, *, width: int, directions: int = 20, sparse: bool = True
    ) -> None:
        super().__init__()
        self.own = MatrixLayer(n_classes, n_annotators, start=2.0, sparse=sparse)
        self.common = nn.Parameter(2 * torch.eye(n_classes))
        self.item = nn.Linear(width, directions)
        self.annotator = nn.Embedding(n_annotators, directions, sparse=sparse)

    def forward(self, logits: Tensor, annotator: Tensor, embedding: Tensor) -> Tensor:
        """Return the logits of answers, shape (m, n_classes), to items with *logits* and *embedding* (m, width)."""
        with torch.autocast(logits.device.type, enabled=False):
            seen = _seen(logits, "probabilities")
            who = nn.functional.normalize(self.annotator(annotator), dim=-1)
            what = nn.functional.normalize(self.item(_precise(embedding)), dim=-1)
            share = torch.sigmoid((who * what).sum(dim=-1, keepdim=True))
            answers: Tensor = share * (seen @ self.common.T) + (1 - share) * _product(self.own.rows, annotator, seen)
            return answers

    def distance(self, annotator: Tensor) -> Tensor:
        """Return ‖W − Wʳ‖ of each of *annotator*, shape (m,): what CoNAL rewards, lest all confusions become common."""
        apart: Tensor = self.own.rows(annotator) - self.common.flatten()
        # At the start both are equal, where a norm has no gradient.
        return (apart.square().sum(dim=-1) + 1e-12).sqrt()


class AnnotatorHeads(nn.Module):
    """Heads of annotators: logits + Vʳ·embedding + bʳ, so that who said little answers as all do; 0 at the start.

    With ``linear`` false there is no Vʳ: an annotator leans to some classes, whatever the item.
    """

    def __init__(
        self, n_classes: int, n_annotators: int, *, width: int, linear: bool = True, sparse: bool = True
    ) -> None:
        super().__init__()
        self.linear = linear
        self.rows = annotator_table(n_annotators, torch.zeros(n_classes, width * linear + 1), sparse=sparse)

    def forward(self, logits: Tensor, annotator: Tensor, embedding: Tensor) -> Tensor:
        """Return the logits of answers, shape (m, n_classes), to items with *logits* and *embedding* (m, width)."""
        with torch.autocast(logits.device.type, enabled=False):
            logits, embedding = _precise(logits), _precise(embedding)
            if not self.linear:
                leaning: Tensor = self.rows(annotator)
                return logits + leaning
            one = embedding.new_ones((len(embedding), 1))
            return logits + _product(self.rows, annotator, torch.cat([embedding, one], dim=-1))

    def size(self, annotator: Tensor) -> Tensor:
        """Return Σ V² + Σ b² of each of *annotator*, shape (m,): how far a head is from that of all."""
        size: Tensor = self.rows(annotator).square().sum(dim=-1)
        return size


def _checked(on: On) -> On:
    check_choice(on, get_args(On), option="on")
    return on


def _seen(logits: Tensor, on: On) -> Tensor:
    return _precise(logits) if on == "logits" else _precise(logits).softmax(dim=-1)


def _precise(values: Tensor) -> Tensor:
    return values if values.dtype.itemsize >= 4 else values.float()


def _product(table: nn.Embedding, annotator: Tensor, seen: Tensor) -> Tensor:
    """Return Wʳ·x, shape (m, n_rows), for the annotators r and the x, shape (m, n_columns), of m annotations.

    The matrix of an annotator is read once, however much of the batch is theirs, and so is its gradient written: with
    100 classes a matrix has the size of a small model.
    """
    if not len(annotator):
        return seen.new_zeros((0, table.embedding_dim // seen.shape[-1])) + 0 * seen.sum()
    who, which, n_each = torch.unique(annotator, return_inverse=True, return_counts=True)
    order = which.argsort(stable=True)
    place = torch.empty_like(which)
    place[order] = torch.arange(len(which), device=which.device) - (n_each.cumsum(0) - n_each)[which[order]]
    padded = seen.new_zeros((len(who), int(n_each.max()), seen.shape[-1])).index_put((which, place), seen)
    matrices = table(who).unflatten(-1, (-1, seen.shape[-1]))
    return torch.bmm(padded, matrices.mT)[which, place]
