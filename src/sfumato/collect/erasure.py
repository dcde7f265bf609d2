"""Forgetting a person: their rows, and the bytes of them that a database would keep."""

from __future__ import annotations

__all__ = ["Erasure", "erase_person", "person_of"]

import sqlite3
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sfumato.collect.secret_file import Secrets
from sfumato.collect.sessions import platform_hash
from sfumato.collect.sqlite_store import SqliteStore
from sfumato.errors import InputError, SfumatoError

_PLATFORMS = ("prolific", "mturk", "invitation")
# A server that runs lets go of the log between two of its transactions; this is long enough to meet such a moment.
_PATIENCE = 20.0


@dataclass(frozen=True, slots=True)
class Erasure:
    """Who was forgotten, and what of them."""

    person: str
    n_responses: int
    n_exit_answers: int
    was_to_be_paid: bool


def erase_person(store: SqliteStore, told: Sequence[str], secrets: Secrets) -> Erasure:
    """Delete everything of a person by one of the ids *told*: an annotator of the export, or what a platform says.

    Both files are written anew, so that no byte of the person stays in them, in their free pages or in their logs.
    """
    person = person_of(store, told, secrets)
    found = Erasure(
        person=person,
        n_responses=sum(1 for _ in store.responses(person, latest=False)),
        n_exit_answers=sum(each.person == person for each in store.exit_answers()),
        was_to_be_paid=any(contact.person == person for contact in store.payments()),
    )
    if not store.erase(person).result():
        raise InputError(f"There is nobody {told[0]!r} in this study.")
    for path in (store.path, store.payments_path):
        _rewrite(path)
    return found


def person_of(store: SqliteStore, told: Sequence[str], secrets: Secrets) -> str:
    """Return the annotator of the export whom one of the ids *told* means."""
    for each in told:
        if store.person(each) is not None:
            return each
        for contact in store.payments():
            if each in (contact.platform_id, contact.submission):
                return contact.person
        for platform in _PLATFORMS:
            known = store.person_of_visitor(platform_hash(secrets, platform, each))
            if known is not None:
                return known.id
    raise InputError(
        f"There is nobody {told[0]!r} in this study. Give the annotator of the export, or the id of the platform."
    )


def _rewrite(path: Path) -> None:
    """Write a database anew without what was deleted, and cut its log off."""
    connection = sqlite3.connect(path, isolation_level=None, timeout=_PATIENCE)
    try:
        connection.execute("pragma secure_delete = on")
        connection.execute("vacuum")
        until = time.monotonic() + _PATIENCE
        while connection.execute("pragma wal_checkpoint(truncate)").fetchone()[0]:
            if time.monotonic() > until:
                raise SfumatoError(
                    f"The person is deleted, but the log of {path} is in use and still holds them: "
                    "run the command again, or restart the server."
                )
            time.sleep(0.05)
    except sqlite3.OperationalError as error:
        raise SfumatoError(f"The person is deleted, but {path} could not be written anew: {error}.") from None
    finally:
        connection.close()
