"""Toloka: the assignments TSV of a pool, one row per task and performer.

    INPUT:image  OUTPUT:mood  GOLDEN:mood  HINT:text  ASSIGNMENT:task_id  ASSIGNMENT:worker_id  ASSIGNMENT:status  …

The item is the one ``INPUT:`` column (of several: the one called id or ending with it, else the task id), the annotator
the worker, the label the ``OUTPUT:`` column. Rejected, skipped and expired assignments and tasks without an answer are
left out and counted. Control tasks (``GOLDEN:`` is filled) stay in, as they too were judged, and are counted.
"""

from __future__ import annotations

__all__ = ["NAME", "TITLE", "read", "recognises"]

from collections.abc import Sequence
from pathlib import Path

from sfumato.errors import FormatError
from sfumato.tables.formats.beginning import Beginning
from sfumato.tables.formats.rows import Table, read_rows
from sfumato.tables.formats.votes import Votes, choose, only, refuse_options, single_label
from sfumato.tables.source import parse_json
from sfumato.tables.vote_table import VoteTable

NAME = "toloka"
TITLE = "Toloka"

_INPUT, _OUTPUT, _GOLDEN = "INPUT:", "OUTPUT:", "GOLDEN:"
_WORKER, _STATUS, _TASK, _VERDICT = "ASSIGNMENT:worker_id", "ASSIGNMENT:status", "ASSIGNMENT:task_id", "ACCEPT:verdict"
_KEPT = ("approved", "accepted", "submitted", "")


def recognises(beginning: Beginning) -> bool:
    """Return whether the header has inputs and outputs, as every Toloka table of results does."""
    return all(any(name.startswith(mark) for name in beginning.header) for mark in (_INPUT, _OUTPUT))


def read(
    paths: Sequence[Path],
    *,
    item: str | None = None,
    annotator: str | None = None,
    label: str | None = None,
    task: str | None = None,
) -> VoteTable:
    """Return the votes; ``label`` names an output, ``item`` an input or any column, ``annotator`` a column."""
    path = only(paths, TITLE)
    refuse_options(TITLE, task=task)
    table = read_rows(path)
    if _WORKER not in table.header and annotator is None:
        raise FormatError(
            f"{path} has no column {_WORKER!r}: it holds aggregated answers, not those of the performers. "
            "Download the assignments of the pool."
        )
    votes = Votes(path, NAME)
    outputs = [name.removeprefix(_OUTPUT) for name in table.header if name.startswith(_OUTPUT)]
    output = choose(label and label.removeprefix(_OUTPUT), outputs, where=path, what="output")
    instance = _item(table, item)
    worker = table.column(annotator or _WORKER, option="annotator")
    golden = _GOLDEN + output
    n_control = 0
    for row in table.rows:
        status = row.fields.get(_STATUS, "").strip()
        if status.lower() not in _KEPT or row.fields.get(_VERDICT, "").strip() == "-":
            votes.leave_out(f"assignments with the status {status if status.lower() not in _KEPT else 'REJECTED'}")
            continue
        cell = row.fields[_OUTPUT + output]
        if not cell.strip():
            votes.leave_out(f"tasks without an answer to {output!r}")
            continue
        n_control += bool(row.fields.get(golden, "").strip())
        where = f"{row.where}, column {_OUTPUT + output!r}"
        given = parse_json(cell, where=where, cell=True) if cell.startswith("[") else [cell]
        votes.add(row.text(instance), row.text(worker), single_label(given, where=where), row)
    if n_control:
        votes.note(f"{n_control:,} of the answers are to control tasks (with a known answer); they count like others.")
    return votes.table({"item": instance, "annotator": worker, "label": _OUTPUT + output})


def _item(table: Table, item: str | None) -> str:
    if item is not None:
        return item if item in table.header else table.column(_INPUT + item, option="item")
    inputs = [name for name in table.header if name.startswith(_INPUT)]
    ids = [name for name in inputs if name.lower().endswith((":id", "_id"))]
    for names in (inputs, ids, [name for name in table.header if name == _TASK]):
        if len(names) == 1:
            return names[0]
    return choose(None, inputs, where=table.path, what="input", option="item")
