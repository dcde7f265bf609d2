"""The shape of the study file, as numbered steps; each is recorded in the transaction that takes it."""

from __future__ import annotations

__all__ = ["PAYMENTS", "STUDY", "migrate"]

import sqlite3
import time

from sfumato.errors import FormatError

STUDY: tuple[tuple[str, str], ...] = (
    (
        "people, places and what they said",
        """
        create table meta (name text primary key, value text not null) strict;
        create table people (
            id text primary key,
            platform text not null,
            visitor text unique,
            batch text not null default '',
            tries integer not null default 0,
            arrived_at integer not null,
            seen_at integer not null,
            consented_at integer, instructed_at integer, practised_at integer, assigned_at integer,
            finished_at integer, done_at integer, screened_at integer, released_at integer
        ) strict;
        create table places (
            person text not null references people on delete cascade,
            place integer not null,
            item text not null,
            kind text not null check (kind in ('main', 'repeat', 'check')),
            lapsed integer not null default 0,
            primary key (person, place)
        ) strict, without rowid;
        create table responses (
            number integer primary key,
            key text not null unique,
            person text not null references people on delete cascade,
            place integer not null,
            item text not null,
            kind text not null check (kind in ('main', 'repeat', 'check', 'practice')),
            revision integer not null,
            answer text not null,
            seconds real,
            events text not null,
            shown_at text not null,
            sent_at text not null,
            received_at integer not null,
            surplus integer not null
        ) strict;
        create unique index responses_of_a_person on responses (person, kind, place, revision);
        create table drafts (
            person text not null references people on delete cascade,
            place integer not null,
            kind text not null,
            answer text not null,
            events text not null,
            sequence integer not null,
            primary key (person, kind, place)
        ) strict, without rowid;
        create table exit_answers (
            person text not null references people on delete cascade,
            question text not null,
            answer text not null,
            received_at integer not null,
            primary key (person, question)
        ) strict, without rowid;
        create table exclusion_runs (number integer primary key, at integer not null, rules text not null) strict;
        create table verdicts (
            run integer not null references exclusion_runs on delete cascade,
            person text not null references people on delete cascade,
            leave_out integer not null,
            do_not_pay integer not null,
            reasons text not null,
            primary key (run, person)
        ) strict, without rowid;
        """,
    ),
    (
        "what a half-filled item began from",
        "alter table drafts add column revision integer not null default 0",
    ),
)
PAYMENTS: tuple[tuple[str, str], ...] = (
    (
        "who came from a platform",
        """
        create table contacts (
            person text primary key,
            platform text not null,
            platform_id text not null,
            submission text not null,
            details text not null,
            arrived_at integer not null
        ) strict, without rowid;
        """,
    ),
)


def migrate(connection: sqlite3.Connection, steps: tuple[tuple[str, str], ...], *, where: str) -> int:
    """Take the steps that the file has not taken yet, and return how many there were.

    The connection must be in autocommit mode. Each step and the note that it was taken are one transaction, so that
    a crash leaves the file before the step or after it.
    """
    connection.execute(
        "create table if not exists migrations (number integer primary key, name text not null, at integer not null)"
    )
    taken = int(connection.execute("select coalesce(max(number), 0) from migrations").fetchone()[0])
    if taken > len(steps):
        raise FormatError(
            f"{where} was written by a later version of sfumato (step {taken}; this one knows {len(steps)}). "
            "Upgrade sfumato to open it."
        )
    for number, (name, script) in enumerate(steps[taken:], start=taken + 1):
        connection.execute("begin immediate")
        try:
            for statement in script.split(";"):
                if statement.strip():
                    connection.execute(statement)
            connection.execute("insert into migrations values (?, ?, ?)", (number, name, int(time.time() * 1000)))
        except BaseException:
            connection.execute("rollback")
            raise
        connection.execute("commit")
    return len(steps) - taken
