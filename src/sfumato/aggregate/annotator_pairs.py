"""Pairs of annotators: on how many shared items they gave the same answer, and on how many a model expects it.

The model's part is in `PairModel`: e_i and t_i of `sfumato.aggregate.copies`.
"""

from __future__ import annotations

__all__ = ["MOST_NUMBERS", "PairModel", "Pairs", "compared_pairs"]

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sfumato.aggregate.answers import Answers
from sfumato.aggregate.result import Result
from sfumato.core.annotations import Annotations
from sfumato.core.simplex import softmax

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

# Numbers in all confusion matrices together, up to which each annotator gets one; above, one accuracy each.
MOST_NUMBERS = 1 << 24
# Comparisons whose posteriors are made at a time: this many numbers stay in the cache.
_CELLS = 1 << 17
# Annotations per class that the prior of a confusion matrix is worth.
_STRENGTH = 4.0


class Pairs(NamedTuple):
    """Pairs of annotators, one entry each: codes, shared items, sums over them of u_i·v_i, e_i, t_i and t_i²."""

    first: Codes
    second: Codes
    n: Codes
    same: Floats
    expected: Floats
    residual: Floats
    squares: Floats


@dataclass(frozen=True, eq=False)
class PairModel:
    """θ and the log-posterior of each item, or accuracies alone; annotators and items in canonical order."""

    n_classes: int
    confusion: Floats | None
    accuracy: Floats
    # log p(label | class, annotator) of the fit, and what each row says, both by (annotator, label).
    table: Floats
    said: Any
    log_posterior: Floats

    @classmethod
    def of(cls, fit: Result, ordered: Annotations, answers: Answers, echoes: Codes) -> PairModel:
        from scipy.sparse import csr_array

        skills = fit.annotators
        n_classes = ordered.n_classes
        none = np.zeros((0, n_classes))
        if skills.confusion is None or fit.class_prior is None or skills.confusion.size > MOST_NUMBERS:
            return cls(n_classes, None, _accuracy(fit, ordered, answers), none, None, none)
        place = {name: j for j, name in enumerate(skills.annotators)}
        back = np.array([place[name] for name in ordered.annotators], dtype=np.int64)
        confusion = skills.confusion[back].astype(np.float64)
        per_row = np.diff(answers.said.indptr)
        annotator = np.repeat(answers.annotator, per_row)
        columns = annotator * n_classes + answers.said.indices
        weights = answers.said.data * np.repeat(answers.n, per_row)
        heard = np.where(np.isin(annotator, echoes), 0.0, weights)
        of_item = answers.said.indptr[answers.item_starts]
        shape = (answers.n_items, len(back) * n_classes)
        # A probability of nought would make the difference of two infinities where a contribution is taken away.
        table = np.log(np.maximum(confusion, 1e-100)).swapaxes(1, 2).reshape(-1, n_classes)
        log_prior = np.log(np.maximum(fit.class_prior, 1e-100))
        log_posterior = csr_array((heard, columns, of_item), shape=shape) @ table + log_prior
        counts = csr_array((weights, columns, of_item), shape=shape).T @ softmax(log_posterior)
        said = csr_array((heard, columns, answers.said.indptr), shape=(len(answers.item), shape[1]))
        relearnt = _confusion(counts.reshape(-1, n_classes, n_classes).swapaxes(1, 2))
        return cls(n_classes, relearnt, np.zeros(0), table, said, log_posterior)

    def pairs(self, first: int, second: Codes) -> Floats:
        """Return Σ_k θ_u[c,k]·θ_v[c,k] by second annotator and class, shape (n_second, n_classes)."""
        if self.confusion is not None:
            return np.asarray(np.einsum("ck,vck->vc", self.confusion[first], self.confusion[second]))
        u, v = self.accuracy[first], self.accuracy[second]
        return np.repeat((u * v + (1 - u) * (1 - v) / max(1, self.n_classes - 1))[:, None], self.n_classes, axis=1)

    def without_own(self, item: Codes, rows: Codes) -> Floats:
        """Return the log-posterior of items without the answers in one row each, up to a constant, (n, n_classes)."""
        if self.confusion is None:
            return np.zeros((len(item), self.n_classes))
        return np.asarray(self.log_posterior[item] - self.said[rows] @ self.table)

    def without_both(self, log_posterior: Floats, rows: Codes) -> Floats:
        """Return the posterior after the answers in one more row of each were taken away, shape (n, n_classes)."""
        if self.confusion is not None:
            log_posterior = log_posterior - self.said[rows] @ self.table
        # Along the long axis each step is one vectorised loop over thousands of items.
        scores = np.ascontiguousarray(log_posterior.T)
        scores -= scores.max(axis=0)
        np.exp(scores, out=scores)
        scores /= scores.sum(axis=0)
        return scores.T

    def explained(self, posterior: Floats, answers: Answers, first: Codes, second: Codes) -> Floats:
        """Return the part of u_i·v_i − e_i that is no residual of both: u·V + U·v − 2 U·V, shape (n,)."""
        if self.confusion is None:
            return np.zeros(len(posterior))
        u, v = (np.einsum("nc,nck->nk", posterior, self.confusion[answers.annotator[rows]]) for rows in (first, second))
        own = [np.asarray(answers.said[a].multiply(b).sum(axis=1)) for a, b in ((first, v), (second, u))]
        result: Floats = own[0] + own[1] - 2 * np.einsum("nk,nk->n", u, v)
        return result


def compared_pairs(model: PairModel | None, answers: Answers, least_shared: int, *, hard: bool) -> Pairs:
    """Return all pairs that share at least *least_shared* items; without a model nothing is expected.

    *hard* says that all answers are plain classes; the residuals are then u_i·v_i − e_i, which are less work.
    """
    codes, numbers = np.zeros(0, dtype=np.int64), np.zeros(0)
    parts = _compared(model, answers, least_shared, hard=hard)
    found = [Pairs(codes, codes, codes, numbers, numbers, numbers, numbers), *parts]
    return Pairs(*(np.concatenate(column) for column in zip(*found, strict=True)))


def _compared(model: PairModel | None, answers: Answers, least_shared: int, *, hard: bool) -> Iterator[Pairs]:
    """Yield, for each annotator, the pairs with the annotators after it that share enough items."""
    ends = answers.item_starts[answers.item + 1]
    place = np.zeros(answers.n_annotators, dtype=np.int64)
    for first in range(answers.n_annotators):
        rows = answers.rows_of(first)
        # Within an item the rows are sorted by annotator: those after the own one are of the annotators after it.
        lengths = ends[rows] - rows - 1
        own = np.repeat(np.arange(len(rows)), lengths)
        other = rows[own] + 1 + np.arange(len(own)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        annotator = answers.annotator[other]
        n_shared = np.bincount(annotator, minlength=answers.n_annotators)
        second = np.flatnonzero(n_shared >= least_shared)
        if not len(second):
            continue
        place[second] = np.arange(len(second))
        kept = n_shared[annotator] >= least_shared
        own, other, code = own[kept], other[kept], place[annotator[kept]]
        if model is not None:
            log_posterior = model.without_own(answers.item[rows], rows)
            agreeing = model.pairs(first, second)
        sums = np.zeros((4, len(second)))
        step = max(1, _CELLS // answers.said.shape[1] ** (1 if hard else 2))
        for begin in range(0, len(own), step):
            part = slice(begin, begin + step)
            u, v, pair = rows[own[part]], other[part], code[part]
            same = np.asarray(answers.said[u].multiply(answers.said[v]).sum(axis=1))
            expected = np.zeros(len(u))
            if model is not None:
                posterior = model.without_both(log_posterior[own[part]], v)
                expected = np.einsum("nc,nc->n", posterior, agreeing[pair])
            residual = same - expected
            if model is not None and not hard:
                residual -= model.explained(posterior, answers, u, v)
            for total, values in zip(sums, (same, expected, residual, residual**2), strict=True):
                total += np.bincount(pair, weights=values, minlength=len(second))
        yield Pairs(np.full(len(second), first), second, n_shared[second], *sums)


def _accuracy(fit: Result, ordered: Annotations, answers: Answers) -> Floats:
    """Return how much of the posterior each annotator's answers hit, those of whom the fit has not heard too."""
    place = {name: i for i, name in enumerate(fit.soft_labels.items)}
    probs = fit.soft_labels.probs[[place[name] for name in ordered.items]]
    row = np.repeat(np.arange(len(answers.item)), np.diff(answers.said.indptr))
    hit = answers.said.data * probs[answers.item[row], answers.said.indices]
    right = np.bincount(answers.annotator[row], weights=hit, minlength=answers.n_annotators)
    n = np.bincount(answers.annotator, minlength=answers.n_annotators)
    return np.asarray((right + right.sum() / n.sum()) / (n + 1))


def _confusion(counts: Floats) -> Floats:
    """Return θ from expected counts, both (n_annotators, n_classes, n_classes) with the class in rows.

    Dawid–Skene's own θ is drawn towards the pool of all annotators, and the good ones would agree more than it
    expects. So each is drawn towards a matrix of the annotator's own accuracy, whose errors fall as everybody's do.
    """
    n_classes = counts.shape[1]
    diagonal = np.eye(n_classes, dtype=np.bool_)
    pool = counts.sum(axis=0) + 1 / n_classes
    errors = np.where(diagonal, 0, pool)
    errors /= np.maximum(errors.sum(axis=1, keepdims=True), 1e-300)
    right = np.trace(pool) / pool.sum()
    accuracy = (counts[:, diagonal].sum(axis=1) + right) / (counts.sum(axis=(1, 2)) + 1)
    centre = np.where(diagonal, accuracy[:, None, None], (1 - accuracy)[:, None, None] * errors)
    result: Floats = counts + _STRENGTH * centre
    result /= result.sum(axis=2, keepdims=True)
    return result
