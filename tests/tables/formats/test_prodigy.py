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
    def read(*records: dict[str, Any], **options: str) -> VoteTable:
        return formats.read("prodigy", write("db.jsonl", "\n".join(map(json.dumps, records))), **options)

    return read


def line(**fields: Any) -> dict[str, Any]:
    return {"text": "a", "_input_hash": 12, "_task_hash": -5, "_annotator_id": "ann", "answer": "accept"} | fields


def test_the_accepted_option_is_the_label(example: Callable[[str], Path]) -> None:
    table = formats.read("prodigy", example("prodigy_choice"))
    assert table.frame.rows() == [
        ("-31", "moods-ann", "glad", 1),
        ("-31", "moods-bob", "sad", 2),
        ("5", "moods-ann", "sad", 3),
    ]
    assert table.columns == {"item": "_input_hash", "annotator": "_annotator_id", "label": "accept"}
    assert table.notes == ("Left out: ignored lines (1).",)


def test_one_label_put_to_the_vote_is_accepted_or_rejected(example: Callable[[str], Path]) -> None:
    table = formats.read("prodigy", example("prodigy_binary"))
    assert table.frame.rows() == [("1", "ann", "accept", 1), ("1", "bob", "reject", 2)]
    assert table.columns["label"] == "answer (label SPORT)"


def test_of_several_labels_one_is_chosen(read: Callable[..., VoteTable]) -> None:
    records = [line(label="SPORT"), line(label="NEWS", answer="reject")]
    assert read(*records, label="NEWS").frame.rows() == [("12", "ann", "reject", 2)]


def test_an_answer_alone_is_a_label(read: Callable[..., VoteTable]) -> None:
    assert read(line(), line(answer="reject", _input_hash=13)).frame["label"].to_list() == ["accept", "reject"]


def test_old_lines_name_the_session_alone(read: Callable[..., VoteTable]) -> None:
    old = line(accept=["a"], _session_id="moods-2020-01-02_10-00-00")
    del old["_annotator_id"]
    nobody = line(accept=["a"], _annotator_id="2020-01-02_10-00-00")
    table = read(old, nobody)
    assert table.frame["annotator"].to_list() == ["moods-2020-01-02_10-00-00", "2020-01-02_10-00-00"]
    assert table.notes == (
        "Some annotators are sessions that nobody named; they are called by the time of their start.",
    )


def test_names_choose_the_item_and_the_annotator(read: Callable[..., VoteTable]) -> None:
    record = line(accept=[3], meta={"id": "08"}, crowd="c1")
    table = read(record, item="id", annotator="crowd")
    assert table.frame.rows() == [("08", "c1", "3", 1)]
    assert read(record, item="text").frame["item"].to_list() == ["a"]


def test_rejected_and_empty_choices_are_left_out(read: Callable[..., VoteTable]) -> None:
    table = read(line(accept=["a"], answer="reject"), line(accept=[]), line(accept=["b"]))
    assert table.frame["label"].to_list() == ["b"]
    assert table.notes == ("Left out: rejected choices (1).", "Left out: choices left empty (1).")


BROKEN = {
    "two labels": ([line(accept=["a", "b"])], "line 1, field 'accept': gives 2 labels"),
    "no answer": ([line(answer=None)], "line 1: the field 'answer' is missing"),
    "an unknown answer": ([line(answer="yes")], "line 1: the answer must be accept, reject or ignore. Got 'yes'"),
    "a wrong type": ([line(accept="a")], "'accept' must be a list of options. Got 'a'"),
    "options without accept": ([line(options=[{"id": "a"}])], "'accept' must be a list of options. Got nothing"),
    "a mixture": ([line(accept=["a"]), line(label="SPORT")], "line 2: has no 'accept' where others have"),
    "spans": ([line(spans=[], _view_id="ner_manual")], r"line 1: holds spans \(ner_manual\), not classes"),
    "nobody": ([line(accept=["a"], _annotator_id=None)], "line 1: the field '_annotator_id' is missing"),
    "no item": ([line(accept=["a"], _input_hash=None)], "line 1: the field '_input_hash' is missing"),
    "several labels": ([line(label="A"), line(label="B")], "more than one label put to the vote: 'A', 'B'"),
    "all ignored": ([line(answer="ignore")], r"holds no judgement by anybody \(Left out: ignored lines \(1\).\)"),
    "a list for a label": ([line(label=["A"])], "field 'label': one text or number is wanted. Got a list of 1"),
}


@pytest.mark.parametrize("fault", BROKEN)
def test_a_fault_is_told_with_its_place(read: Callable[..., VoteTable], fault: str) -> None:
    records, sentence = BROKEN[fault]
    with pytest.raises(InputError, match=sentence) as caught:
        read(*records)
    assert "db.jsonl" in str(caught.value)


def test_a_label_has_no_use_for_choices(read: Callable[..., VoteTable]) -> None:
    with pytest.raises(OptionError, match="takes no option 'label'"):
        read(line(accept=["a"]), label="a")


def test_a_line_that_was_cut_or_damaged_is_told(write: Write, example: Callable[[str], Path]) -> None:
    path = example("prodigy_choice")
    text = path.read_text()
    path.write_text(text[:-30])
    with pytest.raises(InputError, match=r"choices.jsonl, line 4: the file ends too early"):
        formats.read("prodigy", path)
    first, rest = text.split("\n", 1)
    with pytest.raises(InputError, match=r"choices.jsonl, line 2, character \d+: is not JSON"):
        formats.read("prodigy", write("choices.jsonl", first + "\n{'text': 1}\n" + rest))
