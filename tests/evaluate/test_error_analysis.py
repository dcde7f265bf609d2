"""Error analysis against SciPy, a case worked by hand, and labels whose difficulty is known."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from sfumato import SoftLabels
from sfumato.errors import InputError, OptionError
from sfumato.evaluate.error_analysis import by_correctness, largest_gaps, soft_label_kurtosis


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 10_000), n_classes=st.integers(2, 9))
def test_kurtosis_is_scipys(seed: int, n_classes: int) -> None:
    probs = np.random.default_rng(seed).dirichlet(np.full(n_classes, 0.5), 20)
    np.testing.assert_allclose(soft_label_kurtosis(probs), stats.kurtosis(probs, axis=1), rtol=1e-9, atol=1e-9)


def test_kurtosis_of_certain_and_of_undecided_people() -> None:
    for k in range(3, 12):
        one_hot = (k * k - 3 * k + 3) / (k - 1) - 3
        assert soft_label_kurtosis(np.eye(k))[0] == pytest.approx(one_hot, abs=1e-12)
    found = soft_label_kurtosis([[0.9, 0.1], [0.5, 0.5], [1.0, 0.0]])
    np.testing.assert_allclose(found, [-2, math.nan, -2], atol=1e-12)


def test_groups_and_tests_are_those_of_the_items() -> None:
    rng = np.random.default_rng(1)
    probs = rng.dirichlet(np.full(5, 0.3), 400)
    sure = probs.max(axis=1)
    right_a, right_b = rng.random((2, 400)) < sure
    groups, tests = by_correctness(probs, right_a, right_b)
    by_name = {"both": right_a & right_b, "only A": right_a & ~right_b, "only B": ~right_a & right_b}
    by_name["none"] = ~(right_a | right_b)
    assert sum(group.n for group in groups) == 400
    for group in groups:
        rows = by_name[group.name]
        assert group.n == rows.sum()
        assert group.kurtosis == pytest.approx(stats.kurtosis(probs[rows], axis=1).mean(), abs=1e-10)
        assert group.entropy == pytest.approx(stats.entropy(probs[rows], axis=1).mean() / math.log(5), abs=1e-10)
    assert len(tests) == 12
    for test in tests:
        values = stats.kurtosis(probs, axis=1) if test.measure == "kurtosis" else stats.entropy(probs, axis=1)
        x, y = values[by_name[test.first]], values[by_name[test.second]]
        u, p = stats.mannwhitneyu(x, y, alternative="two-sided")
        assert (test.share, test.p_value) == pytest.approx((u / (len(x) * len(y)), p), abs=1e-10)
    both_against_none = next(t for t in tests if (t.first, t.second, t.measure) == ("both", "none", "kurtosis"))
    assert both_against_none.share > 0.6
    assert both_against_none.p_value < 0.001


def test_the_share_is_how_often_the_first_is_above_the_second() -> None:
    labels = [[0.7, 0.2, 0.1, 0.0], [1.0, 0.0, 0.0, 0.0], [0.4, 0.3, 0.2, 0.1], [0.25] * 4]
    _, tests = by_correctness(labels, [1, 1, 0, 0], [1, 1, 0, 0])
    by = {(test.measure, test.first, test.second): test for test in tests}
    # The uniform label has no kurtosis, but it has an entropy.
    assert by["kurtosis", "both", "none"].share == 1.0
    assert by["entropy", "both", "none"].share == 0.0
    assert by["entropy", "both", "none"].p_value == pytest.approx(1 / 3, abs=1e-12)
    assert math.isnan(by["kurtosis", "both", "only A"].p_value)


def test_items_that_are_all_alike_do_not_differ() -> None:
    _, tests = by_correctness(np.tile([0.5, 0.3, 0.2], (20, 1)), [1] * 10 + [0] * 10, [1] * 10 + [0] * 10)
    alike = next(test for test in tests if (test.first, test.second) == ("both", "none"))
    assert (alike.share, alike.p_value) == (0.5, 1.0)


def test_what_is_neither_right_nor_wrong_is_refused() -> None:
    with pytest.raises(InputError, match="0 or 1"):
        by_correctness([[0.5, 0.5]], [0.3], [1])
    with pytest.raises(InputError, match="2 items"):
        by_correctness([[0.5, 0.5], [1.0, 0.0]], [1], [1])
    with pytest.raises(InputError, match="shape"):
        soft_label_kurtosis([0.5, 0.5])


def test_gaps_come_in_order_and_by_name_where_they_tie() -> None:
    people = SoftLabels([[1, 0], [1, 0], [0.5, 0.5], [0, 1]], items=["d", "c", "b", "a"], classes=["x", "y"])
    guess = SoftLabels([[0, 1], [0, 1], [0.5, 0.5], [0.4, 0.6]], items=["d", "c", "b", "a"], classes=["x", "y"])
    turned = people.with_classes(["y", "x"]).take(["a", "b", "c", "d"])
    found = largest_gaps(guess, turned, most=3)
    assert [gap.item for gap in found] == ["c", "d", "a"]
    assert found[0].value == pytest.approx(math.log(2))
    assert (found[2].people.tolist(), found[2].predicted.tolist()) == ([0.0, 1.0], [0.4, 0.6])
    assert [gap.item for gap in largest_gaps(guess, people, metric="soft_accuracy_score", most=2)] == ["c", "d"]
    with pytest.raises(OptionError, match="metric"):
        largest_gaps(guess, people, metric="accuracy_score")
    with pytest.raises(OptionError, match="most"):
        largest_gaps(guess, people, most=0)


def test_labels_that_differ_in_the_order_of_their_classes_alone_do_not_differ() -> None:
    # Of three numbers the kurtosis is always −1.5, and its last digits depend on their order.
    rng = np.random.default_rng(3)
    probs = rng.dirichlet(np.ones(3), 400)
    order = np.argsort(probs, axis=1)
    groups, tests = by_correctness(probs, order[:, 0] == 0, order[:, 1] == 0)
    assert all(group.kurtosis == pytest.approx(-1.5) for group in groups if group.n)
    found = [test for test in tests if test.measure == "kurtosis" and not math.isnan(test.p_value)]
    assert found
    assert all((test.share, test.p_value) == (0.5, 1.0) for test in found)
    four = np.array([0.4, 0.3, 0.2, 0.1])
    shuffled = np.array([rng.permutation(four) for _ in range(200)])
    _, tests = by_correctness(shuffled, shuffled[:, 0] > 0.25, np.ones(200))
    assert {test.share for test in tests if not math.isnan(test.share)} == {0.5}
