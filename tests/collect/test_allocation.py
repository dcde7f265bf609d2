"""Fixed batches, from files of every layout."""

from __future__ import annotations

from pathlib import Path

import pytest

from sfumato.collect.allocation import read_allocation
from sfumato.errors import InputError

ITEMS = ["a.png", "b.png", "17"]


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("b.json", '[["a.png", 17], ["b.png"]]', {"1": ("a.png", "17"), "2": ("b.png",)}),
        ("b.json", '{"x": ["b.png", "a.png"]}', {"x": ("b.png", "a.png")}),
        ("b.csv", "item,batch\nb.png,2\na.png,1\n17,2\n", {"2": ("b.png", "17"), "1": ("a.png",)}),
        (
            "batches.js",
            'var batches = [{"0": [{"filename": "a.png", "example_idx": "1", "label": "Dog"}], '
            '"1": [{"filename": "x.png", "example_idx": "17", "label": "Cat"}]}];\n',
            {"0": ("a.png",), "1": ("17",)},
        ),
        ("b.json", '[{"0": [{"item": "17"}]}]', {"0": ("17",)}),
    ],
)
def test_every_layout(tmp_path: Path, name: str, text: str, expected: dict[str, tuple[str, ...]]) -> None:
    (tmp_path / name).write_text(text)
    assert read_allocation(tmp_path / name, ITEMS) == expected


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("b.json", "{", "is not JSON"),
        ("b.json", '"a"', "list of batches"),
        ("b.json", "[]", "holds no batches"),
        ("b.json", "[[]]", "batch '1' is empty"),
        ("b.json", '["a.png"]', "list of batches"),
        ("b.json", '[["c.png"]]', "batch '1', place 1: the study has no item 'c.png'"),
        ("b.json", "[[true]]", "an item is its id"),
        ("b.json", '[[{"label": "Dog"}]]', "an item is its id"),
        ("b.json", '[[{"filename": "x", "img_id": 3}]]', "no item '3' or 'x'"),
        ("b.json", '[["a.png", "a.png"]]', "stands twice"),
        ("b.csv", "batch;item\n1;a.png\n", "columns batch and item"),
        ("b.csv", "batch,item\n1,\n", "row 1: batch or item is empty"),
        ("b.csv", "batch,item\n", "holds no batches"),
        ("b.csv", 'batch,item\n1,"a\n', "cannot be read"),
    ],
)
def test_what_cannot_be_used_is_told(tmp_path: Path, name: str, text: str, why: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=why):
        read_allocation(tmp_path / name, ITEMS)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"batches\.allocation"):
        read_allocation(tmp_path / "none.json", ITEMS)
