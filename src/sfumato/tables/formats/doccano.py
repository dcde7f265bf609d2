"""doccano: JSON or JSON-lines exports of classification projects, one file per annotator or with their names inside.

    admin.jsonl   {"id": 4, "text": …, "label": ["glad"], "Comments": []}
    all.jsonl     {"id": 4, "text": …, "label": ["glad"], "annotator": "ann"}
    version 1.0   {"id": 4, "text": …, "annotations": [{"label": 2, "user": 1}], "meta": {}}

doccano writes one file per annotator and names it after them, so the annotator is a field of the record where there is
one, else the name of the file: give all files of a project together. The item is the ``id``. An empty list of labels
means that this annotator did not judge the item; such records are left out and counted.
"""

from __future__ import annotations

__all__ = ["NAME", "TITLE", "read", "recognises"]

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sfumato.errors import FormatError, InputError
from sfumato.tables.formats.beginning import Beginning
from sfumato.tables.formats.records import Record, read_records
from sfumato.tables.formats.votes import Votes, refuse_options, single_label
from sfumato.tables.vote_table import VoteTable

NAME = "doccano"
TITLE = "doccano"

_CONTENT = ("text", "data", "filename", "image")
_LABELS = ("label", "labels", "cats", "annotations")
_ANNOTATORS = ("annotator", "user", "username", "annotated_by")
# What doccano calls the files that are nobody's own.
_NOBODY = ("all", "unknown")


def recognises(beginning: Beginning) -> bool:
    """Return whether the first record is a text or a file with a list of labels."""
    if beginning.keyed or not beginning.objects:
        return False
    first = beginning.objects[0]
    listed = any(isinstance(first.get(name), list) for name in _LABELS)
    return listed and any(isinstance(first.get(name), str) for name in _CONTENT)


def read(
    paths: Sequence[Path],
    *,
    item: str | None = None,
    annotator: str | None = None,
    label: str | None = None,
    task: str | None = None,
) -> VoteTable:
    """Return the votes of one or several files; ``item``, ``annotator`` and ``label`` name fields of the records."""
    refuse_options(TITLE, task=task)
    votes = Votes(paths[0], NAME)
    names: list[str] = []
    taken: dict[str, str] = {}
    for path in paths:
        records = read_records(path)
        field = annotator or next((name for r in records if (name := r.first(*_ANNOTATORS))), None)
        where_label = label or next((name for r in records if (name := r.first(*_LABELS))), "label")
        if where_label == "annotations":
            _read_numbered(records, votes, item)
            taken = {"item": item or "id", "annotator": "annotations.user", "label": "annotations.label"}
            continue
        if field is None:
            names.append(_name_of(path))
        for record in records:
            given = _labels(record, where_label)
            if not given:
                votes.leave_out("records without a label")
                continue
            who = record.text(field) if field else names[-1]
            where = f"{record.where}, field {where_label!r}"
            votes.add(record.text(item or "id"), who, single_label(given, where=where), record)
        taken = {"item": item or "id", "annotator": field or "the name of the file", "label": where_label}
    if names:
        votes.note(f"The annotators are named after the files: {', '.join(names)}.")
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice:
        raise InputError(f"Two files are called {twice!r}, so one annotator would stand for two. Rename one of them.")
    return votes.table(taken)


def _labels(record: Record, name: str) -> list[Any]:
    if name in record.fields and not record.has(name):
        return []
    value = record.need(name)
    values = value if isinstance(value, list) else [value]
    if any(isinstance(one, list | dict) for one in values):
        raise FormatError(f"{record.where}: the field {name!r} holds spans or boxes, not classes. Export classes.")
    return values


def _read_numbered(records: list[Record], votes: Votes, item: str | None) -> None:
    votes.note("The labels and annotators are doccano's own numbers, as this export holds no names for them.")
    for record in records:
        given = record.objects("annotations", called="annotation")
        if not given:
            votes.leave_out("records without a label")
        for annotation in given:
            if "start_offset" in annotation.fields:
                raise FormatError(f"{annotation.where}: is a span, not a class. Export a project with classes.")
            votes.add(record.text(item or "id"), annotation.text("user"), annotation.text("label"), record)


def _name_of(path: Path) -> str:
    name = path.name.split(".")[0]
    if name in _NOBODY:
        raise InputError(
            f"{path}: nothing says who judged; doccano calls a file {name!r} where labels are shared or nobody's. "
            "Export one file per annotator, or add the field 'annotator'."
        )
    return name
