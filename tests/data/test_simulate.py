from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from sfumato.core.annotations import Annotations
from sfumato.core.soft_labels import SoftLabels
from sfumato.data.simulate import Simulation, simulate
from sfumato.errors import OptionError, TooLargeError


def confusion_of(annotations: Annotations, gold: NDArray[np.int32]) -> NDArray[np.float64]:
    """Count, row by row, what each annotator says of each class; shape (n_annotators, n_classes, n_classes)."""
    result = np.zeros((annotations.n_annotators, annotations.n_classes, annotations.n_classes))
    np.add.at(result, (annotations.annotator, gold[annotations.item], annotations.label), annotations.weight)
    return result


def assert_frequencies(counts: NDArray[np.float64], probs: NDArray[np.float64]) -> None:
    """Multinomial counts lie within five standard deviations of their means, or 8 where the deviation is small."""
    n = counts.sum(axis=-1, keepdims=True)
    deviation = np.sqrt(n * probs * np.maximum(1 - probs, 0))
    limit = 5 * deviation + np.where(deviation > 0, 8, 1e-9)
    assert (np.abs(counts - n * probs) <= limit).all()


def dense(planted: Simulation) -> NDArray[np.int32]:
    votes = planted.annotations
    return votes.label.reshape(votes.n_items, votes.n_annotators)


def test_everything_has_its_shape_and_the_names_sort_as_the_numbers() -> None:
    planted = simulate(n_items=120, n_annotators=11, n_classes=4, per_item=3)
    assert repr(planted.annotations) == "Annotations(120 items, 11 annotators, 4 classes, 360 annotations)"
    assert planted.annotations.items[0] == "item000"
    assert planted.annotations.items == tuple(sorted(planted.annotations.items))
    assert planted.annotations.annotators[10] == "annotator10"
    assert planted.annotations.classes == ("class0", "class1", "class2", "class3")
    assert planted.truth.items == planted.gold.items == planted.annotations.items
    assert planted.truth.origin.method == "simulate"
    assert planted.truth.origin.seed == 0
    np.testing.assert_array_equal(planted.truth.probs, np.eye(4)[planted.gold.labels])
    np.testing.assert_allclose(planted.confusion.sum(axis=2), np.ones((11, 4)), atol=1e-12)
    np.testing.assert_allclose(planted.competence, np.trace(planted.confusion, axis1=1, axis2=2) / 4, atol=1e-12)
    assert planted.difficulty.tolist() == [0] * 120
    assert planted.copied.tolist() == [-1] * 11
    assert not planted.spammers.any()
    assert simulate().annotations.n_annotations == 5000


def test_the_same_seed_gives_the_same_bits() -> None:
    options: dict[str, Any] = {
        "n_items": 300, "per_item": 4.0, "ambiguity": 0.3, "difficulty": 0.2, "spammers": 0.2, "copiers": 0.2,
        "activity": 1.0,
    }  # fmt: skip
    for soft in (False, True):
        first, again = (simulate(**options, soft=soft, seed=7) for _ in range(2))
        assert first.annotations == again.annotations
        assert first.truth == again.truth
        np.testing.assert_array_equal(first.confusion, again.confusion)
        assert simulate(**options, soft=soft, seed=8).annotations != first.annotations
        assert simulate(**options, soft=soft, seed=np.random.default_rng(7)).annotations == first.annotations


def test_an_option_changes_what_it_is_about_and_nothing_else() -> None:
    plain = simulate(n_items=200, seed=3)
    other = simulate(n_items=200, seed=3, spammers=0.3, copiers=0.2, difficulty=0.4, soft=True)
    np.testing.assert_array_equal(plain.gold.labels, other.gold.labels)
    np.testing.assert_array_equal(plain.confusion[~other.spammers], other.confusion[~other.spammers])
    panels = other.annotations.annotator[other.annotations.starts[:-1]]
    np.testing.assert_array_equal(plain.annotations.annotator, panels)


def test_answers_follow_the_planted_confusion_matrices() -> None:
    planted = simulate(n_items=20_000, n_annotators=6, n_classes=5, per_item="all", seed=1)
    assert_frequencies(confusion_of(planted.annotations, planted.gold.labels), planted.confusion)


def test_classes_follow_the_prior() -> None:
    prior = [0.7, 0.2, 0.1, 0.0]
    planted = simulate(n_items=50_000, n_annotators=1, n_classes=4, per_item=1, class_prior=prior, seed=2)
    assert_frequencies(np.bincount(planted.gold.labels, minlength=4).astype(float), np.array(prior))
    assert planted.competence[0] == pytest.approx(np.diagonal(planted.confusion[0]) @ prior)


def test_abilities_have_their_mean_and_one_coin_annotators_err_evenly() -> None:
    planted = simulate(
        n_items=10, n_annotators=20_000, n_classes=4, ability=0.6, ability_concentration=8,
        confusion_concentration=math.inf, seed=3,
    )  # fmt: skip
    diagonal = np.diagonal(planted.confusion, axis1=1, axis2=2)
    np.testing.assert_allclose(diagonal, np.repeat(diagonal[:, :1], 4, axis=1), atol=1e-12)
    np.testing.assert_allclose(planted.confusion[:, 0, 1], (1 - diagonal[:, 0]) / 3, atol=1e-12)
    assert diagonal[:, 0].mean() == pytest.approx(0.6, abs=0.006)
    assert diagonal[:, 0].var() == pytest.approx(0.6 * 0.4 / 9, rel=0.05)
    rows = simulate(n_items=10, n_annotators=20_000, ability=0.6, ability_concentration=math.inf, seed=3).confusion
    assert rows[:, 0, 0].mean() == pytest.approx(0.6, abs=0.005)
    assert rows[:, 0, 0].var() == pytest.approx(0.6 * 0.4 / 21, rel=0.05)


def test_perfect_annotators_are_always_right() -> None:
    planted = simulate(n_items=500, ability=1.0, seed=4)
    np.testing.assert_array_equal(planted.annotations.label, planted.gold.labels[planted.annotations.item])


def test_difficulty_shrinks_ability_towards_chance() -> None:
    planted = simulate(n_items=30_000, n_annotators=5, n_classes=4, per_item="all", difficulty=0.5, seed=5)
    right = dense(planted) == planted.gold.labels[:, None]
    assert planted.difficulty.mean() == pytest.approx(0.5, abs=0.01)
    for low in (0.0, 0.25, 0.5, 0.75):
        chosen = (planted.difficulty >= low) & (planted.difficulty < low + 0.25)
        d = planted.difficulty[chosen][:, None]
        able = np.diagonal(planted.confusion, axis1=1, axis2=2).T[planted.gold.labels[chosen]]
        expected = (1 - d) * able + d / 4
        deviation = (right[chosen] - expected).sum(axis=0) / np.sqrt((expected * (1 - expected)).sum(axis=0))
        assert np.abs(deviation).max() < 4


def test_on_impossible_items_everybody_guesses_but_a_spammer_keeps_its_strategy() -> None:
    planted = simulate(
        n_items=20_000, n_annotators=4, per_item="all", difficulty=1.0, spammers=0.5, spam="constant", seed=6
    )
    counts = confusion_of(planted.annotations, planted.gold.labels)
    assert_frequencies(counts[~planted.spammers], np.full((2, 3, 3), 1 / 3))
    assert (counts[planted.spammers].sum(axis=1) > 0).sum(axis=1).tolist() == [1, 1]


@pytest.mark.parametrize("spam", ["uniform", "constant", "random", "mixed"])
def test_spammers_answer_the_same_way_whatever_the_class(spam: Any) -> None:
    planted = simulate(n_items=8000, n_annotators=20, per_item="all", spammers=0.5, spam=spam, seed=7)
    rows = planted.confusion[planted.spammers]
    assert planted.spammers.sum() == 10
    np.testing.assert_array_equal(rows, np.repeat(rows[:, :1], 3, axis=1))
    assert_frequencies(confusion_of(planted.annotations, planted.gold.labels), planted.confusion)
    is_uniform, is_constant = np.ptp(rows[:, 0], axis=1) == 0, rows[:, 0].max(axis=1) == 1
    wanted = {"uniform": (10, 0), "constant": (0, 10), "random": (0, 0)}
    if spam == "mixed":
        assert 0 < is_uniform.sum() < 10
        assert 0 < is_constant.sum() < 10
        assert is_uniform.sum() + is_constant.sum() < 10
    else:
        assert (is_uniform.sum(), is_constant.sum()) == wanted[spam]


@pytest.mark.parametrize("soft", [False, True])
def test_copiers_repeat_their_source_wherever_both_judge(soft: bool) -> None:
    planted = simulate(n_items=3000, n_annotators=10, per_item=5, copiers=0.3, spammers=0.2, soft=soft, seed=8)
    copiers = np.flatnonzero(planted.copied >= 0)
    assert len(copiers) == 3
    sources = planted.copied[copiers]
    assert not planted.spammers[copiers].any()
    assert not planted.spammers[sources].any()
    assert (planted.copied[sources] == -1).all()
    votes = planted.annotations
    said = np.zeros((votes.n_items, votes.n_annotators, 3))
    said[votes.item, votes.annotator, votes.label] = votes.weight
    for copier, source in zip(copiers, sources, strict=True):
        both = (said[:, copier].sum(axis=1) > 0) & (said[:, source].sum(axis=1) > 0)
        assert both.sum() > 500
        np.testing.assert_array_equal(said[both, copier], said[both, source])
    others = np.flatnonzero((planted.copied < 0) & ~planted.spammers)
    assert not np.array_equal(said[:, others[0]], said[:, others[1]])


def test_a_copier_who_copies_at_times_answers_for_itself_at_others() -> None:
    planted = simulate(n_items=40_000, n_annotators=4, per_item="all", copiers=0.25, copy_rate=0.4, n_classes=3, seed=9)
    copier = int(np.flatnonzero(planted.copied >= 0)[0])
    source = int(planted.copied[copier])
    labels, gold = dense(planted), planted.gold.labels
    by_chance = (planted.confusion[copier] * planted.confusion[source]).sum(axis=1)[gold]
    expected = 0.4 + 0.6 * by_chance.mean()
    assert (labels[:, copier] == labels[:, source]).mean() == pytest.approx(expected, abs=0.01)


def test_ambiguous_items_are_seen_as_their_planted_soft_label_says() -> None:
    planted = simulate(n_items=40, n_annotators=4000, n_classes=4, per_item="all", ambiguity=0.5, ability=1.0, seed=10)
    assert_frequencies(planted.annotations.counts(), np.asarray(planted.truth.probs, dtype=np.float64))
    np.testing.assert_array_equal(planted.truth.probs.argmax(axis=1), planted.gold.labels)
    assert (planted.truth.probs.max(axis=1) < 1).all()


def test_soft_answers_sum_to_one_and_scatter_around_what_hard_ones_are_drawn_from() -> None:
    planted = simulate(
        n_items=30, n_annotators=3000, n_classes=3, per_item="all", ambiguity=0.5, difficulty=0.3,
        ability_concentration=math.inf, confusion_concentration=math.inf, soft=True, precision=4.0, seed=11,
    )  # fmt: skip
    votes = planted.annotations
    assert not votes.is_hard
    assert votes.n_annotations == 90_000
    assert np.abs(np.add.reduceat(votes.weight, votes.starts[:-1]) - 1).max() < 1e-12
    d = planted.difficulty[:, None]
    expected = (1 - d) * (planted.truth.probs @ planted.confusion[0]) + d / 3
    variance = expected * (1 - expected) / (4 + 1)
    assert (np.abs(votes.counts() / 3000 - expected) < 5 * np.sqrt(variance / 3000)).all()
    squares = np.zeros((30, 3))
    np.add.at(squares, (votes.item, votes.label), votes.weight**2 / 3000)
    np.testing.assert_allclose(squares - (votes.counts() / 3000) ** 2, variance, rtol=0.15)


def test_soft_answers_of_a_constant_spammer_are_plain_classes() -> None:
    planted = simulate(n_items=50, spammers=1.0, spam="constant", soft=True, seed=12)
    assert planted.annotations.is_hard


def test_some_annotators_are_far_more_active_than_others() -> None:
    planted = simulate(n_items=20_000, n_annotators=50, per_item=1, activity=1.0, seed=13)
    found = np.sort(planted.annotations.per_annotator())[::-1]
    rank = np.arange(1.0, 51.0)
    assert_frequencies(found.astype(float), 1 / rank / (1 / rank).sum())


def test_a_truth_can_be_given() -> None:
    truth = SoftLabels([[0.6, 0.4], [0.0, 1.0], [0.1, 0.9]], items=["a", "b", "c"], classes=["cat", "dog"])
    planted = simulate(truth=truth, n_annotators=3000, per_item="all", ability=1.0, seed=14)
    assert planted.truth is truth
    assert planted.annotations.items == ("a", "b", "c")
    assert planted.gold.classes == ("cat", "dog")
    assert planted.gold.labels.tolist() == [0, 1, 1]
    np.testing.assert_allclose(planted.class_prior, [1 / 3, 2 / 3])
    assert_frequencies(planted.annotations.counts(), np.asarray(truth.probs, dtype=np.float64))


def test_many_blocks_follow_the_planted_quantities_as_one_does() -> None:
    planted = simulate(n_items=150_000, n_annotators=50, n_classes=4, per_item=3, copiers=0.1, seed=15)
    votes = planted.annotations
    assert votes.per_item().tolist() == [3] * 150_000
    honest = planted.copied < 0
    assert_frequencies(confusion_of(votes, planted.gold.labels)[honest], planted.confusion[honest])


def test_one_item_one_annotator_and_many_classes() -> None:
    assert simulate(n_items=1, n_annotators=1, n_classes=2, per_item=1).annotations.n_annotations == 1
    planted = simulate(n_items=300, n_annotators=3, n_classes=500, per_item=2, ability=1.0)
    np.testing.assert_array_equal(planted.annotations.label, planted.gold.labels[planted.annotations.item])


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"per_item": 21}, "'per_item' must be at least 1 and at most the number of annotators, 20"),
        ({"n_classes": 1}, "'n_classes' must be a whole number of at least 2. Got 1"),
        ({"n_items": 0}, "'n_items'"),
        ({"n_items": 2.0}, "'n_items'"),
        ({"n_annotators": 0}, "'n_annotators'"),
        ({"n_annotators": True}, "'n_annotators'"),
        ({"ability": 1.2}, "'ability' must be a number between 0 and 1. Got 1.2"),
        ({"difficulty": -0.1}, "'difficulty'"),
        ({"difficulty": math.nan}, "'difficulty'"),
        ({"spammers": 2.0}, "'spammers'"),
        ({"copy_rate": 2.0}, "'copy_rate'"),
        ({"ambiguity": -1.0}, "'ambiguity' must be a number of at least 0"),
        ({"ambiguity": math.inf}, "'ambiguity'"),
        ({"activity": math.nan}, "'activity'"),
        ({"ability_concentration": 0.0}, "'ability_concentration' must be a number above 0"),
        ({"confusion_concentration": math.nan}, "'confusion_concentration'"),
        ({"precision": -1.0}, "'precision'"),
        ({"spam": "rude"}, "uniform, constant, random, mixed"),
        ({"spammers": 0.5, "copiers": 0.5}, "leave 0 of 20 annotators to copy from"),
        ({"spammers": 0.8, "copiers": 0.5}, "leave 0 of 20"),
        ({"spammers": 1.0, "copiers": 0.02, "n_annotators": 50}, "leave 0 of 50"),
        ({"class_prior": [0.5, 0.5]}, "'class_prior' must be 3 probabilities"),
        ({"class_prior": [0.5, 0.5, 0.5]}, "'class_prior'"),
        ({"class_prior": [1.5, -0.5, 0.0]}, "'class_prior'"),
        ({"class_prior": [math.nan, 0.5, 0.5]}, "'class_prior'"),
    ],
)
def test_impossible_options_are_refused(options: dict[str, Any], named: str) -> None:
    with pytest.raises(OptionError, match=named):
        simulate(**options)


@pytest.mark.parametrize("option", [{"n_items": 3}, {"n_classes": 2}, {"class_prior": [0.5, 0.5]}, {"ambiguity": 0.1}])
def test_what_a_given_truth_already_says_is_refused(option: dict[str, Any]) -> None:
    truth = SoftLabels([[0.6, 0.4]], items=["a"], classes=["cat", "dog"])
    with pytest.raises(OptionError, match=f"With 'truth', the option '{next(iter(option))}'"):
        simulate(truth=truth, **option)


def test_what_would_not_fit_is_refused_with_the_figure() -> None:
    with pytest.raises(TooLargeError, match=r"need 3,725 GiB"):
        simulate(n_annotators=1000, n_classes=10_000)
    with pytest.raises(TooLargeError):
        simulate(n_items=10**9, n_classes=100)
