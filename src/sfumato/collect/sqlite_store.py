"""A study in a SQLite file: write-ahead log, every commit flushed to disk, one writer."""

from __future__ import annotations

__all__ = ["SqliteStore"]

import json
import os
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from sfumato.collect.migrations import PAYMENTS, STUDY, migrate
from sfumato.collect.store import (
    Contact,
    DraftRow,
    ExclusionRun,
    ExitRow,
    PersonRow,
    PlaceKind,
    PlaceRow,
    Progress,
    Receipt,
    ResponseRow,
    Step,
    StudyState,
    Verdict,
)
from sfumato.collect.writer import Writer
from sfumato.errors import FormatError, InputError

T = TypeVar("T")
_PERSON = (
    "id", "platform", "visitor", "batch", "tries", "arrived_at", "seen_at", "consented_at", "instructed_at",
    "practised_at", "assigned_at", "finished_at", "done_at", "screened_at", "released_at",
)  # fmt: skip
_RESPONSE = (
    "number", "key", "person", "place", "item", "kind", "revision", "answer", "seconds", "events", "shown_at",
    "sent_at", "received_at", "surplus",
)  # fmt: skip
_STEPS = ("consented", "instructed", "practised", "assigned", "finished", "done", "screened", "released")
_LATEST = """not exists (select 1 from responses as later where later.person = responses.person
    and later.kind = responses.kind and later.place = responses.place and later.revision > responses.revision)"""
_WORKING = "assigned_at is not null and coalesce(finished_at, done_at, screened_at, released_at) is null"
_LEFT_OUT = "select person from verdicts where leave_out and run = (select max(number) from exclusion_runs)"


class SqliteStore:
    """The study file *path*, and beside it ``payments.sqlite`` with who is to be paid.

    Only one server may have a study open for writing; a second one is refused. *serving* False opens it for a
    command that reads, or that writes a little beside a running server.
    """

    def __init__(self, path: Path, *, serving: bool = False, busy_seconds: float = 10.0) -> None:
        """Open the study file, or make it; both files are readable by their owner alone."""
        self.path = path
        self.payments_path = path.with_name("payments.sqlite")
        self._busy_seconds = busy_seconds
        self._lock: sqlite3.Connection | None = _claim(path) if serving else None
        self._readers = threading.local()
        self._all_readers: list[sqlite3.Connection] = []
        self._closed = False
        for file, steps in ((path, STUDY), (self.payments_path, PAYMENTS)):
            connection = self._open(file)
            migrate(connection, steps, where=str(file))
            connection.close()
        self._writer = Writer(self._open(path))
        self._payments = Writer(self._open(self.payments_path))

    def _open(self, path: Path) -> sqlite3.Connection:
        if not path.exists():
            # Made with its rights before anything is in it, not changed afterwards.
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
        connection = sqlite3.connect(
            path, isolation_level=None, check_same_thread=False, timeout=self._busy_seconds, cached_statements=256
        )
        try:
            connection.execute("pragma journal_mode = wal")
        except sqlite3.DatabaseError:
            connection.close()
            raise FormatError(f"{path} is not a study file of sfumato, or it is damaged.") from None
        connection.execute("pragma synchronous = full")
        connection.execute("pragma foreign_keys = on")
        connection.execute("pragma secure_delete = on")
        return connection

    def _reader(self, path: Path | None = None) -> sqlite3.Connection:
        """Return a connection of this thread; in WAL mode readers never wait for the writer."""
        path = path or self.path
        opened: dict[Path, sqlite3.Connection] = self._readers.__dict__.setdefault("opened", {})
        if path not in opened:
            opened[path] = self._open(path)
            self._all_readers.append(opened[path])
        return opened[path]

    @property
    def version(self) -> int:
        """A number that grows when what is usable changes, whoever changes it."""
        return int(_meta(self._reader(), "version") or 0)

    # What adds something.

    def _add(self, job: Callable[[sqlite3.Connection], T]) -> Future[T]:
        return self._writer.submit(job)

    def add_person(self, person: PersonRow, contact: Contact | None = None) -> Future[PersonRow]:
        """Add a person, or find the one who has the same visitor; a contact goes to the list of payments."""

        def add(connection: sqlite3.Connection) -> PersonRow:
            # Two clicks on "I agree" are one person, as two visits under one visitor are.
            row = connection.execute(
                f"{_select(_PERSON, 'people')} where id = ? or visitor = ?", (person.id, person.visitor or None)
            ).fetchone()
            if row is not None:
                return _person(row)
            values = [getattr(person, name) for name in _PERSON]
            values[2] = person.visitor or None
            connection.execute(f"insert into people ({', '.join(_PERSON)}) values ({_marks(_PERSON)})", values)
            return person

        if contact is None:
            return self._add(add)
        # The person first, whose id is kept if they have come before; then the contact under that id. Both are safe
        # before the future is done; a crash between them is made good when the person comes again.
        both: Future[PersonRow] = Future()

        def then(found: Future[PersonRow]) -> None:
            if (error := found.exception()) is not None:
                both.set_exception(error)
                return
            row = found.result()
            paid = self._payments.submit(lambda connection: _add_contact(connection, replace(contact, person=row.id)))
            paid.add_done_callback(
                lambda done: both.set_result(row) if (e := done.exception()) is None else both.set_exception(e)
            )

        self._add(add).add_done_callback(then)
        return both

    def mark(self, person: str, step: Step, at: int | None, *, batch: str | None = None) -> Future[None]:
        """Note when a person took a step; None takes the note away."""
        if step not in _STEPS:
            raise InputError(f"There is no step {step!r}.")

        def note(connection: sqlite3.Connection) -> None:
            connection.execute(f"update people set {step}_at = ? where id = ?", (at, person))
            if batch is not None:
                connection.execute("update people set batch = ? where id = ?", (batch, person))
            if at is not None and step != "released":
                connection.execute("update people set seen_at = max(seen_at, ?) where id = ?", (at, person))

        return self._add(note)

    def count_try(self, person: str) -> Future[int]:
        """Count a wrong answer to the comprehension check, and return how many there were."""

        def count(connection: sqlite3.Connection) -> int:
            connection.execute("update people set tries = tries + 1 where id = ?", (person,))
            row = connection.execute("select tries from people where id = ?", (person,)).fetchone()
            return 0 if row is None else int(row[0])

        return self._add(count)

    def add_places(
        self, person: str, places: Sequence[PlaceRow], *, lapsed: Sequence[int] = (), batch: str = "", at: int
    ) -> Future[None]:
        """Give a person places; exactly the numbers in *lapsed* count as given back from now on."""

        def add(connection: sqlite3.Connection) -> None:
            connection.executemany(
                "insert into places (person, place, item, kind) values (?, ?, ?, ?)",
                [(person, each.place, each.item, each.kind) for each in places],
            )
            connection.execute("update places set lapsed = 0 where person = ? and lapsed", (person,))
            connection.executemany(
                "update places set lapsed = 1 where person = ? and place = ?", [(person, number) for number in lapsed]
            )
            connection.execute(
                "update people set batch = ?, released_at = null, assigned_at = coalesce(assigned_at, ?), "
                "seen_at = max(seen_at, ?) where id = ?",
                (batch, at, at, person),
            )

        return self._add(add)

    def add_response(self, response: ResponseRow) -> Future[Receipt]:
        """Add what a person said; the revision is counted here."""
        # Written out before the queue, so that the writer has as little to do as possible.
        answer, events = _text(response.answer), _text(list(response.events))

        def add(connection: sqlite3.Connection) -> Receipt:
            known = connection.execute(f"{_select(_RESPONSE, 'responses')} where key = ?", (response.key,)).fetchone()
            if known is not None:
                return Receipt(new=False, row=_response(known))
            where = (response.person, response.kind, response.place)
            revision = connection.execute(
                "select coalesce(max(revision), 0) + 1 from responses where person = ? and kind = ? and place = ?",
                where,
            ).fetchone()[0]
            number = connection.execute(
                f"insert into responses ({', '.join(_RESPONSE)}) values ({_marks(_RESPONSE)})",
                (
                    None, response.key, response.person, response.place, response.item, response.kind, revision, answer,
                    response.seconds, events, response.shown_at, response.sent_at, response.received_at,
                    response.surplus,
                ),
            ).lastrowid  # fmt: skip
            # What was changed since then, while this was on its way, stays.
            connection.execute(
                "delete from drafts where person = ? and kind = ? and place = ? and revision < ?", (*where, revision)
            )
            connection.execute(
                "update people set seen_at = max(seen_at, ?) where id = ?", (response.received_at, response.person)
            )
            return Receipt(new=True, row=replace(response, revision=revision, number=number or 0))

        return self._add(add)

    def save_draft(self, draft: DraftRow, at: int) -> Future[None]:
        """Keep a half-filled item; one that an answer has overtaken on the way is dropped."""
        values = (
            draft.person, draft.place, draft.kind, _text(draft.answer), _text(list(draft.events)), draft.sequence,
            draft.revision,
        )  # fmt: skip

        def save(connection: sqlite3.Connection) -> None:
            connection.execute(
                "insert into drafts (person, place, kind, answer, events, sequence, revision) "
                "select ?, ?, ?, ?, ?, ?, ? where not exists (select 1 from responses "
                "where person = ? and kind = ? and place = ? and revision > ?) "
                "on conflict do update set answer = excluded.answer, events = excluded.events, "
                "sequence = excluded.sequence, revision = excluded.revision where excluded.sequence >= sequence",
                (*values, draft.person, draft.kind, draft.place, draft.revision),
            )
            connection.execute("update people set seen_at = max(seen_at, ?) where id = ?", (at, draft.person))

        return self._add(save)

    def add_exit(self, answers: Sequence[ExitRow]) -> Future[None]:
        """Add what a person said at the end; the last answer to a question counts."""

        def add(connection: sqlite3.Connection) -> None:
            connection.executemany(
                "insert or replace into exit_answers (person, question, answer, received_at) values (?, ?, ?, ?)",
                [(each.person, each.question, each.answer, each.received_at) for each in answers],
            )

        return self._add(add)

    def add_exclusion_run(self, rules: Mapping[str, Any], verdicts: Iterable[Verdict], at: int) -> Future[int]:
        """Add a run of the exclusion rules, and return its number."""
        rows = [(each.person, each.leave_out, each.do_not_pay, _text(list(each.reasons))) for each in verdicts]
        text = _text(dict(rules))

        def add(connection: sqlite3.Connection) -> int:
            number = connection.execute("insert into exclusion_runs (at, rules) values (?, ?)", (at, text)).lastrowid
            connection.executemany("insert into verdicts values (?, ?, ?, ?, ?)", [(number, *row) for row in rows])
            return int(number or 0)

        return self._changing(add)

    def set_state(self, state: StudyState) -> Future[None]:
        """Open, pause or close the study."""
        if state not in ("open", "paused", "closed"):
            raise InputError(f"A study is open, paused or closed. Got {state!r} instead.")
        return self._changing(lambda connection: _set_meta(connection, "state", state))

    def extend(self, panel: int) -> Future[None]:
        """Ask for another number of people per item than study.toml does."""
        if panel < 1:
            raise InputError(f"The number of people per item must be at least 1. Got {panel} instead.")
        return self._changing(lambda connection: _set_meta(connection, "panel", str(panel)))

    def erase(self, person: str) -> Future[bool]:
        """Forget a person and all that they said; False where there is nobody of that id."""
        self._payments.submit(
            lambda connection: connection.execute("delete from contacts where person = ?", (person,)).rowcount
        ).result()
        gone = self._changing(
            lambda connection: connection.execute("delete from people where id = ?", (person,)).rowcount > 0
        )
        gone.result()
        # What was deleted still stands in the write-ahead log until that is written back and cut off.
        for path in (self.path, self.payments_path):
            self._reader(path).execute("pragma wal_checkpoint(truncate)").fetchall()
        return gone

    def _changing(self, job: Callable[[sqlite3.Connection], T]) -> Future[T]:
        """Queue a job that changes what is usable."""

        def change(connection: sqlite3.Connection) -> T:
            result = job(connection)
            _set_meta(connection, "version", str(int(_meta(connection, "version") or 0) + 1))
            return result

        return self._add(change)

    # What reads.

    def state(self) -> StudyState:
        """Return whether the study is open."""
        return _meta(self._reader(), "state") or "open"  # type: ignore[return-value]  # only the three are written

    def panel(self) -> int | None:
        """Return the number of people per item where `extend` set it."""
        told = _meta(self._reader(), "panel")
        return None if told is None else int(told)

    def person(self, person: str) -> PersonRow | None:
        """Return one person."""
        row = self._reader().execute(f"{_select(_PERSON, 'people')} where id = ?", (person,)).fetchone()
        return None if row is None else _person(row)

    def person_of_visitor(self, visitor: str) -> PersonRow | None:
        """Return the person of a keyed hash of the platform's id."""
        row = self._reader().execute(f"{_select(_PERSON, 'people')} where visitor = ?", (visitor,)).fetchone()
        return None if row is None else _person(row)

    def working(self) -> list[PersonRow]:
        """Return the people who have places and have neither handed in nor left."""
        return [_person(row) for row in self._reader().execute(f"{_select(_PERSON, 'people')} where {_WORKING}")]

    def people(self) -> list[PersonRow]:
        """Return everybody, in order of arrival."""
        return [_person(row) for row in self._reader().execute(f"{_select(_PERSON, 'people')} order by rowid")]

    def places(self, person: str | None = None) -> list[PlaceRow]:
        """Return the places of one person, or of all."""
        rows = self._reader().execute(
            f"select person, place, item, kind, lapsed from places {_of(person)} order by person, place", _one(person)
        )
        return [PlaceRow(row[0], row[1], row[2], row[3], bool(row[4])) for row in rows]

    def open_places(self) -> list[PlaceRow]:
        """Return the main places that people at work hold and have not answered."""
        rows = self._reader().execute(
            f"""select places.person, places.place, places.item
            from people cross join places on places.person = people.id
            where {_WORKING} and places.kind = 'main' and not places.lapsed and not exists (
                select 1 from responses where responses.person = places.person
                and responses.kind = 'main' and responses.place = places.place
            )"""
        )
        return [PlaceRow(*row) for row in rows]

    def response(self, person: str, kind: PlaceKind, place: int) -> ResponseRow | None:
        """Return what a person said at a place, as they last said it."""
        row = self._reader().execute(
            f"{_select(_RESPONSE, 'responses')} where person = ? and kind = ? and place = ? "
            "order by revision desc limit 1",
            (person, kind, place),
        ).fetchone()  # fmt: skip
        return None if row is None else _response(row)

    def response_with(self, key: str) -> ResponseRow | None:
        """Return the response that was stored under a key."""
        row = self._reader().execute(f"{_select(_RESPONSE, 'responses')} where key = ?", (key,)).fetchone()
        return None if row is None else _response(row)

    def revisions(self, person: str) -> dict[tuple[PlaceKind, int], int]:
        """Return how often a person answered each place, by kind and number."""
        rows = self._reader().execute(
            "select kind, place, max(revision) from responses where person = ? group by kind, place", (person,)
        )
        return {(row[0], row[1]): row[2] for row in rows}

    def responses(self, person: str | None = None, *, latest: bool = True, after: int = 0) -> Iterator[ResponseRow]:
        """Yield what was said, in order of arrival; *latest* leaves out what was changed later.

        *after* leaves out what has that number or a lower one, for those who have read so far.
        """
        conditions = ["number > ?", *(["person = ?"] if person is not None else []), *([_LATEST] if latest else [])]
        rows = self._reader().execute(
            f"{_select(_RESPONSE, 'responses')} where {' and '.join(conditions)} order by number",
            (after, *_one(person)),
        )
        return (_response(row) for row in rows)

    def drafts(self, person: str) -> list[DraftRow]:
        """Return the half-filled items of a person."""
        rows = self._reader().execute(
            "select person, place, kind, answer, events, sequence, revision from drafts where person = ?", (person,)
        )
        return [
            DraftRow(person, place, kind, json.loads(answer), json.loads(events), sequence, revision)
            for person, place, kind, answer, events, sequence, revision in rows
        ]

    def exit_answers(self) -> list[ExitRow]:
        """Return the answers to the questions at the end."""
        rows = self._reader().execute("select person, question, answer, received_at from exit_answers")
        return [ExitRow(*row) for row in rows]

    def exclusion_runs(self) -> list[ExclusionRun]:
        """Return the runs of the exclusion rules, the latest last."""
        verdicts: dict[int, list[Verdict]] = {}
        for run, person, leave_out, do_not_pay, reasons in self._reader().execute(
            "select run, person, leave_out, do_not_pay, reasons from verdicts order by run, person"
        ):
            told = Verdict(person, bool(leave_out), bool(do_not_pay), tuple(json.loads(reasons)))
            verdicts.setdefault(run, []).append(told)
        rows = self._reader().execute("select number, at, rules from exclusion_runs order by number")
        return [ExclusionRun(row[0], row[1], json.loads(row[2]), tuple(verdicts.get(row[0], ()))) for row in rows]

    def left_out(self) -> frozenset[str]:
        """Return the people whom the latest run leaves out of the labels."""
        return frozenset(row[0] for row in self._reader().execute(_LEFT_OUT))

    def payments(self) -> list[Contact]:
        """Return who came from a platform."""
        rows = self._reader(self.payments_path).execute(
            "select person, platform, platform_id, submission, details, arrived_at from contacts order by arrived_at"
        )
        return [_contact(row) for row in rows]

    def contact(self, person: str) -> Contact | None:
        """Return who one person is to the platform."""
        row = self._reader(self.payments_path).execute(
            "select person, platform, platform_id, submission, details, arrived_at from contacts where person = ?",
            (person,),
        ).fetchone()  # fmt: skip
        return None if row is None else _contact(row)

    def usable(self) -> dict[str, int]:
        """Return how many usable main answers each item has: not surplus, not of a person who is left out."""
        return dict(
            self._reader().execute(
                "select item, count(*) from responses where kind = 'main' and revision = 1 and not surplus "
                f"and person not in ({_LEFT_OUT}) group by item"
            )
        )

    def usable_batches(self) -> dict[str, int]:
        """Return how many usable people finished each batch of the allocation file, all of it."""
        return dict(
            self._reader().execute(
                "select batch, count(*) from people where batch != '' and finished_at is not null "
                "and screened_at is null and id not in (select person from responses where surplus) "
                "and id not in (select person from places where lapsed) "
                f"and id not in ({_LEFT_OUT}) group by batch"
            )
        )

    def progress(self) -> Progress:
        """Return how far the study is."""
        people: dict[str, int] = {}
        for person in self.people():
            people[person.state] = people.get(person.state, 0) + 1
        count = self._reader().execute("select count(*) from responses").fetchone()[0]
        return Progress(self.state(), self.panel(), people, self.usable(), count)

    def backup(self, target: Path) -> None:
        """Write a copy of the study file while the server runs."""
        if target.exists():
            raise InputError(f"{target} exists; name a file that does not.")
        copy = self._open(target)
        try:
            self._reader().backup(copy)
            copy.execute("pragma journal_mode = delete")
        finally:
            copy.close()

    def close(self) -> None:
        """Write what is waiting, and close; closing again does nothing."""
        if self._closed:
            return
        self._closed = True
        for writer in (self._writer, self._payments):
            writer.close()
        for connection in self._all_readers:
            connection.close()
        if self._lock is not None:
            self._lock.close()


def _claim(path: Path) -> sqlite3.Connection:
    """Return a connection that holds the exclusive lock of a file beside the study, or refuse."""
    # A lock of SQLite's own works the same on every system, and is gone when the process is, however it ended.
    lock = sqlite3.connect(path.with_name("server.lock"), isolation_level=None, check_same_thread=False, timeout=0)
    try:
        lock.execute("pragma locking_mode = exclusive")
        lock.execute("begin exclusive")
    except sqlite3.OperationalError:
        lock.close()
        raise InputError(f"Another server has the study {path} open; stop it first.") from None
    return lock


def _add_contact(connection: sqlite3.Connection, contact: Contact) -> None:
    connection.execute(
        "insert or replace into contacts (person, platform, platform_id, submission, details, arrived_at) "
        "values (?, ?, ?, ?, ?, ?)",
        (
            contact.person, contact.platform, contact.platform_id, contact.submission, _text(dict(contact.details)),
            contact.arrived_at,
        ),
    )  # fmt: skip


def _meta(connection: sqlite3.Connection, name: str) -> str | None:
    row = connection.execute("select value from meta where name = ?", (name,)).fetchone()
    return None if row is None else str(row[0])


def _set_meta(connection: sqlite3.Connection, name: str, value: str) -> None:
    connection.execute("insert or replace into meta values (?, ?)", (name, value))


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _select(columns: Sequence[str], table: str) -> str:
    return f"select {', '.join(columns)} from {table}"


def _marks(columns: Sequence[str]) -> str:
    return ", ".join("?" * len(columns))


def _of(person: str | None) -> str:
    return "" if person is None else "where person = ?"


def _one(person: str | None) -> tuple[str, ...]:
    return () if person is None else (person,)


def _person(row: tuple[Any, ...]) -> PersonRow:
    values = dict(zip(_PERSON, row, strict=True))
    values["visitor"] = values["visitor"] or ""
    return PersonRow(**values)


def _contact(row: tuple[Any, ...]) -> Contact:
    return Contact(row[0], row[1], row[2], row[3], json.loads(row[4]), row[5])


def _response(row: tuple[Any, ...]) -> ResponseRow:
    values = dict(zip(_RESPONSE, row, strict=True))
    values["answer"], values["events"] = json.loads(values["answer"]), json.loads(values["events"])
    values["surplus"] = bool(values["surplus"])
    return ResponseRow(**values)
