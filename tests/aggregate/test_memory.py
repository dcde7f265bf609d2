"""What would not fit in memory is refused beforehand, with the figure."""

from __future__ import annotations

from pathlib import Path

import pytest

from sfumato.aggregate import memory
from sfumato.aggregate.memory import available_memory, check_memory
from sfumato.errors import TooLargeError


def test_refusal_names_what_how_much_and_what_instead() -> None:
    with pytest.raises(
        TooLargeError, match=r"^A table needs 3 GiB of memory, and 2 GiB are there\. Use a smaller one\.$"
    ):
        check_memory(3 << 30, what="A table", instead="Use a smaller one.", limit=2 << 30)
    check_memory(2 << 30, what="A table", instead="Use a smaller one.", limit=2 << 30)


def test_available_is_the_smaller_of_machine_and_container(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "meminfo").write_text("MemTotal: 9000 kB\nMemAvailable:    5000 kB\n")
    (tmp_path / "max").write_text("4096000\n")
    (tmp_path / "used").write_text("96000\n")
    monkeypatch.setattr(memory, "_MEMINFO", tmp_path / "meminfo")
    monkeypatch.setattr(memory, "_CONTAINER_LIMIT", tmp_path / "max")
    monkeypatch.setattr(memory, "_CONTAINER_USED", tmp_path / "used")
    assert available_memory() == 4_000_000
    (tmp_path / "max").write_text("max\n")
    assert available_memory() == 5000 * 1024
    monkeypatch.setattr(memory, "_MEMINFO", tmp_path / "nowhere")
    total = available_memory()
    assert total is not None
    assert total > 1 << 28


def test_a_machine_that_does_not_say_is_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(name: str) -> int:
        raise ValueError(name)

    monkeypatch.setattr(memory, "_MEMINFO", tmp_path / "nowhere")
    monkeypatch.setattr(memory, "_CONTAINER_LIMIT", tmp_path / "nowhere")
    monkeypatch.setattr(memory.os, "sysconf", unknown)
    assert available_memory() is None
    check_memory(1 << 60, what="A table", instead="…")
