"""Predictions against each annotator, by hand and by loops."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sfumato import Annotations, SoftLabels, evaluate
from sfumato.errors import InputError, OptionError

VOTES = Annotations.from_rows(
    ["a", "a", "a", "b", "b", "c"],
    ["x", "y", "z", "x", "y", "x"],
    ["1", "2", "3", "1", "1", "3"],
    classes=["1", "2", "3"],
)


def guess(*labels: str, classes: tuple[str, ...] = ("1", "2", "3")) -> Annotations:
    # In another order than the votes, with the classes in another order too.
    rows = list(zip(["a", "a", "a", "b", "b", "c"], ["x", "y", "z", "x", "y", "x"], labels, strict=True))[::-1]
    return Annotations.from_rows(*zip(*rows, strict=True), classes=classes[::-1])


def test_error_rate_and_distance_by_hand() -> None:
    said = guess("1", "3", "1", "1", "2", "3")
    np.testing.assert_allclose(evaluate.perspectivist_error_per_item(said, VOTES), [2 / 3, 1 / 2, 0])
    assert evaluate.perspectivist_error(said, VOTES) == pytest.approx((2 / 3 + 1 / 2) / 3)
    np.testing.assert_allclose(
        evaluate.perspectivist_distance_error_per_item(said, VOTES), [(1 + 2) / 2 / 3, 1 / 2 / 2, 0]
    )
    stretched = evaluate.perspectivist_distance_error(said, VOTES, positions=[0, 9, 10])
    assert stretched == pytest.approx(((1 + 10) / 10 / 3 + 9 / 10 / 2) / 3)


def test_the_right_answers_have_no_error_and_far_ones_the_most() -> None:
    assert evaluate.perspectivist_error(VOTES, VOTES) == evaluate.perspectivist_distance_error(VOTES, VOTES) == 0
    votes = Annotations.from_rows(["a", "b"], ["x", "x"], ["1", "2"])
    far = Annotations.from_rows(["a", "b"], ["x", "x"], ["2", "1"])
    assert evaluate.perspectivist_error(far, votes) == evaluate.perspectivist_distance_error(far, votes) == 1


def test_a_class_that_no_annotator_has_is_wrong_and_has_no_distance() -> None:
    said = guess("1", "2", "3", "1", "1", "4", classes=("1", "2", "3", "4"))
    assert evaluate.perspectivist_error(said, VOTES) == pytest.approx(1 / 3)
    with pytest.raises(InputError, match="'4' has no place"):
        evaluate.perspectivist_distance_error(said, VOTES)


def test_predictions_must_be_for_the_same_items_and_annotators() -> None:
    fewer = Annotations.from_rows(["a", "q"], ["x", "x"], ["1", "1"], classes=["1", "2", "3"])
    with pytest.raises(InputError, match="2 predictions and 6 annotations, 1 of them"):
        evaluate.perspectivist_error(fewer, VOTES)
    twice = Annotations.from_rows(["a", "a"], ["x", "x"], ["1", "2"])
    with pytest.raises(InputError, match="1 are for an item and an annotator"):
        evaluate.perspectivist_error(twice, twice)
    soft = Annotations.from_rows(["a", "a"], ["x", "x"], ["1", "2"], weights=[0.5, 0.5])
    with pytest.raises(InputError, match="plain classes"):
        evaluate.perspectivist_error(soft, VOTES)
    with pytest.raises(OptionError, match="3 ascending"):
        evaluate.perspectivist_distance_error(VOTES, VOTES, positions=[1, 1, 2])


def test_accuracy_in_the_eyes_of_each_annotator() -> None:
    predicted = SoftLabels([[0.1, 0.2, 0.7], [0.2, 0.6, 0.2]], items=["c", "a"], classes=["1", "2", "3"])
    found = evaluate.annotator_accuracies(predicted, VOTES)
    np.testing.assert_array_equal(found.n, [2, 1, 1])  # item b was not predicted
    np.testing.assert_array_equal(found.accuracy, [0.5, 1, 0])
    assert found["y"] == 1


def test_distributions_count_by_the_mass_of_the_predicted_class() -> None:
    votes = Annotations.from_rows(["a", "a", "b"], ["x", "x", "y"], ["yes", "no", "no"], weights=[0.75, 0.25, 1.0])
    predicted = SoftLabels([[0.0, 0.4, 0.6]], items=["a"], classes=["maybe", "no", "yes"])
    found = evaluate.annotator_accuracies(predicted, votes)
    assert found["x"] == 0.75
    assert math.isnan(found["y"])
    other = SoftLabels([[1.0, 0.0]], items=["a"], classes=["maybe", "no"])
    assert evaluate.annotator_accuracies(other, votes)["x"] == 0
    with pytest.raises(InputError, match="None of the 2 annotated items"):
        evaluate.annotator_accuracies(SoftLabels([[1.0]], items=["q"], classes=["no"]), votes)


def test_equal_to_a_loop_over_annotations() -> None:
    rng = np.random.default_rng(0)
    items, who = [f"i{i}" for i in range(50) for _ in range(4)], [f"a{j}" for _ in range(50) for j in range(4)]
    labels = rng.choice(["u", "v", "w"], 200)
    votes = Annotations.from_rows(items, who, labels)
    probs = rng.dirichlet(np.ones(3), 50)
    predicted = SoftLabels(probs, items=[f"i{i}" for i in range(50)], classes=["w", "u", "v"])
    found = evaluate.annotator_accuracies(predicted, votes)
    top = dict(zip(predicted.items, predicted.top(), strict=True))
    for name in votes.annotators:
        own = [top[i] == label for i, j, label in zip(items, who, labels, strict=True) if j == name]
        assert found[name] == np.mean(own)
