"""Dawid–Skene against a slow implementation, the paper's own data, and the published accuracies."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

import sfumato as sf
from sfumato.aggregate.dawid_skene import dawid_skene
from sfumato.aggregate.result import Result
from sfumato.errors import OptionError, TooLargeError

# Dawid and Skene (1979), Table 1: the fitness of 45 patients for anaesthesia, one word per patient: three judgements
# by the first observer, then one by each of four others.
OBSERVERS = "AAABCDE"
PATIENTS = """
1111111 3334334 1122122 2223121 2223222 2223322 1222111 3333433 2222223 2322223 4444444 2223343 1111111 2223212 1211111
1112111 1111111 1111111 2222221 2221322 2222222 2222221 2223222 2212222 1111111 1111111 2322222 1111111 1111111 1121121
1111111 3333233 1111111 2222222 2223232 4334343 2212232 2323233 3333432 1111111 1111111 1212111 2322222 1211111 2222222
"""


def _anaesthesia() -> sf.Annotations:
    rows = [
        (f"{p:02}", who, label)
        for p, said in enumerate(PATIENTS.split())
        for who, label in zip(OBSERVERS, said, strict=True)
    ]
    return sf.Annotations.from_rows(*zip(*rows, strict=True))


def _slow(votes: sf.Annotations, n_iter: int, *, strength: float, majority: bool) -> tuple[np.ndarray, list[float]]:
    """Dawid–Skene with an even Dirichlet prior by the formulas, in plain loops; posterior and objective."""
    n, k = votes.n_items, votes.n_classes
    rows = list(zip(votes.item, votes.annotator, votes.label, votes.weight, strict=True))
    shares = votes.counts()
    if majority:
        shares = (shares == shares.max(axis=1, keepdims=True)).astype(float)
    posterior = shares / shares.sum(axis=1, keepdims=True)
    objectives = []
    for _ in range(n_iter):
        theta = np.full((votes.n_annotators, k, k), strength / k)
        for i, j, label, w in rows:
            theta[j, :, label] += w * posterior[i]
        theta /= theta.sum(axis=2, keepdims=True)
        smoothing = 1 / k if strength else 0
        prior = (posterior.sum(axis=0) + smoothing) / (n + k * smoothing)
        joint = np.tile(prior, (n, 1))
        for i, j, label, w in rows:
            joint[i] *= theta[j, :, label] ** w
        objective = np.log(joint.sum(axis=1)).sum()
        if strength:
            objective += strength / k * np.log(theta).sum() + smoothing * np.log(prior).sum()
        objectives.append(float(objective))
        posterior = joint / joint.sum(axis=1, keepdims=True)
    return posterior, objectives


def _quietly(votes: sf.Annotations, n_iter: int, **options: object) -> Result:
    with pytest.warns(sf.errors.ConvergenceWarning):
        return dawid_skene(votes, max_iter=n_iter, tolerance=0, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("soft", [False, True])
@pytest.mark.parametrize("start", ["shares", "majority"])
@pytest.mark.parametrize("strength", [0.0, 3.0])
def test_equals_a_slow_implementation(soft: bool, start: str, strength: float) -> None:
    votes = sf.data.simulate(n_items=40, n_annotators=5, n_classes=3, per_item=4, soft=soft, seed=8).annotations
    prior = {"prior": "dirichlet", "strength": strength} if strength else {"prior": "ml"}
    result = _quietly(votes, 6, start=start, **prior)
    posterior, objectives = _slow(votes, 6, strength=strength, majority=start == "majority")
    np.testing.assert_allclose(result.soft_labels.probs, posterior, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(result.trace, objectives, rtol=1e-11)


def test_a_case_worked_by_hand() -> None:
    # x and y say 1 and 2 to item a, and both say 1 to item b. Shares: a = (½, ½), b = (1, 0).
    votes = sf.Annotations.from_rows(["a", "a", "b", "b"], ["x", "y", "x", "y"], ["1", "2", "1", "1"])
    result = _quietly(votes, 1, prior="ml")
    # π = (¾, ¼); θ_x = (1, 0), (1, 0); θ_y[1] = (⅔, ⅓), θ_y[2] = (0, 1).
    # p(a) = ¾·1·⅓ + ¼·1·1 = ½, each class ¼; p(b) = ¾·1·⅔ = ½.
    np.testing.assert_allclose(result.soft_labels.probs, [[0.5, 0.5], [1, 0]], rtol=1e-14)
    assert result.trace == pytest.approx([2 * math.log(0.5)], rel=1e-14)
    np.testing.assert_allclose(
        result.annotators.confusion, [[[1, 0], [1, 0]], [[2 / 3, 1 / 3], [0, 1]]], rtol=1e-14, atol=0
    )
    np.testing.assert_allclose(result.annotators.competence, [3 / 4, 3 / 4 * 2 / 3 + 1 / 4], rtol=1e-14)
    np.testing.assert_allclose(result.class_prior, [0.75, 0.25], rtol=1e-14)


@pytest.mark.parametrize(
    "options", [{}, {"prior": "ml"}, {"prior": "dirichlet", "strength": 0.5}, {"start": "majority"}]
)
@pytest.mark.parametrize("soft", [False, True])
def test_the_objective_only_rises(options: dict[str, object], soft: bool) -> None:
    votes = sf.data.simulate(n_items=200, n_annotators=9, n_classes=4, per_item=3, soft=soft, seed=1).annotations
    result = dawid_skene(votes, tolerance=1e-10, max_iter=5000, **options)  # type: ignore[arg-type]
    rise = np.diff(result.trace)
    assert result.converged
    assert len(rise) > 1
    assert rise.min() >= -1e-9


def test_the_paper_from_both_starts() -> None:
    shares = dawid_skene(_anaesthesia(), prior="ml", tolerance=1e-13, max_iter=5000)
    assert shares.trace[0] == pytest.approx(-205.0911382938, abs=5e-11)
    assert shares.trace[-1] == pytest.approx(-192.8908812142, abs=5e-11)
    majority = dawid_skene(_anaesthesia(), prior="ml", start="majority", tolerance=1e-13, max_iter=5000)
    assert majority.trace[-1] == pytest.approx(-193.9746, abs=5e-5)
    assert shares.soft_labels["02"][0] == pytest.approx(0.0, abs=0.05)


def test_the_first_observer_of_the_paper_counts_three_times() -> None:
    result = dawid_skene(_anaesthesia(), prior="ml")
    assert result.annotators.n_annotations.tolist() == [135, 45, 45, 45, 45]


def _accuracy(result: Result, data: sf.data.DataSet) -> float:
    assert data.gold is not None
    gold = data.gold.aligned(result.soft_labels.items, result.soft_labels.classes)
    return float((result.soft_labels.probs.argmax(axis=1) == gold)[gold >= 0].mean())


def test_published_accuracy_on_textual_entailment(load_data: Callable[[str], sf.data.DataSet]) -> None:
    data = load_data("rte")
    assert _accuracy(dawid_skene(data.annotations, prior="ml"), data) == 0.9275


def test_published_accuracy_on_parts_of_speech(load_data: Callable[[str], sf.data.DataSet]) -> None:
    data = load_data("pos")
    result = dawid_skene(data.annotations, prior="ml", stop="class_prior", tolerance=1e-4, max_iter=100)
    assert result.n_iter == 65
    assert _accuracy(result, data) == pytest.approx(0.77921, abs=5e-6)


def test_a_hundred_thousand_annotators_of_one_item() -> None:
    # 60,000 say 1 and 40,000 say 2; every annotator also judges a clear item in common with few others.
    n = 100_000
    item = np.concatenate([np.zeros(n), 1 + np.arange(n) % 500]).astype(int)
    label = np.concatenate([np.arange(n) % 5 >= 3, np.arange(n) % 500 % 2]).astype(int)
    votes = sf.Annotations.from_codes(
        item, np.tile(np.arange(n), 2), label, items=[f"i{i}" for i in range(501)],
        annotators=[f"w{j}" for j in range(n)], classes=["1", "2"],
    )  # fmt: skip
    result = dawid_skene(votes, max_iter=20, tolerance=1e-4)
    assert np.isfinite(result.soft_labels.probs).all()
    np.testing.assert_allclose(result.soft_labels["i0"], [1, 0], atol=1e-12)
    np.testing.assert_allclose(result.soft_labels.probs[1:].max(axis=1), 1, atol=1e-6)


def test_what_no_vote_supports_stays_without_mass_under_maximum_likelihood() -> None:
    votes = sf.Annotations.from_rows(list("aabbcc"), list("xyxyxy"), list("112233"))
    result = dawid_skene(votes, prior="ml", tolerance=1e-12)
    np.testing.assert_array_equal(result.soft_labels.probs, np.eye(3))
    pooled = dawid_skene(votes).soft_labels.probs
    assert pooled.min() > 0
    assert (pooled.argmax(axis=1) == [0, 1, 2]).all()


def test_a_prior_centred_on_the_pool_lends_an_annotator_of_one_item_the_pools_confusion() -> None:
    votes = sf.data.simulate(n_items=300, n_annotators=6, n_classes=2, per_item=6, ability=0.9, seed=2).annotations
    extended = sf.Annotations.from_rows(
        [*(votes.items[i] for i in votes.item), votes.items[0]],
        [*(votes.annotators[j] for j in votes.annotator), "newcomer"],
        [*(votes.classes[k] for k in votes.label), votes.classes[votes.label[0]]],
        classes=votes.classes,
    )
    result = dawid_skene(extended, strength=1000.0)
    confusion = result.annotators.confusion
    assert confusion is not None
    # A thousand pseudo-annotations against one: the newcomer is the pool.
    np.testing.assert_allclose(confusion[-1], confusion[:-1].mean(axis=0), atol=0.02)


def test_matrices_that_do_not_fit_are_refused_with_the_figure() -> None:
    votes = sf.data.simulate(n_items=50, n_annotators=10, n_classes=100, per_item=2, seed=0).annotations
    with pytest.raises(TooLargeError, match=r"100 classes for each of 10 annotators needs 0\.00373 GiB .* one_coin"):
        dawid_skene(votes, memory_limit=1 << 20)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"prior": "none"}, "'prior' must be one of pooled, dirichlet, ml. Got 'none'"),
        ({"start": "random"}, "'start' must be one of shares, majority. Got 'random'"),
        ({"strength": 0.0}, "'strength' must be more than 0"),
        ({"strength": float("inf")}, "'strength' must be more than 0"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, object], said: str) -> None:
    with pytest.raises(OptionError, match=said):
        dawid_skene(_anaesthesia(), **options)  # type: ignore[arg-type]


def test_one_class_one_item_one_annotator() -> None:
    result = dawid_skene(sf.Annotations.from_rows(["a"], ["x"], ["1"]))
    assert result.soft_labels.probs.tolist() == [[1.0]]
    assert result.annotators.competence is not None
    assert result.annotators.competence.tolist() == [1.0]


def test_maximum_likelihood_takes_no_strength() -> None:
    votes = sf.Annotations.from_rows(list("aabb"), list("xyxy"), list("1001"))
    for method in (sf.aggregate.dawid_skene, sf.aggregate.one_coin):
        with pytest.raises(OptionError, match="prior='ml' has none"):
            method(votes, prior="ml", strength=3)
