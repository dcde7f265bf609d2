"""Reading the cells of a spreadsheet workbook (.xlsx): a zip archive of XML, for which no further package is needed."""

from __future__ import annotations

__all__ = ["read_sheet"]

import io
import zipfile
from pathlib import Path
from xml.etree import ElementTree

from sfumato.data import places
from sfumato.errors import FormatError

_NAMESPACE = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"


def read_sheet(path: Path) -> list[list[str]]:
    """Return the rows of the first sheet as strings, all as long as the first; an empty cell is an empty string."""
    try:
        with zipfile.ZipFile(io.BytesIO(places.read_bytes(path))) as archive:
            shared = ElementTree.fromstring(archive.read("xl/sharedStrings.xml"))
            strings = ["".join(text.text or "" for text in entry.iter(f"{_NAMESPACE}t")) for entry in shared]
            sheet = ElementTree.fromstring(archive.read("xl/worksheets/sheet1.xml"))
    except (zipfile.BadZipFile, KeyError, ElementTree.ParseError) as error:
        raise FormatError(f"The file {path} is not a workbook that can be read ({error}).") from None
    rows = [
        {_column(cell.attrib["r"]): _value(cell, strings) for cell in row.iter(f"{_NAMESPACE}c")}
        for row in sheet.iter(f"{_NAMESPACE}row")
    ]
    width = max(rows[0], default=-1) + 1 if rows else 0
    return [[row.get(column, "") for column in range(width)] for row in rows]


def _column(reference: str) -> int:
    """Return the column of a cell such as "AB12", from 0: its letters are a number to the base 26 without a zero."""
    number = 0
    for letter in reference.rstrip("0123456789"):
        number = number * 26 + ord(letter) - ord("A") + 1
    return number - 1


def _value(cell: ElementTree.Element, strings: list[str]) -> str:
    text = cell.findtext(f"{_NAMESPACE}v") or ""
    return strings[int(text)] if text and cell.get("t") == "s" else text
