from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sfumato.errors import OptionError, SfumatoError
from sfumato.tables.write import write_whole, written_whole

posix = pytest.mark.skipif(os.name != "posix", reason="rights and signals as POSIX has them")


def names(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))


@pytest.mark.parametrize("before", [None, b"old"])
def test_the_file_is_there_whole_when_the_block_ends(tmp_path: Path, before: bytes | None) -> None:
    path = tmp_path / "a.csv"
    if before is not None:
        path.write_bytes(before)
    with written_whole(path) as file:
        file.write(b"first ")
        assert (path.read_bytes() if path.exists() else None) == before
        file.write(b"second")
    assert path.read_bytes() == b"first second"
    assert names(tmp_path) == ["a.csv"]


def test_text_is_written_as_utf8_and_bytes_as_they_are(tmp_path: Path) -> None:
    write_whole(str(tmp_path / "a.md"), "ü\r\n")
    write_whole(tmp_path / "b.bin", b"\xff\x00")
    assert (tmp_path / "a.md").read_bytes() == b"\xc3\xbc\r\n"
    assert (tmp_path / "b.bin").read_bytes() == b"\xff\x00"


@pytest.mark.parametrize(
    "fault", [ValueError("no"), KeyboardInterrupt(), SystemExit(3), FileNotFoundError(2, "x", "y")]
)
@pytest.mark.parametrize("before", [None, b"old"])
def test_a_block_that_fails_leaves_everything_as_it_was(
    tmp_path: Path, before: bytes | None, fault: BaseException
) -> None:
    path = tmp_path / "a.csv"
    if before is not None:
        path.write_bytes(before)

    def write_half() -> None:
        with written_whole(path) as file:
            file.write(b"half")
            raise fault

    with pytest.raises(type(fault)) as caught:
        write_half()
    assert caught.value is fault
    assert names(tmp_path) == ([] if before is None else ["a.csv"])
    assert before is None or path.read_bytes() == before


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_step_that_fails_is_told_in_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"old")

    def full(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, step, full)
    with pytest.raises(SfumatoError, match=r"a.csv could not be written: No space left on device. What stood there"):
        write_whole(path, b"new")
    monkeypatch.undo()
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["a.csv"]


@posix
def test_a_disk_that_fills_up_is_told_and_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"old")
    code = """
import resource, sys
from sfumato.errors import SfumatoError
from sfumato.tables.write import written_whole
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    with written_whole(sys.argv[1]) as file:
        for _ in range(100):
            file.write(b"x" * 10_000)
except SfumatoError as error:
    print(error)
"""
    told = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True).stdout
    assert told == f"{path} could not be written: File too large. What stood there before is untouched.\n"
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["a.csv"]


@posix
@pytest.mark.parametrize("signum", [signal.SIGKILL, signal.SIGINT])
def test_a_writer_that_is_stopped_leaves_the_old_file_whole(tmp_path: Path, signum: signal.Signals) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"old")
    code = """
import sys, time
from sfumato.tables.write import written_whole
with written_whole(sys.argv[1]) as file:
    file.write(b"half of the new")
    file.flush()
    print("half", flush=True)
    time.sleep(60)
"""
    with subprocess.Popen(
        [sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"half\n"
        assert len(names(tmp_path)) == 2
        writer.send_signal(signum)
        writer.wait(timeout=30)
    assert path.read_bytes() == b"old"
    left = [name for name in names(tmp_path) if name != "a.csv"]
    # Nothing can clean up after SIGKILL; what it leaves is hidden and under no name that anybody reads.
    assert left == [] if signum == signal.SIGINT else all(name.startswith(".sfumato-") for name in left)
    write_whole(path, b"new")
    assert path.read_bytes() == b"new"


@posix
def test_readers_see_the_old_or_the_new_file_never_a_part(tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    write_whole(path, b"0" * 200_000)
    code = """
import sys
from sfumato.tables.write import written_whole
for turn in range(200):
    with written_whole(sys.argv[1]) as file:
        for _ in range(20):
            file.write(str(turn % 10).encode() * 10_000)
"""
    with subprocess.Popen([sys.executable, "-c", code, str(path)]) as writer:
        looks = 0
        limit = time.monotonic() + 30
        while writer.poll() is None and time.monotonic() < limit:
            content = path.read_bytes()
            assert len(content) == 200_000
            assert len(set(content)) == 1
            looks += 1
        assert writer.wait(timeout=30) == 0
    assert looks > 0


@posix
def test_the_rights_are_those_of_any_new_file_and_are_kept_when_a_file_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    before = os.umask(0o027)
    try:
        write_whole(path, b"new")
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    path.chmod(0o604)
    write_whole(path, b"newer")
    assert stat.S_IMODE(path.stat().st_mode) == 0o604


@posix
def test_a_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    link = tmp_path / "link.csv"
    link.symlink_to(tmp_path / "real" / "a.csv")
    write_whole(link, b"one")
    write_whole(link, b"two")
    assert link.is_symlink()
    assert (tmp_path / "real" / "a.csv").read_bytes() == b"two"
    assert names(tmp_path / "real") == ["a.csv"]


def test_a_name_as_long_as_a_name_can_be(tmp_path: Path) -> None:
    path = tmp_path / ("a" * 251 + ".csv")
    write_whole(path, b"new")
    assert path.read_bytes() == b"new"


def test_a_path_relative_to_the_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_whole("a.csv", b"new")
    assert names(tmp_path) == ["a.csv"]


def test_what_cannot_be_written_is_refused_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    for path, said in (
        (tmp_path / "no" / "such" / "a.csv", "there is no folder"),
        (tmp_path, "is a folder"),
        (tmp_path / "file" / "a.csv", "there is no folder|Not a directory"),
        (tmp_path / ("a" * 300), "could not be written: File name too long"),
        (f"{tmp_path}/zero\0byte", "could not be written: .*null"),
    ):
        with pytest.raises(SfumatoError, match=said) as caught:
            write_whole(path, b"new")
        assert "\n" not in str(caught.value)
    assert names(tmp_path) == ["file"]


@posix
def test_a_pipe_is_refused_and_stays(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(OptionError, match="is a pipe or a device"):
        write_whole(tmp_path / "pipe.csv", b"new")
    assert stat.S_ISFIFO((tmp_path / "pipe.csv").stat().st_mode)


@posix
def test_a_folder_without_the_right_to_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if os.geteuid() == 0:  # root may write everywhere, so the system's answer is put in its mouth

        def refused(path: Path, *arguments: object) -> int:
            raise PermissionError(13, "Permission denied", str(path))

        monkeypatch.setattr(os, "open", refused)
    else:
        tmp_path.chmod(0o500)
    with pytest.raises(OptionError, match=r"a.csv may not be written. Ask for the right"):
        write_whole(tmp_path / "a.csv", b"new")
    monkeypatch.undo()
    tmp_path.chmod(0o700)
    assert names(tmp_path) == []


@posix
def test_a_file_that_is_read_only_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"old")
    path.chmod(0o444)
    if os.geteuid() == 0:
        monkeypatch.setattr(os, "access", lambda *arguments: False)
    with pytest.raises(OptionError, match="is there and may not be written"):
        write_whole(path, b"new")
    assert path.read_bytes() == b"old"
