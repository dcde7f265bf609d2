from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.core.vocabulary import check_vocabulary, code_names, positions
from sfumato.errors import InputError


@given(names=st.lists(st.text(max_size=2), max_size=20))
@settings(max_examples=50, deadline=None)
def test_codes_lead_back_to_the_names_in_order_of_appearance(names: list[str]) -> None:
    codes, vocabulary = code_names(iter(names))
    assert [vocabulary[code] for code in codes] == names
    assert list(vocabulary) == sorted(set(names), key=names.index)
    assert codes.dtype == np.int32


def test_good_names_are_let_through() -> None:
    check_vocabulary([], what="item")
    check_vocabulary(("a", " a", "A", "08", "8", "naïve", "𝒳", "line\nbreak"), what="item")


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ("abc", "The class names must be a list of texts. Got the one text 'abc'"),
        (["a", 8], "A class name must be text. Got 8 of type int"),
        (["a", None], "A class name must be text. Got None of type NoneType"),
        (["a", "\ud800"], "A class name holds half a character"),
        (["a", "b", "a"], "The class name 'a' stands more than once"),
        (["a", " \t"], r"A class name is blank \(name 2\)"),
        ([""], r"A class name is blank \(name 1\)"),
        (3, "The class names must be a list of texts. Got 3 instead"),
        (["a", "\u2003"], r"A class name is blank \(name 2\)"),
    ],
)
def test_bad_names_are_told(names: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        check_vocabulary(names, what="class")


def test_positions_follow_the_order_that_is_wanted() -> None:
    found = positions(("a", "b", "c"), ["c", "a", "c"], what="item")
    assert found.tolist() == [2, 0, 2]
    assert found.dtype == np.int64
    assert positions(("a",), [], what="item").tolist() == []
    with pytest.raises(InputError, match="The item 'd' is not among the 3 that are known"):
        positions(("a", "b", "c"), ["a", "d"], what="item")


def test_an_article_goes_with_its_noun() -> None:
    with pytest.raises(InputError, match=r"^An item name must be text"):
        check_vocabulary([8], what="item")  # type: ignore[list-item]


@pytest.mark.parametrize("names", [None, 3, [["a"]], [{"a": "b" * 100}]])
def test_what_is_no_row_of_names_is_told(names: Any) -> None:
    with pytest.raises(InputError, match=r"^A row of names is wanted, each of them text\. Got .{1,62} instead\.$"):
        code_names(names)
