"""What the server keeps in memory of the people who are here; the study file knows all of it and more."""

from __future__ import annotations

__all__ = ["Shown", "Visit", "Visits"]

import asyncio
from collections import OrderedDict
from dataclasses import dataclass
from weakref import WeakValueDictionary

from sfumato.collect.store import PersonRow, PlaceKind, PlaceRow, Store

# People who are here at once and more; whoever is not among them is read again from the file.
_MOST = 1000


@dataclass(frozen=True, slots=True)
class Shown:
    """A place as its person sees it: its number that stays, its position among theirs, how often it was answered."""

    place: int
    position: int
    revision: int

    @property
    def answered(self) -> bool:
        """Whether there is an answer."""
        return self.revision > 0


class Visit:
    """One person: their row, their places, how often each was answered, and which answers are being written now."""

    __slots__ = ("__weakref__", "_places", "_shown", "class_order", "lock", "pending", "revisions", "row")

    def __init__(self, row: PersonRow) -> None:
        self.row = row
        self._places: dict[int, PlaceRow] = {}
        self._shown: list[Shown] | None = None
        self.revisions: dict[tuple[PlaceKind, int], int] = {}
        self.pending: set[int] = set()
        self.class_order: tuple[int, ...] = ()
        # One step at a time: two tabs that open the study at once must not be given two batches.
        self.lock = asyncio.Lock()

    @property
    def places(self) -> dict[int, PlaceRow]:
        """The places by number, in order; set anew as a whole when they change."""
        return self._places

    @places.setter
    def places(self, places: dict[int, PlaceRow]) -> None:
        self._places, self._shown = places, None

    def read(self, store: Store) -> bool:
        """Read everything anew; False where the person is gone from the file."""
        row = store.person(self.row.id)
        if row is None:
            return False
        self.row = row
        self.revisions = store.revisions(row.id)
        self.places = {each.place: each for each in store.places(row.id)}
        return True

    def revision(self, place: PlaceRow) -> int:
        """Return how often a place was answered."""
        return self.revisions.get((place.kind, place.place), 0)

    def answered(self, place: PlaceRow, revision: int) -> None:
        """Note that a place was answered."""
        self.revisions[(place.kind, place.place)] = max(revision, self.revision(place))
        self._shown = None

    def shown(self) -> list[Shown]:
        """Return the places that the person sees: theirs still, or answered before they were given back."""
        if self._shown is None:
            seen = [each for each in self._places.values() if not each.lapsed or self.revision(each)]
            self._shown = [Shown(each.place, n, self.revision(each)) for n, each in enumerate(seen, start=1)]
        return self._shown

    def open_places(self) -> list[PlaceRow]:
        """Return the main places that are held: not given back, not answered, no answer on its way to the file."""
        return [
            each
            for each in self.places.values()
            if each.kind == "main" and not each.lapsed and not self.revision(each) and each.place not in self.pending
        ]

    def batch(self) -> str:
        """Return the batch of the allocation file that this person has whole; "" where parts went to others."""
        return "" if any(each.lapsed for each in self._places.values()) else self.row.batch

    def first_open(self) -> int | None:
        """Return the first place without an answer."""
        return next((each.place for each in self.shown() if not each.answered), None)


class Visits:
    """The visits of one study by person; the same person is the same object for as long as anybody holds it."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._recent: OrderedDict[str, Visit] = OrderedDict()
        self._alive: WeakValueDictionary[str, Visit] = WeakValueDictionary()

    def of(self, person: str) -> Visit | None:
        """Return the visit of a person; None where the file knows nobody of that id."""
        visit = self._alive.get(person)
        if visit is None:
            row = self._store.person(person)
            if row is None:
                return None
            visit = self.add(row)
            visit.read(self._store)
        self._recent[person] = visit
        self._recent.move_to_end(person)
        if len(self._recent) > _MOST:
            self._recent.popitem(last=False)
        return visit

    def add(self, row: PersonRow) -> Visit:
        """Return a visit of somebody new."""
        visit = self._alive[row.id] = Visit(row)
        return visit

    def read_again(self) -> None:
        """Take over what others changed in the file; who is gone from it is forgotten."""
        self._recent.clear()
        for person, visit in list(self._alive.items()):
            if not visit.read(self._store):
                self._alive.pop(person, None)
