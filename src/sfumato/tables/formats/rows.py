"""Rows of a delimited text file, as text and nothing but text, each with the line where it begins."""

from __future__ import annotations

__all__ = ["Table", "delimiter_of", "header_of", "read_rows"]

import csv
import io
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sfumato.errors import FormatError, InputError
from sfumato.tables.formats.records import Record
from sfumato.tables.source import read_text


@dataclass(frozen=True)
class Table:
    """The header of a delimited file and its rows; a cell that is blank is the empty text."""

    path: Path
    header: list[str]
    rows: list[Record]

    def column(self, name: str, *, option: str) -> str:
        """Return *name* if it is a column, else an error that lists those there are."""
        if name not in self.header:
            raise InputError(
                f"{self.path} has no column {name!r} ({option}={name!r}). It has: {', '.join(map(repr, self.header))}."
            )
        return name


def read_rows(path: Path) -> Table:
    """Return the table of a CSV or TSV file; a row that is longer or shorter than the header is an error."""
    text = read_text(path)
    rows = _split(text, path, delimiter_of(text))
    _, names = next(rows, (1, []))
    header = [name.strip() for name in names]
    if not header:
        raise FormatError(f"{path} has no header, nothing but empty cells. Export the file again.")
    twice = next((name for name in header if name and header.count(name) > 1), None)
    if twice:
        raise InputError(f"{path}, line 1: the column {twice!r} stands more than once. Rename one of them.")
    records = []
    for line, cells in rows:
        if len(cells) != len(header):
            raise InputError(
                f"{path}, line {line}: has {len(cells)} cells where the header has {len(header)}. "
                "Correct the line; if it is the last one, the file was cut: export it again."
            )
        records.append(Record(dict(zip(header, cells, strict=True)), f"{path}, line {line}", line))
    if not records:
        raise InputError(f"{path} has a header and no row below it. Export it again.")
    return Table(path, header, records)


def delimiter_of(text: str) -> str:
    r"""Return what parts the cells of the first line: a tab, else whichever of comma and semicolon stands there more.

    >>> delimiter_of("task\tworker\tlabel\n"), delimiter_of("HITId;WorkerId;Title, long\n")
    ('\t', ';')
    """
    first = text.lstrip("\r\n").split("\n", 1)[0]
    return "\t" if "\t" in first else max(",;", key=first.count)


def header_of(text: str) -> list[str]:
    r"""Return the names in the first line of a delimited text, or none where it is no CSV.

    >>> header_of('"task","worker",label\nt1,w1,cat\n')
    ['task', 'worker', 'label']
    """
    first = text.lstrip("\r\n").split("\n", 1)[0].rstrip("\r")
    try:
        return [name.strip() for name in next(csv.reader([first], delimiter=delimiter_of(first)), [])]
    except csv.Error:
        return []


def _split(text: str, path: Path, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the line where each row begins and its cells; blank lines are passed over."""
    limit = csv.field_size_limit(sys.maxsize)  # answers with whole documents in one cell are legal
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
        line = 1
        for cells in reader:
            if cells and any(cells):
                yield line, cells
            line = reader.line_num + 1
    except csv.Error as error:
        cut = "unexpected end" in str(error)
        what = "a quoted cell never ends; the file ends too early" if cut else f"is not a CSV row ({error})"
        raise InputError(f"{path}, line {line}: {what}. Export the file again, whole.") from None
    finally:
        csv.field_size_limit(limit)
