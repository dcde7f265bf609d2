from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from sfumato.errors import FormatError, InputError
from sfumato.tables import formats
from sfumato.tables.vote_table import VoteTable

Write = Callable[[str, str], Path]


@pytest.fixture
def read(write: Write) -> Callable[..., VoteTable]:
    def read(header: str, *rows: str, **options: str) -> VoteTable:
        text = "\n".join([header, *rows]).replace(" ", "\t") + "\n"
        return formats.read("toloka", write("pool.tsv", text), **options)

    return read


HEADER = "INPUT:image OUTPUT:mood ASSIGNMENT:worker_id ASSIGNMENT:status"


def test_each_task_of_an_assignment_is_a_vote(example: Callable[[str], Path]) -> None:
    table = formats.read("toloka", example("toloka"))
    assert table.frame.rows() == [("08.png", "w1", "glad", 2), ("08.png", "w2", "sad", 4)]
    assert table.columns == {"item": "INPUT:image", "annotator": "ASSIGNMENT:worker_id", "label": "OUTPUT:mood"}
    assert table.notes == (
        "1 of the answers are to control tasks (with a known answer); they count like others.",
        "Left out: assignments with the status REJECTED (1).",
    )


@pytest.mark.parametrize(
    ("inputs", "item"),
    [
        ("INPUT:image", "a1"),
        ("INPUT:image INPUT:image_id", "a2"),
        ("INPUT:left INPUT:right ASSIGNMENT:task_id", "a3"),
        ("INPUT:a_id INPUT:b_id ASSIGNMENT:task_id", "a3"),
    ],
)
def test_the_item_is_the_input_that_tells_tasks_apart(read: Callable[..., VoteTable], inputs: str, item: str) -> None:
    cells = " ".join(f"a{number}" for number in range(1, len(inputs.split()) + 1))
    table = read(f"{inputs} OUTPUT:mood ASSIGNMENT:worker_id", f"{cells} glad w1")
    assert table.frame.rows() == [(item, "w1", "glad", 2)]


def test_names_choose_the_columns(read: Callable[..., VoteTable]) -> None:
    header = "INPUT:left INPUT:right OUTPUT:mood OUTPUT:tone ASSIGNMENT:worker_id who"
    for item, label in (("right", "tone"), ("INPUT:right", "OUTPUT:tone")):
        table = read(header, "a b glad low w1 ann", item=item, label=label, annotator="who")
        assert table.frame.rows() == [("b", "ann", "low", 2)]


def test_what_was_skipped_rejected_or_not_answered_is_left_out(read: Callable[..., VoteTable]) -> None:
    rows = ["a glad w1 APPROVED +", "a glad w2 SKIPPED ", "a  w3 APPROVED ", "a sad w4 SUBMITTED -"]
    table = read(f"{HEADER} ACCEPT:verdict", *rows)
    assert table.frame["annotator"].to_list() == ["w1"]
    assert table.notes == (
        "Left out: assignments with the status SKIPPED (1).",
        "Left out: tasks without an answer to 'mood' (1).",
        "Left out: assignments with the status REJECTED (1).",
    )


def test_a_list_of_one_is_its_class(read: Callable[..., VoteTable]) -> None:
    assert read(HEADER, 'a ["glad"] w1 APPROVED').frame["label"].to_list() == ["glad"]


BROKEN = {
    "two labels": (HEADER, ['a ["glad","sad"] w1 APPROVED'], "line 2, column 'OUTPUT:mood': gives 2 labels"),
    "a cut list": (HEADER, ['a ["glad", w1 APPROVED'], "column 'OUTPUT:mood': the JSON in the cell ends too early"),
    "several outputs": (
        f"OUTPUT:tone {HEADER}",
        ["low a glad w1 APPROVED"],
        "has more than one output: 'tone', 'mood'",
    ),
    "several inputs": (f"INPUT:text {HEADER}", ["t a glad w1 APPROVED"], "has more than one input: .* Name one .item="),
    "no output": ("INPUT:a ASSIGNMENT:worker_id", ["a w1"], "has no output with classes"),
    "a row cut": (HEADER, ["a glad w1 APPROVED", "b glad"], "line 3: has 2 cells where the header has 4"),
    "a blank worker": (HEADER, ["a glad  APPROVED"], "line 2: the annotator is blank"),
    "a blank item": (HEADER, [" glad w1 APPROVED"], "line 2: the item is blank"),
    "all rejected": (HEADER, ["a glad w1 REJECTED"], "holds no judgement by anybody"),
    "no rows": (HEADER, [], "has a header and no row below it"),
}


@pytest.mark.parametrize("fault", BROKEN)
def test_a_fault_is_told_with_its_place(read: Callable[..., VoteTable], fault: str) -> None:
    header, rows, sentence = BROKEN[fault]
    with pytest.raises(InputError, match=sentence) as caught:
        read(header, *rows)
    assert "pool.tsv" in str(caught.value)


def test_aggregated_answers_are_no_votes(write: Write) -> None:
    path = write("aggregated.tsv", "INPUT:image\tOUTPUT:mood\tCONFIDENCE:mood\na\tglad\t80.5%\n")
    assert formats.recognise(path) == "toloka"
    with pytest.raises(FormatError, match="holds aggregated answers, not those of the performers"):
        formats.read("toloka", path)
