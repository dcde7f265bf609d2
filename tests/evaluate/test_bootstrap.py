"""Draws against what multinomial counts must be; intervals against formulas, other programs and their own promise."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from sfumato.errors import InputError, OptionError
from sfumato.evaluate.bootstrap import (
    bootstrap_interval,
    bootstrap_samples,
    interval_of,
    resampled_numbers,
    resampled_rows,
)
from sfumato.evaluate.draws import drawn_counts, drawn_runs, resampled_means
from sfumato.evaluate.expected_calibration import expected_calibration_error
from sfumato.evaluate.f1 import f1_score
from sfumato.evaluate.sums import Sums, accuracy_sums, calibration_sums, correlation_sums, f1_sums, mean_sums


def all_counts(n_items: int, resamples: int, seed: int) -> np.ndarray:
    return np.vstack(list(drawn_counts(n_items, resamples=resamples, seed=seed)))


@pytest.mark.parametrize("n_items", [1, 2, 7, 4095, 4096, 70_001])
def test_each_resample_draws_as_many_items_as_there_are(n_items: int) -> None:
    counts = all_counts(n_items, 40, seed=3)
    assert counts.shape == (40, n_items)
    assert (counts.sum(axis=1, dtype=np.int64) == n_items).all()


@pytest.mark.parametrize(("n_items", "resamples"), [(500, 4000), (5000, 400)])
def test_counts_are_binomial_and_hang_together_as_in_the_multinomial(n_items: int, resamples: int) -> None:
    counts = all_counts(n_items, resamples, seed=8).astype(np.int64)
    seen = np.bincount(counts.ravel(), minlength=8)[:7]
    wanted = stats.binom.pmf(np.arange(7), n_items, 1 / n_items) * counts.size
    # Two million counts: five standard deviations of each.
    assert np.abs(seen - wanted).max() < 5 * math.sqrt(counts.size * 0.25)
    assert (np.abs(seen - wanted) < 5 * np.sqrt(wanted + 1)).all()
    # Any set of items is drawn Binomial(n, share) times, which a wrong sum of the row would break.
    part = counts[:, : n_items // 4].sum(axis=1)
    assert part.mean() == pytest.approx(n_items / 4, abs=5 * math.sqrt(n_items * 3 / 16 / resamples))
    assert part.var() == pytest.approx(n_items * 3 / 16, rel=5 * math.sqrt(2 / resamples))


def test_a_row_with_too_many_draws_is_drawn_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    # With a rate of 1 half of the rows have too many, which happens to one in thirty thousand otherwise.
    monkeypatch.setattr(
        "sfumato.evaluate.draws._poisson", lambda rng, size, rate: rng.poisson(1.0, size).astype(np.uint8)
    )
    counts = all_counts(5000, 200, seed=0)
    assert (counts.sum(axis=1, dtype=np.int64) == 5000).all()
    assert counts.astype(np.float64).var() == pytest.approx(1 - 1 / 5000, rel=0.01)


@settings(max_examples=25, deadline=None)
@given(n_items=st.integers(1, 60), n_columns=st.integers(1, 40), resamples=st.integers(1, 50), seed=st.integers(0, 99))
def test_means_equal_the_means_of_the_rows_drawn(n_items: int, n_columns: int, resamples: int, seed: int) -> None:
    values = np.random.default_rng(seed).normal(size=(n_items, n_columns)) * 10.0 ** np.arange(-5, n_columns - 5)
    means = resampled_means(values, resamples=resamples, seed=seed)
    slow = [
        [math.fsum(count * value for count, value in zip(row, column, strict=True)) / n_items for column in values.T]
        for row in all_counts(n_items, resamples, seed).tolist()
    ]
    np.testing.assert_allclose(
        means / np.abs(values).max(axis=0), slow / np.abs(values).max(axis=0), rtol=0, atol=1e-12
    )


def test_means_of_many_items_equal_those_of_the_counts() -> None:
    values = np.random.default_rng(1).random((50_000, 3))
    np.testing.assert_allclose(
        resampled_means(values, resamples=50, seed=4), all_counts(50_000, 50, 4) @ values / 50_000, rtol=0, atol=1e-11
    )


def test_the_same_seed_gives_the_same_bits_alone_or_beside_others(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(1).random((30_000, 40))
    whole = resampled_means(values, resamples=100, seed=4)
    np.testing.assert_array_equal(whole[:, 7:8], resampled_means(values[:, 7:8], resamples=100, seed=4))
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    np.testing.assert_array_equal(whole, resampled_means(values, resamples=100, seed=4))
    monkeypatch.setattr("sfumato.evaluate.draws._TILE_ITEMS", 333)
    np.testing.assert_array_equal(whole, resampled_means(values, resamples=100, seed=4))
    assert (whole[:, 0] != resampled_means(values[:, :1], resamples=100, seed=5)[:, 0]).all()


def test_an_infinite_value_counts_only_where_its_item_is_drawn() -> None:
    values = np.array([[math.inf, 1.0], [0.0, 2.0], [4.0, 3.0]])
    means = resampled_means(values, resamples=300, seed=0)
    drawn = all_counts(3, 300, 0)[:, 0] > 0
    assert 0.5 < drawn.mean() < 0.9
    assert np.isposinf(means[drawn, 0]).all()
    assert np.isfinite(means[~drawn, 0]).all()
    assert np.isfinite(means[:, 1]).all()


@pytest.mark.parametrize("bad", [[[math.nan]], [1.0], np.zeros((0, 2))])
def test_values_that_have_no_mean_are_refused(bad: object) -> None:
    with pytest.raises(InputError):
        resampled_means(bad)  # type: ignore[arg-type]


def test_wrong_options_are_refused() -> None:
    with pytest.raises(OptionError, match="resamples"):
        bootstrap_interval([1.0, 2.0], resamples=0)
    with pytest.raises(OptionError, match="level"):
        bootstrap_interval([1.0, 2.0], level=95)
    with pytest.raises(OptionError, match="method"):
        bootstrap_interval([1.0, 2.0], method="bca")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="same items"):
        resampled_numbers({"a": [mean_sums([1.0])], "b": [mean_sums([1.0, 2.0])]})


def test_runs_keep_their_variance() -> None:
    runs = np.array([0.0, 1.0, 5.0])
    means = drawn_runs(3, resamples=100_000, seed=0) @ runs
    assert means.mean() == pytest.approx(2, abs=0.02)
    assert means.var() == pytest.approx(runs.var(ddof=1) / 3, rel=0.02)
    assert drawn_runs(2, resamples=100, seed=0).sum(axis=1).tolist() == [1.0] * 100


def test_an_interval_of_a_mean_is_what_scipy_finds() -> None:
    values = np.random.default_rng(5).exponential(size=800)
    ours = bootstrap_interval(values, resamples=20_000)
    theirs = stats.bootstrap((values,), np.mean, n_resamples=20_000, method="percentile", rng=1, batch=500)
    error = values.std() / math.sqrt(800)
    assert ours.low == pytest.approx(theirs.confidence_interval.low, abs=0.06 * error)
    assert ours.high == pytest.approx(theirs.confidence_interval.high, abs=0.06 * error)
    basic = bootstrap_interval(values, resamples=20_000, method="basic")
    assert (basic.low, basic.high) == pytest.approx((2 * ours.value - ours.high, 2 * ours.value - ours.low), abs=1e-12)


def test_intervals_hold_the_true_mean_as_often_as_they_say() -> None:
    rng = np.random.default_rng(2)
    held = 0
    for trial in range(600):
        found = bootstrap_interval(rng.random(100), resamples=400, seed=trial, level=0.9)
        held += found.low <= 0.5 <= found.high
    assert held / 600 == pytest.approx(0.9, abs=0.04)


def test_intervals_over_runs_and_items_hold_the_true_mean_where_those_over_items_do_not() -> None:
    rng = np.random.default_rng(3)
    both = items_only = 0
    for trial in range(400):
        item, run = rng.normal(size=60), rng.normal(size=(8, 1)) * 0.3
        values = item + run + rng.normal(size=(8, 60)) * 0.3
        found = bootstrap_interval(values, resamples=400, seed=trial)
        both += found.low <= 0 <= found.high
        found = bootstrap_interval(values.mean(axis=0), resamples=400, seed=trial)
        items_only += found.low <= 0 <= found.high
    assert both / 400 == pytest.approx(0.94, abs=0.03)
    assert items_only / 400 < 0.91


def sums_and_rows(seed: int, n_items: int) -> dict[str, tuple[Sums, object]]:
    """Return numbers as sums, and as functions of the rows that somebody else computes."""
    rng = np.random.default_rng(seed)
    n_classes = int(rng.integers(2, 6))
    q = rng.dirichlet(np.full(n_classes, 0.7), n_items)
    p = rng.dirichlet(np.full(n_classes, 0.7), n_items)
    gold, guess = p.argmax(axis=1), q.argmax(axis=1)
    x, y = stats.entropy(q, axis=1), stats.entropy(p, axis=1)
    one_hot = np.eye(n_classes)[gold]
    return {
        "accuracy": (accuracy_sums(guess, gold), lambda rows: float((guess[rows] == gold[rows]).mean())),
        "macro": (
            f1_sums(guess, gold, n_classes=n_classes),
            lambda rows: f1_score(q[rows], gold[rows]),
        ),
        "weighted": (
            f1_sums(guess, gold, n_classes=n_classes, average="weighted"),
            lambda rows: f1_score(q[rows], gold[rows], average="weighted"),
        ),
        "micro": (
            f1_sums(guess, gold, n_classes=n_classes, average="micro"),
            lambda rows: f1_score(q[rows], gold[rows], average="micro"),
        ),
        "correlation": (correlation_sums(x, y), lambda rows: float(np.corrcoef(x[rows], y[rows])[0, 1])),
        "calibration": (
            calibration_sums(q.max(axis=1), one_hot[np.arange(n_items), guess], n_bins=10),
            lambda rows: expected_calibration_error(q[rows], gold[rows], n_bins=10),
        ),
    }


@pytest.mark.parametrize("seed", range(6))
def test_numbers_of_resampled_sums_are_those_of_resampled_rows(seed: int) -> None:
    for name, (sums, function) in sums_and_rows(seed, 200).items():
        assert sums.value == pytest.approx(function(np.arange(200)), abs=1e-10), name  # type: ignore[operator]
        fast = bootstrap_samples(sums, resamples=60, seed=seed)
        slow = resampled_rows(function, 200, resamples=60, seed=seed)  # type: ignore[arg-type]
        np.testing.assert_allclose(fast, slow, rtol=0, atol=1e-10, err_msg=name)


def test_f1_agrees_with_scikit_learn_where_classes_are_missing() -> None:
    from sklearn import metrics

    rng = np.random.default_rng(0)
    for _ in range(50):
        guess, gold = rng.integers(0, 5, 7), rng.integers(0, 5, 7)
        for average in ("macro", "weighted", "micro"):
            ours = f1_sums(guess, gold, n_classes=5, average=average).value  # type: ignore[arg-type]
            assert ours == pytest.approx(metrics.f1_score(gold, guess, average=average, zero_division=0), abs=1e-12)


def test_a_correlation_without_spread_is_no_number() -> None:
    assert math.isnan(correlation_sums([0.5, 0.5], [0.1, 0.9]).value)
    assert interval_of(np.array([math.nan, 1.0, 1.0]), 1.0) == (1.0, 1.0)
    assert all(map(math.isnan, interval_of(np.array([1.0]), math.nan)))


def test_numbers_of_all_systems_see_the_same_items(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    x = rng.random(300)
    systems = {"x": [mean_sums(x)], "one less": [mean_sums(1 - x)], "runs": [mean_sums(x), mean_sums(1 - x)]}
    found = resampled_numbers(systems, resamples=200, seed=1)
    np.testing.assert_allclose(found["x"] + found["one less"], 1, atol=1e-12)
    # Of two runs one is drawn, so each resample shows one of them.
    shown = np.minimum(np.abs(found["runs"] - found["x"]), np.abs(found["runs"] - found["one less"]))
    assert shown.max() < 1e-12
    monkeypatch.setattr("sfumato.evaluate.bootstrap._TOGETHER", 1)
    for key, samples in resampled_numbers(systems, resamples=200, seed=1).items():
        np.testing.assert_array_equal(samples, found[key])


def test_a_generator_as_seed_moves_on() -> None:
    rng = np.random.default_rng(0)
    first, second = (bootstrap_samples([0.0, 1.0, 2.0], resamples=50, seed=rng) for _ in range(2))
    assert (first != second).any()
