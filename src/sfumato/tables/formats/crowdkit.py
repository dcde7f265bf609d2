"""crowd-kit: its frames of classification, saved as a table with the columns task, worker (once: performer) and label.

    task,worker,label
    t1,w1,cat

The item is the task, the annotator the worker. A blank cell is an error: such a frame has a row per judgement.
"""

from __future__ import annotations

__all__ = ["NAME", "TITLE", "read", "recognises"]

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from sfumato.tables.formats.beginning import Beginning
from sfumato.tables.formats.rows import delimiter_of, header_of, read_rows
from sfumato.tables.formats.votes import Votes, only, refuse_options
from sfumato.tables.source import read_text
from sfumato.tables.vote_table import VoteTable

NAME = "crowdkit"
TITLE = "crowd-kit"

_WORKERS = ("worker", "performer")


def recognises(beginning: Beginning) -> bool:
    """Return whether the header has the columns of a crowd-kit frame."""
    return {"task", "label"} <= set(beginning.header) and any(name in beginning.header for name in _WORKERS)


def read(
    paths: Sequence[Path],
    *,
    item: str | None = None,
    annotator: str | None = None,
    label: str | None = None,
    task: str | None = None,
) -> VoteTable:
    """Return the votes; ``item``, ``annotator`` and ``label`` name other columns."""
    path = only(paths, TITLE)
    refuse_options(TITLE, task=task)
    text = read_text(path)
    header = header_of(text)
    worker = annotator or next((name for name in _WORKERS if name in header), _WORKERS[0])
    columns = {"item": item or "task", "annotator": worker, "label": label or "label"}
    frame = _fast(text, columns) if len(set(header)) == len(header) else None
    if frame is not None:
        return VoteTable(frame, NAME, columns)
    # Something is amiss: row by row, to say on which line.
    table = read_rows(path)
    votes = Votes(path, NAME)
    for option, name in columns.items():
        table.column(name, option=option)
    for row in table.rows:
        what, who, said = (row.text(name) for name in columns.values())
        votes.add(what, who, said, row)
    return votes.table(columns)


def _fast(text: str, columns: dict[str, str]) -> pl.DataFrame | None:
    """Return the frame of a table without faults, millions of rows in a second; None if there is any fault."""
    try:
        frame = pl.read_csv(text.encode(), separator=delimiter_of(text), infer_schema=False, row_index_name="row")
        chosen = frame.select(
            *(pl.col(name).alias(role) for role, name in columns.items()),
            (pl.col("row").cast(pl.Int64) + 2).alias("row"),  # the header is line 1
        )
    except (pl.exceptions.PolarsError, OverflowError):
        return None
    blank = pl.any_horizontal(pl.col(role).is_null() | (pl.col(role).str.strip_chars() == "") for role in columns)
    return None if chosen.is_empty() or chosen.filter(blank).height else chosen
