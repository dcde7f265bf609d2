"""The study file: group commit, exactly once, migrations, one server at a time, and that nothing said is changed."""

from __future__ import annotations

import sqlite3
import threading

import pytest

from sfumato.collect.migrations import STUDY, migrate
from sfumato.collect.sqlite_store import SqliteStore
from sfumato.collect.store import Contact, DraftRow, PersonRow, PlaceRow, ResponseRow, Verdict
from sfumato.collect.writer import Writer
from sfumato.errors import FormatError, InputError, SfumatoError

ANSWER = {"mode": "hard", "top": "deer"}


@pytest.fixture
def store(tmp_path, unflushed):
    store = SqliteStore(tmp_path / "study.sqlite", serving=True)
    yield store
    store.close()


def response(key: str, person: str = "ann", place: int = 1, **more) -> ResponseRow:
    return ResponseRow(key=key, person=person, place=place, item=f"item-{place}", answer=ANSWER, **more)


def test_every_commit_is_flushed_to_disk(tmp_path):
    store = SqliteStore(tmp_path / "study.sqlite")
    try:
        told = store._writer.submit(
            lambda connection: [
                connection.execute(f"pragma {name}").fetchone()[0] for name in ("journal_mode", "synchronous")
            ]
        )
        assert told.result() == ["wal", 2]
    finally:
        store.close()


def test_a_job_that_fails_takes_back_its_own_changes_and_no_others():
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    connection.execute("create table kept (number integer unique)")
    writer = Writer(connection)
    hold = threading.Event()
    writer.submit(lambda _: hold.wait(5))

    def fails(connection):
        connection.execute("insert into kept values (99)")
        raise ValueError("no")

    jobs = [writer.submit(lambda c, n=n: c.execute("insert into kept values (?)", (n,)).rowcount) for n in (1, 2, 1, 3)]
    failed = writer.submit(fails)
    hold.set()
    assert [job.result() for job in (jobs[0], jobs[1], jobs[3])] == [1, 1, 1]
    with pytest.raises(sqlite3.IntegrityError):
        jobs[2].result()
    with pytest.raises(ValueError, match="no"):
        failed.result()
    assert [row[0] for row in connection.execute("select number from kept order by number")] == [1, 2, 3]
    writer.close()
    writer.close()
    with pytest.raises(SfumatoError, match="closed"):
        writer.submit(lambda _: None)


def test_the_same_key_from_many_threads_is_one_row(store):
    store.add_person(PersonRow(id="ann")).result()
    futures = []

    def send():
        futures.extend(store.add_response(response("the-key")) for _ in range(25))

    threads = [threading.Thread(target=send) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    receipts = [future.result() for future in futures]
    assert sum(receipt.new for receipt in receipts) == 1
    assert {receipt.row.revision for receipt in receipts} == {1}
    assert len(list(store.responses(latest=False))) == 1


def test_a_changed_answer_is_a_new_row(store):
    store.add_person(PersonRow(id="ann")).result()
    for key in ("one", "two", "three"):
        store.add_response(response(key)).result()
    assert [row.revision for row in store.responses(latest=False)] == [1, 2, 3]
    assert [row.key for row in store.responses()] == ["three"]
    assert store.response("ann", "main", 1).key == "three"
    assert store.revisions("ann") == {("main", 1): 3}
    assert [row.key for row in store.responses(latest=False, after=2)] == ["three"]
    assert store.usable() == {"item-1": 1}


def test_an_answer_of_nobody_is_refused(store):
    with pytest.raises(sqlite3.IntegrityError):
        store.add_response(response("key", person="nobody")).result()


def test_an_older_draft_does_not_replace_a_newer_one(store):
    store.add_person(PersonRow(id="ann")).result()
    for sequence, top in ((5, "deer"), (3, "horse"), (7, "dog")):
        store.save_draft(DraftRow("ann", 1, "main", {"top": top}, (), sequence), at=1).result()
    assert [(draft.answer, draft.sequence) for draft in store.drafts("ann")] == [({"top": "dog"}, 7)]
    store.add_response(response("key")).result()
    assert store.drafts("ann") == []


def test_a_draft_that_an_answer_has_overtaken_is_dropped_and_one_that_was_begun_after_it_stays(store):
    store.add_person(PersonRow(id="ann")).result()

    def draft(revision, sequence):
        store.save_draft(DraftRow("ann", 1, "main", {"top": "dog"}, (), sequence, revision), at=1).result()
        return [each.revision for each in store.drafts("ann")]

    assert draft(0, 1) == [0]
    store.add_response(response("first")).result()
    # Sent before the answer, and on the way for longer.
    assert draft(0, 2) == []
    assert draft(1, 3) == [1]
    # A change of an answer that is still on its way itself.
    assert draft(2, 4) == [2]
    store.add_response(response("second")).result()
    assert [each.revision for each in store.drafts("ann")] == [2]
    store.add_response(response("third")).result()
    assert store.drafts("ann") == []


def test_who_comes_again_under_the_same_hash_is_the_same_person(store):
    contact = Contact("new", "prolific", "pid", "first")
    first = store.add_person(PersonRow(id="ann", visitor="hash"), contact).result()
    again = store.add_person(PersonRow(id="bob", visitor="hash"), Contact("bob", "prolific", "pid", "second")).result()
    assert (first.id, again.id) == ("ann", "ann")
    assert store.contact("ann").submission == "second"
    assert store.person_of_visitor("hash").id == "ann"
    assert store.person_of_visitor("other") is None
    assert len(store.people()) == 1


def test_a_person_who_is_erased_leaves_nothing(store, tmp_path):
    store.add_person(PersonRow(id="ann-secret", visitor="hash"), Contact("x", "prolific", "pid-secret")).result()
    store.add_places("ann-secret", [PlaceRow("ann-secret", 1, "item-1")], at=1).result()
    store.add_response(response("key", person="ann-secret", shown_at="a word of Ann")).result()
    assert store.erase("ann-secret").result() is True
    assert store.erase("ann-secret").result() is False
    store.close()
    for file in tmp_path.iterdir():
        assert b"secret" not in file.read_bytes()
        assert b"a word of Ann" not in file.read_bytes()


def test_only_one_server_has_a_study(store, tmp_path):
    with pytest.raises(InputError, match="Another server"):
        SqliteStore(tmp_path / "study.sqlite", serving=True)
    beside = SqliteStore(tmp_path / "study.sqlite")
    before = store.version
    beside.set_state("paused").result()
    beside.close()
    assert store.version == before + 1
    assert store.state() == "paused"


def test_a_run_of_the_rules_leaves_earlier_runs_as_they_are(store):
    store.add_person(PersonRow(id="ann")).result()
    store.add_response(response("key")).result()
    assert store.add_exclusion_run({"checks_wrong": 0}, [Verdict("ann", True, False, ("a check",))], 1).result() == 1
    assert store.usable() == {}
    assert store.add_exclusion_run({"checks_wrong": 5}, [Verdict("ann", False, False)], 2).result() == 2
    assert store.usable() == {"item-1": 1}
    assert [run.verdicts[0].leave_out for run in store.exclusion_runs()] == [True, False]


def test_a_backup_is_whole_while_answers_come_in(store, tmp_path):
    store.add_person(PersonRow(id="ann")).result()
    futures = [store.add_response(response(f"key-{n}", place=n)) for n in range(300)]
    store.backup(tmp_path / "copy.sqlite")
    for future in futures:
        future.result()
    copy = sqlite3.connect(tmp_path / "copy.sqlite")
    assert copy.execute("pragma integrity_check").fetchone() == ("ok",)
    numbers = [row[0] for row in copy.execute("select number from responses order by number")]
    copy.close()
    assert numbers == list(range(1, len(numbers) + 1))
    with pytest.raises(InputError, match="exists"):
        store.backup(tmp_path / "copy.sqlite")


def test_a_migration_that_fails_leaves_the_file_before_it(tmp_path):
    connection = sqlite3.connect(tmp_path / "file.sqlite", isolation_level=None)
    steps = (
        ("first", "create table one (a integer)"),
        ("second", "create table two (a integer); create table one (b)"),
    )
    with pytest.raises(sqlite3.OperationalError):
        migrate(connection, steps, where="file")
    tables = {row[0] for row in connection.execute("select name from sqlite_master where type = 'table'")}
    assert tables == {"migrations", "one"}
    assert migrate(connection, steps[:1], where="file") == 0
    with pytest.raises(FormatError, match="later version"):
        migrate(connection, (), where="file")
    connection.close()
    assert [name for name, _ in STUDY] == ["people, places and what they said", "what a half-filled item began from"]


def test_a_file_of_something_else_is_refused(tmp_path):
    (tmp_path / "study.sqlite").write_bytes(b"not a database, " * 100)
    with pytest.raises(FormatError, match="not a study file"):
        SqliteStore(tmp_path / "study.sqlite")
