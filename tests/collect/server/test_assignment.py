"""Items are shared out evenly, whoever comes and leaves: the rule alone, and the desk with a clock that is moved."""

from __future__ import annotations

import asyncio
from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.collect.assignment import Assignment, expected_change
from sfumato.collect.desk import Desk, Stop
from sfumato.collect.secret_file import read_secrets
from sfumato.collect.store import ResponseRow, Verdict
from sfumato.collect.study import Assignment as Settings
from sfumato.collect.study import Batches, Items, Study, StudyClass

MINUTE = 60_000
CLASSES = tuple(StudyClass(name=name) for name in ("deer", "horse", "dog"))


def study_of(size: int, panel: int, **changes) -> Study:
    return Study(title="Animals", mode="top1", classes=CLASSES, batches=Batches(size=size, panel=panel), **changes)


@given(st.integers(1, 40), st.integers(1, 12), st.integers(1, 5), st.integers(0, 10**6))
def test_people_who_all_end_leave_every_item_with_the_panel_or_one_more(n_items, size, panel, seed):
    items = [f"i{n}" for n in range(n_items)]
    assignment = Assignment(study_of(size, panel), items)
    counts: Counter[str] = Counter(dict.fromkeys(items, 0))
    random = Random(seed)
    while True:
        _, batch = assignment.choose(random)
        if not batch:
            break
        assert len(set(batch)) == len(batch) == min(size, n_items)
        assignment.hold(batch)
        counts.update(batch)
        assert max(counts.values()) - min(counts.values()) <= 1
    assert set(counts.values()) <= {panel, panel + 1}


@settings(max_examples=60)
@given(st.integers(1, 30), st.integers(1, 8), st.integers(1, 4), st.data())
def test_people_who_leave_give_back_what_they_did_not_answer(n_items, size, panel, data):
    """A study simulated in random order: at its end, the usable answers of any two items differ by one at most."""
    items = [f"i{n}" for n in range(n_items)]
    assignment = Assignment(study_of(size, panel), items)
    answers: Counter[str] = Counter(dict.fromkeys(items, 0))
    random = Random(data.draw(st.integers(0, 10**6)))
    leaving = data.draw(st.floats(0, 0.6))
    at_work: list[list[str]] = []
    for _ in range(20_000):
        _, batch = assignment.choose(random) if len(at_work) < 6 else ("", [])
        if batch:
            assignment.hold(batch)
            at_work.append(batch)
        elif not at_work:
            break
        person = random.choice(at_work)
        if random.random() < leaving / 4:
            assignment.give_back(person)
            person.clear()
        else:
            item = person.pop()
            answers[item] += 1
            assignment.answered(item)
        if not person:
            at_work.remove(person)
    assert not at_work
    assert min(answers.values()) >= panel
    assert max(answers.values()) - min(answers.values()) <= 1


def test_a_rule_that_ignored_leaving_would_be_caught():
    """The law above can fail: without giving back, an item would stay short."""
    assignment = Assignment(study_of(3, 1), ["a", "b", "c"])
    assignment.hold(assignment.choose(Random(0))[1])
    assert assignment.choose(Random(0))[1] == []
    assignment.give_back(["b"])
    assert assignment.choose(Random(0))[1].count("b") == 1


def test_the_same_seed_gives_the_same_batches():
    items = [f"i{n}" for n in range(50)]
    first, second = (Assignment(study_of(10, 2), items).choose(Random("seed"))[1] for _ in range(2))
    assert first == second


def test_batches_of_a_file_are_given_whole_and_evenly():
    allocation = {"one": ("a", "b"), "two": ("c", "d"), "three": ("e",)}
    assignment = Assignment(study_of(25, 2), list("abcde"), allocation=allocation)
    given_out = []
    while (chosen := assignment.choose(Random(len(given_out))))[1]:
        assert sorted(chosen[1]) == sorted(allocation[chosen[0]])
        assignment.hold(chosen[1], batch=chosen[0])
        given_out.append(chosen[0])
        counts = Counter(given_out)
        assert max(counts.values()) - min(counts[name] for name in allocation) <= 1
    assert Counter(given_out) == dict.fromkeys(allocation, 2)
    assignment.give_back([], batch="two")
    assert assignment.choose(Random(0))[0] == "two"


def test_active_asks_about_what_one_more_answer_would_change_and_stops_where_it_has_settled():
    study = study_of(1, 30, assignment=Settings(strategy="active", settle=0.05))
    assignment = Assignment(study, ["clear", "split", "new"])
    assignment.answered("clear", {"deer": 1.0}, held=False)
    for _ in range(4):
        assignment.answered("clear", {"deer": 1.0}, held=False)
        assignment.answered("split", {"deer": 1.0}, held=False)
        assignment.answered("split", {"dog": 1.0}, held=False)
    assert not assignment.wants("clear")
    assert assignment.choose(Random(0))[1] == ["new"]
    assignment.hold(["new"])
    assert assignment.wants("split") == (expected_change([{"deer": 1.0}, {"dog": 1.0}] * 4, 3) >= 0.05)


@given(st.lists(st.sampled_from(range(3)), max_size=8), st.integers(4, 6))
def test_the_expected_change_is_what_its_formula_says(tops, n_classes):
    names = [str(k) for k in range(n_classes)]
    labels = [{names[top]: 0.75, names[-1]: 0.25} for top in tops]
    n = len(labels)
    dense = [[label.get(name, 0.0) for name in names] for label in labels]
    total = [sum(row[k] for row in dense) for k in range(n_classes)]
    mean = [(1 / n_classes + total[k]) / (n + 1) for k in range(n_classes)]
    ones = [[float(j == k) for j in range(n_classes)] for k in range(n_classes)]

    def moved(row):
        return sum(abs((mean[k] * (n + 1) + row[k]) / (n + 2) - mean[k]) for k in range(n_classes)) / 2

    slow = (sum(map(moved, dense)) + sum(map(moved, ones)) / n_classes) / (n + 1)
    assert expected_change(labels, n_classes) == pytest.approx(slow)


# The whole desk: a study file, leases, people who leave and come back, exclusions.


class Simulation:
    """A desk with a clock, and people who do as they are told."""

    def __init__(self, opens, folder, n_items, **changes):
        (folder / "items.csv").write_text("item,text\n" + "".join(f"i{n},Text {n}\n" for n in range(n_items)))
        self.study = study_of(
            changes.pop("size"), changes.pop("panel"), folder=folder, items=Items(source="items.csv"), **changes
        )
        self.now = 1_800_000_000_000
        self.store = opens(folder)
        self.desk = Desk(self.study, self.store, read_secrets(folder), clock=lambda: self.now)
        self.number = 0

    async def come(self):
        self.number += 1
        self.desk.check_room()
        visit = await self.desk.come_in(f"p{self.number}", platform="plain")
        await self.desk.settle(visit)
        return visit

    async def says(self, visit, place, top="deer"):
        self.number += 1
        said = ResponseRow(
            key=f"k{self.number}", person=visit.row.id, place=place.place, item=place.item, kind=place.kind,
            answer={"mode": "top1", "top": top, "top_percent": 90},
            received_at=self.now,
        )  # fmt: skip
        return await self.desk.answer(visit, place, said)

    async def says_all(self, visit, most=10**6):
        for place in visit.open_places()[:most]:
            await self.says(visit, place)

    def pass_minutes(self, minutes):
        self.now += minutes * MINUTE
        self.desk.look()


@pytest.fixture
def simulate(tmp_path, unflushed):
    stores = []

    def opens(folder):
        from sfumato.collect.sqlite_store import SqliteStore

        stores.append(SqliteStore(folder / "study.sqlite", serving=True))
        return stores[-1]

    yield lambda n_items, **changes: Simulation(opens, tmp_path, n_items, **changes)
    for store in stores:
        store.close()


@pytest.mark.parametrize("seed", range(4))
def test_a_study_with_people_who_leave_and_come_back_ends_even(simulate, seed):
    async def study():
        this = simulate(13, size=5, panel=3)
        random, away, n_people = Random(seed), [], 0
        while True:
            try:
                visit = await this.come()
            except Stop:
                this.pass_minutes(31)
                try:
                    visit = await this.come()
                except Stop:
                    break
            n_people += 1
            assert n_people < 200
            fate = random.random()
            if fate < 0.4:
                await this.says_all(visit, random.randrange(3))
                away.append(visit)
                this.pass_minutes(random.choice((1, 40)))
            else:
                await this.says_all(visit)
                assert await this.desk.hand_in(visit)
            if away and random.random() < 0.5:
                back = away.pop(0)
                try:
                    await this.desk.settle(back)
                except Stop:
                    continue
                this.desk.alive(back)
                await this.says_all(back)
        usable = this.store.usable()
        assert sorted(usable) == sorted(f"i{n}" for n in range(13))
        assert min(usable.values()) >= 3
        assert max(usable.values()) - min(usable.values()) <= 1
        assert all(this.desk.assignment.level(item) == count for item, count in usable.items())

    asyncio.run(study())


def test_what_is_memorised_is_what_the_file_says_after_a_restart(simulate, tmp_path):
    async def before():
        this = simulate(9, size=4, panel=2)
        for most in (4, 2, 0, 3):
            await this.says_all(await this.come(), most)
        this.pass_minutes(31)
        await this.says_all(await this.come(), 1)
        return this

    this = asyncio.run(before())
    levels = {item: this.desk.assignment.level(item) for item in this.desk.items}
    again = Desk(this.study, this.store, read_secrets(tmp_path), clock=lambda: this.now)
    assert {item: again.assignment.level(item) for item in again.items} == levels


def test_a_late_answer_is_kept_as_surplus_and_does_not_count(simulate):
    async def study():
        this = simulate(2, size=2, panel=1)
        first = await this.come()
        places = first.open_places()
        this.pass_minutes(31)
        assert first.row.state == "released"
        second = await this.come()
        await this.says_all(second)
        assert await this.desk.hand_in(second)
        receipt = await this.says(first, places[0])
        assert receipt.new
        assert receipt.row.surplus
        assert this.store.usable() == {"i0": 1, "i1": 1}
        assert len(list(this.store.responses())) == 3

    asyncio.run(study())


def test_who_comes_back_gets_what_is_still_wanted(simulate):
    async def study():
        this = simulate(4, size=4, panel=1)
        first = await this.come()
        await this.says_all(first, 1)
        this.pass_minutes(31)
        await this.desk.settle(first)
        assert first.row.state == "working"
        assert len(first.open_places()) == 3
        await this.says_all(first)
        assert await this.desk.hand_in(first)
        assert this.store.usable() == {f"i{n}": 1 for n in range(4)}

    asyncio.run(study())


def test_a_sign_of_life_keeps_the_places(simulate):
    async def study():
        this = simulate(4, size=4, panel=1)
        visit = await this.come()
        for _ in range(5):
            this.pass_minutes(20)
            this.desk.alive(visit)
        assert visit.row.state == "working"
        this.pass_minutes(31)
        assert visit.row.state == "released"

    asyncio.run(study())


def test_items_of_who_is_left_out_are_asked_again(simulate):
    async def study():
        this = simulate(4, size=4, panel=1)
        visit = await this.come()
        await this.says_all(visit)
        assert await this.desk.hand_in(visit)
        with pytest.raises(Stop, match="closed"):
            await this.come()
        this.store.add_exclusion_run({}, [Verdict(visit.row.id, True, False)], this.now).result()
        this.desk.look()
        assert len((await this.come()).open_places()) == 4

    asyncio.run(study())


def test_a_longer_study_takes_more_people(simulate):
    async def study():
        this = simulate(2, size=2, panel=1)
        await this.says_all(await this.come())
        with pytest.raises(Stop, match="full"):
            await this.come()
        this.store.extend(2).result()
        this.desk.look()
        assert len((await this.come()).open_places()) == 2

    asyncio.run(study())


def test_two_tabs_that_open_the_study_at_once_get_one_batch(simulate):
    async def study():
        this = simulate(8, size=4, panel=1)
        visit = await this.desk.come_in("ann", platform="plain")
        await asyncio.gather(this.desk.settle(visit), this.desk.settle(visit))
        assert len(this.store.places("ann")) == 4

    asyncio.run(study())


def test_an_active_study_asks_most_about_what_divides_people_and_ends_when_it_has_settled(simulate, tmp_path):
    async def study():
        this = simulate(6, size=2, panel=40, assignment=Settings(strategy="active", settle=0.06))
        random, n_people = Random(3), 0
        while True:
            try:
                visit = await this.come()
            except Stop:
                break
            n_people += 1
            assert n_people < 120
            for place in visit.open_places():
                await this.says(visit, place, random.choice(("deer", "dog")) if place.item == "i0" else "horse")
            assert await this.desk.hand_in(visit)
        usable = this.store.usable()
        assert usable["i0"] == max(usable.values())
        assert usable["i0"] > 1.5 * max(count for item, count in usable.items() if item != "i0")
        assert max(usable.values()) < 40
        again = Desk(this.study, this.store, read_secrets(tmp_path), clock=lambda: this.now)
        assert not any(again.assignment.wants(item) for item in again.items)

    asyncio.run(study())


def test_an_arrival_costs_the_same_with_a_hundred_thousand_items():
    """Counted in items looked at, not in time: a draw touches the lists it draws from, never all items."""
    looked_at = 0

    class Counted(str):
        __slots__ = ()

        def __hash__(self):
            nonlocal looked_at
            looked_at += 1
            return str.__hash__(self)

    items = [Counted(f"i{n}") for n in range(100_000)]
    assignment = Assignment(study_of(25, 3), items)
    random = Random(0)
    looked_at = 0
    for _ in range(20):
        assignment.hold(assignment.choose(random)[1])
    assert looked_at < 20 * 25 * 10
