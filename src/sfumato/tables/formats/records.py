"""Records of a JSON export: their fields, fetched with the place at hand, so that an error can point to it."""

from __future__ import annotations

__all__ = ["Record", "read_records"]

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sfumato.errors import FormatError, InputError
from sfumato.tables.source import as_text, kind_of, parse_json, parse_json_lines, read_text


@dataclass(frozen=True, slots=True)
class Record:
    """One record: its fields, where it stands in words, and its number in the file from 1.

    >>> Record({"id": 8}, "votes.json, record 1", 1).text("id")
    '8'
    """

    fields: dict[str, Any]
    where: str
    row: int

    def has(self, name: str) -> bool:
        """Return whether the field is there and is not null."""
        return self.fields.get(name) is not None

    def first(self, *names: str) -> str | None:
        """Return the first of the names that the record has a value for."""
        return next((name for name in names if self.has(name)), None)

    def need(self, name: str) -> Any:
        """Return the value of the field; a record without it is an error that says which fields there are."""
        if not self.has(name):
            known = ", ".join(map(repr, self.fields)) or "none"
            raise InputError(
                f"{self.where}: the field {name!r} is missing (it has: {known}). Export it too, or name another field."
            )
        return self.fields[name]

    def text(self, name: str) -> str:
        """Return the field as text; a record without it is an error."""
        return as_text(self.need(name), where=f"{self.where}, field {name!r}")

    def objects(self, name: str, *, called: str) -> list[Record]:
        """Return the objects in a list field, each as a record of its own; an absent list is an error."""
        values = self.fields.get(name)
        if not isinstance(values, list):
            raise InputError(f"{self.where}: the field {name!r} must be a list. Got {kind_of(values)}.")
        for number, value in enumerate(values, start=1):
            if not isinstance(value, dict):
                raise InputError(
                    f"{self.where}, {called} {number}: must be an object with fields. Got {kind_of(value)}. "
                    "Export the annotations themselves, not only their ids."
                )
        return [self.inner(value, f"{called} {number}") for number, value in enumerate(values, start=1)]

    def inner(self, fields: dict[str, Any], called: str) -> Record:
        """Return a record inside this one."""
        return Record(fields, f"{self.where}, {called}", self.row)


def read_records(path: Path) -> list[Record]:
    """Return the records of a JSON list, a JSON-lines file, or a file with a single JSON object."""
    text = read_text(path)
    start = text.lstrip()
    if not start.startswith(("[", "{")):
        raise FormatError(f"{path} is not a JSON export: it begins with {start[:12]!r}. Name its format.")
    if start.startswith("{") and _is_object(start.split("\n", 1)[0]):
        lines = parse_json_lines(text, where=str(path))
        return [Record(fields, f"{path}, line {number}", number) for number, fields in lines]
    value = parse_json(text, where=str(path))
    records = value if isinstance(value, list) else [value]
    if not records:
        raise InputError(f"{path} holds an empty list, no record. Export it again.")
    for number, record in enumerate(records, start=1):
        if not isinstance(record, dict):
            raise FormatError(f"{path}, record {number}: must be an object with fields. Got {kind_of(record)}.")
    return [Record(fields, f"{path}, record {number}", number) for number, fields in enumerate(records, start=1)]


def _is_object(line: str) -> bool:
    try:
        return isinstance(parse_json(line, where="the first line"), dict)
    except InputError:
        return False
