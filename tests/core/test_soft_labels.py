from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from sfumato.core.origin import GIVEN, Origin
from sfumato.core.soft_labels import SoftLabels, fingerprints
from sfumato.errors import InputError

PROBS = [[0.7, 0.3, 0.0], [0.0, 0.0, 1.0], [0.25, 0.5, 0.25]]


def sample(**more: Any) -> SoftLabels:
    return SoftLabels(PROBS, items=["a", "b", "c"], classes=["x", "y", "z"], **more)


def test_what_it_holds() -> None:
    soft = sample(uncertainty=[0.1, 0.2, 0.3])
    assert (soft.n_items, soft.n_classes) == (3, 3)
    assert soft.items == ("a", "b", "c")
    assert soft.classes == ("x", "y", "z")
    assert soft.probs.tolist() == PROBS
    assert soft.probs.dtype == np.float64
    assert soft["c"].tolist() == PROBS[2]
    assert soft.top() == ("x", "z", "y")
    assert soft.origin is GIVEN
    assert repr(soft) == "SoftLabels(3 items, 3 classes, from 'given')"
    with pytest.raises(KeyError):
        soft["nobody"]


def test_the_first_of_equal_classes_is_the_top() -> None:
    assert SoftLabels([[0.25, 0.375, 0.375]], items=["a"], classes=["x", "y", "z"]).top() == ("y",)


def test_nobody_can_change_it() -> None:
    given = np.array(PROBS)
    spread = [0.1, 0.2, 0.3]
    soft = SoftLabels(given, items=["a", "b", "c"], classes=["x", "y", "z"], uncertainty=spread)
    given[0] = 9
    spread[0] = 9
    assert soft.probs.tolist() == PROBS
    assert soft.uncertainty is not None
    assert soft.uncertainty.tolist() == [0.1, 0.2, 0.3]
    for array in (soft.probs, soft.uncertainty, soft["a"]):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    with pytest.raises(AttributeError):
        soft.items = ()  # type: ignore[misc]


def test_an_array_that_nobody_can_write_to_is_not_copied() -> None:
    fixed = np.array(PROBS)
    fixed.flags.writeable = False
    assert np.shares_memory(SoftLabels(fixed, items=["a", "b", "c"], classes=["x", "y", "z"]).probs, fixed)
    owner = np.array(PROBS)
    view = owner[:]
    view.flags.writeable = False
    soft = SoftLabels(view, items=["a", "b", "c"], classes=["x", "y", "z"])
    owner[0] = 9
    assert soft.probs.tolist() == PROBS


def test_float32_stays_and_integers_become_floats() -> None:
    assert SoftLabels(np.eye(2, dtype=np.float32), items=["a", "b"], classes=["x", "y"]).probs.dtype == np.float32
    assert SoftLabels(np.eye(2, dtype=int), items=["a", "b"], classes=["x", "y"]).probs.dtype == np.float64
    columns = SoftLabels(np.asfortranarray(PROBS), items=["a", "b", "c"], classes=["x", "y", "z"])
    assert columns.probs.flags.c_contiguous
    assert columns.probs.tolist() == PROBS


@pytest.mark.parametrize(
    ("probs", "items", "classes", "said"),
    [
        (PROBS, ["a", "b"], ["x", "y", "z"], r"shape \(items, classes\) = \(2, 3\). Got \(3, 3\) instead"),
        ([0.5, 0.5], ["a"], ["x", "y"], r"Got \(2,\) instead"),
        ("abc", ["a"], ["x"], "A table of numbers is wanted, a row for each item. Got 'abc' instead"),
        ([[1.0], [0.5, 0.5]], ["a", "b"], ["x"], "A table of numbers is wanted"),
        ([[0.5, 0.6]], ["a"], ["x", "y"], "of item 'a' sum to 1.1"),
        ([[1.0], [1.0]], ["a", "a"], ["x"], "item name 'a' stands more than once"),
        ([[0.5, 0.5]], ["a"], ["x", "x"], "class name 'x' stands more than once"),
        ([[0.5, 0.5]], ["a"], ["x", " "], "class name is blank"),
    ],
)
def test_what_is_refused(probs: Any, items: Any, classes: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        SoftLabels(probs, items=items, classes=classes)


def test_uncertainty_is_one_number_per_item() -> None:
    with pytest.raises(InputError, match=r"uncertainty needs one number per item. Got the shape \(2,\)"):
        sample(uncertainty=[0.1, 0.2])


def test_take_and_with_classes_move_everything_along() -> None:
    soft = sample(uncertainty=[0.1, 0.2, 0.3], origin=Origin("standard"))
    taken = soft.take(["c", "a"])
    assert taken == SoftLabels(
        [PROBS[2], PROBS[0]],
        items=["c", "a"],
        classes=["x", "y", "z"],
        uncertainty=[0.3, 0.1],
        origin=Origin("standard"),
    )
    turned = soft.with_classes(["z", "x", "y"])
    assert turned.probs.tolist() == [[0.0, 0.7, 0.3], [1.0, 0.0, 0.0], [0.25, 0.25, 0.5]]
    assert turned.with_classes(["x", "y", "z"]) == soft
    assert sample().take([]).n_items == 0
    with pytest.raises(InputError, match="The item 'q' is not among the 3"):
        soft.take(["q"])
    with pytest.raises(InputError, match="The class 'q' is not among the 3"):
        soft.with_classes(["x", "y", "q"])
    with pytest.raises(InputError, match="have 3 classes; the order that was given has 2"):
        soft.with_classes(["x", "y"])


@pytest.mark.parametrize(
    "other",
    [
        SoftLabels(PROBS, items=["a", "b", "d"], classes=["x", "y", "z"]),
        SoftLabels(PROBS, items=["a", "b", "c"], classes=["x", "z", "y"]),
        SoftLabels(PROBS[::-1], items=["a", "b", "c"], classes=["x", "y", "z"]),
        sample(origin=Origin("standard")),
        sample(uncertainty=[0, 0, 0]),
    ],
)
def test_equality_is_by_content(other: SoftLabels) -> None:
    assert sample() == sample()
    assert sample() != other
    assert sample() != "soft"
    with pytest.raises(TypeError, match="unhashable"):
        hash(other)


def test_the_fingerprint_is_that_of_names_and_numbers() -> None:
    assert sample().fingerprint == sample(origin=Origin("other"), uncertainty=[1, 2, 3]).fingerprint
    assert sample().fingerprint != sample().take(["b", "a", "c"]).fingerprint
    assert sample().fingerprint != sample().with_classes(["z", "x", "y"]).fingerprint


def test_fingerprints_made_together_are_those_made_alone() -> None:
    one = sample()
    sharing = SoftLabels(one.probs[:, ::-1], items=one.items, classes=one.classes)
    tables = [one, sharing, sample().with_classes(["z", "x", "y"]), one]
    alone = [SoftLabels(each.probs, items=each.items, classes=each.classes).fingerprint for each in tables]
    assert fingerprints(tables) == alone
    assert fingerprints(tables) == alone  # kept


def test_pickle() -> None:
    soft = sample(uncertainty=[0.1, 0.2, 0.3], origin=Origin("standard", options={"ties": "first"}))
    assert pickle.loads(pickle.dumps(soft)) == soft


def test_what_is_trusted_is_taken_as_it_is() -> None:
    probs = np.array([[0.5, 0.5]])
    soft = SoftLabels.trusted(probs, ("a",), ("x", "y"), Origin("standard"))
    assert soft == SoftLabels(probs, items=["a"], classes=["x", "y"], origin=Origin("standard"))
    assert np.shares_memory(soft.probs, probs)
    assert not probs.flags.writeable
