from __future__ import annotations

import numpy as np
import pytest

from sfumato.core.gold import Gold
from sfumato.errors import InputError


def test_names_become_codes_in_the_order_of_the_classes() -> None:
    gold = Gold.from_names(["a", "b", "c", "d"], ["10", "9", "08", "9"])
    assert gold.classes == ("08", "9", "10")
    assert gold.labels.tolist() == [2, 1, 0, 1]
    assert gold.labels.dtype == np.int32
    assert gold.names() == ("10", "9", "08", "9")
    assert (gold.n_items, gold.n_classes) == (4, 3)
    assert repr(gold) == "Gold(4 items, 3 classes)"


def test_classes_that_are_given_keep_their_order_and_may_be_more_than_the_labels() -> None:
    gold = Gold.from_names(iter(["a", "b"]), iter(["yes", "no"]), classes=["yes", "no", "unsure"])
    assert gold.classes == ("yes", "no", "unsure")
    assert gold.labels.tolist() == [0, 1]


def test_aligned_follows_items_and_classes() -> None:
    gold = Gold.from_names(["a", "b", "c"], ["x", "y", "z"])
    assert gold.aligned(["c", "nobody", "a", "b"], ["z", "x"]).tolist() == [0, -1, 1, 2]
    assert gold.aligned(["c", "nobody", "a", "b"], ["z", "x"]).dtype == np.int32
    assert gold.aligned([], ["x"]).tolist() == []
    assert gold.aligned(["a"], []).tolist() == [0]
    assert Gold((), np.zeros(0, dtype=np.int32), ()).aligned(["a"], ["x"]).tolist() == [-1]


def test_aligned_equals_a_look_up_one_by_one() -> None:
    rng = np.random.default_rng(3)
    names = [f"i{n}" for n in range(50)]
    classes = [f"c{n}" for n in range(7)]
    gold = Gold(tuple(names), rng.integers(7, size=50), tuple(classes))
    wanted = [f"i{n}" for n in rng.permutation(80)]
    order = [classes[k] for k in rng.permutation(7)[:5]]
    slow = []
    for item in wanted:
        if item not in names:
            slow.append(-1)
            continue
        name = classes[gold.labels[names.index(item)]]
        slow.append(order.index(name) if name in order else len(order))
    assert gold.aligned(wanted, order).tolist() == slow


def test_labels_are_copied_and_read_only() -> None:
    codes = np.array([0, 1])
    gold = Gold(["a", "b"], codes, ["x", "y"])  # type: ignore[arg-type]
    codes[0] = 1
    assert gold.labels.tolist() == [0, 1]
    assert gold.items == ("a", "b")
    with pytest.raises(ValueError, match="read-only"):
        gold.labels[0] = 1
    with pytest.raises(AttributeError):
        gold.items = ()  # type: ignore[misc]


def test_equality_is_by_content() -> None:
    gold = Gold.from_names(["a", "b"], ["x", "y"])
    assert gold == Gold.from_names(["a", "b"], ["x", "y"], classes=["x", "y"])
    assert gold != Gold.from_names(["a", "b"], ["x", "x"], classes=["x", "y"])
    assert gold != Gold.from_names(["a", "b"], ["x", "y"], classes=["y", "x"])
    assert gold != Gold.from_names(["a", "c"], ["x", "y"])
    assert gold != "gold"
    with pytest.raises(TypeError, match="unhashable"):
        hash(gold)


@pytest.mark.parametrize(
    ("items", "labels", "classes", "said"),
    [
        (["a", "a"], [0, 0], ["x"], "item name 'a' stands more than once"),
        (["a"], [0], ["x", "x"], "class name 'x' stands more than once"),
        (["a"], [0, 0], ["x"], "one integer code per item: 1. Got int64 of shape"),
        (["a"], [0.0], ["x"], "one integer code per item: 1. Got float64"),
        (["a", "b"], [0, 1], ["x"], "code 1 of item 'b' points outside the 1 class "),
        (["a"], [-1], ["x"], "code -1 of item 'a' points outside"),
    ],
)
def test_what_is_refused(items: list[str], labels: list[int], classes: list[str], said: str) -> None:
    with pytest.raises(InputError, match=said):
        Gold(tuple(items), np.array(labels), tuple(classes))  # type: ignore[arg-type]


def test_a_label_that_is_not_a_class_is_refused() -> None:
    with pytest.raises(InputError, match=r"The gold label 'z' is not one of the 2 classes. Add it"):
        Gold.from_names(["a"], ["z"], classes=["x", "y"])
    with pytest.raises(InputError, match="one integer code per item: 2"):
        Gold.from_names(["a", "b"], ["x"])


def test_a_label_that_is_no_text_is_told() -> None:
    with pytest.raises(InputError, match=r"A gold label name must be text. Got None"):
        Gold.from_names(["a"], [None])  # type: ignore[list-item]
