"""Majority, standard and softmax: hand-worked cases, tie rules, the figures of a real set."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.aggregate.result import Result
from sfumato.aggregate.votes import majority, softmax, standard
from sfumato.core.annotations import Annotations
from sfumato.errors import OptionError

_ROWS = st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("uvwxyz"), st.sampled_from("KLM")), min_size=1)


def _votes(*items: str) -> Annotations:
    """One item per argument, one vote per letter."""
    rows = [(str(i), str(j), label) for i, labels in enumerate(items) for j, label in enumerate(labels)]
    return Annotations.from_rows(*zip(*rows, strict=True), classes=["A", "B", "C"])


def _slow_counts(votes: Annotations) -> list[list[float]]:
    counts = [[0.0] * votes.n_classes for _ in range(votes.n_items)]
    for item, label, weight in zip(votes.item, votes.label, votes.weight, strict=True):
        counts[item][label] += weight
    return counts


def test_majority_by_hand() -> None:
    probs = majority(_votes("AAB", "CBC", "B")).soft_labels.probs
    assert probs.tolist() == [[1, 0, 0], [0, 0, 1], [0, 1, 0]]


def test_ties_go_to_the_first_class_or_are_shared() -> None:
    votes = _votes("BC", "CBA", "AAB")
    assert majority(votes).soft_labels.probs.tolist() == [[0, 1, 0], [1, 0, 0], [1, 0, 0]]
    third = 1 / 3
    assert majority(votes, ties="share").soft_labels.probs.tolist() == [[0, 0.5, 0.5], [third] * 3, [1, 0, 0]]


def test_random_ties_are_drawn_evenly_among_the_tied_and_by_seed() -> None:
    votes = _votes(*["CA"] * 3000)
    first, again, other = (majority(votes, ties="random", seed=seed).soft_labels.probs for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    assert set(map(tuple, first.tolist())) == {(1, 0, 0), (0, 0, 1)}
    # Four standard deviations of 3,000 fair coins.
    assert abs(first[:, 0].mean() - 0.5) < 4 * 0.5 / math.sqrt(3000)


def test_random_ties_do_not_depend_on_the_order_of_rows() -> None:
    rows = [(f"i{i}", f"j{j}", "AB"[j]) for i in range(50) for j in range(2)]
    there = majority(Annotations.from_rows(*zip(*rows, strict=True)), ties="random")
    back = majority(Annotations.from_rows(*zip(*rows[::-1], strict=True)), ties="random")
    assert back.soft_labels.take(there.soft_labels.items).probs.tolist() == there.soft_labels.probs.tolist()


def test_weights_that_add_up_to_the_same_are_tied() -> None:
    assert 0.1 + 0.7 < 0.8
    votes = Annotations.from_rows(
        ["i"] * 5, ["u", "u", "u", "v", "v"], ["A", "B", "C", "A", "C"], weights=[0.1, 0.8, 0.1, 0.7, 0.3]
    )
    assert majority(votes).soft_labels.probs.tolist() == [[1, 0, 0]]
    assert majority(votes, ties="share").soft_labels.probs.tolist() == [[0.5, 0.5, 0]]


@settings(max_examples=50, deadline=None)
@given(_ROWS)
def test_all_three_against_loops(rows: list[tuple[str, str, str]]) -> None:
    votes = Annotations.from_rows(*zip(*rows, strict=True), classes=["K", "L", "M"])
    counts = _slow_counts(votes)
    shares = [[c / sum(row) for c in row] for row in counts]
    exps = [[math.exp(c) / sum(map(math.exp, row)) for c in row] for row in counts]
    one_hot = [[float(k == row.index(max(row))) for k in range(3)] for row in counts]
    np.testing.assert_allclose(standard(votes).soft_labels.probs, shares, rtol=1e-14)
    np.testing.assert_allclose(softmax(votes).soft_labels.probs, exps, rtol=1e-13)
    assert majority(votes).soft_labels.probs.tolist() == one_hot


def test_an_item_without_annotations_is_uniform_and_told() -> None:
    votes = _votes("AB", "C").take_annotations(np.array([0, 1]))
    for method in (majority, standard, softmax):
        result = method(votes)
        assert result.soft_labels.probs[1].tolist() == pytest.approx([1 / 3] * 3)
        assert result.notes[0] == "Without an annotation: 1 of 2 items; the uniform distribution stands there."
    assert majority(votes, ties="random").soft_labels.probs[1].tolist() == pytest.approx([1 / 3] * 3)


def test_no_annotation_at_all() -> None:
    votes = _votes("AB", "C").take_annotations(np.array([], dtype=np.int64))
    assert standard(votes).soft_labels.probs.tolist() == [[1 / 3] * 3] * 2
    assert "2 of 2 items" in majority(votes).notes[0]


def test_ten_thousand_votes_of_one_kind_do_not_overflow() -> None:
    votes = Annotations.from_codes(
        np.zeros(10_000, int), np.arange(10_000), np.zeros(10_000, int),
        items=["i"], annotators=[str(j) for j in range(10_000)], classes=["A", "B"],
    )  # fmt: skip
    assert softmax(votes).soft_labels.probs.tolist() == [[1, 0]]


def test_the_result_says_where_it_comes_from() -> None:
    votes = _votes("AAB", "C")
    result: Result = majority(votes, ties="share", seed=7)
    origin = result.soft_labels.origin
    assert (origin.method, dict(origin.options), origin.seed) == ("majority", {"ties": "share"}, 7)
    assert origin.fingerprint == votes.fingerprint
    assert result.annotators.n_annotations.tolist() == [2, 1, 1]
    assert result.annotators.competence is None
    assert (result.converged, result.n_iter, result.trace, result.notes) == (True, 0, (), ())


def test_an_unknown_tie_rule_is_refused() -> None:
    with pytest.raises(OptionError, match=r"'ties' must be one of first, random, share\. Got 'last'"):
        majority(_votes("A"), ties="last")  # type: ignore[arg-type]


def test_the_tie_rules_on_textual_entailment(load_data: Callable[[str], sf.data.DataSet]) -> None:
    data = load_data("rte")
    votes, gold = data.annotations, data.gold
    assert votes is not None
    assert gold is not None
    labels = gold.aligned(votes.items, votes.classes)
    rows = np.arange(votes.n_items)
    counts = votes.counts()
    assert int((counts[:, 0] == counts[:, 1]).sum()) == 65
    assert majority(votes).soft_labels.probs[rows, labels].mean() == 0.91875
    # The expectation over random ties is what sharing gives.
    assert majority(votes, ties="share").soft_labels.probs[rows, labels].mean() == pytest.approx(0.896875)
    drawn = [majority(votes, ties="random", seed=seed).soft_labels.probs[rows, labels].mean() for seed in range(200)]
    assert np.mean(drawn) == pytest.approx(0.896875, abs=0.003)
    assert min(drawn) >= 0.875 - 0.001
    for method in (standard, softmax):
        assert (method(votes).soft_labels.probs.argmax(axis=1) == labels).mean() == 0.91875
