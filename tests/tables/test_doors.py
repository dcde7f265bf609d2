from __future__ import annotations

import gzip
import json
import os
import re
import subprocess
import sys
import tempfile
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.core import storage
from sfumato.core.annotations import Annotations
from sfumato.core.gold import Gold
from sfumato.core.origin import GIVEN, Origin
from sfumato.core.predictions import Predictions
from sfumato.core.report import Number, Report
from sfumato.core.soft_labels import SoftLabels
from sfumato.errors import FormatError, InputError, OptionError, SfumatoError, SfumatoWarning
from sfumato.tables import doors, frame_files, read_soft
from sfumato.tables.annotation_layout import stored_annotations

WHOLE = ["parquet", "arrow", "feather", "ipc"]
PLAIN = ["csv", "tsv", "csv.gz", "TSV.GZ"]
LINES = ["jsonl", "ndjson", "jsonl.gz"]

ODD_NAMES = [
    "08", "1.10", 'x "q" y', "com,ma", "semi;colon", "new\nline", "cr\rx", "crlf\r\nx", " lead", "trail ", "#hash",
    "null", "NA", "nan", "true", "None", "-", "1e5", "tab\tx", "üñí", "it\u2028em", "\x1cx", '"', '""', "'", "\\n",
    "\\", '["a":1',
    '"item":"', '{"probs":{', "\ufeffx", "\u200b", "𝒳", "item", "probs", "annotator", "label",
]  # fmt: skip
plain_names = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=8)
odd_names = st.sampled_from(ODD_NAMES) | plain_names
edge_numbers = st.sampled_from([0.0, 1.0, 5e-324, 2.2250738585072014e-308, 1e-300, 1 / 3, 0.1, 1 - 2**-53])


def vocabularies(names: st.SearchStrategy[str], *, most: int) -> st.SearchStrategy[list[str]]:
    return st.lists(names.filter(lambda name: bool(name.strip())), min_size=1, max_size=most, unique=True)


@st.composite
def distributions(draw: st.DrawFn, n_rows: int, n_classes: int) -> np.ndarray:
    rows = []
    for _ in range(n_rows):
        row = np.array(draw(st.lists(edge_numbers | st.floats(0, 1), min_size=n_classes, max_size=n_classes)))
        total = row.sum()
        if abs(total - 1) > 1e-6:
            row = row / total if total > 1e-3 else np.eye(n_classes)[draw(st.integers(0, n_classes - 1))]
        rows.append(row)
    return np.array(rows)


reserved = ("item", "uncertainty")
origins = st.builds(
    Origin,
    method=st.text(max_size=5),
    options=st.dictionaries(
        st.text(max_size=5), st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(max_size=5)
    ),
    seed=st.none() | st.integers(0, 2**62),
    fingerprint=st.text("0123456789abcdef", max_size=24),
)


@st.composite
def tables(draw: st.DrawFn, kind: type[SoftLabels], *, plain: bool = False) -> SoftLabels:
    items = draw(vocabularies(odd_names, most=6))
    allowed = (
        odd_names.filter(lambda name: name not in reserved and not name.startswith("logit:")) if plain else odd_names
    )
    classes = draw(vocabularies(allowed, most=4))
    probs = draw(distributions(len(items), len(classes)))
    more: dict[str, Any] = {}
    if not plain:
        if draw(st.booleans()):
            finite = st.floats(allow_nan=False, allow_infinity=False)
            more["uncertainty"] = draw(st.lists(finite, min_size=len(items), max_size=len(items)))
        if kind is Predictions and draw(st.booleans()):
            size = probs.size
            scores = draw(st.lists(st.floats(-1e300, 1e300), min_size=size, max_size=size))
            more["logits"] = np.array(scores).reshape(probs.shape)
    return kind(probs, items=items, classes=classes, origin=GIVEN if plain else draw(origins), **more)


def through(table: Any, ending: str) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"table.{ending}")
        storage.save(table, path)
        return storage.load(type(table), path)


def same_bits(left: np.ndarray, right: np.ndarray) -> bool:
    return left.dtype == right.dtype and left.shape == right.shape and left.tobytes() == right.tobytes()


# --- soft labels and predictions ---


@pytest.mark.parametrize("kind", [SoftLabels, Predictions])
@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_everything_comes_back_from_parquet_and_arrow(kind: type[SoftLabels], ending: str) -> None:
    @given(table=tables(kind))
    @settings(max_examples=25, deadline=None)
    def check(table: SoftLabels) -> None:
        back = through(table, ending)
        assert type(back) is kind
        assert back == table
        assert same_bits(back.probs, table.probs)

    check()


@pytest.mark.parametrize("kind", [SoftLabels, Predictions])
@pytest.mark.parametrize("ending", ["jsonl", "jsonl.gz"])
def test_everything_but_the_origin_comes_back_from_json_lines(kind: type[SoftLabels], ending: str) -> None:
    @given(table=tables(kind))
    @settings(max_examples=25, deadline=None)
    def check(table: SoftLabels) -> None:
        back = through(table, ending)
        assert (back.items, back.classes, back.origin) == (table.items, table.classes, GIVEN)
        assert same_bits(back.probs, table.probs)
        assert (back.uncertainty is None) == (table.uncertainty is None)
        assert table.uncertainty is None or same_bits(back.uncertainty, table.uncertainty)
        if isinstance(table, Predictions):
            assert (back.logits is None) == (table.logits is None)
            assert table.logits is None or same_bits(back.logits, table.logits)

    check()


@pytest.mark.parametrize("kind", [SoftLabels, Predictions])
@pytest.mark.parametrize("ending", ["csv", "tsv", "csv.gz"])
def test_probabilities_come_back_from_csv_to_the_last_bit(kind: type[SoftLabels], ending: str) -> None:
    @given(table=tables(kind, plain=True))
    @settings(max_examples=25, deadline=None)
    def check(table: SoftLabels) -> None:
        back = through(table, ending)
        assert back == table
        assert same_bits(back.probs, table.probs)

    check()


def sample(**more: Any) -> SoftLabels:
    return SoftLabels([[0.7, 0.3], [0.0, 1.0]], items=["08", "x,y"], classes=["cat", "dog"], **more)


def test_what_the_files_look_like(tmp_path: Path) -> None:
    soft = sample(uncertainty=[0.5, np.nan])
    for ending in ("csv", "tsv", "jsonl"):
        soft.save(tmp_path / f"soft.{ending}")
    assert (tmp_path / "soft.csv").read_text() == 'item,cat,dog\n08,0.7,0.3\n"x,y",0.0,1.0\n'
    assert (tmp_path / "soft.tsv").read_text() == "item\tcat\tdog\n08\t0.7\t0.3\nx,y\t0.0\t1.0\n"
    lines = [json.loads(line) for line in (tmp_path / "soft.jsonl").read_text().splitlines()]
    assert lines == [
        {"item": "08", "probs": {"cat": 0.7, "dog": 0.3}, "uncertainty": 0.5},
        {"item": "x,y", "probs": {"cat": 0.0, "dog": 1.0}, "uncertainty": None},
    ]


def test_the_metadata_is_json_under_our_name_where_others_find_it(tmp_path: Path) -> None:
    soft = sample(origin=Origin("standard", options={"ties": "first"}, seed=3), uncertainty=[0.5, 0.25])
    soft.save(tmp_path / "soft.parquet")
    soft.save(tmp_path / "soft.arrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    ipc = pytest.importorskip("pyarrow.ipc")
    in_parquet = parquet.read_metadata(tmp_path / "soft.parquet")
    in_arrow = ipc.open_file(tmp_path / "soft.arrow").schema
    for names, metadata in ((in_parquet.schema.names, in_parquet.metadata), (in_arrow.names, in_arrow.metadata)):
        said = json.loads(metadata[b"sfumato"])
        assert said["layout"] == 1
        assert said["kind"] == "SoftLabels"
        assert said["classes"] == ["cat", "dog"]
        assert said["origin"] == soft.origin.to_dict()
        assert names == ["item", "cat", "dog", "uncertainty"]


def test_a_file_that_pyarrow_wrote_again_keeps_everything(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    feather = pytest.importorskip("pyarrow.feather")
    soft = sample(origin=Origin("standard"), uncertainty=[0.5, 0.25])
    soft.save(tmp_path / "soft.feather")
    table = feather.read_table(tmp_path / "soft.feather")
    parquet.write_table(table, tmp_path / "again.parquet")
    feather.write_feather(table, str(tmp_path / "again.feather"), compression="uncompressed")
    assert SoftLabels.load(tmp_path / "again.parquet") == soft
    assert SoftLabels.load(tmp_path / "again.feather") == soft
    parquet.write_table(table.slice(1), tmp_path / "less.parquet")
    assert SoftLabels.load(tmp_path / "less.parquet") == soft.take(["x,y"])
    parquet.write_table(table.select(["dog", "item", "uncertainty", "cat"]), tmp_path / "order.parquet")
    assert SoftLabels.load(tmp_path / "order.parquet") == soft
    # With a column less the metadata say nothing any more, and the rest must stand for itself.
    parquet.write_table(table.select(["item", "dog"]), tmp_path / "columns.parquet")
    with pytest.raises(InputError, match=r"columns.parquet, row 1: the probabilities sum to 0.3, not to 1"):
        SoftLabels.load(tmp_path / "columns.parquet")


@pytest.mark.parametrize("ending", WHOLE + PLAIN + LINES)
def test_every_ending_and_only_probabilities_in_float32(tmp_path: Path, ending: str) -> None:
    probs = np.random.default_rng(0).dirichlet([1, 1, 1], size=50).astype(np.float32)
    soft = SoftLabels(probs, items=[f"i{n}" for n in range(50)], classes=["a", "b", "c"])
    soft.save(tmp_path / f"soft.{ending}")
    back = SoftLabels.load(str(tmp_path / f"soft.{ending}"))
    assert back == soft
    assert back.probs.dtype == (np.float32 if ending in WHOLE else np.float64)
    assert os.listdir(tmp_path) == [f"soft.{ending}"]


def test_text_is_zipped_where_the_ending_says_so_and_the_same_table_gives_the_same_bytes(tmp_path: Path) -> None:
    soft = sample()
    for name in ("a.csv.gz", "b.csv.gz", "a.csv"):
        soft.save(tmp_path / name)
    assert (tmp_path / "a.csv.gz").read_bytes() == (tmp_path / "b.csv.gz").read_bytes()
    assert gzip.decompress((tmp_path / "a.csv.gz").read_bytes()) == (tmp_path / "a.csv").read_bytes()


@pytest.mark.parametrize("ending", ["parquet", "arrow", "csv"])
def test_a_table_without_items_keeps_its_classes(tmp_path: Path, ending: str) -> None:
    empty = SoftLabels(np.zeros((0, 2)), items=[], classes=["cat", "dog"])
    assert through(empty, ending) == empty


def test_predictions_and_soft_labels_read_each_others_files(tmp_path: Path) -> None:
    predicted = Predictions.from_logits([[0.0, 2.0]], items=["a"], classes=["cat", "dog"])
    predicted.save(tmp_path / "predicted.parquet")
    soft = SoftLabels.load(tmp_path / "predicted.parquet")
    assert type(soft) is SoftLabels
    assert np.array_equal(soft.probs, predicted.probs)
    soft.save(tmp_path / "soft.parquet")
    again = Predictions.load(tmp_path / "soft.parquet")
    assert type(again) is Predictions
    assert again.logits is None
    assert np.array_equal(again.probs, predicted.probs)


@pytest.mark.parametrize("name", ["item", "uncertainty", "logit:cat"])
def test_a_class_with_the_name_of_a_column(tmp_path: Path, name: str) -> None:
    soft = Predictions.from_logits([[0.0, 1.0, 3.0]], items=["a"], classes=["cat", name, "class:item"])
    for ending in ("parquet", "arrow", "jsonl"):
        back = through(soft, ending)
        assert (back.classes, back.probs.tolist(), back.logits.tolist()) == (
            soft.classes,
            soft.probs.tolist(),
            soft.logits.tolist() if soft.logits is not None else None,
        )
    for ending in ("csv", "tsv", "csv.gz"):
        with pytest.raises(InputError, match=rf"A class called '{name}' cannot name a column of a CSV"):
            soft.save(tmp_path / f"soft.{ending}")
    assert os.listdir(tmp_path) == []


def test_what_a_text_file_cannot_hold_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    zero = SoftLabels([[1.0]], items=["a\0b"], classes=["cat"])
    with pytest.raises(InputError, match="holds a zero byte, which no text file has"):
        zero.save(tmp_path / "soft.csv")
    with pytest.raises(InputError, match="holds a zero byte"):
        SoftLabels([[1.0]], items=["a"], classes=["ca\0t"]).save(tmp_path / "soft.tsv")
    assert through(zero, "jsonl") == zero
    assert through(zero, "parquet") == zero
    with pytest.raises(InputError, match=r"Save an empty table as \.parquet"):
        SoftLabels(np.zeros((0, 1)), items=[], classes=["cat"]).save(tmp_path / "soft.jsonl")
    with pytest.raises(InputError, match="JSON has no infinite numbers"):
        sample(uncertainty=[0.0, np.inf]).save(tmp_path / "soft.jsonl")
    assert os.listdir(tmp_path) == []


def test_the_files_that_we_write_are_read_the_quick_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("read_exactly", "_records"):
        monkeypatch.setattr(read_soft, name, lambda *arguments: pytest.fail("the exact way was taken"))
    soft = Predictions.from_logits([[0.0, 1.0], [1e-300, 5.0]], items=["08", 'a "b",\nc'], classes=["c,at", "d\nog"])
    for ending in PLAIN + LINES:
        soft.save(tmp_path / f"soft.{ending}")
        assert np.array_equal(Predictions.load(tmp_path / f"soft.{ending}").probs, soft.probs)


def test_many_rows_with_line_breaks_in_the_names(tmp_path: Path) -> None:
    # Polars reads a large file in parts, and must not take a break within quotes for the end of a row.
    n = 30_000
    probs = np.random.default_rng(1).dirichlet([1, 1], size=n)
    soft = SoftLabels(probs, items=[f'item {k}\n"{k}",\r\n{k}' for k in range(n)], classes=["a", "b"])
    for ending in ("csv", "jsonl", "parquet", "arrow"):
        assert through(soft, ending) == soft


def test_ten_thousand_classes() -> None:
    probs = np.random.default_rng(1).dirichlet(np.ones(10_000), size=3)
    soft = SoftLabels(probs, items=["a", "b", "c"], classes=[f"class {k}" for k in range(10_000)])
    for ending in ("csv", "jsonl", "parquet", "arrow"):
        assert through(soft, ending) == soft


# --- annotations ---


@st.composite
def annotations(draw: st.DrawFn, *, soft: bool) -> Annotations:
    items = draw(vocabularies(odd_names, most=5))
    annotators = draw(vocabularies(odd_names, most=4))
    classes = draw(vocabularies(odd_names, most=3))
    n = draw(st.integers(0, 10))

    def codes(size: int) -> list[int]:
        return draw(st.lists(st.integers(0, size - 1), min_size=n, max_size=n))

    more: dict[str, Any] = {}
    i, j, k = codes(len(items)), codes(len(annotators)), codes(len(classes))
    if soft:
        probs = draw(distributions(n, len(classes)))
        row, k = np.nonzero(probs.reshape(n, len(classes)))  # type: ignore[assignment]
        more["weight"], more["annotation"] = probs.reshape(n, len(classes))[row, k], row
        i, j = np.array(i, dtype=int)[row], np.array(j, dtype=int)[row]  # type: ignore[assignment]
    if draw(st.booleans()):
        more["sequence"] = draw(st.lists(st.integers(0, 9), min_size=len(items), max_size=len(items)))
        more["position"] = draw(st.lists(st.integers(0, 9), min_size=len(items), max_size=len(items)))
    arrays = (np.array(codes, dtype=np.int64) for codes in (i, j, k))
    return Annotations.from_codes(*arrays, items=items, annotators=annotators, classes=classes, **more)


@pytest.mark.parametrize("soft", [False, True])
@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_annotations_come_back_equal(soft: bool, ending: str) -> None:
    @given(votes=annotations(soft=soft))
    @settings(max_examples=40, deadline=None)
    def check(votes: Annotations) -> None:
        back = through(votes, ending)
        assert back == votes
        assert back.fingerprint == votes.fingerprint
        assert same_bits(np.array(back.weight), np.array(votes.weight))

    check()


@pytest.mark.filterwarnings("ignore:.*holds the rows of the annotations:sfumato.errors.SfumatoWarning")
def test_what_a_file_of_annotations_looks_like(tmp_path: Path) -> None:
    votes = Annotations.from_rows(["b", "a", "b"], ["y", "y", "x"], ["1", "2", "1"], classes=["2", "1", "0"])
    votes.save(tmp_path / "votes.csv")
    assert (tmp_path / "votes.csv").read_text() == "item,annotator,label\nb,y,1\nb,x,1\na,y,2\n"
    votes.save(tmp_path / "votes.jsonl")
    assert json.loads((tmp_path / "votes.jsonl").read_text().splitlines()[1]) == {
        "item": "b", "annotator": "x", "label": "1",
    }  # fmt: skip


def test_columns_stand_in_a_file_only_where_they_say_something(tmp_path: Path) -> None:
    def columns(votes: Annotations) -> list[str]:
        votes.save(tmp_path / "votes.parquet")
        assert stored_annotations(tmp_path / "votes.parquet") == votes
        return pl.read_parquet_schema(tmp_path / "votes.parquet").keys() - {"item", "annotator", "label"}  # type: ignore[return-value]

    rows: tuple[list[str], ...] = (["a", "a"], ["ann", "ann"], ["x", "y"])
    assert columns(Annotations.from_rows(["a", "a"], ["ann", "bob"], ["x", "y"])) == set()
    assert columns(Annotations.from_rows(*rows)) == {"annotation"}
    assert columns(Annotations.from_rows(*rows, weights=[0.5, 0.5])) == {"weight"}
    assert columns(Annotations.from_rows(*rows, weights=[1, 1], annotation=[0, 1])) == {"annotation"}
    assert columns(Annotations.from_rows(*rows, weights=[1, 1 - 1e-7], annotation=[0, 1])) == {"weight", "annotation"}


def test_annotations_that_were_picked_keep_who_and_what_was_left_out(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    votes = Annotations.from_codes(
        rng.integers(40, size=200), rng.integers(30, size=200), rng.integers(3, size=200),
        items=[f"i{n}" for n in range(40)], annotators=[f"w{n}" for n in range(30)], classes=["c", "a", "b"],
        sequence=np.arange(40) // 10, position=np.arange(40) % 10,
    )  # fmt: skip
    for chosen in (np.arange(200) % 7 == 0, np.zeros(200, dtype=bool), np.arange(200) == 199):
        few = votes.take_annotations(chosen)
        for ending in ("parquet", "arrow"):
            assert through(few, ending) == few


@pytest.mark.filterwarnings("ignore:.*holds the rows of the annotations:sfumato.errors.SfumatoWarning")
def test_a_changed_file_of_annotations_is_no_longer_taken_for_ours(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    votes = Annotations.from_rows(["b", "a", "b"], ["y", "z", "x"], ["1", "2", "1"], classes=["2", "1"])
    path = tmp_path / "votes.parquet"
    votes.save(path)
    table = parquet.read_table(path)
    metadata = {b"sfumato": parquet.read_metadata(path).metadata[b"sfumato"]}

    def written(changed: Any) -> Annotations | None:
        parquet.write_table(changed.replace_schema_metadata(metadata), path)
        return stored_annotations(path)

    assert written(table) == votes
    assert written(table.slice(0, 2)) is None
    assert written(table.drop_columns(["annotator"])) is None
    renamed = table.to_pandas()
    renamed.loc[0, "label"] = "3"
    assert written(type(table).from_pandas(renamed, preserve_index=False)) is None
    pl.DataFrame({"item": ["a"], "annotator": ["x"], "label": ["1"]}).write_parquet(path)
    assert stored_annotations(path) is None
    votes.save(tmp_path / "votes.csv")
    assert stored_annotations(tmp_path / "votes.csv") is None


def test_one_kind_of_table_is_not_taken_for_another(tmp_path: Path) -> None:
    votes = Annotations.from_rows(["a"], ["x"], ["1"])
    votes.save(tmp_path / "votes.parquet")
    sample().save(tmp_path / "soft.parquet")
    with pytest.raises(InputError, match="holds Annotations, not a distribution for each item"):
        SoftLabels.load(tmp_path / "votes.parquet")
    with pytest.raises(InputError, match="holds soft labels, not annotations"):
        storage.load(Annotations, tmp_path / "soft.parquet")


def test_saved_annotations_are_read_by_the_door_for_annotations(tmp_path: Path) -> None:
    votes = Annotations.from_rows(["b", "a", "b"], ["y", "y", "x"], ["1", "2", "1"])
    for ending in ("csv", "tsv", "jsonl", "csv.gz", "parquet", "arrow"):
        votes.save(tmp_path / f"votes.{ending}")
        assert sf.read_annotations(tmp_path / f"votes.{ending}") == votes
        assert storage.load(Annotations, tmp_path / f"votes.{ending}") == votes


@pytest.mark.filterwarnings("ignore:.*holds the rows of the annotations:sfumato.errors.SfumatoWarning")
@pytest.mark.parametrize("soft", [False, True])
@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl"])
def test_annotations_come_back_from_text_as_far_as_their_rows_say(soft: bool, ending: str) -> None:
    @given(votes=annotations(soft=soft))
    @settings(max_examples=25, deadline=None)
    def check(votes: Annotations) -> None:
        assume(votes.n_annotations)
        number = np.repeat(np.arange(votes.n_annotations), np.diff(votes.starts))
        rows = [[names[code] for code in codes] for names, codes in (
            (votes.items, votes.item), (votes.annotators, votes.annotator), (votes.classes, votes.label),
        )]  # fmt: skip
        expected = Annotations.from_rows(*rows, weights=votes.weight, annotation=number)
        if votes.sequence is not None and votes.position is not None:
            judged = [votes.items.index(name) for name in expected.items]
            places = {"sequence": votes.sequence[judged], "position": votes.position[judged]}
            expected = replace(expected, **places)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, f"votes.{ending}")
            votes.save(path)
            # Named, so that labels which look like a slip ("nan", "a|b") are believed.
            assert sf.read_annotations(path, classes=expected.classes) == expected

    check()


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl"])
@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        (["yes", "no"], ["yes", "no"]),  # not the usual order
        (["no", "no"], ["no", "yes"]),  # a class that nobody chose
        (["NaN", "no"], ["NaN", "no"]),
        (["a", "a|b"], ["a", "a|b"]),
    ],
)
def test_classes_that_rows_do_not_give_back_are_told_of(
    tmp_path: Path, labels: list[str], classes: list[str], ending: str
) -> None:
    votes = Annotations.from_rows(["a", "b"], ["x", "x"], labels, classes=classes)
    path = tmp_path / f"votes.{ending}"
    with pytest.warns(
        SfumatoWarning, match=f"Read it with classes=… .*--classes '{re.escape(','.join(classes))}'"
    ) as caught:
        votes.save(path)
    assert caught[0].filename == __file__
    assert sf.read_annotations(path, classes=classes) == votes
    votes.save(tmp_path / "votes.parquet")  # without a warning
    assert sf.read_annotations(tmp_path / "votes.parquet") == votes


# --- gold ---


@pytest.mark.parametrize("ending", WHOLE)
def test_gold_comes_back_equal(ending: str) -> None:
    @given(items=vocabularies(odd_names, most=6), classes=vocabularies(odd_names, most=4), data=st.data())
    @settings(max_examples=15, deadline=None)
    def check(items: list[str], classes: list[str], data: st.DataObject) -> None:
        codes = data.draw(st.lists(st.integers(0, len(classes) - 1), min_size=len(items), max_size=len(items)))
        gold = Gold(tuple(items), np.array(codes), tuple(classes))  # type: ignore[arg-type]
        assert through(gold, ending) == gold

    check()


@pytest.mark.parametrize("ending", PLAIN + LINES)
def test_gold_comes_back_from_text_with_the_classes_in_their_usual_order(ending: str) -> None:
    @given(items=vocabularies(odd_names, most=6), data=st.data())
    @settings(max_examples=15, deadline=None)
    def check(items: list[str], data: st.DataObject) -> None:
        names = odd_names.filter(lambda name: bool(name.strip()))
        gold = Gold.from_names(items, data.draw(st.lists(names, min_size=len(items), max_size=len(items))))
        assert through(gold, ending) == gold

    check()


# --- reports ---


def report(value: float = 0.5) -> Report:
    numbers = [Number("accuracy_score", value, n=2, of="standard", low=0.25, high=0.75, level=0.95)]
    return Report("Votes", numbers, Origin("compare", seed=0), notes=["ü"], details={"curve": [0.5, 1.0]})


def test_a_report_comes_back_from_json(tmp_path: Path) -> None:
    storage.save(report(), tmp_path / "report.json")
    assert storage.load(Report, tmp_path / "report.json") == report()


def test_a_report_in_markdown_is_the_text_of_it(tmp_path: Path) -> None:
    storage.save(report(), tmp_path / "report.md")
    assert (tmp_path / "report.md").read_text(encoding="utf-8") == f"{report()}\n"


def test_a_report_takes_no_other_ending_and_a_file_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"A report is saved as \.json"):
        storage.save(report(), tmp_path / "report.csv")
    for content in ("[]", "{}", '{"title": "x", "numbers": [{}], "origin": {}, "notes": []}', "3"):
        (tmp_path / "report.json").write_text(content)
        with pytest.raises(FormatError, match="is not a report that sfumato saved"):
            storage.load(Report, tmp_path / "report.json")
    (tmp_path / "report.json").write_text("{")
    with pytest.raises(InputError, match="ends too early"):
        storage.load(Report, tmp_path / "report.json")


# --- columns of anything ---


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet", "arrow"])
def test_columns_are_written_by_name(tmp_path: Path, ending: str) -> None:
    columns = {"annotator": ("08", "b,c"), "competence": np.array([0.25, 1.0]), "n_annotations": np.array([3, 4])}
    path = tmp_path / f"annotators.{ending}"
    storage.save_columns(columns, path)
    kind = {"annotator": pl.String}
    read = {"csv": lambda p: pl.read_csv(p, schema_overrides=kind), "jsonl": pl.read_ndjson}
    frame = read.get(ending, lambda p: frame_files.read_frame(p)[0])(path)
    assert frame.to_dict(as_series=False) == {
        "annotator": ["08", "b,c"], "competence": [0.25, 1.0], "n_annotations": [3, 4],
    }  # fmt: skip


def test_a_target_can_be_checked_before_the_work_begins(tmp_path: Path) -> None:
    doors.check_target(tmp_path / "soft.csv")
    for name, said in (
        ("soft.txt", "names no format of a table"),
        ("no/soft.csv", "there is no folder"),
    ):
        with pytest.raises(OptionError, match=said):
            doors.check_target(tmp_path / name)
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(OptionError, match="is a folder"):
        doors.check_target(tmp_path / "folder.csv")
    assert os.listdir(tmp_path) == ["folder.csv"]


# --- in memory, through Arrow ---


def test_other_libraries_take_the_tables_as_they_are() -> None:
    pa, pd = (pytest.importorskip(name) for name in ("pyarrow", "pandas"))
    soft = sample(uncertainty=[0.5, 0.25])
    columns = {"item": ["08", "x,y"], "cat": [0.7, 0.0], "dog": [0.3, 1.0], "uncertainty": [0.5, 0.25]}
    assert pl.DataFrame(soft).to_dict(as_series=False) == columns
    assert pa.table(soft).to_pydict() == columns
    assert pd.DataFrame.from_arrow(soft).to_dict("list") == columns
    votes = Annotations.from_rows(["a", "a"], ["ann", "bob"], ["x", "y"])
    assert pl.DataFrame(votes).rows() == [("a", "ann", "x"), ("a", "bob", "y")]
    gold = Gold.from_names(["a", "b"], ["x", "y"])
    assert pa.table(gold).to_pydict() == {"item": ["a", "b"], "label": ["x", "y"]}
    predicted = Predictions.from_logits([[0.0, 0.0]], items=["a"], classes=["x", "y"])
    assert pl.DataFrame(predicted).columns == ["item", "x", "y", "logit:x", "logit:y"]


def test_the_tables_come_back_from_other_libraries() -> None:
    pa, pd = (pytest.importorskip(name) for name in ("pyarrow", "pandas"))
    soft = Predictions.from_logits([[0.0, 2.0], [1.0, 0.5]], items=["08", "b"], classes=["cat", "dog"])
    for table in (soft, pl.DataFrame(soft), pa.table(soft), pd.DataFrame.from_arrow(soft)):
        assert Predictions.load(table) == soft


def test_a_requested_schema_is_passed_on() -> None:
    pa = pytest.importorskip("pyarrow")
    wanted = pa.schema([("item", pa.large_string()), ("cat", pa.float64()), ("dog", pa.float64())])
    capsule = sample().__arrow_c_stream__(wanted.__arrow_c_schema__())

    class Carrier:
        def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
            return capsule

    assert pa.table(Carrier()).column("cat").to_pylist() == [0.7, 0.0]


# --- faults ---


def test_an_unknown_ending_is_refused_and_the_choices_are_listed(tmp_path: Path) -> None:
    for name in ("soft", "soft.txt", "soft.parquet.gz", "soft.gz", "soft.json", ".csv"):
        with pytest.raises(OptionError, match=r"names no format of a table\. Use one of \.parquet, \.arrow"):
            sample().save(tmp_path / name)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("ending", ["parquet", "arrow", "csv", "tsv", "jsonl", "csv.gz"])
@pytest.mark.parametrize("before", [None, b"old"])
def test_a_write_that_fails_midway_leaves_the_folder_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str, before: bytes | None
) -> None:
    path = tmp_path / f"soft.{ending}"
    if before:
        path.write_bytes(before)
    method = {"parquet": "write_parquet", "arrow": "write_ipc", "jsonl": "write_ndjson"}.get(ending, "write_csv")
    real = getattr(pl.DataFrame, method)
    for fault, told in (
        (pl.exceptions.ComputeError("broken"), SfumatoError),
        (KeyboardInterrupt(), None),
        (MemoryError(), None),
    ):

        def half(self: pl.DataFrame, file: Any, *, fault: BaseException = fault, **options: Any) -> None:
            real(self.head(1), file, **options)
            raise fault

        monkeypatch.setattr(pl.DataFrame, method, half)
        with pytest.raises(told or type(fault)):
            sample().save(path)
        assert os.listdir(tmp_path) == ([path.name] if before else [])
        assert not before or path.read_bytes() == before


@pytest.mark.skipif(os.name != "posix", reason="limits as POSIX has them")
@pytest.mark.parametrize("ending", ["parquet", "arrow", "csv", "jsonl", "csv.gz"])
def test_a_disk_that_fills_up_gives_one_sentence(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"soft.{ending}"
    path.write_bytes(b"old")
    code = """
import resource, sys
import numpy as np
import sfumato as sf
probs = np.random.default_rng(0).dirichlet(np.ones(10), size=5000)
soft = sf.SoftLabels(probs, items=[str(n) for n in range(5000)], classes=[str(n) for n in range(10)])
resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
try:
    soft.save(sys.argv[1])
except sf.errors.SfumatoError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{path} could not be written: ")
    assert done.stdout.count("\n") == 1
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")
def test_killing_a_writer_leaves_a_file_that_can_be_read(tmp_path: Path) -> None:
    path = tmp_path / "soft.parquet"
    sample().save(path)
    code = """
import sys
import numpy as np
import sfumato as sf
probs = np.random.default_rng(0).dirichlet(np.ones(10), size=20_000)
soft = sf.SoftLabels(probs, items=[str(n) for n in range(20_000)], classes=[str(n) for n in range(10)])
print("ready", flush=True)
while True:
    soft.save(sys.argv[1])
"""
    sizes = set()
    for turn in range(4):
        with subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE) as writer:
            assert writer.stdout is not None
            assert writer.stdout.readline() == b"ready\n"
            for _ in range(3 * turn):
                SoftLabels.load(path)
            writer.kill()
            writer.wait(timeout=30)
        sizes.add(SoftLabels.load(path).n_items)
    assert sizes <= {2, 20_000}


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_a_damaged_file_is_told_and_not_a_crash(tmp_path: Path, ending: str, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / f"soft.{ending}"
    sample(uncertainty=[0.5, 0.25]).save(path)
    whole = path.read_bytes()
    for end in range(1, len(whole), 37):
        path.write_bytes(whole[:end])
        with pytest.raises(FormatError, match=r"is not a whole (Parquet|Arrow) file"):
            SoftLabels.load(path)
    told = 0
    for at in range(0, len(whole), 29):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
        with suppress(SfumatoError):
            SoftLabels.load(path)
            continue
        told += 1
    assert told > 0


def test_metadata_that_nobody_can_read(tmp_path: Path) -> None:
    path = tmp_path / "soft.parquet"
    frame = pl.DataFrame({"item": ["a"], "cat": [1.0]})
    columns = {"item": "item", "probs": ["cat"]}
    for said, expected in (
        ("{", "holds metadata of sfumato that cannot be read"),
        ("[]", "holds metadata of sfumato that cannot be read"),
        ('{"layout": "1"}', "holds metadata of sfumato that cannot be read"),
        ('{"layout": 2, "kind": "SoftLabels"}', "written by a later version of sfumato"),
        (json.dumps({"layout": 1, "kind": "SoftLabels", "classes": ["cat"], "columns": columns}), "has an origin that"),
    ):
        frame.write_parquet(path, metadata={"sfumato": said})
        with pytest.raises(FormatError, match=expected):
            SoftLabels.load(path)
    # What says nothing that fits the columns is passed over, and the columns stand for themselves.
    for said in (
        '{"layout": 1, "kind": "SoftLabels"}',
        '{"layout": 1, "kind": "SoftLabels", "classes": 3, "columns": []}',
    ):
        frame.write_parquet(path, metadata={"sfumato": said})
        assert SoftLabels.load(path).classes == ("cat",)


def test_the_doors_are_what_the_core_expects() -> None:
    connected: storage.Doors = doors
    assert connected is doors
    assert set(frame_files.ENDINGS.values()) == {"parquet", "arrow", "csv", "tsv", "jsonl"}
