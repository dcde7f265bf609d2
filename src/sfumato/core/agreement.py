"""Agreement between annotators, under its right names, with bootstrap intervals over items.

All of it works on soft annotations too: two distributions agree by Σ_k p_k q_k, the chance that a label drawn
from each is the same, which is 0 or 1 for plain classes.
"""

from __future__ import annotations

__all__ = [
    "all_numbers",
    "class_values",
    "fleiss_kappa_score",
    "krippendorff_alpha_score",
    "observed_agreement_per_item",
    "observed_agreement_score",
    "resampled_agreement",
]

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.core.annotations import Annotations
from sfumato.core.seeds import Seed, generator
from sfumato.errors import InputError, OptionError, check_choice

Level = Literal["nominal", "ordinal", "interval"]
Floats = NDArray[np.float64]


def observed_agreement_score(
    annotations: Annotations, *, singles: Literal["leave_out", "agree"] = "leave_out"
) -> float:
    """Return the mean over items of the share of pairs of annotations that agree; 0 to 1.

    This is what papers on crowd labels often print as inter-annotator agreement. Items with a single annotation
    have no pair: they are left out, or count as full agreement. nan where no item has a pair.

    >>> votes = Annotations.from_rows(["a", "a", "a"], ["ann", "bob", "cem"], ["yes", "yes", "no"])
    >>> round(observed_agreement_score(votes), 4)
    0.3333
    """
    check_choice(singles, ("leave_out", "agree"), option="singles")
    pairs = _Pairs.of(annotations)
    if singles == "agree":
        n_single = int(np.count_nonzero(annotations.per_item() == 1))
        total = pairs.observed.sum() + n_single
        return float(total / (len(pairs.observed) + n_single)) if len(pairs.observed) + n_single else math.nan
    return _mean(pairs.observed, np.ones(len(pairs.observed)))


def observed_agreement_per_item(annotations: Annotations) -> Floats:
    """Return the share of agreeing pairs among the annotations of each item, shape (n_items,); nan where no pair is.

    >>> votes = Annotations.from_rows(["a", "a", "b"], ["ann", "bob", "ann"], ["yes", "no", "no"])
    >>> observed_agreement_per_item(votes).tolist()
    [0.0, nan]
    """
    shares = np.full(annotations.n_items, np.nan)
    shares[annotations.per_item() >= 2] = _Pairs.of(annotations).observed
    return shares


def fleiss_kappa_score(annotations: Annotations) -> float:
    """Return Fleiss' κ = (P − P_e)/(1 − P_e); 1 is full agreement, 0 what chance gives (Fleiss 1971).

    P is the mean observed agreement per item, P_e = Σ p_k² over the shares p_k of the classes in all annotations of
    items with two or more. The numbers of annotations per item may differ. nan where only one class was ever given.

    >>> votes = Annotations.from_rows(["a", "a", "b", "b"], ["x", "y", "x", "y"], ["1", "1", "2", "2"])
    >>> fleiss_kappa_score(votes)
    1.0
    """
    pairs = _Pairs.of(annotations)
    return _fleiss(pairs, np.ones(len(pairs.observed)))


def krippendorff_alpha_score(annotations: Annotations, *, level: Level = "nominal") -> float:
    """Return Krippendorff's α = 1 − D_o/D_e for nominal, ordinal or interval classes (Krippendorff 2011).

    Missing annotations are the normal case; items with one annotation have nothing to be compared with and are left
    out. *ordinal* takes the classes in their order, *interval* reads the class names as numbers. nan where only
    one class was ever given.

    >>> votes = Annotations.from_rows(["a", "a", "b", "b"], ["x", "y", "x", "y"], ["1", "1", "1", "2"])
    >>> krippendorff_alpha_score(votes)
    0.0
    """
    check_choice(level, ("nominal", "ordinal", "interval"), option="level")
    pairs = _Pairs.of(annotations, values=class_values(annotations) if level == "interval" else None)
    return _alpha(pairs, np.ones(len(pairs.observed)), level)


def class_values(annotations: Annotations) -> Floats:
    """Return the classes as numbers, shape (n_classes,); classes that are not numbers are refused."""
    try:
        return np.array([float(name) for name in annotations.classes])
    except ValueError:
        raise OptionError(
            f"The level 'interval' needs classes that are numbers. Got {annotations.classes[0]!r}, …; "
            "use 'nominal' or 'ordinal'."
        ) from None


def resampled_agreement(
    annotations: Annotations, *, resamples: int = 1000, seed: Seed = 0
) -> dict[str, tuple[float, Floats]]:
    """Return each coefficient with its bootstrap values: name → (value, values of shape (resamples,)).

    Items are drawn with replacement, all coefficients on the same draws. Interval α is there where the classes are
    numbers.
    """
    if resamples < 1:
        raise OptionError(f"The option 'resamples' must be 1 or more. Got {resamples} instead.")
    numeric = all_numbers(annotations.classes)
    pairs = _Pairs.of(annotations, values=class_values(annotations) if numeric else None)
    if not len(pairs.observed):
        raise InputError("No item has two annotations, so there is nothing to compare.")
    statistics: Mapping[str, Callable[[Floats], float]] = {
        "observed_agreement_score": lambda weight: _mean(pairs.observed, weight),
        "fleiss_kappa_score": lambda weight: _fleiss(pairs, weight),
        "krippendorff_alpha_score": lambda weight: _alpha(pairs, weight, "nominal"),
        "krippendorff_alpha_score (ordinal)": lambda weight: _alpha(pairs, weight, "ordinal"),
    }
    if numeric:
        statistics = {
            **statistics,
            "krippendorff_alpha_score (interval)": lambda weight: _alpha(pairs, weight, "interval"),
        }
    n_items = len(pairs.observed)
    rng = generator(seed)
    drawn: dict[str, list[float]] = {name: [] for name in statistics}
    for _ in range(resamples):
        weight = np.bincount(rng.integers(0, n_items, n_items), minlength=n_items).astype(np.float64)
        for name, statistic in statistics.items():
            drawn[name].append(statistic(weight))
    whole = np.ones(n_items)
    return {name: (statistic(whole), np.array(drawn[name])) for name, statistic in statistics.items()}


@dataclass(frozen=True, slots=True)
class _Pairs:
    """The items with two or more annotations: how they agree, and the sums that the coefficients are made of."""

    observed: Floats  # the share of agreeing pairs of each item, shape (n,)
    n: Floats  # the annotations of each item, shape (n,)
    counts: Floats  # the weight that each item gives to each class, shape (n, n_classes)
    values: Floats | None  # the classes as numbers, where they are
    annotations: Annotations  # of these items alone, in the same order

    @classmethod
    def of(cls, annotations: Annotations, *, values: Floats | None = None) -> _Pairs:
        per_item = annotations.per_item()
        paired = per_item >= 2
        counts = annotations.counts()[paired]
        n = per_item[paired].astype(np.float64)
        squares = np.bincount(annotations.item, weights=annotations.weight**2, minlength=annotations.n_items)[paired]
        observed = ((counts**2).sum(axis=1) - squares) / (n * (n - 1))
        rest = annotations.take_annotations(paired[annotations.item[annotations.starts[:-1]]])
        return cls(observed, n, counts, values, rest)

    def squared_means(self, value: Floats) -> Floats:
        """Return Σ over the annotations of each item of the square of their mean value, shape (n,)."""
        rows = self.annotations
        if rows.is_hard:
            return self.counts @ value**2
        mean = np.add.reduceat(rows.weight * value[rows.label], rows.starts[:-1])
        item = np.unique(rows.item[rows.starts[:-1]], return_inverse=True)[1]
        return np.bincount(item, weights=mean**2, minlength=len(self.n)).astype(np.float64)


def _mean(values: Floats, weight: Floats) -> float:
    total = weight.sum()
    return float(values @ weight / total) if total else math.nan


def _fleiss(pairs: _Pairs, weight: Floats) -> float:
    share = weight @ pairs.counts
    if not share.sum():
        return math.nan
    by_chance = float(((share / share.sum()) ** 2).sum())
    return (_mean(pairs.observed, weight) - by_chance) / (1 - by_chance) if by_chance < 1 else math.nan


def _alpha(pairs: _Pairs, weight: Floats, level: Level) -> float:
    marginal = weight @ pairs.counts
    total = marginal.sum()
    if total < 2:
        return math.nan
    scale = weight / (pairs.n - 1)
    if level == "nominal":
        disagreeing = scale @ (pairs.n * (pairs.n - 1) * (1 - pairs.observed))
        expected = (total**2 - (marginal**2).sum()) / (total - 1)
    else:
        # The ordinal distance between two classes is that between their mid-ranks, so both levels are squared
        # differences of one value x per class, and Σ over pairs of (x_a − x_b)² follows from sums alone.
        value = np.cumsum(marginal) - marginal / 2 if level == "ordinal" or pairs.values is None else pairs.values
        first, second = pairs.counts @ value, pairs.counts @ value**2
        disagreeing = scale @ (2 * (pairs.n - 1) * second - 2 * (first**2 - pairs.squared_means(value)))
        expected = 2 * (total * (marginal @ value**2) - (marginal @ value) ** 2) / (total - 1)
    return float(1 - disagreeing / expected) if expected > 0 else math.nan


def all_numbers(names: tuple[str, ...]) -> bool:
    """Return whether every name is a number."""
    try:
        return all(math.isfinite(float(name)) for name in names)
    except ValueError:
        return False
