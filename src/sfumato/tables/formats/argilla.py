"""Argilla: records of a dataset as JSON or JSON lines, of version 1 and 2, nested or flat.

    {"id": "r1", "fields": {"text": …}, "responses": {"mood": [{"value": "glad", "user_id": "u1", "status": …}]}}
    {"id": "r1", "text": …, "mood.responses": ["glad"], "mood.responses.users": ["u1"], "mood.responses.status": […]}
    {"fields": …, "responses": [{"user_id": "u1", "status": "submitted", "values": {"mood": {"value": "glad"}}}]}
    {"text": …, "mood": [{"user_id": "u1", "value": "glad", "status": "submitted"}], "external_id": "r1"}
    {"id": "r1", "text": …, "annotation": "glad", "annotation_agent": "u1", "status": "Validated"}

The item is the record's id (or a field), the annotator the ``user_id``, the label the value of a question. Only what
was submitted counts: drafts and discarded responses are left out and counted. Suggestions are models' and are not read.
"""

from __future__ import annotations

__all__ = ["NAME", "TITLE", "read", "recognises"]

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from sfumato.errors import InputError
from sfumato.tables.formats.beginning import Beginning
from sfumato.tables.formats.records import Record, read_records
from sfumato.tables.formats.votes import Votes, choose, only, refuse_options, single_label
from sfumato.tables.source import kind_of
from sfumato.tables.vote_table import VoteTable

NAME = "argilla"
TITLE = "Argilla"

_IDS = ("id", "external_id", "_server_id", "record_id")
_KEPT = ("submitted", "validated")
_AGENT = "annotation_agent"


class _Response(NamedTuple):
    """One person's answer to one question: its fields ``user_id`` and ``value``, and its status where it has one."""

    question: str
    answer: Record
    status: str | None


def recognises(beginning: Beginning) -> bool:
    """Return whether the first record has responses by users in one of the layouts."""
    if beginning.has("fields", "responses") or beginning.has("annotation", _AGENT):
        return True
    if beginning.keyed:
        return False
    return any(_has_questions(fields) for fields in beginning.objects)


def _has_questions(fields: dict[str, Any]) -> bool:
    flat = any(f"{name}.users" in fields for name in fields if name.endswith(".responses"))
    return flat or any(_is_question(value) for value in fields.values())


def read(
    paths: Sequence[Path],
    *,
    item: str | None = None,
    annotator: str | None = None,
    label: str | None = None,
    task: str | None = None,
) -> VoteTable:
    """Return the votes; ``label`` names a question, ``item`` a field or a piece of metadata of the record."""
    path = only(paths, TITLE)
    refuse_options(TITLE, task=task, annotator=annotator)
    votes = Votes(path, NAME)
    responses = [(record, response) for record in read_records(path) for response in _responses(record)]
    # A question that nobody has submitted is only offered where there is no other.
    submitted = [response.question for _, response in responses if _is_submitted(response)]
    questions = dict.fromkeys(submitted or [response.question for _, response in responses])
    if not questions and label is None:
        return votes.table({})
    question = choose(label, list(questions), where=path, what="question")
    for record, response in responses:
        if response.question != question:
            continue
        if not _is_submitted(response):
            votes.leave_out(f"responses with the status {response.status}")
            continue
        if not response.answer.has("value"):
            votes.leave_out("responses without a value")
            continue
        if response.status is None:
            votes.note("Responses without a status count as submitted; a flat export tells drafts apart.")
        who = response.answer.text("user_id")
        where = f"{record.where} by user {who!r}, question {question!r}"
        votes.add(_item(record, item, votes), who, single_label(_values(response.answer, where), where=where), record)
    return votes.table({"item": item or "id", "annotator": "user_id", "label": question})


def _is_submitted(response: _Response) -> bool:
    return response.status is None or response.status.lower() in _KEPT


def _item(record: Record, item: str | None, votes: Votes) -> str:
    if item is not None:
        for part in ("fields", "metadata"):
            inside = record.fields.get(part)
            if isinstance(inside, dict) and inside.get(item) is not None:
                return record.inner(inside, part).text(item)
        return record.text(item)
    name = record.first(*_IDS)
    if name is None:
        votes.note("The records have no id: the items are named by the number of the record in the file.")
        return str(record.row)
    return record.text(name)


def _values(answer: Record, where: str) -> list[Any]:
    value = answer.fields["value"]
    if isinstance(value, dict) and "value" in value:
        value = value["value"]
    values = value if isinstance(value, list) else [value]
    if any(isinstance(one, dict) for one in values):
        raise InputError(
            f"{where}: is a ranking or a list of spans, not a class. Name another question "
            "(label=…, on the command line --label)."
        )
    return values


def _responses(record: Record) -> Iterator[_Response]:
    responses = record.fields.get("responses")
    if isinstance(responses, dict):
        for question in responses:
            inner = record.inner(responses, "responses")
            for answer in inner.objects(question, called=f"question {question!r}, response"):
                yield _response(question, answer)
    elif isinstance(responses, list):
        for response in record.objects("responses", called="response"):
            values = response.fields.get("values") or {}
            if not isinstance(values, dict):
                raise InputError(
                    f"{response.where}: the field 'values' must be an object of questions. Got {kind_of(values)}."
                )
            for question, value in values.items():
                fields = {**response.fields, "value": value}
                yield _response(question, response.inner(fields, f"question {question!r}"))
    elif responses is not None:
        raise InputError(
            f"{record.where}: the field 'responses' must be an object or a list. Got {kind_of(responses)}."
        )
    elif _AGENT in record.fields:
        if record.has("annotation"):
            fields = {**record.fields, "user_id": record.fields[_AGENT], "value": record.fields["annotation"]}
            yield _response("annotation", Record(fields, record.where, record.row))
    else:
        yield from _flat(record)


def _flat(record: Record) -> Iterator[_Response]:
    for name, value in record.fields.items():
        if name.endswith(".responses") and value is not None:
            columns = {"value": name, "user_id": f"{name}.users", "status": f"{name}.status"}
            lists = {key: record.fields.get(column) for key, column in columns.items()}
            question = name.removesuffix(".responses")
        elif _is_question(value):
            question = name
            if isinstance(value, list):
                for answer in record.objects(name, called=f"question {name!r}, response"):
                    yield _response(name, answer)
                continue
            lists = value
        else:
            continue
        yield from _columns(record, question, lists)


def _columns(record: Record, question: str, lists: dict[str, Any]) -> Iterator[_Response]:
    """Yield the responses of a question whose values, users and statuses stand in lists side by side."""
    where = f"{record.where}, question {question!r}"
    present = {name: values for name, values in lists.items() if values is not None}
    if not all(isinstance(values, list) for values in present.values()) or "user_id" not in present:
        raise InputError(f"{where}: values and users must be lists of equal length. Export the dataset again.")
    lengths = {name: len(values) for name, values in present.items()}
    if len(set(lengths.values())) > 1:
        raise InputError(f"{where}: values and users must be lists of equal length. Got {lengths}.")
    for number in range(lengths["user_id"]):
        answer = {name: values[number] for name, values in present.items()}
        yield _response(question, record.inner(answer, f"question {question!r}, response {number + 1}"))


def _response(question: str, answer: Record) -> _Response:
    return _Response(question, answer, answer.text("status") if answer.has("status") else None)


def _is_question(value: Any) -> bool:
    """Return whether a field of a flat record holds responses: a list of objects, or an object of lists."""
    if isinstance(value, list):
        return bool(value) and all(isinstance(one, dict) and {"user_id", "value"} <= set(one) for one in value)
    return isinstance(value, dict) and {"user_id", "value"} <= set(value)
