"""Stemming: is this the stem of the word? 6,679 pairs, the word-stem task of Carpenter, Jamison and Baldwin (2009)."""

from __future__ import annotations

__all__ = ["ENTRY", "load"]

from pathlib import Path

import polars as pl

from sfumato.core.annotations import Annotations
from sfumato.core.gold import Gold
from sfumato.data.dataset import DataFile, DataSet, Entry, github
from sfumato.data.pseudonyms import pseudonyms
from sfumato.data.strings import read_strings
from sfumato.data.workbook import read_sheet
from sfumato.errors import FormatError

_ANNO = "bob-carpenter/anno"
_SOFT = "fornaciari/soft-labels"
_CLASSES = ("0", "1")
_COLUMNS = ("form", "annotator", "word", "stem", "item", "answer")
_ANSWERS = {"False=0": "0", "True=1": "1"}
_SPLITS = {"trn": "train", "dev": "dev", "hard-tst": "test"}


def load(folder: Path) -> DataSet:
    """Load the annotations of 26 annotators, the gold, the pairs, and the splits and folds of Fornaciari et al.

    One annotator judged every pair and is the gold: that one is taken out of the annotations. No annotator judged a
    pair twice.
    """
    path = folder / "longResults"
    rows = read_strings(path, header=False, columns=_COLUMNS).select(
        "item", "annotator", "word", "stem", pl.col("answer").replace_strict(_ANSWERS).alias("label")
    )
    pairs = rows.unique("item", keep="first", maintain_order=True).select("item", "word", "stem")
    complete = rows.group_by("annotator").len().filter(pl.col("len") == len(pairs))["annotator"]
    if len(complete) != 1:
        raise FormatError(f"In {path} {len(complete)} annotators judged all {len(pairs)} pairs; it should be one.")
    of_gold = pl.col("annotator") == complete[0]
    gold, crowd = rows.filter(of_gold), rows.filter(~of_gold)
    split = _read_splits(folder / "stemming.xlsx", pairs)
    return DataSet(
        name=ENTRY.name,
        items=tuple(pairs["item"]),
        classes=_CLASSES,
        annotations=Annotations.from_rows(
            crowd["item"], pseudonyms(crowd["annotator"]), crowd["label"], classes=_CLASSES
        ),
        gold=Gold.from_names(gold["item"].to_list(), gold["label"].to_list(), classes=_CLASSES),
        texts=split.select("item", "word", "stem", "fold10", "fold20"),
        splits={name: tuple(split.filter(pl.col("set") == there)["item"]) for there, name in _SPLITS.items()},
        meanings={"0": "not the stem of the word", "1": "the stem of the word"},
    )


def _read_splits(path: Path, pairs: pl.DataFrame) -> pl.DataFrame:
    """Return the pairs with the columns set, fold10 and fold20 of the workbook, whose rows are the same pairs."""
    rows = read_sheet(path)
    sheet = pl.DataFrame(rows[1:], schema=rows[0], orient="row")
    if not sheet.select("word", "stem").equals(pairs.select("word", "stem")):
        raise FormatError(f"The pairs in {path} are not those of the annotations.")
    return pl.concat([pairs, sheet.select("set", "fold10", "fold20")], how="horizontal")


ENTRY = Entry(
    name="stemming",
    title="Stemming",
    summary="Is this the stem of the word? 6,679 pairs, 26 annotators, 26,692 annotations.",
    citation="Carpenter, Jamison, Baldwin (2009). Building a stemming corpus: coding standards. LingPipe blog. "
    "Splits: Fornaciari, Uma, Paun, Plank, Hovy, Poesio (2021). Beyond black & white. NAACL.",
    licence="BSD-3-Clause for the annotations; none stated for the splits",
    homepage=f"https://github.com/{_ANNO}",
    files=(
        DataFile(
            path="longResults",
            address=github(_ANNO, "a83afa9e0d052467497cb713a517c2b8a1a7c3e8", "mturk-stem/longResults"),
            size=1_561_631,
            sha256="993b2793bf45befa662c7703903bb69e6f07c275f38e188fd8053c2cc3ce7952",
        ),
        DataFile(
            path="stemming.xlsx",
            address=github(_SOFT, "acd47058446a95fc19c0c5d534739694a33cb540", "inputs/200925153230/stemming.xlsx"),
            size=483_767,
            sha256="9cd582fb0854860616eaaa1a0ae24ebace04ee4a3e6164b6286dc6d62003d9dd",
        ),
    ),
    gives=("annotations", "gold", "texts", "splits"),
    load=load,
)
