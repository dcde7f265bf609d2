"""What happens by itself while the server runs: leases end, commands are noticed, the rules are applied again."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from sfumato.collect.sqlite_store import SqliteStore
from sfumato.collect.study import Check

TOP2 = {"mode": "top2", "top": "deer", "top_percent": 70, "second": None, "second_percent": None, "impossible": []}


def wait_for(holds, seconds: float = 30.0) -> None:
    """Wait until something holds; how long that takes is the machine's business."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it did not come to hold"
        time.sleep(0.02)


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr("sfumato.collect.app._TICK", 0.02)
    monkeypatch.setattr("sfumato.collect.app._LEAST_REST", 0.0)
    monkeypatch.setattr("sfumato.collect.app._RESTS", 0.0)


def test_a_lease_ends_by_itself_and_what_a_command_does_is_noticed(opened, study):
    this = opened()
    this.browser()
    (person,) = this.store.people()
    this.clock.now += 31 * 60_000
    wait_for(lambda: this.store.person(person.id).state == "released")
    beside = SqliteStore(study.folder / "study.sqlite")
    beside.set_state("paused").result()
    beside.close()
    wait_for(lambda: this.desk.state == "paused")


def test_the_rules_are_applied_when_somebody_has_handed_in(opened, study):
    (study.folder / "study.toml").write_text(
        """[study]
title = "Animals"
classes = ["deer", "horse", "dog", "ship"]
[items]
source = "items.csv"
[batches]
size = 4
panel = 2
checks_per_batch = 1
[[checks]]
item = "Choose ship."
answer = "ship"
[exclusions]
checks_wrong_above = 0
""",
        encoding="utf-8",
    )
    this = opened(
        replace(
            study,
            batches=replace(study.batches, checks_per_batch=1),
            checks=(Check(item="Choose ship.", answer="ship"),),
            exclusions={"checks_wrong_above": 0},
        )
    )
    browser = this.browser()
    for place in browser.places():
        browser.answer(place, TOP2, key=f"key-{place:05}")
    browser.get("/finish").post("/api/finish")
    assert browser.path == "/done"
    wait_for(lambda: this.store.left_out() == {this.store.people()[0].id})
    wait_for(lambda: all(this.desk.assignment.level(item) == 0 for item in this.desk.items))
