"""Which method to trust, learnt without any gold: every view scored by annotations that it has not seen."""

from __future__ import annotations

__all__ = ["COMPARED", "compare"]

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.aggregate.answers import in_canonical_order
from sfumato.aggregate.held_out import HeldOut, Progress, held_out
from sfumato.aggregate.views import fitted
from sfumato.core.annotations import Annotations
from sfumato.core.arguments import checked_arguments
from sfumato.core.gold import Gold
from sfumato.core.origin import Origin
from sfumato.core.report import Number, Report
from sfumato.core.seeds import Seed, generator, recorded
from sfumato.core.simplex import cross_entropy
from sfumato.core.soft_labels import SoftLabels
from sfumato.errors import InputError, OptionError

Floats = NDArray[np.float64]

# Every view that is not the sharpened double of another; plain maximum likelihood is told apart from the default prior.
COMPARED: Mapping[str, Mapping[str, Any]] = {
    "standard": {},
    "softmax": {},
    "wawa": {},
    "zero_based_skill": {},
    "one_coin": {},
    "dawid_skene": {},
    "dawid_skene_ml": {"method": "dawid_skene", "prior": "ml"},
    "ibcc": {},
    "mace": {},
    "glad": {},
    "bwa": {},
    "ebcc": {"restarts": 5},
}
_LEVEL = 0.95
_N_BINS = 15


@checked_arguments
def compare(
    annotations: Annotations,
    views: Sequence[str] | Mapping[str, Mapping[str, Any]] = (),
    *,
    gold: Gold | SoftLabels | None = None,
    folds: int = 4,
    resamples: int = 1000,
    seed: Seed = 0,
    progress: Progress | None = None,
) -> Report:
    """Return the held-out log-likelihood of each view with its interval, the best view first.

    *views* as in `sfumato.aggregate.views`; all methods where it is empty. The log-likelihood is a mean per annotation
    in nats (see `sfumato.aggregate.held_out`); ``behind`` is how much a view lies below the best one, with an interval
    of its own, since both are scored on the same annotations: an interval that holds 0 says that the two are not told
    apart. Intervals are bootstraps over items. ``weight`` is what ``weights="held_out"`` gives the view in a join.

    With *gold* three numbers of each view made of all annotations are added, and of ``held_out``, the average under the
    held-out weights: accuracy, soft cross-entropy −Σ p log q (nats; q below 1e-12 counts as that), which is the log
    loss where p is one class, and calibration error (15 bins). Gold is a class for each item, or soft labels p: the
    right class is then the likeliest, and a prediction is as right as p says.

    >>> votes = Annotations.from_rows(list("aaabbbcccd"), list("xyzxyzxyzx"), list("1101001110"))
    >>> compare(votes, ["standard", "one_coin"], resamples=50).notes
    ("'standard' foresees left-out annotations best.", 'Not told apart from it: one_coin.')
    """
    chosen: Sequence[str] | Mapping[str, Mapping[str, Any]] = views if len(views) else COMPARED
    if resamples < 1:
        raise OptionError(f"The option 'resamples' must be 1 or more. Got {resamples} instead.")
    # In this order sums and draws know nothing of the order of the rows.
    ordered = in_canonical_order(annotations)
    reference = None if gold is None else _aligned(gold, ordered)
    scored = held_out(ordered, chosen, folds=folds, leave_out_too_large=not len(views), seed=seed, progress=progress)
    order = np.argsort(-scored.scores(), kind="stable")
    intervals = _intervals(scored, order[0], resamples, generator(seed))
    by_gold: dict[str, list[Number]] = {}
    if reference is not None:
        kept = {name: chosen[name] if isinstance(chosen, Mapping) else {} for name in scored.names}
        made = {name: result.soft_labels.probs for name, result in fitted(ordered, kept, seed=seed).items()}
        made["held_out"] = np.tensordot(scored.weights, np.array([made[name] for name in scored.names]), axes=1)
        by_gold = {name: _against_gold(name, probs, *reference) for name, probs in made.items()}
    n = int(annotations.n_annotations)
    numbers = []
    for place in order:
        name = scored.names[place]
        score, behind = intervals[int(place)]
        numbers.append(Number("held_out_log_likelihood_score", n=n, of=name, **score))
        numbers.append(Number("behind", n=n, of=name, **behind))
        numbers.append(Number("weight", float(scored.weights[place]), n=n, of=name))
        numbers += by_gold.get(name, [])
    numbers += by_gold.get("held_out", [])
    options = {"views": _plain(chosen), "folds": folds, "resamples": resamples}
    origin = Origin("compare", options, recorded(seed), annotations.fingerprint)
    notes = _notes(scored, order, intervals)
    if gold is not None and reference is not None:
        notes += _on_gold(gold.n_items, len(reference[0]), annotations.n_items)
    return Report("Views by the annotations they have not seen", numbers, origin, notes)


def _intervals(
    scored: HeldOut, best: int, resamples: int, rng: np.random.Generator
) -> list[tuple[dict[str, float], dict[str, float]]]:
    """Return for each view its score and how far it is behind the best, with bootstrap intervals over items."""
    sums, counts = scored.per_item()
    judged = np.flatnonzero(counts)
    sums, counts = sums[:, judged], counts[judged]
    drawn = np.empty((resamples, len(scored.names)))
    for b in range(resamples):
        times = np.bincount(rng.integers(0, len(judged), len(judged)), minlength=len(judged)).astype(np.float64)
        drawn[b] = sums @ times / (counts @ times)
    scores = scored.scores()

    def number(value: float, values: Floats) -> dict[str, float]:
        low, high = np.quantile(values, [(1 - _LEVEL) / 2, (1 + _LEVEL) / 2])
        return {"value": float(value), "low": float(low), "high": float(high), "level": _LEVEL}

    return [
        (number(scores[v], drawn[:, v]), number(scores[best] - scores[v], drawn[:, best] - drawn[:, v]))
        for v in range(len(scored.names))
    ]


def _aligned(gold: Gold | SoftLabels, ordered: Annotations) -> tuple[NDArray[np.intp], Floats]:
    """Return which items have gold, and it as distributions over the classes of the annotations and one for others."""
    if isinstance(gold, SoftLabels):
        if set(gold.classes) != set(ordered.classes):
            odd = sorted(set(gold.classes) ^ set(ordered.classes))[0]
            raise InputError(f"The soft gold must have the classes of the annotations. {odd!r} is in one of them only.")
        place = {name: row for row, name in enumerate(ordered.items)}
        shared = [name for name in gold.items if name in place]
        rows = np.array(sorted(place[name] for name in shared), dtype=np.intp)
        known = gold.take([ordered.items[row] for row in rows]).with_classes(ordered.classes).probs
    else:
        codes = gold.aligned(ordered.items, ordered.classes)
        rows = np.flatnonzero(codes >= 0)
        known = np.eye(ordered.n_classes + 1)[codes[rows]]
    if not len(rows):
        raise InputError("None of the annotated items has gold. Do the names of the items match?")
    wanted = np.zeros((len(rows), ordered.n_classes + 1))
    wanted[:, : known.shape[1]] = known
    return rows, wanted


def _on_gold(n_gold: int, n_shared: int, n_items: int) -> list[str]:
    """Say where gold and annotations are not about the same items."""
    notes = []
    if n_shared < n_items:
        notes.append(f"{n_shared:,} of {n_items:,} items have gold; what needs gold is about these.")
    if n_gold > n_shared:
        notes.append(f"Gold has {n_gold - n_shared:,} more, which nobody annotated.")
    return notes


def _against_gold(name: str, probs: NDArray[np.floating[Any]], rows: NDArray[np.intp], wanted: Floats) -> list[Number]:
    # A class that no annotator named is a class that no view gives anything.
    known = np.zeros(wanted.shape)
    known[:, :-1] = probs[rows]
    top = known.argmax(axis=1)
    each = np.arange(len(rows))
    confidence, right = known[each, top], wanted[each, top]
    bins = np.clip(np.ceil(confidence * _N_BINS).astype(np.int64) - 1, 0, _N_BINS - 1)
    gaps = np.bincount(bins, weights=right - confidence, minlength=_N_BINS)
    values = {
        "accuracy_score": (top == wanted.argmax(axis=1)).mean(),
        "soft_cross_entropy_loss": cross_entropy(wanted, known, floor=1e-12).mean(),
        "expected_calibration_error": np.abs(gaps).sum() / len(rows),
    }
    return [Number(what, float(value), n=len(rows), of=name) for what, value in values.items()]


def _notes(
    scored: HeldOut, order: NDArray[np.intp], intervals: list[tuple[dict[str, float], dict[str, float]]]
) -> list[str]:
    best = scored.names[int(order[0])]
    tied = [scored.names[int(v)] for v in order[1:] if intervals[int(v)][1]["low"] <= 0]
    notes = [f"'{best}' foresees left-out annotations best."]
    if tied:
        notes.append(f"Not told apart from it: {', '.join(tied)}.")
    if scored.left_out:
        notes.append(f"Left out, as their models would not fit in the memory: {', '.join(scored.left_out)}.")
    return notes


def _plain(views: Sequence[str] | Mapping[str, Mapping[str, Any]]) -> Any:
    return {name: dict(given) for name, given in views.items()} if isinstance(views, Mapping) else list(views)
