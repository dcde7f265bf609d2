"""Soft labels straight from the votes: majority, standard, softmax. Nothing is learnt of the annotators."""

from __future__ import annotations

__all__ = [
    "Ties",
    "check_labels_fit",
    "lots",
    "majority",
    "majority_of",
    "shares_of",
    "softmax",
    "standard",
    "vote_result",
]

from collections.abc import Mapping
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from sfumato.aggregate.memory import check_memory
from sfumato.aggregate.result import AnnotatorSkills, Result
from sfumato.aggregate.unseen import unseen
from sfumato.core import simplex
from sfumato.core.annotations import Annotations
from sfumato.core.arguments import checked_arguments
from sfumato.core.order_free import name_keys
from sfumato.core.origin import Origin
from sfumato.core.seeds import Seed, generator, recorded
from sfumato.core.soft_labels import SoftLabels
from sfumato.errors import check_choice

Ties = Literal["first", "random", "share"]

# Sums of weights that differ by less than this part of the largest are tied: 0.1 + 0.2 ties with 0.3.
_TIE = 1e-9
_AT_A_TIME = 1 << 15


@checked_arguments
def majority(annotations: Annotations, *, ties: Ties = "first", seed: Seed = 0) -> Result:
    """Return for each item the class with the most votes, as one-hot soft labels of shape (n_items, n_classes).

    p(i, k) = 1 for the class k with the greatest Σ weight of i. *ties* says what becomes of several such classes:
    ``first`` takes the first in the order of the classes, ``random`` one of them drawn with *seed*, and ``share``
    gives each an equal part. An item without annotations gets the uniform distribution.

    >>> votes = Annotations.from_rows("aab", ["ann", "bob", "ann"], ["no", "yes", "yes"])
    >>> majority(votes).soft_labels.top()
    ('no', 'yes')
    >>> majority(votes, ties="share").soft_labels["a"].tolist()
    [0.5, 0.5]
    """
    check_labels_fit(annotations)
    drawn = lots(annotations, ties, seed)

    def made(start: int, stop: int, counts: NDArray[Any]) -> NDArray[np.float64]:
        return _most_voted(counts, ties, None if drawn is None else drawn[start:stop])

    return vote_result(annotations, annotations.from_counts(made), "majority", {"ties": ties}, seed)


@checked_arguments
def standard(annotations: Annotations, *, seed: Seed = 0) -> Result:
    """Return the share of the votes that each class got; shape (n_items, n_classes).

    p(i, k) = c_ik / Σ_l c_il, where c_ik is the weight that the annotations of item i give to class k (Uma et al.
    2020). An item without annotations gets the uniform distribution. Nothing is random: *seed* is only recorded.

    >>> votes = Annotations.from_rows("aaab", ["ann", "bob", "cat", "ann"], ["no", "yes", "yes", "yes"])
    >>> standard(votes).soft_labels["b"].tolist()
    [0.0, 1.0]
    """
    check_labels_fit(annotations)
    probs = annotations.from_counts(lambda start, stop, counts: simplex.normalise(counts))
    return vote_result(annotations, probs, "standard", {}, seed)


@checked_arguments
def softmax(annotations: Annotations, *, seed: Seed = 0) -> Result:
    """Return the softmax of the votes, which leaves every class some mass; shape (n_items, n_classes).

    p(i, k) = exp(c_ik) / Σ_l exp(c_il), where c_ik is the weight that the annotations of item i give to class k
    (Peterson et al. 2019, Fornaciari et al. 2021). Nothing is random: *seed* is only recorded.

    >>> votes = Annotations.from_rows("aab", ["ann", "bob", "ann"], ["no", "yes", "yes"])
    >>> softmax(votes).soft_labels["a"].tolist()
    [0.5, 0.5]
    """
    check_labels_fit(annotations)
    probs = annotations.from_counts(lambda start, stop, counts: simplex.softmax(counts))
    return vote_result(annotations, probs, "softmax", {}, seed)


def check_labels_fit(annotations: Annotations, *, arrays: int = 1) -> None:
    """Refuse soft labels that would not fit in memory, before they are made; *arrays* of their size are at work."""
    check_memory(
        annotations.n_items * annotations.n_classes * 8 * arrays,
        what=f"The soft labels of {annotations.n_items:,} items over {annotations.n_classes:,} classes",
        instead="Aggregate a part of the items at a time.",
    )


def lots(annotations: Annotations, ties: Ties, seed: Seed) -> NDArray[np.float64] | None:
    """Return what decides ties on each item, numbers in [0, 1) of shape (n_items,), where *ties* is ``random``.

    They are drawn in the order of the names' keys, so that the order of the input rows changes nothing.
    """
    check_choice(ties, get_args(Ties), option="ties")
    if ties != "random":
        return None
    result = np.empty(annotations.n_items)
    result[np.argsort(name_keys(annotations.items), kind="stable")] = generator(seed).random(annotations.n_items)
    return result


def shares_of(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return *counts*, shape (n_items, n_classes), as distributions, in their place; items without any are uniform."""
    step = _step(counts)
    for first in range(0, len(counts), step):
        counts[first : first + step] = simplex.normalise(counts[first : first + step])
    return counts


def majority_of(
    counts: NDArray[np.float64], ties: Ties, drawn: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Return the majority of *counts*, shape (n_items, n_classes), as distributions; items without any are uniform."""
    result = np.empty(counts.shape)
    step = _step(counts)
    for first in range(0, len(counts), step):
        part = slice(first, first + step)
        result[part] = _most_voted(counts[part], ties, None if drawn is None else drawn[part])
    return result


def _most_voted(counts: NDArray[Any], ties: Ties, drawn: NDArray[np.float64] | None) -> NDArray[np.float64]:
    most = counts.max(axis=1)
    best = counts >= (most * (1 - _TIE))[:, None]
    if ties == "share":
        shared: NDArray[np.float64] = best / best.sum(axis=1)[:, None]
        return shared
    chosen = best.argmax(axis=1)
    if drawn is not None:
        nth = (drawn * best.sum(axis=1)).astype(np.int64)
        chosen = (best.cumsum(axis=1) > nth[:, None]).argmax(axis=1)
    result = np.zeros(counts.shape)
    result[np.arange(len(counts)), chosen] = 1
    result[most == 0] = 1 / counts.shape[1]
    return result


def _step(counts: NDArray[np.float64]) -> int:
    """Return how many items to take at a time, so that the arrays of a step stay in the cache."""
    return max(1, _AT_A_TIME // max(1, int(counts.shape[1])))


def vote_result(
    annotations: Annotations,
    probs: NDArray[np.float64],
    method: str,
    options: Mapping[str, Any],
    seed: Seed,
    *,
    competence: NDArray[np.float64] | None = None,
    notes: tuple[str, ...] = (),
    **evidence: Any,
) -> Result:
    """Return the result of a method that weighs votes; *probs* is taken over."""
    origin = Origin(method, options, recorded(seed), annotations.fingerprint)
    return Result(
        soft_labels=SoftLabels.trusted(probs, annotations.items, annotations.classes, origin),
        annotators=AnnotatorSkills(annotations.annotators, annotations.per_annotator(), competence),
        notes=(*unseen(annotations, items="the uniform distribution stands there"), *notes),
        **evidence,
    )
