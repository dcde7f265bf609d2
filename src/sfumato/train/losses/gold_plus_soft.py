"""Gold and soft labels together: a head for each on one encoder."""

from __future__ import annotations

__all__ = ["SOFT_TERMS", "SoftTerm", "gold_plus_soft_loss"]

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Literal, get_args

from torch import Tensor

from sfumato.errors import OptionError, check_choice
from sfumato.train.losses.cross_entropy import hard_cross_entropy_loss, soft_cross_entropy_loss
from sfumato.train.losses.jensen_shannon import jensen_shannon_loss
from sfumato.train.losses.kl import kl_loss
from sfumato.train.losses.reduction import Reduction

SoftTerm = Literal["kl", "inverse_kl", "cross_entropy", "jensen_shannon"]
SOFT_TERMS: Mapping[SoftTerm, Callable[..., Tensor]] = {
    "kl": kl_loss,
    "inverse_kl": partial(kl_loss, direction="inverse"),
    "cross_entropy": soft_cross_entropy_loss,
    "jensen_shannon": jensen_shannon_loss,
}


def gold_plus_soft_loss(
    hard_logits: Tensor,
    soft_logits: Tensor,
    gold: Tensor,
    soft: Tensor,
    *,
    soft_term: SoftTerm = "kl",
    soft_share: float = 1.0,
    epsilon: float = 0.0,
    base: float = math.e,
    soft_base: float | None = None,
    reduction: Reduction = "mean",
    weight: Tensor | None = None,
    item_weight: Tensor | None = None,
    mask: Tensor | None = None,
    ignore_index: int | None = -100,
) -> Tensor:
    """Return CE(hard head, gold) + *soft_share* · D(soft head, soft labels) (Fornaciari et al. 2021, Wright 2024).

    Logits of shape (…, n_classes), *gold* of shape (…), *soft* of shape (…, n_classes). The divergence D is
    *soft_term* (*epsilon* is that of KL); *soft_base* is the base of its logarithm where it differs from that of the
    first term (Fornaciari et al. take 2). An item without gold or without soft label counts in the other term alone,
    each of which is a mean of its own. See `sfumato.train.losses` for the options.

    >>> import torch
    >>> zeros = torch.zeros(1, 2)
    >>> float(gold_plus_soft_loss(zeros, zeros, torch.tensor([1]), torch.tensor([[0.0, 1.0]]), base=2))
    2.0
    """
    check_choice(soft_term, get_args(SoftTerm), option="soft_term")
    if not 0 <= soft_share < math.inf:
        raise OptionError(f"The option 'soft_share' must be 0 or more. Got {soft_share} instead.")
    if epsilon and soft_term not in ("kl", "inverse_kl"):
        raise OptionError(f"The option 'epsilon' belongs to the terms kl and inverse_kl. The term is {soft_term!r}.")
    hard = hard_cross_entropy_loss(
        hard_logits, gold, base=base, reduction=reduction, weight=weight, item_weight=item_weight, mask=mask,
        ignore_index=ignore_index,
    )  # fmt: skip
    given = {"epsilon": epsilon} if soft_term in ("kl", "inverse_kl") else {}
    people = SOFT_TERMS[soft_term](
        soft_logits, soft, base=base if soft_base is None else soft_base, reduction=reduction, weight=weight,
        item_weight=item_weight, mask=mask, ignore_index=ignore_index, **given,
    )  # fmt: skip
    return hard + soft_share * people
