"""Prodigy: the JSON lines of ``db-out``, one line per judgement.

    {"text": …, "options": [{"id": "glad", …}, …], "accept": ["glad"], "answer": "accept",
     "_input_hash": -31, "_task_hash": 17, "_annotator_id": "moods-ann", "_session_id": "moods-ann"}
    {"text": …, "label": "SPORT", "answer": "reject", "_input_hash": -31, "_task_hash": 18, …}

The item is the ``_input_hash`` (or a field, also of ``meta``), the annotator the ``_annotator_id``, before it existed
the ``_session_id``. Where there are options, the label is the option that was accepted. Where a single ``label`` is
put to the vote, the label is the answer, accept or reject. Lines that were ignored, choices that were rejected or left
empty are left out and counted.
"""

from __future__ import annotations

__all__ = ["NAME", "TITLE", "read", "recognises"]

import re
from collections.abc import Sequence
from pathlib import Path

from sfumato.errors import FormatError, InputError
from sfumato.tables.formats.beginning import Beginning
from sfumato.tables.formats.records import Record, read_records
from sfumato.tables.formats.votes import Votes, choose, only, refuse_options, single_label
from sfumato.tables.source import kind_of
from sfumato.tables.vote_table import VoteTable

NAME = "prodigy"
TITLE = "Prodigy"

_HASHES = ("_input_hash", "_task_hash")
_ANNOTATORS = ("_annotator_id", "_session_id")
_ANSWERS = ("accept", "reject", "ignore")
# A session that nobody named is called by the time at which it started.
_START_TIME = re.compile(r"\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d")


def recognises(beginning: Beginning) -> bool:
    """Return whether the first record is an answered task with Prodigy's hashes."""
    return any(beginning.has("answer", name) for name in (*_HASHES, *_ANNOTATORS))


def read(
    paths: Sequence[Path],
    *,
    item: str | None = None,
    annotator: str | None = None,
    label: str | None = None,
    task: str | None = None,
) -> VoteTable:
    """Return the votes; ``label`` names the one label that was put to the vote, ``item`` and ``annotator`` a field."""
    path = only(paths, TITLE)
    refuse_options(TITLE, task=task)
    records = read_records(path)
    votes = Votes(path, NAME)
    judged = [record for record in records if _is_judged(record, votes)]
    choices = [record for record in judged if record.has("accept") or record.has("options")]
    if choices and len(choices) < len(judged):
        other = next(record for record in judged if record not in choices)
        raise InputError(f"{other.where}: has no 'accept' where others have. Export one task at a time.")
    if choices:
        refuse_options(TITLE, label=label)
        taken = "accept"
    else:
        put = list(dict.fromkeys(record.text("label") for record in judged if record.has("label")))
        wanted = choose(label, put, where=path, what="label put to the vote") if put or label else None
        judged = [record for record in judged if wanted is None or record.fields.get("label") == wanted]
        taken = "answer" if wanted is None else f"answer (label {wanted})"
    for record in judged:
        who = record.text(annotator or record.first(*_ANNOTATORS) or "_annotator_id")
        if annotator is None and _START_TIME.fullmatch(who):
            votes.note("Some annotators are sessions that nobody named; they are called by the time of their start.")
        what = _choice(record, votes) if choices else record.text("answer")
        if what is not None:
            votes.add(_item(record, item), who, what, record)
    return votes.table({"item": item or "_input_hash", "annotator": annotator or "_annotator_id", "label": taken})


def _is_judged(record: Record, votes: Votes) -> bool:
    answer = record.text("answer")
    if answer not in _ANSWERS:
        raise InputError(f"{record.where}: the answer must be accept, reject or ignore. Got {answer!r}.")
    view = record.fields.get("_view_id")
    if isinstance(view, str) and view.endswith("_manual"):
        raise FormatError(f"{record.where}: holds spans ({view}), not classes. Export a task with classes.")
    if answer == "ignore":
        votes.leave_out("ignored lines")
    return answer != "ignore"


def _choice(record: Record, votes: Votes) -> str | None:
    """Return the option that was accepted, or None where the line is no choice."""
    accepted = record.fields.get("accept")
    if not isinstance(accepted, list):
        raise InputError(f"{record.where}: the field 'accept' must be a list of options. Got {kind_of(accepted)}.")
    if record.text("answer") == "reject":
        votes.leave_out("rejected choices")
        return None
    if not accepted:
        votes.leave_out("choices left empty")
        return None
    return single_label(accepted, where=f"{record.where}, field 'accept'")


def _item(record: Record, item: str | None) -> str:
    meta = record.fields.get("meta")
    if item is not None and not record.has(item) and isinstance(meta, dict):
        return record.inner(meta, "meta").text(item)
    return record.text(item or "_input_hash")
