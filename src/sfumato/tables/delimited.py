"""CSV and its kin: rows of cells parted by a delimiter, read a block at a time.

Two readers give the same cells. The quick one works on whole blocks of bytes with NumPy, and gives up as soon as a
block is not plainly regular; the exact one is Python's own `csv` in its strict mode, takes over from there, and
knows what to say where a row is wrong.
"""

from __future__ import annotations

__all__ = ["DelimitedTable"]

import csv
import gzip
import io
import zlib
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import FormatError, InputError
from sfumato.tables.cells import Cells
from sfumato.tables.source import read_start

_DELIMITERS = ",\t;|"
_QUOTE, _NEWLINE, _RETURN = b'"\n\r'
# Blocks of this size, and what is made of them, stay in the cache of a processor.
_BLOCK = 1 << 21
# A quoted cell that goes on for longer is not waited for: its quote was left open.
_LONGEST_CELL = 1 << 26
_ROWS_AT_ONCE = 1 << 15
_SAMPLED_ROWS = 100


class _Block(NamedTuple):
    """Some whole lines of a file, UTF-8 without zero bytes, the number of the first one, and how many there are."""

    data: bytes
    line: int
    n_lines: int


class DelimitedTable:
    """A text file with a header and rows of cells; what parts them (comma, tab, semicolon or pipe) is recognised.

    ``header`` holds the names of the columns as they are written; rows are numbered from 0. Rows in which every cell
    is empty are passed over.
    """

    def __init__(self, path: Path) -> None:
        read_start(path, size=1 << 12)  # refuses what is not text
        self.name = str(path)
        self.ends_open = False
        self._path = path
        # How many rows from the first on stand in one line each, so that the line of a row is known at once.
        self._regular_rows = 0
        first = next(self._blocks(), _Block(b"", 1, 0))
        if not first.data.strip():
            raise InputError(f"{path} is empty: it holds nothing but blank space. Export it again.")
        sample = first.data.decode()
        self._delimiter = _recognised_delimiter(sample, path)
        self.header = tuple(next(_sampled_rows(sample, self._delimiter), ()))
        if not self.header:
            self.header = tuple(next(self._exact_rows(self._blocks(), n_columns=None))[1])
        if self.header[0].lower().startswith("sep="):
            raise FormatError(
                f"{path}, line 1: {self.header[0]!r} is a word to Excel, not a header. Take the line out."
            )

    def where(self, row: int) -> str:
        """Return the place of a row, to begin a sentence with."""
        if row < self._regular_rows:
            return f"{self.name}, line {row + 2}"
        line, _ = next(islice(self._exact_rows(self._blocks()), row + 1, None))
        return f"{self.name}, line {line}"

    def batches(self, columns: Sequence[int]) -> Iterator[list[Cells]]:
        """Yield the cells of some of the columns, batch by batch."""
        self._regular_rows, regular = 0, True
        blocks = self._blocks()
        header = 1  # how many rows of the header are still to come
        open_block: _Block | None = None
        for block in blocks:
            if open_block is not None:
                n_lines = open_block.n_lines + block.n_lines
                block = _Block(open_block.data + block.data, open_block.line, n_lines)
            open_block = None
            if b'"' in block.data and block.data.count(b'"') % 2:
                # The block ends inside a quoted cell.
                open_block = block
                if len(block.data) > _LONGEST_CELL:
                    break
                continue
            cells = _split(block.data, self._delimiter, len(self.header), columns)
            if cells is None:
                open_block = block
                break
            regular = regular and block.n_lines == len(cells[0])
            if header:
                cells = [column.take(slice(1, None)) for column in cells]
                header = 0
            if regular:
                self._regular_rows += len(cells[0])
            yield cells
        if open_block is not None:
            rows = islice(self._exact_rows(chain([open_block], blocks)), header, None)
            while batch := list(islice(rows, _ROWS_AT_ONCE)):
                yield [Cells.of(row[column] for _, row in batch) for column in columns]

    def _blocks(self) -> Iterator[_Block]:
        """Yield the file in blocks that end where a line ends."""
        with self._path.open("rb") as file:
            zipped = file.read(2) == b"\x1f\x8b"
        line = 1
        parts: list[bytes] = []
        with gzip.open(self._path) if zipped else self._path.open("rb") as stream:
            while True:
                try:
                    data = stream.read(_BLOCK)
                except EOFError:
                    raise InputError(
                        f"{self.name} is a gzip file that ends too early. Copy or download it again, whole."
                    ) from None
                except (OSError, zlib.error) as error:
                    what = "is a damaged gzip file" if zipped else "cannot be read to its end"
                    raise InputError(f"{self.name} {what} ({error}). Copy or download it again.") from None
                if line == 1 and not parts:
                    data = data.removeprefix(b"\xef\xbb\xbf")
                # Old Macs end a line with a return alone; the last byte may be the first half of a return and newline.
                cut = (data.rfind(b"\n") if b"\n" in data else data.rfind(b"\r", 0, -1)) + 1
                if data and not cut:
                    parts.append(data)
                    continue
                whole = b"".join([*parts, data[:cut]])
                if not data and not whole:
                    return
                if not data and not whole.endswith((b"\n", b"\r")):
                    self.ends_open = True
                    whole += b"\n"
                self._check_text(whole, line)
                # NumPy counts faster than bytes do.
                n_lines = int(np.count_nonzero(np.frombuffer(whole, dtype=np.uint8) == _NEWLINE))
                if b"\r" in whole:
                    n_lines += whole.count(b"\r") - whole.count(b"\r\n")
                yield _Block(whole, line, n_lines)
                if not data:
                    return
                parts = [data[cut:]]
                line += n_lines

    def _check_text(self, data: bytes, line: int) -> None:
        if b"\0" in data:
            line += data.count(b"\n", 0, data.index(b"\0"))
            raise InputError(f"{self.name}, line {line}: holds a zero byte, which no text has. Export the file again.")
        if data.isascii():
            return
        try:
            data.decode()
        except UnicodeDecodeError as error:
            line += data.count(b"\n", 0, error.start)
            place = error.start - data.rfind(b"\n", 0, error.start)
            raise InputError(
                f"{self.name}, line {line}: byte {place} of the line (0x{data[error.start]:02X}) is not UTF-8. "
                "Save the file as UTF-8 (it may be Windows-1252 or Latin-1)."
            ) from None

    def _exact_rows(self, blocks: Iterator[_Block], *, n_columns: int | None = -1) -> Iterator[tuple[int, list[str]]]:
        """Yield the line where each row begins and its cells (the header is a row, too); refuse what is no row."""
        if n_columns == -1:
            n_columns = len(self.header)
        first = next(blocks)
        lines = chain.from_iterable(io.StringIO(block.data.decode(), newline="") for block in chain([first], blocks))
        reader = csv.reader(lines, delimiter=self._delimiter, strict=True)
        line = first.line
        while True:
            limit = csv.field_size_limit(_LONGEST_CELL)  # the usual limit is a document of 131,072 characters
            try:
                row = next(reader, None)
            except csv.Error as error:
                raise FormatError(f"{self.name}, line {line}: {_told(error)}") from None
            finally:
                csv.field_size_limit(limit)
            if row is None:
                return
            if any(row):
                if n_columns is not None and len(row) != n_columns:
                    raise FormatError(f"{self.name}, line {line}: {self._ragged(row, n_columns)}")
                yield line, row
            line = first.line + reader.line_num

    def _ragged(self, row: list[str], n_columns: int) -> str:
        found = f"has {len(row)} {'cell' if len(row) == 1 else 'cells'} where the header has {n_columns}. "
        if len(row) < n_columns:
            return found + "Correct the line; if it is the last one, the file was cut: export it again."
        delimiter = {",": "commas", "\t": "tabs", ";": "semicolons", "|": "pipes"}[self._delimiter]
        return found + f"Correct the line; a cell that holds {delimiter} itself must stand in double quotes."


def _split(data: bytes, delimiter: str, n_columns: int, columns: Sequence[int]) -> list[Cells] | None:
    """Return the cells of some columns of a block of whole rows, or None where it is not plainly regular.

    Plainly regular is: as many delimiters in each row, quotes only round whole cells, none doubled inside, no row
    without any text, and no return that is not part of the end of a line.
    """
    buffer = np.frombuffer(data + bytes(8), dtype=np.uint8)
    view = buffer[: len(data)]
    newline = view == _NEWLINE
    parts = newline | (view == ord(delimiter))
    quoted = b'"' in data
    if quoted:
        # Inside quotes is where the number of quotes so far is odd.
        parts &= ~np.logical_xor.accumulate(view == _QUOTE)
    end = np.flatnonzero(parts)
    if len(end) % n_columns:
        return None
    last = end[n_columns - 1 :: n_columns]
    # A newline ends each row, and none stands anywhere else.
    if not newline[last].all() or np.count_nonzero(newline & parts if quoted else newline) != len(last):
        return None
    start = np.empty_like(end)
    start[:1] = 0
    np.add(end[:-1], 1, out=start[1:])
    if b"\r" in data:
        if data.count(b"\r") != data.count(b"\r\n"):
            return None
        last -= view[last - 1] == _RETURN
    if (last - start[::n_columns] == n_columns - 1).any():
        return None
    if quoted:
        wrapped = (view[start] == _QUOTE) & (view[end - 1] == _QUOTE) & (end - start >= 2)
        if data.count(b'"') != 2 * np.count_nonzero(wrapped):
            return None
        start += wrapped
        end -= wrapped
        if ((end - start).reshape(-1, n_columns).sum(axis=1) == 0).any():
            return None
    return [_column(buffer, start[column::n_columns], end[column::n_columns]) for column in columns]


def _column(buffer: NDArray[np.uint8], start: NDArray[np.intp], end: NDArray[np.intp]) -> Cells:
    return Cells(buffer, np.ascontiguousarray(start), end - start)


def _recognised_delimiter(sample: str, path: Path) -> str:
    """Return the delimiter that parts every row alike; of several the one that makes the most columns."""
    usual = "\t" if path.name.lower().removesuffix(".gz").endswith((".tsv", ".tab")) else ","
    best, delimiter = (False, 1), usual
    for candidate in _DELIMITERS:
        widths = [len(row) for row in islice(_sampled_rows(sample, candidate), _SAMPLED_ROWS)]
        if widths and widths[0] > 1:
            fit = (len(set(widths)) == 1, widths[0])
            if fit > best:
                best, delimiter = fit, candidate
    return delimiter


def _sampled_rows(sample: str, delimiter: str) -> Iterator[list[str]]:
    """Yield rows as far as they can be read."""
    try:
        yield from filter(any, csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter, strict=True))
    except csv.Error:
        return


def _told(error: csv.Error) -> str:
    if "unexpected end" in str(error) or "limit" in str(error):
        return "a cell that begins with a quote never ends. Close the quote, or double it where it belongs to the text."
    return 'text follows the quote that ends a cell. Double a quote that belongs to the text, as in "5"" wide".'
