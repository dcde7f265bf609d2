"""Plain tables of any origin as cells of text: files of every kind, JSON records, and tables in memory."""

from __future__ import annotations

__all__ = ["FrameTable", "PlainTable", "RecordTable", "open_frame", "open_table", "table_in_memory"]

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import polars as pl

from sfumato.errors import FormatError, InputError
from sfumato.tables.cells import Cells
from sfumato.tables.delimited import DelimitedTable
from sfumato.tables.frame_files import ENDINGS, read_frame
from sfumato.tables.in_memory import frame_in_memory
from sfumato.tables.source import as_text, read_json, read_json_lines, read_start

_ROWS_AT_ONCE = 1 << 16
# Beyond this, whole numbers held as floats have lost digits.
_LAST_EXACT = 2.0**53


class PlainTable(Protocol):
    """A header, and rows of cells numbered from 0; a blank cell is empty."""

    name: str
    header: tuple[str, ...]
    ends_open: bool  # whether the last line has no end, as that of a file that was cut

    def where(self, row: int) -> str:
        """Return the place of a row, to begin a sentence with."""

    def batches(self, columns: Sequence[int]) -> Iterator[list[Cells]]:
        """Yield the cells of some of the columns, batch by batch."""


class FrameTable:
    """A frame, whose typed cells become the text that a person would write: 1 and not 1.0, true, 2024-05-01."""

    def __init__(
        self, frame: pl.DataFrame, name: str, *, header: Sequence[str] = (), rows: Sequence[int] | None = None
    ) -> None:
        self.name = name
        self.ends_open = False
        self.header = tuple(header or frame.columns)
        self._frame = frame
        # The numbers by which a person finds the rows, where they are not 1, 2, …
        self._rows = rows

    def where(self, row: int) -> str:
        return f"{self.name}, row {row + 1 if self._rows is None else self._rows[row]}"

    def holds_floats(self, column: int) -> bool:
        """Return whether a column holds floating-point numbers."""
        return self._frame.dtypes[column].is_float()

    def batches(self, columns: Sequence[int]) -> Iterator[list[Cells]]:
        for first in range(0, self._frame.height, _ROWS_AT_ONCE):
            part = self._frame.slice(first, _ROWS_AT_ONCE)
            yield [self._cells(part[:, column].rename(self.header[column]), first) for column in columns]

    def _cells(self, series: pl.Series, first: int) -> Cells:
        texts = self._texts(series, first).fill_null("")
        cells = Cells.joined(
            (texts.str.join("").item() or "").encode(), texts.str.len_bytes().to_numpy().astype(np.intp)
        )
        return _checked(cells, lambda row: f"{self.where(first + row)}, column {series.name!r}")

    def _texts(self, series: pl.Series, first: int) -> pl.Series:
        kind = series.dtype
        if kind == pl.String:
            return series
        if kind.is_float():
            far = series.is_finite() & (series.abs() >= _LAST_EXACT)
            if far.any():
                place = self._place(series, first, far)
                raise InputError(
                    f"{place}: {series.filter(far)[0]!r} was a whole number once, and has lost digits as a "
                    "floating-point number. Read that column as text."
                )
            return series.fill_nan(None).cast(pl.String).str.replace(r"\.0$", "").str.replace(r"^-0$", "0")
        if kind.is_temporal():
            return series.dt.to_string("iso:strict")
        if kind.is_nested() or kind == pl.Object:
            said = series.is_not_null()
            if not said.any():
                return pl.repeat("", len(series), eager=True)
            what = "a list" if kind.is_nested() and kind != pl.Struct else "an object"
            raise InputError(f"{self._place(series, first, said)}: {_several(what)}")
        try:
            return series.cast(pl.String)
        except pl.exceptions.PolarsError:
            raise InputError(
                f"{self.name}, column {series.name!r}: holds {kind}, which is no text. Write names as text."
            ) from None

    def _place(self, series: pl.Series, first: int, rows: pl.Series) -> str:
        return f"{self.where(first + (rows.fill_null(False).arg_max() or 0))}, column {series.name!r}"


class RecordTable:
    """JSON records, each with the line (or the number, from 1) at which a person finds it."""

    def __init__(self, records: Sequence[tuple[int, dict[str, Any]]], name: str, *, unit: str = "line") -> None:
        self.name = name
        self.ends_open = False
        self.header = tuple(dict.fromkeys(key for _, record in records for key in record))
        self._records = records
        self._unit = unit

    def where(self, row: int) -> str:
        return f"{self.name}, {self._unit} {self._records[row][0]}"

    def batches(self, columns: Sequence[int]) -> Iterator[list[Cells]]:
        kinds: dict[int, str] = {}
        for first in range(0, len(self._records), _ROWS_AT_ONCE):
            rows = range(first, min(first + _ROWS_AT_ONCE, len(self._records)))
            yield [self._cells(column, rows, kinds) for column in columns]

    def _cells(self, column: int, rows: range, kinds: dict[int, str]) -> Cells:
        key = self.header[column]
        texts = []
        for row in rows:
            value = self._records[row][1].get(key)
            if value is None:
                texts.append("")
                continue
            if isinstance(value, list | dict):
                what = "a list" if isinstance(value, list) else "an object"
                raise InputError(f"{self.where(row)}, column {key!r}: {_several(what)}")
            kind = "text" if isinstance(value, str) else "true or false" if isinstance(value, bool) else "a number"
            if kinds.setdefault(column, kind) != kind:
                raise InputError(
                    f"{self.where(row)}, column {key!r}: holds {kind} ({value!r}) where the lines before hold "
                    f"{kinds[column]}. Write all of them alike."
                )
            texts.append(as_text(value, where=f"{self.where(row)}, column {key!r}"))
        return _checked(Cells.of(texts), lambda row: f"{self.where(rows[row])}, column {key!r}")


def open_table(path: Path) -> PlainTable:
    """Return the plain table in a text file: CSV and its kin, JSON lines or a JSON list."""
    ending = Path(path.name.lower().removesuffix(".gz")).suffix
    start = read_start(path, size=1 << 12).lstrip()
    if start[:14].lower().startswith(("<!doctype html", "<html", "<?xml")):
        raise FormatError(
            f"{path} is a web page or XML, not a table. Download the file itself; a page that asks to log in is none."
        )
    if start.startswith("[") and ending not in (".csv", ".tsv"):
        return RecordTable(_listed_records(path), str(path), unit="record")
    if start.startswith("{") or ENDINGS.get(ending) == "jsonl":
        return RecordTable(read_json_lines(path), str(path))
    return DelimitedTable(path)


def open_frame(path: Path) -> tuple[FrameTable, dict[str, Any] | None]:
    """Return the table in a Parquet or Arrow file, and what sfumato wrote beside it, if it did."""
    with path.open("rb") as file:
        is_stream = file.read(4) == b"\xff\xff\xff\xff"
    if not is_stream:
        frame, metadata = read_frame(path)
        return FrameTable(frame, str(path)), metadata
    # `datasets` keeps its tables as streams of Arrow, which have no mark and no footer.
    try:
        return FrameTable(pl.read_ipc_stream(path), str(path)), None
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError) as error:
        raise FormatError(
            f"{path} is not a whole stream of Arrow ({_first_line(error)}). Copy or write it again."
        ) from None


def table_in_memory(source: Any) -> FrameTable:
    """Return a table in memory; it must speak Arrow, as those of pandas, polars, pyarrow and duckdb do."""
    frame = frame_in_memory(source, index=True)
    # The index of a pandas frame comes last, under a made-up name where it has none.
    columns = getattr(source, "columns", None) if hasattr(source, "index") else None
    if columns is not None:
        index = [name for name in frame.columns if name not in set(map(str, columns))]
        frame = frame.select(*index, pl.exclude(index)) if index else frame
        frame = frame.rename({name: "" for name in index if name == "__index_level_0__"})
    return FrameTable(frame, "The table")


def _listed_records(path: Path) -> list[tuple[int, dict[str, Any]]]:
    values = read_json(path)
    if not values:
        raise InputError(f"{path} holds no record, only an empty list. Export it again, with its annotations.")
    for number, value in enumerate(values, start=1):
        if not isinstance(value, dict):
            raise FormatError(f"{path}, record {number}: holds {value!r:.40} where a JSON object is wanted.")
    return list(enumerate(values, start=1))


def _checked(cells: Cells, where: Callable[[int], str]) -> Cells:
    data = cells.buffer[:-8]
    if len(data) and not data.all():
        row = int(np.searchsorted(cells.start, np.argmin(data), side="right")) - 1
        raise InputError(f"{where(row)}: holds a zero byte, which no name has. Take it out.")
    return cells


def _several(what: str) -> str:
    return f"holds {what} where one name is wanted. Give each judgement a row of its own, with one label in it."


def _first_line(error: BaseException) -> str:
    return str(error).split("\n", 1)[0].rstrip(".")
