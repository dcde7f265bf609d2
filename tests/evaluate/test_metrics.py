"""Each metric against a hand-worked case and an independent, slow formula."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import jensenshannon

from sfumato import SoftLabels, evaluate
from sfumato.core.gold import Gold
from sfumato.errors import InputError, OptionError


def random_distributions(seed: int, n_items: int, n_classes: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    probs = rng.dirichlet(np.full(n_classes, 0.5), n_items)
    probs[rng.random(probs.shape) < 0.2] = 0
    probs[probs.sum(axis=1) == 0, 0] = 1
    return probs / probs.sum(axis=1, keepdims=True)


cases = given(seed=st.integers(0, 10_000), n_items=st.integers(2, 30), n_classes=st.integers(2, 7))


@settings(max_examples=60, deadline=None)
@cases
def test_soft_cross_entropy_equals_the_sum_written_out(seed: int, n_items: int, n_classes: int) -> None:
    q, p = random_distributions(seed, n_items, n_classes), random_distributions(seed + 1, n_items, n_classes)
    slow = [
        -sum(p[i, k] * math.log(max(q[i, k], 1e-12)) for k in range(n_classes) if p[i, k] > 0) for i in range(n_items)
    ]
    assert evaluate.soft_cross_entropy_loss(q, p) == pytest.approx(sum(slow) / n_items, rel=1e-12, abs=1e-15)


@settings(max_examples=60, deadline=None)
@cases
def test_jensen_shannon_equals_the_square_of_scipys_distance(seed: int, n_items: int, n_classes: int) -> None:
    q, p = random_distributions(seed, n_items, n_classes), random_distributions(seed + 1, n_items, n_classes)
    slow = np.mean([jensenshannon(a, b, base=2) ** 2 for a, b in zip(p, q, strict=True)])
    assert evaluate.jensen_shannon_divergence(q, p, base=2) == pytest.approx(slow, abs=1e-10)
    assert evaluate.jensen_shannon_divergence(p, p) == 0


@settings(max_examples=60, deadline=None)
@cases
def test_entropy_correlation_equals_numpys_coefficient(seed: int, n_items: int, n_classes: int) -> None:
    q, p = random_distributions(seed, n_items, n_classes), random_distributions(seed + 1, n_items, n_classes)
    got = evaluate.entropy_correlation_score(q, p)
    x, y = (
        np.array([-sum(v * math.log(v) for v in row if v > 0) / math.log(n_classes) for row in rows]) for rows in (q, p)
    )
    if min(np.ptp(x), np.ptp(y)) < 1e-12:
        assert math.isnan(got)
    else:
        assert got == pytest.approx(np.corrcoef(x, y)[0, 1], abs=1e-9)


def test_entropy_correlation_of_a_constant_is_not_a_number() -> None:
    assert math.isnan(evaluate.entropy_correlation_score([[0.5, 0.5]] * 3, [[0.1, 0.9], [0.2, 0.8], [0.3, 0.7]]))


@settings(max_examples=60, deadline=None)
@cases
def test_calibration_error_equals_a_loop_over_bins(seed: int, n_items: int, n_classes: int) -> None:
    q = random_distributions(seed, n_items, n_classes)
    gold = np.random.default_rng(seed).integers(0, n_classes, n_items)
    total = 0.0
    for b in range(15):
        inside = [i for i in range(n_items) if b / 15 < q[i].max() <= (b + 1) / 15]
        if inside:
            right = np.mean([q[i].argmax() == gold[i] for i in inside])
            total += len(inside) / n_items * abs(right - np.mean([q[i].max() for i in inside]))
    assert evaluate.expected_calibration_error(q, gold) == pytest.approx(total, abs=1e-12)


def test_a_certain_and_right_model_is_calibrated() -> None:
    assert evaluate.expected_calibration_error(np.eye(3), [0, 1, 2]) == 0
    assert evaluate.expected_calibration_error(np.eye(3), [1, 2, 0]) == 1


def test_accuracy_counts_ties_as_it_is_told() -> None:
    probs = [[0.4, 0.4, 0.2], [0.1, 0.1, 0.8]]
    assert evaluate.accuracy_score(probs, [1, 2]) == 0.5
    assert evaluate.accuracy_score(probs, [1, 2], ties="share") == 0.75
    with pytest.raises(OptionError, match="one of first, share"):
        evaluate.accuracy_score(probs, [1, 2], ties="last")  # type: ignore[arg-type]


def test_named_tables_are_aligned_by_name() -> None:
    predicted = SoftLabels([[0.9, 0.1], [0.2, 0.8]], items=["a", "b"], classes=["x", "y"])
    people = SoftLabels([[0.8, 0.2], [0.1, 0.9]], items=["b", "a"], classes=["y", "x"])
    assert evaluate.jensen_shannon_divergence(predicted, people) == 0
    assert evaluate.accuracy_score(predicted, Gold.from_names(["b"], ["y"])) == 1


@pytest.mark.parametrize(
    ("predicted", "people", "said"),
    [
        ([[0.5, 0.5]], [[1.0, 0.0], [1.0, 0.0]], "the shape"),
        ([], [], "the shape"),
        ([[2.0, -1.0]], [[1.0, 0.0]], "never negative"),
        ([[0.5, 0.6]], [[1.0, 0.0]], "sum to 1.1"),
        ([[math.nan, 0.5]], [[1.0, 0.0]], "finite"),
    ],
)
def test_tables_that_do_not_fit_are_refused(predicted: object, people: object, said: str) -> None:
    with pytest.raises(InputError, match=said):
        evaluate.soft_cross_entropy_loss(predicted, people)  # type: ignore[arg-type]


def test_items_that_do_not_match_are_counted_never_dropped() -> None:
    predicted = SoftLabels([[0.9, 0.1], [0.2, 0.8]], items=["a", "b"], classes=["x", "y"])
    people = SoftLabels([[0.9, 0.1]], items=["a"], classes=["x", "y"])
    with pytest.raises(InputError, match=r"2 items and the labels 1, 1 of them shared"):
        evaluate.jensen_shannon_divergence(predicted, people)


@pytest.mark.parametrize("gold", [[0, 2], [-1, 0], [0], [0.0, 1.0]])
def test_gold_that_does_not_fit_is_refused(gold: list[int]) -> None:
    with pytest.raises(InputError):
        evaluate.accuracy_score([[0.5, 0.5], [0.5, 0.5]], gold)


def test_bins_are_at_least_one() -> None:
    with pytest.raises(OptionError, match="n_bins"):
        evaluate.expected_calibration_error([[1.0, 0.0]], [0], n_bins=0)
