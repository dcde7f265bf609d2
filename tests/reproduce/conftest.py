"""A small experiment of one's own, for the tests of what runs and keeps experiments."""

from __future__ import annotations

from pathlib import Path

import pytest

from sfumato.reproduce import Experiment, find

_VOTES = """item,annotator,label
a,x,yes
a,y,yes
a,z,no
b,x,no
b,y,no
b,z,no
c,x,yes
c,y,no
c,z,yes
"""
_GOLD = "item,label\na,yes\nb,no\nc,no\n"
_EXPERIMENT = """
title = "Three items"
study = "views"
seeds = 2

[default]
gold = "gold.csv"
join = false
on = "ours"

[default.methods]
standard = {}
softmax = {}

[arms.plain]
data = "votes.csv"

[arms.again]
data = "votes.csv"
each = { on = ["one", "two"] }
"""


@pytest.fixture(scope="session")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of results that the tests of what comes along share, so that nothing is computed twice."""
    return tmp_path_factory.mktemp("reproduction")


@pytest.fixture
def experiment(tmp_path: Path) -> Experiment:
    (tmp_path / "votes.csv").write_text(_VOTES)
    (tmp_path / "gold.csv").write_text(_GOLD)
    (tmp_path / "mine.toml").write_text(_EXPERIMENT)
    (found,) = find(str(tmp_path / "mine.toml"))
    return found
