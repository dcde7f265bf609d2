from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sfumato.core.origin import GIVEN, Origin
from sfumato.core.predictions import Predictions
from sfumato.core.soft_labels import SoftLabels
from sfumato.errors import InputError

LOGITS = [[0.0, np.log(3.0)], [1.0, 1.0]]


def sample(**more: Any) -> Predictions:
    return Predictions.from_logits(LOGITS, items=["a", "b"], classes=["x", "y"], **more)


def test_logits_become_probabilities_and_stay() -> None:
    predicted = sample()
    np.testing.assert_allclose(predicted.probs, [[0.25, 0.75], [0.5, 0.5]], rtol=1e-15)
    assert predicted.logits is not None
    assert predicted.logits.tolist() == LOGITS
    assert predicted.origin is GIVEN
    assert sample(origin=Origin("model")).origin == Origin("model")
    assert repr(predicted) == "Predictions(2 items, 2 classes, from 'given')"
    assert predicted.top() == ("y", "x")


def test_probabilities_alone_will_do() -> None:
    predicted = Predictions([[0.25, 0.75]], items=["a"], classes=["x", "y"])
    assert predicted.logits is None
    assert predicted.take(["a"]) == predicted
    assert predicted.with_classes(["y", "x"]).probs.tolist() == [[0.75, 0.25]]


def test_logits_cannot_be_changed() -> None:
    given = np.array(LOGITS)
    predicted = Predictions.from_logits(given, items=["a", "b"], classes=["x", "y"])
    given[0] = 9
    assert predicted.logits is not None
    assert predicted.logits.tolist() == LOGITS
    with pytest.raises(ValueError, match="read-only"):
        predicted.logits[0] = 9


def test_take_and_with_classes_move_the_logits_along() -> None:
    predicted = Predictions(
        sample().probs, items=["a", "b"], classes=["x", "y"], logits=np.array(LOGITS), uncertainty=[0.1, 0.2]
    )
    taken = predicted.take(["b"])
    assert taken.logits is not None
    assert taken.uncertainty is not None
    assert (taken.items, taken.logits.tolist(), taken.uncertainty.tolist()) == (("b",), [LOGITS[1]], [0.2])
    turned = predicted.with_classes(["y", "x"])
    assert turned.logits is not None
    assert turned.logits.tolist() == [row[::-1] for row in LOGITS]
    assert turned.probs.tolist() == predicted.probs[:, ::-1].tolist()
    assert predicted.take(["b", "a"]).take(["a", "b"]) == predicted
    assert turned.with_classes(["x", "y"]) == predicted


def test_equality_sees_the_logits_and_the_kind() -> None:
    assert sample() == sample()
    bare = Predictions(sample().probs, items=["a", "b"], classes=["x", "y"])
    moved = Predictions(sample().probs, items=["a", "b"], classes=["x", "y"], logits=np.array(LOGITS) + 1)
    soft = SoftLabels(sample().probs, items=["a", "b"], classes=["x", "y"])
    for other in (bare, moved, soft, sample().take(["b", "a"]), "predictions"):
        assert sample() != other
        assert other != sample()
    with pytest.raises(TypeError, match="unhashable"):
        hash(sample())


def test_what_is_refused() -> None:
    with pytest.raises(InputError, match=r"The logits must have the shape \(items, classes\) = \(1, 2\)"):
        Predictions.from_logits([[1.0]], items=["a"], classes=["x", "y"])
    with pytest.raises(InputError, match=r"The logits must have the shape .* Got \(1, 1\) instead"):
        Predictions([[0.5, 0.5]], items=["a"], classes=["x", "y"], logits=np.array([[1.0]]))
    for bad in (np.nan, np.inf):
        with pytest.raises(InputError, match="The logits of item 'b' hold a value that is not a finite number"):
            Predictions(np.eye(2), items=["a", "b"], classes=["x", "y"], logits=np.array([[0, 0], [0, bad]]))
    with pytest.raises(InputError, match="sum to 2"):
        Predictions([[1.0, 1.0]], items=["a"], classes=["x", "y"])
