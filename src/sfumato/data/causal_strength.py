"""How strongly a sentence of a study, or of a press release about it, claims that one thing causes another."""

from __future__ import annotations

__all__ = ["ENTRY", "load"]

from html import unescape
from pathlib import Path

import polars as pl

from sfumato.core.gold import Gold
from sfumato.data import places
from sfumato.data.dataset import DataFile, DataSet, Entry, github
from sfumato.data.strings import read_strings
from sfumato.errors import FormatError

_SENTENCES = "junwang4/correlation-to-causation-exaggeration"
_SENTENCES_COMMIT = "00337f35825f4f116eaba6688f98b902a49c971c"
_PAIRS = "copenlu/scientific-exaggeration-detection"
_PAIRS_COMMIT = "6e535ca60e1e5b09bb2b9b6119637073036660f0"
_MEANINGS = {
    "0": "states no relationship",
    "1": "states a correlation",
    "2": "states conditional causation",
    "3": "states causation",
}


def load(folder: Path) -> DataSet:
    """Load the sentences with the strength of their claim, from abstracts and from press releases.

    The splits "pubmed" (abstracts) and "eureka" (press releases) are the sentences of Yu et al.; "insciout_train" and
    "insciout_test" the pairs of a press release and its abstract of Wright and Augenstein, whose column
    ``exaggeration`` says how the press release reports: same, exaggerates or downplays. HTML entities are resolved.
    """
    pubmed = read_strings(folder / "annotated_pubmed.csv", separator=",", quote='"', columns=("sentence", "label"))
    eureka = read_strings(folder / "annotated_eureka.csv", separator=",", quote='"')
    frames = {
        "pubmed": pubmed.select(_numbered("pubmed"), "sentence", pl.lit("abstract").alias("kind"), "label"),
        "eureka": eureka.select(
            pl.concat_str(pl.lit("eureka-"), "sentId").alias("item"),
            pl.col("sentence").map_elements(unescape, return_dtype=pl.String),
            pl.lit("press release").alias("kind"),
            "label",
        ),
        "insciout_train": _pairs(folder / "insciout_train.jsonl"),
        "insciout_test": _pairs(folder / "insciout_test.jsonl"),
    }
    rows = pl.concat(frames.values(), how="diagonal")
    items, classes = tuple(rows["item"]), tuple(_MEANINGS)
    return DataSet(
        name=ENTRY.name,
        items=items,
        classes=classes,
        gold=Gold.from_names(items, rows["label"], classes=classes),
        texts=rows.drop("label"),
        splits={split: tuple(frame["item"]) for split, frame in frames.items()},
        meanings=_MEANINGS,
        notes=ENTRY.notes,
    )


def _pairs(path: Path) -> pl.DataFrame:
    """Return each pair as two rows, the press release first."""
    try:
        pairs = pl.read_ndjson(places.read_bytes(path))
    except pl.exceptions.PolarsError as error:
        raise FormatError(f"The file {path} is not the one that upstream has: {str(error).splitlines()[0]}") from None
    sides = [
        pairs.select(
            pl.int_range(pl.len()).alias("place"),
            pl.concat_str(pl.lit(f"{path.stem}-"), "original_file_id", pl.lit(f"-{side}")).alias("item"),
            pl.col(f"{side}_conclusion").alias("sentence"),
            pl.lit(side.replace("_", " ")).alias("kind"),
            pl.col(f"{side}_strength").cast(pl.String).alias("label"),
            pl.col("exaggeration_label").alias("exaggeration"),
        )
        for side in ("press_release", "abstract")
    ]
    return pl.concat(sides).sort("place", maintain_order=True).drop("place")


def _numbered(split: str) -> pl.Expr:
    return pl.concat_str(pl.lit(f"{split}-"), pl.int_range(pl.len()).cast(pl.String)).alias("item")


ENTRY = Entry(
    name="causal_strength",
    title="Causal claims in science and in the news about it",
    summary="How strongly does a sentence claim that one thing causes another? 6,463 sentences in four strengths.",
    citation="Yu, Li, Wang (2019). Detecting causal language use in science findings. EMNLP. Yu, Wang, Guo, Li (2020). "
    "Measuring correlation-to-causation exaggeration in press releases. COLING. Wright, Augenstein (2021). "
    "Semi-supervised exaggeration detection of health science press releases. EMNLP.",
    licence="not stated",
    homepage=f"https://github.com/{_PAIRS}",
    files=(
        DataFile(
            path="annotated_pubmed.csv",
            address=github(_SENTENCES, _SENTENCES_COMMIT, "data/annotated_pubmed.csv"),
            size=414_298,
            sha256="57973580bc93127289105c8f45e9886ad054b5e360a639d7678f15e7c202ad6d",
        ),
        DataFile(
            path="annotated_eureka.csv",
            address=github(_SENTENCES, _SENTENCES_COMMIT, "data/annotated_eureka.csv"),
            size=401_355,
            sha256="a0243352da856be39207a61816350f679ddb28d5d66d2621c786bd412345e2f9",
        ),
        DataFile(
            path="insciout_train.jsonl",
            address=github(_PAIRS, _PAIRS_COMMIT, "data/insciout_train.jsonl"),
            size=52_426,
            sha256="ee5f42661e28d30271060047cdc7a284885ac6dc4e20cc6d780f21a76a56efd5",
        ),
        DataFile(
            path="insciout_test.jsonl",
            address=github(_PAIRS, _PAIRS_COMMIT, "data/insciout_test.jsonl"),
            size=295_696,
            sha256="41429cc76860e56b96791be8478c2eb831e19e5d605b529c626b5327f2ed7f0a",
        ),
    ),
    gives=("gold", "texts", "splits"),
    load=load,
    notes=("The sentences have no annotators: only the agreed strength was published.",),
)
