"""The loop: when it stops, which restart wins, and what it tells."""

from __future__ import annotations

import threading
import warnings
from dataclasses import dataclass

import numpy as np
import pytest

import sfumato as sf
from sfumato.aggregate import em
from sfumato.aggregate.dawid_skene import dawid_skene
from sfumato.aggregate.engines import Engine, open_engine, threads
from sfumato.aggregate.engines.chunk import Expectation
from sfumato.aggregate.mace import mace
from sfumato.aggregate.tables import FullTable
from sfumato.errors import ConvergenceWarning, OptionError

VOTES = sf.data.simulate(n_items=80, n_annotators=6, n_classes=3, per_item=3, seed=3).annotations


@dataclass(frozen=True)
class _Step:
    """Parameters of the model below: where the objective stands, and the class prior."""

    objective: float
    prior: float = 0.5


class _Scripted:
    """A model whose objective follows a script, one list for each restart."""

    def __init__(self, *scripts: list[float], priors: list[float] | None = None) -> None:
        self._scripts = list(scripts)
        self._priors = priors or [0.5] * 50
        self.drawn: list[float] = []

    def start(self, engine: Engine, rng: np.random.Generator) -> _Step:
        self.drawn.append(float(rng.random()))
        self._script, self._place = self._scripts.pop(0), 0
        return _Step(self._script[0], self._priors[0])

    def table(self, parameters: _Step) -> FullTable:
        prior = np.log([parameters.prior, 1 - parameters.prior])
        return FullTable(np.zeros((VOTES.n_annotators * VOTES.n_classes, 2)), prior)

    def penalty(self, parameters: _Step) -> float:
        return parameters.objective

    def maximise(self, parameters: _Step, expected: Expectation) -> _Step:
        # A table of zeros has the log-likelihood 0, so the script alone is the objective.
        assert expected.log_likelihood == pytest.approx(0, abs=1e-9)
        self._place += 1
        return _Step(self._script[self._place], self._priors[self._place])


def _fit(model: _Scripted, **options: object) -> em.Fit[_Step]:
    with open_engine(VOTES, threads=1) as engine:
        return em.fit(model, engine, **options)  # type: ignore[arg-type]


def test_stops_when_the_objective_hardly_changes() -> None:
    found = _fit(_Scripted([-100, -50, -40, -39.99, -39.98]), tolerance=1e-3)
    assert found.converged
    np.testing.assert_allclose(found.trace, [-100, -50, -40, -39.99], rtol=1e-12)
    assert found.parameters == _Step(-39.99)
    assert found.objective == pytest.approx(-39.99)


def test_stops_when_the_class_prior_hardly_changes() -> None:
    model = _Scripted([-9, -8, -7, -6], priors=[0.5, 0.6, 0.6004, 0.7])
    found = _fit(model, tolerance=1e-3, stop="class_prior")
    # |0.6004 − 0.6| + |0.3996 − 0.4| = 0.0008
    assert found.converged
    assert len(found.trace) == 3


def test_the_limit_is_told() -> None:
    with pytest.warns(ConvergenceWarning, match="limit of 3 iterations before the change of the objective fell below"):
        found = _fit(_Scripted([-9, -8, -7, -6]), max_iter=3)
    assert not found.converged
    np.testing.assert_allclose(found.trace, [-9, -8, -7], rtol=1e-12)
    with pytest.warns(ConvergenceWarning, match="change of the class prior"):
        _fit(_Scripted([-9, -8], priors=[0.5, 0.6]), max_iter=2, stop="class_prior")


def test_one_iteration_is_the_start() -> None:
    with pytest.warns(ConvergenceWarning):
        assert _fit(_Scripted([-9]), max_iter=1).parameters == _Step(-9)


def test_the_best_restart_wins_and_each_draws_its_own_numbers() -> None:
    scripts = [[-9.0, -9.0], [-5.0, -5.0], [-7.0, -7.0]]
    first, again = _Scripted(*scripts), _Scripted(*scripts)
    found = _fit(first, restarts=3, seed=4)
    assert found.parameters == _Step(-5)
    assert len(set(first.drawn)) == 3
    _fit(again, restarts=3, seed=4)
    assert first.drawn == again.drawn


def test_a_restart_that_loses_warns_of_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _fit(_Scripted([-9, -8, -7], [-5, -5]), restarts=2, max_iter=3)


def test_progress_hears_of_every_iteration() -> None:
    heard: list[em.Iteration] = []
    _fit(_Scripted([-9, -8, -8], [-7, -7]), restarts=2, progress=heard.append, max_iter=7)
    assert [(told.restart, told.step, told.max_iter) for told in heard] == [
        (0, 1, 7), (0, 2, 7), (0, 3, 7), (1, 1, 7), (1, 2, 7),
    ]  # fmt: skip
    np.testing.assert_allclose([told.objective for told in heard], [-9, -8, -8, -7, -7], rtol=1e-12)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"max_iter": 0}, "'max_iter' must be at least 1. Got 0"),
        ({"restarts": 0}, "'restarts' must be at least 1. Got 0"),
        ({"tolerance": -1.0}, "'tolerance' must be a number, 0 or more. Got -1"),
        ({"tolerance": float("inf")}, "'tolerance' must be a number, 0 or more. Got inf"),
        ({"tolerance": float("nan")}, "'tolerance' must be a number, 0 or more. Got nan"),
        ({"stop": "never"}, "'stop' must be one of objective, class_prior. Got 'never'"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, object], said: str) -> None:
    with pytest.raises(OptionError, match=said):
        _fit(_Scripted([-1, -1]), **options)


def test_ctrl_c_goes_through_and_leaves_no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "WORTH_THREADS", 0)
    running: list[str] = []

    def stop(told: em.Iteration) -> None:
        running.extend(thread.name for thread in threading.enumerate())
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        dawid_skene(VOTES, threads=2, progress=stop)
    assert any(name.startswith("sfumato-blocks") for name in running)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("sfumato-blocks")]


def test_the_result_says_who_was_never_seen() -> None:
    votes = sf.Annotations.from_codes(
        [0, 0, 1],
        [0, 1, 1],
        [0, 0, 1],
        items=["a", "b", "nobody"],
        annotators=["x", "y", "idle"],
        classes=["1", "2", "3"],
    )
    result = dawid_skene(votes)
    assert result.notes == (
        "Without an annotation: 1 of 3 items; the prior stands there.",
        "Without an annotation: 1 of 3 annotators; the prior alone describes them.",
        "Given by nobody: 1 of 3 classes.",
    )
    np.testing.assert_allclose(result.soft_labels["nobody"], result.class_prior, rtol=1e-12)
    assert result.annotators.n_annotations.tolist() == [1, 2, 0]
    pool = result.annotators.confusion
    assert pool is not None
    np.testing.assert_allclose(pool.sum(axis=2), 1, rtol=1e-12)
    assert pool[2, 0, 0] > pool[2, 0, 1]


def test_results_carry_their_origin() -> None:
    result = mace(VOTES, restarts=2, seed=7, strategy_prior=3.0)
    origin = result.soft_labels.origin
    assert (origin.method, origin.seed, origin.fingerprint) == ("mace", 7, VOTES.fingerprint)
    assert origin.options["restarts"] == 2
    assert origin.options["strategy_prior"] == 3.0
    assert result.n_iter == len(result.trace)
    assert mace(VOTES, restarts=1, seed=np.random.default_rng(0)).soft_labels.origin.seed is None
