"""The beginning of a file, parsed as far as it goes, for the formats to recognise themselves in."""

from __future__ import annotations

__all__ = ["Beginning", "read_beginning"]

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sfumato.tables.formats.rows import header_of
from sfumato.tables.source import read_start

# A first record may be long (whole documents, images as text): look again, further, before giving up.
_SIZES = (1 << 16, 1 << 22)
_MOST_OBJECTS = 50


@dataclass(frozen=True)
class Beginning:
    """What the first part of a file holds.

    ``objects`` are its first JSON records, be it a list, lines, or (``keyed``) an object of named records.
    ``lines`` and ``header`` are filled for everything that is not JSON.
    """

    objects: list[dict[str, Any]] = field(default_factory=list)
    keyed: bool = False
    lines: list[str] = field(default_factory=list)
    header: list[str] = field(default_factory=list)

    def has(self, *keys: str) -> bool:
        """Return whether the first record, and so probably each, has all the keys."""
        return bool(self.objects) and not self.keyed and all(key in self.objects[0] for key in keys)


def read_beginning(path: Path) -> Beginning:
    """Return the beginning of a text file."""
    for size in _SIZES:
        text = read_start(path, size=size).lstrip()
        if not text.startswith(("[", "{")):
            lines = text.split("\n")
            # The last line is probably cut by the size, unless this is the whole file.
            lines = [line.rstrip("\r") for line in (lines[:-1] if len(lines) > 1 else lines)]
            return Beginning(lines=lines, header=header_of(lines[0]))
        objects, keyed = _objects(text)
        if objects:
            return Beginning(objects=objects, keyed=keyed)
    return Beginning()


def _objects(text: str) -> tuple[list[dict[str, Any]], bool]:
    """Return the first JSON objects of a text that may break off anywhere, and whether they are values of keys."""
    values = _values(text, 1 if text.startswith("[") else 0)
    objects = [value for value in values if isinstance(value, dict)]
    if text.startswith("["):
        return objects, False
    if not objects:
        return _keyed(text), True
    first = objects[0]
    if len(objects) == 1 and first and all(isinstance(value, dict) for value in first.values()):
        return list(first.values())[:_MOST_OBJECTS], True
    return objects, False


def _values(text: str, place: int) -> list[Any]:
    decoder = json.JSONDecoder()
    values: list[Any] = []
    while len(values) < _MOST_OBJECTS:
        while place < len(text) and text[place] in " \t\r\n,":
            place += 1
        try:
            value, place = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            break
        values.append(value)
    return values


def _keyed(text: str) -> list[dict[str, Any]]:
    """Return the first values of an object that is too long to be read whole."""
    decoder, place = json.JSONDecoder(), 1
    values: list[dict[str, Any]] = []
    while len(values) < _MOST_OBJECTS:
        try:
            while text[place] in " \t\r\n,":
                place += 1
            key, place = decoder.raw_decode(text, place)
            while text[place] in " \t\r\n:":
                place += 1
            value, place = decoder.raw_decode(text, place)
        except (ValueError, IndexError, RecursionError):
            break
        if not isinstance(key, str) or not isinstance(value, dict):
            return []
        values.append(value)
    return values
