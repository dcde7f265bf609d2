"""The table in which Snow et al. (2008) published every one of their tasks: one row per judgement."""

from __future__ import annotations

__all__ = ["read_judgements", "references"]

from pathlib import Path

import polars as pl

from sfumato.data.pseudonyms import pseudonyms
from sfumato.data.strings import read_strings


def read_judgements(path: Path) -> pl.DataFrame:
    """Return item, annotator (a pseudonym), response and gold, all as strings, in the order of the file."""
    rows = read_strings(path)
    annotators = pl.Series("annotator", pseudonyms(rows["!amt_worker_ids"]))
    return rows.select(pl.col("orig_id").alias("item"), annotators, "response", "gold")


def references(rows: pl.DataFrame) -> pl.DataFrame:
    """Return one row per item with its gold, in the order of first appearance."""
    return rows.unique("item", keep="first", maintain_order=True).select("item", "gold")
