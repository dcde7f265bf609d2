"""The one-coin model against a slow implementation, and where its structure matters."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import sfumato as sf
from sfumato.aggregate.one_coin import one_coin
from sfumato.errors import ConvergenceWarning, OptionError


def _slow(
    votes: sf.Annotations, n_iter: int, *, strength: float, estimated: bool
) -> tuple[np.ndarray, np.ndarray, list[float]]:
    """EM by the formulas, in plain loops: posterior, accuracies, objective."""
    n, k = votes.n_items, votes.n_classes
    rows = list(zip(votes.item, votes.annotator, votes.label, votes.weight, strict=True))
    posterior = votes.counts() / votes.counts().sum(axis=1, keepdims=True)
    right, centre, objectives = np.zeros(votes.n_annotators), None, []
    for _ in range(n_iter):
        agreed, given = np.zeros(votes.n_annotators), np.zeros(votes.n_annotators)
        for i, j, label, w in rows:
            agreed[j] += w * posterior[i, label]
            given[j] += w
        if centre is None:
            centre = (agreed.sum() + 1) / (given.sum() + 2)
        right = (agreed + strength * centre) / (given + strength)
        prior = posterior.mean(axis=0) if estimated else np.full(k, 1 / k)
        joint = np.tile(prior, (n, 1))
        for i, j, label, w in rows:
            factor = np.full(k, (1 - right[j]) / (k - 1))
            factor[label] = right[j]
            joint[i] *= factor**w
        penalty = strength * (centre * np.log(right) + (1 - centre) * np.log(1 - right)).sum() if strength else 0
        objectives.append(float(np.log(joint.sum(axis=1)).sum() + penalty))
        posterior = joint / joint.sum(axis=1, keepdims=True)
    return posterior, right, objectives


@pytest.mark.parametrize("soft", [False, True])
@pytest.mark.parametrize("estimated", [False, True])
@pytest.mark.parametrize("strength", [0.0, 3.0])
def test_equals_a_slow_implementation(soft: bool, estimated: bool, strength: float) -> None:
    votes = sf.data.simulate(n_items=40, n_annotators=5, n_classes=3, per_item=4, soft=soft, seed=8).annotations
    prior = {"prior": "pooled", "strength": strength} if strength else {"prior": "ml"}
    with pytest.warns(ConvergenceWarning):
        result = one_coin(votes, class_prior="estimated" if estimated else "uniform", max_iter=6, tolerance=0, **prior)  # type: ignore[arg-type]
    posterior, right, objectives = _slow(votes, 6, strength=strength, estimated=estimated)
    np.testing.assert_allclose(result.soft_labels.probs, posterior, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(result.annotators.competence, right, rtol=1e-9)
    np.testing.assert_allclose(result.trace, objectives, rtol=1e-11)


@pytest.mark.parametrize("options", [{}, {"prior": "ml"}, {"class_prior": "estimated"}, {"start": "majority"}])
def test_the_objective_only_rises(options: dict[str, object]) -> None:
    votes = sf.data.simulate(n_items=200, n_annotators=9, n_classes=4, per_item=3, seed=1).annotations
    result = one_coin(votes, tolerance=1e-9, max_iter=5000, **options)  # type: ignore[arg-type]
    assert result.converged
    assert np.diff(result.trace).min() >= -1e-9


def test_annotators_who_are_always_right_do_not_break_the_likelihood() -> None:
    votes = sf.Annotations.from_rows(list("aabb") * 1, list("xyxy"), list("1122"))
    result = one_coin(votes, prior="ml", max_iter=2000)
    np.testing.assert_allclose(result.soft_labels.probs, np.eye(2), atol=1e-9)
    np.testing.assert_allclose(result.annotators.competence, 1, atol=1e-9)
    assert result.trace[-1] == pytest.approx(2 * np.log(0.5), abs=1e-9)


def test_confusion_is_that_of_one_accuracy() -> None:
    votes = sf.data.simulate(n_items=50, n_annotators=3, n_classes=4, per_item=3, seed=1).annotations
    result = one_coin(votes)
    assert result.annotators.competence is not None
    for matrix, accuracy in zip(result.annotators.confusion, result.annotators.competence, strict=True):  # type: ignore[arg-type]
        expected = np.full((4, 4), (1 - accuracy) / 3)
        np.fill_diagonal(expected, accuracy)
        np.testing.assert_allclose(matrix, expected, rtol=1e-12)


def test_ten_thousand_classes_take_no_table() -> None:
    votes = sf.data.simulate(
        n_items=200, n_annotators=40, n_classes=50, per_item=5, confusion_concentration=np.inf, seed=1
    )
    names = [f"{k:05}" for k in range(10_000)]
    rng = np.random.default_rng(0)
    place = rng.permutation(10_000)[:50]
    wide = sf.Annotations.from_codes(
        votes.annotations.item, votes.annotations.annotator, place[votes.annotations.label],
        items=votes.annotations.items, annotators=votes.annotations.annotators, classes=names,
    )  # fmt: skip
    result = one_coin(wide)
    assert result.annotators.confusion is None
    assert (result.soft_labels.probs.argmax(axis=1) == place[votes.gold.labels]).mean() > 0.97


def test_accuracy_on_textual_entailment(load_data: Callable[[str], sf.data.DataSet]) -> None:
    data = load_data("rte")
    result = one_coin(data.annotations, prior="ml")
    gold = data.gold.aligned(result.soft_labels.items, result.soft_labels.classes)
    assert (result.soft_labels.probs.argmax(axis=1) == gold).mean() == pytest.approx(0.925, abs=0.002)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"prior": "dirichlet"}, "'prior' must be one of pooled, ml"),
        ({"class_prior": "given"}, "'class_prior' must be one of uniform, estimated"),
        ({"start": "random"}, "'start' must be one of"),
        ({"strength": -1.0}, "'strength' must be more than 0"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, object], said: str) -> None:
    with pytest.raises(OptionError, match=said):
        one_coin(sf.Annotations.from_rows(["a"], ["x"], ["1"]), **options)  # type: ignore[arg-type]
