"""The matrix says what the annotations say, in an order that does not depend on how they came."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.aggregate import blocks
from sfumato.aggregate.blocks import annotation_matrix, cut


def _dense(votes: sf.Annotations) -> np.ndarray:
    """A by definition: rows are the sorted items that were judged, columns the sorted annotators and the labels."""
    people = {name: rank for rank, name in enumerate(sorted(votes.annotators))}
    rows = {name: np.zeros((len(people), votes.n_classes)) for name in sorted(votes.items)}
    for i, j, k, w in zip(votes.item, votes.annotator, votes.label, votes.weight, strict=True):
        rows[votes.items[i]][people[votes.annotators[j]], k] += w
    return np.array([row.reshape(-1) for row in rows.values() if row.any()])


def _shuffled(votes: sf.Annotations, seed: int) -> sf.Annotations:
    """The same annotations as if their rows, items and annotators had come in another order."""
    rng = np.random.default_rng(seed)
    items, people = rng.permutation(votes.n_items), rng.permutation(votes.n_annotators)
    rows = rng.permutation(len(votes.item))
    return sf.Annotations.from_codes(
        np.argsort(items)[votes.item][rows], np.argsort(people)[votes.annotator][rows], votes.label[rows],
        weight=None if votes.is_hard else votes.weight[rows], items=[votes.items[i] for i in items],
        annotators=[votes.annotators[j] for j in people], classes=votes.classes,
    )  # fmt: skip


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000), soft=st.booleans(), slab=st.sampled_from([1, 7, 1 << 20]))
def test_matrix_is_the_dense_one(seed: int, soft: bool, slab: int) -> None:
    votes = sf.data.simulate(n_items=30, n_annotators=6, n_classes=3, per_item=2.5, soft=soft, seed=seed).annotations
    votes = votes.take_annotations(np.random.default_rng(seed).random(votes.n_annotations) < 0.6)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "_SLAB_ROWS", slab)
        matrix = annotation_matrix(votes)
    dense = np.zeros((matrix.n_judged, matrix.n_columns))
    weights = np.ones(matrix.n_rows) if matrix.weights is None else matrix.weights
    np.add.at(dense, (np.repeat(np.arange(matrix.n_judged), np.diff(matrix.offsets)), matrix.columns), weights)
    np.testing.assert_array_equal(dense, _dense(votes))
    np.testing.assert_allclose(matrix.column_totals, dense.sum(axis=0), rtol=1e-14, atol=0)
    judged = [votes.items[code] for code in matrix.item_order]
    assert judged == sorted(name for name, n in zip(votes.items, votes.per_item(), strict=True) if n)


@pytest.mark.parametrize("soft", [False, True])
def test_matrix_is_the_same_for_shuffled_rows(soft: bool) -> None:
    votes = sf.data.simulate(n_items=40, n_annotators=7, n_classes=4, per_item=3, soft=soft, seed=2).annotations
    one, other = annotation_matrix(votes), annotation_matrix(_shuffled(votes, 5))
    np.testing.assert_array_equal(one.offsets, other.offsets)
    np.testing.assert_array_equal(one.columns, other.columns)
    if soft:
        np.testing.assert_array_equal(one.weights, other.weights)


@pytest.mark.parametrize("soft", [False, True])
def test_grouped_items_stand_by_leading_label_and_then_by_name(soft: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    votes = sf.data.simulate(n_items=60, n_annotators=7, n_classes=4, per_item=3, soft=soft, seed=3).annotations
    plain = sf.aggregate.dawid_skene(votes)
    monkeypatch.setattr(blocks, "_GROUPED_COLUMNS", 1)
    matrix, other = annotation_matrix(votes), annotation_matrix(_shuffled(votes, 6))
    leading = votes.counts().argmax(axis=1)
    stands = [(int(leading[code]), votes.items[code]) for code in matrix.item_order]
    assert stands == sorted(stands)
    assert stands != sorted(stands, key=lambda stand: stand[1])
    np.testing.assert_array_equal(votes.leading_labels(), leading)
    np.testing.assert_array_equal(matrix.columns, other.columns)
    np.testing.assert_array_equal(matrix.offsets, other.offsets)
    grouped, again = sf.aggregate.dawid_skene(votes), sf.aggregate.dawid_skene(_shuffled(votes, 6))
    np.testing.assert_allclose(grouped.soft_labels.probs, plain.soft_labels.probs, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(grouped.soft_labels.probs, again.soft_labels.take(votes.items).probs)


def test_two_distributions_by_one_annotator_of_one_item_stand_in_one_order() -> None:
    rows = [("a", "x", "1", 0.7, 0), ("a", "x", "2", 0.3, 0), ("a", "x", "1", 0.2, 1), ("a", "x", "2", 0.8, 1)]
    matrices = []
    for order in ([0, 1, 2, 3], [2, 3, 0, 1]):
        i, j, k, w, n = zip(*[rows[row] for row in order], strict=True)
        # The number of the distribution follows the order in which it came.
        n = [0 if value == n[0] else 1 for value in n]
        matrices.append(annotation_matrix(sf.Annotations.from_rows(i, j, k, weights=w, annotation=n)))
    assert matrices[0].columns.tolist() == [0, 0, 1, 1]
    np.testing.assert_array_equal(matrices[0].weights, [0.2, 0.7, 0.3, 0.8])
    np.testing.assert_array_equal(matrices[0].weights, matrices[1].weights)


def test_matrix_in_a_folder_is_the_same(tmp_path: Path) -> None:
    votes = sf.data.simulate(n_items=40, n_annotators=7, n_classes=4, per_item=3, soft=True, seed=2).annotations
    mapped, plain = annotation_matrix(votes, folder=tmp_path), annotation_matrix(votes)
    assert isinstance(mapped.columns, np.memmap)
    np.testing.assert_array_equal(mapped.columns, plain.columns)
    np.testing.assert_array_equal(mapped.weights, plain.weights)


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 100), n_states=st.sampled_from([2, 100, 5000]), n_chunks=st.integers(1, 40))
def test_cut_covers_every_row_once_and_in_order(seed: int, n_states: int, n_chunks: int) -> None:
    votes = sf.data.simulate(n_items=3 + 17 * seed, n_annotators=5, n_classes=2, per_item=2.5, seed=seed).annotations
    matrix = annotation_matrix(votes)
    chunks = cut(matrix, n_states, n_chunks)
    edges = [edge for chunk in chunks for block in chunk for edge in block]
    assert len(chunks) <= n_chunks
    assert edges[0] == 0
    assert edges[-1] == matrix.n_judged
    assert edges[1:-1:2] == edges[2::2]
    assert all(0 < stop - start <= 8192 for chunk in chunks for start, stop in chunk)


def test_nothing_is_cut_from_nothing() -> None:
    votes = sf.Annotations.from_rows(["a"], ["x"], ["1"]).take_annotations(np.array([False]))
    assert cut(annotation_matrix(votes), 1, 4) == []


def test_a_block_lends_its_weights() -> None:
    votes = sf.Annotations.from_rows(["a", "a", "b"], ["x", "y", "x"], ["1", "2", "1"])
    block = annotation_matrix(votes).block(1, 2, np.ones(5))
    assert (block.size, block.offsets.tolist(), block.columns.tolist(), block.weights.tolist()) == (1, [0, 1], [0], [1])
