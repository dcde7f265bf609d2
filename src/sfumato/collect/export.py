"""What leaves a study: raw answers, annotations, people without who they are to their platform, and answers at the end.

Nothing here reads the list of payments, so that no platform id can be in an export.
"""

from __future__ import annotations

__all__ = [
    "EXIT_COLUMNS",
    "PEOPLE_COLUMNS",
    "Chosen",
    "annotations_of_study",
    "chosen_answers",
    "exit_rows",
    "people_rows",
    "response_records",
]

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from sfumato.collect.redistribution import Redistribution
from sfumato.collect.store import ResponseRow, Store
from sfumato.collect.study import Study
from sfumato.errors import InputError

if TYPE_CHECKING:
    from sfumato.core.annotations import Annotations

PEOPLE_COLUMNS = (
    "annotator", "platform", "state", "batch", "arrived_at", "finished_at", "answers", "seconds", "quiz_tries",
    "leave_out", "do_not_pay", "reasons",
)  # fmt: skip
EXIT_COLUMNS = ("annotator", "question", "answer")


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """Which answers an export is made of: the last answer of each person to each item, but for

    - people whom the exclusion rules left out, unless *left_out*;
    - items that came again, unless *repeats*;
    - people who have not handed in, where *finished* is asked for.

    *as_published* counts as the released file of Collins et al. (2022) does: every answer that is stored, repeats and
    the same answer stored twice included.
    """

    left_out: bool = False
    repeats: bool = False
    finished: bool = False
    as_published: bool = False


def chosen_answers(store: Store, chosen: Chosen) -> Iterator[ResponseRow]:
    """Yield the answers that an export is made of, in order of arrival."""
    kinds = ("main", "repeat") if chosen.repeats or chosen.as_published else ("main",)
    left_out = frozenset[str]() if chosen.left_out else store.left_out()
    finished = {person.id for person in store.people() if person.finished_at is not None}
    for row in store.responses(latest=not chosen.as_published):
        if row.kind in kinds and row.person not in left_out and (not chosen.finished or row.person in finished):
            yield row


def annotations_of_study(study: Study, store: Store, rule: Redistribution, chosen: Chosen) -> Annotations:
    """Return the chosen answers as annotations: a distribution each, or plain classes where all of them are."""
    import numpy as np

    from sfumato.collect.labels import labels_of
    from sfumato.core.annotations import Annotations

    labels = labels_of(chosen_answers(store, chosen), study.class_names, rule, as_published=chosen.as_published)
    if not len(labels.probs):
        raise InputError(f"There are no answers to export: {_why_none(store, chosen)}")
    annotation, label = np.nonzero(labels.probs)
    hard = len(annotation) == len(labels.probs)
    return Annotations.from_codes(
        labels.item[annotation], labels.person[annotation], label,
        weight=None if hard else labels.probs[annotation, label],
        annotation=None if hard else annotation,
        items=labels.items, annotators=labels.people, classes=study.class_names,
    )  # fmt: skip


def _why_none(store: Store, chosen: Chosen) -> str:
    people = store.people()
    if not people:
        return "nobody has come yet."
    came = "1 person has come" if len(people) == 1 else f"{len(people):,} people have come"
    out = 0 if chosen.left_out else len(store.left_out())
    if out:
        verb = "is" if out == 1 else "are"
        return f"{came}, and {out:,} of them {verb} left out by the exclusion rules (--left-out)."
    if chosen.finished and not any(person.finished_at is not None for person in people):
        return f"{came}, and nobody has handed in yet."
    return f"{came}, and nobody has answered an item yet."


def response_records(store: Store) -> Iterator[dict[str, Any]]:
    """Yield everything that was said, as it was said: every revision, practice and checks too, each with its inputs."""
    left_out = store.left_out()
    batches = {person.id: person.batch for person in store.people()}
    for row in store.responses(latest=False):
        yield {
            "item": row.item,
            "annotator": row.person,
            "kind": row.kind,
            "place": row.place,
            "revision": row.revision,
            "answer": dict(row.answer),
            "seconds": row.seconds,
            "shown_at": row.shown_at,
            "sent_at": row.sent_at,
            "received_at": _instant(row.received_at),
            "events": list(row.events),
            "batch": batches.get(row.person, ""),
            "surplus": row.surplus,
            "left_out": row.person in left_out,
            "number": row.number,
            "key": row.key,
        }


def people_rows(store: Store) -> Iterator[dict[str, Any]]:
    """Yield the people by their id in the export: how far they came and when, and what the rules say of them."""
    runs = store.exclusion_runs()
    verdicts = {verdict.person: verdict for verdict in runs[-1].verdicts} if runs else {}
    answers: dict[str, list[float]] = {}
    for row in store.responses():
        if row.kind != "practice":
            answers.setdefault(row.person, []).append(row.seconds or 0.0)
    for person in store.people():
        verdict = verdicts.get(person.id)
        yield {
            "annotator": person.id,
            "platform": person.platform,
            "state": person.state,
            "batch": person.batch,
            "arrived_at": _instant(person.arrived_at),
            "finished_at": "" if person.finished_at is None else _instant(person.finished_at),
            "answers": len(answers.get(person.id, ())),
            "seconds": round(sum(answers.get(person.id, ())), 3),
            "quiz_tries": person.tries,
            "leave_out": verdict is not None and verdict.leave_out,
            "do_not_pay": verdict is not None and verdict.do_not_pay,
            "reasons": "; ".join(verdict.reasons) if verdict else "",
        }


def exit_rows(store: Store) -> Iterator[dict[str, Any]]:
    """Yield the answers to the questions at the end; texts may hold whatever people wrote."""
    for each in store.exit_answers():
        yield {"annotator": each.person, "question": each.question, "answer": each.answer}


def _instant(milliseconds: int) -> str:
    return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat(timespec="milliseconds")
