from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from sfumato.errors import InputError, OptionError
from sfumato.tables import formats
from sfumato.tables.vote_table import VoteTable

Write = Callable[[str, str], Path]


@pytest.fixture
def read(write: Write) -> Callable[..., VoteTable]:
    def read(answers: str, *rows: str, **options: str) -> VoteTable:
        text = f"HITId,WorkerId,AssignmentStatus,Input.text,{answers}\n" + "\n".join(rows) + "\n"
        return formats.read("mturk", write("batch.csv", text), **options)

    return read


def test_each_assignment_is_a_vote(example: Callable[[str], Path]) -> None:
    table = formats.read("mturk", example("mturk"))
    # The first row holds a line break, so the second begins on line 4.
    assert table.frame.rows() == [("08", "W1", "glad", 2), ("08", "W2", "sad", 4)]
    assert table.columns == {"item": "Input.image_id", "annotator": "WorkerId", "label": "Answer.mood.label"}
    assert table.notes == ("Left out: rejected assignments (1).",)


@pytest.mark.parametrize("name", ["mturk_boxes", "mturk_json"])
def test_boxes_and_json_say_the_same(example: Callable[[str], Path], name: str) -> None:
    table = formats.read("mturk", example(name))
    assert table.frame.rows() == [("08", "W1", "glad", 2), ("08", "W2", "sad", 3)]
    assert table.columns["label"] == "Answer.mood"


def test_without_an_id_the_hit_is_the_item(read: Callable[..., VoteTable]) -> None:
    assert read("Answer.mood", "H1,W1,Approved,a,glad").frame["item"].to_list() == ["H1"]
    assert read("Answer.mood", "H1,W1,Approved,a,glad", item="Input.text").frame["item"].to_list() == ["a"]


def test_radio_buttons_are_classes_of_one_question(read: Callable[..., VoteTable]) -> None:
    table = read("Answer.glad.on,Answer.sad.on", "H1,W1,Approved,a,true,false", "H1,W2,Approved,a,FALSE,TRUE")
    assert table.frame["label"].to_list() == ["glad", "sad"]


def test_a_box_that_stands_alone_is_true_or_false(read: Callable[..., VoteTable]) -> None:
    table = read("Answer.spam.on", "H1,W1,Approved,a,true", "H1,W2,Approved,a,false")
    assert table.frame["label"].to_list() == ["true", "false"]


def test_what_was_rejected_or_not_answered_is_left_out(read: Callable[..., VoteTable]) -> None:
    rows = [
        "H1,W1,Submitted,a,glad,,",
        "H1,W2,Submitted,a,glad,,spam",
        "H1,W3,Approved,a,{},x,",
        "H1,W4,Approved,a,,x,",
    ]
    table = read("Answer.mood,Approve,Reject", *rows)
    assert table.frame["annotator"].to_list() == ["W1"]
    assert table.notes == (
        "Left out: rejected assignments (1).",
        "Left out: assignments without an answer to 'mood' (2).",
    )


@pytest.mark.parametrize(
    ("cell", "label"),
    [
        ('[{""mood"":""glad""}]', "glad"),
        ('{""mood"":{""glad"":true,""sad"":false}}', "glad"),
        ('[{""mood"":{""label"":""glad""}}]', "glad"),
        ('[{""mood"":{""labels"":[""glad""]}}]', "glad"),
        ('[{""mood"":4}]', "4"),
        ('[{""mood"":0}]', "0"),
        ('[{""mood"":false,""why"":""""}]', "false"),
    ],
)
def test_each_json_answer_gives_its_class(read: Callable[..., VoteTable], cell: str, label: str) -> None:
    assert read("Answer.taskAnswers", f'H1,W1,Approved,a,"{cell}"').frame["label"].to_list() == [label]


def test_answers_to_other_questions_need_not_be_classes(read: Callable[..., VoteTable]) -> None:
    cell = '"[{""mood"":{""glad"":true},""boxes"":{""top"":3},""on"":true}]"'
    for label, said in (("mood", "glad"), ("on", "true")):
        table = read("Answer.taskAnswers", f"H1,W1,Approved,a,{cell}", label=label)
        assert table.frame["label"].to_list() == [said]
    with pytest.raises(InputError, match=r"question 'boxes': must be a class, or true and false per class. Got 3"):
        read("Answer.taskAnswers", f"H1,W1,Approved,a,{cell}", label="boxes")


def test_an_empty_cell_of_json_is_no_answer(read: Callable[..., VoteTable]) -> None:
    table = read("Answer.taskAnswers", 'H1,W1,Approved,a,"[{""mood"":""glad""}]"', "H2,W1,Approved,a,")
    assert table.frame["item"].to_list() == ["H1"]
    assert table.notes == ("Left out: assignments without an answer to 'mood' (1).",)


def test_names_choose_the_question(read: Callable[..., VoteTable]) -> None:
    row = "H1,W1,Approved,a,glad,because"
    for name in ("mood", "Answer.mood"):
        assert read("Answer.mood,Answer.why", row, label=name).frame["label"].to_list() == ["glad"]


JSON = "Answer.taskAnswers"
BROKEN = {
    "two boxes": (
        "Answer.mood.glad,Answer.mood.sad",
        ["H1,W1,Approved,a,true,true"],
        r"line 2, question 'mood': gives 2 labels \('glad', 'sad'\)",
    ),
    "two labels in JSON": (JSON, ['H1,W1,Approved,a,"[{""m"":{""labels"":[""a"",""b""]}}]"'], "gives 2 labels"),
    "several questions": ("Answer.a,Answer.b", ["H1,W1,Approved,a,x,y"], "has more than one question: 'a', 'b'"),
    "an open quote": (JSON, ['H1,W1,Approved,a,"[{""m""'], "line 2: a quoted cell never ends"),
    "cut JSON": (
        JSON,
        ['H1,W1,Approved,a,"[{""m"":"'],
        "line 2, column 'Answer.taskAnswers': the JSON in the cell ends too early",
    ),
    "JSON of another kind": (JSON, ["H1,W1,Approved,a,7"], "must hold an object of answers. Got 7"),
    "a number for true": (JSON, ['H1,W1,Approved,a,"[{""m"":{""a"":2}}]"'], "true and false per class. Got 2"),
    "a blank worker": ("Answer.m", ["H1,,Approved,a,glad"], "line 2: the annotator is blank"),
    "a blank item": ("Answer.m", [",W1,Approved,a,glad"], "line 2: the item is blank"),
    "a cell too many": ("Answer.m", ["H1,W1,Approved,a,glad,more"], "line 2: has 6 cells where the header has 5"),
    "all rejected": ("Answer.m", ["H1,W1,Rejected,a,glad"], r"no judgement by anybody \(Left out: rejected"),
    "no answers": ("Answer.m", ["H1,W1,Approved,a,"], "holds no judgement by anybody"),
    "no rows": ("Answer.m", [], "has a header and no row below it"),
}


@pytest.mark.parametrize("fault", BROKEN)
def test_a_fault_is_told_with_its_place(read: Callable[..., VoteTable], fault: str) -> None:
    answers, rows, sentence = BROKEN[fault]
    with pytest.raises(InputError, match=sentence) as caught:
        read(answers, *rows)
    assert "batch.csv" in str(caught.value)


def test_a_column_that_is_not_there_is_told(write: Write, read: Callable[..., VoteTable]) -> None:
    with pytest.raises(InputError, match=r"has no column 'Input.id' .item='Input.id'.. It has: 'HITId'"):
        read("Answer.m", "H1,W1,Approved,a,glad", item="Input.id")
    with pytest.raises(InputError, match="has no column 'WorkerId'"):
        formats.read("mturk", write("batch.csv", "HITId,Answer.m\nH1,glad\n"))
    with pytest.raises(InputError, match="has no question 'tone'"):
        read("Answer.m", "H1,W1,Approved,a,glad", label="tone")
    with pytest.raises(OptionError, match="takes no option 'task'"):
        read("Answer.m", "H1,W1,Approved,a,glad", task="m")
