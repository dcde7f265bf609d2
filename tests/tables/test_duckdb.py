"""DuckDB and our tables, both ways, in a process of its own: DuckDB reports leaks of its own when a process ends."""

from __future__ import annotations

import importlib.util
import subprocess
import sys

import pytest

BOTH_WAYS = """
import duckdb, polars as pl, sfumato as sf

rows = pl.DataFrame({"item": ["08", "08", "9"], "annotator": ["x", "y", "x"], "label": ["no", "yes", "no"]})
votes = sf.read_annotations(duckdb.sql("select * from rows"))
assert votes == sf.Annotations.from_rows(rows["item"], rows["annotator"], rows["label"])
assert votes.notes[0].startswith("The table: long table")

soft = sf.SoftLabels([[0.7, 0.3], [0.0, 1.0]], items=["08", "x,y"], classes=["cat", "dog"], uncertainty=[0.5, 0.25])
assert duckdb.sql("select * from soft").fetchall() == [("08", 0.7, 0.3, 0.5), ("x,y", 0.0, 1.0, 0.25)]

said = sf.Predictions.from_logits([[0.0, 2.0], [1.0, 0.5]], items=["08", "b"], classes=["cat", "dog"])
assert sf.Predictions.load(duckdb.sql("select * from said")) == said
"""


def test_tables_go_in_and_come_back() -> None:
    if importlib.util.find_spec("duckdb") is None:
        pytest.skip("duckdb is not installed")
    done = subprocess.run([sys.executable, "-W", "error", "-c", BOTH_WAYS], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
