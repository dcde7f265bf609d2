"""The fitted temperature against SciPy's minimiser, and the calibrated log loss against the procedure written out."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq, minimize_scalar
from scipy.special import log_softmax

from sfumato import Predictions, SoftLabels, evaluate
from sfumato.core.gold import Gold
from sfumato.errors import InputError, OptionError


def problem(seed: int, n_items: int, n_classes: int, sharpness: float = 2.0) -> tuple[np.ndarray, np.ndarray]:
    """Logits that are too sharp by the factor *sharpness*, and gold drawn from what they should be."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(n_items, n_classes)) * 1.5
    gold = (logits + rng.gumbel(size=logits.shape)).argmax(axis=1)
    return logits * sharpness, gold


def loss(temperature: float, logits: np.ndarray, p: np.ndarray) -> float:
    return float(-(p * log_softmax(logits / temperature, axis=1)).sum(axis=1).mean())


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), n_items=st.integers(1, 60), n_classes=st.integers(2, 6), soft=st.booleans())
def test_no_other_temperature_is_better(pair: Any, seed: int, n_items: int, n_classes: int, soft: bool) -> None:
    logits, gold = problem(seed, n_items, n_classes, sharpness=float(np.random.default_rng(seed).choice([0.2, 1, 5])))
    p = pair(seed, n_items, n_classes)[1] if soft else np.eye(n_classes)[gold]
    found = evaluate.fit_temperature(logits, p if soft else gold)
    assert 0.01 <= found <= 100
    best = minimize_scalar(
        lambda b: loss(math.exp(b), logits, p), bounds=(math.log(0.01), math.log(100)), method="bounded",
        options={"xatol": 1e-10},
    )  # fmt: skip
    assert loss(found, logits, p) <= best.fun + 1e-12


def test_the_temperature_is_exact() -> None:
    logits, gold = problem(0, 5_000, 4)

    def slope(inverse: float) -> float:
        q = np.exp(log_softmax(logits * inverse, axis=1))
        return float(((q - np.eye(4)[gold]) * logits).sum(axis=1).mean())

    assert evaluate.fit_temperature(logits, gold) == pytest.approx(1 / brentq(slope, 0.1, 2, xtol=1e-15), rel=1e-10)


def test_many_items_start_from_a_part_of_them_and_end_at_the_same_place() -> None:
    logits, gold = problem(1, 60_000, 3)
    found = evaluate.fit_temperature(logits, gold)
    assert found == pytest.approx(2, rel=0.05)
    p = np.eye(3)[gold]
    assert loss(found, logits, p) < min(loss(found * 1.001, logits, p), loss(found / 1.001, logits, p))


def test_the_ends_of_the_range() -> None:
    logits = [[2.0, 0.0], [0.0, 3.0]]
    assert evaluate.fit_temperature(logits, [0, 1]) == pytest.approx(0.01)  # all right: the sharper the better
    assert evaluate.fit_temperature(logits, [1, 0]) == pytest.approx(100)  # all wrong: the softer the better
    assert evaluate.fit_temperature([[5.0, 5.0]], [0]) == 1  # it makes no difference
    assert evaluate.fit_temperature([[1e4, -1e4], [1e4, -1e4]], [0, 1]) == pytest.approx(100)


def test_predictions_hand_over_their_logits_or_the_logarithms_of_their_probabilities() -> None:
    logits, gold = problem(2, 200, 3)
    items, classes = [f"i{k:03}" for k in range(200)], ["a", "b", "c"]
    with_logits = Predictions.from_logits(logits, items=items, classes=classes)
    without = SoftLabels(with_logits.probs, items=items, classes=classes)
    table = Gold.from_names(items, [classes[k] for k in gold])
    expected = evaluate.fit_temperature(logits, gold)
    for predicted in (with_logits, without):
        for labels in (gold, table):
            assert evaluate.fit_temperature(predicted, labels) == pytest.approx(expected, rel=1e-9)
    turned = SoftLabels(np.eye(3)[gold][::-1, ::-1], items=items[::-1], classes=classes[::-1])
    assert evaluate.fit_temperature(with_logits, turned) == pytest.approx(expected, rel=1e-9)
    part = Gold.from_names(items[:50], [classes[k] for k in gold[:50]])
    assert evaluate.fit_temperature(with_logits, part) == pytest.approx(
        evaluate.fit_temperature(logits[:50], gold[:50])
    )


def test_what_are_no_logits_is_said() -> None:
    with pytest.raises(InputError, match="look like probabilities"):
        evaluate.fit_temperature([[0.5, 0.5], [0.9, 0.1]], [0, 1])
    with pytest.raises(InputError, match="row 2 hold a value that is not a finite"):
        evaluate.calibrated_log_loss([[2.0, 0.5], [math.inf, 0.1]], [0, 1])
    with pytest.raises(InputError, match="at least one of each"):
        evaluate.fit_temperature([], [])
    sure = SoftLabels([[1.0, 0.0]], items=["a"], classes=["x", "y"])
    with pytest.raises(InputError, match="'a' has a class of probability 0"):
        evaluate.fit_temperature(sure, [0])
    unsure = SoftLabels([[0.9, 0.1]], items=["a"], classes=["x", "y"])
    with pytest.raises(InputError, match="gold class 'z' is not one of the 2"):
        evaluate.fit_temperature(unsure, Gold.from_names(["a"], ["z"]))


@pytest.mark.parametrize("n_items", [2, 3, 101])
def test_calibrated_log_loss_equals_the_procedure_written_out(n_items: int) -> None:
    logits, gold = problem(3, n_items, 3)
    p = np.eye(3)[gold]
    rng = np.random.default_rng(7)
    total = 0.0
    for _ in range(4):
        order = rng.permutation(n_items)
        half, rest = order[: n_items // 2], order[n_items // 2 :]
        temperature = evaluate.fit_temperature(logits[half], gold[half])
        total += loss(temperature, logits[rest], p[rest]) / 4
    assert evaluate.calibrated_log_loss(logits, gold, splits=4, seed=7) == pytest.approx(total, rel=1e-9)
    assert evaluate.calibrated_log_loss(logits, p, splits=4, seed=7) == pytest.approx(total, rel=1e-9)


def test_the_scale_of_the_logits_does_not_matter() -> None:
    logits, gold = problem(4, 300, 3)
    value = evaluate.calibrated_log_loss(logits, gold)
    assert evaluate.calibrated_log_loss(logits * 7, gold) == pytest.approx(value, rel=1e-9)
    assert evaluate.calibrated_log_loss(logits + 100, gold) == pytest.approx(value, rel=1e-9)
    assert evaluate.calibrated_log_loss(logits, gold, seed=1) != value
    assert evaluate.calibrated_log_loss(logits, gold) == value


def test_named_items_are_drawn_by_name() -> None:
    logits, gold = problem(5, 100, 3)
    items = [f"item {k}" for k in range(100)]
    order = np.random.default_rng(0).permutation(100)
    straight = Predictions.from_logits(logits, items=items, classes=["a", "b", "c"])
    moved = straight.take([items[k] for k in order])
    assert evaluate.calibrated_log_loss(straight, gold) == evaluate.calibrated_log_loss(moved, gold[order])


def test_one_item_cannot_be_halved() -> None:
    with pytest.raises(InputError, match="at least 2 items"):
        evaluate.calibrated_log_loss([[2.0, 1.0]], [0])
    with pytest.raises(OptionError, match="splits"):
        evaluate.calibrated_log_loss([[2.0, 1.0]] * 2, [0, 0], splits=0)
