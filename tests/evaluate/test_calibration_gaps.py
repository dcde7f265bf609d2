"""Gaps against the metrics they are the size of, and intervals of calibration errors against their own promise."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato import Predictions
from sfumato.core.gold import Gold
from sfumato.evaluate.adaptive_calibration import adaptive_rms_calibration_error
from sfumato.evaluate.bootstrap import bootstrap_samples
from sfumato.evaluate.calibration_gaps import Gaps, GapSamples, class_gaps, count_gaps, resampled_gaps, width_gaps
from sfumato.evaluate.classwise_calibration import classwise_calibration_error
from sfumato.evaluate.compare_systems import evaluate
from sfumato.evaluate.expected_calibration import expected_calibration_error
from sfumato.evaluate.sums import calibration_sums

Draw = Callable[[np.random.Generator, int], tuple[np.ndarray, np.ndarray]]


def samples_of(*runs: Gaps, resamples: int = 200, seed: int = 0) -> GapSamples:
    moved = resampled_gaps({"": list(runs)}, resamples=resamples, seed=seed)[""]
    weights = np.full((resamples, len(runs)), 1 / len(runs))
    return GapSamples([run.size for run in runs], [run.means for run in runs], moved, weights)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 9999), n_items=st.integers(1, 60), bin_size=st.integers(1, 20), decimals=st.integers(0, 3),
    soft=st.booleans(),
)  # fmt: skip
def test_the_size_of_the_gaps_is_the_metric(seed: int, n_items: int, bin_size: int, decimals: int, soft: bool) -> None:
    rng = np.random.default_rng(seed)
    # Few decimals, so that many items are equally sure.
    q = rng.dirichlet(np.ones(3), n_items).round(decimals) + 0.1
    q /= q.sum(axis=1, keepdims=True)
    labels: Any = rng.dirichlet(np.ones(3), n_items) if soft else rng.integers(0, 3, n_items)
    top = q.argmax(axis=1)
    right = labels[np.arange(n_items), top] if soft else (labels == top).astype(float)
    made = {
        "width": (width_gaps(q.max(axis=1), right), expected_calibration_error(q, labels)),
        "count": (
            count_gaps(q.max(axis=1), right, bin_size=bin_size),
            adaptive_rms_calibration_error(q, labels, bin_size=bin_size),
        ),
        "class": (class_gaps(q, labels), classwise_calibration_error(q, labels)),
    }
    for name, (gaps, value) in made.items():
        assert gaps.size(gaps.means[None])[0] == pytest.approx(value, abs=1e-12), name


def test_resamples_are_those_of_the_sums() -> None:
    rng = np.random.default_rng(0)
    sure, right = rng.random(300), (rng.random(300) < 0.5).astype(float)
    slow = bootstrap_samples(calibration_sums(sure, right), resamples=100, seed=4)
    np.testing.assert_allclose(samples_of(width_gaps(sure, right), resamples=100, seed=4).numbers, slow, atol=1e-12)


def constant(confidence: float, accuracy: float) -> Draw:
    return lambda rng, n: (np.full(n, confidence), (rng.random(n) < accuracy).astype(float))


def model(a: float, b: float, slope: float) -> Draw:
    """Return a model that is sure by a beta distribution, and right by *slope* less than that."""

    def draw(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
        sure = 0.34 + 0.66 * rng.beta(a, b, n)
        return sure, (rng.random(n) < 0.5 + slope * (sure - 0.5)).astype(float)

    return draw


@pytest.mark.parametrize(
    ("draw", "make"),
    [
        (constant(0.8, 0.8), width_gaps),
        (constant(0.8, 0.77), width_gaps),
        (constant(0.8, 0.77), count_gaps),
        (model(2, 1, 1), width_gaps),
        (model(2, 1, 0.7), width_gaps),
        (model(2, 1, 0.7), count_gaps),
        (model(9, 1, 0.9), width_gaps),
    ],
)
def test_intervals_of_calibration_errors_hold_the_truth(draw: Draw, make: Callable[..., Gaps]) -> None:
    """Mirrored quantiles hold it in 43 to 95 of a hundred of these cases."""
    rng = np.random.default_rng(1)
    many = make(*draw(rng, 400_000)) if make is width_gaps else count_gaps(*draw(rng, 400_000), bin_size=100_000)
    truth = float(many.size(many.means[None])[0])
    held = 0
    for trial in range(100):
        gaps = make(*draw(rng, 400))
        low, high = samples_of(gaps, seed=trial).interval(0.95)
        assert low < float(gaps.size(gaps.means[None])[0]) < high
        held += low <= truth + 1e-3 and truth - 1e-3 <= high
    assert held >= 90


def test_differences_of_calibration_errors_stay_within_what_is_possible() -> None:
    items = tuple(map(str, range(12)))
    sure = Predictions([[0.99, 0.01]] * 12, items=items, classes=("x", "y"))
    unsure = Predictions([[0.51, 0.49]] * 12, items=items, classes=("x", "y"))
    wrong = Gold(items, np.ones(12, dtype=int), ("x", "y"))
    report = evaluate({"A": sure, "B": unsure}, gold=wrong, metrics=["expected_calibration_error"], resamples=50)
    (row,) = report.details["comparisons"]
    assert -1 <= row["low"] <= row["difference"] <= row["high"] <= 1
    rng = np.random.default_rng(0)
    for trial in range(20):
        gold = Gold(items, rng.integers(0, 2, 12), ("x", "y"))
        report = evaluate({"A": sure, "B": unsure}, gold=gold, resamples=50, seed=trial)
        row = next(row for row in report.details["comparisons"] if row["metric"] == "expected_calibration_error")
        assert -1 <= row["low"] < row["difference"] < row["high"] <= 1


def test_runs_that_differ_widen_the_interval() -> None:
    rng = np.random.default_rng(0)
    runs = [width_gaps(*constant(0.8, accuracy)(rng, 300)) for accuracy in (0.8, 0.6, 0.4)]
    alone = samples_of(*runs)
    weights = rng.multinomial(2, [1 / 3] * 3, 200) / 2
    both = GapSamples(alone.size, alone.means, alone.moved, weights)
    assert np.ptp(both.interval(0.95)) > 2 * np.ptp(alone.interval(0.95))
    assert (
        both.value
        == pytest.approx(alone.value)
        == pytest.approx(np.mean([run.size(run.means[None])[0] for run in runs]))
    )
    assert math.isclose(both.numbers.mean(), both.value, rel_tol=0.1)
