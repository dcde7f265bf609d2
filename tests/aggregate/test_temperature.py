"""Temperatures: the loss against loops, its optimum against another optimiser, the published schedule by figures."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize

import sfumato as sf
from sfumato.aggregate import temperature_fit, temperature_loss
from sfumato.aggregate.published_schedule import follow_schedule
from sfumato.aggregate.temperature import temperature
from sfumato.aggregate.temperature_fit import least
from sfumato.aggregate.temperature_loss import TemperatureLoss, tempered
from sfumato.core.simplex import jensen_shannon_divergence, temper
from sfumato.core.soft_labels import SoftLabels
from sfumato.errors import ConvergenceWarning, InputError, OptionError

Floats = NDArray[np.float64]

_WRIGHT = {
    "standard": {},
    "softmax": {},
    "dawid_skene": {"prior": "ml", "stop": "class_prior", "tolerance": 1e-4, "max_iter": 100},
    "mace": {},
}


def _views(n_items: int = 40, n_classes: int = 3) -> list[Floats]:
    rng = np.random.default_rng(0)
    made = [rng.dirichlet(np.full(n_classes, alpha), n_items) for alpha in (0.3, 1.0, 4.0)]
    made[0][:5] = np.eye(n_classes)[[0, 1, 2, 0, 1]]
    return made


def _alike(n_items: int, n_classes: int = 4, sharpness: tuple[float, ...] = (0.5, 1.0, 2.0, 5.0)) -> list[Floats]:
    """Views that agree but for their sharpness and some noise."""
    rng = np.random.default_rng(1)
    scores = rng.normal(0, 1.5, (n_items, n_classes))
    exps = [np.exp(sharp * (scores + rng.normal(0, 0.3, scores.shape))) for sharp in sharpness]
    return [exp / exp.sum(axis=1, keepdims=True) for exp in exps]


def _soft(views: list[Floats]) -> list[SoftLabels]:
    n_items, n_classes = views[0].shape
    items, classes = [f"i{i}" for i in range(n_items)], [f"k{k}" for k in range(n_classes)]
    return [SoftLabels(view, items=items, classes=classes) for view in views]


def _slow_loss(views: list[Floats], temperatures: Floats, penalties: Floats) -> float:
    softened = [temper(view, heat) for view, heat in zip(views, temperatures, strict=True)]
    divergences = [float(np.mean(jensen_shannon_divergence(a, b))) for a, b in combinations(softened, 2)]
    return float(np.mean(divergences) + (penalties * temperatures**2).sum())


def test_the_loss_against_the_formula() -> None:
    views, penalties = _views(), np.array([1e-3, 2e-3, 0.0])
    loss = TemperatureLoss(views, penalties)
    for temperatures in ([1, 1, 1], [1.5, 0.3, 7], [20, 3, 0.7]):
        heats = np.array(temperatures, dtype=float)
        assert loss.at(heats)[0] == pytest.approx(_slow_loss(views, heats, penalties), abs=1e-14)


@pytest.mark.parametrize("n_views", [2, 3, 4, 5, 6, 9, 10])
def test_the_loss_and_its_gradient_for_any_number_of_views(n_views: int) -> None:
    rng = np.random.default_rng(n_views)
    views = [rng.dirichlet(np.full(4, alpha), 50) for alpha in np.linspace(0.2, 3.0, n_views)]
    views[0][:4] = np.eye(4)
    for view in views:  # nobody gives the last class anything there, or next to nothing
        view[4] = [0.7, 0.3, 0.0, 0.0]
        view[5] = [0.7, 0.3 - 1e-300, 1e-300, 0.0]
    penalties, heats = np.full(n_views, 1e-3), rng.uniform(0.4, 4.0, n_views)
    loss = TemperatureLoss(views, penalties)
    value, slope = loss.at(heats)
    assert value == pytest.approx(_slow_loss(views, heats, penalties), abs=1e-14)
    steps = 1e-5 * np.eye(n_views)
    differences = [(loss(np.log(heats) + step)[0] - loss(np.log(heats) - step)[0]) / 2e-5 for step in steps]
    np.testing.assert_allclose(slope, differences, rtol=0, atol=1e-9)


@pytest.mark.parametrize("floor", [None, -15.0])
def test_the_gradient_against_differences(floor: float | None) -> None:
    loss = TemperatureLoss(_views(), np.full(3, 1e-3), floor=floor)
    place = np.log([1.3, 0.6, 4.0])
    differences = [(loss(place + 1e-5 * axis)[0] - loss(place - 1e-5 * axis)[0]) / 2e-5 for axis in np.eye(3)]
    np.testing.assert_allclose(loss(place)[1], differences, rtol=0, atol=1e-9)


def test_the_loss_has_the_same_bits_in_any_order_blocks_and_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    views, heats = _views(101), np.array([1.3, 0.6, 4.0])
    order = np.random.default_rng(3).permutation(101)
    whole = TemperatureLoss(views, np.zeros(3), threads=1).at(heats)
    monkeypatch.setattr(temperature_loss, "block_size", lambda *_: 20)
    for kept in (1 << 25, 0):
        monkeypatch.setattr(temperature_loss, "_KEPT", kept)
        other = TemperatureLoss([view[order] for view in views], np.zeros(3), threads=2).at(heats)
        assert other[0] == whole[0]
        assert np.array_equal(other[1], whole[1])


def test_tempering_keeps_zeros_and_single_items() -> None:
    view = np.array([[0.8, 0.2, 0.0], [0.0, 0.0, 1.0], [0.3, 0.3, 0.4]])
    for heat in (0.5, 1.0, 3.0, 1e6):
        np.testing.assert_allclose(tempered(view, heat), temper(view, heat), rtol=1e-14)
        for row in range(3):
            assert np.array_equal(tempered(view[[row]], heat)[0], tempered(view, heat)[row])
    floored = tempered(view, 3.0, floor=-15.0)
    assert floored[1].tolist() == pytest.approx([np.exp(-5) / (1 + 2 * np.exp(-5))] * 2 + [1 / (1 + 2 * np.exp(-5))])


def _best_by_scipy(loss: TemperatureLoss, coldest: float) -> float:
    rng = np.random.default_rng(0)
    n_views, low = len(loss.views), np.log(coldest)
    bounds, options = [(low, 5)] * n_views, {"ftol": 1e-15, "gtol": 1e-10}
    starts = rng.uniform(low, np.log(6), (6, n_views))
    found = [minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options) for start in starts]
    return float(min(one.fun for one in found))


@pytest.mark.parametrize(("coldest", "penalty"), [(1.0, 1e-1), (1.0, 1e-3), (1.0, 1e-5), (0.05, 1e-3)])
@pytest.mark.parametrize("kind", ["mixed", "alike"])
def test_the_optimum_is_that_of_another_optimiser(kind: str, penalty: float, coldest: float) -> None:
    views = _views() if kind == "mixed" else _alike(60)
    loss = TemperatureLoss(views, np.full(len(views), penalty))
    found = least(loss, np.arange(len(views[0]), dtype=np.uint64), coldest=coldest)
    assert found.converged
    assert found.temperatures.min() >= coldest
    assert found.trace[-1] == pytest.approx(loss.at(found.temperatures)[0], abs=1e-15)
    assert found.trace[-1] <= _best_by_scipy(loss, coldest) + 1e-12
    assert all(later <= before + 1e-14 for before, later in zip(found.trace, found.trace[1:], strict=False))


def test_samples_lead_to_the_optimum_over_all_items(monkeypatch: pytest.MonkeyPatch) -> None:
    views = _alike(3000)
    keys = np.random.default_rng(5).permutation(3000).astype(np.uint64)
    loss = TemperatureLoss(views, np.full(4, 1e-3))
    monkeypatch.setattr(temperature_fit, "_SAMPLES", ())
    whole = least(loss, keys, coldest=1.0)
    monkeypatch.setattr(temperature_fit, "_SAMPLES", (300 * 24, 1000 * 24))
    sampled = least(loss, keys, coldest=1.0)
    np.testing.assert_allclose(sampled.temperatures, whole.temperatures, rtol=1e-6)
    assert sampled.trace[-1] == pytest.approx(whole.trace[-1], abs=1e-13)
    assert len(sampled.trace) < len(whole.trace)
    order = np.random.default_rng(6).permutation(3000)
    shuffled = TemperatureLoss([view[order] for view in views], np.full(4, 1e-3))
    assert np.array_equal(least(shuffled, keys[order], coldest=1.0).temperatures, sampled.temperatures)


def test_the_join_is_the_weighted_mean_of_the_softened() -> None:
    views = _alike(30)
    result = temperature(_soft(views), weights=[1, 2, 3, 4])
    assert result.temperatures is not None
    assert result.temperatures[3] > 1.5 > result.temperatures[0] >= 1
    expected = np.average(
        [temper(v, t) for v, t in zip(views, result.temperatures, strict=True)], axis=0, weights=[1, 2, 3, 4]
    )
    np.testing.assert_allclose(result.soft_labels.probs, expected, rtol=0, atol=1e-14)
    assert result.converged
    assert result.n_iter == len(result.trace) - 1 > 0
    assert result.soft_labels.origin.options["regularisation"] == 1e-3


def test_identical_and_one_hot_views_stay_as_they_are() -> None:
    view = _views()[1]
    for views in ([view, view], [np.eye(3)[[0, 1, 2]], np.eye(3)[[0, 1, 1]]]):
        for regulariser in ("sum", "paper"):
            result = temperature(_soft(views), regulariser=regulariser)  # type: ignore[arg-type]
            assert result.temperatures is not None
            assert result.temperatures.tolist() == [1, 1]


def test_the_penalty_of_the_paper_falls_on_the_earlier_views() -> None:
    views = _alike(60)
    result = temperature(_soft(views), regulariser="paper", regularisation=0.01)
    # Views after each, over the number of pairs: 3/6, 2/6, 1/6, 0.
    penalties = 0.01 * np.array([3, 2, 1, 0]) / 6
    assert result.temperatures is not None
    assert result.trace[-1] == pytest.approx(_slow_loss(views, result.temperatures, penalties), abs=1e-14)
    assert result.trace[-1] <= _best_by_scipy(TemperatureLoss(views, penalties), 1.0) + 1e-12


# torch 2.13.0: LBFGS(lr, max_iter=1000) on the authors' loss in double precision, parameters in single.
@pytest.mark.parametrize(
    ("rate", "expected", "loss"),
    [
        (0.1, [4.525461673736572, 2.902000904083252, 1.9279565811157227], 0.08077780658987724),
        (0.3, [4.526164531707764, 2.9023470878601074, 1.9280157089233398], 0.08077780376235003),
        (1.0, [4.526957035064697, 2.9027111530303955, 1.9280601739883423], 0.08077779707192179),
    ],
)
def test_the_published_schedule_takes_the_steps_of_torch(rate: float, expected: list[float], loss: float) -> None:
    divergence = TemperatureLoss(_views(), np.zeros(3), floor=-15.0)
    ended = follow_schedule(divergence.at, np.full(3, 1e-3), learning_rate=rate)
    np.testing.assert_allclose(ended.temperatures, expected, rtol=1e-6)
    assert ended.trace[-1] == pytest.approx(loss, abs=1e-9)
    assert ended.converged


def test_the_published_schedule_ends_where_it_began_if_that_is_flat() -> None:
    ended = follow_schedule(lambda t: (0.0, 0 * t), np.zeros(2), learning_rate=0.01)
    assert (ended.temperatures.tolist(), ended.converged, ended.trace) == ([1.5, 1.5], True, (0.0,))


def test_textual_entailment(load_data: Callable[[str], sf.data.DataSet]) -> None:
    data = load_data("rte")
    assert data.annotations is not None
    assert data.gold is not None
    views = sf.aggregate.views(data.annotations, _WRIGHT)
    gold = data.gold.aligned(data.annotations.items, data.annotations.classes)

    def accuracy(result: sf.aggregate.JoinResult) -> float:
        return float((result.soft_labels.probs.argmax(axis=1) == gold).mean())

    published = temperature(views, as_published=True)
    assert published.temperatures is not None
    assert published.temperatures.tolist() == pytest.approx([1.295, 1.489, 1.500, 1.515], abs=6e-4)
    assert published.trace[-1] == pytest.approx(0.0664, abs=5e-5)
    assert accuracy(published) == 0.93
    assert (published.converged, published.n_iter) == (False, 1000)
    assert "1000 steps, at whose end the slope of the loss is still 2.2e-02" in published.notes[0]
    cold = temperature(views, min_temperature=0.01)
    assert cold.temperatures is not None
    assert cold.temperatures.tolist() == pytest.approx([0.123, 0.567, 1.010, 1.127], abs=2e-3)
    assert cold.trace[-1] == pytest.approx(0.0310, abs=1e-4)
    assert accuracy(cold) == 0.925
    warm = temperature(views)
    assert warm.temperatures is not None
    assert warm.temperatures.tolist() == pytest.approx([1, 1.335, 1.468, 1.907], abs=2e-3)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"regulariser": "none"}, "'regulariser' must be one of sum, paper"),
        ({"regularisation": 0.0}, "'regularisation' must be above 0. Got 0.0"),
        ({"regularisation": float("nan")}, "'regularisation' must be above 0. Got nan"),
        ({"min_temperature": -1.0}, "'min_temperature' must be above 0. Got -1.0"),
        ({"learning_rate": 0.1}, "'learning_rate' belongs to the published schedule"),
        ({"as_published": True, "min_temperature": 0.5}, "exclude each other"),
        ({"as_published": True, "learning_rate": 1e3}, "leaves the temperatures above 0"),
    ],
)
def test_options_that_do_not_go_are_refused(options: dict[str, object], told: str) -> None:
    with pytest.raises(OptionError, match=told):
        temperature(_soft(_views()), **options)  # type: ignore[arg-type]


def test_one_view_has_nothing_to_come_closer_to() -> None:
    with pytest.raises(InputError, match="at least two"):
        temperature(_soft(_views()[:1]))


def test_an_optimum_that_was_not_reached_warns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(temperature_fit, "_MOST_STEPS", 1)
    with pytest.warns(ConvergenceWarning, match="not at a minimum"):
        assert not temperature(_soft(_alike(30))).converged
