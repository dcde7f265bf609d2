from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sfumato.errors import InputError, OptionError
from sfumato.tables import formats
from sfumato.tables.vote_table import VoteTable

DATA = Path(os.environ.get("SFUMATO_DATA", Path(__file__).parents[4] / "shared" / "data")) / "lewidi2023"
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason=f"the data set is not at {DATA} (SFUMATO_DATA)")


@pytest.fixture
def read(write: Callable[[str, str], Path]) -> Callable[..., VoteTable]:
    def read(items: Any, **options: str) -> VoteTable:
        return formats.read("lewidi", write("set.json", json.dumps(items)), **options)

    return read


def item(annotations: Any, annotators: Any = "Ann1,Ann2", **fields: Any) -> dict[str, Any]:
    return {"annotations": annotations, "annotators": annotators, "annotation task": "mood", **fields}


def test_annotators_and_labels_stand_side_by_side(example: Callable[[str], Path]) -> None:
    table = formats.read("lewidi", example("lewidi"))
    assert table.frame.rows() == [
        (name, who, label, row)
        for row, name in ((1, "1"), (2, "08"))
        for who, label in (("Ann1", "1"), ("Ann2", "0"), ("Ann6", "1"))
    ]
    assert table.columns == {"item": "the key", "annotator": "annotators", "label": "annotations"}
    assert table.notes == ()


def test_the_question_itself_and_another_one_are_taken_by_name(example: Callable[[str], Path]) -> None:
    path = example("lewidi")
    for option in ("task", "label"):
        tone = formats.read("lewidi", path, **{option: "tone detection"})
        assert tone.frame["label"].to_list() == ["0", "0", "1"] * 2
        assert tone.columns["label"] == "other_info.tone detection"
        mood = formats.read("lewidi", path, **{option: "mood detection"})
        assert mood.frame["label"].to_list() == ["1", "0", "1"] * 2


def test_one_label_of_many_is_taken_against_the_rest(example: Callable[[str], Path]) -> None:
    path = example("lewidi_2025")
    entailment = formats.read("lewidi", path, task="entailment")
    assert entailment.frame.rows() == [
        ("49", "Ann1", "0", 1),
        ("49", "Ann2", "1", 1),
        ("50", "Ann1", "0", 2),
        ("50", "Ann2", "1", 2),
    ]
    assert formats.read("lewidi", path, task="neutral").frame["label"].to_list() == ["1", "1", "1", "0"]
    assert entailment.notes == (
        "The label is 1 where the annotator gave 'entailment', also beside others, and 0 elsewhere.",
    )
    with pytest.raises(InputError, match=r"item '49' by annotator 'Ann2': gives several labels .*label='entailment'"):
        formats.read("lewidi", path)


def test_an_object_of_single_labels_is_read(read: Callable[..., VoteTable]) -> None:
    items = {
        "7": item({"Ann1": "-5", "Ann2": "4"}, **{"number of annotations": "2"}),
        "8": item({"Ann1": 3, "Ann2": 4}),
    }
    assert read(items).frame["label"].to_list() == ["-5", "4", "3", "4"]


BROKEN: dict[str, tuple[Any, str]] = {
    "a label too few": ({"7": item("1")}, "item '7': 'annotations' gives 1 labels for 2 annotators"),
    "a wrong number": (
        {"7": item("1,0", **{"number of annotations": 3})},
        "item '7': names 2 annotators for 3 annotations",
    ),
    "other names": (
        {"7": item({"Ann1": "1", "Ann3": "0"})},
        "'annotators' names Ann1, Ann2, but 'annotations' has Ann1, Ann3",
    ),
    "a missing field": ({"7": {"annotations": "1,0"}}, "item '7': the field 'annotators' is missing"),
    "no annotations": ({"7": item(None)}, "item '7': the field 'annotations' is missing"),
    "a blank label": ({"7": item("1,")}, "item '7': the label is blank"),
    "a blank annotator": ({"7": item("1,0", "Ann1,")}, "item '7': the annotator is blank"),
    "a list": ([item("1,0")], "must be an object of items, .id: item.. Got a list of 1"),
    "a list for labels": (
        {"7": item([1, 0])},
        "item '7', 'annotations': one text or number is wanted. Got a list of 2",
    ),
    "an item that is a text": ({"7": "1,0"}, "item '7': must be an object with annotations and annotators. Got '1,0'"),
    "a blank key": ({" ": item("1,0")}, "the item is blank"),
    "nothing": ({}, "holds no judgement by anybody"),
}


@pytest.mark.parametrize("fault", BROKEN)
def test_a_fault_is_told_with_its_place(read: Callable[..., VoteTable], fault: str) -> None:
    items, sentence = BROKEN[fault]
    with pytest.raises(InputError, match=sentence) as caught:
        read(items)
    assert "set.json" in str(caught.value)


def test_a_key_that_stands_twice_is_told(write: Callable[[str, str], Path]) -> None:
    text = '{"7": {"annotations": "1", "annotators": "A"}, "7": {"annotations": "0", "annotators": "A"}}'
    with pytest.raises(InputError, match="the key '7' stands more than once in one object"):
        formats.read("lewidi", write("set.json", text))


def test_a_question_that_is_not_there_is_told(read: Callable[..., VoteTable]) -> None:
    others = {"other_info": {"other_annotations": {"tone": "0,1"}}}
    with pytest.raises(InputError, match=r"has no question 'taste' \(label='taste'\). It has: 'mood', 'tone'"):
        read({"7": item("1,0", **others)}, task="taste")
    with pytest.raises(InputError, match="item '8', other_info: the field 'tone' is missing"):
        read({"7": item("1,0", **others), "8": item("1,0")}, task="tone")
    with pytest.raises(InputError, match="'tone' gives 1 labels for 2 annotators"):
        read({"7": item("1,0", other_info={"other_annotations": {"tone": "0"}})}, task="tone")
    # Single labels need no such choice: it would hide which of them was given.
    with pytest.raises(InputError, match="has no question '1'"):
        read({"7": item({"Ann1": "1", "Ann2": "0"})}, task="1")


def test_options_that_have_no_use_are_refused(read: Callable[..., VoteTable]) -> None:
    with pytest.raises(OptionError, match="takes no option 'item'"):
        read({"7": item("1,0")}, item="id")
    with pytest.raises(OptionError, match="'label' and 'task' name the same thing"):
        read({"7": item("1,0")}, label="mood", task="mood")


def test_a_file_that_was_cut_is_told(example: Callable[[str], Path]) -> None:
    path = example("lewidi")
    path.write_text(path.read_text()[:-50])
    with pytest.raises(InputError, match=r"HS_train.json, line \d+: the file ends too early"):
        formats.read("lewidi", path)


# Counted with a few lines of plain Python over the upstream files.
REAL = {
    "ArMIS_dataset/ArMIS_train": (657, 3, {"0": 1163, "1": 808}),
    "ConvAbuse_dataset/ConvAbuse_dev": (812, 8, {"-3": 62, "-2": 194, "-1": 143, "0": 136, "1": 1879}),
    "HS-Brexit_dataset/HS-Brexit_train": (784, 6, {"0": 4099, "1": 605}),
    "MD-Agreement_dataset/MD-Agreement_dev": (1104, 534, {"0": 3459, "1": 2061}),
}


@needs_data
@pytest.mark.parametrize("name", REAL)
def test_the_real_sets_have_the_known_counts(name: str) -> None:
    path = DATA / f"{name}.json.gz"
    assert formats.recognise(path) == "lewidi"
    frame = formats.read("lewidi", path).frame
    n_items, n_annotators, labels = REAL[name]
    assert (frame["item"].n_unique(), frame["annotator"].n_unique()) == (n_items, n_annotators)
    assert dict(frame["label"].value_counts().iter_rows()) == labels


@needs_data
def test_the_other_questions_of_real_sets_are_read() -> None:
    brexit = DATA / "HS-Brexit_dataset/HS-Brexit_train.json.gz"
    aggressive = formats.read("lewidi", brexit, task="aggressive language detection")
    assert dict(aggressive.frame["label"].value_counts().iter_rows()) == {"0": 4236, "1": 468}
    abuse = DATA / "ConvAbuse_dataset/ConvAbuse_dev.json.gz"
    assert formats.read("lewidi", abuse, task="sexist").frame.height == 2414
