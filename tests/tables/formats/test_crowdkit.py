from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from sfumato.errors import InputError
from sfumato.tables import formats
from sfumato.tables.vote_table import VoteTable


@pytest.fixture
def read(write: Callable[[str, str], Path]) -> Callable[..., VoteTable]:
    return lambda text, **options: formats.read("crowdkit", write("frame.csv", text), **options)


def test_each_row_is_a_vote(example: Callable[[str], Path]) -> None:
    table = formats.read("crowdkit", example("crowdkit"))
    assert table.frame.rows() == [("08", "w1", "cat", 2), ("08", "w2", "dog", 3), ("09", "w1", "cat", 4)]
    assert table.columns == {"item": "task", "annotator": "worker", "label": "label"}


def test_the_older_name_of_annotators_is_known(example: Callable[[str], Path]) -> None:
    table = formats.read("crowdkit", example("crowdkit_old"))
    assert table.frame.rows() == [("08", "w1", "cat", 2), ("08", "w2", "dog", 3)]
    assert table.columns["annotator"] == "performer"


def test_an_index_and_other_columns_do_no_harm(read: Callable[..., VoteTable]) -> None:
    table = read(",worker,label,task,skill\n0,w1,cat,08,0.5\n1,w2,1.0,08,\n")
    assert table.frame.rows() == [("08", "w1", "cat", 2), ("08", "w2", "1.0", 3)]


def test_columns_without_a_name_do_no_harm(read: Callable[..., VoteTable]) -> None:
    table = read(",,task,worker,label\n0,0,t1,w1,cat\n1,1,t2,w1,dog\n")
    assert table.frame.rows() == [("t1", "w1", "cat", 2), ("t2", "w1", "dog", 3)]


def test_names_in_quotes_are_names(read: Callable[..., VoteTable]) -> None:
    assert read('"performer","task","label"\n"w1","08","a, b"\n').frame.rows() == [("08", "w1", "a, b", 2)]


def test_names_choose_the_columns(read: Callable[..., VoteTable]) -> None:
    text = "task,worker,label,page,who,tone\nt1,w1,cat,p1,ann,low\n"
    assert read(text, item="page", annotator="who", label="tone").frame.rows() == [("p1", "ann", "low", 2)]


def test_a_cell_with_a_line_break_keeps_its_row_together(read: Callable[..., VoteTable]) -> None:
    table = read('task,worker,label\n"a\nb",w1,cat\nt2,w1,dog\n')
    assert table.frame["item"].to_list() == ["a\nb", "t2"]


BROKEN = {
    "a blank label": ("task,worker,label\nt1,w1,cat\nt2,w1,\n", "line 3: the label is blank"),
    "a blank worker": ("task,worker,label\nt1, ,cat\n", "line 2: the annotator is blank"),
    "a blank task": ("task,worker,label\n,w1,cat\n", "line 2: the item is blank"),
    "a missing column": ("task,worker,output\nt1,w1,cat\n", "has no column 'label' .label='label'.. It has: 'task'"),
    "no worker": ("task,label\nt1,cat\n", "has no column 'worker'"),
    "a row cut": ("task,worker,label\nt1,w1,cat\nt2,w\n", "line 3: has 2 cells where the header has 3"),
    "a cell too many": ("task,worker,label\nt1,w1,cat,dog\n", "line 2: has 4 cells where the header has 3"),
    "a column twice": ("task,worker,label,label\nt1,w1,cat,dog\n", "the column 'label' stands more than once"),
    "an open quote": ('task,worker,label\nt1,w1,"cat\n', "line 2: a quoted cell never ends"),
    "no rows": ("task,worker,label\n", "has a header and no row below it"),
}


@pytest.mark.parametrize("fault", BROKEN)
def test_a_fault_is_told_with_its_place(read: Callable[..., VoteTable], fault: str) -> None:
    text, sentence = BROKEN[fault]
    with pytest.raises(InputError, match=sentence) as caught:
        read(text)
    assert "frame.csv" in str(caught.value)


def test_many_rows_take_no_loop(read: Callable[..., VoteTable]) -> None:
    text = "task,worker,label\n" + "".join(f"t{n},w{n % 7},c{n % 3}\n" for n in range(200_000))
    before = time.process_time()
    table = read(text)
    assert table.frame.height == 200_000
    assert table.frame.row(199_999) == ("t199999", "w2", "c1", 200_001)
    assert time.process_time() - before < 5
