"""Baselines: the best constants against a numerical search, the ceilings against what was said."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog, minimize

import sfumato as sf
from sfumato import Annotations, SoftLabels, evaluate
from sfumato.core.gold import Gold
from sfumato.core.simplex import softmax
from sfumato.errors import InputError, OptionError
from sfumato.evaluate.baselines import (
    best_constant,
    class_prior,
    half_panel,
    held_out_annotator,
    smoothed_labels,
    uniform,
)
from sfumato.evaluate.metrics import METRICS


def people_of(seed: int, n_items: int, n_classes: int) -> SoftLabels:
    rng = np.random.default_rng(seed)
    counts = rng.multinomial(5, rng.dirichlet(np.full(n_classes, 0.7)), n_items) + rng.multinomial(
        2, np.full(n_classes, 1 / n_classes), n_items
    )
    return SoftLabels(counts / 7, items=[f"i{k}" for k in range(n_items)], classes=[f"c{k}" for k in range(n_classes)])


cases = given(seed=st.integers(0, 10_000), n_items=st.integers(1, 12), n_classes=st.integers(1, 5))


@settings(max_examples=40, deadline=None)
@cases
def test_the_median_is_the_optimum_of_the_linear_program(seed: int, n_items: int, n_classes: int) -> None:
    people = people_of(seed, n_items, n_classes)
    n, k = people.probs.shape
    # Variables q (k) and t ≥ |q − p| (n·k); minimise Σ t with Σ q = 1.
    pick = np.tile(np.eye(k), (n, 1))
    upper = np.vstack([np.hstack([pick, -np.eye(n * k)]), np.hstack([-pick, -np.eye(n * k)])])
    bound = np.concatenate([people.probs.ravel(), -people.probs.ravel()])
    equal = np.concatenate([np.ones(k), np.zeros(n * k)])[None]
    best = linprog(np.concatenate([np.zeros(k), np.ones(n * k)]), upper, bound, equal, [1.0]).fun / n
    found = METRICS["manhattan_error"](best_constant(people, metric="manhattan_error"), people)
    assert found == pytest.approx(best, abs=1e-8)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), n_items=st.integers(1, 12), n_classes=st.integers(2, 4))
def test_no_other_constant_is_better(seed: int, n_items: int, n_classes: int) -> None:
    people = people_of(seed, n_items, n_classes)
    rng = np.random.default_rng(seed)
    for name in ("soft_cross_entropy_loss", "brier_error", "jensen_shannon_divergence", "wasserstein_error"):
        metric = METRICS[name]
        found = metric(best_constant(people, metric=name), people)
        for _ in range(40):
            row = rng.dirichlet(np.ones(n_classes) * rng.choice([0.3, 1, 5]))
            assert metric(np.tile(row, (n_items, 1)), people.probs) >= found - 1e-9, name


def test_the_centroid_is_what_an_optimiser_finds() -> None:
    people = people_of(3, 30, 4)
    found = best_constant(people, metric="jensen_shannon_divergence")
    search = minimize(
        lambda scores: METRICS["jensen_shannon_divergence"](np.tile(softmax(scores), (30, 1)), people.probs),
        np.zeros(4), tol=1e-14,
    )  # fmt: skip
    np.testing.assert_allclose(found.probs[0], softmax(search.x), atol=1e-5)
    assert METRICS["jensen_shannon_divergence"](found, people) <= search.fun + 1e-12


def test_prior_and_uniform() -> None:
    people = people_of(1, 9, 3)
    np.testing.assert_allclose(class_prior(people).probs, np.tile(people.probs.mean(axis=0), (9, 1)), atol=1e-15)
    other = SoftLabels([[1.0, 0.0, 0.0]], items=["t"], classes=["c2", "c0", "c1"])
    assert class_prior(people, reference=other)["i0"].tolist() == [0.0, 0.0, 1.0]
    np.testing.assert_array_equal(uniform(people).probs, np.full((9, 3), 1 / 3))
    np.testing.assert_allclose(best_constant(people).probs, class_prior(people).probs, atol=1e-15)


def test_the_best_constant_for_the_accuracy_is_the_most_frequent_gold_class() -> None:
    people = people_of(1, 4, 3)
    gold = Gold.from_names(["i0", "i1", "i2", "i3"], ["c2", "c1", "c2", "unheard of"])
    assert best_constant(people, metric="accuracy_score", gold=gold).top() == ("c2",) * 4
    with pytest.raises(OptionError, match="gold"):
        best_constant(people, metric="accuracy_score")
    with pytest.raises(OptionError, match="metric"):
        best_constant(people, metric="f1_score")


def test_label_smoothing_follows_the_gold_where_there_is_some() -> None:
    people = SoftLabels([[0.7, 0.3, 0.0]] * 3, items=["a", "b", "c"], classes=["x", "y", "z"])
    gold = Gold.from_names(["a", "b"], ["y", "elsewhere"])
    rows = smoothed_labels(people, gold=gold, smoothing=0.3).probs
    np.testing.assert_allclose(rows, [[0.1, 0.8, 0.1], [1 / 3, 1 / 3, 1 / 3], [0.8, 0.1, 0.1]], atol=1e-15)
    with pytest.raises(OptionError, match="smoothing"):
        smoothed_labels(people, smoothing=2)


def votes_of(seed: int, shuffled: bool = False) -> Annotations:
    rng = np.random.default_rng(seed)
    rows = [
        (f"i{i}", f"a{j}", f"c{rng.integers(3)}") for i in range(40) for j in rng.choice(9, 1 + i % 6, replace=False)
    ]
    if shuffled:
        rng.shuffle(rows)
    return Annotations.from_rows(*zip(*[tuple(map(str, row)) for row in rows], strict=True))


@pytest.mark.parametrize("ceiling", [held_out_annotator, half_panel])
def test_both_sides_together_are_the_panel(ceiling: object) -> None:
    votes = votes_of(0)
    found = ceiling(votes, seed=1)  # type: ignore[operator]
    sizes = dict(zip(votes.items, votes.per_item().tolist(), strict=True))
    assert set(found.predicted.items) == {name for name, size in sizes.items() if size > 1}
    counts = dict(zip(votes.items, votes.counts(), strict=True))
    for name in found.predicted.items:
        n_predicts = 1 if ceiling is held_out_annotator else sizes[name] // 2
        together = n_predicts * found.predicted[name] + (sizes[name] - n_predicts) * found.people[name]
        np.testing.assert_allclose(together, counts[name], atol=1e-12)


@pytest.mark.parametrize("ceiling", [held_out_annotator, half_panel])
def test_the_order_of_the_rows_does_not_matter_and_the_seed_does(ceiling: object) -> None:
    votes = votes_of(0)
    names = sorted({votes.items[row] for row in np.flatnonzero(votes.per_item() > 1)})
    first = ceiling(votes, seed=1).predicted.take(names)  # type: ignore[operator]
    again = ceiling(votes_of(0, shuffled=True), seed=1).predicted  # type: ignore[operator]
    np.testing.assert_array_equal(first.probs, again.with_classes(first.classes).take(names).probs)
    assert (first.probs != ceiling(votes, seed=2).predicted.take(names).probs).any()  # type: ignore[operator]


def test_an_annotation_that_is_a_distribution_is_one_annotation() -> None:
    votes = Annotations.from_rows(
        ["a", "a", "a", "a"], ["ann", "ann", "bob", "bob"], ["x", "y", "x", "y"], weights=[0.25, 0.75, 0.5, 0.5]
    )
    found = held_out_annotator(votes)
    assert sorted([found.predicted["a"].tolist(), found.people["a"].tolist()]) == [[0.25, 0.75], [0.5, 0.5]]


def test_every_annotator_is_held_out_equally_often() -> None:
    votes = Annotations.from_rows(["a"] * 4, ["p", "q", "r", "s"], ["w", "x", "y", "z"])
    counts = sum(held_out_annotator(votes, seed=seed).predicted["a"] for seed in range(800))
    assert np.abs(counts - 200).max() < 60


def test_a_panel_of_one_has_no_ceiling() -> None:
    with pytest.raises(InputError, match="two annotations"):
        half_panel(Annotations.from_rows(["a", "b"], ["p", "q"], ["x", "y"]))


def test_people_agree_with_people_better_than_a_constant_does() -> None:
    rng = np.random.default_rng(0)
    truth = rng.dirichlet(np.full(3, 0.5), 300)
    rows = [(f"i{i}", f"a{j}", f"c{rng.choice(3, p=truth[i])}") for i in range(300) for j in range(20)]
    found = half_panel(Annotations.from_rows(*zip(*rows, strict=True)))
    reached = evaluate.jensen_shannon_divergence(found.predicted, found.people)
    constant = best_constant(found.people, metric="jensen_shannon_divergence")
    assert reached < 0.4 * evaluate.jensen_shannon_divergence(constant, found.people)


def test_one_annotator_agrees_with_the_others_as_often_as_pairs_of_annotators_do() -> None:
    folder = Path(os.environ.get("SFUMATO_DATA") or Path(__file__).parents[3] / "shared" / "data")
    if not folder.is_dir():
        pytest.skip(f"the public data sets are not in {folder}; set SFUMATO_DATA to where they are")
    votes = sf.data.load("rte").annotations
    reached = [
        evaluate.soft_accuracy_score(found.predicted, found.people)
        for found in (held_out_annotator(votes, seed=seed) for seed in range(40))
    ]
    # The mass that one annotator shares with the others is the share of the others who say the same, and the observed
    # agreement per item of this set is 0.6287.
    assert np.mean(reached) == pytest.approx(0.6287, abs=0.006)
