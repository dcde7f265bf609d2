"""The server starts, says where it is, and refuses to start twice; the admin secret is shown once."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason='needs the extra "collect"')

from serving import Served, make_study

from sfumato.collect.server import serve
from sfumato.collect.study_file import read_study
from sfumato.errors import InputError, MissingExtraError


def test_the_admin_secret_is_shown_once_and_a_second_server_is_refused(tmp_path: Path) -> None:
    make_study(tmp_path, n_items=5, size=5, panel=1)
    first = Served(tmp_path)
    assert "?secret=" in first.admin
    with pytest.raises(InputError, match="Another server has the study"):
        serve(read_study(tmp_path), port=0)
    with pytest.raises(InputError, match=f"Port {first.port}"):
        serve(read_study(tmp_path), port=first.port)
    assert first.stop() == 0
    again = Served(tmp_path)
    assert again.admin.endswith("/admin")
    assert again.stop() == 0


def test_a_start_that_fails_makes_no_secret_that_nobody_saw(tmp_path: Path) -> None:
    make_study(tmp_path, n_items=5, size=5, panel=1)
    (tmp_path / "items.csv").unlink()
    with pytest.raises(InputError, match="do not exist"):
        serve(read_study(tmp_path), port=0)
    make_study(tmp_path, n_items=5, size=5, panel=1)
    served = Served(tmp_path)
    assert "?secret=" in served.admin
    assert served.stop() == 0


def test_a_request_whose_head_never_ends_is_refused(tmp_path: Path) -> None:
    make_study(tmp_path, n_items=5, size=5, panel=1)
    served = Served(tmp_path)
    with socket.create_connection((served.host, served.port), timeout=10) as endless:
        endless.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n")
        try:
            for _ in range(1000):
                endless.sendall(b"X-More: " + b"x" * 1000 + b"\r\n")
            told = endless.recv(1000)
        except ConnectionError:
            told = b""
    assert told == b"" or told.startswith(b"HTTP/1.1 4")
    assert served.stop() == 0


def test_a_port_that_is_taken_is_said(tmp_path: Path) -> None:
    make_study(tmp_path, n_items=5, size=5, panel=1)
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        with pytest.raises(InputError, match="Take another one with --port"):
            serve(read_study(tmp_path), port=other.getsockname()[1])


def test_without_the_extra_one_sentence_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_study(tmp_path, n_items=5, size=5, panel=1)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(MissingExtraError, match=r'pip install "sfumato\[collect\]"'):
        serve(read_study(tmp_path), port=0)


def test_starting_loads_neither_numpy_nor_polars(tmp_path: Path) -> None:
    """They would take a second and 40 MB, and nobody who answers needs them."""
    make_study(tmp_path, n_items=5, size=5, panel=1)
    program = """
import sys
from pathlib import Path
from sfumato.collect.app import make_app
from sfumato.collect.sqlite_store import SqliteStore
from sfumato.collect.study_file import read_study
study = read_study(Path(sys.argv[1]))
store = SqliteStore(study.folder / "study.sqlite")
make_app(study, store)
store.close()
print(*sorted({"numpy", "polars", "scipy", "PIL"} & set(sys.modules)))
"""
    told = subprocess.run([sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == ""
