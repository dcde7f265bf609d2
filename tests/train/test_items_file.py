"""The items file: what it holds is recognised by its columns, and what it cannot hold is told with its row."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from sfumato.errors import InputError
from sfumato.train import read_items


def written(tmp_path, text, name="items.csv"):
    (tmp_path / name).write_text(text)
    return tmp_path / name


def test_kinds_are_told_by_their_columns(tmp_path):
    pair = read_items(written(tmp_path, "item,text,text_pair\n08,It rains.,Wet\n7,Sun,Dry\n"))
    assert (pair.kind, pair.items, pair.splits) == ("text pair", ("08", "7"), None)
    assert pair.examples[0] == {"text": "It rains.", "text_pair": "Wet", "item": 0}
    numbers = read_items(written(tmp_path, "item,a,b,split\nx,1,2,train\ny,3,4.5,validation\n"))
    assert numbers.kind == "features"
    assert [example["features"].tolist() for example in numbers.examples] == [[1, 2], [3, 4.5]]
    assert {name: rows.tolist() for name, rows in numbers.splits.items()} == {"train": [0], "dev": [1], "test": []}


def test_what_is_named_like_an_answer_is_no_feature(tmp_path):
    found = read_items(written(tmp_path, "item,x,Label,y,gold,annotator\na,1,cat,2,0,ann\nb,3,dog,4,1,bob\n"))
    assert (found.features, found.left_out) == (("x", "y"), ("Label", "gold", "annotator"))
    assert [example["features"].tolist() for example in found.examples] == [[1, 2], [3, 4]]
    with pytest.raises(InputError, match="no column that a model could see"):
        read_items(written(tmp_path, "item,label\na,1\n"))


def test_features_are_found_by_their_names(tmp_path):
    found = read_items(written(tmp_path, "item,a,b,c\nx,1,2,3\n"))
    turned = found.with_features(["c", "a", "b"])
    assert turned.examples[0]["features"].tolist() == [3, 1, 2]
    assert turned.features == ("c", "a", "b")
    with pytest.raises(InputError, match="The items lack d and have b, c beside: the model sees the features a, d"):
        found.with_features(["a", "d"])


def test_tokens_stand_in_their_place_whatever_the_order_of_the_rows(tmp_path):
    text = "item,text,sequence,position\nc,rains,s1,1\na,Sun,s2,0\nb,It,s1,0\n"
    tokens = read_items(written(tmp_path, text))
    assert tokens.kind == "tokens"
    assert [(example["tokens"], example["item"]) for example in tokens.examples] == [
        (["It", "rains"], [2, 0]),
        (["Sun"], [1]),
    ]


def test_images_and_archives(tmp_path):
    image = pytest.importorskip("PIL.Image")
    pixels = np.random.default_rng(0).integers(0, 256, (2, 4, 5, 3), dtype=np.uint8)
    for row in range(2):
        image.fromarray(pixels[row]).save(tmp_path / f"{row}.png")
    found = read_items(written(tmp_path, "item,image\na,0.png\nb,1.png\n"))
    assert np.array_equal(found.examples[1]["image"], pixels[1])
    np.savez(tmp_path / "i.npz", item=["a", "b"], images=pixels, split=["train", "test"])
    archive = read_items(tmp_path / "i.npz")
    assert archive.kind == "image"
    assert archive.split_of == ("train", "test")
    pl.DataFrame({"item": ["a"], "text": ["so"]}).write_parquet(tmp_path / "t.parquet")
    assert read_items(tmp_path / "t.parquet").examples[0]["text"] == "so"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("item,text\n", "holds no item"),
        ("item,text\na,x\na,y\n", "'a' stands there a second time"),
        ("item,text\na,x\nb,\n", "the text is blank"),
        ("item,a\nx,1\ny,much\n", "holds what is not a number"),
        ("item,a\nx,1\ny,inf\n", "is not a finite number"),
        ("item,a,b\nx,1,2\ny,3,1e39\n", r"line 3, column 'b': 1e\+39 is too large for a feature"),
        ("item\nx\n", "no column that a model could see"),
        ("item,image\na,none.png\n", "there is no image"),
        ("item,text,sequence,split\na,x,s,train\nb,y,s,test\n", "the sequence 's' lies in several splits"),
    ],
)
def test_what_it_cannot_hold_is_told(tmp_path, text, words):
    with pytest.raises(InputError, match=words):
        read_items(written(tmp_path, text))


def test_archives_that_are_none_are_told(tmp_path):
    (tmp_path / "a.npz").write_bytes(b"PK not really")
    with pytest.raises(InputError, match="not a NumPy archive"):
        read_items(tmp_path / "a.npz")
    np.savez(tmp_path / "b.npz", features=np.zeros((2, 2)))
    with pytest.raises(InputError, match="must hold 'item'"):
        read_items(tmp_path / "b.npz")
    np.savez(tmp_path / "c.npz", item=["a"], features=np.zeros((2, 2)))
    with pytest.raises(InputError, match="1 items do not go with"):
        read_items(tmp_path / "c.npz")
    np.savez(tmp_path / "d.npz", item=["a", "b"], features=np.array([[1.0], [1e39]]))
    with pytest.raises(InputError, match="the features of item 'b' hold what is not a finite number of single"):
        read_items(tmp_path / "d.npz")
    np.savez(tmp_path / "e.npz", item=["a"], features=np.array([["x"]]))
    with pytest.raises(InputError, match="features must be numbers"):
        read_items(tmp_path / "e.npz")
