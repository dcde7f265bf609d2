"""Recognising textual entailment: 800 pairs of sentences, ten annotations each (Snow et al., 2008)."""

from __future__ import annotations

__all__ = ["ENTRY", "load"]

from html import unescape
from pathlib import Path

import polars as pl

from sfumato.core.annotations import Annotations
from sfumato.core.gold import Gold
from sfumato.data.dataset import DataFile, DataSet, Entry, github
from sfumato.data.judgements import read_judgements, references
from sfumato.data.strings import read_strings

_REPOSITORY = "copenlu/aggregating-crowd-annotations-ood"
_COMMIT = "eecaa50a32e11f205f40a0961b5f286e3e33f110"
_CLASSES = ("0", "1")


def load(folder: Path) -> DataSet:
    """Load the annotations, the gold classes and the pairs of sentences.

    Every one of the 8,000 rows is kept; no annotator judged a pair twice. HTML entities in the texts are resolved.
    """
    rows = read_judgements(folder / "rte.standardized.tsv")
    gold = references(rows)
    texts = read_strings(folder / "rte1.tsv").select(
        pl.col("id").alias("item"),
        *(pl.col(column).map_elements(unescape, return_dtype=pl.String) for column in ("text", "hypothesis")),
        "task",
    )
    return DataSet(
        name=ENTRY.name,
        items=tuple(gold["item"]),
        classes=_CLASSES,
        annotations=Annotations.from_rows(rows["item"], rows["annotator"], rows["response"], classes=_CLASSES),
        gold=Gold.from_names(gold["item"].to_list(), gold["gold"].to_list(), classes=_CLASSES),
        texts=gold.select("item").join(texts, on="item", how="left", maintain_order="left"),
        meanings={"0": "the text does not entail the hypothesis", "1": "the text entails the hypothesis"},
    )


ENTRY = Entry(
    name="rte",
    title="Recognising textual entailment",
    summary="Does the text entail the hypothesis? 800 pairs of sentences, 164 annotators, 8,000 annotations.",
    citation="Snow, O'Connor, Jurafsky, Ng (2008). Cheap and fast, but is it good? EMNLP. "
    "Texts: Dagan, Glickman, Magnini (2006). The PASCAL recognising textual entailment challenge.",
    licence="not stated; the organisers of the PASCAL challenge ask for citation",
    homepage=f"https://github.com/{_REPOSITORY}",
    files=(
        DataFile(
            path="rte.standardized.tsv",
            address=github(_REPOSITORY, _COMMIT, "data/RTE/rte.standardized.tsv"),
            size=515_468,
            sha256="3187c5de59b9b9c596d490d25b5f5f108090a35cbdd10e81f21e6d1939d6ba79",
        ),
        DataFile(
            path="rte1.tsv",
            address=github(_REPOSITORY, _COMMIT, "data/RTE/rte1.tsv"),
            size=190_781,
            sha256="f59dfe1ceac428c63b463b4b6df41341e22e07faac8602aa83c5e7298908a80f",
        ),
    ),
    gives=("annotations", "gold", "texts"),
    load=load,
)
