from __future__ import annotations

import gzip
import os
from pathlib import Path

import polars as pl
import pytest

import sfumato as sf
from sfumato.core.gold import Gold
from sfumato.errors import InputError, OptionError
from sfumato.tables.read_gold import read_gold

DATA = Path(os.environ.get("SFUMATO_DATA", Path(__file__).parents[2] / ".." / "shared" / "data"))


def written(folder: Path, content: str | bytes, ending: str = "csv") -> Path:
    path = folder / f"gold.{ending}"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


GOOD = {
    "plain": "item,label\nx,yes\ny,no\n",
    "CRLF": "item,label\r\nx,yes\r\ny,no\r\n",
    "BOM": "\ufeffitem,label\nx,yes\ny,no\n",
    "semicolons": "item;label\nx;yes\ny;no\n",
    "tabs": "item\tlabel\nx\tyes\ny\tno\n",
    "other names": "question,truth\nx,yes\ny,no\n",
    "in another order": "Gold Label,Task ID\nyes,x\nno,y\n",
    "in one word": "TaskID,GoldLabel\nx,yes\ny,no\n",
    "one name known": "sentence number,label\nx,yes\ny,no\n",
    "the other name known": "item,what it is\nx,yes\ny,no\n",
    "beside votes": "worker,item,label,gold\nann,x,no,yes\nbob,x,no,yes\nann,y,yes,no\n",
    "some without gold": "item,label\nx,yes\nw,\ny,no\nz,  \n",
    "some rows without": "item,label\nx,\ny,no\nx,yes\nx,yes\n",
    "blank lines": "item,label\n\nx,yes\n\ny,no\n",
    "more columns": "item,text,label\nx,foo,yes\ny,bar,no\n",
}


@pytest.mark.parametrize("content", GOOD.values(), ids=GOOD.keys())
def test_gold_in_a_file(tmp_path: Path, content: str) -> None:
    gold = read_gold(written(tmp_path, content))
    assert dict(zip(gold.items, gold.names(), strict=True)) == {"x": "yes", "y": "no"}
    assert gold.classes == ("no", "yes")
    assert read_gold(str(written(tmp_path, gzip.compress(content.encode()), "csv.gz"))) == gold


def test_items_keep_their_order_and_names_stay_text(tmp_path: Path) -> None:
    gold = read_gold(written(tmp_path, "item,label\n1.10,08\n08,10\nNA,9\nnull,NA\n"))
    assert gold.items == ("1.10", "08", "NA", "null")
    assert gold.names() == ("08", "10", "9", "NA")
    assert read_gold(written(tmp_path, "item,label\na,10\nb,9\nc,08\n")).classes == ("08", "9", "10")


def test_columns_and_classes_can_be_named(tmp_path: Path) -> None:
    path = written(tmp_path, "id,label,other,number\na,yes,no,1\nb,no,no,2\n")
    assert read_gold(path, label="other").names() == ("no", "no")
    assert read_gold(path, item="number").items == ("1", "2")
    assert read_gold(path, item="label", label="id").names() == ("a", "b")
    gold = read_gold(path, classes=["yes", "no", "unsure"])
    assert gold == Gold.from_names(["a", "b"], ["yes", "no"], classes=["yes", "no", "unsure"])


def test_json_lines_tables_and_files_of_tables(tmp_path: Path) -> None:
    lines = '{"item":"1","label":2}\n{"item":"b","label":1.50,"text":["x"]}\n{"item":"c","label":null}\n'
    with pytest.raises(InputError, match="field 'text': one text or number is wanted"):
        read_gold(written(tmp_path, lines, "jsonl"))
    gold = read_gold(written(tmp_path, lines.replace(',"text":["x"]', ""), "jsonl"))
    assert (gold.items, gold.names()) == (("1", "b"), ("2", "1.50"))
    for table in (
        pl.DataFrame({"item": ["a", "b", "c"], "gold": [1, None, 0]}),
        pl.DataFrame({"item": ["a", "b", "c"], "gold": [1.0, None, 0.0]}),
        pl.DataFrame({"item": ["a", "b", "c"], "gold": ["1", " ", "0"]}),
    ):
        table.write_parquet(tmp_path / "gold.parquet")
        table.write_ipc(tmp_path / "gold.arrow")
        for source in (table, table.to_arrow(), tmp_path / "gold.parquet", tmp_path / "gold.arrow"):
            gold = read_gold(source)
            assert (gold.items, gold.names()) == (("a", "c"), ("1", "0"))


BAD = {
    "contradiction": (
        "item,label\nx,yes\ny,no\nx,no\n",
        r"line 4: the item 'x' has the gold label 'no', and 'yes' before",
    ),
    "blank item": ("item,label\n,yes\n", r"line 2: the item is blank \(column 'item'\)"),
    "no gold at all": ("item,label\nx,\n", "the column 'label' holds no gold label at all"),
    "no rows": ("item,label\n", "the column 'label' holds no gold label at all"),
    "short row": ("item,label\nx,yes\ny\n", "line 3: has 1 cells where the header has 2"),
    "no label": (
        "item,foo,bar\nx,1,2\n",
        r"no column that is clearly the gold label\. Name one of 'item', 'foo', 'bar'",
    ),
    "no item": ("foo,bar,label\nx,1,2\n", "no column that names the items.*'foo', 'bar'"),
    "nothing known": ("foo,bar\nx,1\n", "no column that names the items"),
    "one column": ("item\nx\n", "no column that is clearly the gold label"),
    "open quote": ('item,label\n"x,yes\n', "line 2: a quoted cell never ends"),
    "empty": ("", "is empty"),
    "not UTF-8": (b"item,label\nx,\xff\n", "line 2: the byte 0xFF"),
}


@pytest.mark.parametrize(("content", "said"), BAD.values(), ids=BAD.keys())
def test_a_broken_file_is_told_in_one_sentence(tmp_path: Path, content: str | bytes, said: str) -> None:
    path = written(tmp_path, content)
    with pytest.raises(InputError, match=said) as caught:
        read_gold(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_options_that_do_not_fit(tmp_path: Path) -> None:
    path = written(tmp_path, "item,label\nx,yes\ny,no\n")
    with pytest.raises(OptionError, match=r"has no column 'truth' \(label='truth'\)\. It has: 'item', 'label'"):
        read_gold(path, label="truth")
    with pytest.raises(OptionError, match=r"has no column 'task' \(item='task'\)"):
        read_gold(path, item="task")
    with pytest.raises(InputError, match="line 3, column 'label': 'no' is not one of the 1 classes"):
        read_gold(path, classes=["yes"])
    for source in (3, None, {"item": ["x"]}):
        with pytest.raises(InputError, match="Give a path, or a table that speaks Arrow"):
            read_gold(source)


def test_it_is_a_name_of_the_package() -> None:
    assert sf.read_gold is read_gold


def test_gold_that_stands_beside_real_votes() -> None:
    path = DATA / "rte" / "rte.standardized.tsv"
    if not path.is_file():
        pytest.skip(f"there is no {path} (SFUMATO_DATA)")
    gold = read_gold(path)
    assert gold.n_items == 800
    assert gold.classes == ("0", "1")
    assert gold.labels.sum() == 400
