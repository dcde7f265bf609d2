"""POPQUORN: how offensive is a comment? 1,500 comments from Reddit, about nine annotations each."""

from __future__ import annotations

__all__ = ["ENTRY", "load"]

from pathlib import Path

import polars as pl

from sfumato.core.annotations import Annotations
from sfumato.data.dataset import DataFile, DataSet, Entry, github
from sfumato.data.pseudonyms import pseudonyms
from sfumato.data.strings import read_strings

_REPOSITORY = "Jiaxin-Pei/Potato-Prolific-Dataset"
_COMMIT = "dbb118c29b3d9bcce5aa172d8249ded9ece4df84"
_CLASSES = ("1", "2", "3", "4", "5")


def load(folder: Path) -> DataSet:
    """Load the ratings, 1 to 5, as classes that stand in this order, and the comments.

    No annotator judged a comment twice. Upstream says of each annotator gender, race, age, occupation and education;
    together these can name a person, so they are not loaded.
    """
    rows = read_strings(
        folder / "raw_data.csv",
        separator=",",
        quote='"',
        columns=("instance_id", "user_id", "text", "offensiveness"),
    )
    texts = rows.unique("instance_id", keep="first", maintain_order=True).select(item="instance_id", text="text")
    return DataSet(
        name=ENTRY.name,
        items=tuple(texts["item"]),
        classes=_CLASSES,
        annotations=Annotations.from_rows(
            rows["instance_id"],
            pseudonyms(rows["user_id"]),
            rows["offensiveness"].cast(pl.Float64).cast(pl.Int64).cast(pl.String),
            classes=_CLASSES,
        ),
        texts=texts,
        meanings={"1": "not offensive at all", "5": "very offensive"},
    )


ENTRY = Entry(
    name="popquorn",
    title="POPQUORN: offensiveness",
    summary="How offensive is a comment, from 1 to 5? 1,500 comments, 262 annotators, 13,036 annotations.",
    citation="Pei, Jurgens (2023). When do annotator demographics matter? Measuring the influence of annotator "
    "demographics with the POPQUORN dataset. LAW-XVII.",
    licence="not stated",
    homepage=f"https://github.com/{_REPOSITORY}",
    files=(
        DataFile(
            path="raw_data.csv",
            address=github(_REPOSITORY, _COMMIT, "dataset/offensiveness/raw_data.csv"),
            size=3_062_770,
            sha256="fb0589093d45da76bf4ef4d0abff679b540bdd5b17af5764913b3ccd0a069e1e",
        ),
    ),
    gives=("annotations", "texts"),
    load=load,
    notes=("There is no gold: what offends is a matter of who is asked.",),
)
