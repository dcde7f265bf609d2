"""Two people at human pace through all of a study: one reloads in the middle, one loses the network once."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from statistics import median
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from sfumato.collect.study import Batches

# The page of Collins et al. has 34 things to press and fill in for ten classes.
_CONTROLS_OF_THE_PAPER = 34
_CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
_ITEMS = 27
_TENS = "QWERTYUIOP"


class _Person:
    """Somebody who makes up their mind, and remembers what they meant to say. Their time is the page's own clock."""

    def __init__(self, page: Page, seed: int) -> None:
        self.page, self._random = page, Random(seed)
        self.meant: dict[int, dict[str, Any]] = {}
        page.clock.install()

    def think(self, least: float, most: float) -> None:
        self.page.clock.run_for(round(1000 * self._random.uniform(least, most)))

    def _press(self, key: str) -> None:
        self.think(0.3, 1.2)
        self.page.keyboard.press(key)

    def half(self, place: int) -> None:
        """Look at an item, and say the first half."""
        self.think(3, 9)
        top = self._random.randrange(10)
        self._press(f"Digit{(top + 1) % 10}")
        tens = self._random.randrange(5, 11)
        self._press(f"Key{_TENS[tens - 1]}")
        names = self.page.locator("#classes bdi").all_text_contents()
        said: dict[str, Any] = {
            "mode": "top2",
            "top": names[top],
            "top_percent": 10 * tens,
            "second": None,
            "second_percent": None,
        }
        self.meant[place] = said | {"impossible": [], "names": names}

    def rest(self, place: int) -> None:
        """Say the second half, and go on."""
        said = self.meant[place]
        names = said.pop("names")
        left = 100 - said["top_percent"]
        if left and self._random.random() < 0.6:
            second = self._random.choice([n for n, name in enumerate(names) if name != said["top"]])
            share = min(left, said["top_percent"])
            self._press(f"Shift+Digit{(second + 1) % 10}")
            self._press(f"Shift+Key{_TENS[share // 10 - 1]}")
            said |= {"second": names[second], "second_percent": share}
            left -= share
        if not left and self._random.random() < 0.5:
            self._press("KeyX")
            said["impossible"] = [name for name in names if name not in (said["top"], said["second"])]
        elif self._random.random() < 0.2:
            out = self._random.choice([name for name in names if name not in (said["top"], said["second"])])
            self.page.get_by_role("checkbox", name=f"{out}: not").check(force=True)
            said["impossible"] = [out]
        self._press("Enter")


def test_two_people_finish_27_items(serve: Callable[..., Any], look: Callable[..., Page]) -> None:
    study = serve(classes=_CLASSES, n_items=_ITEMS, batches=Batches(size=_ITEMS, panel=2))
    ann, ben = (_Person(look(quiet=False), seed) for seed in (1, 2))
    for person in (ann, ben):
        person.page.goto(study.address)
    for place in range(1, _ITEMS + 1):
        for person in (ann, ben):
            expect(person.page.locator("#place")).to_have_text(f"{place} of {_ITEMS}")
            if person is ben and place == 9:
                person.page.context.set_offline(True)
            person.half(place)
            if person is ann and place == 14:
                person.page.reload()
                expect(person.page.locator(f"[name=top][value={person.meant[place]['top']}]")).to_be_checked()
            person.rest(place)
            if person is ben and place == 12:
                person.page.context.set_offline(False)
                person.page.evaluate("dispatchEvent(new Event('online'))")
    for person in (ann, ben):
        page = person.page
        page.get_by_role("button", name="Hand in").click()
        for _ in range(100):
            if page.get_by_role("heading", name="Thank you").count():
                break
            page.clock.run_for(1000)
            page.wait_for_timeout(20)
        else:
            pytest.fail("the study was not handed in")
    rows = study.responses(latest=False)
    assert len(rows) == 2 * _ITEMS
    assert {row.revision for row in rows} == {1}
    by_person = {row.person: {} for row in rows}
    for row in rows:
        by_person[row.person][row.place] = {**row.answer, "impossible": sorted(row.answer["impossible"])}
    meant = [
        {n: {**said, "impossible": sorted(said["impossible"])} for n, said in each.meant.items()} for each in (ann, ben)
    ]
    assert [said in meant for said in by_person.values()] == [True, True]
    inputs = [1 + sum(event["how"] != "page" for event in row.events) for row in rows]
    assert median(inputs) < _CONTROLS_OF_THE_PAPER
    assert median(inputs) <= 6
    # The time of an item is that of the person's own clock, and goes on where they left it.
    assert 4 < median(row.seconds for row in rows) < 16
    assert min(row.seconds for row in rows) > 3
