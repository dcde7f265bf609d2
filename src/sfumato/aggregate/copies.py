"""Pairs of annotators who give the same answers more often than knowing the same truth explains.

Under Dawid and Skene's model two annotators who know nothing of each other agree on item i with the probability
e_i = Σ_c p_i(c) Σ_k θ_u[c,k]·θ_v[c,k]. Here p_i is the posterior from all annotations of the item but the pair's own:
their contributions are taken away in log space, so that what they say together is no evidence for itself.

Of distributions u_i and v_i, whose products vary too much, the residuals are compared instead: with
U_i = Σ_c p_i(c)·θ_u[c] and V_i likewise, t_i = (u_i − U_i)·(v_i − V_i) − (e_i − U_i·V_i) is 0 in the mean without
copying, and errors of θ enter it as products alone.
"""

from __future__ import annotations

__all__ = ["Copies", "suspected_copies"]

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sfumato.aggregate.answers import Answers, in_canonical_order
from sfumato.aggregate.dawid_skene import dawid_skene
from sfumato.aggregate.false_discovery import adjusted_p
from sfumato.aggregate.one_coin import one_coin
from sfumato.aggregate.result import Result
from sfumato.core.annotations import Annotations
from sfumato.core.order_free import name_keys
from sfumato.core.simplex import softmax
from sfumato.errors import ConvergenceWarning, OptionError

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

# Numbers in all confusion matrices together, up to which each annotator gets one; above, one accuracy each.
_MOST_NUMBERS = 1 << 24
# Comparisons whose posteriors are made at a time: this many numbers stay in the cache.
_CELLS = 1 << 17
# How often the model is fitted anew without those who are suspected to repeat another.
_MOST_ROUNDS = 5
# Annotations per class that the prior of a confusion matrix is worth.
_STRENGTH = 4.0
# Pairs from which on the usual excess of agreement, and its spread, can be read off the pairs themselves.
_FOR_CENTRE, _FOR_SPREAD = 10, 30


@dataclass(frozen=True, eq=False)
class Copies:
    """Suspected pairs, the most certain first: one entry per pair in every field from ``first`` to ``p_adjusted``.

    ``same`` is on how many of the ``n_shared`` items the two agree, ``expected`` on how many they would without
    copying, and ``z`` how many standard deviations lie between. ``n_pairs`` were tested, on ``n_items`` items.
    """

    first: tuple[str, ...]
    second: tuple[str, ...]
    n_shared: Codes
    same: Floats
    expected: Floats
    z: Floats
    p: Floats
    p_adjusted: Floats
    n_pairs: int
    n_items: int

    def columns(self) -> dict[str, list[Any]]:
        """Return the pairs as columns of equal length."""
        columns: dict[str, list[Any]] = {"annotator": list(self.first), "other": list(self.second)}
        for name in ("n_shared", "same", "expected", "z", "p", "p_adjusted"):
            columns[name] = getattr(self, name).tolist()
        return columns


def suspected_copies(
    annotations: Annotations,
    *,
    false_discovery_rate: float = 0.05,
    least_shared: int = 10,
    most_comparisons: int = 5_000_000,
) -> Copies:
    """Return the pairs of annotators whose answers are the same more often than the truth explains.

    All pairs that share at least *least_shared* items are tested. The number of same answers is held against
    Σ_i e_i (see the module), in three steps that each can only make an accusation rarer. The expected rate of a pair
    is at least Σ_k m_u[k]·m_v[k] over the shares m of their labels, for two who ignore the items. From ten pairs on,
    all rates are moved up, on the log-odds, until the pair in the middle agrees as often as expected: items that are
    hard or misleading make everybody agree more than the model knows. And from thirty pairs on, z is divided by the
    spread of the pairs below the middle, where that is above 1 (Efron 2004, an empirical null). p is the upper tail
    of the binomial of the mean rate, a bound for unequal rates (Hoeffding 1956); for distributions, of Student's t.
    Pairs pass at *false_discovery_rate* (Benjamini–Hochberg). What no step sees are items of unequal difficulty that
    some pairs are more alike in than others: a pair of real people may look alike for that reason, so look at it.

    Where there are more than *most_comparisons* (pair, item), items are left out, chosen by a hash of their names.
    Who copied from whom is not to be seen.

    >>> from sfumato.data import simulate
    >>> planted = simulate(n_items=300, n_annotators=10, copiers=0.1, seed=2)
    >>> found = suspected_copies(planted.annotations)
    >>> list(zip(found.first, found.second)), int(planted.copied.argmax()), int(planted.copied.max())
    ([('annotator0', 'annotator3')], 0, 3)
    """
    if not 0 < false_discovery_rate < 1:
        raise OptionError(
            f"The option 'false_discovery_rate' must be between 0 and 1. Got {false_discovery_rate} instead."
        )
    for value, option in ((least_shared, "least_shared"), (most_comparisons, "most_comparisons")):
        if value < 2:
            raise OptionError(f"The option '{option}' must be at least 2. Got {value} instead.")
    ordered = in_canonical_order(annotations)
    kept = _affordable(ordered, most_comparisons)
    answers = Answers.of(kept)
    echoes: Codes = np.zeros(0, dtype=np.int64)
    heard = ordered
    for step in range(_MOST_ROUNDS):
        # First under a model in which all annotators are alike: Dawid–Skene may take two with one voice for the truth.
        model = _Model.of(_fitted(heard, alike=step == 0), kept, answers, echoes)
        pairs = _joined(_compared(model, answers, least_shared, hard=kept.is_hard))
        z, p, expected = _tested(pairs, answers, hard=kept.is_hard)
        suspected = adjusted_p(p) <= false_discovery_rate
        more = np.union1d(echoes, _echoes(pairs, np.where(suspected, z, -np.inf), answers))
        if step > 0 and len(more) == len(echoes):
            break
        # Two with one voice count twice in the truth, and make others look wrong together: one of them is left out.
        echoes = more
        heard = ordered.take_annotations(~np.isin(ordered.annotator[ordered.starts[:-1]], echoes))
    adjusted = adjusted_p(p)
    found = np.flatnonzero(adjusted <= false_discovery_rate)
    found = found[np.lexsort((pairs.second[found], pairs.first[found], -z[found]))]
    names = kept.annotators
    return Copies(
        first=tuple(names[u] for u in pairs.first[found]),
        second=tuple(names[v] for v in pairs.second[found]),
        n_shared=pairs.n[found], same=pairs.same[found], expected=expected[found],
        z=z[found], p=p[found], p_adjusted=adjusted[found],
        n_pairs=len(p), n_items=int((answers.per_item > 0).sum()),
    )  # fmt: skip


def _fitted(annotations: Annotations, *, alike: bool) -> Result:
    """Return Dawid–Skene, or one-coin where the matrices would be too many; *alike* fixes one matrix for everybody."""
    strength = 1e9 if alike else 8.0
    with warnings.catch_warnings():
        # A posterior that still moves in the sixth digit is as good for a test.
        warnings.simplefilter("ignore", ConvergenceWarning)
        if annotations.n_annotators * annotations.n_classes**2 <= _MOST_NUMBERS:
            return dawid_skene(annotations, strength=strength)
        return one_coin(annotations, strength=strength)


class _Pairs(NamedTuple):
    """Pairs of annotators, one entry each: codes, shared items, sums over them of u_i·v_i, e_i, t_i and t_i²."""

    first: Codes
    second: Codes
    n: Codes
    same: Floats
    expected: Floats
    residual: Floats
    squares: Floats


@dataclass(frozen=True, eq=False)
class _Model:
    """θ and the log-posterior of each item, or accuracies alone; annotators and items in canonical order."""

    n_classes: int
    confusion: Floats | None
    accuracy: Floats
    # log p(label | class, annotator) of the fit, and what each row says, both by (annotator, label).
    table: Floats
    said: Any
    log_posterior: Floats

    @classmethod
    def of(cls, fit: Result, ordered: Annotations, answers: Answers, echoes: Codes) -> _Model:
        from scipy.sparse import csr_array

        skills = fit.annotators
        place = {name: j for j, name in enumerate(skills.annotators)}
        back = np.array([place[name] for name in ordered.annotators], dtype=np.int64)
        n_classes = ordered.n_classes
        none = np.zeros((0, n_classes))
        accuracy = np.zeros(len(back)) if skills.competence is None else skills.competence[back]
        if skills.confusion is None or fit.class_prior is None or skills.confusion.size > _MOST_NUMBERS:
            return cls(n_classes, None, accuracy, none, None, none)
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
        return cls(n_classes, relearnt, accuracy, table, said, log_posterior)

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


def _echoes(pairs: _Pairs, z: Floats, answers: Answers) -> Codes:
    """Return one annotator of each pair in which both have no more suspected partner: the one who said less."""
    best = np.full(answers.n_annotators, -np.inf)
    for side in (pairs.first, pairs.second):
        np.maximum.at(best, side, z)
    mutual = np.isfinite(z) & (z >= best[pairs.first]) & (z >= best[pairs.second])
    n = np.bincount(answers.annotator, minlength=answers.n_annotators)
    first, second = pairs.first[mutual], pairs.second[mutual]
    return np.unique(np.where(n[first] < n[second], first, second))


def _affordable(annotations: Annotations, most: int) -> Annotations:
    per_item = annotations.per_item()
    pairs = per_item * (per_item - 1) // 2
    if pairs.sum() <= most:
        return annotations
    order = np.argsort(name_keys(annotations.items), kind="stable")
    # One item alone is never too much to look at: its pairs share no other, and are dropped before the work.
    chosen = np.zeros(len(order), dtype=np.bool_)
    chosen[order[np.cumsum(pairs[order]) <= most]] = True
    return annotations.take_annotations(chosen[annotations.item[annotations.starts[:-1]]])


def _compared(model: _Model, answers: Answers, least_shared: int, *, hard: bool) -> Iterator[_Pairs]:
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
        log_posterior = model.without_own(answers.item[rows], rows)
        agreeing = model.pairs(first, second)
        sums = np.zeros((4, len(second)))
        step = max(1, _CELLS // (model.n_classes if hard else model.n_classes**2))
        for begin in range(0, len(own), step):
            part = slice(begin, begin + step)
            u, v, pair = rows[own[part]], other[part], code[part]
            posterior = model.without_both(log_posterior[own[part]], v)
            expected = np.einsum("nc,nc->n", posterior, agreeing[pair])
            same = np.asarray(answers.said[u].multiply(answers.said[v]).sum(axis=1))
            residual = same - expected
            if not hard:
                residual -= model.explained(posterior, answers, u, v)
            for total, values in zip(sums, (same, expected, residual, residual**2), strict=True):
                total += np.bincount(pair, weights=values, minlength=len(second))
        yield _Pairs(np.full(len(second), first), second, n_shared[second], *sums)


def _joined(parts: Iterator[_Pairs]) -> _Pairs:
    codes, numbers = np.zeros(0, dtype=np.int64), np.zeros(0)
    found = [_Pairs(codes, codes, codes, numbers, numbers, numbers, numbers), *parts]
    return _Pairs(*(np.concatenate(column) for column in zip(*found, strict=True)))


def _tested(pairs: _Pairs, answers: Answers, *, hard: bool) -> tuple[Floats, Floats, Floats]:
    """Return z, p and the expected number of same answers of each pair."""
    from scipy.special import betainc, expit, logit, ndtr, ndtri, stdtr

    n = pairs.n.astype(np.float64)
    if not len(n):
        return np.zeros(0), np.zeros(0), np.zeros(0)
    marginal = _marginals(answers)
    ignoring = np.einsum("pk,pk->p", marginal[pairs.first], marginal[pairs.second])
    rate = np.clip(np.maximum(pairs.expected / n, ignoring), 1e-9, 1 - 1e-9)
    if len(n) >= _FOR_CENTRE:
        excess = logit((pairs.same + 0.5) / (n + 1)) - logit(rate)
        rate = expit(logit(rate) + max(0.0, _weighted_median(excess, n)))
    expected = rate * n
    if hard:
        p = np.where(pairs.same > 0, betainc(np.maximum(pairs.same, 1), n - pairs.same + 1, rate), 1.0)
    else:
        mean = pairs.residual / n
        usual = max(0.0, _weighted_median(mean, n)) if len(n) >= _FOR_CENTRE else 0.0
        spread = np.sqrt(np.maximum(pairs.squares / n - mean**2, 1e-18) / (n - 1))
        p = stdtr(n - 1, -(mean - usual) / spread)
    z = -ndtri(np.clip(p, 1e-300, 1 - 1e-16))
    if len(z) >= _FOR_SPREAD:
        # Copies stand above the middle, so that the pairs below it tell what is usual.
        z = z / max(1.0, float(np.median(z) - np.quantile(z, ndtr(-1.0))))
    return z, np.asarray(ndtr(-z)), expected


def _marginals(answers: Answers) -> Floats:
    """Return the share of each class in the answers of each annotator, shape (n_annotators, n_classes)."""
    n_classes = answers.said.shape[1]
    flat = np.repeat(answers.annotator * n_classes, np.diff(answers.said.indptr)) + answers.said.indices
    total = np.bincount(flat, weights=answers.said.data, minlength=answers.n_annotators * n_classes)
    shares = total.astype(np.float64).reshape(-1, n_classes)
    shares /= np.maximum(shares.sum(axis=1, keepdims=True), 1)
    return shares


def _weighted_median(values: Floats, weight: Floats) -> float:
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weight[order])
    return float(values[order][np.searchsorted(reached, reached[-1] / 2)])
