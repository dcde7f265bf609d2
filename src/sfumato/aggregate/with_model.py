"""Annotators joined with a classifier, each weighing what its agreement with the others says."""

from __future__ import annotations

__all__ = ["with_model"]

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.aggregate.blocks import AnnotationMatrix, annotation_matrix
from sfumato.aggregate.memory import check_memory
from sfumato.aggregate.result import AnnotatorSkills, Result
from sfumato.aggregate.unseen import unseen
from sfumato.core.annotations import Annotations
from sfumato.core.arguments import checked_arguments
from sfumato.core.origin import Origin
from sfumato.core.seeds import Seed, recorded
from sfumato.core.soft_labels import SoftLabels
from sfumato.core.vocabulary import counted
from sfumato.errors import InputError, OptionError

Floats = NDArray[np.float64]
Labels = NDArray[np.int64]

# What CROWDLAB lets a weight and the error of the most frequent class at least be.
_LEAST = 1e-6
# Sums of weights that differ by less than this part of the largest are tied.
_TIE = 1e-9


@checked_arguments
def with_model(annotations: Annotations, model: SoftLabels, *, passes: int = 1, seed: Seed = 0) -> Result:
    """Return the weighted average of annotators and a classifier; shape (n_items, n_classes).

    *model* holds the probabilities that a classifier gives to the items out of sample (by cross-validation, say); it
    must know every item and the same classes, in any order, and may know more items. CROWDLAB (Goh, Tkachenko &
    Mueller 2022, "Supervised learning to infer consensus labels and quality scores for data with multiple
    annotators"), with the majority vote as consensus Ŷ:

        p_i = (w_M p_M,i + Σ_j w_j p_ij) / (w_M + Σ_j w_j)  over the annotators j of item i, where
        p_ij = P for the label that j gave and (1 − P)/(n_classes − 1) for the others
        P    = mean share of an item's annotations that agree with Ŷ
        w_j  = 1 − (1 − s_j)/E, with s_j the share of the other annotations of j's items that agree with j's
        w_M  = (1 − error of the model against Ŷ)/E) √(mean number of annotations of an item)
        E    = error of always answering the most frequent class of Ŷ

    all over the items with more than one annotation, and w ≥ 1e-6. A tied majority goes to the class that the model
    finds likeliest, then to the rarer class, then to the first. Of distributions, agreement is Σ_k of the products.

    The likeliest classes of these p are CROWDLAB's consensus. With *passes* = 2 everything is taken anew with them as
    Ŷ, as CROWDLAB does for the quality of its consensus; but then the model is measured against what it had a say
    in, and weighs too much: its p lies farther from gold as a rule (bench/annotator_models.py with-model).

    Competence is CROWDLAB's rating, of the second pass: w̄ times the mean of p_i at the labels that j gave, plus 1 − w̄
    times the share of them that agree with Ŷ, w̄ being the model's part of the weights (NaN for who said nothing). An
    item without annotations gets the model's probabilities. Nothing here is random: *seed* is recorded, so that all
    views can be called alike.

    >>> votes = Annotations.from_rows("aabbccdd", "xyxyxyxy", ["no", "no", "no", "yes", "yes", "yes", "no", "no"])
    >>> model = SoftLabels([[0.9, 0.1], [0.2, 0.8], [0.3, 0.7], [0.8, 0.2]], items=list("abcd"), classes=["no", "yes"])
    >>> with_model(votes, model).soft_labels["b"].round(3).tolist()
    [0.324, 0.676]
    """
    if passes not in (1, 2):
        raise OptionError(f"The option 'passes' must be 1 or 2. Got {passes} instead.")
    check_memory(
        8 * 6 * annotations.n_items * annotations.n_classes,
        what=f"The average over {annotations.n_items:,} items with {annotations.n_classes:,} classes",
        instead="Aggregate fewer items at a time.",
    )
    for what, known, wanted in (
        ("item", model.items, annotations.items),
        ("class", model.classes, annotations.classes),
    ):
        lacking = sorted(set(wanted) - set(known))
        if lacking:
            several = f" and {len(lacking) - 1:,} more" if len(lacking) > 1 else ""
            raise InputError(
                f"The model's probabilities lack the {what} {lacking[0]!r}{several}, which the annotations have. "
                f"Give a probability for every {what} of the annotations."
            )
    unused = sorted(set(model.classes) - set(annotations.classes))
    if unused:
        raise InputError(
            f"The model's probabilities have the class {unused[0]!r}, which the annotations do not. Leave its column "
            "out, or give all classes when the annotations are read: classes=… (on the command line --classes)."
        )
    more = model.n_items - annotations.n_items
    aligned = model if model.items == annotations.items else model.take(annotations.items)
    if aligned.classes != annotations.classes:
        aligned = aligned.with_classes(annotations.classes)
    predicted = np.asarray(aligned.probs, dtype=np.float64)
    matrix = annotation_matrix(annotations)
    probs, competence = predicted.copy(), np.full(matrix.n_annotators, np.nan)
    notes: list[str] = []
    if matrix.n_judged:
        votes = _Votes(matrix, predicted[matrix.item_order])
        consensus = votes.majority()
        first, weights = votes.weighted(consensus)
        consensus = votes.best(first, consensus)
        second, weights_then = votes.weighted(consensus)
        competence[matrix.annotator_order] = votes.competence(second, consensus, weights_then)
        joined, weights = (first, weights) if passes == 1 else (second, weights_then)
        probs[matrix.item_order] = joined
        notes.append(f"The model weighs as much as {votes.model_in_votes(weights):.3g} average annotations.")
        if not votes.shared:
            notes.append(
                "No item has two annotations, so agreement among annotators is unknown: "
                "all are taken to be as good as the model, by their agreement with it."
            )
    notes += unseen(annotations, items="the model's probabilities stand there")
    if more:
        notes.append(f"Left out: {counted(more, 'item')} that the model knows and the annotations do not.")
    options = {"model": model.fingerprint, "passes": passes}
    origin = Origin("with_model", options, recorded(seed), annotations.fingerprint)
    return Result(
        soft_labels=SoftLabels(probs, items=annotations.items, classes=annotations.classes, origin=origin),
        annotators=AnnotatorSkills(annotations.annotators, annotations.per_annotator(), competence=competence),
        n_iter=passes if matrix.n_judged else 0,
        notes=tuple(notes),
    )


@dataclass(frozen=True)
class _Weights:
    """w_j of shape (n_annotators,) and w_M."""

    annotators: Floats
    model: float


class _Votes:
    """The judged items in canonical order: their votes, and what the model says of them."""

    def __init__(self, matrix: AnnotationMatrix, predicted: Floats) -> None:
        n_classes = matrix.n_classes
        self.matrix, self.predicted = matrix, predicted
        self.item = np.repeat(np.arange(matrix.n_judged), np.diff(matrix.offsets))
        self.annotator = matrix.columns // n_classes
        self.cell = self.item * n_classes + matrix.columns % n_classes
        self.weight = np.ones(matrix.n_rows) if matrix.weights is None else matrix.weights.astype(np.float64)
        self.counts = self._per_cell(self.weight)
        self.said = self._per_annotator(self.weight)
        # The weights of an annotation sum to 1, so their sum counts the annotations.
        self.panel = np.rint(self.counts.sum(axis=1))
        self.agreement = self._agreement()
        self.shared = not np.isnan(self.agreement).all()
        self.compared = self.panel > 1 if self.shared else self.panel > 0
        if self.shared:
            self.agreement[np.isnan(self.agreement)] = np.nanmean(self.agreement)
        else:
            agrees = predicted.argmax(axis=1)[self.item] == self.cell - self.item * n_classes
            self.agreement[:] = (self.weight * agrees).sum() / self.weight.sum()

    def majority(self) -> Labels:
        """Return the class with the most votes; ties go to the model's choice, the rarer class, the first."""
        best = self.counts >= self.counts.max(axis=1, keepdims=True) * (1 - _TIE)
        likeliest = np.where(best, self.predicted, -1.0)
        best &= likeliest == likeliest.max(axis=1, keepdims=True)
        result: Labels = np.where(best, self.counts.sum(axis=0), np.inf).argmin(axis=1)
        return result

    def best(self, joined: Floats, consensus: Labels) -> Labels:
        """Return the likeliest class of each item; where several are, the consensus stays."""
        tied = (joined == joined.max(axis=1, keepdims=True)).sum(axis=1) > 1
        return np.where(tied, consensus, joined.argmax(axis=1))

    def weighted(self, consensus: Labels) -> tuple[Floats, _Weights]:
        """Return the weighted average of model and annotators, and the weights."""
        n_classes = self.matrix.n_classes
        agreed = self.counts[np.arange(len(consensus)), consensus] / self.panel
        right = float(agreed[self.compared].mean()) if self.shared else float(self.agreement[0])
        wrong = (1 - right) / max(1, n_classes - 1)
        chosen = consensus[self.compared]
        baseline = max(_LEAST, float(np.mean(chosen != np.bincount(chosen).argmax())))
        model_error = float(np.mean(self.predicted[self.compared].argmax(axis=1) != chosen))
        weights = _Weights(
            annotators=np.maximum(_LEAST, 1 - (1 - self.agreement) / baseline),
            model=max(_LEAST, 1 - model_error / baseline) * math.sqrt(self.panel.mean()),
        )
        votes = self.weight * weights.annotators[self.annotator]
        total = _sums(self.item, votes, self.matrix.n_judged)[:, None]
        joined = (right - wrong) * self._per_cell(votes)
        joined += wrong * total
        joined += weights.model * self.predicted
        joined /= total + weights.model
        return joined, weights

    def competence(self, joined: Floats, consensus: Labels, weights: _Weights) -> Floats:
        """Return CROWDLAB's rating of each annotator, in the matrix's order."""
        n_classes = self.matrix.n_classes
        likely = _ratio(self._per_annotator(self.weight * joined.reshape(-1)[self.cell]), self.said)
        counted = self.weight * self.compared[self.item]
        agrees = self.cell - self.item * n_classes == consensus[self.item]
        agreed = _ratio(self._per_annotator(counted * agrees), self._per_annotator(counted))
        # Who shares no item with others is rated by the soft labels alone.
        agreed = np.where(np.isnan(agreed), likely, agreed)
        others = weights.annotators.sum() * self.panel.mean() / len(weights.annotators)
        share = weights.model / (weights.model + others)
        rating: Floats = share * likely + (1 - share) * agreed
        return rating

    def model_in_votes(self, weights: _Weights) -> float:
        """Return how many average annotations the model outweighs."""
        return float(weights.model * self.said.sum() / (weights.annotators * self.said).sum())

    def _agreement(self) -> Floats:
        """Return s_j, NaN for who shares no item with others."""
        # Entries of an item stand in the order of annotator and label, so those of one annotator stand together:
        # nobody agrees with themselves.
        new_item = np.diff(self.item, prepend=-1) != 0
        pair = np.flatnonzero(new_item | (np.diff(self.annotator, prepend=-1) != 0))
        own = np.rint(np.add.reduceat(self.weight, pair))
        met = own * (self.panel[self.item[pair]] - own)
        label = np.flatnonzero(new_item | (np.diff(self.matrix.columns, prepend=-1) != 0))
        same = np.add.reduceat(self.weight, label)
        agreed = same * (self.counts.reshape(-1)[self.cell[label]] - same)
        size = self.matrix.n_annotators
        return _ratio(_sums(self.annotator[label], agreed, size), _sums(self.annotator[pair], met, size))

    def _per_cell(self, values: Floats) -> Floats:
        shape = self.matrix.n_judged, self.matrix.n_classes
        return _sums(self.cell, values, shape[0] * shape[1]).reshape(shape)

    def _per_annotator(self, values: Floats) -> Floats:
        return _sums(self.annotator, values, self.matrix.n_annotators)


def _sums(index: NDArray[np.signedinteger[Any]], values: Floats, size: int) -> Floats:
    sums: Floats = np.bincount(index, weights=values, minlength=size).astype(np.float64, copy=False)
    return sums


def _ratio(part: Floats, whole: Floats) -> Floats:
    """Return part / whole, NaN where there is nothing."""
    result: Floats = np.divide(part, whole, out=np.full(part.shape, np.nan), where=whole > 0)
    return result
