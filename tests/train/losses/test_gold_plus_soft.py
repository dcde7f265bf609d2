"""Two heads: each term is the loss of its own head, a mean of its own, in a base of its own."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from scipy.special import log_softmax, rel_entr

from sfumato.errors import OptionError
from sfumato.train.losses import (
    gold_plus_soft_loss,
    hard_cross_entropy_loss,
    jensen_shannon_loss,
    kl_loss,
    soft_cross_entropy_loss,
)

TERMS = {
    "kl": kl_loss,
    "inverse_kl": lambda logits, soft, **given: kl_loss(logits, soft, direction="inverse", **given),
    "cross_entropy": soft_cross_entropy_loss,
    "jensen_shannon": jensen_shannon_loss,
}


def sample(n_items: int = 6, n_classes: int = 3, seed: int = 0) -> tuple[Any, Any, Any, Any]:
    rng = np.random.default_rng(seed)
    hard, people = rng.normal(size=(2, n_items, n_classes)) * 2
    soft = rng.dirichlet(np.ones(n_classes), n_items)
    return (
        torch.tensor(hard),
        torch.tensor(people),
        torch.tensor(rng.integers(0, n_classes, n_items)),
        torch.tensor(soft),
    )


def test_it_is_the_formula_of_fornaciari_with_bits_for_the_soft_term() -> None:
    hard, people, gold, soft = sample()
    found = gold_plus_soft_loss(hard, people, gold, soft, soft_base=2)
    first = -log_softmax(hard.numpy(), axis=1)[np.arange(6), gold.numpy()].mean()
    second = rel_entr(soft.numpy(), np.exp(log_softmax(people.numpy(), axis=1))).sum(axis=1).mean() / math.log(2)
    assert found.item() == pytest.approx(first + second, rel=1e-12)


@pytest.mark.parametrize("soft_term", TERMS)
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_it_is_the_sum_of_its_terms_with_every_option(soft_term: Any, reduction: Any) -> None:
    hard, people, gold, soft = sample(seed=1)
    rng = np.random.default_rng(2)
    options = {
        "weight": torch.tensor(rng.gamma(1, size=3)), "item_weight": torch.tensor(rng.gamma(1, size=6)),
        "mask": torch.tensor([1, 1, 0, 1, 1, 1]), "reduction": reduction,
    }  # fmt: skip
    found = gold_plus_soft_loss(hard, people, gold, soft, soft_term=soft_term, soft_share=0.3, base=2, **options)
    truth = hard_cross_entropy_loss(hard, gold, base=2, **options) + 0.3 * TERMS[soft_term](
        people, soft, base=2, **options
    )
    torch.testing.assert_close(found, truth)


def test_each_head_learns_from_its_own_labels_alone() -> None:
    hard, people, gold, soft = sample()
    hard.requires_grad_()
    people.requires_grad_()
    gold_plus_soft_loss(hard, people, gold, soft).backward()
    alone = hard.detach().clone().requires_grad_()
    hard_cross_entropy_loss(alone, gold).backward()
    torch.testing.assert_close(hard.grad, alone.grad)
    alone = people.detach().clone().requires_grad_()
    kl_loss(alone, soft).backward()
    torch.testing.assert_close(people.grad, alone.grad)


def test_an_item_with_one_kind_of_label_counts_in_that_term_alone() -> None:
    hard, people, gold, soft = sample()
    gold[1], soft[4] = -100, torch.full((3,), -100.0, dtype=torch.float64)
    found = gold_plus_soft_loss(hard, people, gold, soft)
    has_gold, has_soft = [0, 2, 3, 4, 5], [0, 1, 2, 3, 5]
    truth = hard_cross_entropy_loss(hard[has_gold], gold[has_gold]) + kl_loss(people[has_soft], soft[has_soft])
    torch.testing.assert_close(found, truth)


def test_zeros_need_an_epsilon_only_in_the_inverse_direction() -> None:
    zeros, gold, soft = torch.zeros(1, 2), torch.tensor([0]), torch.tensor([[0.0, 1.0]])
    found = gold_plus_soft_loss(zeros, zeros, gold, soft, soft_term="inverse_kl", epsilon=0.5)
    # p = (0 + ½)/2 and (1 + ½)/2; q is even.
    truth = math.log(2) + 0.5 * math.log(0.5 / 0.25) + 0.5 * math.log(0.5 / 0.75)
    assert found.item() == pytest.approx(truth)


def test_other_options_are_refused() -> None:
    hard, people, gold, soft = sample()
    with pytest.raises(OptionError, match="'soft_term' must be one of kl, inverse_kl, cross_entropy, jensen_shannon"):
        gold_plus_soft_loss(hard, people, gold, soft, soft_term="js")  # type: ignore[arg-type]
    for share in (-1, math.inf, math.nan):
        with pytest.raises(OptionError, match="'soft_share' must be 0 or more"):
            gold_plus_soft_loss(hard, people, gold, soft, soft_share=share)
    with pytest.raises(OptionError, match=r"'epsilon' belongs to the terms kl and inverse_kl\."):
        gold_plus_soft_loss(hard, people, gold, soft, soft_term="cross_entropy", epsilon=0.1)
