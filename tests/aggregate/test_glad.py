"""GLAD against its definition written as loops, hand-worked cases, and what another program finds on real sets."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.optimize import check_grad, minimize

import sfumato as sf
from sfumato.aggregate.glad import glad
from sfumato.core.annotations import Annotations
from sfumato.errors import ConvergenceWarning, OptionError


def small_votes(n_items: int = 14, n_annotators: int = 6, n_classes: int = 3, seed: int = 0) -> Annotations:
    """Votes of annotators from very able to worse than chance, on some of the items."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(n_classes, size=n_items)
    ability = np.linspace(0.95, 0.2, n_annotators)
    rows = [(i, j) for i in range(n_items) for j in range(n_annotators) if rng.random() < 0.8]
    labels = [
        truth[i] if rng.random() < ability[j] else (truth[i] + rng.integers(1, n_classes)) % n_classes for i, j in rows
    ]
    return Annotations.from_rows(
        [f"i{i:02}" for i, _ in rows], [f"a{j}" for _, j in rows], [str(k) for k in labels],
        classes=[str(k) for k in range(n_classes)],
    )  # fmt: skip


def soft_votes(seed: int = 1) -> Annotations:
    """Votes that are distributions over three classes."""
    rng = np.random.default_rng(seed)
    panel = [(i, j) for i in range(10) for j in range(5) if rng.random() < 0.8]
    spread = rng.dirichlet([0.6, 0.6, 0.6], len(panel))
    item, annotator = (np.repeat([pair[side] for pair in panel], 3) for side in (0, 1))
    return Annotations.from_codes(
        item, annotator, np.tile(np.arange(3), len(panel)), weight=spread.ravel(),
        items=[f"i{i}" for i in range(10)], annotators=[f"a{j}" for j in range(5)], classes=["0", "1", "2"],
    )  # fmt: skip


def slow_log_joint(votes: Annotations, ability: np.ndarray, ease: np.ndarray, prior: np.ndarray) -> float:
    """log p(labels, α, log β) up to the constants of the normal priors, straight from the definition."""
    total = -sum((a - 1) ** 2 for a in ability) / 2 - sum((b - 1) ** 2 for b in ease) / 2
    for i in range(votes.n_items):
        scores = slow_scores(votes, ability, ease, prior, i)
        total += max(scores) + math.log(sum(math.exp(s - max(scores)) for s in scores))
    return total


def slow_scores(votes: Annotations, ability: np.ndarray, ease: np.ndarray, prior: np.ndarray, i: int) -> list[float]:
    scores = [math.log(p) for p in prior]
    for row in np.flatnonzero(votes.item == i):
        right = 1 / (1 + math.exp(-ability[votes.annotator[row]] * math.exp(ease[i])))
        for k in range(votes.n_classes):
            chance = right if votes.label[row] == k else (1 - right) / (votes.n_classes - 1)
            scores[k] += votes.weight[row] * math.log(chance)
    return scores


def parameters(result: sf.aggregate.Result) -> tuple[np.ndarray, np.ndarray]:
    """Ability and log β as the documentation says they can be read off a result (all items judged)."""
    assert result.soft_labels.uncertainty is not None
    assert result.annotators.competence is not None
    ease = -np.log(result.soft_labels.uncertainty)
    competence = result.annotators.competence
    return np.log(competence / (1 - competence)) / np.exp(ease.mean()), ease


@pytest.mark.parametrize("votes", [small_votes(), small_votes(12, 5, 2, seed=6), soft_votes()])
def test_the_maximum_of_the_definition_is_found(votes: Annotations) -> None:
    prior = np.full(votes.n_classes, 1 / votes.n_classes)
    n = votes.n_annotators

    def loss(point: np.ndarray) -> float:
        return -slow_log_joint(votes, point[:n], point[n:], prior)

    found = minimize(loss, np.ones(n + votes.n_items), method="BFGS", options={"gtol": 1e-6})
    ours = glad(votes, tolerance=1e-12, max_iter=5000)
    assert ours.trace[-1] == pytest.approx(-found.fun, abs=1e-6)
    ability, ease = parameters(ours)
    np.testing.assert_allclose(ability, found.x[:n], atol=2e-4)
    np.testing.assert_allclose(ease, found.x[n:], atol=2e-4)
    for i in range(votes.n_items):
        scores = np.array(slow_scores(votes, ability, ease, prior, i))
        np.testing.assert_allclose(ours.soft_labels.probs[i], np.exp(scores) / np.exp(scores).sum(), atol=1e-6)


def test_the_objective_is_the_log_joint_and_flat_at_the_end() -> None:
    votes = small_votes(30, 8, 4, seed=9)
    prior = np.array([0.4, 0.3, 0.2, 0.1])
    result = glad(votes, class_prior=[4, 3, 2, 1], tolerance=1e-13, max_iter=5000)
    ability, ease = parameters(result)
    assert slow_log_joint(votes, ability, ease, prior) == pytest.approx(result.trace[-1], abs=1e-7)
    n = votes.n_annotators
    slope = check_grad(
        lambda x: slow_log_joint(votes, x[:n], x[n:], prior), np.zeros_like, np.concatenate([ability, ease])
    )
    assert slope < 1e-4
    assert result.class_prior == pytest.approx(prior)


@pytest.mark.parametrize("votes", [small_votes(40, 9, 5, seed=2), soft_votes(4)])
def test_the_objective_never_falls(votes: Annotations) -> None:
    trace = np.array(glad(votes, tolerance=1e-12, max_iter=5000).trace)
    assert len(trace) > 5
    assert np.diff(trace).min() > -1e-9 * abs(trace[-1])


@pytest.mark.parametrize("n_classes", [2, 7])
def test_one_vote_by_hand(n_classes: int) -> None:
    # The one vote has the probability 1/n_classes whatever α and β are, so both stay at the mean 1 of their priors.
    votes = Annotations.from_rows(["a"], ["x"], ["0"], classes=[str(k) for k in range(n_classes)])
    result = glad(votes)
    right = 1 / (1 + math.exp(-math.e))
    expected = [right] + [(1 - right) / (n_classes - 1)] * (n_classes - 1)
    np.testing.assert_allclose(result.soft_labels.probs[0], expected, rtol=1e-12)
    assert result.trace[-1] == pytest.approx(-math.log(n_classes), abs=1e-12)
    assert result.soft_labels.uncertainty == pytest.approx([math.exp(-1)])
    assert result.annotators.competence == pytest.approx([right])


def test_an_adversary_counts_against_and_is_named() -> None:
    items = [f"{i:02}" for i in range(40)]
    truth = ["yes", "no"] * 20
    rows = [(i, who, t) for i, t in zip(items, truth, strict=True) for who in "xyz"]
    rows += [(i, "liar", "no" if t == "yes" else "yes") for i, t in zip(items, truth, strict=True)]
    result = glad(Annotations.from_rows(*zip(*rows, strict=True)))
    assert list(result.soft_labels.top()) == truth
    assert result.annotators.competence is not None
    assert result.annotators.competence[3] < 0.1 < 0.9 < result.annotators.competence[0]
    assert any("1 of 4 annotators are more often wrong" in note for note in result.notes)


def test_the_item_that_able_annotators_dispute_is_the_hard_one() -> None:
    rows = [(f"{i:02}", who, "yes") for i in range(20) for who in "uvwxyz"]
    rows += [("hard", who, "yes" if who in "uvw" else "no") for who in "uvwxyz"]
    rows += [(f"{i:02}", who, "no") for i in range(20, 40) for who in "uvwxyz"]
    result = glad(Annotations.from_rows(*zip(*rows, strict=True)))
    assert result.soft_labels.uncertainty is not None
    hardest = int(result.soft_labels.uncertainty.argmax())
    assert result.soft_labels.items[hardest] == "hard"
    assert result.soft_labels.uncertainty[hardest] > 2 * np.delete(result.soft_labels.uncertainty, hardest).max()


def test_certain_distributions_are_votes() -> None:
    votes = small_votes()
    certain = Annotations.from_codes(
        votes.item, votes.annotator, votes.label, weight=np.ones(len(votes.item)), items=votes.items,
        annotators=votes.annotators, classes=votes.classes,
    )  # fmt: skip
    np.testing.assert_array_equal(glad(certain).soft_labels.probs, glad(votes).soft_labels.probs)


def test_bits_do_not_depend_on_the_order_of_rows_and_classes_can_be_permuted() -> None:
    votes = small_votes(60, 7, 4, seed=8)
    names = [(votes.items[i], votes.annotators[j], votes.classes[k]) for i, j, k in zip(votes.item, votes.annotator, votes.label, strict=True)]  # fmt: skip  # noqa: E501
    order = np.random.default_rng(0).permutation(len(names))
    shuffled = Annotations.from_rows(*zip(*(names[o] for o in order), strict=True), classes=votes.classes)
    one, two = glad(votes), glad(shuffled)
    np.testing.assert_array_equal(two.soft_labels.take(votes.items).probs, one.soft_labels.probs)
    assert two.trace == one.trace
    permuted = Annotations.from_rows(*zip(*names, strict=True), classes=["2", "0", "3", "1"])
    np.testing.assert_allclose(
        glad(permuted).soft_labels.with_classes(votes.classes).probs, one.soft_labels.probs, atol=1e-9
    )


def test_a_hundred_thousand_annotators_of_one_item() -> None:
    n = 100_000
    votes = Annotations.from_codes(
        np.zeros(n, dtype=int), np.arange(n), (np.arange(n) % 5 == 0).astype(int), items=["a"],
        annotators=[f"{j:06}" for j in range(n)], classes=["no", "yes"],
    )  # fmt: skip
    result = glad(votes)
    np.testing.assert_allclose(result.soft_labels.probs, [[1, 0]], atol=1e-12)
    assert np.isfinite(result.trace).all()


def test_who_and_what_was_never_seen_has_the_prior() -> None:
    votes = Annotations.from_codes(
        [0, 0, 2], [0, 1, 1], [0, 0, 1], items=["a", "silent", "c"], annotators=["x", "y", "mute"], classes=["0", "1"]
    )
    result = glad(votes, class_prior=[3, 1])
    np.testing.assert_allclose(result.soft_labels.probs[1], [0.75, 0.25])
    assert result.soft_labels.uncertainty is not None
    assert result.soft_labels.uncertainty[1] == pytest.approx(math.exp(-1))
    ease = -np.log(result.soft_labels.uncertainty[[0, 2]])
    assert result.annotators.competence is not None
    assert result.annotators.competence[2] == pytest.approx(1 / (1 + math.exp(-math.exp(ease.mean()))))
    assert any(" items; the class prior stands there" in note for note in result.notes)


def test_nothing_and_one_class_are_no_special_cases() -> None:
    empty = Annotations.from_codes(
        np.zeros(0, int), np.zeros(0, int), np.zeros(0, int), items=["a"], annotators=["x"], classes=["0", "1"]
    )
    np.testing.assert_array_equal(glad(empty).soft_labels.probs, [[0.5, 0.5]])
    one = glad(Annotations.from_rows("aab", "xyx", "000"))
    np.testing.assert_array_equal(one.soft_labels.probs, [[1.0], [1.0]])


def test_the_limit_warns_and_bad_options_are_refused() -> None:
    with pytest.warns(ConvergenceWarning, match="limit of 2 iterations"):
        result = glad(small_votes(), max_iter=2)
    assert (result.converged, result.n_iter, len(result.trace)) == (False, 2, 2)
    for options in ({"max_iter": 0}, {"tolerance": -1.0}, {"class_prior": [1.0, 0.0, 1.0]}, {"class_prior": [1.0]}):
        with pytest.raises(OptionError, match=next(iter(options))):
            glad(small_votes(), **options)


def test_the_origin_says_how_it_was_made() -> None:
    votes = small_votes()
    origin = glad(votes, seed=7).soft_labels.origin
    assert (origin.method, origin.seed, origin.fingerprint) == ("glad", 7, votes.fingerprint)
    assert origin.options["tolerance"] == 1e-7


# Accuracies of crowd-kit 1.4.2 on the same votes (ties shared), which stops a few iterations after the start; ours is
# at the maximum, so a tie or a close item may fall otherwise.
@pytest.mark.parametrize(
    ("name", "accuracy"), [("rte", 0.9250), ("CF", 0.8800), ("SP", 0.9172), ("SP_amt", 0.9460), ("product", 0.9283)]
)
def test_real_sets(load_data: Callable[[str], sf.data.DataSet], name: str, accuracy: float) -> None:
    data = load_data(f"truth_inference/{name}")
    assert data.annotations is not None
    assert data.gold is not None
    result = glad(data.annotations)
    assert result.converged
    top = dict(zip(result.soft_labels.items, result.soft_labels.top(), strict=True))
    right = [top[item] == data.gold.classes[k] for item, k in zip(data.gold.items, data.gold.labels, strict=True)]
    assert np.mean(right) == pytest.approx(accuracy, abs=5e-5)


def test_planted_abilities_and_difficulties_are_found() -> None:
    rng = np.random.default_rng(11)
    n_items, n_annotators = 400, 30
    ability, ease = rng.normal(1, 1, n_annotators), rng.normal(0.5, 0.7, n_items)
    truth = rng.integers(2, size=n_items)
    pairs = list(itertools.product(range(n_items), range(n_annotators)))
    right = [rng.random() < 1 / (1 + math.exp(-ability[j] * math.exp(ease[i]))) for i, j in pairs]
    labels = [int(truth[i] if ok else 1 - truth[i]) for (i, _), ok in zip(pairs, right, strict=True)]
    votes = Annotations.from_codes(
        [i for i, _ in pairs], [j for _, j in pairs], labels, items=[f"{i:03}" for i in range(n_items)],
        annotators=[f"{j:02}" for j in range(n_annotators)], classes=["0", "1"],
    )  # fmt: skip
    result = glad(votes)
    found_ability, found_ease = parameters(result)
    assert np.corrcoef(found_ability, ability)[0, 1] > 0.97
    assert np.corrcoef(found_ease, ease)[0, 1] > 0.7
    assert np.mean(result.soft_labels.probs.argmax(axis=1) == truth) > 0.97
