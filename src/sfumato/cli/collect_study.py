"""The argument with which every command names a study, and the opening of it."""

from __future__ import annotations

__all__ = ["StudyPath", "check_address", "counted", "note_old_rules", "opened"]

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli import screen
from sfumato.errors import InputError, OptionError

if TYPE_CHECKING:
    from sfumato.collect.sqlite_store import SqliteStore
    from sfumato.collect.study import Study

StudyPath = Annotated[Path, typer.Argument(metavar="STUDY", help="The folder of the study, or its study.toml.")]


@contextmanager
def opened(path: Path) -> Iterator[tuple[Study, SqliteStore]]:
    """Give the study and its store, beside a server that may be running."""
    from sfumato.collect.sqlite_store import SqliteStore
    from sfumato.collect.study_file import read_study

    study = read_study(path)
    file = study.folder / "study.sqlite"
    if not file.exists():
        raise InputError(f"{study.folder} holds no answers yet. Start the study with: sfumato collect start {path}")
    store = SqliteStore(file)
    try:
        yield study, store
    finally:
        store.close()


def check_address(url: str, option: str) -> None:
    """Refuse what addresses of a study cannot begin with."""
    if not url.startswith(("https://", "http://")):
        raise OptionError(f"{option} must begin with https:// or http://. Got {url!r} instead.")
    if url.rstrip("/").count("/") > 2 or "?" in url or "#" in url:
        raise OptionError(
            f"{option} must end with the host: the pages of a study name each other from there. Got {url!r} instead. "
            "Give each study a host of its own, such as https://study1.example.org, or a port of its own."
        )


def note_old_rules(study: Study, store: SqliteStore) -> None:
    """Remark it where what is left out or not paid was decided by other rules than study.toml declares now."""
    from sfumato.collect.exclusions import rules_have_run

    handed_in = any(person.finished_at is not None for person in store.people())
    if handed_in and not rules_have_run(study, store):
        screen.note(
            "The exclusion rules of study.toml have not run yet. Run them with: "
            f"sfumato collect exclude {study.folder.name}"
        )


def counted(number: int, one: str = "person", many: str = "people") -> str:
    """Return a number with its noun.

    >>> counted(1), counted(1200, "answer", "answers")
    ('1 person', '1,200 answers')
    """
    return f"{number:,} {one if number == 1 else many}"
