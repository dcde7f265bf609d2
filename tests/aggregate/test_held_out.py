"""Leaving annotations out: against the sum written out, against a solver for the weights, and against gold."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from sfumato import aggregate, data
from sfumato.aggregate.held_out import HeldOut, held_out, stacking_weights
from sfumato.core.annotations import Annotations
from sfumato.errors import InputError, OptionError


def planted(**options: object) -> data.Simulation:
    return data.simulate(**{"n_items": 120, "n_annotators": 8, "n_classes": 3, "per_item": 5, "seed": 4, **options})


def test_weights_are_the_maximum_that_a_general_solver_finds() -> None:
    rng = np.random.default_rng(0)
    for n_views in (1, 2, 5):
        log_probs, row_weights = np.log(rng.uniform(0.05, 0.95, (n_views, 60))), rng.uniform(0.2, 1, 60)

        def loss(logits: np.ndarray, lp: np.ndarray = log_probs, rw: np.ndarray = row_weights) -> float:
            w = np.exp(logits - logits.max())
            return -float(rw @ np.log((w / w.sum()) @ np.exp(lp)))

        best = min(minimize(loss, rng.normal(size=n_views), method="Nelder-Mead", tol=1e-12).fun for _ in range(3))
        weights = stacking_weights(log_probs, row_weights)
        assert weights.sum() == pytest.approx(1, abs=1e-12)
        assert weights.min() >= 0
        assert -row_weights @ np.log(weights @ np.exp(log_probs)) <= best + 1e-6


def test_weights_of_twins_and_of_the_useless() -> None:
    rng = np.random.default_rng(1)
    good = np.log(rng.uniform(0.5, 0.9, 200))
    weights = stacking_weights(np.array([good, good, good - 1]), np.ones(200))
    assert weights[2] == pytest.approx(0, abs=1e-6)
    assert weights[0] + weights[1] == pytest.approx(1, abs=1e-6)


def test_no_underflow_where_probabilities_are_tiny() -> None:
    weights = stacking_weights(np.array([[-800.0, -900.0], [-801.0, -899.5]]), np.ones(2))
    assert np.isfinite(weights).all()
    assert weights.sum() == pytest.approx(1)


def test_the_score_of_the_standard_view_written_out() -> None:
    votes = planted(n_items=12, n_annotators=4, per_item=3).annotations
    scored = held_out(votes, ["standard"], folds=3, seed=7)
    # Which annotations a fold holds is the module's own affair; the probabilities then follow by hand.
    from sfumato.aggregate.held_out import _folds

    fold = _folds(votes, 3, np.random.default_rng(7))
    for k in range(3):
        rest = votes.take_annotations(fold != k)
        q = aggregate.standard(rest).soft_labels.probs
        counts = np.zeros((4, 3, 3))
        for i, j, label in zip(rest.item, rest.annotator, rest.label, strict=True):
            counts[j, label] += q[i]
        pooled = counts.sum(axis=0) + 1 / 3
        counts += 2 * pooled / pooled.sum(axis=0)
        table = counts / counts.sum(axis=1, keepdims=True)
        for row in np.flatnonzero(fold == k):
            expected = np.log(q[votes.item[row]] @ table[votes.annotator[row], votes.label[row]])
            assert scored.log_probs[0, row] == pytest.approx(expected, abs=1e-12)


def test_every_item_gives_to_every_fold_alike() -> None:
    from sfumato.aggregate.held_out import _folds

    votes = planted(per_item=8).annotations
    fold = _folds(votes, 4, np.random.default_rng(0))
    for i in range(votes.n_items):
        assert np.bincount(fold[votes.item == i], minlength=4).tolist() == [2, 2, 2, 2]


def shuffled(votes: Annotations, seed: int) -> Annotations:
    order = np.random.default_rng(seed).permutation(len(votes.item))
    names = [[vocabulary[code] for code in codes[order]] for vocabulary, codes in (
        (votes.items, votes.item), (votes.annotators, votes.annotator), (votes.classes, votes.label))]  # fmt: skip
    return Annotations.from_rows(*names, classes=votes.classes)


def test_shuffled_rows_give_the_same_scores() -> None:
    votes = planted().annotations
    names = ["standard", "dawid_skene", "ebcc"]
    one, other = held_out(votes, names, seed=3), held_out(shuffled(votes, 5), names, seed=3)
    np.testing.assert_allclose(one.scores(), other.scores(), rtol=1e-12)
    np.testing.assert_allclose(one.weights, other.weights, atol=1e-6)


def test_a_model_of_the_truth_foresees_better_than_counting() -> None:
    scored = held_out(planted(n_items=800, spammers=0.25).annotations, ["standard", "dawid_skene"])
    assert dict(zip(scored.names, scored.scores(), strict=True))["dawid_skene"] == scored.scores().max()
    assert scored.weights[1] > 0.9


def test_annotators_who_copy_are_seen_by_the_model_that_knows_of_it() -> None:
    votes = planted(n_items=600, n_annotators=12, per_item=8, copiers=0.4, ability=0.6).annotations
    scored = held_out(votes, {"dawid_skene": {}, "ebcc": {"restarts": 3}})
    assert scored.scores()[1] > scored.scores()[0]


def test_soft_annotations_are_scored_by_their_weights() -> None:
    scored = held_out(planted(soft=True).annotations, ["standard", "one_coin"])
    assert isinstance(scored, HeldOut)
    sums, counts = scored.per_item()
    np.testing.assert_allclose(sums.sum(axis=1) / counts.sum(), scored.scores(), rtol=1e-12)
    assert counts.sum() == pytest.approx(600)


@pytest.mark.parametrize(
    ("names", "options", "said"),
    [
        (["standard"], {"folds": 1}, "'folds' must be 2 or more"),
        (["plurality"], {}, "must be one of"),
        ([], {}, "no view to score"),
    ],
)
def test_what_cannot_be_done_is_refused(names: list[str], options: dict[str, int], said: str) -> None:
    with pytest.raises(OptionError, match=said):
        held_out(planted().annotations, names, **options)  # type: ignore[arg-type]


def test_one_annotation_cannot_be_left_out() -> None:
    with pytest.raises(InputError, match="at least two"):
        held_out(Annotations.from_rows(["a"], ["x"], ["1"]), ["standard"])


def test_joins_are_weighted_by_what_their_views_foresee() -> None:
    votes = planted(n_items=200, spammers=0.25).annotations
    names = ["standard", "dawid_skene", "mace"]
    joined = aggregate.average(votes, names=names, weights="held_out", seed=3)
    weights = held_out(votes, names, seed=3).weights
    assert joined.weights is not None
    np.testing.assert_array_equal(joined.weights, weights / weights.sum())
    made = aggregate.views(votes, names, seed=3)
    expected = sum(w * made[name].probs for w, name in zip(weights, names, strict=True))
    np.testing.assert_allclose(joined.soft_labels.probs, expected, atol=1e-12)


def test_soft_labels_alone_cannot_be_weighted_without_their_annotations() -> None:
    made = aggregate.views(planted().annotations, ["standard", "softmax"])
    with pytest.raises(OptionError, match="give the annotations"):
        aggregate.centroid(made, weights="held_out")
    with pytest.raises(OptionError, match="'weights' must be one of held_out"):
        aggregate.average(planted().annotations, weights="gold")  # type: ignore[arg-type]
