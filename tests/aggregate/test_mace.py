"""MACE against a slow implementation of both fits, and the published accuracies."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.special import gammaln, psi

import sfumato as sf
from sfumato.aggregate.mace import mace
from sfumato.core.seeds import spawn
from sfumato.errors import ConvergenceWarning, OptionError


def _log_beta(alpha: np.ndarray) -> float:
    return float(gammaln(alpha).sum() - gammaln(alpha.sum()))


def _slow(votes: sf.Annotations, n_iter: int, *, variational: bool, seed: int) -> tuple[np.ndarray, list[float]]:
    """One restart by the formulas of the paper, in plain loops; annotators must stand in alphabetical order."""
    n, m, k = votes.n_items, votes.n_annotators, votes.n_classes
    rows = list(zip(votes.item, votes.annotator, votes.label, votes.weight, strict=True))
    rng = spawn(seed, 1)[0]
    knows, strategy = 1 + 0.5 * rng.random((m, 2)), 1 + 0.5 * rng.random((m, k))
    knows_prior, strategy_prior = (0.5, 10.0) if variational else (0.01 / k, 0.01 / k)
    objectives, posterior = [], np.zeros((n, k))

    def logs(counts: np.ndarray) -> np.ndarray:
        if variational:
            return np.asarray(psi(counts) - psi(counts.sum(axis=1, keepdims=True)))
        return np.log(counts / counts.sum(axis=1, keepdims=True))

    for step in range(n_iter):
        p_knows, p_strategy = np.exp(logs(knows)), np.exp(logs(strategy))
        joint = np.full((n, k), 1 / k)
        for i, j, label, w in rows:
            factor = np.full(k, p_knows[j, 1] * p_strategy[j, label])
            factor[label] += p_knows[j, 0]
            joint[i] *= factor**w
        objective = np.log(joint.sum(axis=1)).sum()
        for counts, prior in ((knows, knows_prior), (strategy, strategy_prior)):
            for row, log_row in zip(counts, logs(counts), strict=True):
                if variational:
                    alpha = np.full(len(row), prior)
                    objective += ((alpha - row) * log_row).sum() - _log_beta(alpha) + _log_beta(row)
                else:
                    objective += prior * log_row.sum()
        objectives.append(float(objective))
        posterior = joint / joint.sum(axis=1, keepdims=True)
        if step == n_iter - 1:
            break
        knows, strategy = np.full((m, 2), knows_prior), np.full((m, k), strategy_prior)
        for i, j, label, w in rows:
            guess = p_knows[j, 1] * p_strategy[j, label]
            known = posterior[i, label] * p_knows[j, 0] / (p_knows[j, 0] + guess)
            knows[j] += w * known, w * (1 - known)
            strategy[j, label] += w * (1 - known)
    return posterior, objectives


@pytest.mark.parametrize("soft", [False, True])
@pytest.mark.parametrize("fit", ["variational", "em"])
def test_equals_a_slow_implementation(soft: bool, fit: str) -> None:
    votes = sf.data.simulate(n_items=40, n_annotators=5, n_classes=3, per_item=5, soft=soft, seed=8).annotations
    assert votes.annotators == tuple(sorted(votes.annotators))
    with pytest.warns(ConvergenceWarning):
        result = mace(votes, fit=fit, restarts=1, max_iter=6, tolerance=0, seed=3)  # type: ignore[arg-type]
    posterior, objectives = _slow(votes, 6, variational=fit == "variational", seed=3)
    np.testing.assert_allclose(result.soft_labels.probs, posterior, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(result.trace, objectives, rtol=1e-10)


@pytest.mark.parametrize("fit", ["variational", "em"])
@pytest.mark.parametrize("soft", [False, True])
def test_the_objective_only_rises(fit: str, soft: bool) -> None:
    votes = sf.data.simulate(n_items=200, n_annotators=9, n_classes=4, per_item=3, soft=soft, seed=1).annotations
    result = mace(votes, fit=fit, restarts=2, tolerance=1e-8, max_iter=5000)  # type: ignore[arg-type]
    assert result.converged
    assert np.diff(result.trace).min() >= -1e-9


def test_restarts_are_different_and_the_best_wins() -> None:
    votes = sf.data.simulate(n_items=100, n_annotators=9, n_classes=4, per_item=3, seed=1).annotations
    first: list[float] = []
    last: dict[int, float] = {}

    def note(told: sf.aggregate.em.Iteration) -> None:
        if told.step == 1:
            first.append(told.objective)
        last[told.restart] = told.objective

    result = mace(votes, restarts=6, seed=1, max_iter=500, progress=note)
    assert len(set(first)) == 6
    assert result.trace[-1] == max(last.values())


def test_the_seed_decides() -> None:
    votes = sf.data.simulate(n_items=100, n_annotators=9, n_classes=4, per_item=3, seed=1).annotations
    one, same, other = (mace(votes, restarts=1, seed=seed, max_iter=500) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.soft_labels.probs, same.soft_labels.probs)
    assert one.trace[0] != other.trace[0]


def test_a_spammer_is_found_out() -> None:
    planted = sf.data.simulate(
        n_items=400, n_annotators=10, n_classes=3, per_item=5, ability=0.85, spammers=0.2, spam="constant", seed=1
    )
    competence = mace(planted.annotations).annotators.competence
    assert competence is not None
    assert competence[planted.spammers].max() < 0.5 < competence[~planted.spammers].min()


def test_confusion_and_competence_are_those_of_the_mixture() -> None:
    votes = sf.data.simulate(n_items=100, n_annotators=4, n_classes=3, per_item=4, seed=1).annotations
    result = mace(votes, max_iter=500)
    confusion = result.annotators.confusion
    assert confusion is not None
    np.testing.assert_allclose(confusion.sum(axis=2), 1, rtol=1e-12)
    # Every class is as likely: the competence is the mean of the diagonal.
    np.testing.assert_allclose(result.annotators.competence, confusion.diagonal(axis1=1, axis2=2).mean(axis=1))
    # The strategy is the same whatever the class: off the diagonal, a column holds one value.
    np.testing.assert_allclose(confusion[:, 0, 2], confusion[:, 1, 2], rtol=1e-12)


def _accuracy(data: sf.data.DataSet, **options: object) -> float:
    result = mace(data.annotations, **options)  # type: ignore[arg-type]
    gold = data.gold.aligned(result.soft_labels.items, result.soft_labels.classes)
    return float((result.soft_labels.probs.argmax(axis=1) == gold)[gold >= 0].mean())


@pytest.mark.parametrize("seed", [0, 1])
def test_published_accuracy_on_textual_entailment(load_data: Callable[[str], sf.data.DataSet], seed: int) -> None:
    assert _accuracy(load_data("rte"), seed=seed) == 0.92625
    with pytest.warns(ConvergenceWarning):
        assert _accuracy(load_data("rte"), seed=seed, max_iter=50, tolerance=0) == 0.92625


def test_published_accuracy_on_parts_of_speech(load_data: Callable[[str], sf.data.DataSet]) -> None:
    assert _accuracy(load_data("pos"), restarts=2) == pytest.approx(0.79860, abs=5e-6)


def test_no_underflow_with_a_hundred_thousand_annotators() -> None:
    n = 100_000
    votes = sf.Annotations.from_codes(
        np.zeros(n, int), np.arange(n), np.arange(n) % 5 // 3, items=["a"], annotators=[f"w{j}" for j in range(n)],
        classes=["1", "2"],
    )  # fmt: skip
    result = mace(votes, restarts=1, max_iter=500)
    np.testing.assert_allclose(result.soft_labels.probs, [[1, 0]], atol=1e-12)
    assert math.isfinite(result.trace[-1])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"fit": "gibbs"}, "'fit' must be one of variational, em. Got 'gibbs'"),
        ({"alpha": 0.0}, "'alpha' must be more than 0. Got 0"),
        ({"beta": -1.0}, "'beta' must be more than 0"),
        ({"strategy_prior": 0.0}, "'strategy_prior' must be more than 0"),
        ({"fit": "em", "smoothing": 0.0}, "'smoothing' must be more than 0"),
        ({"noise": -0.5}, "'noise' must be 0 or more"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, object], said: str) -> None:
    with pytest.raises(OptionError, match=said):
        mace(sf.Annotations.from_rows(["a"], ["x"], ["1"]), **options)  # type: ignore[arg-type]


def test_an_option_of_the_other_fit_is_refused() -> None:
    votes = sf.Annotations.from_rows(list("aabb"), list("xyxy"), list("1001"))
    with pytest.raises(OptionError, match=r"'alpha' is none of fit='em', which takes smoothing"):
        sf.aggregate.mace(votes, fit="em", alpha=3)
    with pytest.raises(OptionError, match=r"'smoothing' is none of fit='variational', which takes alpha, beta"):
        sf.aggregate.mace(votes, smoothing=3)
