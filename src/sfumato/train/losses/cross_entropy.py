"""Cross-entropy with classes, with soft labels, and with classes smoothed."""

from __future__ import annotations

__all__ = ["hard_cross_entropy_loss", "label_smoothing_loss", "soft_cross_entropy_loss"]

import math

import torch
from torch import Tensor

from sfumato.errors import InputError, OptionError
from sfumato.train.losses.reduction import Reduction, counted, in_base, log_probabilities, reduced, weighted


def soft_cross_entropy_loss(
    logits: Tensor,
    soft: Tensor,
    *,
    base: float = math.e,
    reduction: Reduction = "mean",
    weight: Tensor | None = None,
    item_weight: Tensor | None = None,
    mask: Tensor | None = None,
    ignore_index: int | None = None,
) -> Tensor:
    """Return −Σ_k w_k p_k log q_k with q = softmax(logits), for soft labels p (Uma et al. 2020, Peterson et al. 2019).

    *logits* and *soft* of shape (…, n_classes). A class that the logits rule out (−inf) costs nothing where p has no
    mass there, and infinitely much where it has. See `sfumato.train.losses` for the options.

    >>> logits, soft = torch.tensor([[0.0, 0.0]]), torch.tensor([[0.25, 0.75]])
    >>> float(soft_cross_entropy_loss(logits, soft, base=2))
    1.0
    """
    _check_soft(soft)
    given = counted(logits, soft, mask=mask, ignore_index=ignore_index, weight=weight)
    log_q = log_probabilities(given.logits)
    terms = torch.where(given.labels == 0, 0, given.labels * log_q)
    loss = in_base(-weighted(terms, weight), base)
    return reduced(loss, keep=given.keep, item_weight=item_weight, reduction=reduction)


def hard_cross_entropy_loss(
    logits: Tensor,
    labels: Tensor,
    *,
    base: float = math.e,
    reduction: Reduction = "mean",
    weight: Tensor | None = None,
    item_weight: Tensor | None = None,
    mask: Tensor | None = None,
    ignore_index: int | None = -100,
) -> Tensor:
    """Return −w_y log q_y with q = softmax(logits), for class numbers y.

    *logits* of shape (…, n_classes), *labels* of shape (…), int64. Equal to the soft cross-entropy of one-hot labels,
    class weights included (PyTorch divides the mean by the weights of the classes). See `sfumato.train.losses`.

    >>> float(hard_cross_entropy_loss(torch.tensor([[0.0, 0.0]]), torch.tensor([1]), base=2))
    1.0
    """
    _check_hard(labels)
    given = counted(logits, labels, mask=mask, ignore_index=ignore_index, weight=weight)
    log_q = log_probabilities(given.logits)
    loss = -log_q.gather(-1, given.labels.long().unsqueeze(-1)).squeeze(-1)
    if weight is not None:
        loss = loss * weight.to(loss.dtype)[given.labels]
    return reduced(in_base(loss, base), keep=given.keep, item_weight=item_weight, reduction=reduction)


def label_smoothing_loss(
    logits: Tensor,
    labels: Tensor,
    *,
    smoothing: float = 0.1,
    base: float = math.e,
    reduction: Reduction = "mean",
    weight: Tensor | None = None,
    item_weight: Tensor | None = None,
    mask: Tensor | None = None,
    ignore_index: int | None = -100,
) -> Tensor:
    """Return the soft cross-entropy with p = (1 − α)·onehot(y) + α/n_classes, α = *smoothing* (Szegedy et al. 2016).

    *logits* of shape (…, n_classes), *labels* of shape (…), int64. See `sfumato.train.losses` for the options.

    >>> logits, label = torch.tensor([[0.0, 9.0]]), torch.tensor([1])
    >>> float(label_smoothing_loss(logits, label, smoothing=0.0)) < float(label_smoothing_loss(logits, label))
    True
    """
    _check_hard(labels)
    if not 0 <= smoothing <= 1:
        raise OptionError(f"The option 'smoothing' must be between 0 and 1. Got {smoothing} instead.")
    given = counted(logits, labels, mask=mask, ignore_index=ignore_index, weight=weight)
    n_classes = logits.shape[-1]
    log_q = log_probabilities(given.logits)
    soft = torch.full_like(log_q, smoothing / n_classes)
    soft.scatter_add_(-1, given.labels.long().unsqueeze(-1), torch.full_like(soft[..., :1], 1 - smoothing))
    loss = -weighted(torch.where(soft == 0, 0, soft * log_q), weight)
    return reduced(in_base(loss, base), keep=given.keep, item_weight=item_weight, reduction=reduction)


def _check_soft(soft: Tensor) -> None:
    if not soft.is_floating_point():
        raise InputError(
            f"Soft labels are distributions, floating point of shape (…, n_classes). Got {soft.dtype} of shape "
            f"{tuple(soft.shape)}. For class numbers use hard_cross_entropy_loss."
        )


def _check_hard(labels: Tensor) -> None:
    if labels.is_floating_point() or labels.dtype == torch.bool:
        raise InputError(
            f"Labels are class numbers, int64 of shape (…). Got {labels.dtype} of shape {tuple(labels.shape)}. "
            "For distributions use soft_cross_entropy_loss."
        )
