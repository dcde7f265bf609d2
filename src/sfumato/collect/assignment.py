"""Who is asked about which items next.

An item's *level* is the number of its usable answers and of the places that people at work hold on it. The balanced
strategy gives the items of the lowest level, so that the levels differ by one at most as long as there are items for
everybody, and nobody is asked about an item whose panel is full. The active one gives the items whose soft label one
more answer would change most.
"""

from __future__ import annotations

__all__ = ["Assignment", "expected_change"]

import heapq
from collections.abc import Collection, Iterable, Mapping, Sequence
from random import Random

from sfumato.collect.study import Study


class Assignment:
    """The levels of all items, kept up while people come, answer and leave; all in memory, made anew at each start.

    With an allocation file the same is done with whole batches.
    """

    def __init__(
        self, study: Study, items: Sequence[str], *, allocation: Mapping[str, tuple[str, ...]] | None = None
    ) -> None:
        self._size, self._active = study.batches.size, study.assignment.strategy == "active"
        self._settle = study.assignment.settle
        self._n_classes = len(study.classes)
        self._batches = dict(allocation or {})
        self._people_on: dict[str, int] = dict.fromkeys(self._batches, 0)
        self._items = list(items)
        self._panel = study.batches.panel
        self.load(panel=self._panel)

    def load(
        self,
        *,
        panel: int,
        usable: Mapping[str, int] | None = None,
        held: Iterable[str] = (),
        people_on: Mapping[str, int] | None = None,
        labels: Mapping[str, Sequence[Mapping[str, float]]] | None = None,
    ) -> None:
        """Take over what the study file says; *held* names an item once for each place that is held.

        *people_on* counts the people who finished a batch of the allocation file or are at it; *labels* are the soft
        labels of each item's answers so far, for the active strategy.
        """
        self._panel = panel
        self._levels = _Levels(self._items)
        for item, count in (usable or {}).items():
            self._levels.add(item, count)
        for item in held:
            self._levels.add(item, 1)
        self._people_on |= {name: count for name, count in (people_on or {}).items() if name in self._batches}
        self._change: dict[str, float] = {}
        self._labels: dict[str, list[Mapping[str, float]]] = {}
        if self._active:
            for item in self._items:
                self._labels[item] = list((labels or {}).get(item, ()))
                self._change[item] = expected_change(self._labels[item], self._n_classes)

    @property
    def panel(self) -> int:
        """How many people each item is to have."""
        return self._panel

    @property
    def follows_labels(self) -> bool:
        """Whether the soft labels of the answers play a part."""
        return self._active

    def level(self, item: str) -> int:
        """Return how many usable answers and held places an item has."""
        return self._levels.of(item)

    def wants(self, item: str) -> bool:
        """Return whether one more person is to be asked about an item."""
        settled = self._active and self._settled(item)
        return self._levels.of(item) < self._panel and not settled

    def has_room(self) -> bool:
        """Return whether there is anything to ask the next person."""
        if self._batches:
            return min(self._people_on.values()) < self._panel
        if self._active:
            return any(self.wants(item) for item in self._items)
        return any(self._levels.at(level) for level in range(self._panel))

    def batch_has_room(self, batch: str) -> bool:
        """Return whether one more person is to have a batch of the allocation file."""
        return self._people_on.get(batch, 0) < self._panel

    def choose(self, random: Random, *, had: Collection[str] = (), most: int | None = None) -> tuple[str, list[str]]:
        """Return the batch (of the allocation file, else "") and the items for the next person; [] where none are left.

        *had* are items that this person had before. Where few items want more people, a batch of the usual size is
        filled up with items whose panel is just full.
        """
        if self._batches:
            return self._choose_batch(random, had)
        size = self._size if most is None else most
        chosen = self._most_uncertain(random, had, size) if self._active else self._lowest(random, had, size)
        random.shuffle(chosen)
        return "", chosen

    def hold(self, items: Iterable[str], *, batch: str = "") -> None:
        """Note that somebody holds a place on each of the items."""
        for item in items:
            self._levels.add(item, 1)
        if batch in self._people_on:
            self._people_on[batch] += 1

    def give_back(self, items: Iterable[str], *, batch: str = "") -> None:
        """Note that places were given back that nobody answered."""
        for item in items:
            self._levels.add(item, -1)
        if batch in self._people_on:
            self._people_on[batch] -= 1

    def answered(self, item: str, label: Mapping[str, float] | None = None, *, held: bool = True) -> None:
        """Note a usable answer, its soft label where that plays a part, and whether its place was held."""
        if not held:
            self._levels.add(item, 1)
        if label is not None and item in self._labels:
            self._labels[item].append(label)
            self._change[item] = expected_change(self._labels[item], self._n_classes)

    def _choose_batch(self, random: Random, had: Collection[str]) -> tuple[str, list[str]]:
        least = min(self._people_on.values())
        if least >= self._panel:
            return "", []
        batch = random.choice([name for name, count in self._people_on.items() if count == least])
        items = [item for item in self._batches[batch] if item not in had]
        random.shuffle(items)
        return batch, items

    def _lowest(self, random: Random, had: Collection[str], size: int) -> list[str]:
        chosen: list[str] = []
        for level in range(self._panel + 1):
            if len(chosen) >= size or (level == self._panel and not chosen):
                break
            at_level = self._levels.at(level)
            there = [item for item in at_level if item not in had] if had else at_level
            chosen += random.sample(there, min(size - len(chosen), len(there)))
        return chosen

    def _settled(self, item: str) -> bool:
        return len(self._labels[item]) > 1 and self._change[item] < self._settle

    def _most_uncertain(self, random: Random, had: Collection[str], size: int) -> list[str]:
        # A place that is held will bring an answer, after which the next one changes less.
        ranked = (
            (self._change[item] / (1 + self._levels.of(item) - len(self._labels[item])), random.random(), item)
            for item in self._items
            if item not in had and self.wants(item)
        )
        return [item for _, _, item in heapq.nlargest(size, ranked)]


def expected_change(labels: Sequence[Mapping[str, float]], n_classes: int) -> float:
    """Return by how much one more answer is expected to move an item's mean label, in total variation.

    *labels* are the soft labels of the n answers so far, by class. With one uniform answer counted beforehand the mean
    is m = (u + Σ a) / (n + 1). The next answer is taken to be like one of those, or, with the weight of one, a class
    drawn at random: (Σ TV(a, m) + mean over k of TV(e_k, m)) / (n + 1), and moves the mean by 1 / (n + 2) of that.

    >>> [round(expected_change([{"deer": 1.0}] * n, 10), 3) for n in range(6)]
    [0.45, 0.225, 0.125, 0.079, 0.054, 0.039]
    """
    n = len(labels)
    prior = 1 / n_classes / (n + 1)
    mean: dict[str, float] = {}
    for label in labels:
        for name, share in label.items():
            mean[name] = mean.get(name, 0.0) + share / (n + 1)
    far = 0.0
    for label in labels:
        # What the label lacks of the mean is what it has too much: one side of the difference is enough.
        far += sum(max(0.0, share - mean[name] - prior) for name, share in label.items())
    any_class = 1 - 1 / n_classes
    return (far + any_class) / (n + 1) / (n + 2)


class _Levels:
    """The level of each item, and the items at each level, in lists from which one can draw at random at once."""

    def __init__(self, items: Sequence[str]) -> None:
        self._level = dict.fromkeys(items, 0)
        self._place = {item: place for place, item in enumerate(items)}
        self._at: list[list[str]] = [list(items)]

    def of(self, item: str) -> int:
        return self._level.get(item, 0)

    def at(self, level: int) -> list[str]:
        return self._at[level] if level < len(self._at) else []

    def add(self, item: str, change: int) -> None:
        # An answer may speak of an item that has since been taken out of the study.
        if item not in self._level or change == 0:
            return
        old = self._level[item]
        new = max(0, old + change)
        there = self._at[old]
        last = there.pop()
        if last != item:
            there[self._place[item]] = last
            self._place[last] = self._place[item]
        while len(self._at) <= new:
            self._at.append([])
        self._level[item], self._place[item] = new, len(self._at[new])
        self._at[new].append(item)
