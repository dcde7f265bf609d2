"""Calibration errors against loops over bins, with gold and with people, and the released program's own way."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato import evaluate
from sfumato.errors import OptionError

cases = given(seed=st.integers(0, 100_000), n_items=st.integers(1, 40), n_classes=st.integers(2, 6), soft=st.booleans())


def labels_and_rightness(pair: Any, seed: int, n_items: int, n_classes: int, soft: bool) -> tuple[Any, ...]:
    q, p = pair(seed, n_items, n_classes)
    labels = p if soft else np.random.default_rng(seed).integers(0, n_classes, n_items)
    mass = p if soft else np.eye(n_classes)[labels]
    right = [mass[i, q[i].argmax()] for i in range(n_items)]
    return q, labels, mass, right


@settings(max_examples=60, deadline=None)
@cases
def test_expected_calibration_equals_a_loop_over_bins(
    pair: Any, seed: int, n_items: int, n_classes: int, soft: bool
) -> None:
    q, labels, _, right = labels_and_rightness(pair, seed, n_items, n_classes, soft)
    total, found = 0.0, []
    for b in range(15):
        inside = [i for i in range(n_items) if b < q[i].max() * 15 <= b + 1]
        if inside:
            accuracy, sure = np.mean([right[i] for i in inside]), np.mean([q[i].max() for i in inside])
            total += len(inside) / n_items * abs(accuracy - sure)
            found.append((len(inside), pytest.approx(sure), pytest.approx(accuracy)))
    assert evaluate.expected_calibration_error(q, labels) == pytest.approx(total, abs=1e-12)
    assert [(b.n, b.confidence, b.accuracy) for b in evaluate.reliability(q, labels)] == found


@settings(max_examples=60, deadline=None)
@cases
def test_classwise_calibration_equals_a_loop_over_classes_and_bins(
    pair: Any, seed: int, n_items: int, n_classes: int, soft: bool
) -> None:
    q, labels, mass, _ = labels_and_rightness(pair, seed, n_items, n_classes, soft)
    total = 0.0
    for k in range(n_classes):
        for b in range(5):
            inside = [i for i in range(n_items) if b < q[i, k] * 5 <= b + 1 or (b == 0 and q[i, k] == 0)]
            total += abs(sum(mass[i, k] - q[i, k] for i in inside)) / n_items / n_classes
    assert evaluate.classwise_calibration_error(q, labels, n_bins=5) == pytest.approx(total, abs=1e-12)


@settings(max_examples=60, deadline=None)
@cases
def test_adaptive_calibration_equals_a_loop_over_bins(
    pair: Any, seed: int, n_items: int, n_classes: int, soft: bool
) -> None:
    q, labels, _, right = labels_and_rightness(pair, seed, n_items, n_classes, soft)
    sure = [max(row) for row in q]
    # Items of one confidence are as right as they are on average.
    even = [np.mean([right[j] for j in range(n_items) if sure[j] == sure[i]]) for i in range(n_items)]
    order = sorted(range(n_items), key=lambda i: sure[i])
    n_bins = max(n_items // 7, 1)
    total = 0.0
    for b in range(n_bins):
        inside = order[b * 7 :] if b == n_bins - 1 else order[b * 7 : b * 7 + 7]
        gap = np.mean([even[i] - sure[i] for i in inside])
        total += len(inside) / n_items * gap**2
    got = evaluate.adaptive_rms_calibration_error(q, labels, bin_size=7)
    assert got == pytest.approx(math.sqrt(total), abs=1e-10)


def released_program(sure: np.ndarray, right: np.ndarray, size: int) -> float:
    """The released formula, as its description has it: the last bin is made whole, and then left out."""
    order = np.argsort(sure, kind="stable")
    sure, right = sure[order], right[order]
    edges = [(i * size, (i + 1) * size) for i in range(len(sure) // size)]
    total = 0.0
    for low, high in edges[:-1]:
        total += (high - low) / len(sure) * (sure[low:high].mean() - right[low:high].mean()) ** 2
    return math.sqrt(total)


@pytest.mark.parametrize("n_items", [50, 150, 200, 299, 1000])
def test_the_replica_leaves_out_the_last_bin(n_items: int) -> None:
    rng = np.random.default_rng(n_items)
    q, gold = rng.dirichlet(np.ones(3), n_items), rng.integers(0, 3, n_items)
    sure, right = q.max(axis=1), (q.argmax(axis=1) == gold).astype(float)
    published = evaluate.adaptive_rms_calibration_error(q, gold, as_published=True)
    assert published == pytest.approx(released_program(sure, right, 100), abs=1e-12)
    whole = evaluate.adaptive_rms_calibration_error(q, gold)
    assert whole > published or n_items == 1000
    if n_items < 200:
        assert published == 0
        assert whole == pytest.approx(abs(sure.mean() - right.mean()), abs=1e-12)


def test_the_order_of_tied_items_does_not_matter() -> None:
    q = np.tile([0.9, 0.1], (30, 1))
    gold = np.array([0] * 20 + [1] * 10)
    values = {
        round(evaluate.adaptive_rms_calibration_error(q, np.random.default_rng(seed).permutation(gold), bin_size=8), 14)
        for seed in range(10)
    }
    assert values == {round(0.9 - 2 / 3, 14)}


def test_a_certain_and_right_model_is_calibrated() -> None:
    for name in ("expected_calibration_error", "adaptive_rms_calibration_error", "classwise_calibration_error"):
        assert getattr(evaluate, name)(np.eye(3), [0, 1, 2]) == 0
    assert evaluate.expected_calibration_error(np.eye(3), [1, 2, 0]) == 1


def test_a_model_that_says_what_people_say_is_calibrated_however_unsure() -> None:
    p = np.random.default_rng(0).dirichlet(np.ones(4), 500)
    for name in ("expected_calibration_error", "adaptive_rms_calibration_error", "classwise_calibration_error"):
        assert getattr(evaluate, name)(p, p) == pytest.approx(0, abs=1e-15)


def test_bins_are_at_least_one() -> None:
    for metric in (evaluate.expected_calibration_error, evaluate.classwise_calibration_error, evaluate.reliability):
        with pytest.raises(OptionError, match="n_bins"):
            metric([[1.0, 0.0]], [0], n_bins=0)  # type: ignore[operator]
    with pytest.raises(OptionError, match="bin_size"):
        evaluate.adaptive_rms_calibration_error([[1.0, 0.0]], [0], bin_size=0)
