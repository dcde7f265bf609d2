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
    return lambda *records, **options: formats.read("argilla", write("records.json", json.dumps(records)), **options)


def record(id: Any = "r1", **responses: Any) -> dict[str, Any]:
    fields = {"text": "a", "key": "k1"}
    return {"id": id, "fields": fields, "metadata": {"page": 5}, "responses": responses, "suggestions": {}}


def said(value: Any, who: Any = "u1", **fields: Any) -> dict[str, Any]:
    return {"value": value, "user_id": who, **fields}


@pytest.mark.parametrize(
    ("name", "rows", "notes"),
    [
        (
            "argilla",
            [("r1", "u1", "glad", 1), ("r1", "u2", "sad", 1), ("r2", "u1", "sad", 2)],
            ["Responses without a status count as submitted; a flat export tells drafts apart."],
        ),
        (
            "argilla_flat",
            [("r1", "u1", "glad", 1), ("r3", "u1", "sad", 3)],
            ["Left out: responses with the status draft (1)."],
        ),
        (
            "argilla_feedback",
            [("e2", "u1", "glad", 2), ("e3", "u1", "sad", 3)],
            ["Left out: responses with the status discarded (1)."],
        ),
        ("argilla_server", [("r1", "u1", "glad", 1)], []),
        ("argilla_one", [("r1", "u1", "glad", 1)], []),
    ],
)
def test_each_layout_gives_its_submitted_votes(
    example: Callable[[str], Path], name: str, rows: list[tuple[Any, ...]], notes: list[str]
) -> None:
    table = formats.read("argilla", example(name))
    assert table.frame.rows() == rows
    assert list(table.notes) == notes


@pytest.mark.parametrize(("value", "label"), [("08", "08"), (3, "3"), (True, "true"), (["glad"], "glad")])
def test_a_value_becomes_a_label(read: Callable[..., VoteTable], value: Any, label: str) -> None:
    assert read(record(mood=[said(value)])).frame["label"].to_list() == [label]


def test_names_choose_the_question_and_the_item(read: Callable[..., VoteTable]) -> None:
    both = record(mood=[said("glad")], stars=[said(4)])
    assert read(both, label="stars").frame.rows() == [("r1", "u1", "4", 1)]
    assert read(both, label="mood", item="key").frame["item"].to_list() == ["k1"]
    assert read(both, label="mood", item="page").frame["item"].to_list() == ["5"]
    assert read(both, label="mood").columns == {"item": "id", "annotator": "user_id", "label": "mood"}


def test_a_question_with_drafts_alone_is_not_offered(read: Callable[..., VoteTable]) -> None:
    table = read(record(mood=[said("glad", status="submitted")], tone=[said("low", status="draft")]))
    assert table.frame["label"].to_list() == ["glad"]


def test_responses_without_a_value_are_left_out(read: Callable[..., VoteTable]) -> None:
    table = read(record(mood=[said(None, status="submitted"), said("glad", "u2", status="submitted")]))
    assert table.frame.rows() == [("r1", "u2", "glad", 1)]
    assert table.notes == ("Left out: responses without a value (1).",)


def test_a_field_of_a_flat_record_may_be_the_item(example: Callable[[str], Path]) -> None:
    assert formats.read("argilla", example("argilla_flat"), item="text").frame["item"].to_list() == ["a", "c"]


def test_records_without_an_id_are_numbered(read: Callable[..., VoteTable]) -> None:
    table = read(record(None, mood=[said("glad")]), record(None, mood=[said("sad")]))
    assert table.frame["item"].to_list() == ["1", "2"]
    assert any("have no id" in note for note in table.notes)


BROKEN = {
    "two labels": ([record(mood=[said(["a", "b"])])], "record 1 by user 'u1', question 'mood': gives 2 labels"),
    "no label in a list": ([record(mood=[said([])])], "gives 0 labels"),
    "a ranking": ([record(mood=[said([{"value": "a", "rank": 1}])])], "is a ranking or a list of spans, not a class"),
    "several questions": ([record(a=[said("x")], b=[said("y")])], "has more than one question: 'a', 'b'"),
    "nobody": ([record(mood=[said("glad", None)])], "question 'mood', response 1: the field 'user_id' is missing"),
    "a blank label": ([record(mood=[said(" ")])], "record 1: the label is blank"),
    "a wrong type": ([record(mood="glad")], "record 1, responses: the field 'mood' must be a list. Got 'glad'"),
    "responses of a wrong type": ([{"id": 1, "fields": {}, "responses": 3}], "'responses' must be an object or a list"),
    "a response that is a text": ([record(mood=["glad"])], "response 1: must be an object with fields. Got 'glad'"),
    "values that are a list": (
        [{"id": 1, "fields": {}, "responses": [{"user_id": "u1", "values": ["glad"]}]}],
        "'values' must be an object of questions. Got a list of 1",
    ),
    "no responses": ([record()], "holds no judgement by anybody"),
    "empty list": ([record(mood=[])], "holds no judgement by anybody"),
    "drafts alone": ([record(mood=[said("a", status="draft")])], r"Left out: responses with the status draft \(1\)"),
    "lists of unequal length": (
        [{"id": "r1", "mood.responses": ["a", "b"], "mood.responses.users": ["u1"]}],
        r"question 'mood': values and users must be lists of equal length. Got \{'value': 2, 'user_id': 1\}",
    ),
    "no users": ([{"id": "r1", "mood.responses": ["a"]}], "values and users must be lists of equal length. Export"),
    "a text for a list": (
        [{"id": "r1", "mood.responses": "a", "mood.responses.users": "u1"}],
        "values and users must be lists of equal length",
    ),
}


@pytest.mark.parametrize("fault", BROKEN)
def test_a_fault_is_told_with_its_place(read: Callable[..., VoteTable], fault: str) -> None:
    records, sentence = BROKEN[fault]
    with pytest.raises(InputError, match=sentence) as caught:
        read(*records)
    assert "records.json" in str(caught.value)


def test_an_option_that_has_no_use_is_refused(read: Callable[..., VoteTable]) -> None:
    with pytest.raises(OptionError, match="takes no option 'annotator'"):
        read(record(mood=[said("glad")]), annotator="user")
    with pytest.raises(InputError, match="has no question 'tone'"):
        read(record(mood=[said("glad")]), label="tone")


def test_a_line_that_was_cut_is_told(example: Callable[[str], Path]) -> None:
    path = example("argilla_flat")
    path.write_text(path.read_text()[:-9])
    with pytest.raises(InputError, match=r"flat.jsonl, line 3: the file ends too early"):
        formats.read("argilla", path)
