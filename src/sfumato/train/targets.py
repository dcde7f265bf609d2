"""Targets: what each item is taught, when it is drawn.

All of them are functions of item, epoch and seed. What is random is hashed from these three, never drawn from a stream:
whichever process or worker asks, in whatever order, the answer is the same.
"""

from __future__ import annotations

__all__ = [
    "TARGETS", "AnnotationTargets", "DrawnClasses", "DrawnTargets", "TableTargets", "Targets", "hashed_uniform",
    "make_targets", "panel_of", "target_needs",
]  # fmt: skip

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol, get_args

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sfumato.core.annotations import Annotations
from sfumato.errors import InputError, OptionError, check_choice
from sfumato.train.objective import IGNORED
from sfumato.train.options import checked_options
from sfumato.train.training_data import TrainingData

Source = Literal["soft", "annotations"]
Ties = Literal["first", "random", "share"]
Batch = dict[str, Tensor]


class Targets(Protocol):
    """What gives the targets of items."""

    def at(self, items: Tensor, *, epoch: int, seed: int) -> Batch:
        """Return the targets of items, rows of shape (…), −1 where there is none."""
        ...


@dataclass(frozen=True)
class TableTargets:
    """Targets that never change: tables with a row per item, and a last one for what is no item."""

    tables: Mapping[str, Tensor]

    def at(self, items: Tensor, *, epoch: int, seed: int) -> Batch:
        return {name: table[items] for name, table in self.tables.items()}


@dataclass(frozen=True)
class DrawnTargets:
    """One annotation of each item, drawn anew in every epoch; annotations of an item are equally likely.

    ``starts``, shape (n_items + 2,), says which rows of ``table`` belong to an item, none to the last (no item);
    the last row of the table is what an item is taught of which nobody said anything.
    """

    name: Literal["label", "soft"]
    table: Tensor
    starts: Tensor

    def at(self, items: Tensor, *, epoch: int, seed: int) -> Batch:
        first = self.starts[:-1][items]
        size = self.starts[1:][items] - first
        uniform = torch.from_numpy(hashed_uniform(items.numpy(), seed, epoch))
        row = torch.where(size > 0, first + (uniform * size).long(), len(self.table) - 1)
        return {self.name: self.table[row]}


@dataclass(frozen=True)
class DrawnClasses:
    """A class of each item, drawn from its soft label anew in every epoch; ``cumulative`` (n_items + 1, n_classes)."""

    cumulative: Tensor

    def at(self, items: Tensor, *, epoch: int, seed: int) -> Batch:
        cumulative = self.cumulative[items]
        uniform = torch.from_numpy(hashed_uniform(items.numpy(), seed, epoch)).unsqueeze(-1)
        drawn = (cumulative <= uniform * cumulative[..., -1:]).sum(dim=-1)
        return {"label": torch.where(cumulative[..., -1] > 0, drawn, IGNORED)}


@dataclass(frozen=True)
class AnnotationTargets:
    """All annotations of the items of a batch, and only those that there are.

    ``annotator`` and ``label`` of shape (n_annotations,), or labels (n_annotations, n_classes) where people gave
    distributions; ``starts`` as in `DrawnTargets`.
    """

    annotator: Tensor
    label: Tensor
    starts: Tensor

    def at(self, items: Tensor, *, epoch: int, seed: int) -> Batch:
        flat = items.reshape(-1)
        first = self.starts[:-1][flat]
        size = self.starts[1:][flat] - first
        row = torch.repeat_interleave(torch.arange(len(flat)), size)
        number = torch.arange(len(row)) - (size.cumsum(0) - size)[row] + first[row]
        return {"annotator": self.annotator[number], "label": self.label[number], "row": row}


# ── the kinds ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _gold(data: TrainingData, seed: int) -> Targets:
    return TableTargets({"label": _labels_of_gold(data)})


def _soft(data: TrainingData, seed: int, *, of: Source = "soft", panel: int | None = None) -> Targets:
    return TableTargets({"soft": _padded_soft(_distributions(data, of, panel, seed))})


def _silver(
    data: TrainingData, seed: int, *, of: Source = "soft", ties: Ties = "first", panel: int | None = None
) -> Targets:
    tied, known = _top(_distributions(data, of, panel, seed))
    check_choice(ties, get_args(Ties), option="ties")
    if ties == "share":
        shares = np.where(known[:, None], tied / np.maximum(tied.sum(axis=1, keepdims=True), 1), np.nan)
        return TableTargets({"soft": _padded_soft(shares)})
    return TableTargets({"label": _padded_labels(_chosen(tied, ties, seed), known)})


def _smoothed(
    data: TrainingData, seed: int, *, smoothing: float = 0.1, of: Literal["gold", "soft", "annotations"] = "gold",
    ties: Literal["first", "random"] = "first", panel: int | None = None,
) -> Targets:  # fmt: skip
    if not 0 <= smoothing <= 1:
        raise OptionError(f"The option 'smoothing' must be between 0 and 1. Got {smoothing} instead.")
    if check_choice(of, ("gold", "soft", "annotations"), option="of") == "gold":
        if panel is not None:
            raise OptionError("The option 'panel' needs of = 'annotations': gold has no panel.")
        if ties != "first":
            raise OptionError("The option 'ties' needs of = 'soft' or 'annotations': gold has no ties.")
        known = data.has_gold() & (_gold_codes(data) < data.n_classes)
        chosen = np.where(known, _gold_codes(data), 0)
    else:
        check_choice(ties, ("first", "random"), option="ties")
        tied, known = _top(_distributions(data, of, panel, seed))
        chosen = _chosen(tied, ties, seed)
    smooth = np.full((data.n_items, data.n_classes), smoothing / data.n_classes)
    smooth[np.arange(data.n_items), chosen] += 1 - smoothing
    return TableTargets({"soft": _padded_soft(np.where(known[:, None], smooth, np.nan))})


def _drawn(data: TrainingData, seed: int, *, of: Source = "annotations", panel: int | None = None) -> Targets:
    if check_choice(of, get_args(Source), option="of") == "soft":
        probs = np.nan_to_num(_distributions(data, of, panel, seed)).astype(np.float64)
        cumulative = torch.from_numpy(np.concatenate([probs.cumsum(axis=1), np.zeros((1, data.n_classes))]))
        return DrawnClasses(cumulative)
    said = _panel(data, panel, seed)
    label = _labels(said)
    nobody = torch.full((1, *label.shape[1:]), IGNORED, dtype=label.dtype)
    name: Literal["label", "soft"] = "label" if said.is_hard else "soft"
    return DrawnTargets(name, table=torch.cat([label, nobody]), starts=_starts(said))


def _repeated(data: TrainingData, seed: int, *, panel: int | None = None) -> Targets:
    said = _panel(data, panel, seed)
    size = np.append(_sizes(said), 0).astype(np.float32)
    soft = _padded_soft(_shares(said))
    return TableTargets({"soft": soft, "item_weight": torch.from_numpy(size)})


def _annotations(data: TrainingData, seed: int, *, panel: int | None = None) -> Targets:
    said = _panel(data, panel, seed)
    annotator = torch.from_numpy(said.annotator[said.starts[:-1]].astype(np.int64))
    return AnnotationTargets(annotator, _labels(said), _starts(said))


def _gold_and_soft(data: TrainingData, seed: int, *, of: Source = "soft", panel: int | None = None) -> Targets:
    soft = _padded_soft(_distributions(data, of, panel, seed))
    return TableTargets({"label": _labels_of_gold(data), "soft": soft})


@dataclass(frozen=True)
class _Kind:
    make: Callable[..., Targets]
    needs: tuple[str, ...]  # where the option `of` says nothing else; it replaces the last


TARGETS: Mapping[str, _Kind] = {
    "gold": _Kind(_gold, ("gold",)),
    "silver": _Kind(_silver, ("soft",)),
    "soft": _Kind(_soft, ("soft",)),
    "smoothed": _Kind(_smoothed, ("gold",)),
    "drawn": _Kind(_drawn, ("annotations",)),
    "repeated": _Kind(_repeated, ("annotations",)),
    "annotations": _Kind(_annotations, ("annotations",)),
    "gold_and_soft": _Kind(_gold_and_soft, ("gold", "soft")),
}


def make_targets(data: TrainingData, kind: str, options: Mapping[str, Any], *, seed: int) -> Targets:
    """Return the targets of a kind.

    ``gold``: the reference class. ``silver``: the most probable class, *ties* to the ``first``, a ``random`` one, or a
    ``share`` each. ``soft``: the soft label. ``smoothed``: a class with *smoothing* of its mass spread over all.
    ``drawn``: what one annotator said, another draw in each epoch (Collins et al. 2022); of a soft label, a class.
    ``repeated``: every annotation, an item with two counting twice. ``annotations``: who said what.
    ``gold_and_soft``: both. *of* names what they are made of (``soft`` or ``annotations``), *panel* how many
    annotators of each item are listened to, the same ones throughout a run.
    """
    chosen = TARGETS[check_choice(kind, TARGETS, option="target.kind")]
    return chosen.make(data, seed, **checked_options(chosen.make, options, what=f"The target '{kind}'"))


def target_needs(kind: str, options: Mapping[str, Any]) -> frozenset[str]:
    """Return which labels a target is made of: "gold", "soft", "annotations".

    >>> sorted(target_needs("gold_and_soft", {"of": "annotations"}))
    ['annotations', 'gold']
    """
    chosen = TARGETS[check_choice(kind, TARGETS, option="target.kind")]
    checked_options(chosen.make, options, what=f"The target '{kind}'")
    *others, last = chosen.needs
    sources = ("gold", *get_args(Source)) if last == "gold" else get_args(Source)
    return frozenset([*others, check_choice(options.get("of", last), sources, option="of")])


def hashed_uniform(items: NDArray[np.int64], seed: int, epoch: int) -> NDArray[np.float64]:
    """Return a number in [0, 1) for each item that depends on item, seed and epoch alone (splitmix64)."""
    start = np.random.SeedSequence([seed, epoch]).generate_state(1, dtype=np.uint64)[0]
    with np.errstate(over="ignore"):
        x = (items.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15) + start
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        x = x ^ (x >> np.uint64(31))
    uniform: NDArray[np.float64] = (x >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return uniform


def panel_of(said: Annotations, size: int, *, seed: int) -> Annotations:
    """Return *size* annotations of each item, drawn by *seed*; items with fewer keep all of theirs."""
    item = said.item[said.starts[:-1]]
    order = np.lexsort((np.random.default_rng([seed, 7]).random(len(item)), item))
    rank = np.empty(len(item), dtype=np.int64)
    rank[order] = np.arange(len(item)) - np.searchsorted(item, item)[np.arange(len(item))]
    return said.take_annotations(rank < size)


# ── how they are made ────────────────────────────────────────────────────────────────────────────────────────────────


def _panel(data: TrainingData, size: int | None, seed: int) -> Annotations:
    if data.annotations is None:
        raise InputError(
            "This target is made of annotations, and there are none. Give votes, or choose another target."
        )
    if size is None:
        return data.annotations
    if size < 1:
        raise OptionError(f"The option 'panel' must be 1 or more. Got {size} instead.")
    return panel_of(data.annotations, size, seed=seed)


def _distributions(data: TrainingData, of: str, panel: int | None, seed: int) -> NDArray[np.floating[Any]]:
    """Return a distribution for each item, rows of nan where there is none."""
    if check_choice(of, get_args(Source), option="of") == "annotations":
        return _shares(_panel(data, panel, seed))
    if panel is not None:
        raise OptionError("The option 'panel' needs of = 'annotations': a soft label has no panel any more.")
    if data.soft is None:
        raise InputError(
            "This target is made of soft labels, and there are none. Give them, or set of = 'annotations'."
        )
    return data.soft


def _shares(said: Annotations) -> NDArray[np.floating[Any]]:
    counts = said.counts()
    total = counts.sum(axis=1, keepdims=True)
    shares: NDArray[np.float64] = np.divide(counts, total, out=np.full_like(counts, np.nan), where=total > 0)
    return shares


def _top(soft: NDArray[np.floating[Any]]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which classes are the most probable ones, (n_items, n_classes), and which items have any, (n_items,)."""
    known = ~np.isnan(soft[:, 0])
    highest = np.where(known, np.nan_to_num(soft).max(axis=1), np.inf)
    # Soft labels are held in single precision: shares that differ by rounding are tied.
    return np.nan_to_num(soft, nan=-1.0) >= highest[:, None] - 1e-6, known


def _chosen(tied: NDArray[np.bool_], ties: str, seed: int) -> NDArray[np.int64]:
    number = np.zeros(len(tied), dtype=np.int64)
    if ties == "random":
        number = (hashed_uniform(np.arange(len(tied)), seed, 0) * tied.sum(axis=1)).astype(np.int64)
    chosen: NDArray[np.int64] = (tied.cumsum(axis=1) > number[:, None]).argmax(axis=1)
    return chosen


def _gold_codes(data: TrainingData) -> NDArray[np.int64]:
    if data.gold is None:
        raise InputError("This target is made of gold labels, and there are none. Give them, or choose another target.")
    return data.gold


def _labels_of_gold(data: TrainingData) -> Tensor:
    codes = _gold_codes(data)
    return _padded_labels(codes, (codes >= 0) & (codes < data.n_classes))


def _padded_labels(codes: NDArray[np.int64], known: NDArray[np.bool_]) -> Tensor:
    return torch.from_numpy(np.append(np.where(known, codes, IGNORED), IGNORED).astype(np.int64))


def _padded_soft(soft: NDArray[np.floating[Any]]) -> Tensor:
    rows = np.concatenate([soft, np.full((1, soft.shape[1]), np.nan)]).astype(np.float32)
    return torch.from_numpy(np.nan_to_num(rows, nan=float(IGNORED)))


def _labels(said: Annotations) -> Tensor:
    """Return what each annotation says: classes (n_annotations,), or distributions (n_annotations, n_classes)."""
    if said.is_hard:
        return torch.from_numpy(said.label.astype(np.int64))
    table = np.zeros((said.n_annotations, said.n_classes), dtype=np.float32)
    number = np.repeat(np.arange(said.n_annotations), np.diff(said.starts))
    np.add.at(table, (number, said.label), said.weight.astype(np.float32))
    return torch.from_numpy(table)


def _sizes(said: Annotations) -> NDArray[np.int64]:
    return np.bincount(said.item[said.starts[:-1]], minlength=said.n_items)


def _starts(said: Annotations) -> Tensor:
    """Return where the annotations of each item begin, with an item at the end that has none."""
    ends = _sizes(said).cumsum()
    return torch.from_numpy(np.concatenate([[0], ends, ends[-1:]]).astype(np.int64))
