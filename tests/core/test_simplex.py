"""The mathematics of distributions, against sums in exact and long arithmetic, and at the borders."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.core import simplex
from sfumato.core.simplex import (
    check_simplex,
    cross_entropy,
    entropy,
    jensen_shannon_divergence,
    kl_divergence,
    log_softmax,
    normalise,
    softmax,
    temper,
)
from sfumato.errors import InputError

edge = st.sampled_from([0.0, 0.0, 1.0, 5e-324, 1e-300, 0.5]) | st.floats(0, 1)
mass = st.lists(edge, min_size=2, max_size=5)


def distribution(values: list[float]) -> np.ndarray:
    array = np.array(values)
    return array / array.sum() if array.sum() > 1e-3 else np.eye(len(array))[0]


def exact_log(value: float) -> Decimal:
    return Decimal(value).ln()


def slow_kl(p: np.ndarray, q: np.ndarray) -> float:
    with localcontext() as context:
        context.prec = 60
        if any(a > 0 and b == 0 for a, b in zip(p, q, strict=True)):
            return math.inf
        return float(sum(Decimal(a) * (exact_log(a) - exact_log(b)) for a, b in zip(p, q, strict=True) if a > 0))


def slow_js(p: np.ndarray, q: np.ndarray) -> float:
    with localcontext() as context:
        context.prec = 60
        pairs = [
            (Decimal(a), (Decimal(a) + Decimal(b)) / 2) for a, b in [*zip(p, q, strict=True), *zip(q, p, strict=True)]
        ]
        return float(sum(a * (a.ln() - m.ln()) for a, m in pairs if a > 0) / 2)


def slow_entropy(p: np.ndarray) -> float:
    with localcontext() as context:
        context.prec = 60
        return float(-sum(Decimal(a) * exact_log(a) for a in p if a > 0))


def slow_softmax(scores: list[float]) -> list[float]:
    with localcontext() as context:
        context.prec = 60
        terms = [Decimal(score).exp() for score in scores]
        return [float(term / sum(terms)) for term in terms]


def pair(p: list[float], q: list[float]) -> tuple[np.ndarray, np.ndarray]:
    size = min(len(p), len(q))
    return distribution(p[:size]), distribution(q[:size])


# --- softmax ---


@given(scores=st.lists(st.floats(-700, 700), min_size=1, max_size=5))
@settings(max_examples=50, deadline=None)
def test_softmax_and_its_logarithm_equal_long_arithmetic(scores: list[float]) -> None:
    expected = slow_softmax(scores)
    np.testing.assert_allclose(softmax(scores), expected, rtol=1e-12, atol=5e-324)
    logs = log_softmax(scores)
    with localcontext() as context:
        context.prec = 60
        total = sum(Decimal(score).exp() for score in scores).ln()
        np.testing.assert_allclose(logs, [float(Decimal(score) - total) for score in scores], rtol=1e-13, atol=1e-13)


def test_softmax_at_the_borders() -> None:
    assert softmax([0.0, -np.inf]).tolist() == [1.0, 0.0]
    assert softmax([1e300, 1e300, -1e300]).tolist() == [0.5, 0.5, 0.0]
    assert log_softmax([1000.0, 0.0]).tolist() == [0.0, -1000.0]
    assert log_softmax([0.0, -np.inf]).tolist() == [0.0, -np.inf]
    assert softmax([3]).tolist() == [1.0]


def test_softmax_works_along_the_last_axis_and_keeps_float32() -> None:
    scores = np.random.default_rng(0).normal(size=(2, 3, 4))
    by_row = np.array([[slow_softmax(row) for row in block] for block in scores.tolist()])
    np.testing.assert_allclose(softmax(scores), by_row, rtol=1e-14)
    assert softmax(scores.astype(np.float32)).dtype == np.float32
    assert log_softmax(scores.astype(np.float32)).dtype == np.float32
    assert softmax([[1, 2]]).dtype == np.float64


def test_input_is_left_as_it_is() -> None:
    array = np.array([[0.2, 0.8], [1.0, 0.0]])
    before = array.copy()
    for function in (softmax, log_softmax, normalise, entropy):
        function(array)
    for function2 in (kl_divergence, cross_entropy, jensen_shannon_divergence):
        function2(array, array)
    temper(array, 0.5)
    assert np.array_equal(array, before)


# --- normalise ---


def test_normalise_equals_fractions() -> None:
    counts = [[3, 1, 0], [1, 1, 1], [0, 0, 7]]
    expected = [[float(Fraction(count, sum(row))) for count in row] for row in counts]
    assert normalise(counts).tolist() == expected
    assert normalise([[0.0, 0.0, 0.0, 0.0]]).tolist() == [[0.25] * 4]
    assert normalise([0, 2]).tolist() == [0.0, 1.0]
    assert normalise(np.array([1, 3], dtype=np.float32)).tolist() == [0.25, 0.75]


# --- entropy and divergences ---


@given(values=mass)
@settings(max_examples=60, deadline=None)
def test_entropy_equals_long_arithmetic(values: list[float]) -> None:
    p = distribution(values)
    np.testing.assert_allclose(entropy(p), slow_entropy(p), rtol=1e-13, atol=1e-300)
    np.testing.assert_allclose(entropy(p, base=2), slow_entropy(p) / math.log(2), rtol=1e-13, atol=1e-300)
    np.testing.assert_allclose(entropy(p, normalised=True), slow_entropy(p) / math.log(len(p)), rtol=1e-13, atol=1e-300)


def test_entropy_at_the_borders() -> None:
    assert entropy([[1.0, 0.0], [0.5, 0.5]], base=2).tolist() == [0.0, 1.0]
    assert entropy([[1.0], [1.0]], normalised=True).tolist() == [0.0, 0.0]
    assert float(entropy(np.full(8, 0.125), normalised=True)) == pytest.approx(1, abs=1e-15)


@given(p=mass, q=mass)
@settings(max_examples=80, deadline=None)
def test_divergences_equal_long_arithmetic(p: list[float], q: list[float]) -> None:
    first, second = pair(p, q)
    # Rounding of the terms, of which single ones may be much larger than their sum.
    np.testing.assert_allclose(kl_divergence(first, second), max(slow_kl(first, second), 0), rtol=1e-12, atol=2e-15)
    expected = slow_js(first, second)
    np.testing.assert_allclose(jensen_shannon_divergence(first, second), max(expected, 0), rtol=1e-12, atol=2e-15)
    crossed = slow_kl(first, second) + slow_entropy(first)
    np.testing.assert_allclose(cross_entropy(first, second), crossed, rtol=1e-12, atol=2e-15)


@given(p=mass, q=mass)
@settings(max_examples=60, deadline=None)
def test_laws_of_divergences(p: list[float], q: list[float]) -> None:
    first, second = pair(p, q)
    assert float(kl_divergence(first, first)) == 0
    assert float(kl_divergence(first, second)) >= 0
    js = float(jensen_shannon_divergence(first, second))
    assert 0 <= js <= math.log(2)
    assert js == float(jensen_shannon_divergence(second, first))
    assert float(jensen_shannon_divergence(first, first)) == 0


def test_divergences_at_the_borders() -> None:
    assert float(kl_divergence([0.5, 0.5], [1.0, 0.0])) == math.inf
    assert float(kl_divergence([1.0, 0.0], [0.5, 0.5])) == math.log(2)
    assert float(cross_entropy([0.5, 0.5], [1.0, 0.0])) == math.inf
    assert float(cross_entropy([0.0, 1.0], [0.0, 1.0])) == 0
    assert math.copysign(1, float(cross_entropy([1.0, 0.0], [1.0, 0.0]))) == 1
    assert float(cross_entropy([0.5, 0.5], [1.0, 0.0], floor=1e-12)) == pytest.approx(-0.5 * math.log(1e-12), rel=1e-15)
    assert float(jensen_shannon_divergence([1.0, 0.0], [0.0, 1.0])) == math.log(2)
    assert float(jensen_shannon_divergence([1.0, 0.0], [1.0, 5e-324])) == 0


def test_divergences_take_many_rows_and_broadcast() -> None:
    p = np.array([[1.0, 0.0], [0.5, 0.5], [0.25, 0.75]])
    q = np.array([0.5, 0.5])
    for function in (kl_divergence, cross_entropy, jensen_shannon_divergence):
        assert function(p, q).tolist() == [float(function(row, q)) for row in p]
        assert function(p, q).shape == (3,)


# --- temper ---


@given(values=mass, temperature=st.floats(0.05, 20))
@settings(max_examples=60, deadline=None)
def test_tempering_equals_long_arithmetic(values: list[float], temperature: float) -> None:
    p = distribution(values)
    with localcontext() as context:
        context.prec = 60
        terms = [(Decimal(a).ln() / Decimal(temperature)).exp() if a > 0 else Decimal(0) for a in p]
        expected = [float(term / sum(terms)) for term in terms]
    np.testing.assert_allclose(temper(p, temperature), expected, rtol=1e-11, atol=1e-300)
    assert np.array_equal(temper(p, temperature) == 0, (p == 0) | (np.array(expected) == 0))


def test_tempering_at_the_borders() -> None:
    p = [0.4, 0.4, 0.2, 0.0]
    assert temper(p, 0).tolist() == [0.5, 0.5, 0.0, 0.0]
    np.testing.assert_allclose(temper(p, math.inf), [1 / 3, 1 / 3, 1 / 3, 0], rtol=1e-15)
    np.testing.assert_allclose(temper(p, 1), p, rtol=1e-15)
    assert temper([1.0, 0.0], 7.5).tolist() == [1.0, 0.0]
    assert temper([0.5, 0.5, 5e-324], 1).tolist() == [0.5, 0.5, 5e-324]


def test_a_temperature_for_each_row() -> None:
    p = np.array([[0.8, 0.2], [0.8, 0.2]])
    result = temper(p, [0.5, 0.0])
    np.testing.assert_allclose(result, [[16 / 17, 1 / 17], [1, 0]], rtol=1e-14)


@pytest.mark.parametrize("temperature", [-0.1, math.nan])
def test_a_temperature_that_is_none(temperature: float) -> None:
    with pytest.raises(InputError, match="A temperature must be 0 or more"):
        temper([0.5, 0.5], temperature)


# --- the check at the door ---


def test_distributions_pass() -> None:
    check_simplex(np.array([[0.5, 0.5], [1.0, 0.0]]))
    check_simplex(np.zeros((0, 3)))
    check_simplex(np.random.default_rng(0).dirichlet(np.ones(10_000), size=2).astype(np.float32))
    check_simplex(np.array([[0.5, 0.5 + simplex.SUM_TOLERANCE * 0.99]]))


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ([0.5, np.nan], "hold a value that is not a finite number"),
        ([np.inf, 0.0], "hold a value that is not a finite number"),
        ([-np.inf, np.inf], "hold a value that is not a finite number"),
        ([-0.25, 1.25], "hold -0.25; a probability is never negative"),
        ([-1e-9, 1.0], "hold -1e-09; a probability is never negative"),
        ([0.5, 0.4], "sum to 0.9, not to 1"),
        ([0.5, 0.5 + 2e-5], "sum to 1.00002, not to 1"),
        ([3.0, 4.0], r"sum to 7, not to 1.*normalise or softmax"),
    ],
)
def test_the_first_bad_row_is_named(row: list[float], said: str) -> None:
    probs = np.array([[1.0, 0.0], row, [9.0, 9.0]])
    with pytest.raises(InputError, match=f"The probabilities of item in row 2 {said}"):
        check_simplex(probs)
    with pytest.raises(InputError, match=f"The shares of item 'b' {said}"):
        check_simplex(probs, names=["a", "b", "c"], what="shares")


def test_a_table_without_classes_is_no_distribution() -> None:
    with pytest.raises(InputError, match="sum to 0, not to 1"):
        check_simplex(np.zeros((1, 0)))
