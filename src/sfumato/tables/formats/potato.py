"""Potato: the annotations as JSON lines, or as a table with one column per label.

    {"user_id": "ann", "instance_id": "i7", "displayed_text": …, "label_annotations": {"mood": {"glad": "1"}}, …}
    {"instance_id": "i7", "user_id": "ann", "labels": {"mood": {"glad": "glad"}}, "spans": {}, …}
    ann/annotated_instances.jsonl: {"id": "i7", "displayed_text": …, "label_annotations": {"mood": {"glad": "1"}}}
    user  instance_id  displayed_text  mood:::glad  mood:::sad        (or, from version 2 on, mood.glad  mood.sad)

The item is the instance, the annotator the user (in the files of single users: the folder they stand in), the label
the one that is set in a scheme. Of scales (``scale_4``) and of schemes that hold a value rather than a choice (number,
slider) the value is taken. Spans are not read; the free text beside a choice is not read either.
"""

from __future__ import annotations

__all__ = ["NAME", "TITLE", "read", "recognises"]

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sfumato.errors import InputError
from sfumato.tables.formats.beginning import Beginning
from sfumato.tables.formats.records import Record, read_records
from sfumato.tables.formats.rows import read_rows
from sfumato.tables.formats.votes import Votes, choose, refuse_options, single_label
from sfumato.tables.source import as_text, kind_of, read_start
from sfumato.tables.vote_table import VoteTable

NAME = "potato"
TITLE = "Potato"

_SCHEMES = ("label_annotations", "labels", "annotation")
_ITEMS = ("instance_id", "id")
_USERS = ("user_id", "user", "username")
_OLD_MARK, _NEW_MARK = ":::", "."
# The names that Potato gives to the one field of a scheme which holds a value.
_VALUES = ("", "slider", "number", "value")
_FREE_TEXT = ("text_box", "free_response")
_UNSET = ("", "false", "False", "None", "nan")


def recognises(beginning: Beginning) -> bool:
    """Return whether the first record has schemes of labels, or the header a column per scheme and label."""
    if beginning.header:
        marked = any(_OLD_MARK in name for name in beginning.header)
        dotted = any(_is_dotted(name) for name in beginning.header)
        old = "instance_id" in beginning.header and any(name in beginning.header for name in _USERS)
        return old and (marked or (dotted and "user_id" in beginning.header))
    if beginning.has("label_annotations"):
        return any(beginning.has(name) for name in _ITEMS)
    if beginning.has("annotation", "id"):
        return isinstance(beginning.objects[0]["annotation"], dict) and beginning.has("displayed_text")
    return beginning.has("instance_id", "user_id", "labels") and isinstance(beginning.objects[0]["labels"], dict)


def read(
    paths: Sequence[Path],
    *,
    item: str | None = None,
    annotator: str | None = None,
    label: str | None = None,
    task: str | None = None,
) -> VoteTable:
    """Return the votes of one or several files; ``label`` names a scheme, ``item`` and ``annotator`` a field."""
    refuse_options(TITLE, task=task)
    votes = Votes(paths[0], NAME)
    judged = [(path, record) for path in paths for record in _records(path)]
    schemes = dict.fromkeys(name for _, record in judged for name, said in _schemes(record).items() if _set(said))
    if not schemes and label is None:
        return votes.table({})
    scheme = choose(label, list(schemes), where=paths[0], what="scheme")
    columns: dict[str, str] = {}
    for path, record in judged:
        where = f"{record.where}, scheme {scheme!r}"
        said = _set(_schemes(record).get(scheme, {}))
        if not said:
            votes.leave_out(f"instances without an answer to {scheme!r}")
            continue
        instance = item or record.first(*_ITEMS) or "instance_id"
        user = annotator or record.first(*_USERS)
        who = record.text(user) if user else _folder(path, votes)
        if all(name in _FREE_TEXT for name in said):
            raise InputError(
                f"{where}: holds free text, not a class. Name another scheme (label=…, on the command line --label)."
            )
        picked = [_label(name, value, where) for name, value in said.items() if name not in _FREE_TEXT]
        votes.add(record.text(instance), who, single_label(picked, where=where), record)
        columns = {"item": instance, "annotator": user or "the name of the folder", "label": scheme}
    return votes.table(columns)


def _records(path: Path) -> list[Record]:
    if read_start(path, size=4096).lstrip().startswith(("{", "[")):
        return read_records(path)
    table = read_rows(path)
    marked = [name for name in table.header if _OLD_MARK in name]
    mark = _OLD_MARK if marked else _NEW_MARK
    names = marked or [name for name in table.header if _is_dotted(name)]
    records = []
    for row in table.rows:
        schemes: dict[str, dict[str, Any]] = {}
        for name in names:
            scheme, _, label = name.partition(mark)
            schemes.setdefault(scheme, {})[label] = row.fields[name]
        kept = {name: value for name, value in row.fields.items() if name not in names and value}
        records.append(Record({**kept, "label_annotations": schemes}, row.where, row.row))
    return records


def _is_dotted(name: str) -> bool:
    """Return whether a column is ``scheme.label``; what begins with an underscore after the dot is about spans."""
    scheme, dot, label = name.partition(_NEW_MARK)
    return bool(scheme and dot and label) and not label.startswith("_")


def _schemes(record: Record) -> dict[str, dict[str, Any]]:
    name = record.first(*_SCHEMES) or _SCHEMES[0]
    schemes = record.need(name)
    if not isinstance(schemes, dict):
        raise InputError(f"{record.where}: the field {name!r} must be an object of schemes. Got {kind_of(schemes)}.")
    for scheme, said in schemes.items():
        if not isinstance(said, dict):
            raise InputError(f"{record.where}, scheme {scheme!r}: must be an object of labels. Got {kind_of(said)}.")
    return schemes


def _set(said: dict[str, Any]) -> dict[str, Any]:
    """Return the labels of a scheme that are set."""
    return {
        name: value for name, value in said.items() if value is not None and value is not False and value not in _UNSET
    }


def _label(name: str, value: Any, where: str) -> str:
    text = as_text(value, where=where)
    return text if name in _VALUES or name == f"scale_{text}" else as_text(name, where=where)


def _folder(path: Path, votes: Votes) -> str:
    votes.note("The annotators are named after the folders that the files stand in.")
    return path.absolute().parent.name
