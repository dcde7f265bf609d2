"""Each table against its definition, written out with loops."""

from __future__ import annotations

import math

import numpy as np
import pytest

import sfumato as sf
from sfumato.aggregate.blocks import AnnotationMatrix, annotation_matrix
from sfumato.aggregate.tables import DiagonalTable, FullTable, Scratch, Table, VoteTable

RNG = np.random.default_rng(0)


def _matrix(soft: bool, dtype: str = "float64") -> AnnotationMatrix:
    votes = sf.data.simulate(n_items=60, n_annotators=6, n_classes=3, per_item=2.5, soft=soft, seed=4).annotations
    return annotation_matrix(votes, dtype=dtype)


def _run(matrix: AnnotationMatrix, table: Table) -> tuple[np.ndarray, float, np.ndarray]:
    """The posterior of all items, the log-likelihood and the counts, in blocks of seven items."""
    scratch = Scratch(7, table.n_states, matrix.n_rows, matrix.dtype)
    counts, likelihood, rows = np.zeros(table.counts_shape, matrix.dtype), 0.0, []
    for start in range(0, matrix.n_judged, 7):
        block = matrix.block(start, min(start + 7, matrix.n_judged), scratch.ones)
        posterior, part = table.posterior(block, scratch)
        table.add_counts(block, posterior, counts)
        likelihood += part
        rows.append(posterior.copy())
    return np.concatenate(rows), likelihood, counts


def _slow(matrix: AnnotationMatrix, values: np.ndarray, prior: np.ndarray) -> tuple[np.ndarray, float, np.ndarray]:
    """The same by the formulas, one entry at a time; *values* has shape (n_columns, n_states)."""
    weights = np.ones(matrix.n_rows) if matrix.weights is None else matrix.weights
    posterior, likelihood, counts = np.zeros((matrix.n_judged, len(prior))), 0.0, np.zeros(values.shape)
    for row in range(matrix.n_judged):
        entries = range(matrix.offsets[row], matrix.offsets[row + 1])
        joint = [
            math.exp(prior[state] + sum(weights[e] * values[matrix.columns[e], state] for e in entries))
            for state in range(len(prior))
        ]
        posterior[row] = np.array(joint) / sum(joint)
        likelihood += math.log(sum(joint))
        for e in entries:
            counts[matrix.columns[e]] += weights[e] * posterior[row]
    return posterior, likelihood, counts


@pytest.mark.parametrize("soft", [False, True])
@pytest.mark.parametrize("n_states", [3, 5])
def test_full_table(soft: bool, n_states: int) -> None:
    matrix = _matrix(soft)
    values, prior = np.log(RNG.dirichlet(np.ones(n_states), matrix.n_columns)), np.log(RNG.dirichlet(np.ones(n_states)))
    found = _run(matrix, FullTable(values, prior))
    for ours, slow in zip(found, _slow(matrix, values, prior), strict=True):
        np.testing.assert_allclose(ours, slow, rtol=1e-11, atol=1e-14)


@pytest.mark.parametrize("soft", [False, True])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_diagonal_table(soft: bool, dtype: str) -> None:
    matrix = _matrix(soft, dtype)
    gain, other, prior = RNG.normal(size=matrix.n_columns), RNG.normal(size=matrix.n_columns), np.log([0.5, 0.3, 0.2])
    table = DiagonalTable(gain.astype(dtype), prior.astype(dtype), shared=float(matrix.column_totals @ other))
    posterior, likelihood, agreed = _run(matrix, table)
    label = np.arange(matrix.n_columns) % 3
    full = other[:, None] + gain[:, None] * (label[:, None] == np.arange(3))
    slow_posterior, slow_likelihood, slow_counts = _slow(matrix, full, prior)
    tolerance = 1e-11 if dtype == "float64" else 2e-5
    np.testing.assert_allclose(posterior, slow_posterior, rtol=tolerance, atol=tolerance)
    assert likelihood + table.shared == pytest.approx(slow_likelihood, rel=tolerance * 10)
    np.testing.assert_allclose(agreed, slow_counts[np.arange(len(label)), label], rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("soft", [False, True])
def test_vote_table(soft: bool) -> None:
    matrix = _matrix(soft)
    weights = np.ones(matrix.n_rows) if matrix.weights is None else matrix.weights
    votes = np.zeros((matrix.n_judged, 3))
    np.add.at(votes, (np.repeat(np.arange(matrix.n_judged), np.diff(matrix.offsets)), matrix.columns % 3), weights)
    like = FullTable(np.zeros((matrix.n_columns, 3)), np.zeros(3))
    shares, likelihood, _ = _run(matrix, VoteTable("shares", like))
    assert likelihood == 0
    np.testing.assert_allclose(shares, votes / votes.sum(axis=1, keepdims=True), rtol=1e-14, atol=0)
    majority, _, counts = _run(matrix, VoteTable("majority", like))
    top = votes == votes.max(axis=1, keepdims=True)
    np.testing.assert_allclose(majority, top / top.sum(axis=1, keepdims=True), rtol=1e-14, atol=0)
    assert counts.sum() == pytest.approx(weights.sum(), rel=1e-12)


def test_scores_far_below_the_smallest_number_keep_their_posterior() -> None:
    matrix = _matrix(False)
    values = np.full((matrix.n_columns, 3), -50_000.0)
    values[:, 1] += 0.5
    posterior, likelihood, _ = _run(matrix, FullTable(values, np.zeros(3)))
    n = np.diff(matrix.offsets)[:, None] * np.array([0, 0.5, 0])
    np.testing.assert_allclose(posterior, np.exp(n) / np.exp(n).sum(axis=1, keepdims=True), rtol=1e-9)
    assert likelihood == pytest.approx(-50_000 * matrix.n_rows + np.log(np.exp(n).sum(axis=1)).sum(), rel=1e-12)


def test_a_state_that_cannot_be_gets_no_mass() -> None:
    matrix = _matrix(False)
    values = np.zeros((matrix.n_columns, 2))
    values[:, 0] = -np.inf
    posterior, likelihood, counts = _run(matrix, FullTable(values, np.log([0.25, 0.75])))
    np.testing.assert_array_equal(posterior, np.tile([0.0, 1.0], (matrix.n_judged, 1)))
    assert likelihood == pytest.approx(matrix.n_judged * math.log(0.75), rel=1e-12)
    np.testing.assert_array_equal(counts[:, 0], 0)


def test_the_prior_of_an_item_that_nobody_judged() -> None:
    log_prior = np.log([1.0, 3.0])
    full, diagonal = FullTable(np.zeros((2, 2)), log_prior), DiagonalTable(np.zeros(2), log_prior)
    for table in (full, diagonal):
        np.testing.assert_allclose(table.prior(), [0.25, 0.75], rtol=1e-15)
    np.testing.assert_array_equal(VoteTable("shares", full).prior(), [0.5, 0.5])
