"""Jensen–Shannon divergence between people and model."""

from __future__ import annotations

__all__ = ["jensen_shannon_loss"]

import math

import torch
from torch import Tensor

from sfumato.errors import InputError
from sfumato.train.losses.reduction import Reduction, counted, in_base, log_probabilities, reduced, weighted


def jensen_shannon_loss(
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
    """Return ½ KL(p‖m) + ½ KL(q‖m) with m = (p + q)/2, q = softmax(logits) and soft labels p; at most log 2.

    *logits* and *soft* of shape (…, n_classes). Zeros on either side are legal: all of it is computed from logarithms,
    and nothing is clipped. See `sfumato.train.losses` for the options.

    >>> float(jensen_shannon_loss(torch.tensor([[0.0, 0.0]]), torch.tensor([[0.5, 0.5]])))
    0.0
    """
    if not soft.is_floating_point():
        raise InputError(f"Soft labels are distributions, floating point. Got {soft.dtype}.")
    given = counted(logits, soft, mask=mask, ignore_index=ignore_index, weight=weight)
    p, log_q = given.labels, log_probabilities(given.logits)
    # Far below any logarithm of a float and yet finite: where neither side has mass, logaddexp has no gradient.
    lowest = torch.finfo(log_q.dtype).min / 8
    log_p, log_q = p.log().clamp(min=lowest), log_q.clamp(min=lowest)
    log_m = torch.logaddexp(log_p, log_q) - math.log(2)
    terms = (p * (log_p - log_m) + log_q.exp() * (log_q - log_m)) / 2
    loss = in_base(weighted(terms, weight), base)
    return reduced(loss, keep=given.keep, item_weight=item_weight, reduction=reduction)
