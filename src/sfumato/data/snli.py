"""SNLI: does the first sentence entail the second? The validation and the test pairs (Bowman et al., 2015)."""

from __future__ import annotations

__all__ = ["ENTRY", "load"]

from pathlib import Path

import polars as pl

from sfumato.core.gold import Gold
from sfumato.data.dataset import DataFile, DataSet, Entry, github
from sfumato.data.strings import read_strings

_REPOSITORY = "MJ-Jang/BECEL"
_COMMIT = "f5bdd1196e46323e6ec3f4e651bcad78b1883b04"
# The files write 0, 1, 2.
_CLASSES = ("entailment", "neutral", "contradiction")
_SPLITS = ("validation", "test")


def load(folder: Path) -> DataSet:
    """Load the pairs with their gold classes; the pairs on which the five annotators found none are not in the files.

    The files have no ids: an item is named by its split and its line, from 0.
    """
    frames = []
    for split in _SPLITS:
        rows = read_strings(folder / f"{split}.tsv", quote='"', columns=("premise", "hypothesis", "label"))
        name = pl.concat_str(pl.lit(f"{split}-"), pl.int_range(pl.len()).cast(pl.String))
        frames.append(rows.select(name.alias("item"), "premise", "hypothesis", "label"))
    splits = {split: tuple(frame["item"]) for split, frame in zip(_SPLITS, frames, strict=True)}
    rows = pl.concat(frames)
    items = tuple(rows["item"])
    return DataSet(
        name=ENTRY.name,
        items=items,
        classes=_CLASSES,
        gold=Gold.from_names(items, [_CLASSES[int(code)] for code in rows["label"]], classes=_CLASSES),
        texts=rows.drop("label"),
        splits=splits,
    )


ENTRY = Entry(
    name="snli",
    title="Stanford natural language inference",
    summary="Does the first sentence entail the second, contradict it, or neither? 9,842 pairs to validate, 9,824 to "
    "test.",
    citation="Bowman, Angeli, Potts, Manning (2015). A large annotated corpus for learning natural language "
    "inference. EMNLP.",
    licence="CC BY-SA 4.0",
    homepage="https://nlp.stanford.edu/projects/snli/",
    files=(
        DataFile(
            path="validation.tsv",
            address=github(_REPOSITORY, _COMMIT, "data/snli/validation.tsv"),
            size=1_123_781,
            sha256="dc3cdacf1cef526dccd5ca58fb195b66f249c9b15dff0d46ff0d4d138e1e1e4d",
        ),
        DataFile(
            path="test.tsv",
            address=github(_REPOSITORY, _COMMIT, "data/snli/test.tsv"),
            size=1_116_972,
            sha256="c56822451475e7dccf12cd2e68676fa1ccb0ac8c8d9b751c01915003712bb202",
        ),
    ),
    gives=("gold", "texts", "splits"),
    load=load,
)
