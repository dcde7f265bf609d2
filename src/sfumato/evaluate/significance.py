"""Is one system better than another, or did the items happen to favour it? Paired tests, and their corrections."""

from __future__ import annotations

__all__ = [
    "FEWEST",
    "FEW_ITEMS",
    "Comparison",
    "compare_samples",
    "effect_of",
    "effect_of_values",
    "holm",
    "mcnemar_test",
    "paired_bootstrap_test",
    "paired_permutation_test",
]

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.core.order_free import on_grid
from sfumato.core.seeds import Seed, generator
from sfumato.errors import InputError, OptionError, check_choice
from sfumato.evaluate.bootstrap import interval_of, resampled_numbers, runs_of
from sfumato.evaluate.draws import tiled_product
from sfumato.evaluate.sums import Sums

Floats = NDArray[np.float64]
Alternative = Literal["two-sided", "better"]
BootstrapMethod = Literal["recentred", "berg_kirkpatrick"]

# Below so many items resamples say nothing of what chance does: of two, the test errs in half of the comparisons.
FEWEST = 10
# Below so many items they say that chance does less than it does, and means are tested by exchange.
FEW_ITEMS = 50
# Up to so many items that differ, every pattern of signs is tried (65,536 of them).
_EXACT = 16
# Patterns of signs at a time.
_SIGNS = 1 << 21


@dataclass(frozen=True, slots=True)
class Comparison:
    """System A against system B: the difference A − B of their numbers, and how likely chance alone makes one so large.

    ``difference`` keeps the sign of the numbers: for a loss, below zero means that A is better, and ``better`` says
    so for either. ``effect_size`` is Cohen's d_z, the mean of the paired differences over their standard deviation
    (NaN for numbers that are no means over items). The interval is that of the difference. A p-value or an interval
    about which nothing can be said (of one item, say) is NaN.
    """

    difference: float
    low: float
    high: float
    level: float
    p_value: float
    effect_size: float
    better: Literal["A", "B", "neither"]
    n_items: int
    method: str


def paired_bootstrap_test(
    a: ArrayLike | Sums | Sequence[Sums],
    b: ArrayLike | Sums | Sequence[Sums],
    *,
    higher_is_better: bool = True,
    method: BootstrapMethod = "recentred",
    alternative: Alternative = "two-sided",
    level: float = 0.95,
    resamples: int = 10_000,
    seed: Seed = 0,
) -> Comparison:
    """Compare two systems by drawing items (and runs) anew, the same ones for both.

    *a* and *b*: values of the same items, shape (n_items,) or (n_runs, n_items), or `Sums` (one for each run) for
    numbers that are no means. With d the difference in favour of A (a loss is turned round) and d* that of a
    resample, d* − d is how d would vary were there no difference, and p = (1 + #{|d* − d| ≥ |d|}) / (1 + resamples);
    with alternative="better" (A is better than B, decided before looking) #{d* − d ≥ d}. The 1 counts the data
    themselves, so that p is never 0 (Davison and Hinkley 1997, section 4.2).

    Few items vary too little when they are drawn anew: of equal systems the test calls 5 % different with thirty
    items, 9 % with ten, and 47 % with two. Below ten items there is no p-value (NaN), of one item no interval
    either; below some fifty, test means with `paired_permutation_test`, which is exact.

    method="berg_kirkpatrick" gives the share of d* > 2d (Berg-Kirkpatrick et al. 2012, figure 1), which is the
    one-sided test without the 1 and without ties; its alternative must be "better".

    >>> a, b = [1.0] * 60 + [0.0] * 40, [1.0] * 40 + [0.0] * 60
    >>> found = paired_bootstrap_test(a, b)
    >>> round(found.difference, 9), found.better, found.p_value < 0.01
    (0.2, 'A', True)
    """
    left, right = runs_of(a), runs_of(b)
    drawn = resampled_numbers({"a": left, "b": right}, resamples=resamples, seed=seed)
    value = [float(np.mean([run.value for run in runs])) for runs in (left, right)]
    return compare_samples(
        (value[0], drawn["a"]), (value[1], drawn["b"]),
        higher_is_better=higher_is_better, method=method, alternative=alternative, level=level,
        effect_size=effect_of(left, right), n_items=left[0].n_items,
    )  # fmt: skip


def compare_samples(
    a: tuple[float, Floats],
    b: tuple[float, Floats],
    *,
    n_items: int,
    higher_is_better: bool = True,
    method: BootstrapMethod = "recentred",
    alternative: Alternative = "two-sided",
    level: float = 0.95,
    interval: Literal["percentile", "basic"] | tuple[float, float] = "percentile",
    effect_size: float = math.nan,
    per_item: tuple[Floats, Floats] | None = None,
    several_runs: bool = False,
    seed: Seed = 0,
) -> Comparison:
    """Compare two numbers, each with its resamples (of `resampled_numbers`, so that the draws are paired).

    Resamples in which either has no finite number are left out, and without a finite difference there is no test. The
    formulas stand in `paired_bootstrap_test`. *interval* is how the interval of the difference is made, or its ends.

    Of fewer than fifty items, means are tested by exchange where *per_item* has their values (those of several runs
    averaged); with *several_runs* the larger p-value of the two tests counts, as exchange does not see the luck of the
    runs. Other numbers have no test (NaN) below ten items.

    >>> draws = np.array([0.1, 0.2, 0.3])
    >>> compare_samples((0.2, draws), (0.2, draws), n_items=90).p_value
    1.0
    """
    check_choice(method, ("recentred", "berg_kirkpatrick"), option="method")
    check_choice(alternative, ("two-sided", "better"), option="alternative")
    if method == "berg_kirkpatrick" and alternative != "better":
        raise OptionError("The share of d* > 2d looks at one side only: set alternative='better' with it.")
    difference = a[0] - b[0]
    # Two infinite losses have no difference, which NaN says without a warning.
    with np.errstate(invalid="ignore"):
        gained = a[1] - b[1]
    known = gained[np.isfinite(gained)]
    if not math.isfinite(difference) or not known.size:
        return Comparison(difference, math.nan, math.nan, level, math.nan, effect_size, "neither", n_items, method)
    low = high = math.nan
    if n_items > 1:
        if isinstance(interval, tuple):
            low, high = interval
        else:
            low, high = interval_of(known, difference, level=level, method=interval)
    sign = 1.0 if higher_is_better else -1.0
    # In favour of A; what the rounding of a sum may move must not decide a tie.
    d, moved = sign * difference, sign * (known - difference)
    slack = 1e-10 * max(abs(a[0]), abs(b[0]))
    if method == "berg_kirkpatrick":
        p = float(np.mean(moved > d + slack))
    elif alternative == "better":
        p = float((1 + np.sum(moved >= d - slack)) / (1 + known.size))
    else:
        p = float((1 + np.sum(np.abs(moved) >= abs(d) - slack)) / (1 + known.size))
    tested_by: str = method
    if per_item is not None and 1 < n_items < FEW_ITEMS and all(np.isfinite(side).all() for side in per_item):
        exchanged = paired_permutation_test(
            *per_item, higher_is_better=higher_is_better, alternative=alternative, seed=seed
        )
        p = max(p, exchanged.p_value) if several_runs else exchanged.p_value
        tested_by = "permutation and bootstrap" if several_runs else "permutation"
    elif n_items < FEWEST:
        p = math.nan
    return Comparison(difference, low, high, level, p, effect_size, _better(d), n_items, tested_by)


def paired_permutation_test(
    a: ArrayLike,
    b: ArrayLike,
    *,
    higher_is_better: bool = True,
    alternative: Alternative = "two-sided",
    resamples: int = 10_000,
    seed: Seed = 0,
) -> Comparison:
    """Compare two systems by exchanging them item by item: the signs of the differences are drawn anew (Fisher 1935).

    *a* and *b* of shape (n_items,); average several runs first, the test is then about these runs. With up to 16
    items that differ every pattern of signs is tried and p is exact; else p = (1 + #{as large}) / (1 + resamples).
    There is no interval (NaN): a test by exchange says nothing about how large the difference may be.

    >>> paired_permutation_test([1.0, 1.0, 1.0, 1.0], [0.0, 0.0, 0.0, 0.0]).p_value
    0.125
    """
    check_choice(alternative, ("two-sided", "better"), option="alternative")
    if resamples < 1:
        raise OptionError(f"The option 'resamples' must be 1 or more. Got {resamples} instead.")
    x, y = _one_per_item(a, b)
    differences = x - y
    sign = 1.0 if higher_is_better else -1.0
    # 0.4 − 0.3 is not 0.3 − 0.2: what rounding makes of differences that are equal on paper must not decide a tie.
    slack = 1e-10 * float(np.abs(differences).sum())
    exact = on_grid(sign * differences[differences != 0], len(x))
    total = float(exact.sum())
    if len(exact) <= _EXACT:
        patterns = (np.arange(1 << len(exact))[:, None] >> np.arange(len(exact))) & 1
        p = float(np.mean(_as_large((2.0 * patterns - 1) @ exact, total, alternative, slack)))
    else:
        rng = generator(seed)
        rows = max(1, _SIGNS // len(exact))
        count = 0
        for start in range(0, resamples, rows):
            size = (min(rows, resamples - start), len(exact))
            bits = np.frombuffer(rng.bytes(-(-size[0] * size[1] // 8)), dtype=np.uint8)
            flipped = np.unpackbits(bits, count=size[0] * size[1]).reshape(size)
            sums = total - 2 * tiled_product(flipped, exact[:, None])[:, 0]
            count += int(_as_large(sums, total, alternative, slack).sum())
        p = (1 + count) / (1 + resamples)
    value = float(x.mean() - y.mean())
    return Comparison(
        value, math.nan, math.nan, math.nan, p, _d_z(differences), _better(sign * value), len(x), "permutation"
    )


def mcnemar_test(a: ArrayLike, b: ArrayLike) -> Comparison:
    """Compare two accuracies by the items that only one of them has right (McNemar 1947), with the exact binomial.

    *a* and *b* of shape (n_items,), whether each item is right. With n₁ that only A and n₀ that only B has right,
    p = P(|X − n/2| ≥ |n₁ − n/2|) for X ~ Binomial(n = n₀ + n₁, ½). It never errs too often, and for few such items
    less often than it says.

    >>> mcnemar_test([1, 1, 1, 1, 1, 0], [0, 0, 0, 0, 0, 0]).p_value
    0.0625
    """
    from scipy.stats import binomtest

    x, y = _one_per_item(a, b)
    for right in (x, y):
        if not np.isin(right, (0, 1)).all():
            raise InputError("McNemar's test wants to know whether each item is right: 0 or 1 (False or True).")
    only_a, only_b = int(np.sum(x > y)), int(np.sum(y > x))
    p = 1.0 if only_a + only_b == 0 else float(binomtest(only_a, only_a + only_b).pvalue)
    value = (only_a - only_b) / len(x)
    return Comparison(value, math.nan, math.nan, math.nan, p, _d_z(x - y), _better(value), len(x), "mcnemar")


def holm(p_values: ArrayLike) -> Floats:
    """Return p-values corrected for how many there are (Holm 1979); NaN stays NaN and is not counted.

    The smallest of m is multiplied by m, the next by m − 1, …, none below the one before, none above 1. Whatever
    depends on whatever, the chance of any false positive stays below the level.

    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    given = np.asarray(p_values, dtype=np.float64)
    known = np.flatnonzero(~np.isnan(given))
    if given.ndim != 1 or ((given[known] < 0) | (given[known] > 1)).any():
        raise InputError("P-values are a row of numbers between 0 and 1.")
    result = given.copy()
    order = known[np.argsort(given[known], kind="stable")]
    scaled = given[order] * np.arange(len(order), 0, -1)
    result[order] = np.minimum(np.maximum.accumulate(scaled), 1)
    return result


def _as_large(sums: Floats, total: float, alternative: Alternative, slack: float) -> NDArray[np.bool_]:
    return np.asarray(sums >= total - slack if alternative == "better" else np.abs(sums) >= abs(total) - slack)


def _better(d: float) -> Literal["A", "B", "neither"]:
    return "A" if d > 0 else "B" if d < 0 else "neither"


def _d_z(differences: Floats) -> float:
    """Return the mean of paired differences over their standard deviation; 0 where there is no difference at all."""
    if not differences.any():
        return 0.0
    if len(differences) < 2:
        return math.nan
    spread = float(differences.std(ddof=1))
    mean = float(differences.mean())
    return mean / spread if spread > 1e-12 * abs(mean) else math.copysign(math.inf, mean)


def effect_of(left: Sequence[Sums | None], right: Sequence[Sums | None]) -> float:
    """Return Cohen's d_z of two means over items, the runs of each averaged first; NaN for numbers that are no means.

    >>> from sfumato.evaluate.sums import mean_sums
    >>> effect_of([mean_sums([2.0, 3.0, 4.0])], [mean_sums([1.0, 1.0, 1.0])])
    2.0
    """
    means = [[run.columns[:, 0] for run in runs if run is not None and run.is_mean] for runs in (left, right)]
    if len(means[0]) != len(left) or len(means[1]) != len(right):
        return math.nan
    return effect_of_values(np.mean(means[0], axis=0), np.mean(means[1], axis=0))


def effect_of_values(a: Floats, b: Floats) -> float:
    """Return Cohen's d_z of values of the same items, both of shape (n_items,); NaN where a difference is not finite.

    >>> effect_of_values(np.array([2.0, 3.0, 4.0]), np.ones(3))
    2.0
    """
    with np.errstate(invalid="ignore"):
        differences = a - b
    return _d_z(differences) if np.isfinite(differences).all() else math.nan


def _one_per_item(a: ArrayLike, b: ArrayLike) -> tuple[Floats, Floats]:
    x, y = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if x.shape != y.shape or x.ndim != 1 or not x.size:
        raise InputError(f"Both systems need one value for each of the same items. Got {x.shape} and {y.shape}.")
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise InputError("A value is not a finite number; exchanging signs needs finite differences.")
    return x, y
