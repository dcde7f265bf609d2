"""What is reached without any model, so that no score looks good by accident; and what people themselves reach."""

from __future__ import annotations

__all__ = [
    "BEST_CONSTANTS",
    "Ceiling",
    "best_constant",
    "class_prior",
    "half_panel",
    "held_out_annotator",
    "smoothed_labels",
    "uniform",
]

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.core.annotations import Annotations
from sfumato.core.gold import Gold
from sfumato.core.origin import Origin
from sfumato.core.predictions import Predictions
from sfumato.core.seeds import Seed, generator, recorded
from sfumato.core.simplex import normalise
from sfumato.core.soft_labels import SoftLabels
from sfumato.errors import InputError, OptionError, check_choice

Floats = NDArray[np.floating[Any]]

# Which metrics have a best constant that is known, and what it is made of.
BEST_CONSTANTS = {
    "soft_cross_entropy_loss": "mean",
    "kl_divergence": "mean",
    "brier_error": "mean",
    "manhattan_error": "median",
    "human_distance_error": "median",
    "soft_accuracy_score": "median",
    "wasserstein_error": "cumulative median",
    "jensen_shannon_divergence": "centroid",
    "accuracy_score": "most frequent",
}


@dataclass(frozen=True)
class Ceiling:
    """Some people as the model (``predicted``) and the others as the people, for the same items."""

    predicted: Predictions
    people: SoftLabels


def uniform(people: SoftLabels) -> Predictions:
    """Return the same share for every class and item of *people*.

    >>> uniform(SoftLabels([[0.9, 0.1]], items=["a"], classes=["x", "y"]))["a"].tolist()
    [0.5, 0.5]
    """
    return _constant(people, np.full(people.n_classes, 1 / people.n_classes), "uniform")


def class_prior(people: SoftLabels, *, reference: SoftLabels | None = None) -> Predictions:
    """Return for every item the mean soft label of *reference* (those a model was trained on), else of *people*.

    >>> class_prior(SoftLabels([[0.9, 0.1], [0.5, 0.5]], items=["a", "b"], classes=["x", "y"]))["b"].tolist()
    [0.7, 0.3]
    """
    source = people if reference is None else reference.with_classes(people.classes)
    return _constant(people, normalise(source.probs.astype(np.float64).mean(axis=0)), "class_prior")


def best_constant(
    people: SoftLabels, *, metric: str = "soft_cross_entropy_loss", gold: Gold | None = None
) -> Predictions:
    """Return the one distribution that, given for every item, has the best *metric* against *people*.

    For cross-entropy, KL and Brier it is the mean; for the Manhattan distance (and DistCE and soft accuracy, which go
    with it) the median on the simplex; for Wasserstein the median of the cumulative shares; for Jensen–Shannon the
    centroid; for accuracy the most frequent class of *gold*. It looks at the very labels it is measured by, so a model
    that is no better has learnt nothing that one row of numbers does not hold.

    >>> people = SoftLabels([[0.9, 0.1], [0.5, 0.5], [0.8, 0.2]], items=["a", "b", "c"], classes=["x", "y"])
    >>> best_constant(people, metric="manhattan_error")["a"].round(6).tolist()
    [0.8, 0.2]
    """
    kind = BEST_CONSTANTS[check_choice(metric, BEST_CONSTANTS, option="metric")]
    p = people.probs.astype(np.float64)
    if kind == "mean":
        row = normalise(p.mean(axis=0))
    elif kind == "median":
        row = _median(p)
    elif kind == "cumulative median":
        steps = np.median(np.cumsum(p, axis=1), axis=0)
        row = normalise(np.maximum(np.diff(steps, prepend=0), 0))
    elif kind == "centroid":
        row = _centroid(p)
    else:
        if gold is None:
            raise OptionError("The best constant for the accuracy is the most frequent gold class, so it needs gold.")
        codes = gold.aligned(people.items, people.classes)
        counts = np.bincount(codes[(codes >= 0) & (codes < people.n_classes)], minlength=people.n_classes)
        row = np.eye(people.n_classes)[int(counts.argmax())]
    return _constant(people, row, "best_constant", metric=metric)


def smoothed_labels(labels: SoftLabels, *, gold: Gold | None = None, smoothing: float = 0.1) -> Predictions:
    """Return 1 − smoothing for the gold class, else for the most probable one, and smoothing/K for every class.

    It says how much of a score comes from softness alone (Szegedy et al. 2016, section 7): the softness of these
    labels knows nothing of the item. An item whose gold class is unknown here becomes uniform.

    >>> soft = SoftLabels([[0.7, 0.3]], items=["a"], classes=["x", "y"])
    >>> smoothed_labels(soft, smoothing=0.1)["a"].round(6).tolist()
    [0.95, 0.05]
    """
    if not 0 <= smoothing <= 1:
        raise OptionError(f"The option 'smoothing' must lie between 0 and 1. Got {smoothing} instead.")
    top = labels.probs.argmax(axis=1)
    if gold is not None:
        codes = gold.aligned(labels.items, labels.classes)
        top = np.where(codes >= 0, codes, top)
    rows = np.arange(labels.n_classes + 1)[:, None] == np.arange(labels.n_classes)
    one_hot = normalise(rows.astype(np.float64))[top]
    origin = Origin("smoothed_labels", options={"smoothing": smoothing}, fingerprint=labels.fingerprint)
    return Predictions(
        (1 - smoothing) * one_hot + smoothing / labels.n_classes,
        items=labels.items, classes=labels.classes, origin=origin,
    )  # fmt: skip


def held_out_annotator(annotations: Annotations, *, seed: Seed = 0) -> Ceiling:
    """Return one annotation of each item, drawn at random, as the prediction, and the others as the people.

    Items with a single annotation are left out. What the others cannot foresee in one of them no model can either.

    >>> votes = Annotations.from_rows(["a", "a", "a"], ["ann", "bob", "cat"], ["x", "x", "y"])
    >>> ceiling = held_out_annotator(votes)
    >>> sorted([*ceiling.predicted["a"].tolist(), *ceiling.people["a"].tolist()])
    [0.0, 0.0, 1.0, 1.0]
    """
    place, _ = _shuffled(annotations, seed)
    return _ceiling(annotations, place == 0, "held_out_annotator", seed)


def half_panel(annotations: Annotations, *, seed: Seed = 0) -> Ceiling:
    """Return half of the annotations of each item, drawn at random, as the prediction, and the others as the people.

    Of an odd number the smaller half predicts. Items with a single annotation are left out.

    >>> votes = Annotations.from_rows(["a"] * 4, ["ann", "bob", "cat", "dan"], ["x", "x", "y", "y"])
    >>> ceiling = half_panel(votes)
    >>> bool((ceiling.predicted["a"] + ceiling.people["a"] == 1).all())
    True
    """
    place, size = _shuffled(annotations, seed)
    return _ceiling(annotations, place < size // 2, "half_panel", seed)


def _shuffled(annotations: Annotations, seed: Seed) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the random place of each annotation within its item, and the number of annotations of that item."""
    first = annotations.starts[:-1]
    item, annotator = annotations.item[first], annotations.annotator[first]
    item_rank, annotator_rank = (np.empty(n, dtype=np.int64) for n in (annotations.n_items, annotations.n_annotators))
    item_rank[annotations.canonical_items] = np.arange(annotations.n_items)
    annotator_rank[annotations.canonical_annotators] = np.arange(annotations.n_annotators)
    # By name, so that the draw does not depend on the order of the rows.
    order = np.lexsort((annotations.label[first], annotator_rank[annotator], item_rank[item]))
    chance = np.empty(len(first))
    chance[order] = generator(seed).random(len(first))
    by_chance = np.lexsort((chance, item))
    size = np.bincount(item, minlength=annotations.n_items)
    place = np.empty(len(first), dtype=np.int64)
    place[by_chance] = np.arange(len(first)) - np.repeat(np.cumsum(size) - size, size)
    return place, size[item]


def _ceiling(annotations: Annotations, chosen: NDArray[np.bool_], method: str, seed: Seed) -> Ceiling:
    rows = np.flatnonzero(annotations.per_item() > 1)
    if not len(rows):
        raise InputError("No item has two annotations, so nobody can be compared with anybody.")
    items = tuple(annotations.items[row] for row in rows)
    origin = Origin(method, seed=recorded(seed), fingerprint=annotations.fingerprint)
    said, rest = (normalise(annotations.take_annotations(mask).counts()[rows]) for mask in (chosen, ~chosen))
    return Ceiling(
        Predictions(said, items=items, classes=annotations.classes, origin=origin),
        SoftLabels(rest, items=items, classes=annotations.classes, origin=origin),
    )


def _constant(people: SoftLabels, row: Floats, method: str, **options: str) -> Predictions:
    probs = np.broadcast_to(row, (people.n_items, people.n_classes))
    origin = Origin(method, options=options, fingerprint=people.fingerprint)
    return Predictions(probs, items=people.items, classes=people.classes, origin=origin)


def _median(p: Floats) -> Floats:
    """Return argmin over the simplex of the sum of |q − p|, p of shape (n_items, n_classes).

    With each column sorted, any q between the rows j − 1 and j has the same slope 2j − n in every class, which is all
    that optimality under Σ q = 1 asks for; the sums of the rows rise from at most 1 to at least 1.
    """
    rising = np.sort(p, axis=0)
    sums = rising.sum(axis=1)
    j = int(np.searchsorted(sums, 1 - 1e-12))
    if j == 0:
        return normalise(rising[0])
    j = min(j, len(sums) - 1)
    step = (1 - sums[j - 1]) / (sums[j] - sums[j - 1]) if sums[j] > sums[j - 1] else 0.0
    return normalise(rising[j - 1] + np.clip(step, 0, 1) * (rising[j] - rising[j - 1]))


def _centroid(p: Floats) -> Floats:
    """Return argmin over the simplex of the mean Jensen–Shannon divergence to the rows of *p*.

    At the minimum q_k is proportional to the geometric mean over items of (q_k + p_ik)/2; repeating that gets there.
    """
    distinct, counts = np.unique(p, axis=0, return_counts=True)
    share = counts / counts.sum()
    q = normalise(share @ distinct)
    used = q > 0
    distinct = np.ascontiguousarray(distinct[:, used].T)
    row = q[used]
    for _ in range(1000):
        before = row
        row = normalise(np.exp(np.log((row[:, None] + distinct) / 2) @ share))
        if np.abs(row - before).max() < 1e-10:
            break
    q[used] = row
    return q
