from __future__ import annotations

import csv
import gzip
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.core.annotations import Annotations
from sfumato.errors import DuplicateError, InputError, OptionError
from sfumato.tables import delimited, duplicates, formats, plain_table

ROWS = [("08", "ann", "yes"), ("8", "bob", "no"), ("08", "bob", "no"), (" x", "ann", "yes")]
ITEMS, ANNOTATORS, LABELS = (list(column) for column in zip(*ROWS, strict=True))
VOTES = Annotations.from_rows(ITEMS, ANNOTATORS, LABELS)
FRAME = pl.DataFrame({"item": ITEMS, "annotator": ANNOTATORS, "label": LABELS})


def text(*lines: str) -> str:
    return "\n".join(lines) + "\n"


def table(path: Path, *lines: str) -> Path:
    path.write_text(text(*lines))
    return path


def rows(votes: Annotations) -> list[tuple[str, str, str, float]]:
    """Return the rows as names, in the order in which they stand."""
    columns = zip(votes.item, votes.annotator, votes.label, votes.weight, strict=True)
    return [(votes.items[i], votes.annotators[j], votes.classes[k], float(w)) for i, j, k, w in columns]


# --- every kind of source ---


def test_every_kind_of_file_gives_the_same_annotations(tmp_path: Path) -> None:
    lines = ["item,annotator,label", *(",".join(row) for row in ROWS)]
    records = [dict(zip(FRAME.columns, row, strict=True)) for row in ROWS]
    contents: dict[str, bytes] = {
        "votes.csv": text(*lines).encode(),
        "votes": text(*lines).encode(),
        "votes.txt": text(*lines).replace(",", "\t").encode(),
        "votes.tsv": text(*lines).replace(",", "\t").encode(),
        "semicolons.csv": text(*lines).replace(",", ";").encode(),
        "pipes.csv": text(*lines).replace(",", "|").encode(),
        "marked.csv": b"\xef\xbb\xbf" + text(*lines).encode(),
        "returns.csv": text(*lines).replace("\n", "\r\n").encode(),
        "old_mac.csv": text(*lines).replace("\n", "\r").encode(),
        "open.csv": text(*lines).encode().rstrip(b"\n"),
        "quoted.csv": text(*('"' + line.replace(",", '","') + '"' for line in lines)).encode(),
        "votes.csv.gz": gzip.compress(text(*lines).encode()),
        "without_ending_gz": gzip.compress(text(*lines).encode()),
        "votes.jsonl": text(*map(json.dumps, records)).encode(),
        "votes.ndjson": text(*map(json.dumps, records)).encode(),
        "votes.jsonl.gz": gzip.compress(text(*map(json.dumps, records)).encode()),
        "lines.json": text(*map(json.dumps, records)).encode(),
        "list.json": json.dumps(records, indent=1).encode(),
    }
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    FRAME.write_parquet(tmp_path / "votes.parquet")
    FRAME.write_ipc(tmp_path / "votes.arrow")
    FRAME.write_ipc(tmp_path / "votes.feather")
    FRAME.write_ipc_stream(tmp_path / "stream.arrow")
    for path in sorted(tmp_path.iterdir()):
        found = sf.read_annotations(path)
        assert found == VOTES, path
        assert found.notes[0] == f"{path}: long table; item = 'item', annotator = 'annotator', label = 'label'."
        assert sf.read_annotations(os.fspath(path)) == VOTES


class Stream:
    """The least that speaks Arrow."""

    def __init__(self, frame: pl.DataFrame) -> None:
        self.frame = frame

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.frame.__arrow_c_stream__(requested_schema)


def test_every_kind_of_table_in_memory_gives_the_same_annotations() -> None:
    pd, pa = (pytest.importorskip(name) for name in ("pandas", "pyarrow"))
    arrow = pa.table({name: FRAME[name].to_list() for name in FRAME.columns})
    tables: list[Any] = [
        FRAME,
        FRAME.lazy(),
        Stream(FRAME),
        pd.DataFrame({name: FRAME[name].to_list() for name in FRAME.columns}),
        pd.DataFrame({name: pd.Categorical(FRAME[name].to_list()) for name in FRAME.columns}),
        arrow,
        arrow.to_reader(),
        FRAME.cast(pl.Categorical),
        FRAME.with_columns(pl.col("label").cast(pl.Enum(["no", "yes"]))),
        FRAME.cast(pl.Binary),
    ]
    for source in tables:
        found = sf.read_annotations(source)
        assert found == VOTES, type(source)
        assert found.notes[0].startswith("The table: long table")


def test_what_is_no_table_is_refused() -> None:
    for source in (7, None, {"item": []}, [("a", "b", "c")], b"votes.csv"):
        with pytest.raises(InputError, match=f"speaks Arrow.* Got {type(source).__name__} instead"):
            sf.read_annotations(source)
    pd = pytest.importorskip("pandas")
    mixed = pd.DataFrame({"item": ["a", "b"], "annotator": ["x", "x"], "label": [1, "one"]})
    with pytest.raises(
        InputError, match=r"The table of type DataFrame cannot be read.*Turn columns of mixed kinds into text"
    ):
        sf.read_annotations(mixed)


def test_the_index_of_a_pandas_frame_may_name_the_items() -> None:
    pd = pytest.importorskip("pandas")
    votes = Annotations.from_rows(["a", "a", "b"], ["x", "y", "x"], ["1", "2", "1"])
    long = pd.DataFrame({"item": votes_of(votes, "item"), "annotator": votes_of(votes, "annotator"),
                         "label": votes_of(votes, "label")})  # fmt: skip
    assert sf.read_annotations(long.set_index("item")) == votes
    wide = long.pivot(index="item", columns="annotator", values="label")
    assert sf.read_annotations(wide) == votes
    wide.index.name = None
    assert sf.read_annotations(wide) == votes
    wide.index.name = "which one"
    assert sf.read_annotations(wide, format="wide") == votes


def votes_of(votes: Annotations, column: str) -> list[str]:
    names = {"item": votes.items, "annotator": votes.annotators, "label": votes.classes}[column]
    return [names[code] for code in getattr(votes, column)]


# --- everything is text ---


def test_typed_cells_become_what_a_person_would_write() -> None:
    import datetime

    for cells, wanted in (
        (pl.Series([1, 20, None]), ["1", "20"]),
        (pl.Series([1.0, 2.0, None]), ["1", "2"]),
        (pl.Series([1.0, 2.5, float("nan")]), ["1", "2.5"]),
        (pl.Series([-0.0, 0.1], dtype=pl.Float32), ["0", "0.1"]),
        (pl.Series([True, False]), ["true", "false"]),
        (pl.Series([datetime.date(2024, 5, 1)]), ["2024-05-01"]),
        (pl.Series([datetime.datetime(2024, 5, 1, 12)]), ["2024-05-01T12:00:00.000000"]),
        (pl.Series([datetime.time(1, 2)]), ["01:02:00"]),
        (pl.Series(["1.10"]).cast(pl.Decimal(10, 2)), ["1.10"]),
        (pl.Series([2**63], dtype=pl.UInt64), [str(2**63)]),
    ):
        frame = pl.DataFrame({"item": cells, "annotator": ["a"] * len(cells), "label": ["x"] * len(cells)}).drop_nulls()
        frame = frame.filter(pl.col("item").is_not_nan()) if cells.dtype.is_float() else frame
        assert list(sf.read_annotations(frame).items) == wanted


def test_whole_numbers_that_pandas_made_floats_are_named() -> None:
    pd = pytest.importorskip("pandas")
    wide = pd.DataFrame({"item": [1, 2, 3], "ann": [1, None, 2], "bob": [2, 1, 1]})
    votes = sf.read_annotations(wide)
    assert votes.classes == ("1", "2")
    assert votes.items == ("1", "2", "3")
    (note,) = votes.notes[1:]
    assert note == "Floating-point numbers stand as names in 'ann'; whole ones were read without the point, 1.0 as '1'."


def test_names_are_kept_exactly_and_near_twins_are_noted(tmp_path: Path) -> None:
    path = table(
        tmp_path / "votes.csv", "item,annotator,label", "08,a,Yes", "8,a, yes", "08 ,a,yes", "é,A,no", "É,a,no"
    )
    votes = sf.read_annotations(path)
    assert votes.items == ("08", "8", "08 ", "é", "É")
    assert votes.annotators == ("a", "A")
    assert votes.classes == (" yes", "Yes", "no", "yes")
    assert votes.notes[1:] == (
        "The labels 'Yes' and ' yes' (and 1 more) differ only by case or white space; they were kept apart.",
        "The annotators 'a' and 'A' differ only by case or white space; they were kept apart.",
        "The items '08' and '08 ' (and 1 more) differ only by case or white space; they were kept apart.",
    )


def test_labels_that_look_like_something_else_are_noted(tmp_path: Path) -> None:
    path = table(tmp_path / "votes.csv", "item,annotator,label", "1,a,NA", "2,a,None", "3,a,yes")
    assert sf.read_annotations(path).notes[1:] == (
        "Taken for a label: 'NA', 'None'; drop those rows if it stands for a missing one.",
    )
    path = table(tmp_path / "votes.csv", "item,annotator,label", "1,a,x|y", "2,a,z|w", "3,a,|v")
    assert sf.read_annotations(path).notes[1:] == (
        "Taken for one label each: 'x|y', 'z|w'; give each vote one label if they are several.",
    )
    path = table(tmp_path / "votes.csv", "item,annotator,label", "1,a,1.0", "2,a,2.0")
    votes = sf.read_annotations(path)
    assert votes.classes == ("1.0", "2.0")
    assert votes.notes[1:] == (
        "The labels are whole numbers with a point ('1.0'); they were kept as they are written.",
    )
    path.write_text("item,annotator,label\n1,a,yes\n2,a,ye")
    assert sf.read_annotations(path).notes[1:] == (
        "The last line has no end, and its label 'ye' begins like 'yes': was it cut?",
    )
    path.write_text("item,annotator,label\n1,a,ye\n2,a,yes\n3,a,ye")
    assert sf.read_annotations(path).notes[1:] == ()


def test_labels_that_part_each_other_by_commas_are_noted(tmp_path: Path) -> None:
    path = table(tmp_path / "votes.csv", "item,annotator,label", '1,a,"p,q"', '2,a,"q,r"', "3,a,p", '4,a,"s,t"')
    assert sf.read_annotations(path).notes[1:] == (
        "Taken for one label each: 'p,q', 'q,r'; give each vote one label if they are several.",
    )
    assert sf.read_annotations(path, classes=["p,q", "q,r", "p", "s,t"]).notes[1:] == ()


def test_labels_that_are_one_number_are_noted(tmp_path: Path) -> None:
    path = table(tmp_path / "votes.csv", "item,annotator,label", "1,a,1", "2,a,2", "3,a,1.0", "4,a,01", "5,a,1e0")
    assert sf.read_annotations(path).notes[1:] == (
        "The labels '1', '1.0', '01' are equal as numbers; they were kept apart.",
    )


def test_letters_in_two_forms_of_unicode_are_noted(tmp_path: Path) -> None:
    path = table(tmp_path / "votes.csv", "item,annotator,label", "1,a,caf\u00e9", "2,a,cafe\u0301")
    (note,) = sf.read_annotations(path).notes[1:]
    assert note.endswith(" differ only by how Unicode writes the same letters; they were kept apart.")


def test_a_missing_vote_of_a_wide_table_is_an_empty_cell(tmp_path: Path) -> None:
    path = table(tmp_path / "votes.csv", "item,ann,bob", "a,p,NaN", "b,q,p")
    with pytest.raises(
        InputError, match=r"line 2, column 'bob': 'NaN' stands for a missing label. Leave the cell empty"
    ):
        sf.read_annotations(path)


def test_soft_labels_are_no_annotations(tmp_path: Path) -> None:
    soft = sf.SoftLabels([[0.5, 0.5], [0.25, 0.75]], items=["a", "b"], classes=["no", "yes"])
    for name in ("soft.csv", "soft.jsonl"):
        soft.save(tmp_path / name)
        with pytest.raises(InputError, match=f"{name} holds soft labels .*not annotations: nobody says who judged"):
            sf.read_annotations(tmp_path / name)
    for source in (soft, pl.DataFrame(soft)):
        with pytest.raises(InputError, match=r"^The table holds soft labels"):
            sf.read_annotations(source)
    votes = table(tmp_path / "votes.csv", "item,ann,bob", "a,0,1", "b,1,0")
    assert sf.read_annotations(votes).n_annotations == 4


def test_too_few_columns_are_told_in_the_words_of_the_source(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"^The table has no column\. .* in columns of their own\.$"):
        sf.read_annotations(pl.DataFrame())
    path = tmp_path / "votes.json"
    path.write_text('{"a": 1}')
    with pytest.raises(
        InputError, match=r"only one column \('a'\)\. .*: a key for each, in one object per judgement\.$"
    ):
        sf.read_annotations(path)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"item": 3}, "'item' must be the name of a column. Got 3 instead"),
        ({"annotator": 3}, "'annotator' must be the name of a column, or several names. Got 3 instead"),
        ({"annotator": []}, r"or several names. Got \[\] instead"),
        ({"label": ["a"]}, r"'label' must be the name of a column. Got \['a'\] instead"),
        ({"classes": []}, "'classes' names no class"),
    ],
)
def test_a_column_is_named_by_text(options: dict[str, Any], said: str) -> None:
    with pytest.raises(OptionError, match=said):
        sf.read_annotations(pl.DataFrame({"item": ["a"], "annotator": ["x"], "label": ["p"]}), **options)


def test_numbers_in_json_stay_as_they_are_written(tmp_path: Path) -> None:
    lines = ('{"item": 1.10, "annotator": 7, "label": true}', '{"item": 1e3, "annotator": 8, "label": false}')
    votes = sf.read_annotations(table(tmp_path / "votes.jsonl", *lines))
    assert (votes.items, votes.annotators, votes.classes) == (("1.10", "1e3"), ("7", "8"), ("false", "true"))


def test_columns_that_nobody_asks_for_may_hold_anything(tmp_path: Path) -> None:
    record = {"item": "a", "annotator": "x", "label": "1", "meta": {"deep": [1, None]}, "spans": [], "score": None}
    path = table(tmp_path / "votes.jsonl", json.dumps(record))
    assert sf.read_annotations(path) == Annotations.from_rows(["a"], ["x"], ["1"])
    frame = pl.DataFrame([record])
    assert sf.read_annotations(frame) == Annotations.from_rows(["a"], ["x"], ["1"])


# --- shapes ---


def test_a_wide_table(tmp_path: Path) -> None:
    path = table(tmp_path / "votes.csv", "id,text,ann,bob,cy,nobody,gold", "b,so,x,y,x,,x", "a,it,,y,,,y", "c,is,,,,,x")
    votes = sf.read_annotations(path)
    assert votes == Annotations.from_rows(["b", "b", "b", "a"], ["ann", "bob", "cy", "bob"], ["x", "y", "x", "y"])
    assert votes.notes == (
        f"{path}: wide table; item = 'id', annotators = 'ann', 'bob', 'cy', 'nobody'; left out: 'text', 'gold'.",
        "Annotators who judged nothing were left out (1 of 4).",
        "Rows without any vote were left out (1 of 3).",
    )
    assert sf.read_annotations(path, annotator=["bob", "gold"], classes=["y", "x"]).notes[0] == (
        f"{path}: wide table; item = 'id', annotators = 'bob', 'gold'; left out: 'text', 'ann', 'cy', 'nobody'."
    )


def test_a_wide_table_that_somebody_is_sure_of(tmp_path: Path) -> None:
    path = table(tmp_path / "votes.csv", "item,ann,bob", "a,x,1", "b,y,2")
    with pytest.raises(InputError, match="'ann' shares no label with the other columns"):
        sf.read_annotations(path)
    wanted = Annotations.from_rows(["a", "a", "b", "b"], ["ann", "bob"] * 2, ["x", "1", "y", "2"])
    assert sf.read_annotations(path, format="wide") == wanted
    assert sf.read_annotations(path, annotator=["ann", "bob"]) == wanted


def test_soft_votes_in_a_column_per_class(tmp_path: Path) -> None:
    path = table(tmp_path / "votes.csv", "item,annotator,ship,cat,dog", "b,x,0.25,0.75,0", "a,x,0,0,1", "b,y,0.5,0.5,0")
    wanted = Annotations.from_rows(
        ["b", "b", "b", "b", "a"], ["x", "x", "y", "y", "x"], ["ship", "cat", "ship", "cat", "dog"],
        weights=[0.25, 0.75, 0.5, 0.5, 1], classes=["ship", "cat", "dog"],
    )  # fmt: skip
    votes = sf.read_annotations(path)
    assert votes == wanted
    assert votes.notes == (
        f"{path}: soft table; item = 'item', annotator = 'annotator', classes = 'ship', 'cat', 'dog'.",
    )
    assert sf.read_annotations(path, format="soft") == wanted
    chosen = sf.read_annotations(path, classes=["dog", "cat", "ship"])
    assert chosen.classes == ("dog", "cat", "ship")
    assert np.array_equal(chosen.counts(), wanted.counts()[:, ::-1])
    frame = pl.DataFrame(
        {"item": ["a"], "annotator": ["x"], "cat": [0.5], "dog": [0.5]}, schema_overrides={"cat": pl.Float32}
    )
    assert rows(sf.read_annotations(frame)) == [("a", "x", "cat", 0.5), ("a", "x", "dog", 0.5)]


def test_soft_votes_with_a_row_per_class(tmp_path: Path) -> None:
    path = table(tmp_path / "votes.csv", "item,annotator,label,weight", "b,x,cat,0.25", "a,x,dog,1", "b,x,dog,0.75")
    votes = sf.read_annotations(path)
    assert votes == Annotations.from_rows(["b", "a", "b"], ["x"] * 3, ["cat", "dog", "dog"], weights=[0.25, 1, 0.75])
    assert votes.notes[0].endswith("label = 'label', weight = 'weight'.")
    renamed = table(tmp_path / "p.csv", "item,annotator,label,probability", "b,x,cat,0.25", "b,x,dog,0.75")
    with pytest.raises(DuplicateError):
        sf.read_annotations(renamed)
    assert rows(sf.read_annotations(renamed, weight="probability"))[1] == ("b", "x", "dog", 0.75)


def test_thirds_sum_to_one(tmp_path: Path) -> None:
    third = repr(1 / 3)
    path = table(
        tmp_path / "votes.csv", "item,annotator,a,b,c", f"i,x,{third},{third},{third}", "i,y,0.33333,0.33333,0.33334"
    )
    assert sf.read_annotations(path).n_annotations == 2


def test_one_annotator_one_class_one_item(tmp_path: Path) -> None:
    for lines in (("item,annotator,label", "i,a,x"), ("item,ann", "i,x"), ("item,annotator,x,y", "i,a,1,0")):
        votes = sf.read_annotations(table(tmp_path / "votes.csv", *lines))
        assert (votes.n_items, votes.n_annotators, votes.n_annotations) == (1, 1, 1)
    many = sf.read_annotations(table(tmp_path / "votes.csv", "item,ann,bob", "i,x,y"))
    assert (many.n_items, many.n_annotators, many.n_classes) == (1, 2, 2)


# --- options ---


def test_classes_give_the_order_and_refuse_the_rest(tmp_path: Path) -> None:
    path = table(tmp_path / "votes.csv", "item,annotator,label", "a,x,yes", "a,y,no", "b,x,maybe")
    votes = sf.read_annotations(path, classes=["yes", "no", "maybe", "never"])
    assert votes.classes == ("yes", "no", "maybe", "never")
    assert rows(votes) == [("a", "x", "yes", 1), ("a", "y", "no", 1), ("b", "x", "maybe", 1)]
    with pytest.raises(
        InputError, match=r"votes.csv, line 4, column 'label': 'maybe' is not one of the classes 'yes', 'no'\."
    ):
        sf.read_annotations(path, classes=["yes", "no"])
    with pytest.raises(InputError, match=r"'yes' is not one of the classes 'Yes', .* \(is it 'Yes'\?\)"):
        sf.read_annotations(path, classes=["Yes", "no", "maybe"])
    with pytest.raises(InputError, match="more than once"):
        sf.read_annotations(path, classes=["yes", "yes"])
    with pytest.raises(InputError, match="list of texts"):
        sf.read_annotations(path, classes="yes")


def test_a_named_class_may_look_like_anything(tmp_path: Path) -> None:
    path = table(tmp_path / "votes.csv", "item,annotator,label", "1,x,a", "2,x,b", "3,x,a|b", "4,x,nan")
    votes = sf.read_annotations(path, classes=["a", "b", "a|b", "nan"])
    assert votes.counts().sum(axis=0).tolist() == [1, 1, 1, 1]


def test_a_separator_alone_makes_no_list(tmp_path: Path) -> None:
    path = table(tmp_path / "votes.csv", "item,annotator,label", "1,x,and/or", "2,x,[sic]", "3,x,and", "4,x,a;b")
    assert sf.read_annotations(path).classes == ("[sic]", "a;b", "and", "and/or")


DUPLICATES = ["item,annotator,label", "b,x,yes", "a,x,no", "b,y,no", "b,x,no", "b,x,yes"]


def test_duplicates(tmp_path: Path) -> None:
    path = table(tmp_path / "votes.csv", *DUPLICATES)
    with pytest.raises(DuplicateError) as caught:
        sf.read_annotations(path)
    assert str(caught.value) == (
        f"{path}, line 5: the annotator 'x' judges the item 'b' once more (first: line 2), and 1 more such judgements "
        "follow. Say what to do with duplicates=… (on the command line --duplicates): keep counts each, first or last "
        "takes one, mean makes one distribution of them."
    )
    kept = sf.read_annotations(path, duplicates="keep")
    assert rows(kept) == [
        ("b", "x", "no", 1), ("b", "x", "yes", 1), ("b", "x", "yes", 1), ("b", "y", "no", 1), ("a", "x", "no", 1)
    ]  # fmt: skip
    assert kept.n_annotations == 5
    first = [("b", "x", "yes", 1), ("b", "y", "no", 1), ("a", "x", "no", 1)]
    taken = sf.read_annotations(path, duplicates="first")
    assert rows(taken) == first
    assert taken.notes[1:] == (
        "Of several judgements the first of each annotator for each item counts: 2 of 5 were dropped.",
    )
    table(path, *DUPLICATES[:-1])
    assert rows(sf.read_annotations(path, duplicates="last")) == [("b", "x", "no", 1), *first[1:]]
    table(path, *DUPLICATES)
    mean = sf.read_annotations(path, duplicates="mean")
    assert rows(mean) == [("b", "x", "no", 1 / 3), ("b", "x", "yes", 2 / 3), ("b", "y", "no", 1), ("a", "x", "no", 1)]
    assert mean.n_annotations == 3
    assert mean.notes[1:] == ("Several judgements were merged: 3 of 5 became one distribution.",)


def test_duplicates_of_soft_votes(tmp_path: Path) -> None:
    lines = ["item,annotator,cat,dog", "b,x,0.5,0.5", "a,x,1,0", "b,x,0.25,0.75"]
    path = table(tmp_path / "votes.csv", *lines)
    with pytest.raises(
        DuplicateError, match=r"line 4: the annotator 'x' judges the item 'b' once more \(first: line 2\)\."
    ):
        sf.read_annotations(path)
    kept = sf.read_annotations(path, duplicates="keep")
    assert (kept.n_annotations, rows(kept)[0], rows(kept)[2]) == (3, ("b", "x", "cat", 0.5), ("b", "x", "cat", 0.25))
    for choice, shares in (("first", (0.5, 0.5)), ("last", (0.25, 0.75)), ("mean", (0.375, 0.625))):
        votes = sf.read_annotations(path, duplicates=choice)  # type: ignore[arg-type]
        assert [row[3] for row in rows(votes)] == [*shares, 1]
        assert votes.n_annotations == 2


def test_duplicates_in_a_wide_table(tmp_path: Path) -> None:
    path = table(tmp_path / "votes.csv", "item,ann,bob", "b,x,y", "b,y,")
    with pytest.raises(DuplicateError, match="line 3: the annotator 'ann' judges the item 'b' once more"):
        sf.read_annotations(path)
    assert rows(sf.read_annotations(path, duplicates="last")) == [("b", "ann", "y", 1), ("b", "bob", "y", 1)]


def test_the_mean_of_duplicates_does_not_depend_on_the_order_of_rows() -> None:
    generator = np.random.default_rng(0)
    probs = generator.dirichlet(np.ones(3), 40)
    frame = pl.DataFrame({"item": ["i"] * 40, "annotator": ["a"] * 40}).with_columns(
        pl.DataFrame(probs, schema=["x", "y", "z"])
    )
    found = {
        sf.read_annotations(frame[generator.permutation(40)], duplicates="mean").weight.tobytes() for _ in range(5)
    }
    assert len(found) == 1


def test_more_codes_than_fit_in_one_number() -> None:
    # Three and a half million distinct names of each kind would do it; a narrower number shows the same.
    pairs = sf.read_annotations(FRAME)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(duplicates, "_KEY_BITS", 3)
        assert sf.read_annotations(FRAME) == pairs
        assert sf.read_annotations(FRAME, duplicates="keep") == pairs


def test_options_are_checked(tmp_path: Path) -> None:
    path = table(tmp_path / "votes.csv", "item,annotator,label", "a,x,1")
    with pytest.raises(OptionError, match="'format' must be one of auto, long, wide, soft, label_studio"):
        sf.read_annotations(path, format="longer")
    with pytest.raises(OptionError, match="'duplicates' must be one of error, keep, first, last, mean"):
        sf.read_annotations(path, duplicates="drop")  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="The format mturk is one of files"):
        sf.read_annotations(FRAME, format="mturk")


def test_crowd_kit_frames_are_long_tables(tmp_path: Path) -> None:
    path = table(tmp_path / "votes.csv", "task,worker,label", *(",".join(row) for row in ROWS))
    for format in ("auto", "long", "crowdkit"):
        assert sf.read_annotations(path, format=format) == VOTES
    frame = FRAME.rename({"item": "task", "annotator": "performer"})
    assert sf.read_annotations(frame) == sf.read_annotations(frame, format="crowdkit") == VOTES


# --- what sfumato wrote ---


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_saved_annotations_come_back(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    names = st.text(st.characters(exclude_characters="\0\r", exclude_categories=["Cs"]), min_size=1, max_size=4)
    name = names.filter(lambda text: bool(text.strip()))
    labels = st.sampled_from(["yes", "no", "may be", "07"])
    drawn = data.draw(st.lists(st.tuples(name, name, labels), min_size=1, max_size=15))
    columns = list(map(list, zip(*drawn, strict=True)))
    votes = Annotations.from_rows(*columns)
    path = tmp_path_factory.mktemp("saved") / data.draw(
        st.sampled_from(["v.csv", "v.tsv", "v.jsonl", "v.parquet", "v.csv.gz"])
    )
    votes.save(path)
    found = sf.read_annotations(path, duplicates="keep")
    if path.suffix == ".parquet":
        assert sf.read_annotations(path) == votes
    # Text does not hold the order of the annotators.
    assert sorted(rows(found)) == sorted(rows(votes))
    assert (found.items, found.classes) == (votes.items, votes.classes)


def test_soft_and_repeated_annotations_of_tokens_come_back(tmp_path: Path) -> None:
    votes = Annotations.from_codes(
        [0, 0, 0, 1, 1, 1], [0, 0, 0, 0, 1, 1], [0, 1, 0, 1, 0, 1], weight=[0.5, 0.5, 1, 1, 0.25, 0.75],
        annotation=[0, 0, 1, 0, 0, 0], items=["x", "y"], annotators=["a", "b"], classes=["0", "1"],
        sequence=[3, 3], position=[1, 0],
    )  # fmt: skip
    for ending in ("csv", "tsv", "jsonl", "parquet", "arrow"):
        path = tmp_path / f"votes.{ending}"
        votes.save(path)
        assert sf.read_annotations(path) == votes
    plain = Annotations.from_rows(["a", "a", "b"], ["x", "x", "x"], ["1", "1", "2"])
    plain.save(tmp_path / "plain.csv")
    assert sf.read_annotations(tmp_path / "plain.csv") == plain
    # With an option a file of ours is a table like any other.
    votes.save(tmp_path / "votes.parquet")
    assert sf.read_annotations(tmp_path / "votes.parquet", classes=["1", "0"]).classes == ("1", "0")


def test_tokens_stand_in_one_place(tmp_path: Path) -> None:
    head = "item,annotator,label,sequence,position"
    path = table(tmp_path / "votes.csv", head, "a,x,1,0,0", "b,x,1,0,1", "a,y,1,0,2")
    with pytest.raises(InputError, match=r"line 2, column 'position': the item 'a' has 0 here and 2 elsewhere"):
        sf.read_annotations(path)
    table(path, head, "a,x,1,0,-1")
    with pytest.raises(InputError, match=r"line 2, column 'position': '-1' is not a whole number"):
        sf.read_annotations(path)


# --- large tables, and the same ones read slowly ---

NAMES = st.one_of(
    st.text(st.characters(exclude_characters="\0\r", exclude_categories=["Cs"]), min_size=1, max_size=12),
    st.sampled_from(['say "yes"', "two\nlines", "a,b", "a;b", "08", "8", "é", "x" * 40, "\ufeffx", "#"]),
    st.integers(0, 30).map(lambda n: f"item-{n}"),
).filter(lambda name: bool(name.strip()))


@settings(max_examples=120, deadline=None)
@given(data=st.data())
def test_any_table_is_read_as_a_slow_reader_would(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    labels = st.sampled_from(["yes", "no", "may be", "7", "07"])
    drawn = data.draw(st.lists(st.tuples(NAMES, NAMES, labels, NAMES), min_size=1, max_size=25))
    order = data.draw(st.permutations(range(4)))
    path = tmp_path_factory.mktemp("large") / "votes.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator=data.draw(st.sampled_from(["\n", "\r\n"])))
        header = ["item", "annotator", "label", "comment"]
        writer.writerow([header[place] for place in order])
        writer.writerows([row[place] for place in order] for row in drawn)
    with path.open(newline="", encoding="utf-8") as file:
        records = list(csv.DictReader(file))
    wanted = Annotations.from_rows(*([record[name] for record in records] for name in ("item", "annotator", "label")))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(delimited, "_BLOCK", data.draw(st.sampled_from([16, 100, 1 << 20])))
        patch.setattr(delimited, "_ROWS_AT_ONCE", 5)
        assert sf.read_annotations(path, duplicates="keep") == wanted
    frame = pl.DataFrame(records)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plain_table, "_ROWS_AT_ONCE", data.draw(st.sampled_from([3, 1000])))
        assert sf.read_annotations(frame, duplicates="keep") == wanted


def test_a_hundred_thousand_rows(tmp_path: Path) -> None:
    generator = np.random.default_rng(2)
    n = 100_000
    columns = {
        "item": [f"item-{i}" for i in generator.integers(0, 20_000, n)],
        "annotator": [f"w{j}" for j in generator.integers(0, 300, n)],
        "label": [f"c{k}" for k in generator.integers(0, 10, n)],
    }
    frame = pl.DataFrame(columns)
    wanted = Annotations.from_rows(*columns.values())
    frame.write_csv(tmp_path / "votes.csv")
    assert sf.read_annotations(tmp_path / "votes.csv", duplicates="keep") == wanted
    assert sf.read_annotations(frame, duplicates="keep") == wanted
    places: dict[tuple[str, str], int] = {}
    for row, pair in enumerate(zip(columns["item"], columns["annotator"], strict=True)):
        if places.setdefault(pair, row) != row:
            break
    n_more = n - frame.n_unique(["item", "annotator"]) - 1
    says = rf"line {row + 2}: .* \(first: line {places[pair] + 2}\), and {n_more:,} more"
    with pytest.raises(DuplicateError, match=says):
        sf.read_annotations(tmp_path / "votes.csv")


# --- exports of tools, and real data ---


def test_an_export_is_recognised_and_named(tmp_path: Path) -> None:
    head = "HITId,WorkerId,Input.text,Answer.label"
    path = table(tmp_path / "batch.csv", head, "h1,w1,so,yes", "h1,w2,so,no", "h2,w1,it,yes")
    votes = sf.read_annotations(path)
    assert (votes.n_items, votes.annotators, votes.classes) == (2, ("w1", "w2"), ("no", "yes"))
    assert votes.notes[0].startswith(f"{path}: MTurk")
    with pytest.raises(OptionError, match="takes no option 'weight'"):
        sf.read_annotations(path, weight="x")
    with pytest.raises(OptionError, match="takes one name for the option 'annotator'"):
        sf.read_annotations(path, annotator=["w1", "w2"])
    table(path, head, "h1,w1,so,yes", "h1,w1,so,no")
    with pytest.raises(DuplicateError, match=r"batch.csv, row 3: the annotator 'w1' .* once more"):
        sf.read_annotations(path)


def test_tokens_of_an_export_keep_their_places(tmp_path: Path) -> None:
    lines = ["the\tDET\tDET", "cat\tNOUN\tVERB", "", "it\tPRON\tPRON", "ran\tVERB\tNOUN"]
    path = table(tmp_path / "tokens.conll", *lines)
    votes = sf.read_annotations(path, format="conll")
    tokens = formats.read("conll", path).tokens
    assert tokens is not None
    assert votes.sequence is not None
    assert votes.position is not None
    assert votes.items == tuple(tokens["item"])
    assert votes.sequence.tolist() == tokens["sequence"].to_list() == [1, 1, 2, 2]
    assert votes.position.tolist() == tokens["position"].to_list()


DATA = Path(os.environ.get("SFUMATO_DATA", Path(__file__).parents[3] / "shared" / "data"))


@pytest.mark.skipif(not DATA.is_dir(), reason=f"no data in {DATA}; set SFUMATO_DATA")
@pytest.mark.parametrize(
    ("path", "columns", "counts"),
    [
        (
            "snow2008/all_collected_data/rte.standardized.tsv",
            ("orig_id", "!amt_worker_ids", "response"),
            (800, 164, 2, 8000),
        ),
        (
            "snow2008/all_collected_data/temp.standardized.tsv",
            ("orig_id", "!amt_worker_ids", "response"),
            (462, 76, 2, 4620),
        ),
        ("amt_sense/munged/add-v.tsv.gz", ("item", "annotator", "rating"), None),
    ],
)
def test_real_files(path: str, columns: tuple[str, str, str], counts: tuple[int, ...] | None) -> None:
    votes = sf.read_annotations(DATA / path, duplicates="keep")
    said = "long table; " + ", ".join(
        f"{role} = {name!r}" for role, name in zip(("item", "annotator", "label"), columns, strict=True)
    )
    assert votes.notes[0].endswith(f"{said}.")
    if counts is not None:
        assert (votes.n_items, votes.n_annotators, votes.n_classes, votes.n_annotations) == counts


def _doccano(folder: Path, **labels: str) -> list[Path]:
    """Write a file per annotator, as doccano does; the first label is that of item 1, and so on."""
    for annotator, said in labels.items():
        lines = [f'{{"id": {i}, "text": "t", "label": ["{label}"]}}' for i, label in enumerate(said, start=1)]
        (folder / f"{annotator}.jsonl").write_text("\n".join(lines) + "\n")
    return [folder / f"{annotator}.jsonl" for annotator in labels]


def test_the_files_of_all_annotators_are_read_as_one(tmp_path: Path) -> None:
    paths = _doccano(tmp_path, ann="xy", bob="yy")
    votes = sf.read_annotations(paths)
    assert votes.annotators == ("ann", "bob")
    assert votes.counts().tolist() == [[1, 1], [0, 2]]
    assert votes.notes[0].startswith(f"{paths[0]} and 1 more: doccano")
    assert sf.read_annotations([str(paths[1])]).fingerprint == sf.read_annotations(paths[1]).fingerprint


def test_files_that_do_not_belong_together_are_refused(tmp_path: Path) -> None:
    paths = _doccano(tmp_path, ann="xy", bob="yy")
    plain = tmp_path / "votes.csv"
    plain.write_text("item,annotator,label\n1,ann,x\n")
    with pytest.raises(InputError, match="is a plain table, of which one is read at a time"):
        sf.read_annotations([plain, plain])
    with pytest.raises(InputError, match=r"ann.jsonl was written by doccano, .*votes.csv was not"):
        sf.read_annotations([paths[0], plain])
    with pytest.raises(OptionError, match="Several files are read together only as an export of a tool, not as long"):
        sf.read_annotations(paths, format="long")
    with pytest.raises(InputError, match="Got list instead"):
        sf.read_annotations([])


@pytest.mark.parametrize(
    ("columns", "options", "said"),
    [
        ({"item": [], "annotator": [], "a": [], "b": []}, {"format": "soft"}, "has a header and no row below it"),
        (
            {"item": ["x" * (2**20 + 1)], "annotator": ["a"], "label": ["y"]},
            {},
            "holds 1,048,577 bytes, which is no name",
        ),
        ({"item": ["i"], "annotator": ["a"], "x": [[1]], "y": [0.5]}, {}, "no column that clearly holds the label"),
        ({"item": ["i"], "annotator": ["a"], "label": pl.Series([None], dtype=pl.List(pl.String))}, {}, "is blank"),
    ],
    ids=["soft without rows", "a name of a megabyte", "a column of lists", "a column of lists that are all missing"],
)
def test_odd_columns_of_a_table_in_memory_are_told_of(
    columns: dict[str, Any], options: dict[str, Any], said: str
) -> None:
    table = pl.DataFrame(columns, schema=None if columns["item"] else dict.fromkeys(columns, pl.String))
    with pytest.raises(InputError, match=said):
        sf.read_annotations(table, **options)
