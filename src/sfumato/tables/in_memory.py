"""Tables that somebody hands over in memory: whatever speaks Arrow becomes a frame."""

from __future__ import annotations

__all__ = ["frame_in_memory"]

from typing import Any

import polars as pl

from sfumato.errors import InputError


def frame_in_memory(source: Any, *, index: bool) -> pl.DataFrame:
    """Return a table of pandas, polars, pyarrow, duckdb, … as a frame; of pandas with its *index*, or without."""
    if isinstance(source, pl.LazyFrame):
        source = source.collect()
    kind = type(source).__name__
    if not hasattr(source, "__arrow_c_stream__"):
        raise InputError(
            "Give a path, or a table that speaks Arrow (pandas, polars, pyarrow, duckdb, datasets). "
            f"Got {kind} instead."
        )
    try:
        return pl.DataFrame(_Stream(source) if index else source)
    except ImportError:
        raise InputError(
            f"A table of type {kind} is handed over by way of pyarrow, which is not installed. "
            "Install it (pip install pyarrow), or write the table to a file and give its path."
        ) from None
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, TypeError, ValueError) as error:
        reason = str(error).split("\n", 1)[0].rstrip(".")
        raise InputError(
            f"The table of type {kind} cannot be read ({reason}). Turn columns of mixed kinds into text first."
        ) from None


class _Stream:
    """A table seen only through its Arrow stream; polars has other ways for pandas, which lose the index."""

    def __init__(self, source: Any) -> None:
        self._source = source

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._source.__arrow_c_stream__(requested_schema)
