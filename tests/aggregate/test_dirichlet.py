"""Expected logarithms and divergences against sampling and SciPy's own Dirichlet."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from sfumato.aggregate.dirichlet import dirichlet_divergence, expected_logs


def test_expected_logs_are_the_mean_of_many_samples() -> None:
    alpha = np.array([0.7, 2.0, 5.0])
    samples = np.log(np.random.default_rng(0).dirichlet(alpha, 400_000))
    np.testing.assert_allclose(expected_logs(alpha), samples.mean(axis=0), atol=0.01)


def test_divergence_is_the_mean_log_ratio() -> None:
    alpha, prior = np.array([1.5, 2.0, 5.0]), np.array([1.0, 1.2, 0.8])
    samples = np.random.default_rng(0).dirichlet(alpha, 200_000).T
    ratio = stats.dirichlet.logpdf(samples, alpha) - stats.dirichlet.logpdf(samples, prior)
    assert dirichlet_divergence(alpha[None], prior) == pytest.approx(ratio.mean(), abs=0.01)


def test_divergence_from_itself_is_nothing_and_rows_add_up_along_any_axis() -> None:
    rng = np.random.default_rng(1)
    alpha, prior = rng.uniform(0.1, 9, (4, 3, 2)), rng.uniform(0.1, 9, (3, 2))
    assert dirichlet_divergence(np.broadcast_to(prior, (4, 3, 2)), prior, axis=-2) == pytest.approx(0, abs=1e-12)
    one_by_one = sum(dirichlet_divergence(alpha[j, :, c], prior[:, c]) for j in range(4) for c in range(2))
    assert dirichlet_divergence(alpha, prior, axis=-2) == pytest.approx(one_by_one, rel=1e-12)
