"""Benjamini and Hochberg's adjusted p-values against SciPy's, and against the definition."""

from __future__ import annotations

import numpy as np
from scipy.stats import false_discovery_control

from sfumato.aggregate.false_discovery import adjusted_p


def test_against_scipy() -> None:
    p = np.random.default_rng(3).random(50) ** 3
    np.testing.assert_allclose(adjusted_p(p), false_discovery_control(p, method="bh"), rtol=1e-13)


def test_what_was_not_tested_does_not_count() -> None:
    p = np.array([0.01, np.nan, 0.02, np.nan])
    np.testing.assert_allclose(adjusted_p(p)[[0, 2]], adjusted_p(p[[0, 2]]), rtol=1e-15)
    assert np.isnan(adjusted_p(p)[[1, 3]]).all()
    assert adjusted_p([]).shape == (0,)
