"""Wawa: votes weighted by the annotator's agreement with the majority."""

from __future__ import annotations

__all__ = ["wawa"]

import numpy as np

from sfumato.aggregate.result import Result
from sfumato.aggregate.votes import Ties, check_labels_fit, lots, majority_of, shares_of, vote_result
from sfumato.aggregate.weighted_votes import agreement_with, weighted_counts
from sfumato.core.annotations import Annotations
from sfumato.core.arguments import checked_arguments
from sfumato.core.seeds import Seed


@checked_arguments
def wawa(annotations: Annotations, *, ties: Ties = "first", seed: Seed = 0) -> Result:
    """Return the vote shares after each annotator is weighted by agreement with the majority; (n_items, n_classes).

    s_j = the share of j's annotations that equal the majority vote of their item, p(i, k) ∝ Σ_j s_j [j said k of i]
    (worker agreement with aggregate, as crowd-kit defines it). *ties* is the rule of `majority` for the first step:
    ``first`` (crowd-kit's), ``random``, or ``share``, with which agreeing with one of t tied classes counts 1/t.
    An item without annotations gets the uniform distribution; who said nothing has the competence NaN.

    >>> votes = Annotations.from_rows("aaabbb", ["ann", "bob", "cat"] * 2, ["x", "x", "y", "y", "y", "y"])
    >>> wawa(votes).soft_labels["a"].tolist(), wawa(votes).annotators.competence.tolist()
    ([0.8, 0.2], [1.0, 1.0, 0.5])
    """
    check_labels_fit(annotations, arrays=2)
    drawn = lots(annotations, ties, seed)
    skill = agreement_with(annotations, majority_of(annotations.counts(), ties, drawn))
    probs = shares_of(weighted_counts(annotations, np.nan_to_num(skill)))
    return vote_result(annotations, probs, "wawa", {"ties": ties}, seed, competence=skill)
