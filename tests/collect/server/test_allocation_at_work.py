"""Fixed batches at the desk: each is given whole, evenly, and again where its person left."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

from sfumato.collect.study import Batches


def test_each_batch_is_finished_by_as_many_people(opened, study):
    batches = {"one": ["item-0", "item-1"], "two": ["item-2", "item-3"], "three": ["item-4"]}
    (study.folder / "batches.json").write_text(json.dumps(batches), encoding="utf-8")
    this = opened(replace(study, batches=Batches(panel=2, allocation="batches.json")))
    left = this.browser()
    left.answer(1)
    gone = this.store.people()[0].id
    n_people = 0
    while (browser := this.browser()).path == "/item":
        n_people += 1
        for place in browser.places():
            browser.answer(place, key=f"key-{place:05}")
        browser.get("/finish").post("/api/finish")
        assert browser.path == "/done"
        if n_people == 3:
            this.clock.now += 31 * 60_000
            this.desk.look()
    assert n_people == 6
    assert this.store.usable_batches() == {"one": 2, "two": 2, "three": 2}
    given = Counter(person.batch for person in this.store.people())
    assert given[this.store.person(gone).batch] == 3
    for person in this.store.people():
        items = [place.item for place in this.store.places(person.id)]
        assert sorted(items) == sorted(batches[person.batch])
    # Who comes back finds their batch taken, and can still hand in what they said.
    assert left.get("/item").path == "/finish"
    assert left.post("/api/finish").path == "/done"
    assert this.store.usable_batches() == {"one": 2, "two": 2, "three": 2}
