"""A table as it came: its columns, and words for where each row stands.

A delimited file can be read in two ways. The quick one leaves everything to polars and knows no line numbers. The
exact one walks through the file row by row and can say of each where it begins; it is taken when the quick one met
something that it did not expect, so that only broken files are slow.
"""

from __future__ import annotations

__all__ = [
    "Sheet",
    "item_column",
    "names_in",
    "read_exactly",
    "read_quickly",
    "read_unzipped",
    "sheet_of_records",
    "table_of",
    "texts_in",
]

import csv
import gzip
import io
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from sfumato.errors import FormatError, InputError
from sfumato.tables.frame_files import Format
from sfumato.tables.in_memory import frame_in_memory
from sfumato.tables.source import as_text, parse_json_lines, read_text

# What people call the column that names the items, by letters and digits alone, with or without "id", "s" or "name".
_ITEM_COLUMNS = frozenset({
    "item", "task", "question", "example", "instance", "sample", "unit", "document", "doc", "text", "image", "img",
    "sentence", "pair", "tweet", "post", "orig", "original", "hit", "id", "uid", "uuid", "key", "name", "index",
})  # fmt: skip
# Beyond this, whole numbers held as floats have lost digits.
_LAST_EXACT = 2.0**53


@dataclass(frozen=True)
class Sheet:
    """A frame, what to call it in a sentence, and the line where each row begins if that is known."""

    frame: pl.DataFrame
    name: str
    lines: Sequence[int] | None = None

    def where(self, row: int) -> str:
        """Return the place of a row, to begin a sentence with."""
        return f"{self.name}, row {row + 1}" if self.lines is None else f"{self.name}, line {self.lines[row]}"


def table_of(source: Any) -> Sheet:
    """Return a table in memory as a sheet; it must speak Arrow."""
    return Sheet(frame_in_memory(source, index=False), "The table")


def read_quickly(path: Path, format: Format, *, numbers: bool) -> Sheet:
    """Return a CSV or TSV file read by polars, which may raise; all but the item column as *numbers*, or all text."""
    data = read_unzipped(path)
    separator, header = _header(io.TextIOWrapper(io.BytesIO(data), encoding="utf-8-sig", newline=""), format)
    types: list[type[pl.DataType]] = [pl.Float64 if numbers else pl.String] * len(header)
    if numbers:
        types[header.index(item_column(header, str(path)))] = pl.String
    frame = pl.read_csv(data, separator=separator, schema_overrides=types, infer_schema=False)
    if frame.width and frame[:, -1].null_count():
        raise ValueError("polars fills up a row that is too short")
    frame.columns = header  # polars leaves doubled quotes in a header as they are
    return Sheet(frame, str(path))


def read_unzipped(path: Path) -> bytes:
    """Return the bytes of a file, unzipped where it is gzip; nothing else is looked at."""
    data = path.read_bytes()
    return gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data


def read_exactly(path: Path, format: Format) -> Sheet:
    """Return a CSV, TSV or JSON-lines file as text cells, null where blank, with the line of every row."""
    text = read_text(path)
    if format == "jsonl":
        return sheet_of_records(parse_json_lines(text, where=str(path)), str(path))
    try:
        separator, header = _header(io.StringIO(text, newline=""), format)
    except csv.Error as error:
        raise FormatError(f"{path}, line 1: is not a header ({error}). Export the file again.") from None
    twice = next((name for name in header if header.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"{path}, line 1: the column {twice!r} stands more than once. Rename one of them.")
    rows, lines = [], []
    for line, cells in _rows(text, separator, path):
        if len(cells) != len(header):
            raise FormatError(
                f"{path}, line {line}: has {len(cells)} cells where the header has {len(header)}. "
                "Correct the line; if it is the last one, the file was cut: export it again."
            )
        rows.append([cell or None for cell in cells])
        lines.append(line)
    return Sheet(pl.DataFrame(rows[1:], schema=dict.fromkeys(header, pl.String), orient="row"), str(path), lines[1:])


def sheet_of_records(records: Sequence[tuple[int, dict[str, Any]]], name: str) -> Sheet:
    """Return flat JSON records as text cells; what a record leaves out or has as null is null."""
    header = dict.fromkeys(key for _, record in records for key in record)
    columns = {
        key: [
            None if record.get(key) is None else as_text(record[key], where=f"{name}, line {line}, field {key!r}")
            for line, record in records
        ]
        for key in header
    }
    return Sheet(pl.DataFrame(columns, schema=dict.fromkeys(header, pl.String)), name, [line for line, _ in records])


def item_column(columns: Sequence[str], name: str) -> str:
    """Return the column that names the items: ``item``, else the first with a usual name for it.

    >>> item_column(["Task ID", "cat", "dog"], "soft.csv")
    'Task ID'
    """
    if "item" in columns:
        return "item"
    for column in columns:
        key = "".join(filter(str.isalnum, column.lower()))
        if _ITEM_COLUMNS & {key, *(key.removesuffix(end) for end in ("id", "ids", "s", "name"))}:
            return column
    raise InputError(
        f"{name} has no column that names the items (it has: {', '.join(map(repr, columns[:20]))}). "
        "Call that column 'item'."
    )


def texts_in(sheet: Sheet, column: str) -> pl.Series:
    """Return a column as text, null where it is blank; numbers become what a person would write, 1 and not 1.0."""
    cells = sheet.frame[column]
    if cells.dtype.is_nested() or cells.dtype in (pl.Binary, pl.Object):
        raise InputError(f"{sheet.name}: the column {column!r} holds {cells.dtype}, no names. Name another column.")
    if cells.dtype.is_float():
        cells = cells.fill_nan(None)
        far = (cells.abs() >= _LAST_EXACT).fill_null(False)
        if far.any():
            row = far.arg_max() or 0
            raise InputError(
                f"{sheet.where(row)}, column {column!r}: {cells[row]!r} as a name has lost digits as a floating-point "
                "number. Read that column as text."
            )
        if (cells == cells.round()).all():
            # Whole numbers with a gap among them: pandas has no other way to hold these.
            cells = cells.cast(pl.Int64)
    texts = cells.cast(pl.String)
    return pl.select(pl.when(texts.str.strip_chars() != "").then(texts)).to_series()


def names_in(sheet: Sheet, column: str, *, what: str) -> list[str]:
    """Return the names in a column; a blank one is an error that says where."""
    texts = texts_in(sheet, column)
    if texts.null_count():
        row = texts.is_null().arg_max() or 0
        raise InputError(f"{sheet.where(row)}: the {what} is blank (column {column!r}). Fill it in, or drop the row.")
    return texts.to_list()


def _header(lines: io.TextIOBase, format: Format) -> tuple[str, list[str]]:
    """Return what parts the cells, and the header; a .csv may be parted by semicolons or tabs all the same."""
    start = lines.tell()
    for separator in ("\t", ",", ";") if format == "tsv" else (",", ";", "\t"):
        lines.seek(start)
        header = next(csv.reader(lines, delimiter=separator, strict=True), [])
        if len(header) > 1:
            return separator, header
    return "\t" if format == "tsv" else ",", header


def _rows(text: str, separator: str, path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the line where each row begins and its cells, the header first; blank lines are passed over."""
    limit = csv.field_size_limit(sys.maxsize)  # a whole document as the name of an item is legal
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
        line = 1
        for cells in reader:
            if any(cells):
                yield line, cells
            line = reader.line_num + 1
    except csv.Error as error:
        cut = "unexpected end" in str(error)
        what = "a quoted cell never ends; the file ends too early" if cut else f"is not a row ({error})"
        raise FormatError(f"{path}, line {line}: {what}. Export the file again, whole.") from None
    finally:
        csv.field_size_limit(limit)
