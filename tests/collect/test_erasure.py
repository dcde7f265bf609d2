"""Forgetting a person: no byte of them stays in the files, and nobody else loses any."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from sfumato.collect.erasure import erase_person
from sfumato.collect.exclusions import run_exclusions
from sfumato.collect.secret_file import read_secrets
from sfumato.collect.sessions import platform_hash
from sfumato.collect.sqlite_store import SqliteStore
from sfumato.collect.store import Contact, DraftRow, ExitRow, PersonRow
from sfumato.errors import InputError

TRACES = ("ann-the-person", "ANNSPLATFORMID", "ANNSSESSION", "ANNSDRAFT", "ANNSKEY", "ANNSEVENT", "anns own words")


def whole(field, n_others: int = 30):
    """A study in which ann left a trace of every kind, among others; ids and texts are long, so that pages fill."""
    secrets = read_secrets(field.folder)
    visitor = platform_hash(secrets, "prolific", "ANNSPLATFORMID")
    person = PersonRow(id="ann-the-person", platform="prolific", visitor=visitor, arrived_at=5, seen_at=5)
    contact = Contact("ann-the-person", "prolific", "ANNSPLATFORMID", "ANNSSESSION", {"study": "s"}, 5)
    field.store.add_person(person, contact).result()
    field.known.add("ann-the-person")
    for number in range(n_others):
        name = f"other {number}"
        field.says(name, "a", field.top2("deer", 60), events=[{"at": k, "what": f"x{number}" * 20} for k in range(5)])
        if number % 10 == 3:
            key = f"ANNSKEY-{number:04}"
            events = [{"at": number, "what": "ANNSEVENT" * 50}]
            row = field.says("ann-the-person", "a", field.top2("ship", 60), events=events)
            field.store.add_response(
                type(row)(key=key, person=row.person, place=row.place, item="b", answer=row.answer, events=events)
            ).result()
    draft = DraftRow("ann-the-person", 9, "main", {"mode": "top2", "top": "ANNSDRAFT"}, [{"x": "ANNSDRAFT" * 200}], 1)
    field.store.save_draft(draft, 7).result()
    field.store.add_exit([ExitRow("ann-the-person", "Unclear?", "anns own words " * 300, 9)]).result()
    return secrets, (*TRACES, visitor)


def found(folder: Path, traces: Sequence[str]) -> set[tuple[str, str]]:
    """Which traces stand in which files, whatever the files are."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {(path.name, trace) for path in files for trace in traces if trace.encode() in path.read_bytes()}


@pytest.mark.parametrize("told", ["ann-the-person", "ANNSPLATFORMID", "ANNSSESSION"])
def test_no_byte_of_a_person_stays(make_field: Callable, told: str) -> None:
    field = make_field(
        '[exclusions]\nchecks_wrong_above = 0\npreset = "none"\nsame_class_above = 0.5\nleast_answers = 1\n'
    )
    secrets, traces = whole(field)
    run_exclusions(field.study, field.store, at=3)
    before = found(field.folder, traces)
    assert {trace for _, trace in before} == set(traces)
    others = [row for row in field.store.responses(latest=False) if row.person != "ann-the-person"]
    gone = erase_person(field.store, [told], secrets)
    assert (gone.person, gone.n_responses, gone.n_exit_answers, gone.was_to_be_paid) == ("ann-the-person", 6, 1, True)
    # While the store is open, with its logs beside it; and after it is closed.
    assert found(field.folder, traces) == set()
    assert list(field.store.responses(latest=False)) == others
    assert field.store.payments() == []
    field.store.close()
    assert found(field.folder, traces) == set()
    connection = sqlite3.connect(field.folder / "study.sqlite")
    assert connection.execute("pragma integrity_check").fetchone() == ("ok",)
    connection.close()


def test_a_server_that_runs_beside_it_keeps_no_byte_either(make_field: Callable) -> None:
    """Another store has the files open, has read the person, and goes on writing."""
    field = make_field()
    secrets, traces = whole(field)
    other = SqliteStore(field.folder / "study.sqlite")
    assert other.person("ann-the-person") is not None
    assert len(list(other.responses())) > 0
    other.mark("other 1", "finished", 5).result()
    erase_person(field.store, ["ANNSPLATFORMID"], secrets)
    assert found(field.folder, traces) == set()
    assert other.person("ann-the-person") is None
    other.mark("other 2", "finished", 5).result()
    other.close()
    assert found(field.folder, traces) == set()


def test_who_is_not_there(make_field: Callable) -> None:
    field = make_field()
    secrets, traces = whole(field, 4)
    before = found(field.folder, traces)
    with pytest.raises(InputError, match="nobody 'eve'"):
        erase_person(field.store, ["eve", "nor this"], secrets)
    assert found(field.folder, traces) == before


def test_a_person_is_found_by_the_hash_where_no_contact_is_kept(make_field: Callable) -> None:
    """The list of payments may be deleted when all are paid; the platform's id still finds the person."""
    field = make_field()
    secrets, _ = whole(field, 4)
    connection = sqlite3.connect(field.folder / "payments.sqlite")
    connection.execute("delete from contacts")
    connection.commit()
    connection.close()
    assert erase_person(field.store, ["ANNSPLATFORMID"], secrets).person == "ann-the-person"


def test_the_ids_that_study_toml_names_are_not_written_into_runs(make_field: Callable) -> None:
    field = make_field('[exclusions]\npeople = ["ann-the-person"]\n')
    secrets, _ = whole(field, 4)
    run_exclusions(field.study, field.store, at=3)
    (run,) = field.store.exclusion_runs()
    assert run.rules["leave_out"]["people"] == 1
    assert [each.person for each in run.verdicts] == ["ann-the-person"]
    erase_person(field.store, ["ann-the-person"], secrets)
    assert found(field.folder, ["ann-the-person"]) == {("study.toml", "ann-the-person")}
