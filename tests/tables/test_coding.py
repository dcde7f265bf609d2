from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.errors import TooLargeError
from sfumato.tables import cells as cells_module
from sfumato.tables import coding
from sfumato.tables.cells import Cells
from sfumato.tables.coding import Coder, with_room

# Lengths around whole words, letters of one to four bytes, names that begin alike.
NAMES = st.one_of(
    st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=20),
    st.integers(0, 40).map(lambda n: "item-" + "x" * n),
    st.sampled_from(["", "a", "ab", "abcdefgh", "abcdefghi", "abcdefghijklmnop", "12345678", "é" * 4, "😀" * 2]),
)
BATCHES = st.lists(st.lists(NAMES, max_size=30), min_size=1, max_size=5)


def slowly(batches: list[list[str]]) -> tuple[list[list[int]], tuple[str, ...]]:
    place: dict[str, int] = {}
    codes = [[place.setdefault(name, len(place)) for name in batch] for batch in batches]
    return codes, tuple(place)


def by_coder(batches: list[list[str]]) -> tuple[list[list[int]], tuple[str, ...]]:
    coder = Coder()
    codes = [coder.add(Cells.of(batch)).tolist() for batch in batches]
    assert len(coder) == len(coder.names())
    return codes, coder.names()


@settings(max_examples=150, deadline=None)
@given(BATCHES)
def test_codes_are_those_of_a_dictionary(batches: list[list[str]]) -> None:
    assert by_coder(batches) == slowly(batches)


@pytest.mark.parametrize("spread", [0, 1 << 63, 1 << 60])
def test_no_collision_of_hashes_makes_one_name_of_two(monkeypatch: pytest.MonkeyPatch, spread: int) -> None:
    # A multiplier of 0 gives every name the same hash; the others leave only a few different ones.
    monkeypatch.setattr(cells_module, "_SPREAD", np.uint64(spread))
    generator = np.random.default_rng(0)
    batches = [[f"name {n}" for n in generator.integers(0, 60, 100)] for _ in range(4)]
    assert by_coder(batches) == slowly(batches)


def test_many_names_in_small_batches_and_large_ones() -> None:
    generator = np.random.default_rng(1)
    sizes = [1, 5000, 1, 20_000, 300]
    batches = [[f"{n}-{'y' * (n % 23)}" for n in generator.integers(0, 9000, size).tolist()] for size in sizes]
    assert by_coder(batches) == slowly(batches)


def test_a_name_of_a_whole_document_is_a_name() -> None:
    texts = ["a" * 5000, "a" * 5000 + "b", "short", "a" * 5000]
    assert by_coder([texts, texts]) == slowly([texts, texts])


def test_only_the_names_in_use_are_kept_in_their_order() -> None:
    coder = Coder()
    coder.add(Cells.of(["a", "b", "c", "d"]))
    codes, fewer = coder.only(np.array([3, 1, 3]))
    assert (codes.tolist(), fewer.names()) == ([1, 0, 1], ("b", "d"))
    same, all_of_them = coder.only(np.array([0, 1, 2, 3]))
    assert all_of_them is coder
    assert same.tolist() == [0, 1, 2, 3]


def test_a_closed_coder_still_knows_its_names() -> None:
    coder = Coder()
    coder.add(Cells.of(["a", "", "a\nb"]))
    coder.close()
    assert coder.names() == ("a", "", "a\nb")
    assert coder.cells().texts() == ("a", "", "a\nb")


def test_names_that_would_not_fit_are_refused_before_they_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coding, "_MOST_WORDS", 100)
    with pytest.raises(TooLargeError, match="GiB"):
        Coder().add(Cells.of(["x" * 900]))


def test_room_is_made_by_doubling_and_what_was_there_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    for large in (1, 1 << 40):
        monkeypatch.setattr(coding, "_LARGE", large)
        array = np.arange(5)
        larger = with_room(array, 6)
        assert len(larger) == 10
        assert larger[:5].tolist() == [0, 1, 2, 3, 4]
        larger[9] = 1
        assert with_room(larger, 10) is larger
        assert len(with_room(array, 100)) == 100


@settings(max_examples=100, deadline=None)
@given(st.lists(NAMES, max_size=30), st.data())
def test_cells_give_back_what_they_were_made_of(texts: list[str], data: st.DataObject) -> None:
    cells = Cells.of(texts)
    assert cells.texts() == tuple(texts)
    assert len(cells) == len(texts)
    rows = data.draw(st.lists(st.integers(0, len(texts) - 1))) if texts else []
    picked = cells.take(np.array(rows, dtype=np.intp))
    assert picked.texts() == tuple(texts[row] for row in rows)
    assert [picked.text(row) for row in range(len(rows))] == [texts[row] for row in rows]
    assert cells.blank().tolist() == [not text.strip() for text in texts]
    other = Cells.of(reversed(texts))
    assert cells.equal(other).tolist() == [a == b for a, b in zip(texts, reversed(texts), strict=True)]


def test_every_white_space_is_blank_and_nothing_else() -> None:
    characters = [chr(code) for code in range(1, 0x3100) if not 0xD800 <= code < 0xE000]
    assert Cells.of(characters).blank().tolist() == [not character.strip() for character in characters]


def test_a_long_cell_is_cut_for_a_sentence() -> None:
    assert Cells.of(["a\nb"]).quoted(0) == r"'a\nb'"
    assert Cells.of(["x" * 100]).quoted(0) == repr("x" * 60 + "…")
