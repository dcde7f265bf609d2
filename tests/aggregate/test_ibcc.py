"""The variational form against a slow implementation of its updates and bound."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import gammaln, psi

import sfumato as sf
from sfumato.aggregate.dawid_skene import dawid_skene
from sfumato.aggregate.ibcc import ibcc
from sfumato.errors import ConvergenceWarning, OptionError, TooLargeError


def _log_beta(alpha: np.ndarray) -> float:
    return float(gammaln(alpha).sum() - gammaln(alpha.sum()))


def _slow(votes: sf.Annotations, n_iter: int, strength: float) -> tuple[np.ndarray, list[float]]:
    """Mean-field updates with an even prior, and the bound term by term: E[log p] − E[log q]."""
    n, k = votes.n_items, votes.n_classes
    rows = list(zip(votes.item, votes.annotator, votes.label, votes.weight, strict=True))
    q = votes.counts() / votes.counts().sum(axis=1, keepdims=True)
    bounds = []
    for _ in range(n_iter):
        alpha = np.full((votes.n_annotators, k, k), strength / k)
        for i, j, label, w in rows:
            alpha[j, :, label] += w * q[i]
        nu = q.sum(axis=0) + 1 + 1 / k
        log_theta = psi(alpha) - psi(alpha.sum(axis=2, keepdims=True))
        log_pi = psi(nu) - psi(nu.sum())
        scores = np.tile(log_pi, (n, 1))
        for i, j, label, w in rows:
            scores[i] += w * log_theta[j, :, label]
        q = np.exp(scores - scores.max(axis=1, keepdims=True))
        q /= q.sum(axis=1, keepdims=True)
        # E[log p(labels, z | θ, π)] + H(q(z)) + Σ E[log p(θ)] − E[log q(θ)] + the same for π
        bound = (q * scores).sum() - (q * np.log(np.maximum(q, 1e-300))).sum()
        for j in range(votes.n_annotators):
            for c in range(k):
                prior = np.full(k, strength / k)
                bound += ((prior - alpha[j, c]) * log_theta[j, c]).sum() - _log_beta(prior) + _log_beta(alpha[j, c])
        prior = np.full(k, 1 + 1 / k)
        bounds.append(float(bound + ((prior - nu) * log_pi).sum() - _log_beta(prior) + _log_beta(nu)))
    return q, bounds


@pytest.mark.parametrize("soft", [False, True])
def test_equals_a_slow_implementation(soft: bool) -> None:
    votes = sf.data.simulate(n_items=30, n_annotators=5, n_classes=3, per_item=4, soft=soft, seed=8).annotations
    with pytest.warns(ConvergenceWarning):
        result = ibcc(votes, prior="dirichlet", strength=2.0, max_iter=5, tolerance=0)
    posterior, bounds = _slow(votes, 5, 2.0)
    np.testing.assert_allclose(result.soft_labels.probs, posterior, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(result.trace, bounds, rtol=1e-10)


@pytest.mark.parametrize("options", [{}, {"prior": "dirichlet"}, {"start": "majority", "strength": 0.5}])
def test_the_bound_only_rises_and_stays_below_the_evidence_of_the_best_parameters(options: dict[str, object]) -> None:
    votes = sf.data.simulate(n_items=200, n_annotators=9, n_classes=4, per_item=3, seed=1).annotations
    result = ibcc(votes, tolerance=1e-9, max_iter=5000, **options)  # type: ignore[arg-type]
    assert result.converged
    assert np.diff(result.trace).min() >= -1e-9
    assert result.trace[-1] < dawid_skene(votes, prior="ml", tolerance=1e-6, max_iter=5000).trace[-1]


def test_confusion_is_the_posterior_mean() -> None:
    votes = sf.Annotations.from_rows(["a", "b"], ["x", "x"], ["1", "2"], classes=["1", "2"])
    with pytest.warns(ConvergenceWarning):
        result = ibcc(votes, prior="dirichlet", strength=2.0, max_iter=1)
    # One sure item of each class: θ[1] ~ Dirichlet(1 + 1, 1), with the mean (⅔, ⅓).
    np.testing.assert_allclose(result.annotators.confusion, [[[2 / 3, 1 / 3], [1 / 3, 2 / 3]]], rtol=1e-12)
    np.testing.assert_allclose(result.annotators.competence, [2 / 3], rtol=1e-12)
    np.testing.assert_allclose(result.class_prior, [0.5, 0.5], rtol=1e-12)


def test_matrices_that_do_not_fit_are_refused() -> None:
    votes = sf.data.simulate(n_items=50, n_annotators=10, n_classes=100, per_item=2, seed=0).annotations
    with pytest.raises(TooLargeError, match="100 classes for each of 10 annotators"):
        ibcc(votes, memory_limit=1 << 20)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"prior": "ml"}, "'prior' must be one of pooled, dirichlet. Got 'ml'"),
        ({"start": "random"}, "'start' must be one of"),
        ({"strength": 0.0}, "'strength' must be more than 0"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, object], said: str) -> None:
    with pytest.raises(OptionError, match=said):
        ibcc(sf.Annotations.from_rows(["a"], ["x"], ["1"]), **options)  # type: ignore[arg-type]
