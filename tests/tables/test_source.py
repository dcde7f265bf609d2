from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.errors import FormatError, InputError
from sfumato.tables import source

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def written(data: str | bytes, name: str = "votes.txt") -> Path:
        path = tmp_path / name
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        return path

    return written


def test_a_file_that_can_be_read_is_returned(write: Write) -> None:
    path = write("a\n")
    assert source.check_file(str(path)) == path


def test_what_is_no_file_is_told(write: Write, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"There is no file .*none.csv. Check the name and the folder"):
        source.check_file(tmp_path / "none.csv")
    with pytest.raises(InputError, match="is a folder, not a file"):
        source.check_file(tmp_path)
    with pytest.raises(InputError, match=r"is empty \(0 bytes\)"):
        source.check_file(write(""))
    with pytest.raises(InputError, match="cannot be opened"):
        source.check_file("votes\0.csv")
    with pytest.raises(InputError, match="cannot be opened: Not a directory"):
        source.check_file(write("a") / "votes.csv")
    with pytest.raises(InputError, match="cannot be opened: File name too long"):
        source.check_file("v" * 5000)


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="is a pipe or a device, which can be read only once"):
        source.check_file(tmp_path / "pipe")


def test_a_file_that_may_not_be_read_is_told(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Path, *args: object) -> object:
        raise PermissionError(13, "Permission denied")

    path = write("a\n")
    monkeypatch.setattr(Path, "open", refuse)  # a test that runs as root may read everything
    with pytest.raises(InputError, match=r"votes.txt may not be read"):
        source.check_file(path)


@pytest.mark.parametrize("text", ["glad\n", "vergnügt\r\nsad", "喜\n", "a\u2028b\n"])
@pytest.mark.parametrize("zipped", [False, True])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_text_comes_as_it_is(write: Write, text: str, zipped: bool, mark: bytes) -> None:
    data = mark + text.encode()
    path = write(gzip.compress(data) if zipped else data, "votes.csv")  # gzip is known by its bytes, not by its name
    assert source.read_text(path) == text
    assert source.read_start(path) == text
    assert source.read_start(path, size=len(mark) + 1) == (text[:1] if text[0].isascii() else "")


def test_a_gzip_file_of_several_parts_is_read_whole(write: Write) -> None:
    assert source.read_text(write(gzip.compress(b"a\n") + gzip.compress(b"b\n"))) == "a\nb\n"


def test_a_broken_gzip_file_is_told(write: Write) -> None:
    data = gzip.compress(b"item,annotator,label\n" * 1000)
    for reader in (source.read_text, source.read_start):
        with pytest.raises(InputError, match="is a gzip file that ends too early"):
            reader(write(data[:-20]))
    with pytest.raises(InputError, match="is a gzip file that ends too early"):
        source.read_text(write(data[:5]))
    with pytest.raises(InputError, match="is a damaged gzip file"):
        source.read_text(write(data[:30] + b"\xff\xff\xff\xff" + data[34:]))
    with pytest.raises(InputError, match="is a damaged gzip file"):
        source.read_text(write(data[:-8] + b"\0" * 8))


def test_bytes_that_are_not_utf8_are_told_with_their_place(write: Write) -> None:
    with pytest.raises(InputError, match=r"votes.txt, line 2: the byte 0xE9 at offset 10 is not UTF-8"):
        source.read_text(write(b"item,a\ncaf\xe9,1\n"))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf16_is_recognised(write: Write, encoding: str) -> None:
    path = write("item,annotator,label\n1,ann,glad\n".encode(encoding))
    for reader in (source.read_text, source.read_start):
        with pytest.raises(InputError, match=r"is UTF-16, as Excel's .* Save it as UTF-8"):
            reader(path)


def test_a_zero_byte_is_told(write: Write) -> None:
    with pytest.raises(InputError, match="line 2: holds a zero byte"):
        source.read_text(write("item,label\n1,gl\0ad\n"))


@pytest.mark.parametrize("text", [" \n\t\n", "\ufeff", "\ufeff \r\n"])
def test_blank_space_is_an_empty_file(write: Write, text: str) -> None:
    with pytest.raises(InputError, match="is empty: it holds nothing but blank space"):
        source.read_text(write(text))
    with pytest.raises(InputError, match="is empty"):
        source.read_text(write(gzip.compress(b"")))


KINDS = {
    "a.csv": (b"PK\x03\x04" + bytes(26) + b"[Content_Types].xml", r"an Excel sheet \(.xlsx\): save the sheet as CSV"),
    "a.xlsx": (b"PK\x03\x04rest", r"an Excel sheet \(.xlsx\)"),
    "a.zip": (b"PK\x03\x04rest", "a zip archive: unzip it"),
    "a.xls": (b"\xd0\xcf\x11\xe0rest", r"an old Excel sheet \(.xls\)"),
    "a.png": (b"\x89PNGrest", "a PNG image"),
    "a.jpg": (b"\xff\xd8\xff\xe0rest", "a JPEG image"),
    "a.pdf": (b"%PDF-1.4", "a PDF"),
    "a.db": (b"SQLite format 3\x00rest", "an SQLite database"),
    "a.bz2": (b"BZh9rest", "compressed with bzip2"),
    "a.npy": (b"\x93NUMPY\x01", "a NumPy array"),
    "a.pkl": (b"\x80\x04\x95rest", "a Python pickle"),
}


@pytest.mark.parametrize("name", KINDS)
def test_a_file_that_is_no_text_is_named(write: Write, name: str) -> None:
    data, kind = KINDS[name]
    path = write(data, name)
    with pytest.raises(FormatError, match=f"is not a text file but {kind}"):
        source.read_text(path)
    assert source.binary_kind(path) == kind.split(":")[0].replace("\\", "")
    with pytest.raises(FormatError, match=f"is not a text file but {kind.split(':')[0]} inside its gzip"):
        source.read_start(write(gzip.compress(data), f"{name}.gz"))


def test_parquet_and_arrow_are_known_and_text_is_not_binary(write: Write, tmp_path: Path) -> None:
    frame = pl.DataFrame({"item": ["1"]})
    frame.write_parquet(tmp_path / "a.parquet")
    frame.write_ipc(tmp_path / "a.arrow")
    assert source.binary_kind(tmp_path / "a.parquet") == "Parquet"
    assert source.binary_kind(tmp_path / "a.arrow") == "Arrow"
    assert source.binary_kind(write("item,label\n")) is None
    with pytest.raises(FormatError, match=r"is not a text file but Parquet: give it the ending .parquet"):
        source.read_text(tmp_path / "a.parquet")


def test_json_comes_as_it_is(write: Write) -> None:
    assert source.read_json(write('{"id": "08", "n": 12345678901234567890, "x": [1.5, null, true]}')) == {
        "id": "08",
        "n": 12345678901234567890,
        "x": [1.5, None, True],
    }


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('{"a": 1, "b": {"c": 2, "c": 3}}', "the key 'c' stands more than once in one object"),
        ('{"a": NaN}', "holds NaN, which is no number"),
        ("[1, -Infinity]", "holds -Infinity, which is no number"),
        ('[\n{"a": 1},\n{"a"', "line 3: the file ends too early"),
        ('[\n{"a": "open', "line 2: the file ends too early"),
        ("[1, 2", "line 1: the file ends too early"),
        ('[\n{"a": 1}\n{"b": 2}]', r"line 3, character 1: is not JSON \(expecting ',' delimiter\)"),
        ('{"a": 1} tail', "line 1, character 10: is not JSON .extra data"),
        ("[" * 100_000, "is nested too deeply"),
        ("[" + "9" * 5000 + "]", "holds a number that cannot be read"),
        ("item,label\n1,glad\n", "line 1, character 1: is not JSON"),
    ],
)
def test_what_is_wrong_with_a_json_file_is_told(write: Write, text: str, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence) as caught:
        source.read_json(write(text))
    assert "votes.txt" in str(caught.value)


def test_json_lines_come_with_their_numbers(write: Write) -> None:
    text = '{"a": "x\u2028y"}\r\n\n  {"a": 2}\n'
    assert source.read_json_lines(write(text)) == [(1, {"a": "x\u2028y"}), (3, {"a": 2})]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('{"a": 1}\n{"a": 2', "votes.txt, line 2: the file ends too early"),
        ('{"a": 1}\n{"a": "x\n\n', "votes.txt, line 2: the file ends too early"),
        # In the middle nothing was cut: the line itself is damaged.
        ('{"a": 1\n{"a": 2}\n', r"votes.txt, line 1, character 8: is not JSON"),
        ('{"a": 1}\n[2]\n', "line 2: holds a list of 1 where one JSON object per line is wanted"),
        ('{"a": 1}\n3\n', "line 2: holds 3 where one JSON object"),
        ('{"a": 1}\nnull\n', r"line 2: holds nothing \(null\) where one JSON object"),
        ('{"a": 1}\n{"a": 1, "a": 2}\n', "line 2: the key 'a' stands more than once"),
        ('{"a": 1}\n{"a": NaN}\n', "line 2: holds NaN"),
    ],
)
def test_what_is_wrong_with_json_lines_is_told(write: Write, text: str, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        source.read_json_lines(write(text))


def test_json_in_a_cell_is_told_as_such() -> None:
    assert source.parse_json('["a"]', where="votes.csv, line 7", cell=True) == ["a"]
    with pytest.raises(InputError, match=r"^votes.csv, line 7: the JSON in the cell ends too early"):
        source.parse_json('["a"', where="votes.csv, line 7", cell=True)
    with pytest.raises(FormatError, match=r"^votes.csv, line 7, character 2: is not JSON"):
        source.parse_json("[a]", where="votes.csv, line 7", cell=True)


@pytest.mark.parametrize(
    "written", ["8", "08", "1.10", "1e3", "-0.0", "12345678901234567890.12", "true", '"08"', '"a b"']
)
def test_an_id_stays_as_it_was_written(written: str) -> None:
    value = source.parse_json("[" + (f'"{written}"' if written == "08" else written) + "]", where="x")[0]
    assert source.as_text(value, where="x") == written.strip('"')


def test_numbers_from_elsewhere_become_text_too() -> None:
    assert source.as_text(1.5, where="x") == "1.5"
    assert source.as_text(False, where="x") == "false"


@pytest.mark.parametrize(
    ("value", "got"),
    [
        (None, r"nothing \(null\)"),
        ([], "an empty list"),
        (["a", "b"], "a list of 2"),
        ({}, "an empty object"),
        ({"a": 1}, "an object with the keys 'a'"),
        (float("nan"), "nan"),
        (b"a", "b'a'"),
    ],
)
def test_what_is_no_text_is_refused_with_its_place(value: object, got: str) -> None:
    with pytest.raises(InputError, match=f"^votes.json, record 3: one text or number is wanted. Got {got}"):
        source.as_text(value, where="votes.json, record 3")


def test_half_a_character_is_refused() -> None:
    with pytest.raises(InputError, match="holds half a character"):
        source.as_text(source.parse_json(r'"\ud800"', where="x"), where="votes.json")


def test_a_long_value_is_shortened_in_a_sentence() -> None:
    assert source.kind_of("x" * 500) == "'" + "x" * 59 + "…"


@settings(max_examples=50, deadline=None)
@given(
    st.lists(
        st.dictionaries(
            st.text(st.characters(exclude_categories=["Cs"])),
            st.one_of(st.none(), st.booleans(), st.integers(), st.text(st.characters(exclude_categories=["Cs"]))),
        ),
        min_size=1,
    )
)
def test_what_json_can_hold_comes_back(records: list[dict[str, object]]) -> None:
    assert source.parse_json(json.dumps(records), where="x") == records
    lines = "\n".join(json.dumps(record, ensure_ascii=False) for record in records)
    assert source.parse_json_lines(lines, where="x") == list(enumerate(records, start=1))
