from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.data.simulation.panels import draw_panels, panel_sizes
from sfumato.errors import OptionError


def test_sizes_are_the_number_the_mean_or_everybody() -> None:
    rng = np.random.default_rng(0)
    assert panel_sizes(rng, 3, 4, 5).tolist() == [3, 3, 3, 3]
    assert panel_sizes(rng, np.int64(3), 2, 5).tolist() == [3, 3]  # type: ignore[arg-type]
    assert panel_sizes(rng, "all", 2, 5).tolist() == [5, 5]
    drawn = panel_sizes(rng, 4.5, 100_000, 1000)
    assert drawn.min() == 1
    assert drawn.mean() == pytest.approx(4.5, abs=0.03)
    assert drawn.var() == pytest.approx(3.5, abs=0.1)
    assert panel_sizes(rng, 4.5, 1000, 5).max() == 5
    assert panel_sizes(rng, 1.0, 10, 5).tolist() == [1] * 10


@pytest.mark.parametrize("per_item", [0, 6, 5.5, 0.5, -1, float("nan"), float("inf"), True, "some", None])
def test_sizes_that_cannot_be_are_refused(per_item: float) -> None:
    with pytest.raises(OptionError, match="'per_item'"):
        panel_sizes(np.random.default_rng(0), per_item, 10, 5)


@settings(max_examples=40, deadline=None)
@given(
    st.integers(1, 30).flatmap(
        lambda n: st.tuples(st.just(n), st.lists(st.integers(1, n), min_size=1, max_size=30), st.floats(0, 4))
    )
)
def test_panels_have_their_sizes_are_sorted_and_hold_nobody_twice(case: tuple[int, list[int], float]) -> None:
    n_annotators, wanted, activity = case
    weights = np.arange(1.0, n_annotators + 1) ** -activity
    item, annotator = draw_panels(np.random.default_rng(0), np.array(wanted), weights)
    assert np.bincount(item, minlength=len(wanted)).tolist() == wanted
    assert (np.diff(item * n_annotators + annotator) > 0).all()
    assert annotator.min() >= 0
    assert annotator.max() < n_annotators


# 12 annotators: panels of 2 are drawn on, panels of 3 raced (even weights); uneven weights race from 2 on.
@pytest.mark.parametrize(("size", "activity"), [(1, 1.0), (2, 0.0), (2, 1.0), (3, 0.0), (3, 1.0), (4, 0.5)])
def test_panels_follow_the_law_of_drawing_one_after_the_other(size: int, activity: float) -> None:
    weights = np.arange(1.0, 13.0) ** -activity
    share = weights / weights.sum()
    expected = np.zeros(12)
    for panel in permutations(range(12), size):
        probability, left = 1.0, 1.0
        for j in panel:
            probability *= share[j] / left
            left -= share[j]
        expected[list(panel)] += probability
    n_items = 60_000
    _, annotator = draw_panels(np.random.default_rng(3), np.full(n_items, size), weights)
    found = np.bincount(annotator, minlength=12) / n_items
    np.testing.assert_allclose(found, expected, atol=5 * np.sqrt(0.25 / n_items))


def test_both_ways_of_drawing_give_the_same_pairs() -> None:
    # Next to a panel of everybody, which is raced, the panels of two are drawn on.
    weights = np.arange(1.0, 41.0) ** -0.5
    n_items = 40_000
    item, annotator = draw_panels(np.random.default_rng(4), np.array([40, *[2] * n_items]), weights)
    pairs = annotator[item > 0].reshape(-1, 2)
    share = weights / weights.sum()
    expected = np.outer(share, share) * (1 / (1 - share)[:, None] + 1 / (1 - share)[None, :])
    found = np.zeros((40, 40))
    np.add.at(found, (pairs[:, 0], pairs[:, 1]), 1 / n_items)
    upper = np.triu_indices(40, 1)
    deviation = (found - expected)[upper] / np.sqrt(expected[upper] / n_items)
    assert np.abs(deviation).max() < 5
    assert deviation.std() == pytest.approx(1, abs=0.1)
