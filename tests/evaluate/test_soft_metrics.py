"""Every number that compares distributions, against SciPy or a formula written out, item by item."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cityblock, jensenshannon
from scipy.special import rel_entr
from scipy.stats import entropy, pearsonr, wasserstein_distance

from sfumato import evaluate
from sfumato.errors import OptionError

cases = given(seed=st.integers(0, 100_000), n_items=st.integers(1, 30), n_classes=st.integers(2, 8))


def cross_entropy(q: np.ndarray, p: np.ndarray) -> float:
    return -sum(b * math.log(max(a, 1e-12)) for a, b in zip(q, p, strict=True) if b > 0)


def over_classes(q: np.ndarray, p: np.ndarray) -> float:
    places = np.arange(len(q))
    return float(wasserstein_distance(places, places, q, p))


def as_lewidi(q: np.ndarray, p: np.ndarray) -> float:
    return -sum(b * math.log(min(max(a, 1e-12), 1 - 1e-12) + 1e-9) for a, b in zip(q, p, strict=True))


OF_ONE_ITEM: dict[str, Callable[[np.ndarray, np.ndarray], float]] = {
    "soft_cross_entropy_loss": cross_entropy,
    "kl_divergence": lambda q, p: float(rel_entr(p, q).sum()),
    "inverse_kl_divergence": lambda q, p: float(rel_entr(q, p).sum()),
    "jensen_shannon_divergence": lambda q, p: float(jensenshannon(q, p)) ** 2,
    "manhattan_error": lambda q, p: float(cityblock(q, p)),
    "human_distance_error": lambda q, p: max(0.0, sum(a - b for a, b in zip(q, p, strict=True) if a > b)),
    "wasserstein_error": over_classes,
    "values_wasserstein_error": lambda q, p: float(wasserstein_distance(q, p)),
    "soft_accuracy_score": lambda q, p: sum(min(a, b) for a, b in zip(q, p, strict=True)),
    "brier_error": lambda q, p: sum((a - b) ** 2 for a, b in zip(q, p, strict=True)),
    "entropy_calibration_error": lambda q, p: abs(float(entropy(q) - entropy(p))),
    "lewidi_cross_entropy_loss": as_lewidi,
}


@pytest.mark.parametrize("name", OF_ONE_ITEM)
@settings(max_examples=40, deadline=None)
@cases
def test_each_item_equals_an_independent_formula(pair: Any, name: str, seed: int, n_items: int, n_classes: int) -> None:
    q, p = pair(seed, n_items, n_classes)
    # Where two rows are equal SciPy's distance may be the root of −1e-17, which is not a number.
    slow = [np.nan_to_num(OF_ONE_ITEM[name](a, b), nan=0.0, posinf=math.inf) for a, b in zip(q, p, strict=True)]
    np.testing.assert_allclose(getattr(evaluate, f"{name}_per_item")(q, p), slow, atol=1e-10)
    assert getattr(evaluate, name)(q, p) == pytest.approx(np.mean(slow), abs=1e-10)


def test_every_mean_over_items_is_checked_here() -> None:
    means = {name for name, one in evaluate.METRICS.items() if one.needs == "people" and one.per_item is not None}
    assert set(OF_ONE_ITEM) == means


@pytest.mark.parametrize("n_classes", [9, 16, 31, 32, 33, 100])
def test_values_are_sorted_however_many_there_are(pair: Any, n_classes: int) -> None:
    q, p = pair(n_classes, 50, n_classes)
    slow = [wasserstein_distance(a, b) for a, b in zip(q, p, strict=True)]
    np.testing.assert_allclose(evaluate.values_wasserstein_error_per_item(q, p), slow, atol=1e-12)


@settings(max_examples=40, deadline=None)
@cases
def test_entropy_correlation_equals_scipys_coefficient(pair: Any, seed: int, n_items: int, n_classes: int) -> None:
    q, p = pair(seed, n_items, n_classes)
    x, y = entropy(q, axis=1) / math.log(n_classes), entropy(p, axis=1) / math.log(n_classes)
    got = evaluate.entropy_correlation_score(q, p)
    if n_items < 2 or min(np.ptp(x), np.ptp(y)) < 1e-12:
        assert math.isnan(got)
    else:
        assert got == pytest.approx(pearsonr(x, y).statistic, abs=1e-9)


def test_entropy_correlation_of_a_constant_is_not_a_number() -> None:
    assert math.isnan(evaluate.entropy_correlation_score([[0.5, 0.5]] * 3, [[0.1, 0.9], [0.2, 0.8], [0.3, 0.7]]))


@settings(max_examples=40, deadline=None)
@cases
def test_soft_f1_equals_the_sums_written_out(pair: Any, seed: int, n_items: int, n_classes: int) -> None:
    q, p = pair(seed, n_items, n_classes)
    q[:, 0], p[:, 0] = 0, 0  # a class without mass on either side
    q[q.sum(axis=1) == 0, 1], p[p.sum(axis=1) == 0, 1] = 1, 1
    q, p = q / q.sum(axis=1, keepdims=True), p / p.sum(axis=1, keepdims=True)
    each = [
        2 * sum(np.minimum(q[:, k], p[:, k])) / (sum(q[:, k]) + sum(p[:, k])) if sum(q[:, k] + p[:, k]) else math.nan
        for k in range(n_classes)
    ]
    np.testing.assert_allclose(evaluate.soft_f1_score(q, p, average=None), each, atol=1e-12)
    assert evaluate.soft_f1_score(q, p) == pytest.approx(np.nanmean(each), abs=1e-12)
    weighted = np.nansum(np.array(each) * p.sum(axis=0)) / n_items
    assert evaluate.soft_f1_score(q, p, average="weighted") == pytest.approx(weighted, abs=1e-12)
    assert evaluate.soft_f1_score(q, p, average="micro") == pytest.approx(evaluate.soft_accuracy_score(q, p), abs=1e-12)


def test_soft_f1_of_one_hot_rows_is_f1() -> None:
    rng = np.random.default_rng(0)
    q, p = np.eye(4)[rng.integers(0, 4, 50)], np.eye(4)[rng.integers(0, 4, 50)]
    for average in ("macro", "micro", "weighted"):
        soft = evaluate.soft_f1_score(q, p, average=average)
        assert soft == pytest.approx(evaluate.f1_score(q, p.argmax(axis=1), average=average), abs=1e-12)
    assert evaluate.soft_accuracy_score(q, p) == evaluate.accuracy_score(q, p.argmax(axis=1))


def test_worked_by_hand() -> None:
    q, p = [[0.5, 0.25, 0.25], [1.0, 0.0, 0.0]], [[0.25, 0.25, 0.5], [0.0, 0.0, 1.0]]
    assert evaluate.manhattan_error(q, p) == (0.5 + 2) / 2
    assert evaluate.human_distance_error(q, p) == (0.25 + 1) / 2
    assert evaluate.soft_accuracy_score(q, p) == (0.75 + 0) / 2
    assert evaluate.brier_error(q, p) == (0.125 + 2) / 2
    assert evaluate.wasserstein_error(q, p) == (0.5 + 2) / 2
    assert evaluate.values_wasserstein_error(q, p) == 0
    assert evaluate.entropy_calibration_error(q, p) == 0
    assert evaluate.jensen_shannon_divergence(q[1:], p[1:]) == math.log(2)
    assert evaluate.kl_divergence(q[:1], p[:1]) == pytest.approx(0.25 * math.log(2))
    assert evaluate.soft_cross_entropy_loss(q[1:], p[1:]) == pytest.approx(12 * math.log(10))


def test_the_floor_of_the_cross_entropy_is_what_it_is_told() -> None:
    q, p = [[1.0, 0.0], [0.5, 0.5]], [[0.5, 0.5], [1.0, 0.0]]
    assert evaluate.soft_cross_entropy_loss(q, p, floor=0) == math.inf
    np.testing.assert_array_equal(evaluate.soft_cross_entropy_loss_per_item(q, p, floor=0), [math.inf, math.log(2)])
    assert evaluate.soft_cross_entropy_loss(q[:1], p[:1], floor=1e-3) == pytest.approx(1.5 * math.log(10))
    assert evaluate.soft_cross_entropy_loss([[1.0, 0.0]], [[1.0, 0.0]], floor=0) == 0
    with pytest.raises(OptionError, match="floor"):
        evaluate.soft_cross_entropy_loss(q, p, floor=-1)


def test_numbers_next_to_nothing_keep_their_logarithm() -> None:
    q, p = [[1 - 1e-310, 1e-310]], [[0.5, 0.5]]
    assert evaluate.kl_divergence(q, p) == pytest.approx(float(rel_entr(p, q).sum()), rel=1e-12)


def test_bits_and_nats() -> None:
    q, p = [[1.0, 0.0]], [[0.5, 0.5]]
    nats = evaluate.jensen_shannon_divergence(q, p)
    assert evaluate.jensen_shannon_divergence(q, p, base=2) == pytest.approx(nats / math.log(2), rel=1e-15)
    assert evaluate.jensen_shannon_divergence_per_item(q, p, base=2)[0] == pytest.approx(nats / math.log(2), rel=1e-15)
    with pytest.raises(OptionError, match="base"):
        evaluate.jensen_shannon_divergence(q, p, base=1)


def test_ordered_classes_lie_where_they_are_told() -> None:
    q, p = [[0.2, 0.3, 0.5]], [[0.6, 0.1, 0.3]]
    places = [-3, -1, 4.5]
    slow = wasserstein_distance(places, places, q[0], p[0])
    assert evaluate.wasserstein_error(q, p, positions=places) == pytest.approx(slow, abs=1e-12)
    assert evaluate.wasserstein_error_per_item(q, p, positions=places)[0] == pytest.approx(slow, abs=1e-12)
    for wrong in ([0, 1], [0, 2, 1], [0, 1, math.nan]):
        with pytest.raises(OptionError, match="3 ascending numbers"):
            evaluate.wasserstein_error(q, p, positions=wrong)


def test_the_sign_of_the_entropy_gap_says_who_is_less_sure() -> None:
    q, p = [[0.5, 0.5], [1.0, 0.0]], [[1.0, 0.0], [0.5, 0.5]]
    signed = evaluate.entropy_calibration_error_per_item(q, p, signed=True)
    np.testing.assert_allclose(signed, [math.log(2), -math.log(2)])


def test_an_unknown_average_is_refused() -> None:
    with pytest.raises(OptionError, match="one of macro, micro, weighted"):
        evaluate.soft_f1_score([[1.0]], [[1.0]], average="mean")  # type: ignore[call-overload]


def test_scores_of_the_shared_tasks() -> None:
    q, p, gold = [[0.8, 0.2], [0.4, 0.6]], [[1.0, 0.0], [0.6, 0.4]], [0, 0]
    for edition in (2021, 2023):
        found = evaluate.lewidi_scores(q, p, edition=edition, gold=gold)
        slow = -(math.log(0.8 + 1e-9) + 0.6 * math.log(0.4 + 1e-9) + 0.4 * math.log(0.6 + 1e-9)) / 2
        assert found == {"lewidi_cross_entropy_loss": pytest.approx(slow, abs=1e-12), "f1_score": 0.5}
    assert evaluate.lewidi_scores(q, p, edition=2025) == {
        "manhattan_error": pytest.approx(0.4),
        "wasserstein_error": pytest.approx(0.2),
    }
    with pytest.raises(OptionError, match="2021, 2023, 2025"):
        evaluate.lewidi_scores(q, p, edition=2022)  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="no score against gold"):
        evaluate.lewidi_scores(q, p, edition=2025, gold=gold)
