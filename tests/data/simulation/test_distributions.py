from __future__ import annotations

import math

import numpy as np
import pytest

from sfumato.data.simulation.distributions import draw_beta, draw_dirichlet


@pytest.mark.parametrize("concentration", [0.01, 0.7, 30.0])
def test_moments_are_those_of_the_dirichlet(concentration: float) -> None:
    mean = np.array([0.5, 0.3, 0.2, 0.0])
    draws = draw_dirichlet(np.random.default_rng(0), np.tile(mean, (200_000, 1)), concentration)
    assert np.abs(draws.sum(axis=1) - 1).max() < 1e-12
    assert (draws[:, 3] == 0).all()
    variance = mean * (1 - mean) / (concentration + 1)
    np.testing.assert_allclose(draws.mean(axis=0), mean, atol=5 * np.sqrt(variance.max() / 200_000))
    np.testing.assert_allclose(draws.var(axis=0), variance, rtol=0.02, atol=1e-12)
    covariance = np.cov(draws[:, :2].T)[0, 1]
    assert covariance == pytest.approx(-mean[0] * mean[1] / (concentration + 1), rel=0.03)


def test_a_tiny_concentration_gives_one_class_with_the_probability_of_its_mean() -> None:
    # Gamma variates of shape 1e-6 are 0 in floating point nearly always; their logarithms are not.
    mean = np.tile([0.9, 0.1], (50_000, 1))
    draws = draw_dirichlet(np.random.default_rng(1), mean, 1e-6)
    assert np.isin(draws, [0, 1]).mean() > 0.999
    assert draws[:, 0].mean() == pytest.approx(0.9, abs=0.007)


def test_an_infinite_concentration_gives_the_mean() -> None:
    mean = np.array([[0.25, 0.75]])
    np.testing.assert_array_equal(draw_dirichlet(np.random.default_rng(0), mean, math.inf), mean)
    np.testing.assert_array_equal(draw_beta(np.random.default_rng(0), 0.3, math.inf, 2), [0.3, 0.3])


def test_beta_has_the_given_mean_and_concentration() -> None:
    draws = draw_beta(np.random.default_rng(2), 0.75, 10.0, 100_000)
    assert draws.mean() == pytest.approx(0.75, abs=0.002)
    assert draws.var() == pytest.approx(0.75 * 0.25 / 11, rel=0.02)
    assert draw_beta(np.random.default_rng(2), 0.0, 2.0, 3).tolist() == [0, 0, 0]
