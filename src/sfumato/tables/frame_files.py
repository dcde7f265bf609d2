"""Frames in files: which format an ending names, and the metadata that goes with a frame."""

from __future__ import annotations

__all__ = ["ENDINGS", "Format", "Metadata", "format_of", "read_frame", "write_frame"]

import gzip
import json
from collections.abc import Mapping
from os import PathLike, fspath
from pathlib import Path
from typing import IO, Any, Literal, cast

import polars as pl

from sfumato.errors import FormatError, InputError, OptionError
from sfumato.tables.arrow_footer import add_metadata, read_metadata
from sfumato.tables.source import check_file
from sfumato.tables.write import written_whole

Format = Literal["parquet", "arrow", "csv", "tsv", "jsonl"]
Metadata = Mapping[str, Any]

ENDINGS: Mapping[str, Format] = {
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
}
# The key of the schema metadata, in Parquet and Arrow alike.
_KEY = "sfumato"
# Raised when what is written changes so that an older sfumato would misread it.
_LAYOUT = 1
_TEXT = ("csv", "tsv", "jsonl")


def format_of(path: str | PathLike[str]) -> Format:
    """Return the format that the ending of a path names; text may be zipped (``.csv.gz``).

    >>> format_of("soft.parquet"), format_of("votes.CSV.gz")
    ('parquet', 'csv')
    """
    try:
        name = fspath(path).lower()
    except TypeError:
        raise OptionError(f"The path of a file is wanted. Got {path!r} instead.") from None
    zipped = name.endswith(".gz")
    found = ENDINGS.get(Path(name.removesuffix(".gz")).suffix)
    if found is None or (zipped and found not in _TEXT):
        raise OptionError(
            f"The ending of {path} names no format of a table. Use one of {', '.join(ENDINGS)} "
            "(.csv, .tsv, .jsonl and .ndjson also with .gz)."
        )
    return found


def write_frame(path: str | PathLike[str], frame: pl.DataFrame, metadata: Metadata) -> None:
    """Write a frame in the format that the ending names; text formats hold no metadata."""
    format = format_of(path)
    if format in _TEXT:
        _check_plain(frame, format)
    said = {_KEY: json.dumps({"layout": _LAYOUT, **metadata})}
    zipped = fspath(path).lower().endswith(".gz")
    with written_whole(path) as file:
        try:
            if format == "parquet":
                # Probabilities hardly compress, so that a higher level costs time and gains nothing.
                frame.write_parquet(file, compression_level=1, metadata=said)
            elif format == "arrow":
                frame.write_ipc(file)
                add_metadata(file, said)
            elif zipped:
                # Neither name nor time, so that the same table gives the same bytes.
                with gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=file, mtime=0) as packed:
                    _write_text(cast(IO[bytes], packed), frame, format)
            else:
                _write_text(file, frame, format)
        except pl.exceptions.PolarsError as error:  # a full disk can come out of polars under another name
            raise OSError(_first_line(error)) from None


def read_frame(path: str | PathLike[str]) -> tuple[pl.DataFrame, dict[str, Any] | None]:
    """Return the frame in a Parquet or Arrow file, and the metadata if it is one of ours."""
    path = check_file(path)
    title = "Parquet" if format_of(path) == "parquet" else "Arrow"
    try:
        with path.open("rb") as file:
            if title == "Parquet":
                found = pl.read_parquet_metadata(file).get(_KEY)
                file.seek(0)
                frame = pl.read_parquet(file)
            else:
                found = read_metadata(file).get(_KEY)
                file.seek(0)
                frame = pl.read_ipc(file)
    # A damaged file can also make polars panic, which is no Exception.
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError) as error:
        raise FormatError(
            f"{path} is not a whole {title} file ({_first_line(error)}). Copy or write it again."
        ) from None
    return frame, None if found is None else _metadata(found, path)


def _metadata(text: str, path: Path) -> dict[str, Any]:
    try:
        metadata: Any = json.loads(text)
        layout = metadata["layout"]
        if not isinstance(layout, int):
            raise TypeError("no version")
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise FormatError(f"{path} holds metadata of sfumato that cannot be read ({error}). Write it again.") from None
    if layout > _LAYOUT:
        raise FormatError(f"{path} was written by a later version of sfumato (layout {layout}). Update sfumato.")
    return cast(dict[str, Any], metadata)


def _check_plain(frame: pl.DataFrame, format: Format) -> None:
    """Refuse what a text file could not give back."""
    if format == "jsonl":
        if not frame.height:
            raise InputError("A JSONL file of no lines says nothing of its columns. Save an empty table as .parquet.")
        return
    names = next((name for name in frame.columns if "\0" in name), None)
    for column in frame.get_columns():
        if names is None and column.dtype == pl.String:
            zero = column.filter(column.str.contains("\0", literal=True))
            names = zero[0] if len(zero) else None
    if names is not None:
        raise InputError(f"The name {names!r} holds a zero byte, which no text file has. Save to .parquet or .jsonl.")


def _write_text(file: IO[bytes], frame: pl.DataFrame, format: Format) -> None:
    if format == "jsonl":
        frame.write_ndjson(file)
    else:
        frame.write_csv(file, separator="," if format == "csv" else "\t")


def _first_line(error: BaseException) -> str:
    return str(error).split("\n", 1)[0].rstrip(".")
