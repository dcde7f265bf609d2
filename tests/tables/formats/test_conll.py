from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from sfumato.errors import InputError, OptionError
from sfumato.tables import formats
from sfumato.tables.vote_table import VoteTable

DATA = Path(os.environ.get("SFUMATO_DATA", Path(__file__).parents[4] / "shared" / "data")) / "pos"
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason=f"the data set is not at {DATA} (SFUMATO_DATA)")


@pytest.fixture
def read(write: Callable[[str, str], Path]) -> Callable[..., VoteTable]:
    return lambda text, **options: formats.read("conll", write("tokens.txt", text), **options)


def places(table: VoteTable) -> list[tuple[str, int, int]]:
    assert table.tokens is not None
    assert dict(table.tokens.schema) == {"item": pl.String, "sequence": pl.Int64, "position": pl.Int64}
    return table.tokens.rows()


def test_each_column_is_an_annotator(example: Callable[[str], Path]) -> None:
    table = formats.read("conll", example("conll"))
    assert table.frame.rows() == [
        ("1-1", "1", "PRON", 1),
        ("1-1", "2", "PRON", 1),
        ("1-2", "1", "VERB", 2),
        ("1-2", "2", "NOUN", 2),
        ("1-2", "3", "VERB", 2),
        ("2-1", "1", "PRON", 4),
        ("2-1", "3", "PRON", 4),
    ]
    assert places(table) == [("1-1", 1, 1), ("1-2", 1, 2), ("2-1", 2, 1)]
    assert table.columns == {"item": "the position", "annotator": "the place", "label": "column 2, 3, 4"}


def test_one_column_lists_the_labels_of_all(example: Callable[[str], Path]) -> None:
    table = formats.read("conll", example("conll_listed"))
    assert table.frame.rows() == [
        ("0001", "1", "PRON", 1),
        ("0001", "3", "NOUN", 1),
        ("0002", "1", "VERB", 3),
        ("0002", "2", "NOUN", 3),
        ("0003", "2", "PRON", 7),
        ("0003", "3", "PRON", 7),
    ]
    # A blank line stands after every token; three of them part the sequences.
    assert places(table) == [("0001", 1, 1), ("0002", 1, 2), ("0003", 2, 1)]
    assert table.notes == (
        "Column 3 lists the labels of 3 annotators by place.",
        "Not read: column 4 (a reference or something else that is no annotator's).",
    )
    assert table.columns["item"] == "column 1"


@pytest.mark.parametrize("header", ["token ann bob", "# token ann bob", "Word ann bob"])
def test_a_header_names_the_annotators(read: Callable[..., VoteTable], header: str) -> None:
    table = read(header.replace(" ", "\t").replace("#\t", "# ") + "\nI\tPRON\tNOUN\nwin\tVERB\tVERB\n")
    assert table.frame.rows() == [
        ("1-1", "ann", "PRON", 2),
        ("1-1", "bob", "NOUN", 2),
        ("1-2", "ann", "VERB", 3),
        ("1-2", "bob", "VERB", 3),
    ]
    assert table.columns["annotator"] == "the header"


def test_a_token_called_word_is_no_header(read: Callable[..., VoteTable]) -> None:
    table = read("Word NOUN NOUN\nplay NOUN VERB\n")
    assert table.frame["label"].to_list() == ["NOUN", "NOUN", "NOUN", "VERB"]


def test_blank_space_parts_columns_where_there_are_no_tabs(read: Callable[..., VoteTable]) -> None:
    table = read("I   PRON  _\nwin VERB  -\n\n\nYou PRON  ?\n")
    assert table.frame.rows() == [("1-1", "1", "PRON", 1), ("1-2", "1", "VERB", 2), ("2-1", "1", "PRON", 5)]
    assert places(table)[2] == ("2-1", 2, 1)


def test_ids_that_begin_anew_name_the_place(read: Callable[..., VoteTable]) -> None:
    table = read("1\tI\tA\tA\n2\twin\tB\tB\n\n1\tYou\tA\tB\n")
    assert places(table) == [("1-1", 1, 1), ("1-2", 1, 2), ("2-1", 2, 1)]
    with pytest.raises(InputError, match="the id '1' stands on more than one line"):
        read("1\tI\tA\tA\n\n1\tYou\tA\tB\n", item="1")


def test_comments_and_document_marks_are_no_tokens(read: Callable[..., VoteTable]) -> None:
    text = "-DOCSTART- -X- -X-\n\n#sent\nI A A\n#win A B\n\nYou B B\n"
    table = read(text)
    assert places(table) == [("1-1", 1, 1), ("1-2", 1, 2), ("2-1", 2, 1)]
    assert table.frame["row"].to_list() == [4, 4, 5, 5, 7, 7]


def test_each_token_may_be_a_sequence(read: Callable[..., VoteTable]) -> None:
    assert places(read("I A A\n\nYou A B\n\nWe B B\n")) == [("1-1", 1, 1), ("2-1", 2, 1), ("3-1", 3, 1)]


def test_names_choose_the_columns(read: Callable[..., VoteTable]) -> None:
    text = "id\ttoken\tann\tbob\tgold\nx1\tI\tA\tB\tC\nx2\tYou\tB\tA\tC\n"
    table = read(text, item="id", label="bob")
    assert table.frame.rows() == [("x1", "bob", "B", 2), ("x2", "bob", "A", 3)]
    assert read(text, item="1", label="4").frame.equals(table.frame)


BROKEN = {
    "a column too few": ("I\tA\tA\n\nYou\tA\n", "line 3: has 2 columns where the first token has 3"),
    "a token alone": ("I A A\nYou\n", "line 2: holds a token and nothing beside it"),
    "a label too few in a list": ("1\tI\tA,B\n2\tYou\tA,B,\n", "line 2: has 3 labels where the first line has 2"),
    "an id twice": ("1\tI\tA,B\n", "has no column 'key'"),
    "nobody judged": ("I ? _\nYou - ?\n", "holds no judgement by anybody"),
    "no tokens": ("-DOCSTART-\n\n# nothing\n", "holds no line with a token and labels"),
    "JSON": ('{"a": 1}\n', "holds JSON, not lines of tokens"),
}


@pytest.mark.parametrize("fault", BROKEN)
def test_a_fault_is_told_with_its_place(read: Callable[..., VoteTable], fault: str) -> None:
    text, sentence = BROKEN[fault]
    with pytest.raises(InputError, match=sentence) as caught:
        read(text, **({"item": "key"} if fault == "an id twice" else {}))
    assert "tokens.txt" in str(caught.value)


def test_a_column_that_holds_no_labels_is_refused(read: Callable[..., VoteTable]) -> None:
    with pytest.raises(InputError, match=r"tokens.txt: column 1 holds the ids or the tokens"):
        read("I A A\nYou A B\n", label="1")
    with pytest.raises(InputError, match="has no column '²'"):
        read("I A A\nYou A B\n", label="²")
    with pytest.raises(InputError, match=r"has no column '9'. Give a number from 1 to 3"):
        read("I A A\nYou A B\n", label="9")
    with pytest.raises(OptionError, match="takes no option 'annotator'"):
        read("I A A\nYou A B\n", annotator="2")
    with pytest.raises(InputError, match=r"tokens.txt has no column of labels beside those of ids and tokens"):
        read("x1 I\nx2 You\n", item="1")


def test_names_at_the_head_of_a_wide_table_are_no_tokens(write: Callable[[str, str], Path]) -> None:
    rows = "i1\tyes\tno\n\ni2\tno\tno\ni3\tyes\tyes\n"
    assert formats.recognise(write("wide.tsv", "item\tann\tbob\n" + rows)) is None
    assert formats.recognise(write("tokens.tsv", "token\tann\tbob\n" + rows)) == "conll"
    assert formats.recognise(write("tokens.tsv", rows)) == "conll"


@needs_data
def test_the_real_tweets_have_the_known_counts() -> None:
    path = DATA / "gimpel_crowdsourced-tf.tsv"
    assert formats.recognise(path) == "conll"
    table = formats.read("conll", path)
    assert table.frame["item"].n_unique() == 14439
    assert table.frame["annotator"].n_unique() == 177
    assert table.tokens is not None
    assert table.tokens["sequence"].n_unique() == 1000
    # 939 tokens carry 177 labels each, 20 are qualification tokens, 13,474 have exactly five, the rest has others.
    per_item = table.frame.group_by("item").len()["len"]
    assert (per_item == 177).sum() >= 939
    assert (per_item == 5).sum() == 13474
    assert table.frame.row(0) == ("000000", "8", "PRON", 1)


@needs_data
def test_two_real_columns_are_two_annotators() -> None:
    path = DATA / "annotation-all.txt"
    assert formats.recognise(path) == "conll"
    table = formats.read("conll", path)
    assert table.frame["annotator"].unique().sort().to_list() == ["1", "2"]
    assert table.frame.row(0) == ("1-1", "1", "NOUN", 1)
