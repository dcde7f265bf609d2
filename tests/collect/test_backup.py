"""A backup opens and is whole, whatever is written meanwhile; what is not whole is not put back."""

from __future__ import annotations

import json
import sqlite3
import stat
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from sfumato.collect.backup import backup, restore
from sfumato.collect.secret_file import read_secrets
from sfumato.collect.sqlite_store import SqliteStore
from sfumato.collect.store import PersonRow, ResponseRow
from sfumato.errors import FormatError, InputError, SfumatoError


def rows_of(path: Path, table: str) -> list[tuple]:
    connection = sqlite3.connect(path)
    try:
        assert connection.execute("pragma integrity_check").fetchone() == ("ok",)
        return connection.execute(f"select * from {table} order by 1").fetchall()
    finally:
        connection.close()


def test_everything_comes_back(make_field: Callable, tmp_path: Path) -> None:
    field = make_field()
    secrets = read_secrets(field.folder)
    field.person("ann", contact="PID", platform="prolific")
    field.says("ann", "a", field.top2("deer", 60))
    (field.folder / "more").mkdir()
    (field.folder / "more" / "batches.json").write_text("[]")
    made = backup(field.folder, tmp_path / "copy", also=("more/batches.json", "not there"))
    assert (made.n_people, made.n_responses) == (1, 1)
    assert made.files == ("study.sqlite", "payments.sqlite", "study.toml", "secret.json", "more/batches.json")
    assert stat.S_IMODE((tmp_path / "copy").stat().st_mode) == 0o700
    back = tmp_path / "again"
    back.mkdir()
    (back / "items.csv").write_text("item,text\na,x\n")
    restore(tmp_path / "copy", back)
    for name in ("study.sqlite", "payments.sqlite", "secret.json"):
        assert stat.S_IMODE((back / name).stat().st_mode) == 0o600
    assert read_secrets(back) == secrets
    store = SqliteStore(back / "study.sqlite")
    assert list(store.responses()) == list(field.store.responses())
    assert store.people() == field.store.people()
    assert store.payments() == field.store.payments()
    store.close()


def test_a_copy_is_one_moment_whatever_is_written_meanwhile(make_field: Callable, tmp_path: Path) -> None:
    """While two threads answer, every copy opens, holds all that was acknowledged before it began, and no gap."""
    field = make_field()
    field.person("ann")
    acknowledged, stop = [0, 0], threading.Event()

    def go_on(thread: int) -> None:
        while not stop.is_set():
            number = acknowledged[thread]
            answer = {"mode": "hard", "top": "deer"}
            row = ResponseRow(key=f"{thread}-{number:06}", person="ann", place=thread, item="a", answer=answer)
            field.store.add_response(row).result()
            acknowledged[thread] = number + 1

    threads = [threading.Thread(target=go_on, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    try:
        for copy in range(6):
            before = list(acknowledged)
            backup(field.folder, tmp_path / f"copy-{copy}")
            keys = sorted(row[1] for row in rows_of(tmp_path / f"copy-{copy}" / "study.sqlite", "responses"))
            for thread in range(2):
                mine = [key for key in keys if key.startswith(f"{thread}-")]
                assert mine == [f"{thread}-{number:06}" for number in range(len(mine))]
                assert len(mine) >= before[thread]
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert min(acknowledged) > 0


def test_a_backup_is_whole_or_not_there(make_field: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    field = make_field()
    with pytest.raises(InputError, match="exists"):
        backup(field.folder, field.folder)
    with pytest.raises(InputError, match="nothing to back up"):
        backup(tmp_path, tmp_path / "copy")
    with pytest.raises(InputError, match="cannot be made"):
        backup(field.folder, field.folder / "study.toml" / "copy")
    assert backup(field.folder, tmp_path / "made" / "copy").path.is_dir()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("sfumato.collect.backup.shutil.copyfile", full)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(SfumatoError, match="No space left"):
        backup(field.folder, tmp_path / "copy")
    assert sorted(tmp_path.iterdir()) == before


def test_a_damaged_study_is_not_called_a_backup(make_field: Callable, tmp_path: Path) -> None:
    field = make_field()
    for number in range(40):
        field.store.add_person(PersonRow(id=f"person {number}" * 40))
    field.store.close()
    path = field.folder / "study.sqlite"
    data = bytearray(path.read_bytes())
    assert len(data) > 40_000
    data[20_000:32_000] = b"\xaa" * 12_000
    path.write_bytes(data)
    with pytest.raises(FormatError, match=r"is damaged|cannot be copied"):
        backup(field.folder, tmp_path / "copy")
    assert not (tmp_path / "copy").exists()


def test_what_is_no_backup_is_not_put_back(make_field: Callable, tmp_path: Path) -> None:
    field = make_field()
    field.says("ann", "a", field.top2("deer", 60))
    copy, back = tmp_path / "copy", tmp_path / "back"
    backup(field.folder, copy)
    with pytest.raises(InputError, match=r"holds a study already \(study\.sqlite"):
        restore(copy, field.folder)
    with pytest.raises(FormatError, match=r"has no backup\.json"):
        restore(tmp_path, back)
    told = json.loads((copy / "backup.json").read_text())
    for name in ("../outside", "/etc/passwd"):
        broken = {**told, "sha256": {**told["sha256"], name: "0"}}
        (copy / "backup.json").write_text(json.dumps(broken))
        with pytest.raises(FormatError, match="not in the backup"):
            restore(copy, back)
    (copy / "backup.json").write_text(json.dumps({"sha256": {"study.toml": "0"}}))
    with pytest.raises(FormatError, match="does not name the files"):
        restore(copy, back)
    (copy / "backup.json").write_text(json.dumps(told))
    (copy / "study.toml").write_text("changed")
    with pytest.raises(FormatError, match="was changed"):
        restore(copy, back)
    assert not back.exists()


def test_a_study_file_with_other_settings_is_not_overwritten(make_field: Callable, tmp_path: Path) -> None:
    field = make_field()
    backup(field.folder, tmp_path / "copy")
    back = tmp_path / "back"
    back.mkdir()
    (back / "study.toml").write_text("[study]\n")
    with pytest.raises(InputError, match=r"study\.toml"):
        restore(tmp_path / "copy", back)
    (back / "study.toml").write_bytes((field.folder / "study.toml").read_bytes())
    restore(tmp_path / "copy", back)
    assert (back / "study.sqlite").exists()
