"""How many annotators an item needs: soft labels from m of its annotations against those of the whole panel."""

from __future__ import annotations

__all__ = ["panel_size"]

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.aggregate.answers import in_canonical_order
from sfumato.aggregate.methods import VIEWS
from sfumato.core import simplex
from sfumato.core.annotations import Annotations
from sfumato.core.arguments import checked_arguments
from sfumato.core.order_free import on_grid
from sfumato.core.origin import Origin
from sfumato.core.report import Number, Report
from sfumato.core.seeds import Seed, recorded, spawn
from sfumato.errors import InputError, OptionError, check_choice

Floats = NDArray[np.float64]

_LEVEL = 0.95
# Bootstrap samples of the items, over all repeats together.
_RESAMPLES = 1000
# Up to this many annotators every size is tried, above it each is twice the one before (Collins et al., Figure 6).
_EVERY_SIZE = 8
# What the bootstrap draws: items, or above this many random groups of them.
_MOST_UNITS = 10_000
_NAMES = (
    "jensen_shannon_divergence",
    "wasserstein_error",
    "values_wasserstein_error",
    "entropy_correlation_score",
)


@checked_arguments
def panel_size(
    annotations: Annotations,
    *,
    sizes: Sequence[int] | None = None,
    method: str = "standard",
    against: Literal["full", "rest"] = "full",
    repeats: int = 20,
    seconds: ArrayLike | Mapping[tuple[str, str], float] | None = None,
    seed: Seed = 0,
) -> Report:
    """Return how close soft labels from m annotations per item come to those of the panel, for several m.

    In each of *repeats* random orders of every item's annotations, the first m make a soft label by *method* (a view).
    *against* "full" compares it with the soft label of the whole panel, of which the m are a part: at m = n there is no
    difference by construction. "rest" compares it with the annotations that no size uses, those after the first
    max(*sizes*): people who were not asked; what stays as m grows is then the noise of that rest. All sizes are
    compared on the same items: those with at least max(*sizes*) annotations, or for "rest" one more. The default sizes
    are 1, 2, 3, … up to eight annotators and doubled beyond, below the panel that half of the items have (for "rest",
    up to the half of it).

    Numbers, each the mean over the repeats, with n items: the mean over items of the Jensen–Shannon divergence (nats),
    of Σ_k |F_k − G_k| over the distribution functions of the classes in their order, and of (1/K) Σ_k |p_(k) − q_(k)|
    over the sorted probabilities, which is SciPy's Wasserstein distance between the two sets of values; and Pearson's r
    over items between the normalised entropies (nan where all of one side are equal). Intervals are quantiles over
    1,000 draws of one repeat and of items with replacement: where one study with m per item would come out.

    *seconds* adds the cost, the annotator-seconds that m annotations of one item take in the mean. It is one mean per
    annotation, or a mapping from (item, annotator) to the seconds of what the annotator said of the item, or an array
    of shape (n_annotations,) in the order of *annotations*, which are sorted. ``details["curve"]`` holds all of it as
    columns. Compare Figures 6 and 10 of Collins et al. (2022).

    >>> votes = Annotations.from_rows(list("aaaabbbb"), list("wxyz" * 2), list("11221111"))
    >>> report = panel_size(votes, sizes=[1, 2, 4], seconds=3)
    >>> report.details["curve"]["size"], report.details["curve"]["seconds_per_item"]
    ([1, 2, 4], [3.0, 6.0, 12.0])
    >>> round(report["jensen_shannon_divergence", "1 per item"].value, 3)
    0.108
    """
    check_choice(method, VIEWS, option="method")
    check_choice(against, ("full", "rest"), option="against")
    if repeats < 1:
        raise OptionError(f"The option 'repeats' must be 1 or more. Got {repeats} instead.")
    ordered = in_canonical_order(annotations)
    chosen = _sizes(ordered.per_item(), sizes, against)
    most = chosen[-1]
    taken = ordered.per_item() >= most + (against == "rest")
    if not taken.any():
        raise InputError(
            f"No item has {most + (against == 'rest')} annotations, which {most} against the {against} needs; the "
            f"largest panel has {ordered.per_item().max(initial=0)}. Ask for smaller sizes."
        )
    panels = _Panels.of(ordered, taken, method)
    found: list[list[Floats]] = []
    drawn: list[list[Floats]] = []
    for rng in spawn(seed, repeats):
        place = panels.shuffled_places(rng)
        reference = panels.labels(place >= (most if against == "rest" else 0))
        sums = [_sums(panels.labels(place < size), reference) for size in chosen]
        found.append([_statistics(each.sum(axis=0)) for each in sums])
        drawn.extend(_resampled(sums, rng, -(-_RESAMPLES // repeats)))
    return _report(
        chosen,
        np.array(found).mean(axis=0),
        np.array(drawn),
        int(taken.sum()),
        _mean_seconds(annotations, ordered, taken, seconds),
        Origin(
            "panel_size",
            {"sizes": chosen, "method": method, "against": against, "repeats": repeats},
            recorded(seed),
            annotations.fingerprint,
        ),
    )


@dataclass(frozen=True, eq=False)
class _Panels:
    """The annotations of the items that are compared, and what makes soft labels of a part of them."""

    annotations: Annotations
    taken: NDArray[np.bool_]
    method: str
    # The item of each annotation, the annotation of each row, and the row's cell in (items, classes).
    item: NDArray[np.int32]
    annotation: NDArray[np.int64]
    cell: NDArray[np.int64]

    @classmethod
    def of(cls, annotations: Annotations, taken: NDArray[np.bool_], method: str) -> _Panels:
        annotations = annotations.take_annotations(taken[annotations.item[annotations.starts[:-1]]])
        annotation = np.repeat(np.arange(annotations.n_annotations), np.diff(annotations.starts))
        cell = annotations.item.astype(np.int64) * annotations.n_classes + annotations.label
        return cls(annotations, taken, method, annotations.item[annotations.starts[:-1]], annotation, cell)

    def shuffled_places(self, rng: np.random.Generator) -> NDArray[np.int64]:
        """Return the place of each annotation, from 0, in a random order of its item's annotations."""
        order = np.lexsort((rng.random(len(self.item)), self.item))
        first = np.searchsorted(self.item, self.item)  # the items are sorted, and stay so
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order)) - first
        return place

    def labels(self, chosen: NDArray[np.bool_]) -> Floats:
        """Return the soft labels of the compared items from the chosen annotations alone, shape (n, n_classes)."""
        said = self.annotations
        if self.method != "standard":
            soft = VIEWS[self.method](said.take_annotations(chosen)).soft_labels
            return soft.probs[self.taken].astype(np.float64)
        # Shares of votes, straight from the rows: building annotations would cost more than all the rest.
        rows = chosen[self.annotation]
        size = said.n_items * said.n_classes
        counts = np.bincount(self.cell[rows], weights=None if said.is_hard else said.weight[rows], minlength=size)
        return np.asarray(simplex.normalise(counts.reshape(said.n_items, -1)[self.taken]), dtype=np.float64)


def _sizes(per_item: NDArray[np.int64], sizes: Sequence[int] | None, against: str) -> list[int]:
    if sizes is not None:
        if not len(sizes) or any(int(size) != size or size < 1 for size in sizes):
            raise OptionError(f"The option 'sizes' must be whole numbers of at least 1. Got {list(sizes)!r} instead.")
        return sorted({int(size) for size in sizes})
    panels = np.sort(per_item[per_item > 0])
    usual = int(panels[(len(panels) - 1) // 2]) if len(panels) else 0
    largest = usual // 2 if against == "rest" else usual - 1
    if largest < 1:
        raise InputError("Half of the items have a single annotation, so there is no panel to take a part of.")
    if largest <= _EVERY_SIZE:
        return list(range(1, largest + 1))
    return [1 << power for power in range(largest.bit_length())]


def _mean_seconds(
    annotations: Annotations,
    ordered: Annotations,
    taken: NDArray[np.bool_],
    seconds: ArrayLike | Mapping[tuple[str, str], float] | None,
) -> float | None:
    """Return what one annotation takes, in the mean over the items that are compared."""
    if seconds is None:
        return None
    if isinstance(seconds, Mapping):
        seconds = _by_annotation(annotations, seconds)
    given = np.asarray(seconds, dtype=np.float64)
    if given.shape not in ((), (annotations.n_annotations,)) or not (np.isfinite(given) & (given >= 0)).all():
        raise OptionError(
            f"The option 'seconds' must be one mean, or {annotations.n_annotations:,} numbers: one per annotation, "
            f"none negative. Got an array of shape {given.shape} instead."
        )
    if given.shape == ():
        return float(given)
    item = annotations.item[annotations.starts[:-1]]
    # Rounded by 10^-15, so that the sums do not depend on the order of the rows.
    total = np.bincount(item, weights=on_grid(given, len(given)), minlength=annotations.n_items)
    mean = total / np.maximum(annotations.per_item(), 1)
    place = {name: code for code, name in enumerate(annotations.items)}
    return float(np.mean([mean[place[name]] for name, used in zip(ordered.items, taken, strict=True) if used]))


def _by_annotation(annotations: Annotations, seconds: Mapping[tuple[str, str], float]) -> Floats:
    """Return the seconds of each annotation; what one annotator said of one item shares its time evenly."""
    first = annotations.starts[:-1]
    pairs = list(
        zip(
            (annotations.items[code] for code in annotations.item[first]),
            (annotations.annotators[code] for code in annotations.annotator[first]),
            strict=True,
        )
    )
    missing = next((pair for pair in pairs if pair not in seconds), None)
    if missing is not None:
        raise InputError(f"There are no seconds for the item {missing[0]!r} and the annotator {missing[1]!r}.")
    times = Counter(pairs)
    return np.array([seconds[pair] / times[pair] for pair in pairs], dtype=np.float64)


def _sums(probs: Floats, reference: Floats) -> Floats:
    """Return what the statistics are made of, one row per item."""
    entropies = [np.asarray(simplex.entropy(each, normalised=True)) for each in (probs, reference)]
    # Centred, so that the sums of squares keep their digits.
    x, y = (each - each.mean() for each in entropies)
    return np.stack(
        [
            np.ones(len(probs)),
            np.asarray(simplex.jensen_shannon_divergence(probs, reference)),
            np.abs(np.cumsum(probs - reference, axis=1)).sum(axis=1),
            np.abs(np.sort(probs, axis=1) - np.sort(reference, axis=1)).mean(axis=1),
            x, y, x * x, y * y, x * y,
        ],
        axis=1,
    )  # fmt: skip


def _statistics(total: Floats) -> Floats:
    """Return the four numbers, in the order of their names, from the sums over the items."""
    n, divergence, over_classes, over_values, x, y, xx, yy, xy = total
    varies_x, varies_y = xx - x * x / n, yy - y * y / n
    # Entropies that are all equal leave a rest of rounding: no correlation is to be made of it.
    known = varies_x > 1e-12 * n and varies_y > 1e-12 * n
    correlation = (xy - x * y / n) / math.sqrt(varies_x * varies_y) if known else math.nan
    return np.array([divergence / n, over_classes / n, over_values / n, correlation])


def _resampled(sums: list[Floats], rng: np.random.Generator, draws: int) -> list[list[Floats]]:
    """Return the statistics of every size on *draws* bootstrap samples of the items, the same ones for every size."""
    n = len(sums[0])
    if n > _MOST_UNITS:
        # Random groups of items, drawn whole: the sums of a group are all that a draw needs of it.
        order = rng.permutation(n)
        starts = np.linspace(0, n, _MOST_UNITS, endpoint=False).astype(np.int64)
        sums = [np.add.reduceat(each[order], starts) for each in sums]
        n = _MOST_UNITS
    weights = [np.bincount(rng.integers(n, size=n), minlength=n).astype(np.float64) for _ in range(draws)]
    return [[_statistics(weight @ each) for each in sums] for weight in weights]


def _report(
    sizes: list[int], values: Floats, drawn: Floats, n: int, seconds_per_annotation: float | None, origin: Origin
) -> Report:
    numbers: list[Number] = []
    curve: dict[str, list[Any]] = {"size": sizes, "n_items": [n] * len(sizes)}
    for k, name in enumerate(_NAMES):
        column: list[tuple[float, float | None, float | None]] = []
        for s, size in enumerate(sizes):
            known = drawn[:, s, k][~np.isnan(drawn[:, s, k])]
            value, low, high = float(values[s, k]), None, None
            if not math.isnan(value):
                low, high = (float(bound) for bound in np.quantile(known, [(1 - _LEVEL) / 2, (1 + _LEVEL) / 2]))
            numbers.append(Number(name, value, n, f"{size} per item", low, high, None if low is None else _LEVEL))
            column.append((value, low, high))
        curve[name], curve[f"{name} low"], curve[f"{name} high"] = (list(part) for part in zip(*column, strict=True))
    if seconds_per_annotation is not None:
        curve["seconds_per_item"] = [size * seconds_per_annotation for size in sizes]
        curve["seconds"] = [n * seconds for seconds in curve["seconds_per_item"]]
        for size, seconds in zip(sizes, curve["seconds_per_item"], strict=True):
            numbers.append(Number("seconds_per_item", seconds, n, f"{size} per item"))
    other = "the whole panel" if origin.options["against"] == "full" else "the rest of the panel"
    notes = (
        f"Soft labels from so many annotations per item against those from {other}, {origin.options['repeats']} random "
        f"parts of each of {n:,} items.",
    )
    return Report("How many annotators?", numbers, origin, notes, {"curve": curve})
