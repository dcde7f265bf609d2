"""Smaller panels against the whole one: by enumeration, by SciPy's distances, and on simulated crowds."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon
from scipy.stats import pearsonr, wasserstein_distance

import sfumato as sf
from sfumato.aggregate.panel_size import _Panels, _statistics, _sums, panel_size
from sfumato.core.annotations import Annotations
from sfumato.data.simulate import simulate
from sfumato.errors import InputError, OptionError

_NAMES = ("jensen_shannon_divergence", "wasserstein_error", "values_wasserstein_error", "entropy_correlation_score")


def test_statistics_against_scipy() -> None:
    rng = np.random.default_rng(0)
    p, q = rng.dirichlet(np.ones(4), size=(2, 30))
    p[0], q[0] = [1, 0, 0, 0], [0, 0, 0, 1]
    got = _statistics(_sums(p, q).sum(axis=0))
    entropies = [-(x * np.log(np.where(x > 0, x, 1))).sum(axis=1) for x in (p, q)]
    wanted = [
        np.mean([jensenshannon(a, b) ** 2 for a, b in zip(p, q, strict=True)]),
        np.mean([wasserstein_distance(range(4), range(4), a, b) for a, b in zip(p, q, strict=True)]),
        np.mean([wasserstein_distance(a, b) for a, b in zip(p, q, strict=True)]),
        pearsonr(*entropies).statistic,
    ]
    np.testing.assert_allclose(got, wanted, atol=1e-12)


def test_equal_entropies_have_no_correlation() -> None:
    one_hot = np.eye(3)
    assert math.isnan(_statistics(_sums(one_hot, np.full((3, 3), 1 / 3)).sum(axis=0))[3])


@pytest.mark.parametrize("against", ["full", "rest"])
def test_against_all_parts_of_a_panel(against: str) -> None:
    # One item with five annotations: the mean over random parts is that over all parts.
    labels = [0, 0, 1, 1, 2]
    votes = Annotations.from_rows(["i"] * 5, list("vwxyz"), [str(k) for k in labels])
    report = panel_size(votes, sizes=[1, 2], against=against, repeats=4000, seed=1)  # type: ignore[arg-type]

    def soft(part: tuple[int, ...]) -> np.ndarray:
        return np.bincount([labels[k] for k in part], minlength=3) / len(part)

    for size in (1, 2):
        expected = []
        # With the sizes 1 and 2 the rest is what remains of two, whichever size is looked at.
        for pair in combinations(range(5), 2):
            rest = tuple(set(range(5)) - set(pair)) if against == "rest" else tuple(range(5))
            expected += [jensenshannon(soft(part), soft(rest)) ** 2 for part in combinations(pair, size)]
        got = report["jensen_shannon_divergence", f"{size} per item"]
        assert got.value == pytest.approx(np.mean(expected), abs=0.012)
        assert got.n == 1


def test_the_whole_panel_has_no_distance_from_itself() -> None:
    votes = simulate(n_items=50, n_annotators=9, per_item=6, seed=1).annotations
    report = panel_size(votes, sizes=[3, 6], repeats=3)
    assert [report[name, "6 per item"].value for name in _NAMES] == pytest.approx([0, 0, 0, 1], abs=1e-12)
    assert report["jensen_shannon_divergence", "3 per item"].value > 0.01


def test_more_annotators_come_closer_and_people_who_were_not_asked_are_further() -> None:
    votes = simulate(n_items=300, n_annotators=30, per_item=20, ambiguity=0.5, seed=2).annotations
    full, rest = (panel_size(votes, sizes=[1, 2, 4, 8], against=against, repeats=5) for against in ("full", "rest"))
    for report in (full, rest):
        curve = report.details["curve"]
        assert curve["size"] == [1, 2, 4, 8]
        for name in _NAMES[:2]:
            assert np.all(np.diff(curve[name]) < 0)
        assert curve["entropy_correlation_score"][1] < curve["entropy_correlation_score"][3]
    inside, outside = (r.details["curve"]["jensen_shannon_divergence"] for r in (full, rest))
    assert all(a < b for a, b in zip(inside, outside, strict=True))


def test_hard_single_votes_have_no_entropy_to_correlate() -> None:
    votes = simulate(n_items=40, per_item=5, seed=3).annotations
    number = panel_size(votes, sizes=[1, 2], repeats=2)["entropy_correlation_score", "1 per item"]
    assert math.isnan(number.value)
    assert (number.low, number.high, number.level) == (None, None, None)


@pytest.mark.parametrize("soft", [False, True])
@pytest.mark.parametrize("method", ["standard", "softmax", "dawid_skene"])
def test_every_view_is_compared_with_itself(method: str, soft: bool) -> None:
    votes = simulate(n_items=60, n_annotators=10, per_item=6, seed=4, soft=soft).annotations
    curve = panel_size(votes, sizes=[2, 6], method=method, repeats=2).details["curve"]
    assert curve["jensen_shannon_divergence"][1] == pytest.approx(0, abs=1e-12)
    assert curve["jensen_shannon_divergence"][0] > 1e-3
    assert curve["jensen_shannon_divergence low"][0] < curve["jensen_shannon_divergence"][0]
    assert curve["jensen_shannon_divergence"][0] < curve["jensen_shannon_divergence high"][0]


def test_standard_by_its_short_way_is_standard() -> None:
    votes = simulate(n_items=60, n_annotators=10, per_item=6, seed=4, soft=True).annotations
    panels = _Panels.of(votes, np.ones(60, dtype=np.bool_), "standard")
    chosen = np.random.default_rng(0).random(votes.n_annotations) < 0.5
    wanted = sf.aggregate.standard(votes.take_annotations(chosen)).soft_labels.probs
    np.testing.assert_allclose(panels.labels(chosen), wanted, atol=1e-12)


def test_only_items_with_enough_annotations_are_compared() -> None:
    rows = [(f"i{i}", f"j{j}", str((i + j) % 2)) for i in range(10) for j in range(3 if i < 4 else 6)]
    votes = Annotations.from_rows(*zip(*rows, strict=True))
    assert panel_size(votes, sizes=[2, 6], repeats=1)["wasserstein_error"].n == 6
    assert panel_size(votes, sizes=[2, 3], repeats=1)["wasserstein_error"].n == 10
    assert panel_size(votes, sizes=[3], against="rest", repeats=1)["wasserstein_error"].n == 6
    # Half of the items have six: five are asked of, or three where as many must be left.
    assert panel_size(votes, repeats=1).details["curve"]["size"] == [1, 2, 3, 4, 5]
    assert panel_size(votes, against="rest", repeats=1).details["curve"]["size"] == [1, 2, 3]


def test_large_panels_are_halved_and_halved() -> None:
    votes = simulate(n_items=20, n_annotators=60, per_item=40, seed=1).annotations
    assert panel_size(votes, repeats=1).details["curve"]["size"] == [1, 2, 4, 8, 16, 32]
    assert panel_size(votes, against="rest", repeats=1).details["curve"]["size"] == [1, 2, 4, 8, 16]


def test_seconds_by_hand() -> None:
    votes = Annotations.from_rows(["b", "b", "a", "a", "c"], list("xyxyx"), list("12112"))
    curve = panel_size(votes, sizes=[1, 2], repeats=1, seconds=[4, 8, 10, 20, 1000]).details["curve"]
    # Items a and b are compared: 15 and 6 seconds in the mean.
    assert curve["seconds_per_item"] == [10.5, 21.0]
    assert curve["seconds"] == [21.0, 42.0]
    assert panel_size(votes, sizes=[2], repeats=1, seconds=3)["seconds_per_item"].value == 6
    for wrong in ([1, 2], -1, [1, 2, 3, 4, np.nan]):
        with pytest.raises(OptionError, match="'seconds' must be one mean, or 5 numbers"):
            panel_size(votes, sizes=[1], seconds=wrong)


def test_intervals_hold_what_other_crowds_give() -> None:
    crowds = [simulate(n_items=150, per_item=8, ambiguity=0.5, seed=seed).annotations for seed in range(20)]
    curves = [panel_size(votes, sizes=[3], repeats=4).details["curve"] for votes in crowds]
    values = np.array([curve["jensen_shannon_divergence"][0] for curve in curves])
    inside = [
        curve["jensen_shannon_divergence low"][0] < values.mean() < curve["jensen_shannon_divergence high"][0]
        for curve in curves
    ]
    assert sum(inside) >= 16


def test_many_items_are_drawn_in_groups() -> None:
    votes = simulate(n_items=12_000, n_annotators=20, per_item=4, seed=5).annotations
    number = panel_size(votes, sizes=[2], repeats=2)["jensen_shannon_divergence"]
    assert number.n == 12_000
    assert number.low is not None
    assert number.high is not None
    assert number.low < number.value < number.high
    # The spread of a mean of 12,000, not of 10,000 groups taken for items or of the groups' sums.
    few = panel_size(simulate(n_items=3000, n_annotators=20, per_item=4, seed=5).annotations, sizes=[2], repeats=2)
    wide = few["jensen_shannon_divergence"]
    assert wide.low is not None
    assert wide.high is not None
    assert (wide.high - wide.low) / (number.high - number.low) == pytest.approx(2, rel=0.25)


def test_the_order_of_the_rows_changes_nothing_and_the_seed_does() -> None:
    votes = simulate(n_items=80, n_annotators=12, per_item=5, seed=6).annotations
    rows = [
        (votes.items[i], votes.annotators[j], votes.classes[k])
        for i, j, k in zip(votes.item, votes.annotator, votes.label, strict=True)
    ]
    shuffled = [rows[r] for r in np.random.default_rng(0).permutation(len(rows))]
    first, second = (
        panel_size(Annotations.from_rows(*zip(*order, strict=True), classes=votes.classes), repeats=3, seed=1)
        for order in (rows, shuffled)
    )
    assert first.to_json() == second.to_json()
    assert panel_size(votes, repeats=3, seed=2).details != first.details


def test_what_cannot_be_asked_is_refused() -> None:
    votes = Annotations.from_rows(["a", "a", "b"], ["x", "y", "x"], ["1", "2", "1"])
    with pytest.raises(InputError, match="single annotation"):
        panel_size(votes)
    with pytest.raises(InputError, match=r"No item has 3 annotations.*the largest panel has 2"):
        panel_size(votes, sizes=[3])
    with pytest.raises(InputError, match="No item has 3 annotations, which 2 against the rest needs"):
        panel_size(votes, sizes=[2], against="rest")
    for sizes in ([], [0], [1.5]):
        with pytest.raises(OptionError, match="'sizes'"):
            panel_size(votes, sizes=sizes)  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="'repeats'"):
        panel_size(votes, sizes=[1], repeats=0)
    with pytest.raises(OptionError, match="one of full, rest"):
        panel_size(votes, sizes=[1], against="other")  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="'method'"):
        panel_size(votes, sizes=[1], method="centroid")


def test_ten_annotators_of_textual_entailment(load_data: Callable[[str], sf.data.DataSet]) -> None:
    data = load_data("rte")
    assert data.annotations is not None
    curve = panel_size(data.annotations, sizes=[1, 5, 10], repeats=3).details["curve"]
    assert curve["n_items"] == [800] * 3
    # A single vote against the shares of two classes differs in the mean by Σ_k c_k/n (1 − c_k/n), exactly.
    shares = data.annotations.counts() / 10
    assert curve["wasserstein_error"][0] == pytest.approx((shares * (1 - shares)).sum(axis=1).mean(), abs=0.01)
    assert curve["jensen_shannon_divergence"][2] == 0


def test_seconds_by_item_and_annotator_are_those_of_each_annotation() -> None:
    votes = Annotations.from_rows(list("bababa"), list("yxxyzz"), list("112211"))
    seconds = {(item, who): 1.0 + 10 * (item == "b") + (who == "z") for item in votes.items for who in votes.annotators}
    curve = panel_size(votes, sizes=[1, 3], seconds=seconds, repeats=2).details["curve"]
    assert curve["seconds_per_item"][0] == pytest.approx(np.mean([1 + 1 / 3, 11 + 1 / 3]))
    with pytest.raises(InputError, match="no seconds for the item 'b' and the annotator 'z'"):
        panel_size(votes, sizes=[1, 3], seconds={key: 1.0 for key in seconds if key != ("b", "z")})
