"""Agreement against pairs counted one by one, the published coefficients, and the figures of real sets."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.core.agreement import (
    fleiss_kappa_score,
    krippendorff_alpha_score,
    observed_agreement_per_item,
    observed_agreement_score,
    resampled_agreement,
)
from sfumato.core.annotations import Annotations
from sfumato.errors import InputError, OptionError


def random_annotations(seed: int, *, soft: bool, n_items: int = 8, n_annotators: int = 5) -> Annotations:
    rng = np.random.default_rng(seed)
    i, j = np.nonzero(rng.random((n_items, n_annotators)) < 0.6)
    names = {"items": list(map(str, range(n_items))), "annotators": list("vwxyz"), "classes": ["1", "2", "4"]}
    if not soft:
        return Annotations.from_codes(i, j, rng.integers(0, 3, len(i)), **names)
    probs = rng.dirichlet(np.ones(3), len(i))
    return Annotations.from_codes(
        np.repeat(i, 3), np.repeat(j, 3), np.tile(np.arange(3), len(i)), weight=probs.ravel(), **names
    )


def distributions_of(votes: Annotations) -> list[list[np.ndarray]]:
    """The annotations of each item as dense distributions: the slow view on the same data."""
    by_item: list[list[np.ndarray]] = [[] for _ in votes.items]
    for a in range(votes.n_annotations):
        rows = slice(votes.starts[a], votes.starts[a + 1])
        dense = np.zeros(votes.n_classes)
        dense[votes.label[rows]] = votes.weight[rows]
        by_item[votes.item[votes.starts[a]]].append(dense)
    return by_item


def slow_alpha(votes: Annotations, level: str) -> float:
    """Krippendorff's α by its coincidence table, as the 2011 note computes it by hand."""
    k = votes.n_classes
    table = np.zeros((k, k))
    for panel in distributions_of(votes):
        for one, other in permutations(panel, 2):
            table += np.outer(one, other) / (len(panel) - 1)
    margin = table.sum(axis=1)
    distance = np.zeros((k, k))
    for c in range(k):
        for d in range(k):
            low, high = min(c, d), max(c, d)
            distance[c, d] = {
                "nominal": float(c != d),
                "ordinal": (margin[low : high + 1].sum() - (margin[c] + margin[d]) / 2) ** 2,
                "interval": (float(votes.classes[c]) - float(votes.classes[d])) ** 2,
            }[level]
    expected = (np.outer(margin, margin) - np.diag(margin)) / (margin.sum() - 1)
    # Two different draws of one label agree with themselves: the diagonal has no distance, whatever is taken off it.
    below = (expected * distance).sum()
    return 1 - (table * distance).sum() / below if below > 0 else math.nan


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), soft=st.booleans(), level=st.sampled_from(["nominal", "ordinal", "interval"]))
def test_alpha_equals_the_coincidence_table(seed: int, soft: bool, level: str) -> None:
    votes = random_annotations(seed, soft=soft)
    assert krippendorff_alpha_score(votes, level=level) == pytest.approx(  # type: ignore[arg-type]
        slow_alpha(votes, level), abs=1e-10, nan_ok=True
    )


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), soft=st.booleans())
def test_observed_agreement_equals_counting_pairs(seed: int, soft: bool) -> None:
    votes = random_annotations(seed, soft=soft)
    panels = [panel for panel in distributions_of(votes) if len(panel) >= 2]
    shares = [np.mean([one @ other for one, other in permutations(panel, 2)]) for panel in panels]
    assert observed_agreement_score(votes) == pytest.approx(np.mean(shares), abs=1e-12)


def test_alpha_of_krippendorffs_own_example() -> None:
    # Four observers, twelve units, five values, many missing (Krippendorff 2011, "Computing Krippendorff's alpha").
    rows = ["1 2 3 3 2 1 4 1 2 . . .", "1 2 3 3 2 2 4 1 2 5 . 3", ". 3 3 3 2 3 4 2 2 5 1 .", "1 2 3 3 2 4 4 1 2 5 1 ."]
    votes = [
        (f"u{u}", observer, value)
        for observer, row in zip("abcd", rows, strict=True)
        for u, value in enumerate(row.split())
        if value != "."
    ]
    said = Annotations.from_rows(*zip(*votes, strict=True))
    assert krippendorff_alpha_score(said) == pytest.approx(0.743, abs=5e-4)
    assert krippendorff_alpha_score(said, level="ordinal") == pytest.approx(0.815, abs=5e-4)
    assert krippendorff_alpha_score(said, level="interval") == pytest.approx(0.849, abs=5e-4)


def test_kappa_of_fleiss_layout_worked_by_hand() -> None:
    # Three items, three annotations each: (3,0), (2,1), (0,3): P = (1 + 1/3 + 1)/3, shares 5/9 and 4/9.
    votes = Annotations.from_rows(list("aaabbbccc"), list("xyz" * 3), list("111112222"))
    observed, by_chance = (1 + 1 / 3 + 1) / 3, (5 / 9) ** 2 + (4 / 9) ** 2
    assert fleiss_kappa_score(votes) == pytest.approx((observed - by_chance) / (1 - by_chance))


def test_single_annotations_are_left_out_or_agree() -> None:
    votes = Annotations.from_rows(["a", "a", "b"], ["x", "y", "x"], ["1", "2", "1"])
    assert observed_agreement_score(votes) == 0
    assert observed_agreement_score(votes, singles="agree") == 0.5


def test_nothing_to_compare_is_said() -> None:
    lone = Annotations.from_rows(["a", "b"], ["x", "x"], ["1", "2"])
    assert math.isnan(observed_agreement_score(lone))
    assert math.isnan(fleiss_kappa_score(lone))
    assert math.isnan(krippendorff_alpha_score(lone))
    with pytest.raises(InputError, match="No item has two annotations"):
        resampled_agreement(lone)


def test_one_class_has_no_chance_to_be_corrected_for() -> None:
    votes = Annotations.from_rows(["a", "a"], ["x", "y"], ["1", "1"])
    assert observed_agreement_score(votes) == 1
    assert math.isnan(fleiss_kappa_score(votes))
    assert math.isnan(krippendorff_alpha_score(votes))


def test_names_have_no_intervals() -> None:
    votes = Annotations.from_rows(["a", "a"], ["x", "y"], ["cat", "dog"])
    with pytest.raises(OptionError, match="classes that are numbers"):
        krippendorff_alpha_score(votes, level="interval")
    with pytest.raises(OptionError, match="one of nominal, ordinal, interval"):
        krippendorff_alpha_score(votes, level="ratio")  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="resamples"):
        resampled_agreement(votes, resamples=0)


def test_intervals_hold_the_value_and_come_from_the_seed() -> None:
    votes = random_annotations(3, soft=False, n_items=60)
    first, again = (resampled_agreement(votes, resamples=200, seed=5) for _ in range(2))
    for name, (value, drawn) in first.items():
        assert np.array_equal(drawn, again[name][1])
        low, high = np.quantile(drawn, [0.005, 0.995])
        assert low < value < high


@pytest.mark.parametrize("soft", [False, True])
def test_the_agreement_of_each_item_is_that_of_its_pairs(soft: bool) -> None:
    votes = random_annotations(3, soft=soft)
    found = observed_agreement_per_item(votes)
    for item, said in enumerate(distributions_of(votes)):
        pairs = [float(p @ q) for p, q in permutations(said, 2)]
        assert found[item] == pytest.approx(np.mean(pairs) if pairs else math.nan, nan_ok=True)
    assert np.nanmean(found) == pytest.approx(observed_agreement_score(votes))


def test_classes_without_values_have_no_interval_coefficient() -> None:
    votes = Annotations.from_rows(list("aabb"), list("xyxy"), ["no", "yes", "yes", "yes"])
    found = resampled_agreement(votes, resamples=2)
    assert list(found) == [
        "observed_agreement_score", "fleiss_kappa_score", "krippendorff_alpha_score",
        "krippendorff_alpha_score (ordinal)",
    ]  # fmt: skip
    assert found["observed_agreement_score"][0] == 0.5
