"""GLAD: some annotators are more able than others, and some items harder than others."""

from __future__ import annotations

__all__ = ["glad"]

import math
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from sfumato.aggregate.blocks import AnnotationMatrix, annotation_matrix
from sfumato.aggregate.memory import check_memory
from sfumato.aggregate.result import AnnotatorSkills, Result
from sfumato.aggregate.unseen import unseen
from sfumato.core.annotations import Annotations
from sfumato.core.arguments import checked_arguments
from sfumato.core.origin import Origin
from sfumato.core.seeds import Seed, recorded
from sfumato.core.soft_labels import SoftLabels
from sfumato.errors import ConvergenceWarning, OptionError

Floats = NDArray[np.float64]
Indices = NDArray[np.signedinteger[Any]]

# A Newton step may worsen an objective of this relative size by rounding alone; that is no reason to refuse it.
_ROUNDING = 1e-10
# An item's log β moves by at most this much at once, so that exp cannot run over.
_MOST_EASE_STEP = 2.0


@checked_arguments
def glad(
    annotations: Annotations,
    *,
    class_prior: Sequence[float] | None = None,
    max_iter: int = 1000,
    tolerance: float = 1e-7,
    seed: Seed = 0,
) -> Result:
    """Return the posterior of each item's class where ability and difficulty decide who is right.

    Annotator j labels item i rightly with probability σ(α_j β_i), and else with any of the other n_classes − 1
    classes alike (Whitehill, Ruvolo, Wu, Bergsma & Movellan 2009, "Whose Vote Should Count More"). The ability α_j
    has the prior N(1, 1) and may be negative (an adversary); so has log β_i, where 1/β_i is the difficulty of the
    item. *class_prior* gives the prior of each class, in the order of the classes; without it they are equal.

    Expectation–maximisation: the M-step takes a Newton step for every ability, then one for every log β, each of which
    is a problem of one number given the other side, and refuses the steps that would lower the objective. ``trace`` is
    the log of the joint density of labels, abilities and log β, and never falls. It ends when an iteration gains less
    than *tolerance* per annotation, at the maximum that is reached from abilities and log β of 1; there may be others.

    ``soft_labels.uncertainty`` is the difficulty 1/β_i: near 0 everybody is right, large means that ability does not
    help. An annotator's competence is σ(α_j β) at the β of the typical item (the geometric mean of all β_i), hence
    increasing in α_j. A distribution counts as votes with its probabilities as weights. Nothing here is random: *seed*
    is recorded, so that all views can be called alike.

    >>> votes = Annotations.from_rows(list("aaabbbccc"), list("xyz" * 3), list("110001110"))
    >>> result = glad(votes)
    >>> result.soft_labels.top(), result.annotators.competence.round(2).tolist()
    (('1', '0', '1'), [0.99, 0.99, 0.13])
    """
    if max_iter < 1:
        raise OptionError(f"The option 'max_iter' must be at least 1. Got {max_iter} instead.")
    if not 0 <= tolerance < math.inf:
        raise OptionError(f"The option 'tolerance' must be a number, 0 or more. Got {tolerance} instead.")
    n_items, n_classes = annotations.n_items, annotations.n_classes
    check_memory(
        5 * 8 * (n_items * n_classes + 4 * len(annotations.item)),
        what=f"GLAD of {n_items:,} items with {n_classes:,} classes",
        instead="Aggregate fewer items at a time.",
    )
    log_prior = _log_prior(class_prior, n_classes)
    fit = _Fit(annotation_matrix(annotations), log_prior)
    trace: list[float] = []
    objective, converged = fit.expect(), False
    while not converged and len(trace) < max_iter:
        refused = fit.climb_abilities() + fit.climb_eases()
        trace.append(fit.expect())
        converged = refused == 0 and trace[-1] - objective <= tolerance * fit.total
        objective = trace[-1]
    if not converged:
        warnings.warn(
            f"Stopped at the limit of {max_iter} iterations before an iteration gained less than {tolerance:g} per "
            "annotation. Raise 'max_iter', or 'tolerance' if this is near enough.",
            ConvergenceWarning,
            stacklevel=3,
        )
    return _result(annotations, fit, trace, converged, {"max_iter": max_iter, "tolerance": tolerance}, seed)


class _Fit:
    """The state of the fit. Entries are the votes in canonical order, ``logits`` their x = α_j β_i.

    log p(label | its class) − log p(label | another class) = x + log(n_classes − 1), so the score of a class is the sum
    of this over the votes for it. Neither step needs more than one number per vote and one per item and class.
    """

    def __init__(self, matrix: AnnotationMatrix, log_prior: Floats) -> None:
        n_classes = matrix.n_classes
        self.matrix, self.log_prior = matrix, log_prior
        self.item: Indices = np.repeat(np.arange(matrix.n_judged), np.diff(matrix.offsets))
        self.annotator: Indices = matrix.columns // n_classes
        self.cell: Indices = self.item * n_classes + (matrix.columns - self.annotator * n_classes)
        self.weight: Floats | float = 1.0 if matrix.weights is None else matrix.weights.astype(np.float64)
        self.total = float(matrix.n_rows if matrix.weights is None else np.sum(self.weight))
        others = math.log(max(1, n_classes - 1))
        self.unanswered = others * self.total
        cells = matrix.n_judged * n_classes
        counts = np.bincount(self.cell, weights=matrix.weights, minlength=cells)
        self.base = others * counts.reshape(matrix.n_judged, n_classes) + log_prior
        self.ability, self.ability_pace = np.ones(matrix.n_annotators), np.ones(matrix.n_annotators)
        self.ease, self.ease_pace = np.ones(matrix.n_judged), np.ones(matrix.n_judged)
        self.beta = np.exp(self.ease)[self.item]
        self._move(self.ability[self.annotator] * self.beta)

    def expect(self) -> float:
        """Set the posterior for the present abilities and eases; return the objective."""
        scores: Floats = _sums(self.cell, self.weight * self.logits, self.base.size).reshape(self.base.shape)
        scores += self.base
        top = scores.max(axis=1, keepdims=True)
        scores -= top
        np.exp(scores, out=scores)
        total = scores.sum(axis=1, keepdims=True)
        scores /= total
        self.posterior: Floats = scores
        self.right = scores.reshape(-1)[self.cell]
        likelihood = (np.log(total) + top).sum() - np.sum(self.weight * self.softplus) - self.unanswered
        return float(likelihood - ((self.ability - 1) ** 2).sum() / 2 - ((self.ease - 1) ** 2).sum() / 2)

    def climb_abilities(self) -> int:
        """Take a Newton step for every ability; return how many were refused."""
        n = len(self.ability)
        gap = self.weight * (self.right - self.chance)
        slope = _sums(self.annotator, gap * self.beta, n) - (self.ability - 1)
        curvature = _sums(self.annotator, self.weight * self.beta**2 * self.chance * (1 - self.chance), n) + 1
        before, old, old_entries = self._expected(self.annotator, self.ability), self.ability, self._entries()
        self.ability = old + self.ability_pace * slope / curvature
        self._move(self.ability[self.annotator] * self.beta)
        worse = self._worse(before, self.annotator, self.ability)
        if worse.any():
            self.ability[worse] = old[worse]
            self._restore(worse[self.annotator], old_entries)
        self.ability_pace = _next_pace(self.ability_pace, worse)
        return int(worse.sum())

    def climb_eases(self) -> int:
        """Take a Newton step for every log β; return how many were refused."""
        n = len(self.ease)
        pull = self.weight * (self.right - self.chance) * self.logits
        slope = _sums(self.item, pull, n) - (self.ease - 1)
        # β = exp(log β) bends the objective by −pull too; where that bends it upwards, it is left out.
        bend = self.weight * self.logits**2 * self.chance * (1 - self.chance) + np.maximum(0, -pull)
        step = np.clip(slope / (_sums(self.item, bend, n) + 1), -_MOST_EASE_STEP, _MOST_EASE_STEP)
        before, old, old_entries = self._expected(self.item, self.ease), self.ease, (*self._entries(), self.beta)
        self.ease = old + self.ease_pace * step
        self.beta = np.exp(self.ease)[self.item]
        self._move(self.ability[self.annotator] * self.beta)
        worse = self._worse(before, self.item, self.ease)
        if worse.any():
            self.ease[worse] = old[worse]
            entries = worse[self.item]
            self._restore(entries, old_entries[:3])
            self.beta[entries] = old_entries[3][entries]
        self.ease_pace = _next_pace(self.ease_pace, worse)
        return int(worse.sum())

    def _move(self, logits: Floats) -> None:
        """Set x, log(1 + eˣ) and σ(x) of every entry, without overflow at either end."""
        small = np.exp(-np.abs(logits))
        self.logits = logits
        self.softplus: Floats = np.maximum(logits, 0) + np.log1p(small)
        self.chance: Floats = np.where(logits >= 0, 1, small) / (1 + small)

    def _entries(self) -> tuple[Floats, Floats, Floats]:
        return self.logits, self.softplus, self.chance

    def _restore(self, chosen: NDArray[np.bool_], entries: tuple[Floats, Floats, Floats]) -> None:
        for now, before in zip(self._entries(), entries, strict=True):
            now[chosen] = before[chosen]

    def _expected(self, index: Indices, values: Floats) -> Floats:
        """Return each annotator's (or item's) part of the expected log joint density, log σ(x) being x − softplus."""
        votes = self.weight * (self.right * self.logits - self.softplus)
        return _sums(index, votes, len(values)) - (values - 1) ** 2 / 2

    def _worse(self, before: Floats, index: Indices, values: Floats) -> NDArray[np.bool_]:
        return ~(self._expected(index, values) >= before - _ROUNDING * np.abs(before))


def _sums(index: Indices, values: Floats, size: int) -> Floats:
    # A count of no entries at all would come back as integers.
    return np.bincount(index, weights=values, minlength=size).astype(np.float64, copy=False)


def _next_pace(pace: Floats, refused: NDArray[np.bool_]) -> Floats:
    """Where a step was refused, the next is a quarter as long; elsewhere it grows back to a whole one."""
    return np.where(refused, pace / 4, np.minimum(1, 2 * pace))


def _log_prior(class_prior: Sequence[float] | None, n_classes: int) -> Floats:
    if class_prior is None:
        return np.full(n_classes, -math.log(max(1, n_classes)))
    prior = np.array(class_prior, dtype=np.float64)
    if prior.shape != (n_classes,) or not (prior > 0).all() or not np.isfinite(prior).all():
        raise OptionError(f"The option 'class_prior' needs {n_classes} positive numbers. Got {class_prior!r} instead.")
    result: Floats = np.log(prior / prior.sum())
    return result


def _result(
    annotations: Annotations, fit: _Fit, trace: list[float], converged: bool, options: dict[str, Any], seed: Seed
) -> Result:
    matrix = fit.matrix
    class_prior = np.exp(fit.log_prior)
    probs = np.tile(class_prior / class_prior.sum(), (matrix.n_items, 1))
    probs[matrix.item_order] = fit.posterior
    ease = np.ones(matrix.n_items)
    ease[matrix.item_order] = fit.ease
    typical = float(np.exp(fit.ease.mean())) if matrix.n_judged else math.e
    ability = np.empty(matrix.n_annotators)
    ability[matrix.annotator_order] = fit.ability
    competence = expit(ability * typical)
    options["class_prior"] = class_prior
    notes = [f"Competence is the chance of a right answer to the typical item (difficulty {1 / typical:.3g})."]
    adversaries = int((ability < 0).sum())
    if adversaries:
        notes.append(f"{adversaries} of {len(ability)} annotators are more often wrong than right; they count against.")
    notes += unseen(annotations, items="the class prior stands there", annotators="the prior alone describes them")
    return Result(
        soft_labels=SoftLabels(
            probs, items=annotations.items, classes=annotations.classes, uncertainty=np.exp(-ease),
            origin=Origin("glad", options=options, seed=recorded(seed), fingerprint=annotations.fingerprint),
        ),
        annotators=AnnotatorSkills(annotations.annotators, annotations.per_annotator(), competence=competence),
        converged=converged, n_iter=len(trace), trace=tuple(trace), class_prior=class_prior, notes=tuple(notes),
    )  # fmt: skip
