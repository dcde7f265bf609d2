from __future__ import annotations

from sfumato.data.pseudonyms import pseudonyms


def test_one_id_one_name_in_the_order_of_first_appearance():
    ids = ["z", "b", "z", "a", "b"]
    assert pseudonyms(ids) == ["a001", "a002", "a001", "a003", "a002"]
    assert pseudonyms(ids, prefix="p") == ["p001", "p002", "p001", "p003", "p002"]


def test_more_than_a_thousand_are_all_equally_long():
    names = pseudonyms(map(str, range(1200)))
    assert (names[0], names[-1]) == ("a0001", "a1200")
    assert len(set(names)) == 1200
