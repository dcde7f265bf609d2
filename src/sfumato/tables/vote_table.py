"""What every format door yields: votes as names, before they are coded."""

from __future__ import annotations

__all__ = ["VoteTable"]

from dataclasses import dataclass, field

import polars as pl

from sfumato.core.vocabulary import Vocabulary


@dataclass(frozen=True)
class VoteTable:
    """Votes as a frame of names, and what was taken for what.

    ``frame`` has the columns ``item``, ``annotator`` and ``label`` (text; null where a cell was blank), and where
    the format has them ``weight`` (float; the rows of one annotation sum to 1) and ``annotation`` (a number that
    tells the distributions of one annotator for one item apart). ``row`` is the line or record in the source, from 1
    as a person counts it, so that an error can point there.
    """

    frame: pl.DataFrame
    format: str
    # What was taken for what, in the words of the source: {"item": "orig_id", "annotator": "!amt_worker_ids", …}.
    columns: dict[str, str] = field(default_factory=dict)
    # Classes, in their order, where the format itself declares them.
    classes: Vocabulary | None = None
    # For tokens: a frame with the columns ``item``, ``sequence`` and ``position`` (both integers).
    tokens: pl.DataFrame | None = None
    notes: tuple[str, ...] = ()
