"""The front desk of a study: who comes in, what they are given, what they say, and when places are given back.

Everything here is the study itself, without the web: the pages and the JSON of `participant.py` and `api.py` ask it.
All of it runs in one event loop; what is written is awaited until it is safe on disk.
"""

from __future__ import annotations

__all__ = ["Desk", "Stop"]

import asyncio
import contextlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from random import Random
from typing import TYPE_CHECKING, Any

from sfumato.collect.allocation import read_allocation
from sfumato.collect.answers import spelt
from sfumato.collect.assignment import Assignment
from sfumato.collect.items import Item, asked_of, item_of, read_items
from sfumato.collect.secret_file import Secrets
from sfumato.collect.store import (
    Contact,
    DraftRow,
    ExitRow,
    PersonRow,
    PlaceRow,
    Receipt,
    ResponseRow,
    Step,
    Store,
    StudyState,
    response_of,
)
from sfumato.collect.study import Check, Study
from sfumato.collect.visits import Visit, Visits

if TYPE_CHECKING:
    from sfumato.collect.redistribution import Redistribution

_MINUTE = 60_000


class Stop(Exception):
    """The person cannot go on now: the study is paused, closed, or every place is taken."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Desk:
    """One study that is open. *clock* tells the time in milliseconds since 1970."""

    def __init__(self, study: Study, store: Store, secrets: Secrets, *, clock: Callable[[], int] | None = None) -> None:
        self.study, self.store, self.secrets = study, store, secrets
        self.now: Callable[[], int] = clock or (lambda: time.time_ns() // 1_000_000)
        self.items = read_items(study.items, folder=study.folder)
        kind = next(iter(self.items.values())).kind

        def find(told: str) -> Item:
            return item_of(told, self.items, folder=study.folder, kind=kind)

        self.practice: tuple[Item, ...] = tuple(find(each.item) for each in study.practice)
        self.examples: dict[str, Item] = {each.name: find(each.example) for each in study.classes if each.example}
        self.checks: dict[str, Check] = {find(each.item).id: each for each in study.checks}
        self._check_items = {item.id: item for item in (find(each.item) for each in study.checks)}
        asked = asked_of(study, self.items)
        allocation = None
        if study.batches.allocation:
            explained = self.items.keys() - asked.keys()
            allocation = read_allocation(study.folder / study.batches.allocation, asked, explained=explained)
        self.assignment = Assignment(study, list(asked), allocation=allocation)
        self.visits = Visits(store)
        self.state: StudyState = "open"
        self._working: dict[str, int] = {}
        self._version = -1
        self._n_assigned = sum(each.assigned_at is not None for each in store.people())
        self._started = self.now()
        self.finished_since_exclusions = False
        self.look()

    @cached_property
    def _rule(self) -> Redistribution:
        from sfumato.collect.redistribution import redistribution_of

        return redistribution_of(self.study)

    def shown_items(self) -> list[Item]:
        """Return every item that a page may show."""
        return [*self.items.values(), *self._check_items.values(), *self.practice, *self.examples.values()]

    def item(self, name: str) -> Item:
        """Return an item that stands at a place."""
        found = self.items.get(name) or self._check_items.get(name)
        if found is None:
            # The study was changed while people were at it; what they said stays, what is shown cannot.
            return Item(id=name, kind="text", text="—")
        return found

    # What others change in the file, and what time does.

    def look(self) -> None:
        """Take over what commands beside the server changed, and give back the places of people who left."""
        version = self.store.version
        if version != self._version:
            self._version = version
            self._read_again()
        lease = self.study.assignment.lease_minutes * _MINUTE
        now = self.now()
        for person in [person for person, seen in self._working.items() if now - seen > lease]:
            self._release(person, now)

    def _read_again(self) -> None:
        store = self.store
        self.state = store.state()
        self.visits.read_again()
        seen = {row.id: max(row.seen_at, self._started, self._working.get(row.id, 0)) for row in store.working()}
        self._working = seen
        people_on = store.usable_batches()
        for row in store.working():
            visit = self.visits.of(row.id) if row.batch else None
            if visit is not None and (batch := visit.batch()):
                people_on[batch] = people_on.get(batch, 0) + 1
        self.assignment.load(
            panel=store.panel() or self.study.batches.panel,
            usable=store.usable(),
            held=[each.item for each in store.open_places()],
            people_on=people_on,
            labels=self._labels() if self.assignment.follows_labels else None,
        )

    def _labels(self) -> dict[str, list[Mapping[str, float]]]:
        left_out = self.store.left_out()
        labels: dict[str, list[Mapping[str, float]]] = {}
        for row in self.store.responses():
            if row.kind == "main" and not row.surplus and row.person not in left_out:
                labels.setdefault(row.item, []).append(self._label(row))
        return labels

    def _label(self, row: ResponseRow) -> dict[str, float]:
        names = self.study.class_names
        probs = self._rule.label(response_of(row), names).tolist()
        return {name: share for name, share in zip(names, probs, strict=True) if share > 0}

    def _release(self, person: str, at: int) -> None:
        self._working.pop(person, None)
        visit = self.visits.of(person)
        if visit is None or visit.row.state != "working":
            return
        visit.row = replace(visit.row, released_at=at)
        self.assignment.give_back([each.item for each in visit.open_places()], batch=visit.batch())
        self.store.mark(person, "released", at)

    # People.

    async def come_in(self, person: str, *, platform: str, visitor: str = "", contact: Contact | None = None) -> Visit:
        """Add somebody who takes part, or find them where they have come before under the same *visitor*.

        Where the study asks for consent they have given it; of others nobody may say so.
        """
        now = self.now()
        asked = now if self.study.consent.text else None
        row = PersonRow(id=person, platform=platform, visitor=visitor, arrived_at=now, seen_at=now, consented_at=asked)
        added = await asyncio.wrap_future(self.store.add_person(row, contact))
        visit = self.visits.of(added.id)
        assert visit is not None  # noqa: S101  # it was written just now
        return visit

    def check_room(self) -> None:
        """Tell somebody new at the door, not after they have read and practised, that there is nothing to do."""
        if self.state != "open":
            raise Stop(self.state)
        if not self.assignment.has_room():
            raise Stop("full" if self._working else "closed")

    def alive(self, visit: Visit) -> None:
        """Note a sign of life."""
        if visit.row.id in self._working:
            self._working[visit.row.id] = self.now()

    async def step(self, visit: Visit, step: Step) -> None:
        """Note that somebody took a step; the first time counts."""
        if getattr(visit.row, f"{step}_at") is None:
            now = self.now()
            await asyncio.wrap_future(self.store.mark(visit.row.id, step, now))
            changed: dict[str, Any] = {f"{step}_at": now}
            visit.row = replace(visit.row, **changed)

    async def wrong_try(self, visit: Visit) -> None:
        """Count a wrong answer to the comprehension check; too many of them and the person is screened out."""
        tries = await asyncio.wrap_future(self.store.count_try(visit.row.id))
        visit.row = replace(visit.row, tries=tries)
        if 0 < self.study.instructions.attempts <= tries:
            await self.step(visit, "screened")

    def next_page(self, visit: Visit) -> str:
        """Return the page that a person is to see now."""
        row, study = visit.row, self.study
        if row.screened_at is not None:
            return "/screened"
        if row.done_at is not None:
            return "/done"
        if row.finished_at is not None:
            return "/exit"
        if row.instructed_at is None and self.has_instructions:
            return "/instructions"
        if row.practised_at is None and study.practice:
            return "/practice"
        if row.assigned_at is None or visit.first_open() is not None:
            return "/item"
        return "/finish"

    @property
    def has_instructions(self) -> bool:
        """Whether there is anything to read before the items."""
        told = self.study.instructions
        return bool(told.text or told.quiz or any(each.description or each.example for each in self.study.classes))

    def class_order(self, visit: Visit) -> tuple[int, ...]:
        """Return the order of the classes for a person: shuffled once, and the same ever after."""
        if not visit.class_order:
            order = list(range(len(self.study.classes)))
            if self.study.shuffle_classes:
                Random(f"{self.study.seed}\0classes\0{visit.row.id}").shuffle(order)
            visit.class_order = tuple(order)
        return visit.class_order

    # Places.

    async def settle(self, visit: Visit) -> None:
        """See to it that a person who is at the items has places: the first ones, or again after they had left."""
        row = visit.row
        if row.finished_at is not None or (row.assigned_at is not None and row.released_at is None):
            return
        async with visit.lock:
            if visit.row.assigned_at is None:
                await self._assign(visit)
            elif visit.row.released_at is not None and visit.row.finished_at is None:
                await self._take_back(visit)

    async def _assign(self, visit: Visit) -> None:
        self.check_room()
        random = Random(f"{self.study.seed}\0batch\0{self._n_assigned}")
        batch, items = self.assignment.choose(random)
        self._n_assigned += 1
        places = self._lay_out(random, visit.row.id, items, first=1)
        await self._give(visit, places, held=items, lapsed=(), batch=batch)

    async def _take_back(self, visit: Visit) -> None:
        """Give somebody who comes back what is still wanted of their places, and others for the rest."""
        row, every = visit.row, visit.places.values()
        unanswered = [each for each in every if not visit.revision(each)]
        if row.batch:
            kept = {each.place for each in unanswered if self.assignment.batch_has_room(row.batch)}
        else:
            kept = {each.place for each in unanswered if each.kind == "main" and self.assignment.wants(each.item)}
        items = {each.item for each in every if each.place in kept or visit.revision(each)}
        if not row.batch:
            kept |= {each.place for each in unanswered if each.kind == "check" or each.item in items}
        held = [each.item for each in unanswered if each.kind == "main" and each.place in kept]
        more: list[str] = []
        mains = [each for each in every if each.kind == "main"]
        missing = min(self.study.batches.size, len(mains)) - sum(each.item in items for each in mains)
        if not row.batch and missing > 0 and self.state == "open":
            random = Random(f"{self.study.seed}\0more\0{row.id}\0{len(every)}")
            _, more = self.assignment.choose(random, had={each.item for each in every}, most=missing)
        if not items and not more:
            raise Stop("full")
        lapsed = [each.place for each in unanswered if each.place not in kept]
        first = max(visit.places, default=0) + 1
        places = [PlaceRow(row.id, number, item) for number, item in enumerate(more, start=first)]
        await self._give(visit, places, held=[*held, *more], lapsed=lapsed, batch=row.batch)

    async def _give(
        self, visit: Visit, places: Sequence[PlaceRow], *, held: Sequence[str], lapsed: Sequence[int], batch: str
    ) -> None:
        person, now = visit.row.id, self.now()
        # Held before it is written, since others may come while it is. A batch that was given away in part is nobody's.
        on_batch = "" if lapsed else batch
        self.assignment.hold(held, batch=on_batch)
        try:
            await asyncio.wrap_future(self.store.add_places(person, places, lapsed=lapsed, batch=batch, at=now))
        except BaseException:
            self.assignment.give_back(held, batch=on_batch)
            raise
        self._working[person] = now
        gone = frozenset(lapsed)
        visit.places = {number: replace(each, lapsed=number in gone) for number, each in visit.places.items()} | {
            each.place: each for each in places
        }
        visit.row = replace(
            visit.row, batch=batch, released_at=None, assigned_at=visit.row.assigned_at or now, seen_at=now
        )

    def _lay_out(self, random: Random, person: str, items: Sequence[str], *, first: int) -> list[PlaceRow]:
        """Return the places of a batch: attention checks between the items, repeats at the end."""
        batches = self.study.batches
        line = [PlaceRow(person, 0, item) for item in items]
        repeats = random.sample(list(items), min(batches.repeats, len(items)))
        if len(repeats) > 1 and repeats[0] == items[-1]:
            repeats.append(repeats.pop(0))
        line += [PlaceRow(person, 0, item, "repeat") for item in repeats]
        for check in random.sample(list(self.checks), min(batches.checks_per_batch, len(self.checks))):
            line.insert(random.randint(min(1, len(line)), len(line)), PlaceRow(person, 0, check, "check"))
        return [replace(each, place=number) for number, each in enumerate(line, start=first)]

    # What they say.

    async def answer(self, visit: Visit, place: PlaceRow, said: ResponseRow) -> Receipt:
        """Store an answer; it comes back when it is safe on disk. An answer that was stored before is not stored again.

        An answer to a place that was given to somebody else is kept as well, as surplus.
        """
        if visit.row.released_at is not None:
            # Nothing is wanted of them any more: what they say is kept all the same.
            with contextlib.suppress(Stop):
                await self.settle(visit)
            place = visit.places.get(place.place, place)
        self.alive(visit)
        surplus = place.kind != "practice" and (place.lapsed or visit.row.released_at is not None)
        counts = place.kind == "main" and not surplus and not visit.revision(place)
        if counts:
            visit.pending.add(place.place)
        try:
            receipt = await asyncio.wrap_future(self.store.add_response(replace(said, surplus=surplus)))
        except BaseException:
            if counts and visit.row.released_at is not None:
                self.assignment.give_back([place.item])
            raise
        finally:
            if counts:
                visit.pending.discard(place.place)
        row = receipt.row
        if not receipt.new:
            return receipt
        visit.answered(place, row.revision)
        if place.kind == "main" and row.revision == 1 and not surplus:
            label = self._label(row) if self.assignment.follows_labels else None
            self.assignment.answered(place.item, label)
        return receipt

    async def save_draft(self, draft: DraftRow) -> None:
        """Keep a half-filled item."""
        await asyncio.wrap_future(self.store.save_draft(draft, self.now()))

    def unkept(self, visit: Visit, number: int | None = None) -> list[int]:
        """Return the places whose answer was changed and not confirmed; of one *number*, or of all."""
        found = []
        for draft in self.store.drafts(visit.row.id):
            place = visit.places.get(draft.place)
            if place is None or place.kind != draft.kind or number not in (None, draft.place):
                continue
            answer = self.store.response(visit.row.id, place.kind, place.place)
            if answer is not None and spelt(draft.answer) != spelt(answer.answer):
                found.append(draft.place)
        return sorted(found)

    async def hand_in(self, visit: Visit) -> bool:
        """Note that a person is through with the items; False where places are open, or changed and not confirmed."""
        async with visit.lock:
            if visit.row.assigned_at is None or visit.first_open() is not None:
                return False
            if visit.row.finished_at is None and self.unkept(visit):
                return False
            if visit.row.finished_at is None:
                await self.step(visit, "finished")
                self._working.pop(visit.row.id, None)
                self.finished_since_exclusions = True
                if not self.study.exit.questions:
                    await self.step(visit, "done")
        return True

    async def leave(self, visit: Visit, answers: Sequence[ExitRow]) -> None:
        """Store the answers to the questions at the end."""
        await asyncio.wrap_future(self.store.add_exit(answers))
        await self.step(visit, "done")
