from __future__ import annotations

import pickle
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.core import annotations
from sfumato.core.annotations import Annotations, class_order
from sfumato.errors import InputError

rows = st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("uvw"), st.sampled_from("xyz")), max_size=15)


def hard(votes: list[tuple[str, str, str]]) -> Annotations:
    items, annotators, labels = zip(*votes, strict=True) if votes else ((), (), ())
    return Annotations.from_rows(items, annotators, labels, classes=["x", "y", "z"])


def soft() -> Annotations:
    """Three annotations: of a by u (half x, half y) and by v (z), of b by u (one tenth x, nine tenths z)."""
    return Annotations.from_rows(
        ["b", "a", "b", "a", "a"], ["u", "u", "u", "v", "u"], ["z", "y", "x", "z", "x"],
        weights=[0.9, 0.5, 0.1, 1.0, 0.5], classes=["x", "y", "z"],
    )  # fmt: skip


# --- plain votes ---


@given(votes=rows)
@settings(max_examples=60, deadline=None)
def test_every_vote_is_there_once_sorted_by_item_annotator_and_label(votes: list[tuple[str, str, str]]) -> None:
    found = hard(votes)
    back = [
        (found.items[i], found.annotators[j], found.classes[k])
        for i, j, k in zip(found.item, found.annotator, found.label, strict=True)
    ]
    assert Counter(back) == Counter(votes)
    codes = list(zip(found.item.tolist(), found.annotator.tolist(), found.label.tolist(), strict=True))
    assert codes == sorted(codes)
    assert list(found.items) == list(dict.fromkeys(vote[0] for vote in votes))
    assert list(found.annotators) == list(dict.fromkeys(vote[1] for vote in votes))
    assert (found.n_items, found.n_annotators, found.n_classes) == (len(found.items), len(found.annotators), 3)
    assert found.n_annotations == len(votes)
    assert found.is_hard
    assert found.weight.tolist() == [1.0] * len(votes)
    assert found.starts.tolist() == list(range(len(votes) + 1))
    for item in range(found.n_items):
        among = slice(found.offsets[item], found.offsets[item + 1])
        assert set(found.item[among].tolist()) == {item}
    assert found.offsets[-1] == len(votes)


@given(votes=rows)
@settings(max_examples=40, deadline=None)
def test_counts_equal_counting(votes: list[tuple[str, str, str]]) -> None:
    found = hard(votes)
    counted = Counter((item, label) for item, _, label in votes)
    assert found.counts().tolist() == [[counted[item, name] for name in "xyz"] for item in found.items]
    assert found.per_item().tolist() == [sum(vote[0] == item for vote in votes) for item in found.items]
    assert found.per_annotator().tolist() == [sum(vote[1] == who for vote in votes) for who in found.annotators]


@given(votes=rows, random=st.randoms(use_true_random=False))
@settings(max_examples=40, deadline=None)
def test_the_order_of_the_rows_changes_names_order_and_nothing_else(
    votes: list[tuple[str, str, str]], random: Any
) -> None:
    first = hard(votes)
    shuffled = list(votes)
    random.shuffle(shuffled)
    other = hard(shuffled)
    assert first.fingerprint == other.fingerprint
    for one in (first, other):
        assert [one.items[code] for code in one.canonical_items] == sorted(one.items)
        assert [one.annotators[code] for code in one.canonical_annotators] == sorted(one.annotators)
    assert np.array_equal(first.counts()[first.canonical_items], other.counts()[other.canonical_items])


# --- distributions ---


def test_rows_of_one_item_and_annotator_are_one_distribution() -> None:
    votes = soft()
    assert (votes.items, votes.annotators) == (("b", "a"), ("u", "v"))
    assert votes.item.tolist() == [0, 0, 1, 1, 1]
    assert votes.annotator.tolist() == [0, 0, 0, 0, 1]
    assert votes.label.tolist() == [0, 2, 0, 1, 2]
    assert votes.weight.tolist() == [0.1, 0.9, 0.5, 0.5, 1.0]
    assert votes.starts.tolist() == [0, 2, 4, 5]
    assert votes.offsets.tolist() == [0, 2, 5]
    assert not votes.is_hard
    assert votes.n_annotations == 3
    assert votes.per_item().tolist() == [1, 2]
    assert votes.per_annotator().tolist() == [2, 1]
    np.testing.assert_allclose(votes.counts(), [[0.1, 0, 0.9], [0.5, 0.5, 1]], rtol=0, atol=1e-14)


def test_several_distributions_of_one_annotator_for_one_item_are_told_apart() -> None:
    votes = Annotations.from_rows(
        ["a"] * 4, ["u"] * 4, ["x", "y", "x", "y"], weights=[0.25, 0.75, 0.5, 0.5], annotation=[7, 7, 3, 3]
    )
    assert votes.starts.tolist() == [0, 2, 4]
    assert votes.weight.tolist() == [0.5, 0.5, 0.25, 0.75]
    assert votes.per_annotator().tolist() == [2]


def test_rows_without_weight_say_nothing() -> None:
    votes = Annotations.from_rows(["a", "a", "b"], ["u", "u", "u"], ["x", "y", "y"], weights=[1, 0, 1])
    assert votes.label.tolist() == [0, 1]
    assert votes.is_hard
    assert votes == Annotations.from_rows(["a", "b"], ["u", "u"], ["x", "y"])


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        ([0.5, 0.6], "of item 'a' by annotator 'u' has weights that sum to 1.1, not to 1"),
        ([-0.5, 1.5], "of item 'a' by annotator 'u' has the weight -0.5, not one between 0 and 1"),
        ([np.nan, 1.0], "has the weight nan, not one between 0 and 1"),
        ([0.0, 1.5], "has the weight 1.5, not one between 0 and 1"),
        ([0.0, 0.0], "has weights that sum to 0, not to 1"),
        ([1.0], r"need one entry per row: 2. Got 1 and 2"),
    ],
)
def test_weights_that_are_no_distribution(weights: list[float], said: str) -> None:
    with pytest.raises(InputError, match=said):
        Annotations.from_rows(["a", "a"], ["u", "u"], ["x", "y"], weights=weights)


def test_a_class_that_is_weighed_twice() -> None:
    with pytest.raises(InputError, match="of item 'a' by annotator 'u' gives a weight to the same class twice"):
        Annotations.from_rows(["b", "a", "a"], ["u", "u", "u"], ["x", "x", "x"], weights=[1, 0.5, 0.5])


def test_the_weights_of_plain_votes_take_no_memory() -> None:
    votes = Annotations.from_codes(
        np.zeros(10**6, dtype=np.int32), np.zeros(10**6, dtype=np.int32), np.zeros(10**6, dtype=np.int32),
        items=["a"], annotators=["u"], classes=["x"],
    )  # fmt: skip
    assert votes.weight.strides == (0,)
    assert votes.weight.sum() == 10**6


# --- at the door ---


def test_a_label_must_be_a_class_where_classes_are_given() -> None:
    with pytest.raises(InputError, match=r"The label 'q' is not one of the classes 'x', 'y'. Add it"):
        Annotations.from_rows(["a"], ["u"], ["q"], classes=["x", "y"])
    many = [f"c{k}" for k in range(12)]
    with pytest.raises(InputError, match=r"'c6', 'c7', … \(12 in all\)"):
        Annotations.from_rows(["a"], ["u"], ["q"], classes=many)


def test_classes_keep_the_order_given_and_may_be_unused() -> None:
    votes = Annotations.from_rows(["a", "a"], ["u", "v"], ["y", "x"], classes=["z", "y", "x"])
    assert votes.classes == ("z", "y", "x")
    assert votes.counts().tolist() == [[0, 1, 1]]


@pytest.mark.parametrize(
    ("codes", "said"),
    [
        (([0, 1], [0], [0]), "Item, annotator and label must be equally long. Got 2, 1, 1"),
        (([0.5], [0], [0]), r"The item codes must be a row of integers. Got float64 of shape \(1,\)"),
        (([0], [[0]], [0]), r"The annotator codes must be a row of integers. Got int64 of shape \(1, 1\)"),
        (([0], [0], [True]), "The label codes must be a row of integers. Got bool"),
        (([2], [0], [0]), "The item code 2 points outside the 2 names"),
        (([0], [-1], [0]), "The annotator code -1 points outside the 1 name"),
        (([0], [0], [1]), "The label code 1 points outside the 1 name"),
    ],
)
def test_codes_that_lead_nowhere(codes: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        Annotations.from_codes(*codes, items=["a", "b"], annotators=["u"], classes=["x"])


@pytest.mark.parametrize("names", [{"items": ["a", "a"]}, {"annotators": [""]}, {"classes": "xy"}])
def test_names_are_checked(names: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        Annotations.from_codes([0], [0], [0], **{"items": ["a"], "annotators": ["u"], "classes": ["x"], **names})


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ({"labels": [None]}, "A label name must be text. Got None"),
        ({"labels": None}, "A row of names is wanted"),
        ({"annotators": [None]}, "An annotator name must be text. Got None"),
        ({"classes": []}, "The option 'classes' names no class"),
        ({"weights": "x"}, "The weights must be numbers, one per row. Got 'x'"),
        ({"weights": 1.0}, r"The weights must be numbers, one per row. Got the shape \(\)"),
    ],
)
def test_rows_that_are_none(rows: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        Annotations.from_rows(**{"items": ["a"], "annotators": ["u"], "labels": ["x"], **rows})


def test_tokens_have_a_sequence_and_a_position() -> None:
    votes = Annotations.from_codes(
        [1, 0], [0, 0], [0, 0], items=["a", "b"], annotators=["u"], classes=["x"], sequence=[0, 0], position=[0, 1]
    )
    assert votes.sequence is not None
    assert votes.position is not None
    assert (votes.sequence.tolist(), votes.position.tolist()) == ([0, 0], [0, 1])
    with pytest.raises(InputError, match="sequence and position need one entry per item"):
        Annotations.from_codes([0], [0], [0], items=["a"], annotators=["u"], classes=["x"], sequence=[0, 1])


def test_nobody_can_change_them() -> None:
    codes = np.array([0])
    for votes in (
        Annotations.from_codes(codes, codes, codes, items=["a"], annotators=["u"], classes=["x"], position=codes),
        Annotations.from_codes(codes, codes, codes, items=["a"], annotators=["u"], classes=["x"], weight=[1.0]),
    ):
        for name in ("item", "annotator", "label", "weight", "starts", "offsets"):
            with pytest.raises(ValueError, match="read-only"):
                getattr(votes, name)[0] = 0
        with pytest.raises(AttributeError):
            votes.items = ()  # type: ignore[misc]
    codes[0] = 5
    assert votes.item.tolist() == [0]


def test_rows_that_are_in_order_already_and_those_that_are_not_give_the_same() -> None:
    ordered = Annotations.from_codes(
        [0, 0, 0, 1], [0, 1, 1, 0], [1, 0, 1, 0], items=["a", "b"], annotators=["u", "v"], classes=["x", "y"]
    )
    mixed = Annotations.from_codes(
        [1, 0, 0, 0], [0, 1, 0, 1], [0, 1, 1, 0], items=["a", "b"], annotators=["u", "v"], classes=["x", "y"]
    )
    assert ordered == mixed


# --- picking ---


@pytest.mark.parametrize("votes", [hard([("a", "u", "x"), ("a", "v", "y"), ("b", "u", "x"), ("b", "v", "z")]), soft()])
def test_annotations_are_picked_whole(votes: Annotations) -> None:
    for number in range(1 << votes.n_annotations):
        mask = np.array([bool(number >> bit & 1) for bit in range(votes.n_annotations)])
        few = votes.take_annotations(mask)
        assert few == votes.take_annotations(np.flatnonzero(mask))
        assert few == votes.take_annotations(np.flatnonzero(mask)[::-1])
        assert few.n_annotations == mask.sum()
        in_rows = np.repeat(mask, np.diff(votes.starts))
        for name in ("item", "annotator", "label", "weight"):
            assert np.array_equal(getattr(few, name), getattr(votes, name)[in_rows])
        assert (few.items, few.annotators, few.classes) == (votes.items, votes.annotators, votes.classes)
        assert np.diff(few.starts).tolist() == np.diff(votes.starts)[mask].tolist()
        assert not any(
            getattr(few, name).flags.writeable for name in ("item", "annotator", "label", "weight", "starts")
        )
    assert votes.take_annotations(np.ones(votes.n_annotations, dtype=bool)) == votes


# --- the order of classes, equality, words ---


@pytest.mark.parametrize(
    ("labels", "order"),
    [
        (["10", "9", "8.5", "-1"], ("-1", "8.5", "9", "10")),
        (["1", "01", "1.0"], ("01", "1", "1.0")),
        (["10", "9", "x"], ("10", "9", "x")),
        (["b", "a", "B", "a"], ("B", "a", "b")),
        (["nan", "1", "10", "9"], ("1", "10", "9", "nan")),
        (["inf", "1"], ("1", "inf")),
        ([], ()),
    ],
)
def test_classes_stand_by_value_where_all_are_numbers(labels: list[str], order: tuple[str, ...]) -> None:
    assert class_order(labels) == order
    assert class_order(reversed(labels)) == order


def test_equality_is_by_content() -> None:
    votes = hard([("a", "u", "x"), ("b", "v", "y")])
    assert votes == hard([("a", "u", "x"), ("b", "v", "y")])
    for other in (
        hard([("b", "v", "y"), ("a", "u", "x")]),
        hard([("a", "u", "x")]),
        hard([("a", "u", "x"), ("b", "v", "z")]),
        soft(),
        "votes",
    ):
        assert votes != other
    codes: dict[str, Any] = {"items": ["a"], "annotators": ["u"], "classes": ["x"]}
    plain = Annotations.from_codes([0], [0], [0], **codes)
    assert plain == Annotations.from_codes([0], [0], [0], notes=["a note is not content"], **codes)
    assert plain != Annotations.from_codes([0], [0], [0], sequence=[0], **codes)
    with pytest.raises(TypeError, match="unhashable"):
        hash(plain)


def test_pickle() -> None:
    assert pickle.loads(pickle.dumps(soft())) == soft()


def test_what_they_say_of_themselves() -> None:
    assert repr(hard([("a", "u", "x")])) == "Annotations(1 item, 1 annotator, 3 classes, 1 annotation)"
    assert repr(soft()) == "Annotations(2 items, 2 annotators, 3 classes, 3 annotations (soft))"
    single = Annotations.from_rows(["a", "b"], ["u", "u"], ["x", "x"])
    assert repr(single) == "Annotations(2 items, 1 annotator, 1 class, 2 annotations)"


def test_no_annotations_at_all() -> None:
    none = Annotations.from_codes([], [], [], items=["a"], annotators=[], classes=["x", "y"])
    assert none.counts().tolist() == [[0, 0]]
    assert none.offsets.tolist() == [0, 0]
    assert (none.n_annotations, none.is_hard) == (0, True)
    assert Annotations.from_codes([], [], [], weight=[], items=["a"], annotators=[], classes=["x", "y"]) == none
    assert hard([]).counts().shape == (0, 3)
    assert hard([]).per_item().tolist() == []
    assert none.fingerprint != hard([]).fingerprint


def test_counts_of_more_items_than_are_filled_at_a_time_are_those_of_a_plain_loop() -> None:
    rng = np.random.default_rng(0)
    n_items, n_classes = 9000, 16  # more than two blocks, the last of them not full
    item, annotator, label = (rng.integers(0, n, 20_000) for n in (n_items, 50, n_classes))
    names = [[f"{n:05}" for n in range(size)] for size in (n_items, 50, n_classes)]
    votes = Annotations.from_codes(item, annotator, label, items=names[0], annotators=names[1], classes=names[2])
    expected = np.zeros((n_items, n_classes))
    np.add.at(expected, (item, label), 1)
    assert np.array_equal(votes.counts(), expected)


def test_codes_are_counted_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    codes = [rng.integers(0, size, 200).astype(np.int32) for size in (40, 9, 5)]
    names = [[f"{code:02}" for code in range(size)] for size in (50, 9, 5)]
    votes = Annotations.from_codes(*codes, items=names[0], annotators=names[1], classes=names[2])
    monkeypatch.setattr(annotations, "_SUMMED_AT_A_TIME", 16)
    assert votes.per_item().tolist() == np.bincount(codes[0], minlength=50).tolist()
    assert votes.per_annotator().tolist() == np.bincount(codes[1], minlength=9).tolist()
    counts = np.zeros((50, 5))
    np.add.at(counts, (codes[0], codes[2]), 1)
    np.testing.assert_array_equal(votes.counts(), counts)
    np.testing.assert_array_equal(votes.leading_labels(), counts.argmax(axis=1))
