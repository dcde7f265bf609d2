"""The average of views, and what every join takes and refuses."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato.aggregate.average import average
from sfumato.core.annotations import Annotations
from sfumato.core.origin import Origin
from sfumato.core.soft_labels import SoftLabels
from sfumato.errors import InputError, OptionError


def _soft(probs: list[list[float]], method: str = "given", items: str = "ab", classes: str = "KLM") -> SoftLabels:
    return SoftLabels(np.array(probs), items=tuple(items), classes=tuple(classes), origin=Origin(method))


_FIRST = _soft([[0.5, 0.3, 0.2], [1.0, 0.0, 0.0]], "standard")
_SECOND = _soft([[0.1, 0.1, 0.8], [0.0, 0.5, 0.5]], "softmax")


def test_by_hand() -> None:
    assert average([_FIRST, _SECOND]).soft_labels.probs == pytest.approx(np.array([[0.3, 0.2, 0.5], [0.5, 0.25, 0.25]]))
    weighted = average([_FIRST, _SECOND], weights=[1, 3])
    assert weighted.soft_labels.probs == pytest.approx(np.array([[0.2, 0.15, 0.65], [0.25, 0.375, 0.375]]))
    assert weighted.weights is not None
    assert weighted.weights.tolist() == [0.25, 0.75]


def test_views_are_aligned_by_the_names_of_items_and_classes() -> None:
    shuffled = _soft([[0.5, 0.0, 0.5], [0.1, 0.1, 0.8]], "softmax", items="ba", classes="LKM")
    joined = average([_FIRST, shuffled]).soft_labels
    assert (joined.items, joined.classes) == (("a", "b"), ("K", "L", "M"))
    assert joined.probs == pytest.approx(average([_FIRST, _SECOND]).soft_labels.probs)


def test_views_keep_their_names() -> None:
    assert average([_FIRST, _SECOND]).views == ("standard", "softmax")
    assert average([_FIRST, _FIRST, _FIRST]).views == ("standard", "standard 2", "standard 3")
    assert average({"mine": _FIRST, "yours": _SECOND}).views == ("mine", "yours")


def test_the_origin_says_what_was_joined_and_how() -> None:
    origin = average({"mine": _FIRST, "yours": _SECOND}, weights=[1, 3], seed=5).soft_labels.origin
    assert (origin.method, origin.seed) == ("average", 5)
    assert origin.options["weights"] == [0.25, 0.75]
    assert origin.options["views"]["mine"] == {"method": "standard", "options": {}, "seed": None}
    other = average({"mine": _SECOND, "yours": _SECOND}).soft_labels.origin
    assert len({origin.fingerprint, other.fingerprint, ""}) == 3


def test_annotations_and_names_of_views() -> None:
    votes = Annotations.from_rows("aaab", "uvwu", "XXYX")
    result = average(votes, names=["standard", "majority"])
    assert result.soft_labels.probs == pytest.approx(np.array([[5 / 6, 1 / 6], [1, 0]]))
    assert result.annotators.annotators == ("u", "v", "w")
    assert result.annotators.n_annotations.tolist() == [2, 1, 1]
    assert result.soft_labels.origin.fingerprint == votes.fingerprint
    assert result.soft_labels.origin.options["views"]["majority"]["options"] == {"ties": "first"}
    named = average(votes, names={"standard": {}, "shared": {"method": "majority", "ties": "share"}})
    assert named.views == ("standard", "shared")


def test_of_soft_labels_nothing_is_known_of_annotators() -> None:
    assert average([_FIRST]).annotators.annotators == ()


@pytest.mark.parametrize(
    ("weights", "came"),
    [
        ([1], "Got [1]"),
        ([1, -1], "Got [1, -1]"),
        ([0, 0], "Got [0, 0]"),
        ([1, float("nan")], "Got [1, nan]"),
        ([[1, 1]], "Got [[1, 1]]"),
        (["a", "b"], "Got ['a', 'b']"),
    ],
)
def test_weights_that_are_none_are_refused(weights: list[float], came: str) -> None:
    with pytest.raises(OptionError, match=r"'weights' must be one number per view \(standard, softmax\)") as error:
        average([_FIRST, _SECOND], weights=weights)
    assert came in str(error.value)


def test_weights_by_name_need_annotations() -> None:
    with pytest.raises(OptionError, match="'weights' must be one of held_out"):
        average([_FIRST, _SECOND], weights="best")  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="give the annotations and the names of views"):
        average([_FIRST, _SECOND], weights="held_out")
    rng = np.random.default_rng(0)
    rows = [(f"i{i}", f"j{j}", "XY"[int(rng.random() < (0.8 if i % 2 else 0.2))]) for i in range(20) for j in range(5)]
    votes = Annotations.from_rows(*zip(*rows, strict=True))
    result = average(votes, names=["majority", "softmax"], weights="held_out")
    assert result.weights is not None
    assert result.weights.sum() == pytest.approx(1)
    assert result.weights[0] != result.weights[1]


def test_views_of_other_items_or_classes_are_refused() -> None:
    other = _soft([[0.5, 0.3, 0.2], [1.0, 0.0, 0.0]], "mace", items="ac")
    with pytest.raises(InputError, match="the view 'mace' lacks the item 'b'"):
        average([_FIRST, other])
    with pytest.raises(InputError, match="the first view lacks the item 'c'"):
        average([_FIRST, _soft([[1, 0, 0]] * 3, "mace", items="abc")])
    with pytest.raises(InputError, match="must be of the same classes: the view 'mace' lacks the class 'M'"):
        average([_FIRST, _soft([[0.5, 0.5]] * 2, "mace", classes="KL")])


def test_what_is_no_view_is_refused() -> None:
    with pytest.raises(InputError, match="no view to join"):
        average([])
    with pytest.raises(InputError, match="View 2 must be soft labels. Got ndarray"):  # noqa: RUF043
        average([_FIRST, _FIRST.probs])  # type: ignore[list-item]
    with pytest.raises(InputError, match="The view 'mine' must be soft labels. Got int"):  # noqa: RUF043
        average({"mine": 3})  # type: ignore[dict-item]
    with pytest.raises(OptionError, match="soft labels are views already"):
        average([_FIRST], names=["standard"])


def test_single_precision_views_are_joined_in_double() -> None:
    half = SoftLabels(_FIRST.probs.astype(np.float32), items=_FIRST.items, classes=_FIRST.classes)
    assert average([half, _SECOND]).soft_labels.probs.dtype == np.float64
