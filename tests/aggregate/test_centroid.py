"""The Jensen–Shannon centroid against its optimality conditions, closed forms and another iteration."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

from sfumato.aggregate import centroid_solver
from sfumato.aggregate.centroid import centroid
from sfumato.aggregate.centroid_solver import centroids
from sfumato.core.simplex import jensen_shannon_divergence
from sfumato.core.soft_labels import SoftLabels
from sfumato.errors import ConvergenceWarning, OptionError

Floats = NDArray[np.float64]


def _kkt_residual(q: Floats, views: list[Floats], weights: Floats) -> Floats:
    """max_k |g_k − μ| of each item in extended precision, by the conditions themselves; shape (n_items,)."""
    wide = q.astype(np.longdouble)
    live = np.maximum.reduce(views) > 0
    g = np.zeros(q.shape, dtype=np.longdouble)
    for view, weight in zip(views, weights, strict=True):
        ratio = np.where(live, 2 * wide / np.where(live, wide + view, 1), 1)
        g += weight * np.log(ratio)
    mu = (wide * g).sum(axis=1, keepdims=True)
    return np.abs(np.where(live, g - mu, 0)).max(axis=1).astype(np.float64)


def _dirichlet(n_views: int, n_items: int, n_classes: int, alpha: float, seed: int = 0) -> list[Floats]:
    rng = np.random.default_rng(seed)
    return [rng.dirichlet(np.full(n_classes, alpha), n_items) for _ in range(n_views)]


def _one_hot(n_views: int, n_items: int, n_classes: int, seed: int = 1) -> list[Floats]:
    rng = np.random.default_rng(seed)
    return [np.eye(n_classes)[rng.integers(0, n_classes, n_items)] for _ in range(n_views)]


def _softmaxed(scale: float) -> list[Floats]:
    rng = np.random.default_rng(2)
    scores = [rng.normal(0, scale, (500, 5)) for _ in range(4)]
    exps = [np.exp(score - score.max(axis=1, keepdims=True)) for score in scores]
    return [exp / exp.sum(axis=1, keepdims=True) for exp in exps]


_CASES = {
    "interior": (_dirichlet(4, 500, 10, 1.0), None),
    "near the border": (_dirichlet(4, 500, 10, 0.05), None),
    "weighted": (_dirichlet(4, 500, 10, 0.05), [5, 1, 1, 0.1]),
    "one-hot": (_one_hot(4, 500, 5), None),
    "one-hot, weighted": (_one_hot(4, 500, 5), [1, 2, 3, 4]),
    "one-hot and soft": (_one_hot(2, 500, 5) + _dirichlet(2, 500, 5, 0.1), None),
    "identical": ([_dirichlet(1, 500, 10, 0.1)[0]] * 5, None),
    "identical one-hot": ([_one_hot(1, 50, 10)[0]] * 3, [1, 2, 3]),
    "two classes": (_dirichlet(2, 500, 2, 0.1), None),
    "two classes, two one-hot": (_one_hot(2, 50, 2), [0.97, 0.03]),
    "fifty views": (_dirichlet(50, 100, 10, 0.05), None),
    "fifty views, weighted": (_dirichlet(50, 100, 10, 0.05), np.arange(1, 51)),
    "ten thousand classes": (_dirichlet(4, 4, 10_000, 0.1), None),
    "steep softmax": (_softmaxed(30.0), None),
    "steep softmax, weighted": (_softmaxed(60.0), [1, 2, 3, 4]),
    "one class": ([np.ones((3, 1))] * 2, None),
}


@pytest.fixture(params=[False, True], ids=["quickly", "safely"])
def either_way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run a test twice: as it is, and with every item sent to the iteration that cannot fail."""
    if request.param:
        monkeypatch.setattr(centroid_solver, "_MOST_STEPS", 0)


@pytest.mark.usefixtures("either_way")
@pytest.mark.parametrize("case", _CASES)
def test_every_item_meets_the_optimality_conditions(case: str) -> None:
    _check(*_CASES[case])


def test_fifty_views_of_ten_thousand_classes_meet_them_too() -> None:
    _check(_dirichlet(50, 2, 10_000, 0.01), None)


def _check(views: list[Floats], given: ArrayLike | None) -> None:
    weights = np.full(len(views), 1 / len(views)) if given is None else np.array(given) / np.sum(given)
    found = centroids(views, weights)
    residual = _kkt_residual(found.probs, views, weights)
    assert residual.max() <= 1e-9
    assert found.residuals.max() <= 1e-9
    # What is told of each item is a bound on what is found, up to the rounding of the shares themselves.
    assert (residual <= found.residuals + 1e-13).all()
    np.testing.assert_allclose(found.probs.sum(axis=1), 1, rtol=0, atol=1e-13)
    live = np.maximum.reduce(views) > 0
    assert (found.probs[~live] == 0).all()
    assert (found.probs[live] > 0).all()


def test_the_check_of_the_conditions_can_fail() -> None:
    views = _dirichlet(3, 50, 4, 1.0)
    weights = np.full(3, 1 / 3)
    moved = centroids(views, weights).probs * [1 + 1e-7, 1, 1, 1]
    assert _kkt_residual(moved / moved.sum(axis=1, keepdims=True), views, weights).min() > 1e-9
    assert _kkt_residual(np.mean(views, axis=0), views, weights).min() > 1e-4


def test_closed_forms() -> None:
    def joined(*views: list[float]) -> list[float]:
        found = centroids([np.array([view]) for view in views], np.full(len(views), 1 / len(views)))
        return found.probs[0].tolist()

    assert joined([1, 0, 0], [0, 1, 0]) == pytest.approx([0.5, 0.5, 0], abs=1e-15)
    assert joined([0.2, 0.8], [0.2, 0.8]) == pytest.approx([0.2, 0.8], abs=1e-15)
    assert joined([0.9, 0.1], [0.1, 0.9]) == pytest.approx([0.5, 0.5], abs=1e-15)
    # 4 q² / ((q + 1)(q + ½)) = 4 (1 − q)² / ((1 − q)(1½ − q)) gives 4 q² − 2 q − 1 = 0.
    assert joined([1, 0], [0.5, 0.5])[0] == pytest.approx((1 + math.sqrt(5)) / 4, abs=1e-13)


def _cccp(views: list[Floats], weights: Floats) -> Floats:
    """The fixed point of Nielsen (2020), in its class-symmetric form, by thousands of steps."""
    q = np.average(views, axis=0, weights=weights)
    for _ in range(20_000):
        logs = sum(weight * np.log((q + view) / 2) for view, weight in zip(views, weights, strict=True))
        new = np.exp(logs)
        new /= new.sum(axis=1, keepdims=True)
        if np.abs(new - q).max() < 1e-15:
            break
        q = new
    return q


def test_against_the_convex_concave_procedure() -> None:
    views, weights = _dirichlet(4, 200, 6, 0.5, seed=5), np.array([0.1, 0.2, 0.3, 0.4])
    np.testing.assert_allclose(centroids(views, weights).probs, _cccp(views, weights), rtol=0, atol=1e-11)


@pytest.mark.parametrize("alpha", [1.0, 0.05])
def test_no_neighbour_is_nearer_to_the_views(alpha: float) -> None:
    views, weights = _dirichlet(3, 200, 5, alpha, seed=6), np.array([0.5, 0.3, 0.2])
    rng = np.random.default_rng(0)

    def distance(q: Floats) -> Floats:
        return sum(w * jensen_shannon_divergence(view, q) for view, w in zip(views, weights, strict=True))  # type: ignore[return-value]

    q = centroids(views, weights).probs
    for size in (1e-3, 1e-2, 0.3):
        other = (1 - size) * q + size * rng.dirichlet(np.ones(5), len(q))
        assert (distance(other) > distance(q)).all()


@pytest.mark.usefixtures("either_way")
def test_an_item_has_the_same_bits_alone_and_among_others() -> None:
    views = [*_dirichlet(3, 300, 10, 0.1), *_one_hot(1, 300, 10)]
    weights = np.array([0.4, 0.3, 0.2, 0.1])
    whole = centroids(views, weights, threads=1)
    order = np.random.default_rng(3).permutation(300)
    shuffled = centroids([view[order] for view in views], weights, threads=2)
    assert np.array_equal(shuffled.probs, whole.probs[order])
    assert np.array_equal(shuffled.steps, whole.steps[order])
    for row in range(40):
        assert np.array_equal(centroids([view[[row]] for view in views], weights).probs[0], whole.probs[row])


def test_blocks_and_threads_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    views, weights = _dirichlet(3, 101, 4, 0.1), np.full(3, 1 / 3)
    whole = centroids(views, weights, threads=1)
    monkeypatch.setattr(centroid_solver, "block_size", lambda *_: 20)
    assert np.array_equal(centroids(views, weights, threads=2).probs, whole.probs)


def test_a_share_beyond_the_smallest_float_is_zero_and_the_rest_exact() -> None:
    found = centroids([np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]])], np.array([0.9999, 0.0001]))
    assert found.probs.tolist() == [[1, 0]]
    assert found.residuals.max() <= 1e-9


def test_a_view_of_no_weight_takes_no_part() -> None:
    views = _dirichlet(3, 20, 4, 0.5)
    two = centroids(views[:2], np.array([0.5, 0.5]))
    assert np.array_equal(centroids(views, np.array([0.5, 0.5, 0.0])).probs, two.probs)


def test_one_view_is_its_own_centroid() -> None:
    (view,) = _dirichlet(1, 20, 4, 0.5)
    found = centroids([view], np.ones(1))
    np.testing.assert_array_equal(found.probs, view)
    assert found.steps.tolist() == [0] * 20


def test_the_result_tells_the_residual_and_steps_of_each_item() -> None:
    views = [SoftLabels(p, items=tuple("abcdef"), classes=tuple("KLM")) for p in _dirichlet(3, 6, 3, 0.5)]
    result = centroid(views, weights=[1, 1, 2])
    assert result.residuals is not None
    assert result.steps is not None
    assert result.residuals.shape == result.steps.shape == (6,)
    assert result.n_iter == result.steps.max() > 0
    assert (result.converged, result.trace, result.temperatures) == (True, (), None)
    expected = centroids([view.probs for view in views], np.array([0.25, 0.25, 0.5])).probs
    assert np.array_equal(result.soft_labels.probs, expected)


def test_an_inexact_centroid_warns(monkeypatch: pytest.MonkeyPatch) -> None:
    views = [SoftLabels(p, items=tuple("ab"), classes=tuple("KL")) for p in _dirichlet(3, 2, 2, 0.5)]
    monkeypatch.setattr(centroid_solver, "_MOST_STEPS", 0)
    monkeypatch.setattr(centroid_solver, "_MOST_SAFE_STEPS", 1)
    with pytest.warns(ConvergenceWarning, match="The centroid of 2 items is not exact"):
        assert not centroid(views).converged


def test_no_threads_are_refused() -> None:
    with pytest.raises(OptionError, match="'threads' must be at least 1"):
        centroids(_dirichlet(2, 2, 2, 1.0), np.array([0.5, 0.5]), threads=0)
