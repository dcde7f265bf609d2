"""Where a model errs: how sure people were of what which system got right, and where model and people are far apart."""

from __future__ import annotations

__all__ = ["GROUPS", "Gap", "Group", "GroupTest", "by_correctness", "largest_gaps", "soft_label_kurtosis"]

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.core.alphabetical import alphabetical
from sfumato.core.simplex import entropy
from sfumato.core.soft_labels import SoftLabels
from sfumato.errors import InputError, OptionError, check_choice
from sfumato.evaluate.metrics import METRICS
from sfumato.evaluate.pairing import aligned

Floats = NDArray[np.float64]

GROUPS = ("both", "only A", "only B", "none")


@dataclass(frozen=True, slots=True)
class Group:
    """The items that a pair of systems got right in the same way, and how sure people were of them.

    ``kurtosis`` and ``entropy`` (normalised, 0 to 1) are means over the items; uniform soft labels have no kurtosis
    and are left out of the first. NaN where no item is left.
    """

    name: str
    n: int
    kurtosis: float
    entropy: float


@dataclass(frozen=True, slots=True)
class GroupTest:
    """Mann–Whitney between two groups: ``share`` is how often an item of the first is above one of the second.

    ``share`` is U/(n₁·n₂), ties counting half: 0.5 where the groups do not differ. NaN where a group is empty.
    """

    measure: str
    first: str
    second: str
    share: float
    p_value: float


@dataclass(frozen=True, slots=True)
class Gap:
    """An item on which model and people are far apart."""

    item: str
    value: float
    people: Floats
    predicted: Floats


def soft_label_kurtosis(people: SoftLabels | ArrayLike) -> Floats:
    """Return the excess kurtosis m₄/m₂² − 3 of each soft label over its K classes, shape (n_items,).

    High where people agree on one of many classes, low where they spread (Fornaciari et al. 2021, section 6). It
    depends on K: a one-hot label over K classes has (K² − 3K + 3)/(K − 1) − 3, and with K = 2 every label has −2, with
    K = 3 every label −1.5. A uniform label, which does not vary, has none (NaN).

    >>> soft_label_kurtosis([[1.0, 0.0, 0.0, 0.0], [0.25, 0.25, 0.25, 0.25]]).round(3).tolist()
    [-0.667, nan]
    """
    probs = np.asarray(people.probs if isinstance(people, SoftLabels) else people, dtype=np.float64)
    if probs.ndim != 2 or not probs.size:
        raise InputError(f"Soft labels have the shape (items, classes), one of each at least. Got {probs.shape}.")
    apart = probs - probs.mean(axis=1, keepdims=True)
    squared = apart**2
    second = squared.mean(axis=1)
    # A spread that is rounding and nothing else is no spread.
    varies = second > 1e-24
    result = np.full(len(probs), math.nan)
    result[varies] = (squared[varies] ** 2).mean(axis=1) / second[varies] ** 2 - 3
    return result


def by_correctness(
    people: SoftLabels | ArrayLike, right_a: ArrayLike, right_b: ArrayLike
) -> tuple[tuple[Group, ...], tuple[GroupTest, ...]]:
    """Return kurtosis and entropy of the soft labels by which of two systems got the item right, with tests.

    *people* of shape (n_items, n_classes), *right_a* and *right_b* of shape (n_items,): whether each is right. The
    groups are those of Fornaciari et al. 2021, table 3 (both, only A, only B, none); the tests compare each pair of
    them by Mann and Whitney's U (two-sided; 1947). There are up to twelve: correct them with `significance.holm`. With
    two or three classes all labels have one kurtosis, and its tests find nothing.

    >>> labels = [[1.0, 0.0, 0.0, 0.0], [0.4, 0.3, 0.2, 0.1]]
    >>> groups, tests = by_correctness(labels, [True, True], [True, False])
    >>> [(group.name, group.n, round(group.kurtosis, 2)) for group in groups if group.n]
    [('both', 1, -0.67), ('only A', 1, -1.36)]
    """
    from scipy.stats import mannwhitneyu

    kurtosis = soft_label_kurtosis(people)
    probs = np.asarray(people.probs if isinstance(people, SoftLabels) else people, dtype=np.float64)
    spread = entropy(probs, normalised=True)
    a, b = (np.asarray(right).astype(np.float64) for right in (right_a, right_b))
    for right in (a, b):
        if right.shape != (len(probs),) or not np.isin(right, (0, 1)).all():
            raise InputError(f"Whether each of the {len(probs)} items is right must be 0 or 1 (False or True).")
    members = {"both": (a > 0) & (b > 0), "only A": a > b, "only B": b > a, "none": (a + b) == 0}
    groups = tuple(
        Group(name, int(rows.sum()), _mean(kurtosis[rows]), _mean(spread[rows])) for name, rows in members.items()
    )
    tests = []
    # Labels with the same shares differ in the last digits by the order of their classes; in ranks that would count.
    for measure, values in (("kurtosis", kurtosis.round(9)), ("entropy", spread.round(9))):
        for first, second in combinations(GROUPS, 2):
            x, y = (values[members[name]] for name in (first, second))
            x, y = x[~np.isnan(x)], y[~np.isnan(y)]
            if not len(x) or not len(y):
                tests.append(GroupTest(measure, first, second, math.nan, math.nan))
                continue
            found = mannwhitneyu(x, y, alternative="two-sided")
            # All values alike: SciPy's normal approximation divides by a variance of 0, and nothing differs.
            p_value = 1.0 if math.isnan(found.pvalue) else float(found.pvalue)
            tests.append(GroupTest(measure, first, second, float(found.statistic) / (len(x) * len(y)), p_value))
    return groups, tuple(tests)


def largest_gaps(
    predicted: SoftLabels, people: SoftLabels, *, metric: str = "jensen_shannon_divergence", most: int = 20
) -> tuple[Gap, ...]:
    """Return the items on which model and people are furthest apart, the furthest first, ties by name.

    *metric* is any that has a number for each item and needs people. The distributions have the classes of
    *predicted*, in its order.

    >>> people = SoftLabels([[1.0, 0.0], [0.5, 0.5]], items=["a", "b"], classes=["x", "y"])
    >>> guess = SoftLabels([[0.9, 0.1], [0.0, 1.0]], items=["a", "b"], classes=["x", "y"])
    >>> [gap.item for gap in largest_gaps(guess, people)]
    ['b', 'a']
    """
    known = {name: one.per_item for name, one in METRICS.items() if one.per_item and one.needs == "people"}
    of_items = known[check_choice(metric, known, option="metric")]
    if most < 1:
        raise OptionError(f"The option 'most' must be 1 or more. Got {most} instead.")
    predicted, people = aligned(predicted, people)
    values = of_items(predicted, people)
    names = alphabetical(predicted.items)
    worst = values[names] if METRICS[metric].higher_is_better else -values[names]
    order = names[np.argsort(worst, kind="stable")][:most]
    return tuple(
        Gap(
            predicted.items[row],
            float(values[row]),
            people.probs[row].astype(np.float64),
            predicted.probs[row].astype(np.float64),
        )
        for row in order
    )


def _mean(values: Floats) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else math.nan
