"""Amazon Mechanical Turk: the results CSV of a batch, one row per assignment.

    HITId, …, WorkerId, AssignmentStatus, …, Input.image_id, Input.text, Answer.mood.label, Approve, Reject

The item is the one ``Input.`` column that is called id or ends with it, else the HIT; the annotator the worker. The
label is the answer: a column with a class; or one true/false column per class (``Answer.mood.glad`` or
``Answer.glad.on``); or the JSON in ``Answer.taskAnswers`` with either. Rejected assignments and those without an answer
are left out and counted. Times, titles, rewards and all other columns are not read.
"""

from __future__ import annotations

__all__ = ["NAME", "TITLE", "read", "recognises"]

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sfumato.errors import InputError
from sfumato.tables.formats.beginning import Beginning
from sfumato.tables.formats.records import Record
from sfumato.tables.formats.rows import Table, read_rows
from sfumato.tables.formats.votes import Votes, choose, only, refuse_options, single_label
from sfumato.tables.source import as_text, kind_of, parse_json
from sfumato.tables.vote_table import VoteTable

NAME = "mturk"
TITLE = "MTurk"

_ANSWER, _INPUT = "Answer.", "Input."
_JSON = "Answer.taskAnswers"
_TRUTHS = ("true", "false", "")

# What an assignment says: question -> its answers as they stand there; only the question that is wanted is understood.
_Said = dict[str, list[Any]]


def recognises(beginning: Beginning) -> bool:
    """Return whether the header has HITs, workers and answers."""
    return {"HITId", "WorkerId"} <= set(beginning.header) and any(n.startswith(_ANSWER) for n in beginning.header)


def read(
    paths: Sequence[Path],
    *,
    item: str | None = None,
    annotator: str | None = None,
    label: str | None = None,
    task: str | None = None,
) -> VoteTable:
    """Return the votes; ``label`` names a question, ``item`` and ``annotator`` a column."""
    path = only(paths, TITLE)
    refuse_options(TITLE, task=task)
    table = read_rows(path)
    votes = Votes(path, NAME)
    instance = table.column(item, option="item") if item else _item(table)
    worker = table.column(annotator or "WorkerId", option="annotator")
    columns = _columns(table)
    answered = []
    for row in table.rows:
        if _is_rejected(row):
            votes.leave_out("rejected assignments")
            continue
        said = _from_json(row) if _JSON in table.header else {}
        said |= _from_columns(row, columns)
        answered.append((row, said))
    given_to = (name for _, said in answered for name, answers in said.items() if any(map(_is_given, answers)))
    questions = list(dict.fromkeys(given_to))
    if not questions and label is None:
        return votes.table({})
    wanted = None if label is None else label.removeprefix(_ANSWER)
    question = choose(wanted, questions, where=path, what="question")
    for row, said in answered:
        where = f"{row.where}, question {question!r}"
        given = [name for answer in said.get(question, []) for name in _classes(answer, where)]
        if not given:
            votes.leave_out(f"assignments without an answer to {question!r}")
            continue
        votes.add(row.text(instance), row.text(worker), single_label(given, where=where), row)
    return votes.table({"item": instance, "annotator": worker, "label": f"{_ANSWER}{question}"})


def _item(table: Table) -> str:
    ids = [name for name in table.header if name.startswith(_INPUT) and _is_id(name.removeprefix(_INPUT))]
    return ids[0] if len(ids) == 1 else table.column("HITId", option="item")


def _is_id(name: str) -> bool:
    return name.lower() == "id" or name.lower().endswith(("_id", "-id", ".id")) or name.endswith(("Id", "ID"))


def _is_given(answer: Any) -> bool:
    return bool(answer) or isinstance(answer, int)  # 0 and false are answers


def _is_rejected(row: Record) -> bool:
    """Return whether an assignment was rejected, or is marked to be: an entry in the column Reject does that."""
    status, marked = row.fields.get("AssignmentStatus", ""), row.fields.get("Reject", "")
    return status.strip().lower() == "rejected" or (status.strip().lower() == "submitted" and bool(marked.strip()))


def _columns(table: Table) -> dict[str, tuple[str, str | None]]:
    """Return for each answer column its question and, where it is a box to tick, the class that it stands for."""
    plain: dict[str, tuple[str, str | None]] = {}
    boxes: dict[str, tuple[str, str]] = {}
    for name in table.header:
        if not name.startswith(_ANSWER) or name == _JSON:
            continue
        short = name.removeprefix(_ANSWER)
        question, dot, choice = short.rpartition(".")
        plain[name] = (short, None)
        if dot and {row.fields[name].strip().lower() for row in table.rows} <= set(_TRUTHS):
            # A radio button on its own is called after its class, and is "on".
            boxes[name] = ("on", question) if choice == "on" else (question, choice)
    # A box that stands alone is a question of its own, answered by true or false.
    counts = Counter(question for question, _ in boxes.values())
    return plain | {name: box for name, box in boxes.items() if counts[box[0]] > 1}


def _from_columns(row: Record, columns: dict[str, tuple[str, str | None]]) -> _Said:
    said: _Said = {}
    for name, (question, choice) in columns.items():
        cell = row.fields[name]
        given = said.setdefault(question, [])
        if choice is None:
            given += [cell] if cell.strip() not in ("", "{}") else []
        elif cell.strip().lower() == "true":
            given.append(choice)
    return said


def _from_json(row: Record) -> _Said:
    cell = row.fields[_JSON]
    where = f"{row.where}, column {_JSON!r}"
    if not cell.strip():
        return {}
    value = parse_json(cell, where=where, cell=True)
    forms = value if isinstance(value, list) else [value]
    said: _Said = {}
    for form in forms:
        if not isinstance(form, dict):
            raise InputError(f"{where}: must hold an object of answers. Got {kind_of(form)}.")
        for question, answer in form.items():
            said.setdefault(question, []).append(answer)
    return said


def _classes(answer: Any, where: str) -> list[str]:
    """Return what one answer of a form says: a text, a list, {"label": …}, or {"class": true, …}."""
    if isinstance(answer, dict):
        answer = answer.get("label", answer.get("labels", answer))
    if isinstance(answer, dict):
        wrong = next((value for value in answer.values() if not isinstance(value, bool)), None)
        if wrong is not None:
            raise InputError(f"{where}: must be a class, or true and false per class. Got {kind_of(wrong)}.")
        return [as_text(name, where=where) for name, ticked in answer.items() if ticked]
    values = answer if isinstance(answer, list) else [answer]
    return [text for value in values if value is not None and (text := as_text(value, where=where)).strip()]
