"""The panel at a glance: how far annotators agree, who stands out, which items split them, who may have copied."""

from __future__ import annotations

__all__ = ["agreement"]

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.aggregate.answers import Answers, in_canonical_order
from sfumato.aggregate.copies import Copies, suspected_copies
from sfumato.aggregate.dawid_skene import dawid_skene
from sfumato.aggregate.mace import mace
from sfumato.aggregate.one_coin import one_coin
from sfumato.aggregate.result import Result
from sfumato.aggregate.suspects import Verdicts, suspected_spammers
from sfumato.aggregate.votes import majority_of
from sfumato.core import simplex
from sfumato.core.agreement import resampled_agreement
from sfumato.core.annotations import Annotations
from sfumato.core.arguments import checked_arguments
from sfumato.core.gold import Gold
from sfumato.core.origin import Origin
from sfumato.core.report import Number, Report
from sfumato.core.seeds import Seed, recorded, spawn
from sfumato.errors import ConvergenceWarning, InputError, OptionError

Floats = NDArray[np.float64]

_LEVEL = 0.95
# What the bootstrap draws: items (or annotators), or above this many random groups of them.
_MOST_UNITS = 10_000
# Numbers in all confusion matrices together, and annotations × classes for MACE's restarts: above, left out and said.
_MOST_CONFUSION, _MOST_MACE = 1 << 24, 2_000_000
_ORDINAL, _INTERVAL = "krippendorff_alpha_score (ordinal)", "krippendorff_alpha_score (interval)"


@checked_arguments
def agreement(
    annotations: Annotations,
    *,
    gold: Gold | None = None,
    ordinal: bool = False,
    resamples: int = 1000,
    seed: Seed = 0,
) -> Report:
    """Return how far the annotators agree, with what is known of each annotator, each item, and suspected copies.

    Numbers, over the items with two or more annotations, with 95 % bootstrap intervals over items: the observed
    agreement, Fleiss' κ, Krippendorff's α (ordinal and interval too where the classes are numbers; with *ordinal*, the
    ordinal one for classes with any names, in the order in which they stand), and the mean entropy of the vote shares
    of an item, in nats and divided by that of the uniform distribution. With *gold*, over the items that have it: the
    mean over annotators of their accuracy (interval over annotators), the accuracy of all annotations in one pool, and
    that of the majority (ties to the first class). A distribution is right to the degree of its probability of the
    gold class; two agree by Σ_k p_k q_k.

    ``details["annotators"]``, ``details["items"]`` and ``details["copies"]`` are columns of equal length, ready for
    `sfumato.core.storage.save_columns`. Of each annotator: the mean share of the item's annotations by others that
    agree, with Wilson's interval (1927) for so many items, which is a little wide, as shares vary less than coins;
    accuracy; competence under Dawid–Skene, one-coin and MACE; the *information* and the suspicion of
    `suspected_spammers`, with its adjusted p; and in how many suspected copies the annotator has a part
    (`suspected_copies`). None where there is nothing to compare.

    >>> votes = Annotations.from_rows(list("aaabbbccc"), list("xyzxyzxyz"), list("110001111"))
    >>> report = agreement(votes, resamples=100)
    >>> round(report["observed_agreement_score"].value, 4)
    0.5556
    >>> report.details["annotators"]["agreement"]
    [0.6666666666666666, 0.6666666666666666, 0.3333333333333333]
    """
    if resamples < 1:
        raise OptionError(f"The option 'resamples' must be 1 or more. Got {resamples} instead.")
    for_coefficients, for_entropy, for_gold, for_suspects = spawn(seed, 4)
    ordered = in_canonical_order(annotations)
    answers = Answers.of(ordered)
    numbers = [
        *_coefficients(ordered, ordinal, resamples, for_coefficients),
        *_entropies(answers, resamples, for_entropy),
    ]
    truth = None if gold is None else gold.aligned(ordered.items, ordered.classes)
    if truth is not None:
        numbers += _accuracies(answers, truth, resamples, for_gold)
    copies = suspected_copies(ordered)
    pairs = tuple(zip(copies.first, copies.second, strict=True))
    verdicts = suspected_spammers(ordered, apart=pairs, seed=for_suspects)
    fits, notes = _fits(ordered)
    by_annotator = _annotators(answers, truth, fits, verdicts, pairs)
    return Report(
        "Agreement of annotators",
        numbers,
        Origin(
            "agreement",
            {"resamples": resamples, "gold": gold is not None, "ordinal": ordinal},
            recorded(seed),
            annotations.fingerprint,
        ),
        [*_findings(verdicts, copies, int((answers.per_item > 0).sum())), *notes],
        {
            "annotators": _reordered(by_annotator, ordered.annotators, annotations.annotators, "annotator"),
            "items": _reordered(_items(answers), ordered.items, annotations.items, "item"),
            "copies": copies.columns(),
        },
    )


def _coefficients(ordered: Annotations, ordinal: bool, resamples: int, rng: np.random.Generator) -> list[Number]:
    n = int((ordered.per_item() >= 2).sum())
    found = resampled_agreement(ordered, resamples=resamples, seed=rng)
    kept = found.keys() if _INTERVAL in found else found.keys() - ({_ORDINAL} if not ordinal else set())
    return [_number(name, value, n, drawn) for name, (value, drawn) in found.items() if name in kept]


def _entropies(answers: Answers, resamples: int, rng: np.random.Generator) -> list[Number]:
    paired = answers.per_item >= 2
    probs = simplex.normalise(answers.counts[paired])
    nats = np.asarray(simplex.entropy(probs), dtype=np.float64)
    n, n_classes = len(nats), probs.shape[1]
    value, drawn = _resampled_ratio(nats, np.ones(n), resamples, rng)
    largest = np.log(n_classes) if n_classes > 1 else 1.0
    return [
        _number("mean_entropy", value, n, drawn),
        _number("mean_normalised_entropy", value / largest, n, drawn / largest),
    ]


def _accuracies(answers: Answers, truth: NDArray[np.int32], resamples: int, rng: np.random.Generator) -> list[Number]:
    right, judged = _right(answers, truth)
    if not judged.any():
        raise InputError("The gold has a class for none of the annotated items. Do the names of the items match?")
    by_annotator = [
        np.bincount(answers.annotator, weights=each, minlength=answers.n_annotators) for each in (right, judged)
    ]
    seen = by_annotator[1] > 0
    mean = _resampled_ratio(by_annotator[0][seen] / by_annotator[1][seen], np.ones(seen.sum()), resamples, rng)
    by_item = [np.bincount(answers.item, weights=each, minlength=answers.n_items) for each in (right, judged)]
    known = by_item[1] > 0
    pooled = _resampled_ratio(by_item[0][known], by_item[1][known], resamples, rng)
    top = majority_of(answers.counts[known], "first").argmax(axis=1)
    vote = _resampled_ratio((top == truth[known]).astype(np.float64), np.ones(known.sum()), resamples, rng)
    return [
        _number("annotator_accuracy_score", mean[0], int(seen.sum()), mean[1]),
        _number("pooled_accuracy_score", pooled[0], int(judged.sum()), pooled[1]),
        _number("majority_accuracy_score", vote[0], int(known.sum()), vote[1]),
    ]


def _right(answers: Answers, truth: NDArray[np.int32]) -> tuple[Floats, Floats]:
    """Return for each row the weight of right annotations and the number of those that have gold."""
    wanted = truth[answers.item]
    row = np.repeat(np.arange(len(wanted)), np.diff(answers.said.indptr))
    hit = np.where(answers.said.indices == wanted[row], answers.said.data, 0.0)
    judged = np.where(wanted >= 0, answers.n, 0).astype(np.float64)
    return np.bincount(row, weights=hit, minlength=len(wanted)) * judged, judged


def _fits(ordered: Annotations) -> tuple[dict[str, Result], list[str]]:
    """Return the models that are cheap here, by name, and what is to be said about them."""
    n_confusion = ordered.n_annotators * ordered.n_classes**2
    notes: list[str] = []
    fits: dict[str, Result] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        if n_confusion <= _MOST_CONFUSION:
            fits["dawid_skene"] = dawid_skene(ordered)
        else:
            notes.append("Competence under Dawid–Skene is left out: its confusion matrices would be too many.")
        fits["one_coin"] = one_coin(ordered)
        if ordered.n_annotations * ordered.n_classes <= _MOST_MACE:
            fits["mace"] = mace(ordered, max_iter=200)
        else:
            notes.append("Competence under MACE is left out: its restarts would take long.")
    notes += [
        f"The competence under {name} comes from a fit that stopped before it had converged."
        for name, result in fits.items()
        if not result.converged
    ]
    return fits, notes


def _annotators(
    answers: Answers,
    truth: NDArray[np.int32] | None,
    fits: Mapping[str, Result],
    verdicts: Verdicts,
    pairs: tuple[tuple[str, str], ...],
) -> dict[str, list[Any]]:
    size = answers.n_annotators
    compared = answers.n_others > 0
    who = answers.annotator[compared]
    weight = answers.n[compared].astype(np.float64)
    n = np.bincount(who, weights=weight, minlength=size)
    mean = _shares(np.bincount(who, weights=weight * answers.agreement()[compared], minlength=size), n)
    low, high = _wilson(mean, np.bincount(who, minlength=size))
    columns: dict[str, list[Any]] = {
        "n_annotations": np.bincount(answers.annotator, weights=answers.n, minlength=size).astype(int).tolist(),
        "agreement": _optional(mean),
        "agreement_low": _optional(low),
        "agreement_high": _optional(high),
    }
    if truth is not None:
        right, judged = (
            np.bincount(answers.annotator, weights=each, minlength=size) for each in _right(answers, truth)
        )
        columns["accuracy"] = _optional(_shares(right, judged))
        columns["n_gold"] = judged.astype(int).tolist()
    for name, result in fits.items():
        if result.annotators.competence is not None:
            columns[f"competence_{name}"] = _optional(result.annotators.competence)
    columns["information"] = _optional(verdicts.information)
    columns["suspected"] = list(verdicts.verdicts)
    columns["suspected_p"] = _optional(verdicts.p_adjusted)
    partners = [name for pair in pairs for name in pair]
    columns["n_copies"] = [partners.count(name) for name in verdicts.annotators]
    return columns


def _items(answers: Answers) -> dict[str, list[Any]]:
    probs = simplex.normalise(answers.counts)
    judged = answers.per_item > 0
    n, size = answers.n, answers.n_items
    compared = answers.n_others > 0
    agreeing = np.bincount(answers.item[compared], weights=(n * answers.agreement())[compared], minlength=size)
    top = probs.argmax(axis=1)
    return {
        "n_annotations": answers.per_item.tolist(),
        "entropy": _optional(np.where(judged, simplex.entropy(probs), np.nan)),
        "normalised_entropy": _optional(np.where(judged, simplex.entropy(probs, normalised=True), np.nan)),
        "agreement": _optional(
            _shares(agreeing, np.bincount(answers.item[compared], weights=n[compared], minlength=size))
        ),
        "top_share": _optional(np.where(judged, probs[np.arange(size), top], np.nan)),
    }


def _findings(verdicts: Verdicts, copies: Copies, n_items: int) -> list[str]:
    """Return what a reader should see first, in sentences."""
    count = {name: verdicts.verdicts.count(name) for name in ("spammer", "always the same class", "contrary")}
    suspected, n = sum(count.values()), len(verdicts.verdicts)
    unclear = verdicts.verdicts.count("unclear")
    parts = ", ".join(f"{number} {name}" for name, number in count.items() if number)
    return [
        f"{suspected:,} of {n:,} annotators are suspected{f' ({parts})' if parts else ''}; of {unclear:,} it cannot "
        "be told from their answers.",
        f"{len(copies.first):,} of {copies.n_pairs:,} pairs of annotators who share ten items or more are suspected of "
        f"copying{'' if copies.n_items == n_items else f'; looked at {copies.n_items:,} of {n_items:,} items'}.",
    ]


def _reordered(
    columns: Mapping[str, list[Any]], names: tuple[str, ...], wanted: tuple[str, ...], head: str
) -> dict[str, list[Any]]:
    """Return the columns in the order in which the caller has the names, which become the first column."""
    place = {name: row for row, name in enumerate(names)}
    rows = [place[name] for name in wanted]
    return {head: list(wanted), **{name: [column[row] for row in rows] for name, column in columns.items()}}


def _resampled_ratio(
    numerator: NDArray[Any], denominator: NDArray[Any], resamples: int, rng: np.random.Generator
) -> tuple[float, Floats]:
    """Return Σ numerator / Σ denominator, and its values on bootstrap samples of the entries."""
    value = float(numerator.sum() / denominator.sum())
    n = len(numerator)
    if n > _MOST_UNITS:
        order = rng.permutation(n)
        starts = np.linspace(0, n, _MOST_UNITS, endpoint=False).astype(np.int64)
        numerator, denominator = (np.add.reduceat(each[order], starts) for each in (numerator, denominator))
        n = _MOST_UNITS
    drawn = np.empty(resamples)
    for k in range(resamples):
        chosen = rng.integers(n, size=n)
        drawn[k] = numerator[chosen].sum() / denominator[chosen].sum()
    return value, drawn


def _number(name: str, value: float, n: int, drawn: Floats) -> Number:
    known = drawn[~np.isnan(drawn)]
    if np.isnan(value) or not len(known):
        return Number(name, value, n)
    low, high = (float(bound) for bound in np.quantile(known, [(1 - _LEVEL) / 2, (1 + _LEVEL) / 2]))
    return Number(name, value, n, low=low, high=high, level=_LEVEL)


def _wilson(share: Floats, n: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Return Wilson's score interval of a share of n; nan where n is 0."""
    z = 1.959963984540054
    some = np.maximum(n, 1)
    centre = (share + z**2 / (2 * some)) / (1 + z**2 / some)
    half = z / (1 + z**2 / some) * np.sqrt(share * (1 - share) / some + z**2 / (4 * some**2))
    return np.maximum(centre - half, 0), np.minimum(centre + half, 1)


def _shares(part: NDArray[Any], whole: NDArray[Any]) -> Floats:
    # Products of weights may pass 1 by rounding.
    return np.where(whole > 0, np.minimum(part / np.where(whole > 0, whole, 1), 1), np.nan)


def _optional(values: NDArray[np.floating[Any]]) -> list[float | None]:
    return [None if np.isnan(value) else float(value) for value in values]
