from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sfumato.errors import InputError, OptionError
from sfumato.tables import formats
from sfumato.tables.vote_table import VoteTable

Write = Callable[[str, str], Path]


@pytest.fixture
def read(write: Write) -> Callable[..., VoteTable]:
    return lambda records, **options: formats.read("label_studio", write("export.json", json.dumps(records)), **options)


def result(control: str = "mood", **value: Any) -> dict[str, Any]:
    return {"from_name": control, "to_name": "text", "type": next(iter(value), "choices"), "value": value}


def task(*results: dict[str, Any], id: Any = 7, who: Any = 3, **fields: Any) -> dict[str, Any]:
    annotation = {"id": 1, "completed_by": who, "was_cancelled": False, "result": list(results), **fields}
    return {"id": id, "data": {"text": "a", "key": "k7"}, "annotations": [annotation]}


def test_each_annotation_is_a_vote(example: Callable[[str], Path]) -> None:
    table = formats.read("label_studio", example("label_studio"))
    assert table.frame.rows() == [("1", "3", "glad", 1), ("1", "4", "sad", 1), ("2", "3", "sad", 2)]
    assert table.columns == {"item": "id", "annotator": "completed_by", "label": "mood"}
    assert table.notes == ()


def test_the_small_export_is_read_too(example: Callable[[str], Path]) -> None:
    table = formats.read("label_studio", example("label_studio_min"))
    assert table.frame.rows() == [("1", "3", "glad", 1), ("1", "4", "sad", 2)]
    assert table.columns == {"item": "id", "annotator": "annotator", "label": "mood"}


@pytest.mark.parametrize(
    ("value", "label"),
    [
        ({"choices": ["glad"]}, "glad"),
        ({"rating": 4}, "4"),
        ({"number": 0}, "0"),
        ({"selected": "left"}, "left"),
        ({"taxonomy": [["Europe", "Norway"]]}, "Europe/Norway"),
        ({"rectanglelabels": ["car"], "x": 1.5, "y": 2}, "car"),
        ({"start": 1, "end": 4, "labels": ["person"]}, "person"),
    ],
)
def test_each_kind_of_answer_gives_its_class(read: Callable[..., VoteTable], value: dict[str, Any], label: str) -> None:
    assert read([task(result(**value))]).frame["label"].to_list() == [label]
    # The small export writes a lone choice as a text, everything else as a list of values.
    small = label if "choices" in value else [value]
    record = {"text": "a", "id": 1, "mood": small, "annotator": 3, "annotation_id": 2, "lead_time": 1.5}
    assert read([record]).frame["label"].to_list() == [label]


def test_regions_of_one_class_are_one_label(read: Callable[..., VoteTable]) -> None:
    regions = [result(rectanglelabels=["car"]), result(rectanglelabels=["car"])]
    votes = read([task(*regions)])
    assert votes.frame["label"].to_list() == ["car"]
    assert votes.notes == (
        "'mood' holds regions (rectanglelabels): an item's label is the class of its regions; how many there are and "
        "where they lie was left out.",
    )


@pytest.mark.parametrize(
    ("who", "name"),
    [(3, "3"), ("08", "08"), ({"id": 5, "email": "a@b.org"}, "5"), ({"email": "a@b.org"}, "a@b.org")],
)
def test_an_id_goes_before_an_address(read: Callable[..., VoteTable], who: Any, name: str) -> None:
    table = read([task(result(choices=["glad"]), who=who)])
    assert table.frame["annotator"].to_list() == [name]
    assert bool(table.notes) == ("@" in name)
    assert all("e-mail addresses stand as their names" in note for note in table.notes)


def test_what_is_no_vote_is_left_out_and_counted(read: Callable[..., VoteTable]) -> None:
    cancelled = task(result(choices=["sad"]), was_cancelled=True)
    empty = task(id=8)
    predicted = task(result(choices=["sad"]), id=9) | {"predictions": [{"result": []}, {"result": []}]}
    relation = task(result(choices=["glad"]), {"type": "relation", "from_id": "a", "to_id": "b"}, id=10)
    table = read([cancelled, empty, predicted, relation])
    assert table.frame.rows() == [("9", "3", "sad", 3), ("10", "3", "glad", 4)]
    assert table.notes == (
        "Left out: cancelled annotations (1).",
        "Left out: predictions by models (2).",
        "Left out: annotations without an answer to 'mood' (1).",
    )


def test_annotations_without_the_control_are_left_out(read: Callable[..., VoteTable]) -> None:
    record = {"text": "a", "id": 1, "mood": "glad", "annotator": 3, "annotation_id": 2, "lead_time": 1.5}
    table = read([record, record | {"id": 2, "mood": None}, record | {"id": 3, "mood": {"rating": 2}}])
    assert table.frame.rows() == [("1", "3", "glad", 1), ("3", "3", "2", 3)]
    assert table.notes == ("Left out: annotations without an answer to 'mood' (1).",)


def test_a_result_without_a_value_is_no_answer(read: Callable[..., VoteTable]) -> None:
    odd = {"from_name": "mood", "type": "choices"}
    assert read([task(odd, result(choices=["glad"]))]).frame["label"].to_list() == ["glad"]


def test_names_choose_the_control_the_item_and_the_annotator(read: Callable[..., VoteTable]) -> None:
    both = task(result(choices=["glad"]), result("stars", rating=5), who={"id": 1, "username": "ann"}, reviewer="r1")
    assert read([both], label="stars").frame["label"].to_list() == ["5"]
    assert read([both], label="mood", item="key").frame["item"].to_list() == ["k7"]
    assert read([both], label="mood", annotator="username").frame["annotator"].to_list() == ["ann"]
    assert read([both], label="mood", annotator="reviewer").frame["annotator"].to_list() == ["r1"]


def test_completions_of_old_versions_are_annotations(read: Callable[..., VoteTable]) -> None:
    old = task(result(choices=["glad"]))
    old["completions"] = old.pop("annotations")
    assert read([old]).frame.rows() == [("7", "3", "glad", 1)]


def test_a_record_per_line_is_read_too(write: Write) -> None:
    text = "".join(json.dumps(task(result(choices=[mood]), id=mood)) + "\n" for mood in ("glad", "sad"))
    table = formats.read("label_studio", write("export.jsonl", text))
    assert table.frame.rows() == [("glad", "3", "glad", 1), ("sad", "3", "sad", 2)]


BROKEN = {
    "two labels": (
        [task(result(choices=["glad", "sad"]))],
        r"record 1 \(task 7\), annotation 1 by annotator '3', control 'mood': gives 2 labels \('glad', 'sad'\)",
    ),
    "regions of two classes": ([task(result(labels=["a"]), result(labels=["b"]))], "gives 2 labels"),
    "several controls": (
        [task(result(choices=["glad"]), result("stars", rating=5))],
        r"has more than one control: 'mood', 'stars'. Name one \(label='mood', on the command line --label\)",
    ),
    "no annotations": ([{"id": 7, "data": {}}], "record 1 .task 7.: the field 'annotations' must be a list"),
    "ids for annotations": (
        [{"id": 7, "data": {}, "annotations": [12]}],
        r"annotation 1: must be an object with fields. Got 12. Export the annotations themselves",
    ),
    "results of a wrong type": ([task(result(choices=["a"])) | {"annotations": "none"}], "must be a list. Got 'none'"),
    "empty list of annotations": (
        [{"id": 7, "data": {}, "annotations": []}],
        "holds no judgement by anybody. Export it with its annotations",
    ),
    "free text only": ([task(result(text=["so"]))], "holds no judgement by anybody"),
    "only cancelled": ([task(result(choices=["a"]), was_cancelled=True)], r"Left out: cancelled annotations \(1\)"),
    "nobody": ([task(result(choices=["glad"]), who=None)], "annotation 1: the field 'completed_by' is missing"),
    "a blank annotator": ([task(result(choices=["glad"]), who=" ")], "annotation 1: the annotator is blank"),
    "a blank choice": ([task(result(choices=[""]))], "annotation 1: the label is blank"),
    "no id": ([task(result(choices=["glad"]), id=None)], r"its task\): the field 'id' is missing"),
    "a choice within a choice": ([task(result(choices=[["glad"]]))], "'choices': one text or number is wanted"),
    "taxonomy without steps": ([task(result(taxonomy=["glad"]))], "each taxonomy answer must be a list of steps"),
    "one record of another kind": ([task(result(choices=["a"])), 3], "record 2: must be an object with fields. Got 3"),
    "an annotator missing in the small export": (
        [{"id": 1, "mood": "a", "annotator": 3}, {"id": 2, "mood": "a", "annotator": None}],
        "record 2: the field 'annotator' is missing",
    ),
    "several controls in the small export": (
        [{"text": "a", "id": 1, "mood": "glad", "tone": "low", "annotator": 3, "annotation_id": 2}],
        "has more than one control: 'mood', 'tone'",
    ),
    "two labels in the small export": (
        [{"text": "a", "id": 1, "mood": {"choices": ["glad", "sad"]}, "annotator": 3}],
        "record 1 by annotator '3', control 'mood': gives 2 labels",
    ),
    "no class in the small export": (
        [{"text": "a", "id": 1, "mood": {"text": "glad"}, "annotator": 3}],
        "control 'mood': is no answer by classes",
    ),
}


@pytest.mark.parametrize("fault", BROKEN)
def test_a_fault_is_told_with_its_place(read: Callable[..., VoteTable], fault: str) -> None:
    records, sentence = BROKEN[fault]
    with pytest.raises(InputError, match=sentence) as caught:
        read(records)
    assert "export.json" in str(caught.value)


def test_a_control_a_field_or_an_option_that_is_not_there_is_told(read: Callable[..., VoteTable]) -> None:
    records = [task(result(choices=["glad"]))]
    with pytest.raises(InputError, match=r"has no control 'tone' .label='tone'.. It has: 'mood'"):
        read(records, label="tone")
    with pytest.raises(InputError, match=r"data: the field 'name' is missing .it has: 'text', 'key'."):
        read(records, item="name")
    with pytest.raises(OptionError, match="takes no option 'task'"):
        read(records, task="mood")


def test_a_file_that_was_cut_is_told(example: Callable[[str], Path]) -> None:
    path = example("label_studio")
    path.write_text(path.read_text()[:-80])
    with pytest.raises(InputError, match=r"export.json, line \d+: the file ends too early"):
        formats.read("label_studio", path)
