from __future__ import annotations

import csv
import gzip
import io
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.errors import FormatError, InputError
from sfumato.tables import delimited
from sfumato.tables.delimited import DelimitedTable

TEXT = st.text(st.characters(exclude_characters="\0\r", exclude_categories=["Cs"]), max_size=6)
ODD = st.sampled_from(
    ["", " ", "08", "a,b", "a;b", 'say "yes"', "two\nlines", '"', '""', "é", "NaN", "x" * 50, "|", "\t"]
)
PLAIN = st.from_regex(r"[a-z0-9 -]{1,8}", fullmatch=True)


def read(path: Path) -> tuple[tuple[str, ...], list[list[str]]]:
    table = DelimitedTable(path)
    columns = range(len(table.header))
    rows: list[list[str]] = []
    for cells in table.batches(columns):
        rows += map(list, zip(*(column.texts() for column in cells), strict=True))
    return table.header, rows


def written(rows: list[list[str]], delimiter: str, end: str, quoting: int) -> tuple[str, list[int]]:
    """Return a table as text, and the line where each row begins."""
    text, lines = "", []
    for row in rows:
        lines.append(text.count("\n") + (text.count("\r") if end == "\r" else 0) + 1)
        out = io.StringIO()
        csv.writer(out, delimiter=delimiter, lineterminator=end, quoting=quoting).writerow(row)  # type: ignore[arg-type]
        text += out.getvalue()
    return text, lines


@settings(max_examples=120, deadline=None)
@given(data=st.data())
def test_any_table_comes_back_as_it_was_written(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    n_columns = data.draw(st.integers(2, 4))
    cell = data.draw(st.sampled_from([PLAIN, PLAIN, st.one_of(PLAIN, ODD, TEXT)]))
    header = [f"column {place}" for place in range(n_columns)]
    body = data.draw(st.lists(st.lists(cell, min_size=n_columns, max_size=n_columns), max_size=12))
    delimiter = data.draw(st.sampled_from(",\t;|"))
    end = data.draw(st.sampled_from(["\n", "\n", "\r\n", "\r"]))
    quoting = csv.QUOTE_ALL if end == "\r" else data.draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
    text, lines = written([header, *body], delimiter, end, quoting)
    if data.draw(st.booleans()) and end != "\r":
        text = text.removesuffix(end)
    content = (b"\xef\xbb\xbf" if data.draw(st.booleans()) else b"") + text.encode()
    path = tmp_path_factory.mktemp("tables") / "votes.csv"
    path.write_bytes(gzip.compress(content) if data.draw(st.booleans()) else content)
    kept = [row for row in range(len(body)) if any(body[row])]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(delimited, "_BLOCK", data.draw(st.sampled_from([7, 40, 1 << 20])))
        patch.setattr(delimited, "_ROWS_AT_ONCE", 3)
        table = DelimitedTable(path)
        # Where the cells hold delimiters of their own, another may fit as well.
        if table._delimiter != delimiter:
            table._delimiter, table.header = delimiter, tuple(header)
        rows: list[list[str]] = []
        for cells in table.batches(range(n_columns)):
            rows += map(list, zip(*(column.texts() for column in cells), strict=True))
        assert rows == [body[row] for row in kept]
        for place, row in enumerate(kept):
            assert table.where(place) == f"{path}, line {lines[row + 1]}"


@pytest.mark.parametrize("delimiter", [",", "\t", ";", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
def test_the_quick_reader_and_the_exact_one_agree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, delimiter: str, end: str, quoting: int
) -> None:
    rows = [["item", "label"], *([f"i{n}", "" if n % 7 == 0 else f"x{n % 3}"] for n in range(500))]
    path = tmp_path / "votes.csv"
    path.write_bytes(written(rows, delimiter, end, quoting)[0].encode())
    taken: list[bool] = []
    quick = delimited._split

    def watched(*arguments: object) -> object:
        taken.append(result := quick(*arguments))  # type: ignore[arg-type, func-returns-value]
        return result

    monkeypatch.setattr(delimited, "_split", watched)
    monkeypatch.setattr(delimited, "_BLOCK", 600)
    found = read(path)
    # Only the lines of old Macs are left to the exact reader.
    assert all(cells is not None for cells in taken) == (end != "\r")
    monkeypatch.setattr(delimited, "_split", lambda *arguments: None)
    assert read(path) == found == (("item", "label"), rows[1:])


@pytest.mark.parametrize(
    ("row", "quick"),
    [
        ("a,b", True), ('"a","b"', True), ('"a",b', True), ('"a\nc",b', True), ('"a,c",b', True), ('"","b"', True),
        ('"a""c",b', False), ('a"c,b', False), ('a"c"d,b', False), (",", False), ('"",""', False), ("", False),
        ("a,b\r", True),
    ],
)  # fmt: skip
def test_what_is_plainly_regular(row: str, quick: bool) -> None:
    data = f"item,label\n{row}\n".encode()
    assert (delimited._split(data, ",", 2, [0, 1]) is not None) == quick


@pytest.mark.parametrize(
    ("content", "delimiter", "header"),
    [
        ("item,label\na,b\n", ",", ("item", "label")),
        ("item\tlabel\na,x\tb\n", "\t", ("item", "label")),
        ("item;label\na,5;b\n", ";", ("item", "label")),
        ("item|label\na|b\n", "|", ("item", "label")),
        ("item,of;label\na;b\n", ";", ("item,of", "label")),  # the comma does not part the second row
        ("\n\nitem,label\na,b\n", ",", ("item", "label")),
        ("item\n", ",", ("item",)),
    ],
)
def test_the_delimiter_is_recognised(tmp_path: Path, content: str, delimiter: str, header: tuple[str, ...]) -> None:
    path = tmp_path / "votes.txt"
    path.write_text(content)
    table = DelimitedTable(path)
    assert (table._delimiter, table.header) == (delimiter, header)


def test_rows_without_any_text_are_passed_over_and_lines_still_counted(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text('item,label\na,b\n\n,\n"x\ny",c\nd,e\n')
    assert read(path)[1] == [["a", "b"], ["x\ny", "c"], ["d", "e"]]
    table = DelimitedTable(path)
    assert [table.where(row)[-6:] for row in range(3)] == ["line 2", "line 5", "line 7"]


def test_the_line_is_known_without_reading_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "votes.csv"
    path.write_text("item,label\n" + "a,b\n" * 1000 + '"a\nb",c\n')
    table = DelimitedTable(path)
    for _ in table.batches([0]):
        pass
    assert table.where(1000) == f"{path}, line 1002"
    monkeypatch.setattr(delimited, "_BLOCK", 100)
    for _ in table.batches([0]):
        pass
    path.unlink()
    assert table.where(500) == f"{path}, line 502"


def test_only_the_columns_that_are_wanted_come_in_the_order_that_is_wanted(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text("a,b,c\n1,2,3\n")
    (cells,) = DelimitedTable(path).batches([2, 0])
    assert [column.texts() for column in cells] == [("3",), ("1",)]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "empty"),
        (b" \n\n", "empty: it holds nothing but blank space"),
        (b"item,label\na,b,c\n", "line 2: has 3 cells where the header has 2.*double quotes"),
        (b"item,label\na,b\nc\n", "line 3: has 1 cell where the header has 2.*the file was cut"),
        (b'item,label\n"a,b\n', "line 2: a cell that begins with a quote never ends"),
        (b'item,label\na,b\n"a"c,b\n', "line 3: text follows the quote that ends a cell"),
        (b'"item,label\na,b\n', "line 1: a cell that begins with a quote never ends"),
        (b"item,label\na,b\nb\xe9,c\n", r"line 3: byte 2 of the line \(0xE9\) is not UTF-8"),
        (b"item,label\na,b\0\n", "line 2: holds a zero byte"),
        (b"item,label\ra,b\rc\r", "line 3: has 1 cell"),
        ("item,label\n".encode("utf-16"), "UTF-16"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "votes.csv"
    path.write_bytes(content)
    with pytest.raises(InputError, match=message) as caught:
        read(path)
    assert str(caught.value).startswith(str(path))


def test_a_gzip_file_that_ends_early_or_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv.gz"
    whole = gzip.compress("".join(f"{n},{n * n}\n" for n in range(5000)).encode())
    damaged = whole[:-3000] + b"xxxxxxxx" + whole[-2992:]
    for content, message in ((whole[:-2000], "ends too early"), (damaged, "is a damaged gzip file")):
        path.write_bytes(content)
        with pytest.raises(InputError, match=message):
            read(path)


def test_an_open_quote_is_not_searched_for_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delimited, "_LONGEST_CELL", 1000)
    monkeypatch.setattr(delimited, "_BLOCK", 100)
    path = tmp_path / "votes.csv"
    path.write_text('item,label\na,b\n"c,d\n' + "e,f\n" * 1000)
    limit = csv.field_size_limit()
    with pytest.raises(FormatError, match="line 3: a cell that begins with a quote never ends"):
        read(path)
    assert csv.field_size_limit() == limit
