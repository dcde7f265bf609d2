"""What all losses share: which items count, in which precision, and how their losses become one number."""

from __future__ import annotations

__all__ = ["Counted", "Reduction", "counted", "in_base", "log_probabilities", "reduced", "weighted"]

import math
from dataclasses import dataclass
from typing import Literal, get_args

import torch
from torch import Tensor

from sfumato.errors import InputError, OptionError, check_choice

Reduction = Literal["mean", "sum", "none"]


@dataclass(frozen=True)
class Counted:
    """Logits and labels of which every row can be computed, and ``keep``, shape (…): the rows that count.

    Rows that do not count hold zeros, so that nothing that stood there reaches a gradient; ``keep`` is None where all
    of them count.
    """

    logits: Tensor
    labels: Tensor
    keep: Tensor | None


def counted(
    logits: Tensor, labels: Tensor, *, mask: Tensor | None, ignore_index: int | None, weight: Tensor | None = None
) -> Counted:
    """Check that logits, shape (…, n_classes), and labels, (…, n_classes) or class numbers (…), fit together."""
    soft = labels.is_floating_point()
    wanted = logits.shape if soft else logits.shape[:-1]
    if logits.ndim == 0 or labels.shape != wanted:
        kind = "soft labels (…, n_classes)" if soft else "class numbers (…)"
        raise InputError(
            f"Logits of shape (…, n_classes) need {kind} of a shape that fits. "
            f"Got {tuple(logits.shape)} and {tuple(labels.shape)}."
        )
    if not logits.is_floating_point():
        raise InputError(f"Logits must be floating point. Got {logits.dtype}.")
    n_classes = logits.shape[-1]
    if weight is not None and weight.shape != (n_classes,):
        raise InputError(f"'weight' needs one number per class: {n_classes}. Got the shape {tuple(weight.shape)}.")
    if mask is not None and mask.shape != logits.shape[:-1]:
        raise InputError(f"'mask' must have the shape {tuple(logits.shape[:-1])}. Got {tuple(mask.shape)}.")
    keep = None if mask is None else mask.bool()
    if ignore_index is not None:
        ignored = labels == ignore_index
        if soft:
            ignored = ignored.all(dim=-1)
            if 0 <= ignore_index < n_classes:
                ignored = ignored | (labels[..., ignore_index] == 1)
        keep = ~ignored if keep is None else keep & ~ignored
    if soft:
        labels = labels.to(_precise(logits.dtype))
    if keep is None:
        return Counted(logits, labels, None)
    rows = keep.unsqueeze(-1)
    return Counted(torch.where(rows, logits, 0), torch.where(rows if soft else keep, labels, 0), keep)


def log_probabilities(logits: Tensor) -> Tensor:
    """Return log softmax over the last axis, in float32 at least: bfloat16 keeps two digits of a log-probability."""
    return torch.log_softmax(logits, dim=-1, dtype=_precise(logits.dtype))


def weighted(terms: Tensor, weight: Tensor | None) -> Tensor:
    """Return the sum over classes of *terms*, shape (…, n_classes), each class with its weight."""
    return terms.sum(dim=-1) if weight is None else terms @ weight.to(terms.dtype)


def in_base(nats: Tensor, base: float) -> Tensor:
    """Return *nats* in units of log *base*."""
    if base == math.e:
        return nats
    if not (base > 0 and base != 1 and math.isfinite(base)):
        raise OptionError(f"The option 'base' must be a number above 0 other than 1. Got {base} instead.")
    return nats / math.log(base)


def reduced(loss: Tensor, *, keep: Tensor | None, item_weight: Tensor | None, reduction: Reduction) -> Tensor:
    """Return the losses of the items, shape (…), as *reduction* says; see `sfumato.train.losses`."""
    check_choice(reduction, get_args(Reduction), option="reduction")
    weights = None if keep is None else keep.to(loss.dtype)
    if item_weight is not None:
        if item_weight.shape != loss.shape:
            raise InputError(
                f"'item_weight' needs one number per item, the shape {tuple(loss.shape)}. "
                f"Got {tuple(item_weight.shape)}."
            )
        given = item_weight.to(loss.dtype)
        # An item that counts for nothing may cost infinitely much, and 0 · ∞ is not a number.
        keep = given != 0 if keep is None else keep & (given != 0)
        weights = torch.where(keep, given, 0)
    if keep is not None:
        loss = torch.where(keep, loss, 0)
    if weights is None:
        # The mean over no items is not a number, and a batch without a label must not stop the training.
        return {"mean": loss.sum() / max(loss.numel(), 1), "sum": loss.sum(), "none": loss}[reduction]
    loss = loss * weights
    if reduction == "none":
        return loss
    total = loss.sum()
    if reduction == "sum":
        return total
    share = weights.sum()
    return total / torch.where(share == 0, 1, share)


def _precise(dtype: torch.dtype) -> torch.dtype:
    return torch.float64 if dtype == torch.float64 else torch.float32
