from __future__ import annotations

import zipfile

import pytest

from sfumato.data.workbook import read_sheet
from sfumato.errors import FormatError

NAMESPACE = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'


def write(path, strings, cells):
    with zipfile.ZipFile(path, "w") as archive:
        shared = "".join(f"<si>{text}</si>" for text in strings)
        archive.writestr("xl/sharedStrings.xml", f"<sst {NAMESPACE}>{shared}</sst>")
        archive.writestr(
            "xl/worksheets/sheet1.xml", f"<worksheet {NAMESPACE}><sheetData>{cells}</sheetData></worksheet>"
        )


def test_strings_numbers_and_empty_cells(tmp_path):
    path = tmp_path / "a.xlsx"
    write(
        path,
        ["<t>word</t>", "<r><t>fold</t></r><r><t> ten</t></r>", "<t>a &amp; b</t>"],
        '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="C1" t="s"><v>1</v></c></row>'
        '<row r="2"><c r="A2" t="s"><v>2</v></c><c r="B2"/><c r="C2"><v>0.5</v></c></row>'
        '<row r="3"><c r="B3"><v>8</v></c><c r="AA3"><v>9</v></c></row>',
    )
    assert read_sheet(path) == [["word", "", "fold ten"], ["a & b", "", "0.5"], ["", "8", ""]]


def test_what_is_no_workbook_is_told(tmp_path):
    (tmp_path / "a.xlsx").write_bytes(b"word,stem\n")
    with pytest.raises(FormatError, match=r"a\.xlsx is not a workbook"):
        read_sheet(tmp_path / "a.xlsx")
