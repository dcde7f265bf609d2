"""Metadata in the footer of an Arrow file.

Polars writes Arrow files but none of the key-value metadata that the format gives a schema, and reads none. The
footer is a flatbuffer (format/File.fbs and format/Schema.fbs of Apache Arrow). Its tables point forwards only, so
that a new root with one more field can be put before the old bytes and point into them; nothing is re-encoded.
"""

from __future__ import annotations

__all__ = ["add_metadata", "read_metadata"]

import struct
from collections.abc import Mapping, Sequence
from typing import IO

MAGIC = b"ARROW1"

# The fields of three tables, by their place in the schema: Footer, Schema, KeyValue.
_VERSION, _SCHEMA, _DICTIONARIES, _BATCHES = range(4)
_ENDIANNESS, _FIELDS, _METADATA, _FEATURES = range(4)
_KEY, _VALUE = range(2)


def read_metadata(file: IO[bytes]) -> dict[str, str]:
    """Return the metadata of the schema in an Arrow file; ValueError where the file has no sound footer.

    >>> import io, polars as pl
    >>> file = io.BytesIO()
    >>> pl.DataFrame({"a": [1]}).write_ipc(file)
    >>> add_metadata(file, {"of": "one"})
    >>> read_metadata(file), pl.read_ipc(file.getvalue())["a"].to_list()
    ({'of': 'one'}, [1])
    """
    _, footer = _footer(file)
    try:
        schema = _pointed(footer, _field(footer, _pointed(footer, 0), _SCHEMA))
        at = _field(footer, schema, _METADATA)
        if at is None:
            return {}
        pairs = _pointed(footer, at)
        (count,) = struct.unpack_from("<I", footer, pairs)
        tables = [_pointed(footer, pairs + 4 * number) for number in range(1, count + 1)]
        return {
            _text(footer, _field(footer, pair, _KEY)): _text(footer, _field(footer, pair, _VALUE)) for pair in tables
        }
    except (struct.error, UnicodeDecodeError) as error:
        raise ValueError(f"the footer is damaged ({error})") from None


def add_metadata(file: IO[bytes], metadata: Mapping[str, str]) -> None:
    """Give the Arrow file that was just written metadata in place of what it has; *file* is open for both."""
    start, footer = _footer(file)
    grown = _grown(footer, metadata)
    file.seek(start)
    file.write(grown + struct.pack("<i", len(grown)) + MAGIC)
    file.truncate()


def _footer(file: IO[bytes]) -> tuple[int, bytes]:
    """Return where the footer begins, and its bytes: they stand before their own length and the magic."""
    end = file.seek(0, 2)
    tail = len(MAGIC) + 4
    file.seek(max(0, end - tail))
    length = file.read(tail)
    if len(length) < tail or length[4:] != MAGIC:
        raise ValueError("the file does not end as an Arrow file ends")
    start = end - tail - struct.unpack("<i", length[:4])[0]
    if not 8 <= start <= end - tail:
        raise ValueError("the length of the footer is wrong")
    file.seek(start)
    return start, file.read(end - tail - start)


def _grown(footer: bytes, metadata: Mapping[str, str]) -> bytes:
    """Return the footer with a new root and a new schema before it, which point to the old fields and batches."""
    head = bytearray(4)
    borrowed: list[tuple[int, int]] = []  # where a pointer into the old bytes stands, and to which of them

    def table(old: int, *, numbers: Sequence[int], pointers: Sequence[int], own: Sequence[int]) -> dict[int, int]:
        """Append a table of up to four fields, and return where its fields stand; −1 is the table itself."""
        kept = {field: _field(footer, old, field) for field in (*numbers, *pointers)} if old else {}
        fields = [*own, *(field for field, place in kept.items() if place is not None)]
        start = len(head) + 12
        place = {field: start + 4 + 4 * slot for slot, field in enumerate(fields)}
        head.extend(struct.pack("<HH", 12, 4 + 4 * len(fields)))
        head.extend(struct.pack("<4H", *(place[field] - start if field in place else 0 for field in range(4))))
        head.extend(struct.pack("<i", 12) + bytes(4 * len(fields)))
        for field, at in kept.items():
            if at is not None and field in numbers:
                head[place[field] : place[field] + 2] = footer[at : at + 2]
            elif at is not None:
                borrowed.append((place[field], _pointed(footer, at)))
        return {-1: start, **place}

    def point(at: int, to: int) -> None:
        struct.pack_into("<I", head, at, to - at)

    def text(value: str) -> int:
        start, encoded = len(head), value.encode()
        head.extend(struct.pack("<I", len(encoded)) + encoded + b"\0")
        head.extend(bytes(-len(head) % 4))
        return start

    root = _pointed(footer, 0)
    schema = _pointed(footer, _field(footer, root, _SCHEMA))
    new_root = table(root, numbers=(_VERSION,), pointers=(_DICTIONARIES, _BATCHES), own=(_SCHEMA,))
    new_schema = table(schema, numbers=(_ENDIANNESS,), pointers=(_FIELDS, _FEATURES), own=(_METADATA,))
    point(0, new_root[-1])
    point(new_root[_SCHEMA], new_schema[-1])
    pairs = len(head)
    point(new_schema[_METADATA], pairs)
    head.extend(struct.pack("<I", len(metadata)) + bytes(4 * len(metadata)))
    for number, (key, value) in enumerate(metadata.items(), start=1):
        pair = table(0, numbers=(), pointers=(), own=(_KEY, _VALUE))
        point(pairs + 4 * number, pair[-1])
        point(pair[_KEY], text(key))
        point(pair[_VALUE], text(value))
    head.extend(bytes(-len(head) % 8))  # the old bytes hold numbers of eight bytes, aligned as they were
    for at, to in borrowed:
        point(at, len(head) + to)
    return bytes(head) + footer


def _pointed(data: bytes, at: int | None) -> int:
    """Return where the pointer at this place leads."""
    if at is None:
        raise ValueError("the footer lacks a part that every Arrow file has")
    target: int = at + struct.unpack_from("<I", data, at)[0]
    return target


def _field(data: bytes, table: int, field: int) -> int | None:
    """Return where a field of a table stands, or None where the table leaves it out."""
    directory = table - struct.unpack_from("<i", data, table)[0]
    (size,) = struct.unpack_from("<H", data, directory)
    if 4 + 2 * field >= size:
        return None
    (distance,) = struct.unpack_from("<H", data, directory + 4 + 2 * field)
    return table + distance if distance else None


def _text(data: bytes, at: int | None) -> str:
    start = _pointed(data, at)
    (length,) = struct.unpack_from("<I", data, start)
    return data[start + 4 : start + 4 + length].decode()
