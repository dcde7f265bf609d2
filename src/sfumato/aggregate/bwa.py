"""Bayesian weighted average: votes weighted by the precision of who cast them, class by class."""

from __future__ import annotations

__all__ = ["bwa"]

import math
import warnings

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import gammaln

from sfumato.aggregate.blocks import AnnotationMatrix, annotation_matrix
from sfumato.aggregate.memory import check_memory
from sfumato.aggregate.result import AnnotatorSkills, Result
from sfumato.aggregate.unseen import unseen
from sfumato.core.annotations import Annotations
from sfumato.core.arguments import checked_arguments
from sfumato.core.origin import Origin
from sfumato.core.seeds import Seed, recorded
from sfumato.core.simplex import normalise
from sfumato.core.soft_labels import SoftLabels
from sfumato.errors import ConvergenceWarning, OptionError

Floats = NDArray[np.float64]


@checked_arguments
def bwa(
    annotations: Annotations,
    *,
    shape: float = 15.0,
    shrinkage: float = 1.0,
    max_iter: int = 500,
    tolerance: float = 1e-6,
    seed: Seed = 0,
) -> Result:
    """Return weighted vote shares, the weights being the precisions of the annotators; shape (n_items, n_classes).

    Bayesian weighted average (Li, Rubinstein & Cohn 2019, "Truth Inference at Scale"). For each class by itself the
    vote y_ij (1 for the class, 0 against it) is a measurement of z_i with the annotator's precision v_j:

        y_ij ~ N(z_i, 1/v_j)   v_j ~ Gamma(a/2, rate b/2)   z_i ~ N(μ, 1/λ)

    with a = *shape*, λ = *shrinkage*, and b such that the prior variance b/a is 4(1 − 1/n_classes) times the variance
    of the votes about the vote shares of their items. Expectation–maximisation with v as the hidden variable:

        v_j = (a + n_j) / (b + Σ_i (y_ij − z_i)²)   z_i = (λμ + Σ_j v_j y_ij) / (λ + Σ_j v_j)   μ = mean of z

    ``trace`` is the log density of votes and z with v integrated out, summed over the classes; it never falls. It ends
    when no z changes by more than *tolerance*. The soft label is z_i, normalised over the classes, of which each has
    a fit of its own. It is a smoothed share of the votes, less sharp than a posterior. A distribution is a vote
    with y_ij between 0 and 1.

    Competence is the mean mass that the soft labels give to what the annotator said (NaN for who said nothing).
    Nothing here is random: *seed* is recorded, so that all views can be called alike.

    >>> votes = Annotations.from_rows(list("aaabbbccc"), list("xyz" * 3), list("110001110"))
    >>> bwa(votes).soft_labels["c"].round(3).tolist()
    [0.318, 0.682]
    """
    for value, option in ((shape, "shape"), (shrinkage, "shrinkage")):
        if not 0 < value < np.inf:
            raise OptionError(f"The option '{option}' must be a positive number. Got {value} instead.")
    if max_iter < 1:
        raise OptionError(f"The option 'max_iter' must be at least 1. Got {max_iter} instead.")
    if not 0 <= tolerance < math.inf:
        raise OptionError(f"The option 'tolerance' must be a number, 0 or more. Got {tolerance} instead.")
    check_memory(
        8 * 5 * annotations.n_classes * (annotations.n_items + annotations.n_annotators),
        what=f"BWA of {annotations.n_items:,} items with {annotations.n_classes:,} classes",
        instead="Aggregate fewer items at a time.",
    )
    fit = _Fit(annotation_matrix(annotations), shape, shrinkage)
    trace: list[float] = []
    converged = fit.matrix.n_judged == 0
    while not converged and len(trace) < max_iter:
        change = fit.step()
        trace.append(fit.objective())
        converged = change <= tolerance
    if not converged:
        warnings.warn(
            f"Stopped at the limit of {max_iter} iterations before the change of the averages fell below "
            f"{tolerance:g}. Raise 'max_iter', or 'tolerance' if this is near enough.",
            ConvergenceWarning,
            stacklevel=3,
        )
    matrix = fit.matrix
    prior = np.asarray(normalise(fit.centre), dtype=np.float64)
    probs = np.tile(prior, (matrix.n_items, 1))
    probs[matrix.item_order] = normalise(fit.average)
    competence = np.full(matrix.n_annotators, np.nan)
    competence[matrix.annotator_order] = fit.competence(probs[matrix.item_order])
    options = {"shape": shape, "shrinkage": shrinkage, "max_iter": max_iter, "tolerance": tolerance}
    return Result(
        soft_labels=SoftLabels(
            probs, items=annotations.items, classes=annotations.classes,
            origin=Origin("bwa", options, recorded(seed), annotations.fingerprint),
        ),
        annotators=AnnotatorSkills(annotations.annotators, annotations.per_annotator(), competence=competence),
        converged=converged, n_iter=len(trace), trace=tuple(trace), class_prior=prior,
        notes=unseen(annotations, items="the mean of the others stands there"),
    )  # fmt: skip


class _Fit:
    """All classes side by side: ``average`` is z, (n_judged, n_classes), ``precision`` v, (n_annotators, n_classes)."""

    def __init__(self, matrix: AnnotationMatrix, shape: float, shrinkage: float) -> None:
        self.matrix, self.shape, self.shrinkage = matrix, shape, shrinkage
        n_classes, n_judged = matrix.n_classes, matrix.n_judged
        weight = np.ones(matrix.n_rows) if matrix.weights is None else matrix.weights.astype(np.float64)
        # Who judged what, a distribution still counting as one.
        self.judged = csr_array(
            (weight, matrix.columns // n_classes, matrix.offsets), shape=(n_judged, matrix.n_annotators)
        )
        item = np.repeat(np.arange(n_judged), np.diff(matrix.offsets))
        self.cell = item * n_classes + matrix.columns % n_classes
        self.weight = weight
        self.counts = self._per_cell(weight)
        self.said = np.asarray(self.judged.sum(axis=0), dtype=np.float64)
        self.squares = self._per_column(weight**2)
        self.average: Floats = np.asarray(normalise(self.counts), dtype=np.float64)
        self.centre: Floats = np.full(n_classes, 1 / n_classes)
        total = self.counts.sum()
        spread = np.zeros(n_classes)
        if total:
            spread = (self.squares.sum(axis=0) - (self.counts * self.average).sum(axis=0)) / total
        # Where nobody disagrees there is no variance to go by: as much is taken as one vote against all would make.
        spread = np.maximum(spread, total / (total + 1) ** 2)
        self.scale: Floats = shape * 4 * (1 - 1 / max(2, n_classes)) * spread
        self.residual = self._residual()

    def step(self) -> float:
        """Set the precisions, the centre and the averages in turn; return the largest change of an average."""
        precision = (self.shape + self.said)[:, None] / (self.scale + self.residual)
        self.centre = self.average.mean(axis=0)
        drawn = self._per_cell(self.weight * precision.reshape(-1)[self.matrix.columns])
        drawn += self.shrinkage * self.centre
        drawn /= self.shrinkage + self.judged @ precision
        change = float(np.abs(drawn - self.average).max(initial=0))
        self.average = drawn
        self.residual = self._residual()
        return change

    def objective(self) -> float:
        """Return Σ_k log p(y, z | μ, a, b, λ)."""
        a, b, n = self.shape, self.scale, self.said[:, None]
        votes = gammaln((a + n) / 2) - gammaln(a / 2) - n / 2 * math.log(2 * math.pi)
        votes = votes + a / 2 * np.log(b / 2) - (a + n) / 2 * np.log((b + self.residual) / 2)
        items = math.log(self.shrinkage / (2 * math.pi)) - self.shrinkage * (self.average - self.centre) ** 2
        return float(votes.sum() + items.sum() / 2)

    def competence(self, probs: Floats) -> Floats:
        """Return each annotator's mean of Σ_k y_ik p_ik over the items, in the matrix's order."""
        agreed = np.bincount(
            self.matrix.columns // self.matrix.n_classes,
            weights=self.weight * probs.reshape(-1)[self.cell],
            minlength=self.matrix.n_annotators,
        )
        share: Floats = np.divide(agreed, self.said, out=np.full(len(agreed), np.nan), where=self.said > 0)
        return share

    def _residual(self) -> Floats:
        """Return Σ_i (y_ij − z_i)² of each annotator and class, by its three terms: y is 0 for all but the votes."""
        crossed = self._per_column(self.weight * self.average.reshape(-1)[self.cell])
        residual: Floats = self.judged.T @ self.average**2 - 2 * crossed + self.squares
        # The difference of the terms may be an ulp below zero.
        np.maximum(residual, 0, out=residual)
        return residual

    def _per_cell(self, values: Floats) -> Floats:
        shape = self.matrix.n_judged, self.matrix.n_classes
        return np.bincount(self.cell, weights=values, minlength=shape[0] * shape[1]).astype(np.float64).reshape(shape)

    def _per_column(self, values: Floats) -> Floats:
        shape = self.matrix.n_annotators, self.matrix.n_classes
        sums = np.bincount(self.matrix.columns, weights=values, minlength=self.matrix.n_columns)
        return sums.astype(np.float64).reshape(shape)
