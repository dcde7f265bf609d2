"""Kullback–Leibler divergence between people and model, in either direction."""

from __future__ import annotations

__all__ = ["Direction", "kl_loss"]

import math
from typing import Literal, get_args

import torch
from torch import Tensor

from sfumato.errors import InputError, OptionError, check_choice
from sfumato.train.losses.reduction import Reduction, counted, in_base, log_probabilities, reduced, weighted

Direction = Literal["forward", "inverse"]


def kl_loss(
    logits: Tensor,
    soft: Tensor,
    *,
    direction: Direction = "forward",
    epsilon: float = 0.0,
    base: float = math.e,
    reduction: Reduction = "mean",
    weight: Tensor | None = None,
    item_weight: Tensor | None = None,
    mask: Tensor | None = None,
    ignore_index: int | None = None,
) -> Tensor:
    """Return KL(p‖q) = Σ p log(p/q), forward, or KL(q‖p), inverse, with q = softmax(logits) and soft labels p.

    *logits* and *soft* of shape (…, n_classes). Forward differs from the soft cross-entropy by the entropy of p, and
    has its gradient. Inverse needs p > 0 everywhere: give it softmaxed counts, or an *epsilon*, with which p becomes
    (p + ε)/(1 + n_classes·ε); zeros are refused (Fornaciari et al. 2021). See `sfumato.train.losses` for the options.

    >>> logits = torch.tensor([[0.0, 0.0]])
    >>> float(kl_loss(logits, torch.tensor([[0.0, 1.0]]), base=2)), float(kl_loss(logits, torch.tensor([[0.5, 0.5]])))
    (1.0, 0.0)
    """
    check_choice(direction, get_args(Direction), option="direction")
    if not 0 <= epsilon < math.inf:
        raise OptionError(f"The option 'epsilon' must be 0 or more. Got {epsilon} instead.")
    if not soft.is_floating_point():
        raise InputError(f"Soft labels are distributions, floating point. Got {soft.dtype}.")
    given = counted(logits, soft, mask=mask, ignore_index=ignore_index, weight=weight)
    p = given.labels
    if epsilon:
        p = (p + epsilon) / (1 + logits.shape[-1] * epsilon)
    log_q = log_probabilities(given.logits)
    if direction == "forward":
        terms = torch.where(p == 0, 0, p * (torch.log(p) - log_q))
    else:
        positive = p > 0 if given.keep is None else (p > 0) | ~given.keep.unsqueeze(-1)
        if not bool(positive.all()):
            raise InputError(
                "The inverse KL divergence needs soft labels above 0 in every class, and some are 0. "
                "Use softmaxed counts, or give an 'epsilon' such as 1e-3."
            )
        # −inf is a class that the model rules out: q log q is 0 there, and so is its gradient.
        log_q = log_q.clamp(min=torch.finfo(log_q.dtype).min / 8)
        terms = log_q.exp() * (log_q - torch.where(p > 0, p, 1).log())
    loss = in_base(weighted(terms, weight), base)
    return reduced(loss, keep=given.keep, item_weight=item_weight, reduction=reduction)
