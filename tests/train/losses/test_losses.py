"""What every loss keeps, each beside an independent formula in NumPy, one item and one class at a time."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from scipy.spatial.distance import jensenshannon
from scipy.special import logsumexp
from torch import Tensor
from torch.nn import functional as F

from sfumato.errors import InputError, OptionError
from sfumato.train import losses
from sfumato.train.losses import (
    hard_cross_entropy_loss,
    jensen_shannon_loss,
    kl_loss,
    label_smoothing_loss,
    soft_cross_entropy_loss,
)

Row = NDArray[np.float64]


def _log(value: float) -> float:
    return math.log(value) if value > 0 else -math.inf


def _soft(q: Row, label: Row, w: Row) -> float:
    return sum(-w[k] * label[k] * _log(q[k]) for k in range(len(q)) if label[k] > 0)


def _hard(q: Row, label: int, w: Row) -> float:
    return -w[label] * _log(q[label])


def _smoothed(q: Row, label: int, w: Row, alpha: float) -> float:
    return _soft(q, (1 - alpha) * np.eye(len(q))[label] + alpha / len(q), w)


def _kl(q: Row, label: Row, w: Row) -> float:
    return sum(w[k] * label[k] * (_log(label[k]) - _log(q[k])) for k in range(len(q)) if label[k] > 0)


def _jensen_shannon(q: Row, label: Row, w: Row) -> float:
    return (_kl((q + label) / 2, label, w) + _kl((q + label) / 2, q, w)) / 2


@dataclass(frozen=True)
class Case:
    """A loss, the labels it takes ("hard", "soft" with zeros, "positive" without), and the formula of one item."""

    loss: Callable[..., Tensor]
    labels: str
    formula: Callable[[Row, Any, Row], float]


CASES = {
    "hard_cross_entropy": Case(hard_cross_entropy_loss, "hard", _hard),
    "soft_cross_entropy": Case(soft_cross_entropy_loss, "soft", _soft),
    "label_smoothing": Case(label_smoothing_loss, "hard", partial(_smoothed, alpha=0.1)),
    "label_smoothing none": Case(partial(label_smoothing_loss, smoothing=0.0), "hard", _hard),
    "label_smoothing full": Case(partial(label_smoothing_loss, smoothing=1.0), "hard", partial(_smoothed, alpha=1.0)),
    "kl": Case(kl_loss, "soft", _kl),
    "kl inverse": Case(partial(kl_loss, direction="inverse"), "positive", lambda q, p, w: _kl(p, q, w)),
    "kl inverse epsilon": Case(
        partial(kl_loss, direction="inverse", epsilon=0.01), "soft",
        lambda q, p, w: _kl((p + 0.01) / (1 + 0.01 * len(p)), q, w),
    ),
    "jensen_shannon": Case(jensen_shannon_loss, "soft", _jensen_shannon),
}  # fmt: skip
# These take more than logits and labels, and have files of their own.
ELSEWHERE = {"gold_plus_soft", "crowd_layer"}

every_loss = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


def sample(case: Case, shape: tuple[int, ...], n_classes: int = 4, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Return logits of shape (*shape, n_classes) and the labels of the case, with zeros where it takes them."""
    rng = np.random.default_rng(seed)
    logits = torch.tensor(3 * rng.normal(size=(*shape, n_classes)))
    if case.labels == "hard":
        return logits, torch.tensor(rng.integers(0, n_classes, shape))
    soft = rng.dirichlet(np.full(n_classes, 0.7), shape)
    if case.labels == "soft":
        soft[rng.random(soft.shape) < 0.3] = 0
        soft[..., 0] += soft.sum(axis=-1) == 0
    else:
        soft += 1e-3
    return logits, torch.tensor(soft / soft.sum(axis=-1, keepdims=True))


def expected(case: Case, logits: Tensor, labels: Tensor, weight: Row | None = None) -> NDArray[np.float64]:
    """Return the formula of every item, shape (…), in nats."""
    rows, n_classes = logits.double().numpy().reshape(-1, logits.shape[-1]), logits.shape[-1]
    said = labels.numpy().reshape(len(rows), -1) if case.labels != "hard" else labels.numpy().reshape(-1)
    w = np.ones(n_classes) if weight is None else weight
    values = [
        case.formula(np.exp(row - logsumexp(row)), label, w) for row, label in zip(rows, said, strict=True)
    ]  # fmt: skip
    return np.array(values).reshape(logits.shape[:-1])


@every_loss
@pytest.mark.parametrize("shape", [(7,), (1,), (), (3, 5), (2, 1, 3)], ids=str)
def test_it_is_the_formula_of_each_item(case: Case, shape: tuple[int, ...]) -> None:
    logits, labels = sample(case, shape)
    found = case.loss(logits, labels, reduction="none")
    assert found.shape == shape
    np.testing.assert_allclose(found.numpy(), expected(case, logits, labels), rtol=1e-12, atol=1e-14)


@every_loss
@pytest.mark.parametrize("base", [math.e, 2, 10])
def test_options_are_told_by_the_formula_too(case: Case, base: float) -> None:
    rng = np.random.default_rng(1)
    logits, labels = sample(case, (5, 6), seed=1)
    weight, item_weight, mask = rng.gamma(1, size=4), rng.gamma(1, size=(5, 6)), rng.random((5, 6)) < 0.6
    options = {
        "weight": torch.tensor(weight), "item_weight": torch.tensor(item_weight), "mask": torch.tensor(mask),
        "base": base,
    }  # fmt: skip
    counted = expected(case, logits, labels, weight) / math.log(base) * item_weight * mask
    found = {name: case.loss(logits, labels, reduction=name, **options).numpy() for name in ("none", "sum", "mean")}
    np.testing.assert_allclose(found["none"], counted, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(found["sum"], counted.sum(), rtol=1e-12)
    np.testing.assert_allclose(found["mean"], counted.sum() / (item_weight * mask).sum(), rtol=1e-12)


@every_loss
def test_gradients_are_those_of_finite_differences(case: Case) -> None:
    rng = np.random.default_rng(2)
    logits, labels = sample(case, (3, 4), seed=2)
    options = {
        "weight": torch.tensor(rng.gamma(1, size=4)), "item_weight": torch.tensor(rng.gamma(1, size=(3, 4))),
        "mask": torch.tensor(rng.random((3, 4)) < 0.7),
    }  # fmt: skip
    for given in ({}, options):
        at = logits.clone().requires_grad_()
        case.loss(at, labels, **given).backward()
        assert at.grad is not None
        slopes, step = torch.zeros_like(logits), 1e-6
        for place in np.ndindex(*logits.shape):
            there, back = logits.clone(), logits.clone()
            there[place] += step
            back[place] -= step
            slopes[place] = (case.loss(there, labels, **given) - case.loss(back, labels, **given)) / (2 * step)
        torch.testing.assert_close(at.grad, slopes, rtol=1e-6, atol=1e-9)


@every_loss
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_half_precision_bears_extreme_logits(case: Case, dtype: torch.dtype) -> None:
    far = [[6e4, -6e4, 0.0, 1.0], [-6e4, 6e4, 6e4, -6e4], [0.0, 1e-4, -1e-4, 0.0], [30.0, -30.0, 15.0, 14.5]]
    logits = torch.tensor(far, dtype=dtype).requires_grad_()
    _, labels = sample(case, (4,), seed=3)
    exact = logits.detach().double().requires_grad_()
    truth = case.loss(exact, labels, reduction="none")
    truth.mean().backward()
    found = case.loss(logits, labels.to(dtype) if labels.is_floating_point() else labels, reduction="none")
    found.mean().backward()
    assert found.dtype == torch.float32
    assert logits.grad is not None
    assert exact.grad is not None
    rounding = 2**-8 if dtype == torch.bfloat16 else 2**-10
    torch.testing.assert_close(found.double(), truth, rtol=rounding, atol=rounding)
    torch.testing.assert_close(logits.grad.double(), exact.grad, rtol=4 * rounding, atol=4 * rounding)


@every_loss
def test_single_precision_with_far_logits_is_finite_and_right(case: Case) -> None:
    logits = torch.tensor([[3e37, -3e37, 0.0, 0.0], [-1e5, 1e5, 0.0, 0.0]]).requires_grad_()
    labels = sample(case, (2,), seed=3)[1]
    labels = labels.float() if labels.is_floating_point() else labels
    exact = logits.detach().double().requires_grad_()
    truth = case.loss(exact, labels, reduction="none")
    truth.sum().backward()
    found = case.loss(logits, labels, reduction="none")
    found.sum().backward()
    assert bool(truth.isfinite().all())
    torch.testing.assert_close(found.double(), truth, rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(logits.grad.double(), exact.grad, rtol=1e-5, atol=1e-6)


@every_loss
def test_what_is_masked_reaches_neither_loss_nor_gradient(case: Case) -> None:
    logits, labels = sample(case, (6,), seed=4)
    mask = torch.tensor([True, False, True, True, False, True])
    truth = case.loss(logits[mask], labels[mask])
    logits, labels = logits.clone(), labels.clone()
    logits[~mask] = torch.tensor([math.nan, math.inf, -math.inf, 0.0], dtype=logits.dtype)
    labels[~mask] = -1 if case.labels == "hard" else math.nan
    logits.requires_grad_()
    found = case.loss(logits, labels, mask=mask)
    found.backward()
    torch.testing.assert_close(found, truth)
    assert logits.grad[~mask].tolist() == [[0.0] * 4] * 2
    assert bool(logits.grad.isfinite().all())
    each = case.loss(logits, labels, mask=mask, reduction="none")
    assert each[~mask].tolist() == [0.0, 0.0]


@every_loss
def test_padding_by_the_ignored_number_is_left_out(case: Case) -> None:
    logits, labels = sample(case, (2, 4), seed=5)
    padded = labels.clone()
    padded[1, 2:] = -100
    keep = torch.tensor([[True] * 4, [True, True, False, False]])
    torch.testing.assert_close(case.loss(logits, padded, ignore_index=-100), case.loss(logits[keep], labels[keep]))


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.labels != "positive"])
def test_a_class_can_be_ignored_whether_labels_are_hard_or_soft(name: str) -> None:
    case = CASES[name]
    logits, labels = sample(case, (6,), seed=6)
    ignored = torch.tensor([False, True, False, False, True, False])
    if case.labels == "hard":
        labels = torch.where(labels == 2, 3, labels)
        labels[ignored] = 2
    else:
        labels[ignored] = torch.tensor([0.0, 0.0, 1.0, 0.0], dtype=labels.dtype)
    found = case.loss(logits, labels, ignore_index=2)
    torch.testing.assert_close(found, case.loss(logits[~ignored], labels[~ignored]))
    assert not torch.isclose(found, case.loss(logits, labels))


@every_loss
def test_where_nothing_counts_the_loss_is_zero_with_a_gradient_of_zero(case: Case) -> None:
    logits, labels = sample(case, (3,), seed=7)
    for given in ({"mask": torch.zeros(3)}, {"item_weight": torch.zeros(3)}):
        at = logits.clone().requires_grad_()
        loss = case.loss(at, labels, **given)
        loss.backward()
        assert loss.item() == 0
        assert at.grad.abs().sum() == 0
    empty = case.loss(logits[:0].requires_grad_(), labels[:0])
    assert empty.item() == 0


@every_loss
def test_classes_that_the_model_rules_out_are_legal(case: Case) -> None:
    """A mask of classes sets logits to −∞: no loss where nobody has mass there, and no NaN in the gradient."""
    labels = torch.tensor([1]) if case.labels == "hard" else torch.tensor([[0.25, 0.75, 0.0]], dtype=torch.float64)
    if case.labels == "positive":
        labels = torch.tensor([[0.2, 0.7, 0.1]], dtype=torch.float64)
    logits = torch.tensor([[1.0, 0.5, -math.inf]], dtype=torch.float64, requires_grad=True)
    found = case.loss(logits, labels)
    truth = expected(case, logits.detach(), labels)[0]
    np.testing.assert_allclose(found.item(), truth, rtol=1e-12)
    if math.isfinite(truth):
        found.backward()
        assert bool(logits.grad.isfinite().all())


@every_loss
def test_it_leaves_its_input_alone(case: Case) -> None:
    logits, labels = sample(case, (5,), seed=8)
    before = logits.clone(), labels.clone()
    case.loss(logits, labels, mask=torch.tensor([1, 0, 1, 1, 1]), ignore_index=-100)
    assert torch.equal(logits, before[0])
    assert torch.equal(labels, before[1])


@every_loss
def test_shapes_that_do_not_fit_are_refused(case: Case) -> None:
    logits, labels = sample(case, (5,), seed=9)
    with pytest.raises(InputError, match=r"of a shape that fits\. Got \(4, 4\)"):
        case.loss(logits[:4], labels)
    with pytest.raises(InputError, match=r"one number per class: 4\. Got the shape \(3,\)"):
        case.loss(logits, labels, weight=torch.ones(3))
    with pytest.raises(InputError, match=r"'mask' must have the shape \(5,\)\. Got \(5, 4\)"):
        case.loss(logits, labels, mask=torch.ones(5, 4))
    with pytest.raises(InputError, match=r"'item_weight' needs one number per item, the shape \(5,\)"):
        case.loss(logits, labels, item_weight=torch.ones(4))
    with pytest.raises(InputError, match=r"Logits must be floating point\. Got torch.int64"):
        case.loss(logits.long(), labels)


@every_loss
def test_options_that_are_none_are_refused(case: Case) -> None:
    logits, labels = sample(case, (5,), seed=9)
    with pytest.raises(OptionError, match=r"'reduction' must be one of mean, sum, none\. Got 'avg'"):
        case.loss(logits, labels, reduction="avg")
    for base in (1, 0, -2, math.inf):
        with pytest.raises(OptionError, match="'base' must be a number above 0 other than 1"):
            case.loss(logits, labels, base=base)


@every_loss
def test_the_other_kind_of_labels_is_refused(case: Case) -> None:
    logits, labels = sample(case, (5,), seed=10)
    if case.labels == "hard":
        with pytest.raises(InputError, match="Labels are class numbers"):
            case.loss(logits, F.one_hot(labels, 4).double())
    else:
        with pytest.raises(InputError, match="Soft labels are distributions, floating point"):
            case.loss(logits, labels.argmax(dim=-1))


def test_every_loss_of_the_registry_is_tested() -> None:
    assert {name.split()[0] for name in CASES} | ELSEWHERE == set(losses.LOSSES)
    assert {f"{name}_loss" for name in losses.LOSSES} | {"LOSSES"} == set(losses.__all__)


def test_where_pytorch_has_the_loss_it_is_the_same() -> None:
    logits, soft = sample(CASES["soft_cross_entropy"], (9,), seed=11)
    gold = soft.argmax(dim=-1)
    torch.testing.assert_close(soft_cross_entropy_loss(logits, soft), F.cross_entropy(logits, soft))
    torch.testing.assert_close(hard_cross_entropy_loss(logits, gold), F.cross_entropy(logits, gold))
    torch.testing.assert_close(
        label_smoothing_loss(logits, gold, smoothing=0.3), F.cross_entropy(logits, gold, label_smoothing=0.3)
    )
    log_q = logits.log_softmax(-1)
    torch.testing.assert_close(kl_loss(logits, soft), F.kl_div(log_q, soft, reduction="batchmean"))


def test_the_divergence_is_that_of_scipy_and_stays_below_log_two() -> None:
    logits, soft = sample(CASES["jensen_shannon"], (50,), seed=12)
    found = jensen_shannon_loss(logits, soft, reduction="none")
    q = logits.softmax(-1).numpy()
    np.testing.assert_allclose(found.numpy(), jensenshannon(q, soft.numpy(), axis=1) ** 2, rtol=1e-9)
    apart = jensen_shannon_loss(torch.tensor([[-math.inf, 0.0]]), torch.tensor([[1.0, 0.0]]), base=2)
    assert float(apart) == pytest.approx(1, abs=1e-6)


def test_one_hot_soft_labels_and_classes_cost_the_same_with_weights() -> None:
    logits, gold = sample(CASES["hard_cross_entropy"], (9,), seed=13)
    weight = torch.tensor([0.5, 2.0, 1.0, 3.0])
    one_hot = F.one_hot(gold, 4).double()
    torch.testing.assert_close(
        hard_cross_entropy_loss(logits, gold, weight=weight), soft_cross_entropy_loss(logits, one_hot, weight=weight)
    )


def test_forward_divergence_has_the_gradient_of_cross_entropy() -> None:
    logits, soft = sample(CASES["kl"], (9,), seed=14)
    left, right = logits.clone().requires_grad_(), logits.clone().requires_grad_()
    kl_loss(left, soft).backward()
    soft_cross_entropy_loss(right, soft).backward()
    torch.testing.assert_close(left.grad, right.grad)


def test_inverse_divergence_refuses_zeros_where_they_count_and_says_what_to_do() -> None:
    logits, soft = torch.zeros(2, 2), torch.tensor([[0.5, 0.5], [0.0, 1.0]])
    with pytest.raises(InputError, match=r"some are 0\. Use softmaxed counts, or give an 'epsilon'"):
        kl_loss(logits, soft, direction="inverse")
    assert float(kl_loss(logits, soft, direction="inverse", mask=torch.tensor([1, 0]))) == 0
    with pytest.raises(OptionError, match="'direction' must be one of forward, inverse"):
        kl_loss(logits, soft, direction="backward")
    with pytest.raises(OptionError, match="'epsilon' must be 0 or more"):
        kl_loss(logits, soft, epsilon=-1)
    with pytest.raises(OptionError, match="'smoothing' must be between 0 and 1"):
        label_smoothing_loss(logits, torch.tensor([0, 1]), smoothing=1.5)


def test_an_item_of_weight_zero_counts_for_nothing_even_if_it_costs_infinitely_much() -> None:
    logits = torch.tensor([[0.0, 1.0], [-torch.inf, 0.0]], requires_grad=True)
    soft, weight = torch.tensor([[0.5, 0.5], [0.5, 0.5]]), torch.tensor([2.0, 0.0])
    loss = soft_cross_entropy_loss(logits, soft, item_weight=weight)
    torch.testing.assert_close(loss, soft_cross_entropy_loss(logits[:1], soft[:1]))
    loss.backward()
    assert torch.isfinite(logits.grad[0]).all()
    assert (logits.grad[1] == 0).all()
    each = soft_cross_entropy_loss(logits, soft, item_weight=weight, reduction="none")
    assert each[1] == 0
