from __future__ import annotations

import copy
import json
import pickle

import numpy as np
import pytest

from sfumato import __version__
from sfumato.core.origin import GIVEN, Origin, fingerprint_of


def test_an_origin_is_plain_data_and_comes_back() -> None:
    origin = Origin("mace", options={"alpha": 0.5, "views": ("a", "b")}, seed=3, fingerprint="abc")
    assert origin.to_dict() == {
        "method": "mace",
        "options": {"alpha": 0.5, "views": ["a", "b"]},
        "seed": 3,
        "fingerprint": "abc",
        "version": __version__,
    }
    assert Origin.from_dict(json.loads(json.dumps(origin.to_dict()))) == origin
    assert Origin.from_dict({"method": "x"}) == Origin("x", version="")


def test_numbers_of_numpy_become_plain() -> None:
    options = {"n": np.int64(3), "weights": np.array([0.25, 0.75]), "deep": {"x": np.float32(0.5)}}
    assert dict(Origin("x", options=options).options) == {"n": 3, "weights": [0.25, 0.75], "deep": {"x": 0.5}}
    inner = Origin("inner", options={"a": 1})
    assert Origin("x", options={"inner": inner.options}).options["inner"] == {"a": 1}


def test_an_option_that_is_no_data_is_refused() -> None:
    with pytest.raises(TypeError, match="An option of type object cannot be recorded"):
        Origin("x", options={"a": object()})


def test_an_origin_cannot_be_changed_and_does_not_hang_on_what_it_was_made_of() -> None:
    options = {"list": [1]}
    origin = Origin("x", options=options)
    options["list"].append(2)
    assert origin.options["list"] == [1]
    with pytest.raises(TypeError):
        origin.options["list"] = 3  # type: ignore[index]
    with pytest.raises(AttributeError):
        origin.method = "y"  # type: ignore[misc]


@pytest.mark.parametrize(
    "other", [Origin("y"), Origin("x", options={"a": 2}), Origin("x", seed=1), Origin("x", version="0")]
)
def test_every_part_counts(other: Origin) -> None:
    assert Origin("x") != other


def test_pickle_and_copy() -> None:
    origin = Origin("x", options={"a": [1]}, seed=1, fingerprint="f", version="0.0.1")
    assert pickle.loads(pickle.dumps(origin)) == origin
    assert copy.deepcopy(origin) == origin


def test_given_is_the_origin_of_what_a_user_made() -> None:
    assert GIVEN.method == "given"


def test_a_fingerprint_is_the_same_for_the_same_content() -> None:
    array = np.arange(6, dtype=np.int32).reshape(2, 3)
    first = fingerprint_of([["a", "b"]], [array])
    assert first == fingerprint_of([iter(["a", "b"])], [array.copy()])
    assert first == fingerprint_of([("a", "b")], [array.astype(">i4")])
    assert first == fingerprint_of([("a", "b")], [np.asfortranarray(array)])
    assert len(bytes.fromhex(first)) == 12


def test_a_fingerprint_sees_every_change() -> None:
    array = np.arange(6, dtype=np.int32)
    prints = [
        fingerprint_of([["ab", "c"]], [array]),
        fingerprint_of([["a", "bc"]], [array]),
        fingerprint_of([["a"], ["bc"]], [array]),
        fingerprint_of([["bc", "a"]], [array]),
        fingerprint_of([["a", "bc"]], [array.reshape(2, 3)]),
        fingerprint_of([["a", "bc"]], [array + 1]),
        fingerprint_of([["a", "bc"]], [array, array[:0]]),
        fingerprint_of([["a", "bc"]], [array[:3], array[3:]]),
        fingerprint_of([], []),
    ]
    assert len(set(prints)) == len(prints)
