from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from sfumato.core.predictions import Predictions
from sfumato.core.soft_labels import SoftLabels
from sfumato.errors import FormatError, InputError, OptionError
from sfumato.tables.read_soft import read_soft


def written(folder: Path, content: str | bytes, ending: str = "csv") -> Path:
    path = folder / f"soft.{ending}"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def as_dict(soft: SoftLabels) -> dict[str, list[float]]:
    return {item: [float(p) for p in row] for item, row in zip(soft.items, soft.probs, strict=True)}


GOOD_CSV = {
    "plain": "item,a,b\nx,0.25,0.75\ny,1,0\n",
    "CRLF": "item,a,b\r\nx,0.25,0.75\r\ny,1,0\r\n",
    "CR alone": "item,a,b\rx,0.25,0.75\ry,1,0\r",
    "BOM": "\ufeffitem,a,b\nx,0.25,0.75\ny,1,0\n",
    "no break at the end": "item,a,b\nx,0.25,0.75\ny,1,0",
    "blank lines": "item,a,b\n\nx,0.25,0.75\n\n\ny,1,0\n\n",
    "rows of commas": "item,a,b\nx,0.25,0.75\n,,\ny,1,0\n,,\n",
    "blanks around numbers": "item,a,b\nx, 0.25,0.75 \ny,1 ,0\n",
    "quoted": '"item","a","b"\n"x","0.25","0.75"\n"y","1","0"\n',
    "semicolons": "item;a;b\nx;0.25;0.75\ny;1;0\n",
    "tabs": "item\ta\tb\nx\t0.25\t0.75\ny\t1\t0\n",
    "another name for the items": "Task ID,a,b\nx,0.25,0.75\ny,1,0\n",
    "items in the last column": "a,b,img_id\n0.25,0.75,x\n1,0,y\n",
    "exponents": "item,a,b\nx,2.5e-1,75E-2\ny,1.,.0\n",
    "uncertainty": "item,a,uncertainty,b\nx,0.25,3,0.75\ny,1,,0\n",
}


@pytest.mark.parametrize("content", GOOD_CSV.values(), ids=GOOD_CSV.keys())
def test_a_table_of_somebody_else(tmp_path: Path, content: str) -> None:
    soft = read_soft(SoftLabels, written(tmp_path, content))
    assert soft.classes == ("a", "b")
    assert as_dict(soft) == {"x": [0.25, 0.75], "y": [1.0, 0.0]}
    zipped = read_soft(SoftLabels, written(tmp_path, gzip.compress(content.encode()), "csv.gz"))
    assert zipped.probs.tolist() == soft.probs.tolist()


def test_uncertainty_that_is_blank_is_not_known(tmp_path: Path) -> None:
    soft = read_soft(SoftLabels, written(tmp_path, GOOD_CSV["uncertainty"]))
    np.testing.assert_array_equal(soft.uncertainty, [3.0, np.nan])


def test_names_stay_text(tmp_path: Path) -> None:
    content = "item,1,08\n08,1,0\n1.10,0,1\nNA,1,0\nnull,0,1\n1e5,1,0\n True,1,0\n"
    soft = read_soft(SoftLabels, written(tmp_path, content))
    assert soft.items == ("08", "1.10", "NA", "null", "1e5", " True")
    assert soft.classes == ("1", "08")


@pytest.mark.parametrize("name", ["item_id", "Items", "Task ID", "!img-id", "doc", "uuid", "IDs", "tweet id", "index"])
def test_names_of_the_column_of_items(tmp_path: Path, name: str) -> None:
    assert read_soft(SoftLabels, written(tmp_path, f"a,{name}\n1,x\n")).items == ("x",)


def test_item_wins_over_the_other_names_for_items(tmp_path: Path) -> None:
    soft = read_soft(SoftLabels, written(tmp_path, "id,text,item\n0.5,0.5,x\n"))
    assert (soft.items, soft.classes) == (("x",), ("id", "text"))


GOOD_JSON = {
    "as we write it": '{"item":"x","probs":{"a":0.25,"b":0.75}}\n{"item":"y","probs":{"a":1.0,"b":0.0}}\n',
    "with blanks": '{"item": "x", "probs": {"a": 0.25, "b": 0.75}}\n\n{"item": "y", "probs": {"a": 1, "b": 0}}',
    "in another order": '{"probs":{"b":0.75,"a":0.25},"item":"x"}\n{"item":"y","probs":{"a":1,"b":0}}\n',
    "with more": '{"item":"x","text":"z","probs":{"a":0.25,"b":0.75}}\n{"item":"y","probs":{"a":1,"b":0},"n":[3]}',
    "another name for the items": '{"id":"x","probs":{"a":0.25,"b":0.75}}\n{"id":"y","probs":{"a":1.0,"b":0.0}}\n',
    "flat": '{"item":"x","a":0.25,"b":0.75}\n{"b":0,"item":"y","a":1}\n',
    "CRLF": '{"item":"x","probs":{"a":0.25,"b":0.75}}\r\n{"item":"y","probs":{"a":1.0,"b":0.0}}\r\n',
    "BOM": '\ufeff{"item":"x","probs":{"a":0.25,"b":0.75}}\n{"item":"y","probs":{"a":1.0,"b":0.0}}\n',
}


@pytest.mark.parametrize("content", GOOD_JSON.values(), ids=GOOD_JSON.keys())
def test_json_lines_of_somebody_else(tmp_path: Path, content: str) -> None:
    soft = read_soft(SoftLabels, written(tmp_path, content, "jsonl"))
    order = [soft.classes.index(name) for name in ("a", "b")]
    assert {item: [row[k] for k in order] for item, row in as_dict(soft).items()} == {
        "x": [0.25, 0.75],
        "y": [1.0, 0.0],
    }


def test_numbers_as_items_in_json_keep_their_digits(tmp_path: Path) -> None:
    lines = ['{"item":"08","probs":{"a":1}}', '{"item":8,"probs":{"a":1}}', '{"item":1.10,"probs":{"a":1}}']
    soft = read_soft(SoftLabels, written(tmp_path, "\n".join(lines) + "\n", "jsonl"))
    assert soft.items == ("08", "8", "1.10")


def test_logits_beside_probabilities(tmp_path: Path) -> None:
    flat = written(tmp_path, "item,a,b,logit:b,logit:a\nx,0.5,0.5,2,1\n")
    nested = written(tmp_path, '{"item":"x","probs":{"a":0.5,"b":0.5},"logits":{"b":2,"a":1}}\n', "jsonl")
    for path in (flat, nested):
        predicted = read_soft(Predictions, path)
        assert predicted.logits is not None
        assert predicted.logits.tolist() == [[1.0, 2.0]]
        assert read_soft(SoftLabels, path).classes == ("a", "b")


@pytest.mark.parametrize(
    "table",
    [
        pl.DataFrame({"item": ["1", "2"], "a": [0.25, 1], "b": [0.75, 0]}),
        pl.DataFrame({"item": [1, 2], "a": ["0.25", " 1"], "b": ["0.75", "0"]}),
        pl.DataFrame({"item": [1.0, 2.0], "a": [0.25, 1], "b": [0.75, 0]}),
        pl.DataFrame(
            {"item": [1, 2], "a": [0.25, 1], "b": [0.75, 0]}, schema_overrides={"a": pl.Float32, "b": pl.Float32}
        ),
        pl.DataFrame({"item": pl.Series(["1", "2"], dtype=pl.Categorical), "a": [0.25, 1], "b": [0.75, 0]}),
    ],
)
def test_tables_in_memory_and_in_files(tmp_path: Path, table: pl.DataFrame) -> None:
    table.write_parquet(tmp_path / "soft.parquet")
    table.write_ipc(tmp_path / "soft.arrow")
    for source in (table, table.to_arrow(), tmp_path / "soft.parquet", str(tmp_path / "soft.arrow")):
        assert as_dict(read_soft(SoftLabels, source)) == {"1": [0.25, 0.75], "2": [1.0, 0.0]}


def test_a_path_may_hold_signs_that_mean_something_to_a_shell(tmp_path: Path) -> None:
    soft = SoftLabels([[1.0]], items=["x"], classes=["a"])
    for ending in ("csv", "parquet", "arrow", "jsonl"):
        path = tmp_path / f"soft [1] *? {{a,b}}.{ending}"
        soft.save(path)
        assert SoftLabels.load(path) == soft


BAD_CSV = {
    "not a number": ("item,a,b\nx,1,0\ny,one,0\n", "line 3, column 'a': 'one' is not a number"),
    "a column of texts": ("item,a,b,note\nx,1,0,fine\n", "line 2, column 'note': 'fine' is not a number"),
    "a decimal comma": ('item,a,b\nx,"0,5","0,5"\n', "line 2, column 'a': '0,5' is not a number"),
    "digits with underscores": ("item,a,b\nx,1_0,0\n", "'1_0' is not a number"),
    "missing": ("item,a,b\nx,1,\n", "line 2, column 'b': the number is missing"),
    "NaN": ("item,a,b\nx,nan,0\n", "line 2, column 'a': nan is not a finite number"),
    "infinite": ("item,a,b\nx,0,inf\n", "line 2, column 'b': inf is not a finite number"),
    "overflowing": (
        "item,a,b\nx,0,1e999\n",
        "line 2, column 'b': (inf is not a finite number|'1e999' is not a number)",
    ),
    "logits": ("item,a,b\nx,-2.5,3.5\n", r"line 2, column 'a': -2.5 is negative.*logits.*Predictions\.from_logits"),
    "positive logits": (
        "item,a,b\nx,0.5,3.5\ny,2.5,0.1\n",
        r"line 2: the probabilities sum to 4, not to 1\. If.*logits",
    ),
    "counts": ("item,a,b\nx,3,7\ny,2,2\n", r"line 2: .*sum to 10, not to 1\. If these are counts"),
    "percentages": ("item,a,b\nx,30,70\ny,0.5,99.5\n", r"line 2: .*sum to 100, not to 1\. If these are percentages"),
    "one row of many": (
        "item,a,b\nx,1,0\ny,0.5,0.5\nz,0.5,0.4\n",
        r"line 4: .*sum to 0.9, not to 1\. 2 of 3 rows do; correct this one",
    ),
    "twice": (
        "item,a,b\nx,1,0\ny,1,0\nx,0,1\n",
        r"line 4: the item 'x' stands there a second time \(first: .*line 2\)",
    ),
    "blank item": ("item,a,b\nx,1,0\n,1,0\n", r"line 3: the item is blank \(column 'item'\)"),
    "item of blanks": ('item,a,b\nx,1,0\n"  ",1,0\n', r"line 3: the item is blank"),
    "short last row": ("item,a,uncertainty\nx,1,0.5\ny,1\n", "line 3: has 2 cells where the header has 3"),
    "short row": ("item,a,b\nx,1,0\ny,1\n", "line 3: has 2 cells where the header has 3.*the file was cut"),
    "long row": ("item,a,b\nx,1,0\ny,1,0,0\n", "line 3: has 4 cells where the header has 3"),
    "open quote": ('item,a,b\nx,1,0\n"y,1,0\nz,1,0\n', "line 3: a quoted cell never ends"),
    "quote in the middle": ('item,a,b\n"x"y,1,0\n', "line 2: is not a row"),
    "open quote in the header": ('"item,a,b\nx,1,0\n', "line 1: is not a header"),
    "line numbers after breaks in cells": ('item,a,b\n"x\n\ny",1,0\n\nz,1,1\n', "line 6: the probabilities sum to 2"),
    "column twice": ("item,a,a\nx,1,0\n", "line 1: the column 'a' stands more than once"),
    "column without a name": ("item,a,\nx,1,0\n", "the column of class 2 has no name"),
    "no items": ("a,b\n1,0\n", "has no column that names the items.*'a', 'b'.*Call that column 'item'"),
    "no classes": ("item\nx\n", "has the column 'item' and no column of a class"),
    "logits for some": ("item,a,b,logit:a\nx,1,0,3\n", "logits that do not match its classes.*'logit:b'"),
    "logits for others": ("item,a,logit:c\nx,1,3\n", "logits that do not match its classes"),
    "bad uncertainty": ("item,a,uncertainty\nx,1,low\n", "line 2, column 'uncertainty': 'low' is not a number"),
    "empty": ("", "is empty"),
    "blank": ("\n \n", "is empty"),
    "UTF-16": ("item,a\nx,1\n".encode("utf-16"), "UTF-16"),
    "Latin-1": ("item,a\nx\xe9,1\n".encode("latin-1"), "line 2: the byte 0xE9"),
    "Parquet": (b"PAR1 and so on", r"not a text file but Parquet: give it the ending \.parquet"),
    "zero byte": ("item,a\nx\0y\n", "zero byte"),
    "cut gzip": (gzip.compress(b"item,a\nx,1\n" * 50)[:-9], "gzip file that ends too early"),
}


@pytest.mark.parametrize(("content", "said"), BAD_CSV.values(), ids=BAD_CSV.keys())
def test_a_broken_csv_is_told_in_one_sentence(tmp_path: Path, content: str | bytes, said: str) -> None:
    path = written(tmp_path, content)
    with pytest.raises(InputError, match=said) as caught:
        read_soft(SoftLabels, path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_logits_that_are_not_finite(tmp_path: Path) -> None:
    path = written(tmp_path, "item,a,b,logit:a,logit:b\nx,1,0,3,\n")
    with pytest.raises(InputError, match="line 2, column 'logit:b': the number is missing"):
        read_soft(Predictions, path)


LINE = '{"item":"x","probs":{"a":0.25,"b":0.75}}\n'
BAD_JSON = {
    "class missing": (LINE + '{"item":"y","probs":{"a":1}}\n', r"line 2, column 'probs\.b': the number is missing"),
    "class more": (
        LINE + '{"item":"y","probs":{"a":1,"b":0,"c":0}}\n',
        r"line 1, column 'probs\.c': the number is missing",
    ),
    "class twice": (LINE + '{"item":"y","probs":{"a":1,"b":0,"a":1}}\n', "line 2: the key 'a' stands more than once"),
    "null": (LINE + '{"item":"y","probs":{"a":1,"b":null}}\n', r"line 2, column 'probs\.b': the number is missing"),
    "text": (LINE + '{"item":"y","probs":{"a":"all","b":0}}\n', r"line 2, column 'probs\.a': 'all' is not a number"),
    "true": (LINE + '{"item":"y","probs":{"a":true,"b":0}}\n', r"line 2, column 'probs\.a': 'true' is not a number"),
    "list": (LINE + '{"item":"y","probs":{"a":[1],"b":0}}\n', "line 2, field 'probs.a': one text or number is wanted"),
    "NaN": (LINE + '{"item":"y","probs":{"a":NaN,"b":0}}\n', "line 2: holds NaN"),
    "no probs": (LINE + '{"item":"y"}\n', "line 2, field 'probs': an object of classes is wanted"),
    "probs a list": (LINE + '{"item":"y","probs":[1,0]}\n', "line 2, field 'probs': an object of classes is wanted"),
    "no item": (LINE + '{"probs":{"a":1,"b":0}}\n', "line 2: the item is blank"),
    "item a list": (
        LINE + '{"item":["y"],"probs":{"a":1,"b":0}}\n',
        "line 2, field 'item': one text or number is wanted",
    ),
    "half a character": ('{"item":"\\ud800","probs":{"a":1}}\n', "line 1, field 'item': holds half a character"),
    "twice": (LINE + LINE, "line 2: the item 'x' stands there a second time"),
    "sum": (LINE + '{"item":"y","probs":{"a":1,"b":1}}\n', "line 2: the probabilities sum to 2"),
    "no classes": ('{"item":"x","probs":{}}\n', "line 1: the probabilities sum to 0"),
    "cut": (LINE + '{"item":"y","probs":{"a":1,', "line 2: the file ends too early"),
    "not JSON": ("item,a,b\nx,1,0\n", "line 1, character 1: is not JSON"),
    "a list": ("[1, 2]\n", "line 1: holds a list of 2 where one JSON object per line is wanted"),
    "flat, a class missing": (
        '{"item":"x","a":1,"b":0}\n{"item":"y","a":1}\n',
        "line 2, column 'b': the number is missing",
    ),
}


@pytest.mark.parametrize(("content", "said"), BAD_JSON.values(), ids=BAD_JSON.keys())
def test_broken_json_lines_are_told_in_one_sentence(tmp_path: Path, content: str, said: str) -> None:
    path = written(tmp_path, content, "jsonl")
    with pytest.raises(InputError, match=said) as caught:
        read_soft(SoftLabels, path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_logits_in_json_must_be_an_object_of_the_same_classes(tmp_path: Path) -> None:
    start = '{"item":"x","probs":{"a":0.5,"b":0.5},"logits":'
    for logits, said in (("null", "field 'logits': an object"), ('{"a":1}', r"'logits\.b': the number is missing")):
        with pytest.raises(InputError, match=said):
            read_soft(Predictions, written(tmp_path, start + logits + "}\n", "jsonl"))


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (pl.DataFrame({"item": ["x"], "a": [True]}), "The table: the column 'a' holds Boolean, no numbers"),
        (pl.DataFrame({"item": ["x"], "a": [[1.0]]}), r"The table: the column 'a' holds List\(Float64\), no numbers"),
        (pl.DataFrame({"item": [["x"]], "a": [1.0]}), r"The table: the column 'item' holds List\(String\), no names"),
        (pl.DataFrame({"item": [b"x"], "a": [1.0]}), "The table: the column 'item' holds Binary, no names"),
        (pl.DataFrame({"item": ["x"], "a": [None]}), "The table, row 1, column 'a': the number is missing"),
        (pl.DataFrame({"item": [1.0, np.nan], "a": [1.0, 1.0]}), "The table, row 2: the item is blank"),
        (
            pl.DataFrame({"item": [1.0, 2.0**53], "a": [1.0, 1.0]}),
            "The table, row 2, column 'item': .* has lost digits",
        ),
        (
            pl.DataFrame({"item": [np.inf], "a": [1.0]}),
            "The table, row 1, column 'item': inf as a name has lost digits",
        ),
        (pl.DataFrame({"item": ["x", None], "a": [1.0, 1.0]}), "The table, row 2: the item is blank"),
        (pl.DataFrame({"item": ["x", "y"], "a": [1.0, 0.5]}), "The table, row 2: the probabilities sum to 0.5"),
        (pl.DataFrame(), "The table has no column that names the items"),
        ({"item": ["x"]}, "Give a path, or a table that speaks Arrow .* Got dict instead"),
        (None, "Got NoneType instead"),
    ],
)
def test_a_table_in_memory_that_will_not_do(table: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_soft(SoftLabels, table)


def test_an_arrow_stream_that_breaks() -> None:
    class Broken:
        def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
            raise ValueError("gone")

    with pytest.raises(InputError, match=r"The table of type Broken cannot be read \(gone\)"):
        read_soft(SoftLabels, Broken())


def test_what_is_no_file_of_a_table(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="There is no file"):
        read_soft(SoftLabels, tmp_path / "nothing.csv")
    with pytest.raises(InputError, match="is a folder"):
        read_soft(SoftLabels, tmp_path)
    with pytest.raises(OptionError, match="names no format of a table"):
        read_soft(SoftLabels, written(tmp_path, "item,a\nx,1\n", "xls"))
    for ending, title in (("parquet", "Parquet"), ("arrow", "Arrow")):
        with pytest.raises(FormatError, match=f"is not a whole {title} file"):
            read_soft(SoftLabels, written(tmp_path, "item,a\nx,1\n", ending))


def test_the_exact_way_and_the_quick_way_give_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from sfumato.tables import read_soft as module

    rng = np.random.default_rng(5)
    probs = rng.dirichlet(np.full(4, 0.05), size=200)
    soft = SoftLabels(probs, items=[f'i{n}, "{n}"\n' for n in range(200)], classes=["a", "b,", '"c"', "d\n"])
    paths = [tmp_path / "soft.csv", tmp_path / "soft.jsonl"]
    for path in paths:
        soft.save(path)
    quick = [read_soft(SoftLabels, path) for path in paths]

    def stumble(*arguments: object, **options: object) -> None:
        raise ValueError("stumbled")

    for name in ("read_quickly", "_nested_quickly"):
        monkeypatch.setattr(module, name, stumble)
    assert [read_soft(SoftLabels, path) for path in paths] == quick == [soft, soft]


def test_json_lines_as_python_writes_them(tmp_path: Path) -> None:
    rng = np.random.default_rng(6)
    rows = rng.dirichlet([0.1, 0.1], size=50)
    lines = [json.dumps({"item": f"ü{n}𝒳", "probs": {"é": p, "b": q}}) for n, (p, q) in enumerate(rows)]
    soft = read_soft(SoftLabels, written(tmp_path, "\n".join(lines), "jsonl"))
    assert soft.classes == ("é", "b")
    assert soft.items[7] == "ü7𝒳"
    assert np.array_equal(soft.probs, rows)
