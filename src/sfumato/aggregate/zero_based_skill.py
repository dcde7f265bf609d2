"""Zero-based skill: weighted votes and agreement with them, in turns."""

from __future__ import annotations

__all__ = ["zero_based_skill"]

import warnings

import numpy as np

from sfumato.aggregate.result import Result
from sfumato.aggregate.votes import Ties, check_labels_fit, lots, majority_of, vote_result
from sfumato.aggregate.weighted_votes import agreement_with, weighted_counts
from sfumato.core import simplex
from sfumato.core.annotations import Annotations
from sfumato.core.arguments import checked_arguments
from sfumato.core.order_free import on_grid
from sfumato.core.seeds import Seed
from sfumato.errors import ConvergenceWarning, OptionError

# Skills that move by less are taken to stand still.
_STILL = 1e-12


@checked_arguments
def zero_based_skill(
    annotations: Annotations,
    *,
    max_iter: int = 100,
    learning_rate: float = 1.0,
    reduce_every: int = 20,
    reduce_by: float = 0.5,
    ties: Ties = "first",
    seed: Seed = 0,
) -> Result:
    """Return vote shares weighted by skills that are agreement with these very shares; shape (n_items, n_classes).

    From s_j = 1/n_classes + 10⁻⁵, each step moves s_j by r · (a_j − s_j), where a_j is the share of j's annotations
    that equal the class with the most weight Σ_j s_j on their item. The rate r is *learning_rate*, multiplied by
    *reduce_by* at every step whose number *reduce_every* divides (crowd-kit's rule and numbers). It ends after
    *max_iter* steps or, as further steps would change nothing, when no skill moves. ``trace`` is the mean squared
    gap between a_j and s_j before each step. *ties* is the rule of `majority` for the class with the most weight.

    >>> votes = Annotations.from_rows("aaabbb", ["ann", "bob", "cat"] * 2, ["x", "x", "y", "y", "y", "y"])
    >>> result = zero_based_skill(votes)
    >>> result.annotators.competence.tolist(), result.n_iter
    ([1.0, 1.0, 0.5], 2)
    """
    if max_iter < 1 or reduce_every < 1:
        raise OptionError(
            f"The options 'max_iter' and 'reduce_every' must be at least 1. Got {max_iter} and {reduce_every} instead."
        )
    for rate, option in ((learning_rate, "learning_rate"), (reduce_by, "reduce_by")):
        if not 0 < rate <= 1:
            raise OptionError(f"The option '{option}' must be above 0 and at most 1. Got {rate} instead.")
    options = {
        "max_iter": max_iter, "learning_rate": learning_rate,
        "reduce_every": reduce_every, "reduce_by": reduce_by, "ties": ties,
    }  # fmt: skip
    check_labels_fit(annotations, arrays=2)
    drawn = lots(annotations, ties, seed)
    skill = np.full(annotations.n_annotators, 1 / annotations.n_classes + 1e-5)
    rate, converged = learning_rate, False
    trace: list[float] = []
    while not converged and len(trace) < max_iter:
        if (len(trace) + 1) % reduce_every == 0:
            rate *= reduce_by
        top = majority_of(weighted_counts(annotations, skill), ties, drawn)
        # Who said nothing has nothing to agree with, and keeps the skill of the start.
        gap = np.nan_to_num(agreement_with(annotations, top) - skill)
        trace.append(float(on_grid(gap**2, len(gap)).sum()) / max(len(gap), 1))
        skill = skill + rate * gap
        converged = bool(np.abs(gap).max(initial=0) <= _STILL)
    if not converged:
        warnings.warn(
            f"The skills still moved after {max_iter} steps. Raise 'max_iter', or lower 'reduce_by' to calm them.",
            ConvergenceWarning,
            stacklevel=3,
        )
    return vote_result(
        annotations, np.asarray(simplex.normalise(weighted_counts(annotations, skill))), "zero_based_skill", options,
        seed, competence=skill, converged=converged, n_iter=len(trace), trace=tuple(trace),
    )  # fmt: skip
