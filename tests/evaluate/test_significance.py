"""Tests against textbook cases, other programs, and two thousand comparisons in which nothing differs."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from sfumato.errors import InputError, OptionError
from sfumato.evaluate.bootstrap import resampled_numbers
from sfumato.evaluate.significance import (
    Comparison,
    compare_samples,
    holm,
    mcnemar_test,
    paired_bootstrap_test,
    paired_permutation_test,
)
from sfumato.evaluate.sums import f1_sums, mean_sums

_NULLS = 2000


def null_pair(rng: np.random.Generator, n_items: int, kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the values of two systems that are equally good, on items that are hard or easy for both."""
    if kind == "score":
        chance = rng.beta(4, 2, n_items)
        a, b = (rng.random((2, n_items)) < chance).astype(np.float64)
        return a, b
    hard = rng.gamma(2, 0.3, n_items)
    a, b = hard * rng.gamma(4, 0.25, (2, n_items))
    return a, b


def null_samples(seed: int, kind: str) -> list[tuple[tuple[float, np.ndarray], tuple[float, np.ndarray]]]:
    """Return two thousand pairs of equally good systems, each a mean with its resamples; the draws are shared."""
    rng = np.random.default_rng(seed)
    pairs = [null_pair(rng, 200, kind) for _ in range(_NULLS)]
    systems = {
        (trial, side): [mean_sums(values)] for trial, pair in enumerate(pairs) for side, values in enumerate(pair)
    }
    drawn = resampled_numbers(systems, resamples=1000, seed=seed)
    return [
        ((float(a.mean()), drawn[trial, 0]), (float(b.mean()), drawn[trial, 1])) for trial, (a, b) in enumerate(pairs)
    ]


@pytest.mark.parametrize(("kind", "higher_is_better"), [("score", True), ("loss", False)])
@pytest.mark.parametrize("alternative", ["two-sided", "better"])
def test_five_of_a_hundred_null_comparisons_come_out_significant(
    kind: str, higher_is_better: bool, alternative: Any
) -> None:
    options = {"n_items": 200, "higher_is_better": higher_is_better, "alternative": alternative}
    found = sum(compare_samples(a, b, **options).p_value <= 0.05 for a, b in null_samples(21, kind))
    assert found / _NULLS == pytest.approx(0.05, abs=0.01)


@pytest.mark.parametrize(("kind", "expected"), [("loss", 0.05), ("score", 0.065)])
def test_the_replica_leaves_out_ties_and_errs_more_often_with_accuracies(kind: str, expected: float) -> None:
    found = sum(
        compare_samples(
            a, b, n_items=200, higher_is_better=kind == "score", alternative="better", method="berg_kirkpatrick"
        ).p_value
        < 0.05
        for a, b in null_samples(21, kind)
    )
    assert found / _NULLS == pytest.approx(expected, abs=0.01)


def test_five_of_a_hundred_null_exchanges_come_out_significant() -> None:
    rng = np.random.default_rng(12)
    found = sum(
        paired_permutation_test(*null_pair(rng, 100, "loss"), resamples=199, seed=trial).p_value <= 0.05
        for trial in range(_NULLS)
    )
    assert found / _NULLS == pytest.approx(0.05, abs=0.01)


def test_the_test_of_two_systems_is_that_of_their_samples() -> None:
    a, b = null_pair(np.random.default_rng(0), 200, "loss")
    drawn = resampled_numbers({"a": [mean_sums(a)], "b": [mean_sums(b)]}, resamples=300, seed=5)
    by_hand = compare_samples((a.mean(), drawn["a"]), (b.mean(), drawn["b"]), n_items=200, higher_is_better=False)
    whole = paired_bootstrap_test(a, b, higher_is_better=False, resamples=300, seed=5)
    assert (whole.p_value, whole.low, whole.high, whole.better) == (
        by_hand.p_value, by_hand.low, by_hand.high, by_hand.better
    )  # fmt: skip


def test_the_other_tail_makes_of_five_false_positives_nearly_thirty() -> None:
    """The usual package counts d* > −2d for a loss, which is three times as far out as the data, not once."""
    theirs = sum(
        np.mean(after[1] - before[1] > -2 * (after[0] - before[0])) < 0.05 for after, before in null_samples(4, "loss")
    )
    # Of a normal difference: P(Z > 3z) < 0.05 for z > 0.548.
    assert stats.norm.sf(stats.norm.isf(0.05) / 3) == pytest.approx(0.292, abs=0.001)
    assert theirs / _NULLS == pytest.approx(0.292, abs=0.03)


def test_several_runs_by_chance_better_are_not_taken_for_a_better_system() -> None:
    rng = np.random.default_rng(6)
    over_runs = over_items = 0
    for trial in range(600):
        item = rng.normal(size=150)
        a, b = (item + rng.normal(size=(6, 1)) * 0.1 + rng.normal(size=(6, 150)) * 0.5 for _ in range(2))
        over_runs += paired_bootstrap_test(a, b, resamples=400, seed=trial).p_value <= 0.05
        over_items += paired_bootstrap_test(a.mean(axis=0), b.mean(axis=0), resamples=400, seed=trial).p_value <= 0.05
    assert over_runs / 600 == pytest.approx(0.05, abs=0.02)
    assert over_items / 600 > 0.25


def test_a_real_difference_is_found_and_has_the_right_sign_for_scores_and_losses() -> None:
    rng = np.random.default_rng(0)
    a = rng.random(400)
    b = a + 0.1 + rng.normal(size=400) * 0.2
    score, loss = paired_bootstrap_test(a, b), paired_bootstrap_test(a, b, higher_is_better=False)
    assert score.difference == loss.difference == pytest.approx((a - b).mean())
    assert (score.better, loss.better) == ("B", "A")
    assert score.p_value == loss.p_value == pytest.approx(1 / 10_001)
    assert score.low < score.difference < score.high < 0
    for higher, expected in ((True, 1.0), (False, 0.0)):
        one = paired_bootstrap_test(a, b, higher_is_better=higher, alternative="better")
        replica = paired_bootstrap_test(a, b, higher_is_better=higher, alternative="better", method="berg_kirkpatrick")
        assert one.p_value == pytest.approx(expected, abs=2e-4)
        assert replica.p_value == pytest.approx(expected, abs=1e-4)


def test_the_effect_size_is_the_t_statistic_over_the_root_of_n() -> None:
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(2, 90))
    found = paired_bootstrap_test(a, b, resamples=50)
    assert found.effect_size == pytest.approx(stats.ttest_rel(a, b).statistic / math.sqrt(90), abs=1e-12)
    assert paired_permutation_test(a, b, resamples=50).effect_size == pytest.approx(found.effect_size, abs=1e-12)
    runs = np.stack([a, a + 0.1])
    shifted = paired_bootstrap_test(runs, np.stack([b, b]), resamples=50)
    assert shifted.effect_size == pytest.approx((a + 0.05 - b).mean() / (a - b).std(ddof=1), abs=1e-12)
    assert paired_bootstrap_test([1.0, 1.0], [0.0, 0.0], resamples=9).effect_size == math.inf


def test_equal_systems_do_not_differ() -> None:
    a = np.random.default_rng(0).random(50)
    for found in (
        paired_bootstrap_test(a, a),
        paired_permutation_test(a, a),
        mcnemar_test(a > 0.5, a > 0.5),
    ):
        assert (found.difference, found.p_value, found.effect_size, found.better) == (0, 1, 0, "neither")


def test_the_bootstrap_agrees_with_the_normal_test_on_many_items() -> None:
    rng = np.random.default_rng(2)
    a = rng.random(5000)
    b = a + rng.normal(size=5000) * 0.2 + 0.005
    found = paired_bootstrap_test(a, b, resamples=20_000)
    assert found.p_value == pytest.approx(stats.ttest_rel(a, b).pvalue, abs=0.01)


def test_a_difference_of_f1_is_tested_on_the_same_draws() -> None:
    rng = np.random.default_rng(3)
    gold = rng.integers(0, 3, 500)
    good = np.where(rng.random(500) < 0.8, gold, rng.integers(0, 3, 500))
    bad = np.where(rng.random(500) < 0.5, gold, rng.integers(0, 3, 500))
    found = paired_bootstrap_test(*(f1_sums(guess, gold, n_classes=3) for guess in (good, bad)), resamples=500)
    assert found.better == "A"
    assert found.p_value == pytest.approx(1 / 501)
    assert math.isnan(found.effect_size)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10_000), n_items=st.integers(1, 9), rounded=st.booleans())
def test_few_items_are_exchanged_in_every_way(seed: int, n_items: int, rounded: bool) -> None:
    a, b = np.random.default_rng(seed).normal(size=(2, n_items))
    if rounded:  # so that many patterns tie
        a, b = a.round(), b.round()
    d = (a - b).tolist()
    sums = [
        math.fsum(s * x for s, x in zip(signs, d, strict=True)) for signs in itertools.product((1, -1), repeat=n_items)
    ]
    slow = np.mean([abs(total) >= abs(math.fsum(d)) - 1e-12 for total in sums])
    assert paired_permutation_test(a, b).p_value == pytest.approx(slow, abs=1e-12)
    one_sided = np.mean([total >= math.fsum(d) - 1e-12 for total in sums])
    assert paired_permutation_test(a, b, alternative="better").p_value == pytest.approx(one_sided, abs=1e-12)
    flipped = paired_permutation_test(b, a, alternative="better", higher_is_better=False)
    assert flipped.p_value == pytest.approx(one_sided, abs=1e-12)


def test_many_items_are_exchanged_as_scipy_does() -> None:
    a, b = np.random.default_rng(9).normal(size=(2, 60))
    ours = paired_permutation_test(a, b + 0.25, resamples=20_000)
    theirs = stats.permutation_test(
        (a, b + 0.25), lambda x, y, axis: (x - y).mean(axis=axis), permutation_type="samples",
        vectorized=True, n_resamples=20_000, rng=1,
    )  # fmt: skip
    assert ours.p_value == pytest.approx(theirs.pvalue, abs=0.012)


def test_ties_of_decimal_values_are_ties() -> None:
    # 0.3 − 0.2 is not 0.4 − 0.3 in the computer; every pattern is as large as this one on paper.
    assert paired_permutation_test([0.3, 0.4, 0.1], [0.2, 0.3, 0.2]).p_value == 1.0
    rng = np.random.default_rng(0)
    for n_items in range(2, 10):
        a, b = rng.integers(0, 10, (2, n_items)) / 10
        ours = paired_permutation_test(a, b).p_value
        theirs = stats.permutation_test(
            (a, b), lambda x, y, axis: (x - y).mean(axis=axis).round(12), permutation_type="samples", vectorized=True
        )
        assert ours == pytest.approx(min(theirs.pvalue, 1), abs=1e-12)


@pytest.mark.parametrize("n_items", [1, 2, 5, 9])
def test_the_bootstrap_says_nothing_of_too_few_items(n_items: int) -> None:
    a, b = np.random.default_rng(0).random((2, n_items))
    for options in ({}, {"alternative": "better"}, {"alternative": "better", "method": "berg_kirkpatrick"}):
        found = paired_bootstrap_test(a, b, resamples=50, **options)  # type: ignore[arg-type]
        assert math.isnan(found.p_value)
        assert math.isnan(found.low) is math.isnan(found.high) is (n_items == 1)
    several = paired_bootstrap_test(np.tile(a, (3, 1)), np.tile(b, (3, 1)), resamples=50)
    assert math.isnan(several.p_value)
    assert not math.isnan(paired_bootstrap_test(np.arange(10.0), np.zeros(10), resamples=50).p_value)


def test_exact_exchange_of_right_and_wrong_is_mcnemars_test() -> None:
    a = np.array([1.0] * 11 + [0.0] * 3 + [1.0] * 20)
    b = np.array([0.0] * 11 + [1.0] * 3 + [1.0] * 20)
    exact = mcnemar_test(a, b).p_value
    assert exact == pytest.approx(2 * sum(math.comb(14, k) for k in range(4)) / 2**14, abs=1e-15)
    assert paired_permutation_test(a, b).p_value == pytest.approx(exact, abs=1e-15)


def test_mcnemar_never_errs_too_often() -> None:
    rng = np.random.default_rng(5)
    found = sum(mcnemar_test(*null_pair(rng, 200, "score")).p_value <= 0.05 for _ in range(_NULLS))
    assert 0.02 < found / _NULLS <= 0.055


@settings(max_examples=100, deadline=None)
@given(p_values=st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_is_what_its_steps_say(p_values: list[float]) -> None:
    corrected = holm(p_values)
    # Holm rejects at level α, step by step, until the first that is not small enough.
    for level in (0.01, 0.05, 0.3, 1.0):
        rejected = set()
        for step, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
            if p_values[place] * (len(p_values) - step) > level:
                break
            rejected.add(place)
        assert rejected == set(np.flatnonzero(corrected <= level)) or level == 1.0
    assert (corrected >= p_values).all()


def test_holm_leaves_out_what_is_no_number() -> None:
    np.testing.assert_allclose(holm([0.02, math.nan, 0.03]), [0.04, math.nan, 0.04])
    assert holm([]).tolist() == []
    with pytest.raises(InputError):
        holm([1.2])


def test_wrong_input_is_refused() -> None:
    with pytest.raises(OptionError, match="alternative"):
        paired_bootstrap_test([1.0], [1.0], alternative="less")  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="one side only"):
        paired_bootstrap_test([1.0], [1.0], method="berg_kirkpatrick")
    with pytest.raises(InputError, match="same items"):
        paired_bootstrap_test([1.0], [1.0, 2.0])
    with pytest.raises(InputError, match="same items"):
        paired_permutation_test([1.0], [1.0, 2.0])
    with pytest.raises(InputError, match="finite"):
        paired_permutation_test([math.inf], [1.0])
    with pytest.raises(InputError, match="0 or 1"):
        mcnemar_test([0.5], [1.0])
    with pytest.raises(OptionError, match="resamples"):
        paired_permutation_test(np.zeros(3), np.ones(3), resamples=0)


def test_the_same_seed_gives_the_same_bits() -> None:
    a, b = np.random.default_rng(1).random((2, 3, 300))

    def twice(seed: int) -> Comparison:
        return paired_bootstrap_test(a, b, resamples=200, seed=seed)

    assert twice(1) == twice(1)
    assert twice(1) != twice(2)
