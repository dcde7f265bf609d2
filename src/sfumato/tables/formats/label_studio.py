"""Label Studio: the JSON export (one record per task) and the JSON-MIN export (one record per annotation).

    [{"id": 7, "data": {"text": …}, "predictions": […],
      "annotations": [{"completed_by": 3, "was_cancelled": false,
                       "result": [{"from_name": "mood", "type": "choices", "value": {"choices": ["glad"]}}]}]}]

    [{"text": …, "id": 7, "mood": "glad", "annotator": 3, "annotation_id": 12, "created_at": …, "lead_time": 4.2}]

The item is the task's ``id`` (or a field of ``data``), the annotator who completed the annotation (the id; the e-mail
only where nothing else stands there), the label what the control (``from_name``) says: a choice, a taxonomy path, a
rating, a number, the chosen side of a pair, or the one class of all regions. Cancelled annotations and those without
an answer are left out and counted; predictions are models' and are left out too.
"""

from __future__ import annotations

__all__ = ["NAME", "TITLE", "read", "recognises"]

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sfumato.errors import InputError
from sfumato.tables.formats.beginning import Beginning
from sfumato.tables.formats.records import Record, read_records
from sfumato.tables.formats.votes import Votes, choose, only, refuse_options, single_label
from sfumato.tables.source import as_text, kind_of
from sfumato.tables.vote_table import VoteTable

NAME = "label_studio"
TITLE = "Label Studio"

_IDENTITIES = ("id", "email", "username")
_LISTS = ("annotations", "completions")  # completions: before version 1.0
_MIN_FIELDS = ("annotator", "annotation_id")


def recognises(beginning: Beginning) -> bool:
    """Return whether the first record is a task with annotations, or an annotation of the JSON-MIN export."""
    tasks = any(beginning.has(name, "data") for name in _LISTS) and isinstance(beginning.objects[0]["data"], dict)
    return tasks or beginning.has(*_MIN_FIELDS)


def read(
    paths: Sequence[Path],
    *,
    item: str | None = None,
    annotator: str | None = None,
    label: str | None = None,
    task: str | None = None,
) -> VoteTable:
    """Return the votes; ``item`` names a field of the task's data, ``label`` a control (``from_name``).

    ``annotator`` names a field of ``completed_by`` or of the annotation that tells the annotators apart.
    """
    path = only(paths, TITLE)
    refuse_options(TITLE, task=task)
    records = read_records(path)
    votes = Votes(path, NAME)
    if any(record.has("annotator") for record in records) and not any(r.first(*_LISTS) for r in records):
        return _read_min(records, votes, item, annotator, label)
    return _read_tasks(records, votes, item, annotator, label)


def _read_tasks(
    records: list[Record], votes: Votes, item: str | None, annotator: str | None, label: str | None
) -> VoteTable:
    answered: list[tuple[Record, Record, list[Record]]] = []
    controls: dict[str, None] = {}
    for record in records:
        where = f"task {record.fields['id']}" if record.has("id") else "its task"
        task = Record(record.fields, f"{record.where} ({where})", record.row)
        predictions = task.fields.get("predictions")
        for _ in predictions if isinstance(predictions, list) else ():
            votes.leave_out("predictions by models")
        for annotation in task.objects(task.first(*_LISTS) or "annotations", called="annotation"):
            if annotation.fields.get("was_cancelled") is True or annotation.fields.get("skipped") is True:
                votes.leave_out("cancelled annotations")
                continue
            results = annotation.objects("result", called="result")
            answered.append((task, annotation, results))
            controls.update(dict.fromkeys(r.text("from_name") for r in results if r.has("from_name") and _answers(r)))
    if not controls and label is None:
        return votes.table({})
    control = choose(label, list(controls), where=votes.path, what="control")
    for task, annotation, results in answered:
        given = [value for r in results if r.fields.get("from_name") == control for value in _answers(r) or ()]
        if not given:
            votes.leave_out(f"annotations without an answer to {control!r}")
            continue
        who = _annotator(annotation, annotator, votes)
        where = f"{annotation.where} by annotator {who!r}, control {control!r}"
        _note_regions([r.fields.get("value") for r in results if r.fields.get("from_name") == control], control, votes)
        votes.add(_item(task, item), who, single_label(_distinct(given), where=where), annotation)
    identity = f"completed_by.{annotator}" if annotator else "completed_by"
    return votes.table({"item": f"data.{item}" if item else "id", "annotator": identity, "label": control})


def _item(task: Record, item: str | None) -> str:
    if item is None:
        return task.text("id")
    data = task.fields.get("data")
    return task.text(item) if not isinstance(data, dict) else task.inner(data, "data").text(item)


def _annotator(annotation: Record, field: str | None, votes: Votes) -> str:
    who = annotation.fields.get("completed_by")
    person = annotation.inner(who, "completed_by") if isinstance(who, dict) else None
    if field is not None:
        return person.text(field) if person and person.has(field) else annotation.text(field)
    if person is None:
        return _noted(annotation.text("completed_by"), votes)
    return _noted(person.text(person.first(*_IDENTITIES) or "id"), votes)


def _noted(who: str, votes: Votes) -> str:
    if "@" in who:
        votes.note("The annotators' e-mail addresses stand as their names, as the export has no ids for them.")
    return who


def _answers(result: Record) -> list[str] | None:
    """Return the classes that a result gives, or None if it is no answer by classes (free text, a relation)."""
    value = result.fields.get("value")
    if not isinstance(value, dict):
        return None
    for name in ("choices", "rating", "number", "selected", "taxonomy"):
        if name in value:
            return _listed(value[name], f"{result.where}, {name!r}", paths=name == "taxonomy")
    regions = next((name for name in value if name.endswith("labels")), None)
    return None if regions is None else _listed(value[regions], f"{result.where}, {regions!r}")


def _note_regions(values: Sequence[Any], control: str, votes: Votes) -> None:
    named = [next((key for key in value if key.endswith("labels")), "") for value in values if isinstance(value, dict)]
    if any(named):
        votes.note(
            f"{control!r} holds regions ({next(filter(None, named))}): an item's label is the class of its regions; "
            "how many there are and where they lie was left out."
        )


def _listed(value: Any, where: str, *, paths: bool = False) -> list[str]:
    """Return an answer as a list of texts; a taxonomy path becomes one text, its steps joined by a slash."""
    values = value if isinstance(value, list) else [value]
    if not paths:
        return [as_text(one, where=where) for one in values if one is not None]
    for path in values:
        if not isinstance(path, list):
            raise InputError(f"{where}: each taxonomy answer must be a list of steps. Got {kind_of(path)}.")
    return ["/".join(as_text(step, where=where) for step in path) for path in values]


def _read_min(
    records: list[Record], votes: Votes, item: str | None, annotator: str | None, label: str | None
) -> VoteTable:
    # The exporter writes the task's data, then the id, then one field per control, then the annotator.
    controls: dict[str, None] = {}
    for record in records:
        names = list(record.fields)
        first, last = (names.index(name) + 1 if name in names else 0 for name in ("id", "annotator"))
        controls.update(dict.fromkeys(names[first : last - 1] if label is None else names))
    control = choose(label, list(controls), where=votes.path, what="control")
    for record in records:
        if not record.has(control):
            votes.leave_out(f"annotations without an answer to {control!r}")
            continue
        value = record.fields[control]
        given: list[str] = []
        for one in value if isinstance(value, list) else [value]:
            result = record.inner({"value": one}, f"control {control!r}")
            answers = _answers(result) if isinstance(one, dict) else [as_text(one, where=result.where)]
            if answers is None:
                raise InputError(
                    f"{result.where}: is no answer by classes. Name another control "
                    "(label=…, on the command line --label)."
                )
            given += answers
        who = _noted(record.text(annotator or "annotator"), votes)
        _note_regions(value if isinstance(value, list) else [value], control, votes)
        where = f"{record.where} by annotator {who!r}, control {control!r}"
        votes.add(record.text(item or "id"), who, single_label(_distinct(given), where=where), record)
    return votes.table({"item": item or "id", "annotator": annotator or "annotator", "label": control})


def _distinct(given: list[str]) -> list[str]:
    """Return each class once: where all regions of an item have one class, that is what was said of the item."""
    return list(dict.fromkeys(given))
