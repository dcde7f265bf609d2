"""What a crowd is like: how many annotations, how far they agree, how often they meet the gold."""

from __future__ import annotations

__all__ = ["Crowd", "Setting", "data_of", "measure", "seconds_of"]

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.core.agreement import fleiss_kappa_score, krippendorff_alpha_score, observed_agreement_score
from sfumato.core.annotations import Annotations
from sfumato.data.anonymous import ANONYMOUS
from sfumato.reproduce.outcome import Measured, Outcome
from sfumato.reproduce.sources import judged

# From here on an annotator is counted as an accurate one (Uma et al. 2020, table 1).
_ACCURATE = 0.75


@dataclass(frozen=True)
class Crowd:
    """Which crowd, and how its numbers are counted.

    ``data`` is the name of a public set, with its ``options``, or a file of votes; ``gold`` a file of references.
    ``panels_of`` leaves only the items that have exactly so many annotations (0: all). ``singles`` says whether an item
    with one annotation is left out of the agreement or counts as full agreement. ``counted_classes`` divides the coder
    to label ratio by another number of classes than the data have (0: by theirs).
    """

    data: str = field(default="rte", metadata={"path": True})
    options: Mapping[str, Any] = field(default_factory=dict)
    gold: str = field(default="", metadata={"path": True})
    panels_of: int = 0
    singles: Literal["leave_out", "agree"] = "leave_out"
    counted_classes: int = 0


Setting = Crowd


def measure(setting: Crowd, *, seed: int = 0, device: str = "cpu") -> Outcome:
    """Return the figures of the crowd; nothing here is random."""
    votes, gold = judged(setting.data, setting.options, gold=setting.gold)
    if setting.panels_of:
        votes = votes.take_annotations(_of_panels(votes, setting.panels_of))
    seen = votes.per_item() > 0
    n_items, per_item = int(seen.sum()), votes.per_item()[seen]
    numbers = {
        "n_items": float(n_items),
        "n_annotations": float(votes.n_annotations),
        "annotations_per_item": float(per_item.mean()),
        "least_annotations_per_item": float(per_item.min()),
        "coder_to_label_ratio": float(per_item.mean()) / (setting.counted_classes or votes.n_classes),
        "observed_agreement_score": observed_agreement_score(votes, singles=setting.singles),
        "fleiss_kappa_score": fleiss_kappa_score(votes),
        "krippendorff_alpha_score": krippendorff_alpha_score(votes),
        "share_with_at_most_two_classes": float(((votes.counts()[seen] > 0).sum(axis=1) <= 2).mean()),
    }
    if votes.annotators != (ANONYMOUS,):
        numbers["n_annotators"] = float(len(np.unique(votes.annotator)))
    if gold is not None:
        numbers |= _against_gold(votes, gold.aligned(votes.items, votes.classes))
    return Outcome(tuple(Measured(name, value, n=n_items) for name, value in numbers.items() if not math.isnan(value)))


def _of_panels(votes: Annotations, size: int) -> NDArray[np.bool_]:
    kept = votes.per_item() == size
    chosen: NDArray[np.bool_] = kept[votes.item[votes.starts[:-1]]]
    return chosen


def _against_gold(votes: Annotations, gold: NDArray[np.int32]) -> dict[str, float]:
    known = (gold >= 0) & (votes.per_item() > 0)
    counts = votes.counts()
    numbers = {
        "vote_accuracy": float((counts.argmax(axis=1) == gold)[known].mean()),
        "share_where_nobody_said_the_gold": float((counts[np.flatnonzero(known), gold[known]] == 0).mean()),
    }
    rows = known[votes.item]
    right = np.where(votes.label == gold[votes.item], votes.weight, 0.0)[rows]
    annotator = votes.annotator[rows]
    if votes.annotators == (ANONYMOUS,):
        # Without ids every vote counts alike: the mean over annotators and the share of good ones cannot be had.
        return numbers | {"annotator_accuracy": float(right.sum() / votes.weight[rows].sum())}
    n = np.bincount(annotator, weights=votes.weight[rows], minlength=votes.n_annotators)
    accuracy = np.bincount(annotator, weights=right, minlength=votes.n_annotators)[n > 0] / n[n > 0]
    return numbers | {
        "annotator_accuracy": float(accuracy.mean()),
        "share_of_accurate_annotators": float((accuracy >= _ACCURATE).mean()),
    }


def data_of(setting: Crowd) -> tuple[str, ...]:
    """Return what is read."""
    return tuple(filter(None, (setting.data, setting.gold)))


def seconds_of(setting: Crowd) -> float:
    """Return about how long a run takes; reading is nearly all of it."""
    return 3.0
