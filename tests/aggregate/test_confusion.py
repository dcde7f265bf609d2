"""Priors of confusion matrices by hand, and matrices that a smaller model implies."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato.aggregate.confusion import Prior, centre_of, confusion_of, implied_confusion
from sfumato.aggregate.engines.chunk import Expectation

# Two annotators, labels in rows and classes in columns: together class 1 is called 1 six times of eight.
COUNTS = np.array([[[4.0, 0.0], [1.0, 1.0]], [[2.0, 1.0], [1.0, 2.0]]])
EXPECTED = Expectation(COUNTS.reshape(4, 2), np.array([8.0, 4.0]), -1.0)


@pytest.mark.parametrize(
    ("prior", "centre"),
    [
        ("ml", [[0, 0], [0, 0]]),
        ("dirichlet", [[0.5, 0.5], [0.5, 0.5]]),
    ],
)
def test_even_priors(prior: Prior, centre: list[list[float]]) -> None:
    found = centre_of(prior, 4.0, EXPECTED, 2)
    np.testing.assert_array_equal(found.confusion, 4 * np.array(centre))
    np.testing.assert_array_equal(found.classes, [0, 0] if prior == "ml" else [0.5, 0.5])


def test_pooled_prior_is_half_the_pools_matrix_and_half_its_accuracy() -> None:
    # The pool is right 9 times of 12; with one more right of two, 10 of 14.
    accuracy = 10 / 14
    one_coin = np.array([[accuracy, 1 - accuracy], [1 - accuracy, accuracy]])
    pool = (np.array([[6.0, 1.0], [2.0, 3.0]]) + one_coin) / [9, 5]
    found = centre_of("pooled", 6.0, EXPECTED, 2)
    np.testing.assert_allclose(found.confusion, 6 * (pool + one_coin) / 2, rtol=1e-14)
    np.testing.assert_allclose(found.confusion.sum(axis=0), 6, rtol=1e-14)


def test_the_pooled_prior_does_not_depend_on_the_order_of_the_annotators_or_touch_the_counts() -> None:
    before = EXPECTED.counts.copy()
    swapped = Expectation(COUNTS[::-1].reshape(4, 2), EXPECTED.state_counts, -1.0)
    np.testing.assert_array_equal(
        centre_of("pooled", 6.0, EXPECTED, 2).confusion, centre_of("pooled", 6.0, swapped, 2).confusion
    )
    np.testing.assert_array_equal(EXPECTED.counts, before)


def test_confusion_of_a_log_table_has_the_class_in_rows() -> None:
    with np.errstate(divide="ignore"):
        values = np.log([[0.9, 0.0], [0.1, 0.0]])
    np.testing.assert_allclose(confusion_of(values, 2), [[[0.9, 0.1], [0.5, 0.5]]], rtol=1e-14)


def test_implied_confusion_is_written_out_while_it_is_small() -> None:
    found = implied_confusion(np.array([[0.1, 0.3]]), np.array([0.6]))
    np.testing.assert_allclose(found, [[[0.7, 0.3], [0.1, 0.9]]], rtol=1e-14)
    assert implied_confusion(np.zeros((420, 100)), np.zeros(420)) is None
