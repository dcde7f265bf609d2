"""Recognising textual entailment: 800 pairs of sentences, ten annotations each (Snow et al., 2008)."""

from __future__ import annotations

__all__ = ["ENTRY", "load"]

from pathlib import Path

from sfumato.core.annotations import Annotations
from sfumato.core.gold import Gold
from sfumato.data.dataset import DataFile, DataSet, Entry, github
from sfumato.data.pseudonyms import pseudonyms
from sfumato.data.strings import read_strings

_REPOSITORY = "copenlu/aggregating-crowd-annotations-ood"
_COMMIT = "eecaa50a32e11f205f40a0961b5f286e3e33f110"
_CLASSES = ("0", "1")


def load(folder: Path) -> DataSet:
    """Load the annotations, the gold classes and the pairs of sentences.

    Every one of the 8,000 rows is kept; no annotator judged a pair twice.
    """
    rows = read_strings(folder / "rte.standardized.tsv")
    annotations = Annotations.from_rows(
        rows["orig_id"], pseudonyms(rows["!amt_worker_ids"]), rows["response"], classes=_CLASSES
    )
    gold = rows.unique("orig_id", keep="first", maintain_order=True)
    texts = read_strings(folder / "rte1.tsv").select(item="id", text="text", hypothesis="hypothesis", task="task")
    texts = gold.select(item="orig_id").join(texts, on="item", how="left", maintain_order="left")
    return DataSet(
        name=ENTRY.name,
        items=annotations.items,
        classes=_CLASSES,
        annotations=annotations,
        gold=Gold.from_names(gold["orig_id"].to_list(), gold["gold"].to_list(), classes=_CLASSES),
        texts=texts,
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
