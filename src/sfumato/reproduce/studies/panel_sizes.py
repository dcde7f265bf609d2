"""Where is the next annotator best asked? Panels of one size against panels that grow where the label is unsure.

The open question of Collins et al. (2022): how many annotators an item needs. Half of each item's annotations are put
aside as the people to come; from the others, both policies buy the same number of annotations. Each soft label is the
mean of a Dirichlet: the votes, with a prior that is fitted to the first two votes of all items. The active policy gives
each item two, and then asks where one more takes the most off the expected squared error of the label: with a prior of
s votes, n votes and the mean p that error is Σ_k p_k (1 − p_k) / (s + n + 1).
"""

from __future__ import annotations

__all__ = ["PanelSizes", "Setting", "data_of", "measure", "seconds_of"]

import heapq
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from sfumato.core.annotations import Annotations
from sfumato.core.seeds import spawn
from sfumato.core.simplex import jensen_shannon_divergence, normalise
from sfumato.errors import InputError, OptionError
from sfumato.evaluate.bootstrap import bootstrap_interval
from sfumato.reproduce.gains import Compared, gains
from sfumato.reproduce.outcome import Measured, Outcome
from sfumato.reproduce.sources import judged, without_folder

Floats = NDArray[np.float64]

_START = 2
# How many votes the prior may count for.
_STRENGTHS = np.geomspace(0.05, 50, 60)


@dataclass(frozen=True)
class PanelSizes:
    """Whose annotations, and how many of them are bought for an item in the mean.

    ``data`` is the name of a public set, with its ``options``, or a file of votes; ``gold`` a file of references.
    Items with fewer than ``least`` annotations are left out. ``sizes`` are the annotations per item, at most half of
    ``least``; ``repeats`` is in how many random orders people are asked, ``items`` on how many items (0: all).
    """

    data: str = field(default="rte", metadata={"path": True})
    options: Mapping[str, Any] = field(default_factory=dict)
    gold: str = field(default="", metadata={"path": True})
    on: str = ""
    least: int = 10
    sizes: tuple[int, ...] = (3, 4, 5)
    repeats: int = field(default=20, metadata={"size": True})
    items: int = field(default=0, metadata={"size": True})


Setting = PanelSizes


@dataclass(frozen=True, eq=False)
class _Orders:
    """Labels in the order in which people would be asked, shape (n_items, n_asked); −1 where there is none left."""

    labels: NDArray[np.int64]
    people: Floats
    n_classes: int

    def counts(self, taken: NDArray[np.int64]) -> Floats:
        """Return the counts of the first *taken* labels of each item, shape (n_items, n_classes)."""
        within = (np.arange(self.labels.shape[1]) < taken[:, None]) & (self.labels >= 0)
        item, place = np.nonzero(within)
        cells = item * self.n_classes + self.labels[item, place]
        size = len(self.labels) * self.n_classes
        return np.bincount(cells, minlength=size).reshape(-1, self.n_classes).astype(np.float64)


def measure(setting: PanelSizes, *, seed: int = 0, device: str = "cpu") -> Outcome:
    """Return how far the soft labels of both policies are from other people's, at the same price."""
    votes, gold = judged(setting.data, setting.options, gold=setting.gold)
    if not votes.is_hard:
        raise InputError(f"{setting.data} holds soft annotations; panels are drawn here of votes.")
    if min(setting.sizes) < _START or 2 * max(setting.sizes) > setting.least:
        raise OptionError(f"The 'sizes' must lie between {_START} and half of 'least', which is {setting.least}.")
    chosen = np.flatnonzero(votes.per_item() >= setting.least)[: setting.items or None]
    if not len(chosen):
        raise InputError(f"No item of {setting.data} has {setting.least} annotations.")
    truth = None if gold is None else gold.aligned(votes.items, votes.classes)[chosen]
    rows = [f"{policy}, {size} per item" for size in setting.sizes for policy in ("Shares", "Fixed", "Active")]
    squared, apart, right = ({row: np.zeros(len(chosen)) for row in rows} for _ in range(3))
    for rng in spawn(seed, setting.repeats):
        orders = _ordered(votes, chosen, rng)
        prior = _prior(orders.counts(np.full(len(chosen), _START)))
        active = _bought(orders, prior, setting.sizes)
        for size in setting.sizes:
            fixed = orders.counts(np.full(len(chosen), size))
            made = {"Shares": fixed, "Fixed": fixed + prior, "Active": orders.counts(active[size]) + prior}
            for policy, counts in made.items():
                row = f"{policy}, {size} per item"
                probs = normalise(counts)
                squared[row] += ((probs - orders.people) ** 2).sum(axis=1) / setting.repeats
                apart[row] += jensen_shannon_divergence(probs, orders.people) / setting.repeats
                if truth is not None:
                    right[row] += (probs.argmax(axis=1) == truth) / setting.repeats
    on = setting.on or without_folder(setting.data)
    numbers = [Measured("annotations_per_item", float(size), on, row) for size, row in _sized(setting, rows)]
    pairs = [(f"Active, {size} per item", f"Fixed, {size} per item") for size in setting.sizes]
    for metric, values in (("squared_error", squared), ("jensen_shannon_divergence", apart)):
        numbers += [_mean(metric, values[row], on, row) for row in rows]
        compared = [Compared(metric, on, a, values[a], values[b]) for a, b in pairs]
        numbers += gains(compared, higher_is_better=False, seed=seed)
    if truth is not None:
        known = truth >= 0
        numbers += [_mean("accuracy_score", right[row][known], on, row) for row in rows]
        numbers += gains(
            [Compared("accuracy_score", on, a, right[a][known], right[b][known]) for a, b in pairs],
            higher_is_better=True, seed=seed,
        )  # fmt: skip
    return Outcome(tuple(numbers))


def _sized(setting: PanelSizes, rows: list[str]) -> list[tuple[int, str]]:
    return [(size, row) for size in setting.sizes for row in rows if row.endswith(f", {size} per item")]


def _ordered(votes: Annotations, chosen: NDArray[np.intp], rng: np.random.Generator) -> _Orders:
    """Return half of each item's labels in a random order, and the shares of the other half."""
    draw = rng.random(len(votes.item))
    order = np.lexsort((draw, votes.item))
    starts = votes.offsets[chosen]
    per_item = votes.per_item()[chosen]
    asked = per_item // 2
    labels = np.full((len(chosen), int(asked.max())), -1, dtype=np.int64)
    people = np.zeros((len(chosen), votes.n_classes))
    for row, (start, n, half) in enumerate(zip(starts, per_item, asked, strict=True)):
        said = votes.label[order[start : start + n]]
        labels[row, :half] = said[:half]
        people[row] = np.bincount(said[half:], minlength=votes.n_classes)
    return _Orders(labels, normalise(people).astype(np.float64), votes.n_classes)


def _prior(counts: Floats) -> Floats:
    """Return the Dirichlet prior, shape (n_classes,), under which the first votes of all items are most likely.

    Its mean are the shares of all votes together; its strength is the likeliest of a grid (Dirichlet-multinomial).
    """
    mean = (counts.sum(axis=0) + 0.5) / (counts.sum() + 0.5 * counts.shape[1])
    n = counts.sum(axis=1)

    def likelihood(strength: float) -> float:
        alpha = strength * mean
        rows = gammaln(strength) - gammaln(strength + n) + (gammaln(counts + alpha) - gammaln(alpha)).sum(axis=1)
        return float(rows.sum())

    return np.asarray(mean * max(_STRENGTHS, key=likelihood))


def _bought(orders: _Orders, prior: Floats, sizes: tuple[int, ...]) -> dict[int, NDArray[np.int64]]:
    """Return how many annotations each item has when the budget of each size is spent where it helps most."""
    n_items = len(orders.labels)
    left = (orders.labels >= 0).sum(axis=1)
    taken = np.minimum(left, _START)
    counts = orders.counts(taken) + prior
    queue = [(-_gain(counts[row]), row) for row in range(n_items) if taken[row] < left[row]]
    heapq.heapify(queue)
    found = {}
    for size in sorted(sizes):
        budget = size * n_items - int(taken.sum())
        while budget > 0 and queue:
            _, row = heapq.heappop(queue)
            counts[row, orders.labels[row, taken[row]]] += 1
            taken[row] += 1
            budget -= 1
            if taken[row] < left[row]:
                heapq.heappush(queue, (-_gain(counts[row]), row))
        found[size] = taken.copy()
    return found


def _gain(counts: Floats) -> float:
    """Return by how much one more vote lowers the expected squared error; *counts* are votes and prior."""
    n = float(counts.sum())
    shares = counts / n
    # Σ p (1 − p) / (n + 1) before, and n / (n + 1) of it after one more vote, whatever it says.
    return float(1 - shares @ shares) / (n + 1) ** 2


def _mean(metric: str, values: Floats, on: str, row: str) -> Measured:
    found = bootstrap_interval(values)
    return Measured(metric, found.value, on, row, found.low, found.high, len(values))


def data_of(setting: PanelSizes) -> tuple[str, ...]:
    """Return what is read."""
    return tuple(filter(None, (setting.data, setting.gold)))


def seconds_of(setting: PanelSizes) -> float:
    """Return about how long a run takes."""
    return 1.0 + setting.repeats * (2e-5 * (setting.items or 2000) * max(setting.sizes))
