"""Files as they come: checked, unzipped, decoded and parsed, before anyone asks what they mean.

Every reader goes through here, so that a missing file, a folder, a spreadsheet under the name of a CSV, UTF-16 or
a file cut in the middle is told in the same words everywhere.
"""

from __future__ import annotations

__all__ = [
    "as_text",
    "binary_kind",
    "check_file",
    "kind_of",
    "parse_json",
    "parse_json_lines",
    "read_json",
    "read_json_lines",
    "read_start",
    "read_text",
]

import gzip
import json
import math
import stat
import zlib
from os import PathLike
from pathlib import Path
from typing import Any, NoReturn

from sfumato.errors import FormatError, InputError

# The first bytes of files that people hand over as text, and what to do with each.
_GZIP = b"\x1f\x8b"
_MAGIC_SIZE = 64
_KINDS = (
    (b"PAR1", "Parquet", "give it the ending .parquet"),
    (b"ARROW1", "Arrow", "give it the ending .arrow"),
    (b"PK\x03\x04", "a zip archive", "unzip it and give the file inside"),
    (b"\xd0\xcf\x11\xe0", "an old Excel sheet (.xls)", "save the sheet as CSV (UTF-8)"),
    (b"%PDF", "a PDF", "export the table itself as CSV"),
    (b"\x89PNG", "a PNG image", "give the file with the annotations"),
    (b"\xff\xd8\xff", "a JPEG image", "give the file with the annotations"),
    (b"GIF8", "a GIF image", "give the file with the annotations"),
    (b"SQLite format 3\x00", "an SQLite database", "export the table as CSV"),
    (b"BZh", "compressed with bzip2", "unpack it first, or compress it with gzip"),
    (b"\xfd7zXZ\x00", "compressed with xz", "unpack it first, or compress it with gzip"),
    (b"\x28\xb5\x2f\xfd", "compressed with zstd", "unpack it first, or compress it with gzip"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", "unpack it and give the file inside"),
    (b"\x93NUMPY", "a NumPy array", "write it as a table with the columns item, annotator and label"),
    (b"\x89HDF", "an HDF5 file", "export the table as CSV or Parquet"),
    (b"\x80\x04\x95", "a Python pickle", "export the table as CSV or Parquet; pickles are never opened"),
)


class _Written(float):
    """A number that remembers how it was written, so that the id 1.10 does not become 1.1."""

    written: str

    def __new__(cls, written: str) -> _Written:
        number = super().__new__(cls, written)
        number.written = written
        return number


def check_file(path: str | PathLike[str]) -> Path:
    """Return *path* if it is a file that can be read and is not empty, else raise an `InputError`."""
    path = Path(path)
    try:
        found = path.stat()
        if stat.S_ISREG(found.st_mode):
            with path.open("rb"):
                pass
    except FileNotFoundError:
        raise InputError(f"There is no file {path}. Check the name and the folder ({Path.cwd()}).") from None
    except PermissionError:
        raise InputError(f"{path} may not be read. Ask for the right to read it, or give a copy.") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise InputError(f"{path} cannot be opened: {reason}.") from None
    if stat.S_ISDIR(found.st_mode):
        shown = path if path.name else path.resolve()
        raise InputError(f"{shown} is a folder, not a file. Give the file inside it that holds the annotations.")
    if not stat.S_ISREG(found.st_mode):
        raise InputError(f"{path} is a pipe or a device, which can be read only once. Save it as a file first.")
    if found.st_size == 0:
        raise InputError(f"{path} is empty (0 bytes). Export it again.")
    return path


def binary_kind(path: str | PathLike[str]) -> str | None:
    """Return what a file is that is not text ("Parquet", "a PNG image", …), judged by its first bytes; else None."""
    path = check_file(path)
    with path.open("rb") as file:
        found = _kind(file.read(_MAGIC_SIZE), path)
    return found and found[0]


def read_text(path: str | PathLike[str]) -> str:
    """Return the text of a UTF-8 file, unzipped where it is gzip, without its byte order mark."""
    path = check_file(path)
    data = path.read_bytes()
    if data.startswith(_GZIP):
        data = _unzipped(path, None)
    _check_is_text(data, path)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"{path}, line {line}: the byte 0x{data[error.start]:02X} at offset {error.start:,} is not UTF-8. "
            "Save the file as UTF-8 (it may be Windows-1252 or Latin-1)."
        ) from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise InputError(f"{path}, line {line}: holds a zero byte, which no text has. Export the file again.")
    if not text.strip():
        raise InputError(f"{path} is empty: it holds nothing but blank space. Export it again.")
    return text


def read_start(path: str | PathLike[str], *, size: int = 1 << 16) -> str:
    """Return about the first *size* bytes of a text file, for a look at what it is; half a character is left off."""
    path = check_file(path)
    with path.open("rb") as file:
        data = file.read(max(size, _MAGIC_SIZE))
    if data.startswith(_GZIP):
        data = _unzipped(path, max(size, _MAGIC_SIZE))
    _check_is_text(data, path)
    return data[:size].decode("utf-8-sig", errors="ignore")


def read_json(path: str | PathLike[str]) -> Any:
    """Return what a JSON file holds; a key that stands twice, NaN and Infinity are refused."""
    return parse_json(read_text(path), where=str(path))


def read_json_lines(path: str | PathLike[str]) -> list[tuple[int, dict[str, Any]]]:
    """Return the objects of a JSON-lines file, each with the number of its line; blank lines are passed over."""
    return parse_json_lines(read_text(path), where=str(path))


def parse_json(text: str, *, where: str, cell: bool = False) -> Any:
    """Return the value of a JSON text, a file's or a *cell*'s; *where* begins the sentence if it has none.

    >>> parse_json('{"id": "08"}', where="votes.json")
    {'id': '08'}
    """
    return _parsed(text, where, first_line=None if cell else 1, whole=True)


def parse_json_lines(text: str, *, where: str) -> list[tuple[int, dict[str, Any]]]:
    """Return the objects of a text with one JSON object per line, each with the number of its line."""
    # Not splitlines: U+2028 and its like may stand inside a JSON string.
    lines = [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
    records: list[tuple[int, dict[str, Any]]] = []
    for number, line in lines:
        value = _parsed(line, where, first_line=number, whole=number == lines[-1][0])
        if not isinstance(value, dict):
            raise FormatError(
                f"{where}, line {number}: holds {kind_of(value)} where one JSON object per line is wanted. "
                "Export the file as JSON lines."
            )
        records.append((number, value))
    return records


def as_text(value: Any, *, where: str) -> str:
    """Return an id or a label as text, exactly as it was written; *where* begins the sentence if it is neither.

    >>> as_text(8, where="votes.json"), as_text("08", where="votes.json"), as_text(True, where="votes.json")
    ('8', '08', 'true')
    """
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            raise InputError(
                f"{where}: holds half a character (a lone surrogate) in {value!r}. Correct the text."
            ) from None
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, _Written):
        return value.written
    if isinstance(value, int) or (isinstance(value, float) and math.isfinite(value)):
        return repr(value)
    raise InputError(f"{where}: one text or number is wanted. Got {kind_of(value)}.")


def kind_of(value: Any) -> str:
    """Return in words what a value is, short enough for a sentence.

    >>> kind_of({"id": 1}), kind_of(["a", "b"]), kind_of("8p")
    ("an object with the keys 'id'", 'a list of 2', "'8p'")
    """
    if value is None:
        return "nothing (null)"
    if isinstance(value, dict):
        return f"an object with the keys {', '.join(map(repr, list(value)[:4]))}" if value else "an empty object"
    if isinstance(value, list | tuple):
        return f"a list of {len(value)}" if value else "an empty list"
    shown = repr(value)
    return shown if len(shown) <= 60 else f"{shown[:60]}…"


def _unzipped(path: Path, size: int | None) -> bytes:
    try:
        with gzip.open(path) as file:
            return file.read() if size is None else file.read(size)
    except EOFError:
        raise InputError(f"{path} is a gzip file that ends too early. Copy or download it again, whole.") from None
    except (OSError, zlib.error) as error:
        raise InputError(f"{path} is a damaged gzip file ({error}). Copy or download it again.") from None


def _kind(start: bytes, path: Path) -> tuple[str, str] | None:
    # Office files are zip archives, and most begin with this entry.
    if start.startswith(b"PK\x03\x04") and (b"[Content_Types].xml" in start or ".xls" in path.name.lower()):
        return "an Excel sheet (.xlsx)", "save the sheet as CSV (UTF-8)"
    return next(((kind, advice) for magic, kind, advice in _KINDS if start.startswith(magic)), None)


def _check_is_text(data: bytes, path: Path) -> None:
    found = _kind(data[:_MAGIC_SIZE], path)
    if found:
        kind, advice = found
        inside = " inside its gzip" if path.suffix.lower() == ".gz" else ""
        raise FormatError(f"{path} is not a text file but {kind}{inside}: {advice}.")
    start = data[:4096]
    # Without a mark, UTF-16 of any Western text has a zero in every second byte.
    zeros = max(start[0::2].count(0), start[1::2].count(0))
    if data.startswith((b"\xff\xfe", b"\xfe\xff")) or (len(start) >= 4 and zeros > 0.4 * (len(start) // 2)):
        raise InputError(f'{path} is UTF-16, as Excel\'s "Unicode text" is. Save it as UTF-8.')


def _parsed(text: str, path: str, *, first_line: int | None, whole: bool) -> Any:
    """Parse JSON; *whole* says that nothing follows, so that an end in the middle is the end of the file."""

    def refuse_constant(token: str) -> NoReturn:
        raise InputError(f"{place}: holds {token}, which is no number. Give a finite number, or null.")

    def distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        result = dict(pairs)
        if len(result) != len(pairs):
            seen: set[str] = set()
            twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
            raise InputError(f"{place}: the key {twice!r} stands more than once in one object. Keep one of them.")
        return result

    # In a cell the place is known already; in a JSON file of many lines only a parse error knows its line.
    known = first_line is not None and (first_line > 1 or "\n" not in text)
    place = f"{path}, line {first_line}" if known else path
    try:
        return json.loads(text, parse_constant=refuse_constant, parse_float=_Written, object_pairs_hook=distinct)
    except json.JSONDecodeError as error:
        at = path if first_line is None else f"{path}, line {first_line + error.lineno - 1}"
        # Where a string is left open, the error points to its beginning; nothing but the end can follow.
        cut = error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string")
        if cut and whole:
            what = "the JSON in the cell" if first_line is None else "the file"
            raise InputError(f"{at}: {what} ends too early. Export or copy it again, whole.") from None
        raise FormatError(
            f"{at}, character {error.colno}: is not JSON ({error.msg[:1].lower()}{error.msg[1:]}). "
            "Export the file again, or name its format."
        ) from None
    except RecursionError:
        raise InputError(f"{place}: is nested too deeply to be annotations.") from None
    except InputError:
        raise
    except ValueError as error:  # a whole number of more digits than Python reads
        raise InputError(f"{place}: holds a number that cannot be read ({error}).") from None
