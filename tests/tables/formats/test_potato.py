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
    def read(*schemes: Any, **options: str) -> VoteTable:
        records = [
            {"user_id": "ann", "instance_id": f"i{number}", "label_annotations": said}
            for number, said in enumerate(schemes, start=1)
        ]
        return formats.read("potato", write("out.jsonl", "\n".join(map(json.dumps, records))), **options)

    return read


@pytest.mark.parametrize("name", ["potato", "potato_new", "potato_table", "potato_dotted"])
def test_each_layout_gives_the_label_that_is_set(example: Callable[[str], Path], name: str) -> None:
    table = formats.read("potato", example(name), label="mood")
    header = name in ("potato_table", "potato_dotted")
    assert table.frame.rows() == [("i1", "ann", "glad", 1 + header), ("i1", "bob", "sad", 2 + header)]
    user = "user" if name == "potato_table" else "user_id"
    assert table.columns == {"item": "instance_id", "annotator": user, "label": "mood"}


def test_the_file_of_one_user_is_named_by_its_folder(write: Write) -> None:
    text = json.dumps({"id": "08", "displayed_text": "a", "label_annotations": {"mood": {"glad": "1"}}})
    paths = [write(f"{who}/annotated_instances.jsonl", text) for who in ("ann", "bob")]
    table = formats.read("potato", paths)
    assert table.frame.rows() == [("08", "ann", "glad", 1), ("08", "bob", "glad", 1)]
    assert table.notes == ("The annotators are named after the folders that the files stand in.",)
    assert formats.recognise(paths[0]) == "potato"


def test_the_oldest_layout_is_read(write: Write) -> None:
    text = json.dumps({"id": "1", "displayed_text": "a", "annotation": {"mood": {"glad": "1"}}})
    path = write("ann/annotated_instances.jsonl", text)
    assert formats.recognise(path) == "potato"
    assert formats.read("potato", path).frame.rows() == [("1", "ann", "glad", 1)]


@pytest.mark.parametrize(
    ("said", "label"),
    [
        ({"glad": "1", "sad": "false"}, "glad"),
        ({"glad": True, "sad": False}, "glad"),
        ({"glad": "glad", "sad": None}, "glad"),
        ({"scale_10": "10"}, "10"),
        ({"scale_2": "high"}, "scale_2"),
        ({"slider": 35}, "35"),
        ({"": "08"}, "08"),
        ({"other": "true", "free_response": "something"}, "other"),
    ],
)
def test_what_is_set_is_the_label(read: Callable[..., VoteTable], said: dict[str, Any], label: str) -> None:
    assert read({"mood": said}).frame["label"].to_list() == [label]


def test_instances_without_an_answer_are_left_out(read: Callable[..., VoteTable]) -> None:
    table = read({"mood": {"glad": "1"}}, {"mood": {}}, {})
    assert table.frame.rows() == [("i1", "ann", "glad", 1)]
    assert table.notes == ("Left out: instances without an answer to 'mood' (2).",)


def test_names_choose_the_fields(write: Write) -> None:
    path = write("a.csv", "user,instance_id,page,crowd,mood:::glad,mood:::sad,tone:::low\nann,i1,p1,c1,1,,1\n")
    table = formats.read("potato", path, item="page", annotator="crowd", label="tone")
    assert table.frame.rows() == [("p1", "c1", "low", 2)]


BROKEN: dict[str, tuple[list[Any], str]] = {
    "two labels": ([{"mood": {"glad": "1", "sad": "2"}}], "line 1, scheme 'mood': gives 2 labels"),
    "several schemes": ([{"mood": {"glad": "1"}, "tone": {"low": "1"}}], "more than one scheme: 'mood', 'tone'"),
    "a list of schemes": ([["mood"]], "'label_annotations' must be an object of schemes. Got a list of 1"),
    "a label for a scheme": ([{"mood": "glad"}], "scheme 'mood': must be an object of labels. Got 'glad'"),
    "no schemes": ([None], "line 1: the field 'label_annotations' is missing"),
    "nothing set": ([{"mood": {"glad": ""}}, {}], "holds no judgement by anybody"),
    "free text": ([{"why": {"text_box": "so"}}], "scheme 'why': holds free text, not a class"),
    "a list for a value": ([{"mood": {"slider": [1, 2]}}], "one text or number is wanted. Got a list of 2"),
}


@pytest.mark.parametrize("fault", BROKEN)
def test_a_fault_is_told_with_its_place(read: Callable[..., VoteTable], fault: str) -> None:
    schemes, sentence = BROKEN[fault]
    with pytest.raises(InputError, match=sentence) as caught:
        read(*schemes)
    assert "out.jsonl" in str(caught.value)


TABLES = {
    "too few cells": ("user,instance_id,mood:::glad\nann,i1\n", "line 2: has 2 cells where the header has 3"),
    "a column twice": ("user,instance_id,user,mood:::a\nx,i1,y,1\n", "the column 'user' stands more than once"),
    "no instance": ("user,instance_id,mood:::glad\nann,,1\n", "line 2: the field 'instance_id' is missing"),
    "no rows": ("user,instance_id,mood:::glad\n", "has a header and no row below it"),
    "two boxes": ("user,instance_id,mood:::a,mood:::b\nann,i1,1,1\n", "line 2, scheme 'mood': gives 2 labels"),
    "an open quote": ('user,instance_id,mood:::a\nann,"i1,1\n', "line 2: a quoted cell never ends"),
}


@pytest.mark.parametrize("fault", TABLES)
def test_a_fault_of_a_table_is_told_with_its_line(write: Write, fault: str) -> None:
    text, sentence = TABLES[fault]
    with pytest.raises(InputError, match=sentence) as caught:
        formats.read("potato", write("out.csv", text))
    assert "out.csv" in str(caught.value)
