"""Accuracy, confusion, precision, recall and F1 against scikit-learn and by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as sklearn

from sfumato import evaluate
from sfumato.errors import OptionError

cases = given(seed=st.integers(0, 100_000), n_items=st.integers(1, 40), n_classes=st.integers(1, 6))


def with_gold(pair: Any, seed: int, n_items: int, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    # Of more classes than there are in the gold, some are empty on one side or on both.
    return pair(seed, n_items, n_classes)[0], np.random.default_rng(seed).integers(0, max(1, n_classes - 1), n_items)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 100_000), n_items=st.integers(1, 40), n_classes=st.integers(2, 6))
def test_equal_to_scikit_learn(pair: Any, seed: int, n_items: int, n_classes: int) -> None:
    q, gold = with_gold(pair, seed, n_items, n_classes)
    top = q.argmax(axis=1)
    assert evaluate.accuracy_score(q, gold) == pytest.approx(sklearn.accuracy_score(gold, top), abs=1e-15)
    confusion = sklearn.confusion_matrix(gold, top, labels=range(n_classes))
    np.testing.assert_array_equal(evaluate.confusion_matrix(q, gold), confusion)
    for name in ("f1_score", "precision_score", "recall_score"):
        ours, theirs = getattr(evaluate, name), getattr(sklearn, name)
        for average in ("macro", "micro", "weighted"):
            expected = theirs(gold, top, average=average, zero_division=0)
            assert ours(q, gold, average=average) == pytest.approx(expected, abs=1e-12)
        each = theirs(gold, top, average=None, labels=range(n_classes), zero_division=0)
        nowhere = ~np.isin(np.arange(n_classes), np.concatenate([gold, top]))
        np.testing.assert_allclose(ours(q, gold, average=None), np.where(nowhere, math.nan, each), atol=1e-12)


@settings(max_examples=40, deadline=None)
@cases
def test_shares_of_ties_equal_a_loop(pair: Any, seed: int, n_items: int, n_classes: int) -> None:
    q, gold = with_gold(pair, seed, n_items, n_classes)
    confusion = np.zeros((n_classes, n_classes))
    for row, true in zip(q, gold, strict=True):
        tied = [k for k in range(n_classes) if row[k] == max(row)]
        for k in tied:
            confusion[true, k] += 1 / len(tied)
    np.testing.assert_allclose(evaluate.confusion_matrix(q, gold, ties="share"), confusion, atol=1e-12)
    share = np.trace(confusion) / n_items
    assert evaluate.accuracy_score(q, gold, ties="share") == pytest.approx(share, abs=1e-12)
    assert evaluate.f1_score(q, gold, average="micro", ties="share") == pytest.approx(share, abs=1e-12)


def test_accuracy_counts_ties_as_it_is_told() -> None:
    probs = [[0.4, 0.4, 0.2], [0.1, 0.1, 0.8]]
    assert evaluate.accuracy_score(probs, [1, 2]) == 0.5
    assert evaluate.accuracy_score(probs, [1, 2], ties="share") == 0.75
    np.testing.assert_array_equal(evaluate.accuracy_score_per_item(probs, [1, 2], ties="share"), [0.5, 1])
    for metric in (evaluate.accuracy_score, evaluate.f1_score, evaluate.confusion_matrix):
        with pytest.raises(OptionError, match="one of first, share"):
            metric(probs, [1, 2], ties="last")  # type: ignore[operator]


def test_ties_do_not_favour_the_first_class_when_shared() -> None:
    even = np.full((6, 3), 1 / 3)
    for gold in ([0] * 6, [2] * 6, [0, 0, 1, 1, 2, 2]):
        assert evaluate.accuracy_score(even, gold, ties="share") == pytest.approx(1 / 3)


def test_a_class_that_is_nowhere_is_left_out() -> None:
    q = np.eye(3)[[0, 0, 1]]
    gold = [0, 0, 0]
    # Class 0: tp 2, fn 1; class 1: fp 1; class 2: nowhere.
    each = evaluate.f1_score(q, gold, average=None)
    np.testing.assert_allclose(each, [0.8, 0, math.nan])
    assert evaluate.f1_score(q, gold) == pytest.approx(0.4)
    np.testing.assert_allclose(evaluate.precision_score(q, gold, average=None), [1, 0, math.nan])
    np.testing.assert_allclose(evaluate.recall_score(q, gold, average=None), [2 / 3, 0, math.nan])


def test_an_unknown_average_is_refused() -> None:
    with pytest.raises(OptionError, match="one of macro, micro, weighted"):
        evaluate.f1_score([[1.0]], [0], average="mean")  # type: ignore[call-overload]


def test_many_blocks_are_one_matrix() -> None:
    rng = np.random.default_rng(0)
    q, gold = rng.dirichlet(np.ones(5), 100_000), rng.integers(0, 5, 100_000)
    expected = sklearn.confusion_matrix(gold, q.argmax(axis=1))
    np.testing.assert_array_equal(evaluate.confusion_matrix(q, gold), expected)
