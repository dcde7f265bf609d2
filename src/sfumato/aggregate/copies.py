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
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.aggregate.annotator_pairs import MOST_NUMBERS, PairModel, Pairs, compared_pairs
from sfumato.aggregate.answers import Answers, in_canonical_order
from sfumato.aggregate.dawid_skene import dawid_skene
from sfumato.aggregate.false_discovery import adjusted_p
from sfumato.aggregate.one_coin import one_coin
from sfumato.aggregate.result import Result
from sfumato.core.annotations import Annotations
from sfumato.core.order_free import name_keys
from sfumato.errors import ConvergenceWarning, OptionError

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

# How often the model is fitted anew without those who are suspected to repeat another.
_MOST_ROUNDS = 5
# Steps of the least squares; each halves what is left, or better.
_SKILL_STEPS = 30
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

    Of two suspected the one who said less is left out of the model, which is then fitted anew; the first ones by their
    agreement with everybody, without a model, as a model may take two with one voice for the truth.

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
    pairs = compared_pairs(None, answers, least_shared, hard=kept.is_hard)
    z, p, expected = _tested(_by_agreement(pairs, answers), answers, hard=kept.is_hard)
    echoes: Codes = np.zeros(0, dtype=np.int64)
    for _ in range(_MOST_ROUNDS):
        # Two with one voice count twice in the truth, and make others look wrong together: one of them is left out.
        echoes = np.union1d(echoes, _echoes(pairs, z, adjusted_p(p) <= false_discovery_rate, answers))
        heard = ordered.take_annotations(~np.isin(ordered.annotator[ordered.starts[:-1]], echoes))
        model = PairModel.of(_fitted(heard), kept, answers, echoes)
        pairs = compared_pairs(model, answers, least_shared, hard=kept.is_hard)
        z, p, expected = _tested(pairs, answers, hard=kept.is_hard)
        if np.isin(_echoes(pairs, z, adjusted_p(p) <= false_discovery_rate, answers), echoes).all():
            break
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


def _fitted(annotations: Annotations) -> Result:
    """Return Dawid–Skene, or one-coin where the matrices would be too many."""
    with warnings.catch_warnings():
        # A posterior that still moves in the sixth digit is as good for a test.
        warnings.simplefilter("ignore", ConvergenceWarning)
        if annotations.n_annotators * annotations.n_classes**2 <= MOST_NUMBERS:
            return dawid_skene(annotations)
        return one_coin(annotations)


def _echoes(pairs: Pairs, z: Floats, suspected: NDArray[np.bool_], answers: Answers) -> Codes:
    """Return one annotator of each pair in which neither has a more suspected partner: the one who said less."""
    first, second, z = pairs.first[suspected], pairs.second[suspected], z[suspected]
    best = np.full(answers.n_annotators, -np.inf)
    for side in (first, second):
        np.maximum.at(best, side, z)
    mutual = (z >= best[first]) & (z >= best[second])
    first, second = first[mutual], second[mutual]
    n = np.bincount(answers.annotator, minlength=answers.n_annotators)
    return np.unique(np.where(n[first] < n[second], first, second))


def _affordable(annotations: Annotations, most: int) -> Annotations:
    """Return the annotations of as many items, by a hash of their names, as have no more pairs than *most*."""
    per_item = annotations.per_item()
    pairs = per_item * (per_item - 1) // 2
    if pairs.sum() <= most:
        return annotations
    # An item that alone would take much of what may be spent comes last.
    order = np.lexsort((name_keys(annotations.items), pairs > most // 100))
    chosen = np.zeros(len(order), dtype=np.bool_)
    chosen[order[np.cumsum(pairs[order]) <= most]] = True
    return annotations.take_annotations(chosen[annotations.item[annotations.starts[:-1]]])


def _by_agreement(pairs: Pairs, answers: Answers) -> Pairs:
    """Return the pairs with what their agreement with all others lets expect, without a truth.

    The rate is m_u·m_v + s_u·s_v, where s is fitted to the agreement of all pairs by least squares, a product of the
    two's skills under a one-coin model. One pair with one voice moves s little, while Dawid–Skene may take it for the
    truth; so these are the first to be left out there.
    """
    n, (u, v) = pairs.n.astype(np.float64), (pairs.first, pairs.second)
    marginal = _marginals(answers)
    ignoring = np.einsum("pk,pk->p", marginal[u], marginal[v])
    beyond = pairs.same / np.maximum(n, 1) - ignoring
    size = answers.n_annotators
    skill = np.full(size, np.sqrt(max(1e-3, float(beyond @ n / max(n.sum(), 1)))))
    for _ in range(_SKILL_STEPS):
        above = np.bincount(u, n * beyond * skill[v], size) + np.bincount(v, n * beyond * skill[u], size)
        below = np.bincount(u, n * skill[v] ** 2, size) + np.bincount(v, n * skill[u] ** 2, size)
        # Half a step: updating both sides of a product at once would swing.
        skill = (skill + above / np.maximum(below, 1e-12)) / 2
    rate = np.clip(ignoring + skill[u] * skill[v], 1e-9, 1 - 1e-9)
    squares = pairs.squares - 2 * rate * pairs.same + n * rate**2
    return pairs._replace(expected=n * rate, residual=pairs.same - n * rate, squares=squares)


def _tested(pairs: Pairs, answers: Answers, *, hard: bool) -> tuple[Floats, Floats, Floats]:
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
