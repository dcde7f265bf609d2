"""Annotators whose answers say nothing: those who do not look, who always say the same, who answer backwards.

How much an annotator's answers say is measured against those of the others on the same items, without a model of
errors. Let x_i be the mean of the n_i other annotations of item i, π the mean of all, and κ the correlation of two
annotations of one item (for plain classes Krippendorff's α, but for its correction of small samples). The best linear
guess at what one more annotator says of the item is r_i = π + n_i/(n_i + (1−κ)/κ) · (x_i − π), by Spearman and Brown's
formula. With l_i the annotator's own answers and ρ_i = r_i − mean r, the *information* Σ l_i·ρ_i / Σ ρ_i·ρ_i is 1 in
the mean over annotators, 0 for one who does not look, and negative for one who answers backwards.
"""

from __future__ import annotations

__all__ = ["Verdict", "Verdicts", "suspected_spammers"]

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.aggregate.answers import Answers, in_canonical_order
from sfumato.aggregate.false_discovery import adjusted_p
from sfumato.core.annotations import Annotations
from sfumato.core.seeds import Seed, generator
from sfumato.core.vocabulary import Vocabulary
from sfumato.errors import OptionError

Floats = NDArray[np.float64]
Verdict = Literal["", "spammer", "always the same class", "contrary", "unclear"]

# An annotator with at least this part of the usual information is never to be accused but by chance.
_PART = 0.5
# How unlikely independence must be before it clears an annotator, or shows one to be contrary.
_PLAIN = 0.01
# How unlikely independence must be before anybody else counts as informed.
_SHOWN = 0.05
_PERMUTATIONS = 399
# Below this the normal approximation of the tests does not hold.
_FEWEST = 10


@dataclass(frozen=True, eq=False)
class Verdicts:
    """What the answers of each annotator say about those of the others; every field has one entry per annotator.

    ``n_compared`` counts the items that others judged too. ``p`` is how probable answers that say so little would be
    of an annotator with half the usual information, ``p_adjusted`` the same after Benjamini and Hochberg's correction;
    nan where nothing was tested.
    """

    annotators: Vocabulary
    n_compared: NDArray[np.int64]
    information: Floats
    p: Floats
    p_adjusted: Floats
    verdicts: tuple[Verdict, ...]


def suspected_spammers(
    annotations: Annotations,
    *,
    false_discovery_rate: float = 0.05,
    apart: Sequence[tuple[str, str]] = (),
    seed: Seed = 0,
) -> Verdicts:
    """Return for each annotator whether the answers say anything about what others say of the same items.

    An annotator is suspected when both hold: answers with half the usual information would hardly ever look like this
    (a one-sided test, Benjamini–Hochberg at *false_discovery_rate* over all annotators), and the annotator's agreement
    with the others is not above chance at p ≤ 0.01 (mean and variance under permutation of the own answers). Then the
    verdict is "always the same class" where that is so; "contrary" where the answers do depend on those of the others,
    though not by agreeing (agreement below chance, or a permutation test of ‖Σ (l_i − mean l) ρ_iᵀ‖² with p ≤ 0.01);
    and else "spammer". "unclear": not suspected, nor is the agreement above chance at p ≤ 0.05. Pairs of names
    in *apart* (suspected copies) do not count as others of each other, or two who copy would vouch for one another.

    >>> from sfumato.data import simulate
    >>> planted = simulate(n_items=400, n_annotators=10, spammers=0.2, spam="uniform", seed=3)
    >>> found = suspected_spammers(planted.annotations)
    >>> [verdict == "spammer" for verdict in found.verdicts] == planted.spammers.tolist()
    True
    """
    if not 0 < false_discovery_rate < 1:
        raise OptionError(
            f"The option 'false_discovery_rate' must be between 0 and 1. Got {false_discovery_rate} instead."
        )
    ordered = in_canonical_order(annotations)
    answers = Answers.of(ordered)
    kappa = _reliability(answers)
    rng = generator(seed)
    partners = _partners(ordered.annotators, apart)
    tests = [
        _Test.of(answers, j, partners.get(j, []), kappa) if kappa > 0 else _NOTHING for j in range(ordered.n_annotators)
    ]
    p = np.array([test.p for test in tests])
    adjusted = adjusted_p(p)
    verdicts = [
        _verdict(test, suspected, rng) for test, suspected in zip(tests, adjusted <= false_discovery_rate, strict=True)
    ]
    # Back to the order in which the caller has the annotators.
    place = {name: j for j, name in enumerate(ordered.annotators)}
    back = np.array([place[name] for name in annotations.annotators], dtype=np.int64)
    return Verdicts(
        annotators=annotations.annotators,
        n_compared=np.array([test.n for test in tests], dtype=np.int64)[back],
        information=np.array([test.information for test in tests])[back],
        p=p[back],
        p_adjusted=adjusted[back],
        verdicts=tuple(verdicts[j] for j in back),
    )


@dataclass(frozen=True, slots=True)
class _Test:
    """One annotator: the information, the p-values, and the centred answers for a permutation test."""

    n: int
    information: float = np.nan
    p: float = np.nan  # of at least half the usual information
    p_more: float = 1.0  # of independence, against agreement above chance
    p_less: float = 1.0  # of independence, against agreement below chance
    constant: bool = False
    own: Any = None
    others: Any = None

    @classmethod
    def of(cls, answers: Answers, annotator: int, partners: Sequence[int], kappa: float) -> _Test:
        from scipy.special import ndtr

        n = int((answers.n_others[answers.rows_of(annotator)] > 0).sum())
        if n < _FEWEST:  # most of a large crowd: told without any work
            return cls(n)
        own, expected = _against_others(answers, annotator, partners, kappa)
        n = len(own)
        if n < _FEWEST:
            return cls(n)
        marginal, centre = own.mean(axis=0), expected.mean(axis=0)
        others = expected - centre
        said, usual = float((own * others).sum()), float((others**2).sum())
        if usual <= 1e-9 * n:  # the others said the same of every item
            return cls(n)
        constant = bool(marginal.max() >= 1 - 1e-9)
        variance = _product_of_scatters(own - marginal, others) / (n - 1)
        z = 0.0 if constant or variance <= 0 else said / np.sqrt(variance)
        if constant:
            # The chance of saying one class throughout, for an annotator who knows half and else says what is usual.
            p = float(np.exp(np.log(_PART * expected + (1 - _PART) * centre + 1e-300).sum(axis=0)).sum())
        else:
            spread = max(_variance(own, expected, guess, others) for guess in (marginal, centre))
            p = float(ndtr((said - _PART * usual) / np.sqrt(spread)))
        return cls(
            n, said / usual, min(p, 1.0), float(ndtr(-z)), float(ndtr(z)), constant, own - marginal, others
        )  # fmt: skip

    def permuted(self, rng: np.random.Generator) -> float:
        """Return the p-value of independence against any dependence, by permuting the annotator's own answers."""
        own, others = self.own, self.others
        seen = ((own.T @ others) ** 2).sum()
        drawn = [((own[rng.permutation(self.n)].T @ others) ** 2).sum() for _ in range(_PERMUTATIONS)]
        # Equal sums may differ by rounding; they count as at least as large.
        return (1 + int((np.array(drawn) >= seen * (1 - 1e-9)).sum())) / (1 + _PERMUTATIONS)


_NOTHING = _Test(0)


def _verdict(test: _Test, suspected: bool, rng: np.random.Generator) -> Verdict:
    if not suspected:
        return "" if test.p_more <= _SHOWN else "unclear"
    if test.constant:
        return "always the same class"
    if test.p_more <= _PLAIN:
        return ""
    if test.p_less <= _PLAIN or test.permuted(rng) <= _PLAIN:
        return "contrary"
    return "spammer"


def _against_others(answers: Answers, annotator: int, partners: Sequence[int], kappa: float) -> tuple[Floats, Floats]:
    """Return an annotator's answers and the guess at them from the others', both (n_compared, classes that occur)."""
    rows = answers.rows_of(annotator)
    own = answers.said[rows].toarray()
    n_own = answers.n[rows]
    item = answers.item[rows]
    others = answers.counts[item] - n_own[:, None] * own
    n_others = answers.n_others[rows].astype(np.float64)
    for partner in partners:
        theirs = answers.rows_of(partner)
        _, here, there = np.intersect1d(item, answers.item[theirs], assume_unique=True, return_indices=True)
        n_theirs = answers.n[theirs[there]]
        others[here] -= n_theirs[:, None] * answers.said[theirs[there]].toarray()
        n_others[here] -= n_theirs
    compared = n_others > 0
    own, others, n_others = own[compared], others[compared], n_others[compared, None]
    overall = answers.totals
    occurs = own.any(axis=0) | (others > 0.5 / max(1, len(others))).any(axis=0)
    own, others, overall = own[:, occurs], others[:, occurs], overall[occurs] / overall.sum()
    weight = n_others / (n_others + (1 - kappa) / kappa)
    return own, overall + weight * (np.maximum(others, 0) / n_others - overall)


def _product_of_scatters(own: Floats, others: Floats) -> float:
    """Return Σ_kl (ownᵀ own)_kl (othersᵀ others)_kl, by whichever of the two sides is the shorter."""
    n, n_classes = own.shape
    if n_classes <= n:
        return float(((own.T @ own) * (others.T @ others)).sum())
    return float(((own @ others.T) ** 2).sum())


def _variance(own: Floats, expected: Floats, guess: Floats, others: Floats) -> float:
    """Return the variance of Σ l_i·ρ_i for answers that are half knowledge and half *guess*."""
    probs = _PART * expected + (1 - _PART) * guess
    if (own.max(axis=1) < 1 - 1e-9).any():  # distributions vary less than labels drawn from them: take what is seen
        return float((((own - probs) * others).sum(axis=1) ** 2).sum())
    return float(((probs * others**2).sum(axis=1) - (probs * others).sum(axis=1) ** 2).sum())


def _reliability(answers: Answers) -> float:
    """Return the correlation between two annotations of one item; nan where there is nothing to compare."""
    n_others = answers.n_others
    weight = answers.n[n_others > 0]
    if not weight.sum():
        return np.nan
    together = answers.agreement()[n_others > 0] @ weight / weight.sum()
    row = np.repeat(np.arange(len(answers.item)), np.diff(answers.said.indptr))
    alone = (answers.said.data**2 * answers.n[row]).sum() / answers.n.sum()
    by_chance = ((answers.totals / answers.n.sum()) ** 2).sum()
    return float((together - by_chance) / (alone - by_chance)) if alone > by_chance else np.nan


def _partners(annotators: Vocabulary, pairs: Sequence[tuple[str, str]]) -> dict[int, list[int]]:
    place = {name: j for j, name in enumerate(annotators)}
    result: dict[int, list[int]] = {}
    for first, second in pairs:
        for one, other in ((first, second), (second, first)):
            result.setdefault(place[one], []).append(place[other])
    return result
