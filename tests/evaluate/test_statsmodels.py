"""Holm, McNemar and Fleiss' kappa as statsmodels has them."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato import Annotations
from sfumato.core.agreement import fleiss_kappa_score
from sfumato.evaluate.significance import holm, mcnemar_test

multitest = pytest.importorskip("statsmodels.stats.multitest")
tables = pytest.importorskip("statsmodels.stats.contingency_tables")
raters = pytest.importorskip("statsmodels.stats.inter_rater")


def test_holm_on_many_rows_of_p_values() -> None:
    rng = np.random.default_rng(0)
    for size in range(1, 200):
        p_values = rng.random(size).round(rng.integers(1, 6))  # so that some tie
        theirs = multitest.multipletests(p_values, method="holm")[1]
        np.testing.assert_allclose(holm(p_values), theirs, rtol=0, atol=1e-12)


def test_exact_mcnemar_on_many_tables() -> None:
    rng = np.random.default_rng(1)
    for _ in range(300):
        a, b = rng.random((2, rng.integers(1, 60))) < rng.random((2, 1))
        table = [[np.sum(a & b), np.sum(a & ~b)], [np.sum(~a & b), np.sum(~a & ~b)]]
        theirs = tables.mcnemar(table, exact=True).pvalue
        assert mcnemar_test(a, b).p_value == pytest.approx(min(theirs, 1), abs=1e-12)


def test_fleiss_kappa_of_panels_of_one_size() -> None:
    rng = np.random.default_rng(2)
    for _ in range(50):
        n_items, n_people, n_classes = rng.integers(2, 30), rng.integers(2, 8), rng.integers(2, 6)
        said = rng.integers(0, n_classes, (n_items, n_people))
        said[:, 1] = said[:, 0]  # so that they agree more than by chance
        rows = [(f"i{i}", f"a{j}", f"c{said[i, j]}") for i in range(n_items) for j in range(n_people)]
        counts = np.stack([(said == k).sum(axis=1) for k in np.unique(said)], axis=1)
        if counts.shape[1] > 1:
            ours = fleiss_kappa_score(Annotations.from_rows(*zip(*rows, strict=True)))
            assert ours == pytest.approx(raters.fleiss_kappa(counts), abs=1e-12)
