"""Reading delimited files in which every cell stays the text that it is: an id such as ``08`` is not a number."""

from __future__ import annotations

__all__ = ["read_strings"]

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from sfumato.data import places
from sfumato.errors import FormatError


def read_strings(
    path: Path,
    *,
    separator: str = "\t",
    quote: str | None = None,
    columns: Sequence[str] | None = None,
    header: bool = True,
) -> pl.DataFrame:
    """Return a delimited file (or its ``.gz`` twin) as a frame of strings; an empty cell is an empty string.

    Without *header* the *columns* name what stands in the file; with it, they choose among what it has.
    """
    try:
        frame = pl.read_csv(
            places.read_bytes(path),
            separator=separator,
            quote_char=quote,
            has_header=header,
            new_columns=None if header else columns,
            columns=list(columns) if header and columns else None,
            infer_schema=False,
        )
    except pl.exceptions.PolarsError as error:
        raise FormatError(f"The file {path} is not the one that upstream has: {str(error).splitlines()[0]}") from None
    return frame.fill_null("")
