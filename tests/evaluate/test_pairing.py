"""The door: what does not fit is told apart, and named tables meet by name."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sfumato import SoftLabels, evaluate
from sfumato.core.gold import Gold
from sfumato.errors import InputError, OptionError
from sfumato.evaluate.pairing import gold_codes, labelled, paired

PREDICTED = SoftLabels([[0.9, 0.1], [0.2, 0.8]], items=["a", "b"], classes=["x", "y"])


def test_named_tables_are_aligned_by_name() -> None:
    people = SoftLabels([[0.8, 0.2], [0.1, 0.9]], items=["b", "a"], classes=["y", "x"])
    assert evaluate.jensen_shannon_divergence(PREDICTED, people) == 0
    assert evaluate.accuracy_score(PREDICTED, Gold.from_names(["b"], ["y"])) == 1


@pytest.mark.parametrize(
    ("predicted", "people", "said"),
    [
        ([[0.5, 0.5]], [[1.0, 0.0], [1.0, 0.0]], r"shape \(1, 2\) and labels of shape \(2, 2\)"),
        ([], [], "the shape"),
        ([[2.0, -1.0]], [[1.0, 0.0]], "never negative"),
        ([[0.5, 0.6]], [[1.0, 0.0]], "sum to 1.1"),
        ([[1.0, 0.0]], [[3.0, 2.0]], "people of item in row 1 sum to 5"),
        ([[math.nan, 0.5]], [[1.0, 0.0]], "finite"),
        ([[1.0, 0.0]], [[math.inf, 0.0]], "finite"),
        ([[1.5, -2.0], [0.3, 0.1]], [[1.0, 0.0]] * 2, r"look like logits.*softmax\(logits\)"),
        (np.log([[0.5, 0.5], [0.9, 0.1]]), [[1.0, 0.0]] * 2, "look like log-probabilities"),
        ([["a", "b"]], [[1.0, 0.0]], "must be numbers"),
        ([[0.5, 0.5], [1.0]], [[1.0, 0.0]] * 2, "must be numbers"),
    ],
)
def test_tables_that_do_not_fit_are_refused(predicted: object, people: object, said: str) -> None:
    with pytest.raises(InputError, match=said):
        evaluate.soft_cross_entropy_loss(predicted, people)  # type: ignore[arg-type]


def test_the_first_bad_row_is_named_in_a_long_table() -> None:
    probs = np.tile([0.25, 0.75], (100_000, 1))
    probs[[70_000, 90_000], 0] = 0.5
    with pytest.raises(InputError, match=r"row 70001 sum to 1\.25"):
        evaluate.brier_error(probs, np.tile([0.5, 0.5], (100_000, 1)))


def test_items_that_do_not_match_are_counted_and_dropped_only_when_told() -> None:
    people = SoftLabels([[0.5, 0.5], [0.1, 0.9]], items=["c", "b"], classes=["x", "y"])
    with pytest.raises(InputError, match=r"2 items and the labels 2, 1 of them shared"):
        evaluate.jensen_shannon_divergence(PREDICTED, people)
    q, p = evaluate.aligned(PREDICTED, people, missing="drop")
    assert q.items == p.items == ("b",)
    np.testing.assert_array_equal(p.probs, [[0.1, 0.9]])
    with pytest.raises(InputError, match="'a' and 'c'"):
        evaluate.aligned(PREDICTED, people.take(["c"]), missing="drop")
    with pytest.raises(OptionError, match="missing"):
        evaluate.aligned(PREDICTED, people, missing="ignore")  # type: ignore[arg-type]


def test_classes_that_do_not_match_are_named() -> None:
    people = SoftLabels([[0.5, 0.5], [0.1, 0.9]], items=["a", "b"], classes=["x", "z"])
    with pytest.raises(InputError, match="only the labels have 'z', only the predictions 'y'"):
        evaluate.brier_error(PREDICTED, people)


def test_no_items_are_no_comparison() -> None:
    empty = SoftLabels(np.empty((0, 2)), items=[], classes=["x", "y"])
    with pytest.raises(InputError, match="no items"):
        paired(empty, empty)


@pytest.mark.parametrize("gold", [[0, 2], [-1, 0], [0], [0.0, 1.0], ["x", "y"], [[0], [1]]])
def test_gold_that_does_not_fit_is_refused(gold: list[int]) -> None:
    with pytest.raises(InputError):
        evaluate.accuracy_score([[0.5, 0.5], [0.5, 0.5]], gold)


def test_gold_tables_need_names_and_an_item_in_common() -> None:
    gold = Gold.from_names(["z"], ["x"])
    with pytest.raises(InputError, match="must too"):
        evaluate.accuracy_score([[0.5, 0.5]], gold)
    with pytest.raises(InputError, match="None of the 2 predicted items is among the 1"):
        evaluate.accuracy_score(PREDICTED, gold)


def test_a_gold_class_that_is_not_predicted_counts_as_missed() -> None:
    gold = Gold.from_names(["a", "b"], ["x", "z"])
    assert gold_codes(PREDICTED, gold)[1].tolist() == [0, 2]
    for ties in ("first", "share"):
        assert evaluate.accuracy_score(PREDICTED, gold, ties=ties) == 0.5
    assert evaluate.confusion_matrix(PREDICTED, gold).tolist() == [[1, 0], [0, 0], [0, 1]]
    # x is found (1), y is predicted and not gold (0), z is gold and never predicted (0).
    assert evaluate.f1_score(PREDICTED, gold) == pytest.approx(1 / 3)
    assert evaluate.expected_calibration_error(PREDICTED, gold) == pytest.approx((0.1 + 0.8) / 2)
    assert evaluate.classwise_calibration_error(PREDICTED, gold) == pytest.approx((0.1 + 0.2 + 0.1 + 0.8) / 4)


def test_the_kind_of_labels_is_not_mistaken() -> None:
    with pytest.raises(InputError, match="Got soft labels"):
        evaluate.accuracy_score(PREDICTED, PREDICTED)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="Got a gold table"):
        evaluate.brier_error(PREDICTED, Gold.from_names(["a"], ["x"]))  # type: ignore[arg-type]
    assert labelled(PREDICTED, [0, 1])[1].tolist() == [0, 1]
    assert labelled(PREDICTED, PREDICTED)[1].shape == (2, 2)
