from __future__ import annotations

import os

import pytest

from sfumato.core.processors import n_processors


def test_what_the_process_may_use_counts_and_not_what_the_machine_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {1, 5, 6}, raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    assert n_processors() == 3


@pytest.mark.parametrize(("counted", "expected"), [(4, 4), (None, 1)])
def test_where_the_system_does_not_say_the_machine_counts(
    monkeypatch: pytest.MonkeyPatch, counted: int | None, expected: int
) -> None:
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: counted)
    assert n_processors() == expected
