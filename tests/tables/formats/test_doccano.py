from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sfumato.errors import InputError
from sfumato.tables import formats
from sfumato.tables.vote_table import VoteTable

Write = Callable[[str, str], Path]


@pytest.fixture
def read(write: Write) -> Callable[..., VoteTable]:
    def read(*records: dict[str, Any], name: str = "ann.jsonl", **options: str) -> VoteTable:
        return formats.read("doccano", write(name, "\n".join(map(json.dumps, records))), **options)

    return read


def test_a_file_is_one_annotators(example: Callable[[str], Path]) -> None:
    table = formats.read("doccano", example("doccano"))
    assert table.frame.rows() == [("1", "ann", "glad", 1), ("3", "ann", "sad", 3)]
    assert table.columns == {"item": "id", "annotator": "the name of the file", "label": "label"}
    assert table.notes == (
        "The annotators are named after the files: ann.",
        "Left out: records without a label (1).",
    )


def test_several_files_are_several_annotators(write: Write) -> None:
    paths = [write(f"{who}.jsonl", json.dumps({"id": 1, "text": "a", "label": [who[0]]})) for who in ("ann", "bob")]
    assert formats.read("doccano", paths).frame.rows() == [("1", "ann", "a", 1), ("1", "bob", "b", 1)]


@pytest.mark.parametrize("ending", [".jsonl", ".json", ".jsonl.gz"])
def test_the_ending_is_no_part_of_the_name(read: Callable[..., VoteTable], ending: str) -> None:
    table = read({"id": 1, "text": "a", "label": ["x"]}, name=f"ann{ending}")
    assert table.frame["annotator"].to_list() == ["ann"]


def test_names_inside_go_before_the_name_of_the_file(example: Callable[[str], Path]) -> None:
    table = formats.read("doccano", example("doccano_named"))
    assert table.frame.rows() == [("1", "ann", "glad", 1), ("1", "bob", "sad", 2)]
    assert table.notes == ()


def test_the_numbers_of_version_one_are_taken_as_they_are(example: Callable[[str], Path]) -> None:
    table = formats.read("doccano", example("doccano_numbers"))
    assert table.frame.rows() == [("1", "1", "2", 1), ("1", "4", "3", 1)]
    assert "doccano's own numbers" in table.notes[0]


def test_names_choose_the_fields(read: Callable[..., VoteTable]) -> None:
    record = {"id": 1, "key": "k1", "text": "a", "cats": ["x"], "tone": ["low"], "by": "cy"}
    assert read(record, item="key", annotator="by", label="tone").frame.rows() == [("k1", "cy", "low", 1)]
    assert read(record).frame["label"].to_list() == ["x"]


def test_nothing_for_a_label_is_no_judgement(write: Write) -> None:
    numbered = [
        {"id": 1, "text": "a", "annotations": []},
        {"id": 2, "text": "b", "annotations": [{"label": 1, "user": 4}]},
    ]
    table = formats.read("doccano", write("old.jsonl", "\n".join(map(json.dumps, numbered))))
    assert table.frame.rows() == [("2", "4", "1", 2)]
    assert table.notes[1:] == ("Left out: records without a label (1).",)
    listed = [{"id": 1, "text": "a", "label": ["x"]}, {"id": 2, "text": "b", "label": None}]
    table = formats.read("doccano", write("ann.jsonl", "\n".join(map(json.dumps, listed))))
    assert table.frame.rows() == [("1", "ann", "x", 1)]
    assert table.notes[1:] == ("Left out: records without a label (1).",)


BROKEN: dict[str, tuple[list[dict[str, Any]], str]] = {
    "two labels": ([{"id": 1, "text": "a", "label": ["x", "y"]}], "line 1, field 'label': gives 2 labels"),
    "spans": ([{"id": 1, "text": "a", "label": [[0, 3, "PER"]]}], "line 1: the field 'label' holds spans or boxes"),
    "spans of version one": (
        [{"id": 1, "text": "a", "annotations": [{"label": 1, "user": 1, "start_offset": 0}]}],
        "annotation 1: is a span, not a class",
    ),
    "no labels field": ([{"id": 1, "text": "a", "label": ["x"]}, {"id": 2, "text": "b"}], "line 2: the field 'label'"),
    "no id": ([{"text": "a", "label": ["x"]}], "line 1: the field 'id' is missing .it has: 'text', 'label'."),
    "all lists empty": ([{"id": 1, "text": "a", "label": []}], r"no judgement by anybody .*without a label \(1\)"),
    "a blank label": ([{"id": 1, "text": "a", "label": [""]}], "line 1: the label is blank"),
    "a wrong type": ([{"id": 1, "text": "a", "label": {"x": 1}}], "the field 'label' holds spans or boxes"),
    "nobody in version one": (
        [{"id": 1, "text": "a", "annotations": [{"label": 1}]}],
        "annotation 1: the field 'user' is missing",
    ),
    "a name missing": (
        [{"id": 1, "text": "a", "label": ["x"], "user": "ann"}, {"id": 1, "text": "a", "label": ["x"]}],
        "line 2: the field 'user' is missing",
    ),
}


@pytest.mark.parametrize("fault", BROKEN)
def test_a_fault_is_told_with_its_place(read: Callable[..., VoteTable], fault: str) -> None:
    records, sentence = BROKEN[fault]
    with pytest.raises(InputError, match=sentence) as caught:
        read(*records)
    assert "ann.jsonl" in str(caught.value)


@pytest.mark.parametrize("name", ["all", "unknown"])
def test_a_file_that_is_nobodys_is_told(read: Callable[..., VoteTable], name: str) -> None:
    with pytest.raises(InputError, match=f"{name}.jsonl: nothing says who judged"):
        read({"id": 1, "text": "a", "label": ["x"]}, name=f"{name}.jsonl")


def test_two_files_of_one_name_are_told(write: Write) -> None:
    text = json.dumps({"id": 1, "text": "a", "label": ["x"]})
    with pytest.raises(InputError, match="Two files are called 'ann'"):
        formats.read("doccano", [write("one/ann.jsonl", text), write("two/ann.jsonl", text)])


def test_a_file_that_was_cut_is_told(example: Callable[[str], Path]) -> None:
    path = example("doccano_named")
    path.write_text(path.read_text()[:-4])
    with pytest.raises(InputError, match=r"all.json, line 1: the file ends too early"):
        formats.read("doccano", path)
