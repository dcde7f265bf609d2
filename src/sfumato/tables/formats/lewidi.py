"""Le-Wi-Di (learning with disagreement): the JSON files of the shared tasks, an object of items.

    {"1": {"text": …, "annotation task": "hate speech detection", "number of annotations": 3,
           "annotators": "Ann1,Ann2,Ann6", "annotations": "0,1,0", "soft_label": {"0": 0.67, "1": 0.33},
           "other_info": {"other annotations": {"offensive language detection": "0,1,1"}}}}
    {"7": {"annotators": "Ann1,Ann2", "annotations": {"Ann1": "neutral", "Ann2": "entailment,neutral"}, …}}   (2025)

The item is the key, the annotators and their labels stand side by side and must be equally many. Another question that
the same annotators answered (``other_info``) is taken with ``task``. Where annotators may give several labels, ``task``
names one of them, and the vote is 1 or 0: whether the annotator gave it. Hard and soft labels are not read, as they
follow from the annotations. Ids are unique within a file only: read the splits one by one.
"""

from __future__ import annotations

__all__ = ["NAME", "TITLE", "read", "recognises"]

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sfumato.errors import FormatError, InputError, OptionError
from sfumato.tables.formats.beginning import Beginning
from sfumato.tables.formats.records import Record
from sfumato.tables.formats.votes import Votes, only, refuse_options
from sfumato.tables.source import as_text, kind_of, read_json
from sfumato.tables.vote_table import VoteTable

NAME = "lewidi"
TITLE = "Le-Wi-Di"

_OTHERS = ("other annotations", "other_annotations")


def recognises(beginning: Beginning) -> bool:
    """Return whether the file is an object of items with annotations and annotators."""
    return beginning.keyed and bool(beginning.objects) and {"annotations", "annotators"} <= set(beginning.objects[0])


def read(
    paths: Sequence[Path],
    *,
    item: str | None = None,
    annotator: str | None = None,
    label: str | None = None,
    task: str | None = None,
) -> VoteTable:
    """Return the votes; ``label`` (or ``task``) names another question, or one label of many."""
    path = only(paths, TITLE)
    refuse_options(TITLE, item=item, annotator=annotator)
    if label is not None and task is not None:
        raise OptionError(f"For the format {TITLE}, 'label' and 'task' name the same thing. Give one of them.")
    question = task if task is not None else label
    entries = read_json(path)
    if not isinstance(entries, dict):
        raise FormatError(f"{path} must be an object of items, {{id: item}}. Got {kind_of(entries)}.")
    votes = Votes(path, NAME)
    records = []
    for row, (name, fields) in enumerate(entries.items(), start=1):
        where = f"{path}, item {name!r}"
        if not isinstance(fields, dict):
            raise FormatError(f"{where}: must be an object with annotations and annotators. Got {kind_of(fields)}.")
        records.append((as_text(name, where=str(path)), Record(fields, where, row)))
    tasks = list(dict.fromkeys(r.text("annotation task") for _, r in records if r.has("annotation task")))
    one_label = question if question is not None and _is_label(question, records, path) else None
    taken = "annotations" if question in (None, *tasks) or one_label else f"other_info.{question}"
    for name, record in records:
        for who, given in _pairs(record, "annotations" if taken == "annotations" else str(question)):
            where = f"{record.where} by annotator {who!r}"
            if one_label is not None:
                votes.add(name, who, "1" if one_label in given.split(",") else "0", record)
            elif "," in given:
                raise InputError(
                    f"{where}: gives several labels ({given!r}) where one is wanted. "
                    f"Take one of them against the rest (label={given.split(',')[0].strip()!r}, "
                    "on the command line --label)."
                )
            else:
                votes.add(name, who, given, record)
    if one_label is not None:
        votes.note(f"The label is 1 where the annotator gave {one_label!r}, also beside others, and 0 elsewhere.")
    return votes.table({"item": "the key", "annotator": "annotators", "label": taken})


def _is_label(question: str, records: list[tuple[str, Record]], path: Path) -> bool:
    """Return whether the question is one label of many (else it is a question of its own, known to the file)."""
    known: dict[str, None] = {}
    labels: dict[str, None] = {}
    for _, record in records:
        named = [record.text("annotation task")] if record.has("annotation task") else []
        known.update(dict.fromkeys([*named, *_others(record)]))
        given = record.fields.get("annotations")
        if isinstance(given, dict):
            labels.update(dict.fromkeys(one.strip() for text in given.values() for one in str(text).split(",")))
    if question in known:
        return False
    if question in labels and any("," in str(t) for _, r in records for t in _values(r)):
        return True
    listed = ", ".join(map(repr, (*known, *labels)))
    raise InputError(f"{path} has no question {question!r} (label={question!r}). It has: {listed}.")


def _values(record: Record) -> list[Any]:
    given = record.fields.get("annotations")
    return list(given.values()) if isinstance(given, dict) else []


def _others(record: Record) -> dict[str, Any]:
    """Return the further questions that the annotators of an item answered."""
    info = record.fields.get("other_info")
    found = [info[name] for name in _OTHERS if isinstance(info.get(name), dict)] if isinstance(info, dict) else []
    return found[0] if found else {}


def _pairs(record: Record, question: str) -> list[tuple[str, str]]:
    """Return annotators and labels; that they are equally many is checked, as a shift would go unseen."""
    names = [name.strip() for name in record.text("annotators").split(",")]
    given = (
        record.need("annotations")
        if question == "annotations"
        else record.inner(_others(record), "other_info").need(question)
    )
    n_said = record.fields.get("number of annotations")
    if n_said is not None and str(n_said) != str(len(names)):
        raise InputError(f"{record.where}: names {len(names)} annotators for {n_said} annotations. Correct the item.")
    if isinstance(given, dict):
        pairs = [(name, as_text(value, where=f"{record.where}, annotator {name!r}")) for name, value in given.items()]
        # An annotator with two labels stands twice in the list of annotators.
        if Counter(names) != Counter({name: text.count(",") + 1 for name, text in pairs}):
            raise InputError(
                f"{record.where}: 'annotators' names {', '.join(names)}, but 'annotations' has {', '.join(given)}. "
                "Correct the item."
            )
        return [(name, ",".join(part.strip() for part in text.split(","))) for name, text in pairs]
    labels = [part.strip() for part in as_text(given, where=f"{record.where}, {question!r}").split(",")]
    if len(labels) != len(names):
        raise InputError(
            f"{record.where}: {question!r} gives {len(labels)} labels for {len(names)} annotators. Correct the item."
        )
    return list(zip(names, labels, strict=True))
