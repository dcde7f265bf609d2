"""The alphabetical order is that of `sorted`, whatever the names are made of."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.core import alphabetical as module
from sfumato.core.alphabetical import alphabetical

_LETTERS = st.characters(exclude_categories=["Cs"])
_FROM_FEW = st.text(st.sampled_from("ab\n\x00é日😀0"), min_size=1, max_size=12)


@pytest.fixture
def _never_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_FEW", 0)


@pytest.mark.usefixtures("_never_few")
@settings(max_examples=200, deadline=None)
@given(st.lists(_FROM_FEW | st.text(_LETTERS, min_size=1, max_size=40), unique=True, min_size=1, max_size=30))
def test_order_is_that_of_sorted(names: list[str]) -> None:
    assert [names[place] for place in alphabetical(names)] == sorted(names)


@pytest.mark.usefixtures("_never_few")
@pytest.mark.parametrize("prefix", ["", "item", "x" * 50])
def test_prefixes_and_lengths_around_a_word(prefix: str) -> None:
    rng = np.random.default_rng(0)
    names = [prefix + "7" * int(length) + str(k) for k, length in enumerate(rng.integers(0, 17, 300))]
    assert [names[place] for place in alphabetical(names)] == sorted(names)


def test_many_names() -> None:
    numbers = np.random.default_rng(0).permutation(20_000)
    names = [f"item{number}" for number in numbers]
    assert [names[place] for place in alphabetical(names)] == sorted(names)


@pytest.mark.usefixtures("_never_few")
def test_no_names_and_one_name() -> None:
    assert alphabetical([]).tolist() == []
    assert alphabetical(["only"]).tolist() == [0]


@pytest.mark.usefixtures("_never_few")
def test_names_that_differ_late_are_sorted_as_text() -> None:
    names = ["b" * 200, "a" * 200, "a"]
    assert alphabetical(names).tolist() == [2, 1, 0]
