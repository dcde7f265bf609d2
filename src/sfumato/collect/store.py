"""What the study server needs of the place where it keeps things: rows, and the few ways to add and read them.

`SqliteStore` is the one that comes with sfumato; another (PostgreSQL, say) has the same methods. What adds something
returns a future, and it is done when what was added is safe on disk; before that nobody is told that it is stored.
Nothing is ever changed in place where a person said something: a changed answer is a new row with a higher revision.
Times are whole milliseconds since 1970, UTC.
"""

from __future__ import annotations

__all__ = [
    "Contact",
    "DraftRow",
    "ExclusionRun",
    "ExitRow",
    "PersonRow",
    "PlaceRow",
    "Progress",
    "Receipt",
    "ResponseRow",
    "Step",
    "Store",
    "Verdict",
    "response_of",
]

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from sfumato.collect.answers import ROUNDING

if TYPE_CHECKING:
    from sfumato.core.responses import Response

PlaceKind = Literal["main", "repeat", "check", "practice"]
StudyState = Literal["open", "paused", "closed"]
Step = Literal["consented", "instructed", "practised", "assigned", "finished", "done", "screened", "released"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonRow:
    """One person. *id* is the annotator of the export; *visitor* the keyed hash of who the platform says it is.

    *released_at* is set while the places that this person has not answered are given to others; *batch* names the
    batch of the allocation file, *tries* counts wrong answers to the comprehension check.
    """

    id: str
    platform: str = "plain"
    visitor: str = ""
    batch: str = ""
    tries: int = 0
    arrived_at: int = 0
    seen_at: int = 0
    consented_at: int | None = None
    instructed_at: int | None = None
    practised_at: int | None = None
    assigned_at: int | None = None
    finished_at: int | None = None
    done_at: int | None = None
    screened_at: int | None = None
    released_at: int | None = None

    @property
    def state(self) -> Literal["arrived", "consented", "working", "released", "finished", "done", "screened"]:
        """How far this person has come."""
        if self.screened_at is not None:
            return "screened"
        if self.done_at is not None:
            return "done"
        if self.finished_at is not None:
            return "finished"
        if self.released_at is not None:
            return "released"
        if self.assigned_at is not None:
            return "working"
        return "arrived" if self.consented_at is None else "consented"


@dataclass(frozen=True, slots=True)
class Contact:
    """Who a person is to the platform, for payment only; it is kept in a file of its own and is never exported."""

    person: str
    platform: str
    platform_id: str
    submission: str = ""
    details: Mapping[str, str] = field(default_factory=dict)
    arrived_at: int = 0


@dataclass(frozen=True, slots=True)
class PlaceRow:
    """One place in a person's batch, counted from 1, and the item that stands there for good.

    A place that has *lapsed* was given back and is asked of somebody else; an answer to it that still comes is kept.
    """

    person: str
    place: int
    item: str
    kind: PlaceKind = "main"
    lapsed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseRow:
    """What a person said at a place, as it was sent. *key* is unique; the highest *revision* of a place counts.

    *surplus* marks an answer that came after its place had been given to somebody else: it is kept, and not counted
    when places are shared out.
    """

    key: str
    person: str
    place: int
    item: str
    kind: PlaceKind = "main"
    answer: Mapping[str, Any]
    seconds: float | None = None
    events: Sequence[Mapping[str, Any]] = ()
    shown_at: str = ""
    sent_at: str = ""
    received_at: int = 0
    revision: int = 1
    surplus: bool = False
    number: int = 0


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of a response: *new* is False where its key had been stored before, and then *row* is that one."""

    new: bool
    row: ResponseRow


@dataclass(frozen=True, slots=True)
class DraftRow:
    """A half-filled item: the latest by *sequence* stays. *revision* is how often the place was answered before it."""

    person: str
    place: int
    kind: PlaceKind
    answer: Mapping[str, Any]
    events: Sequence[Mapping[str, Any]] = ()
    sequence: int = 0
    revision: int = 0


@dataclass(frozen=True, slots=True)
class ExitRow:
    """What a person said to one question at the end."""

    person: str
    question: str
    answer: str
    received_at: int = 0


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the exclusion rules say about a person; the two decisions are separate."""

    person: str
    leave_out: bool
    do_not_pay: bool
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ExclusionRun:
    """One run of the exclusion rules: the rules as they were, and what they said; earlier runs stay."""

    number: int
    at: int
    rules: Mapping[str, Any]
    verdicts: tuple[Verdict, ...]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the study is: people by state, and the usable answers of each item that has any."""

    state: StudyState
    panel: int | None
    people: Mapping[str, int]
    answers: Mapping[str, int]
    n_responses: int


class Store(Protocol):
    """A place where a study is kept."""

    @property
    def version(self) -> int:
        """A number that grows when somebody changes what is usable: an exclusion run, an erasure, a longer study."""
        ...

    # What adds something: done when it is safe.
    def add_person(self, person: PersonRow, contact: Contact | None = None) -> Future[PersonRow]:
        """Add a person, or find the one who has the same visitor; a contact goes to the list of payments."""
        ...

    def mark(self, person: str, step: Step, at: int | None, *, batch: str | None = None) -> Future[None]:
        """Note when a person took a step; None takes the note away."""
        ...

    def count_try(self, person: str) -> Future[int]:
        """Count a wrong answer to the comprehension check, and return how many there were."""
        ...

    def add_places(
        self, person: str, places: Sequence[PlaceRow], *, lapsed: Sequence[int] = (), batch: str = "", at: int
    ) -> Future[None]:
        """Give a person places; exactly the numbers in *lapsed* count as given back from now on."""
        ...

    def add_response(self, response: ResponseRow) -> Future[Receipt]:
        """Add what a person said; the revision is counted here."""
        ...

    def save_draft(self, draft: DraftRow, at: int) -> Future[None]:
        """Keep a half-filled item; one that an answer has overtaken on the way is dropped."""
        ...

    def add_exit(self, answers: Sequence[ExitRow]) -> Future[None]:
        """Add what a person said at the end; the last answer to a question counts."""
        ...

    def add_exclusion_run(self, rules: Mapping[str, Any], verdicts: Iterable[Verdict], at: int) -> Future[int]:
        """Add a run of the exclusion rules, and return its number."""
        ...

    def set_state(self, state: StudyState) -> Future[None]:
        """Open, pause or close the study."""
        ...

    def extend(self, panel: int) -> Future[None]:
        """Ask for another number of people per item than study.toml does."""
        ...

    def erase(self, person: str) -> Future[bool]:
        """Forget a person and all that they said; False where there is nobody of that id."""
        ...

    # What reads.
    def state(self) -> StudyState:
        """Return whether the study is open."""
        ...

    def panel(self) -> int | None:
        """Return the number of people per item where `extend` set it."""
        ...

    def person(self, person: str) -> PersonRow | None:
        """Return one person."""
        ...

    def person_of_visitor(self, visitor: str) -> PersonRow | None:
        """Return the person of a keyed hash of the platform's id."""
        ...

    def people(self) -> list[PersonRow]:
        """Return everybody, in order of arrival."""
        ...

    def places(self, person: str | None = None) -> list[PlaceRow]:
        """Return the places of one person, or of all."""
        ...

    def open_places(self) -> list[PlaceRow]:
        """Return the main places that people at work hold and have not answered."""
        ...

    def response(self, person: str, kind: PlaceKind, place: int) -> ResponseRow | None:
        """Return what a person said at a place, as they last said it."""
        ...

    def response_with(self, key: str) -> ResponseRow | None:
        """Return the response that was stored under a key."""
        ...

    def responses(self, person: str | None = None, *, latest: bool = True, after: int = 0) -> Iterator[ResponseRow]:
        """Yield what was said, in order of arrival; *latest* leaves out what was changed later.

        *after* leaves out what has that number or a lower one, for those who have read so far.
        """
        ...

    def drafts(self, person: str) -> list[DraftRow]:
        """Return the half-filled items of a person."""
        ...

    def exit_answers(self) -> list[ExitRow]:
        """Return the answers to the questions at the end."""
        ...

    def exclusion_runs(self) -> list[ExclusionRun]:
        """Return the runs of the exclusion rules, the latest last."""
        ...

    def left_out(self) -> frozenset[str]:
        """Return the people whom the latest run leaves out of the labels."""
        ...

    def payments(self) -> list[Contact]:
        """Return who came from a platform."""
        ...

    def contact(self, person: str) -> Contact | None:
        """Return who one person is to the platform."""
        ...

    def usable(self) -> dict[str, int]:
        """Return how many usable main answers each item has: not surplus, not of a person who is left out."""
        ...

    def usable_batches(self) -> dict[str, int]:
        """Return how many usable people finished each batch of the allocation file, all of it."""
        ...

    def working(self) -> list[PersonRow]:
        """Return the people who have places and have neither handed in nor left."""
        ...

    def revisions(self, person: str) -> dict[tuple[PlaceKind, int], int]:
        """Return how often a person answered each place, by kind and number."""
        ...

    def progress(self) -> Progress:
        """Return how far the study is."""
        ...

    def backup(self, target: Path) -> None:
        """Write a copy of the study file while the server runs."""
        ...

    def close(self) -> None:
        """Write what is waiting, and close; closing again does nothing."""
        ...


def response_of(row: ResponseRow) -> Response:
    """Return a stored answer as a `Response`; nothing is checked again, and keys that are not known are left alone.

    >>> answer = {"mode": "top2", "top": "deer", "top_percent": 70, "second": "horse", "second_percent": 20}
    >>> response_of(ResponseRow(key="k", person="ann", place=1, item="img-7", answer=answer)).stated
    (('deer', 70.0), ('horse', 20.0))
    """
    from sfumato.core.responses import Response

    answer = row.answer
    mode = str(answer["mode"])
    impossible: frozenset[str] = frozenset()
    if mode == "hard":
        stated = [(answer["top"], 100.0)]
    elif mode == "chips":
        total = sum(answer["chips"].values())
        stated = [(name, 100.0 * count / total) for name, count in answer["chips"].items() if count]
    elif mode == "sliders":
        stated = [(name, float(percent)) for name, percent in answer["percents"].items() if percent]
        # Who says 0 % of a class rules it out; a class of which nothing is said is open.
        impossible = frozenset(name for name, percent in answer["percents"].items() if not percent)
    else:
        stated = [(answer["top"], float(answer["top_percent"]))]
        if answer.get("second") is not None and answer.get("second_percent") is not None:
            stated.append((answer["second"], float(answer["second_percent"])))
        impossible = frozenset(answer.get("impossible") or ())
    return Response(
        item=row.item, annotator=row.person, stated=_whole(stated), impossible=impossible, mode=mode,
        seconds=row.seconds,
    )  # fmt: skip


def _whole(stated: list[tuple[str, float]]) -> tuple[tuple[str, float], ...]:
    """Return percentages that make 100 but for rounding so that they make 100; any others as they are."""
    total = math.fsum(percent for _, percent in stated)
    if not 0 < abs(total - 100) < ROUNDING:
        return tuple(stated)
    rest = [(name, 100 * percent / total) for name, percent in stated[1:]]
    return ((stated[0][0], 100 - math.fsum(percent for _, percent in rest)), *rest)
