"""The comparison without gold: what the report says, and that it is right where the truth is planted."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

from sfumato import compare, data
from sfumato.aggregate.held_out import held_out
from sfumato.core.annotations import Annotations
from sfumato.core.gold import Gold
from sfumato.core.soft_labels import SoftLabels
from sfumato.errors import InputError, OptionError, TooLargeError

PLANTED = data.simulate(n_items=300, n_annotators=15, n_classes=3, per_item=5, spammers=0.2, seed=2)
VIEWS = ["standard", "dawid_skene", "one_coin"]


def test_views_stand_from_best_to_worst_with_their_evidence() -> None:
    report = compare(PLANTED.annotations, VIEWS, resamples=100, seed=1)
    scored = held_out(PLANTED.annotations, VIEWS, seed=1)
    order = [scored.names[v] for v in np.argsort(-scored.scores())]
    assert list(report.rows()) == order
    for name, score, weight in zip(scored.names, scored.scores(), scored.weights, strict=True):
        number = report["held_out_log_likelihood_score", name]
        assert number.value == score
        assert number.low is not None
        assert number.high is not None
        assert number.low < number.value < number.high
        assert number.n == 1500
        assert report["weight", name].value == weight
        assert report["behind", name].value == pytest.approx(scored.scores().max() - score)
    assert report["behind", order[0]].value == report["behind", order[0]].high == 0
    assert report.origin.fingerprint == PLANTED.annotations.fingerprint
    assert report.origin.seed == 1
    assert report.notes[0].startswith(f"'{order[0]}' ")


def test_gold_adds_accuracy_soft_cross_entropy_and_calibration_by_hand() -> None:
    report = compare(PLANTED.annotations, VIEWS, gold=PLANTED.gold, resamples=20)
    from sfumato import aggregate, evaluate

    soft = aggregate.standard(PLANTED.annotations).soft_labels
    codes = PLANTED.gold.aligned(soft.items, soft.classes)
    assert report["accuracy_score", "standard"].value == evaluate.accuracy_score(soft, PLANTED.gold)
    assert report["expected_calibration_error", "standard"].value == pytest.approx(
        evaluate.expected_calibration_error(soft, PLANTED.gold), abs=1e-12
    )
    taken = [max(soft.probs[i, k], 1e-12) for i, k in enumerate(codes)]
    assert report["soft_cross_entropy_loss", "standard"].value == pytest.approx(-np.mean(np.log(taken)))
    assert report["accuracy_score", "held_out"].value >= 0.8


def test_same_seed_same_numbers() -> None:
    one, other = (compare(PLANTED.annotations, VIEWS, resamples=30, seed=9) for _ in range(2))
    assert one.to_json() == other.to_json()


def test_what_cannot_be_done_is_refused() -> None:
    with pytest.raises(InputError, match="None of the annotated items"):
        compare(PLANTED.annotations, VIEWS, gold=Gold.from_names(["elsewhere"], ["0"], classes=["0", "1", "2"]))
    with pytest.raises(OptionError, match="'resamples' must be 1 or more"):
        compare(PLANTED.annotations, VIEWS, resamples=0)


def test_soft_gold_is_met_as_far_as_it_says() -> None:
    from sfumato import aggregate, evaluate

    people = aggregate.softmax(PLANTED.annotations).soft_labels
    # In another order, and without some of the items: tables are matched by name.
    some = people.take(tuple(reversed(people.items[10:]))).with_classes(tuple(reversed(people.classes)))
    report = compare(PLANTED.annotations, VIEWS, gold=some, resamples=5)
    assert any(note.endswith("items have gold; what needs gold is about these.") for note in report.notes)
    made = aggregate.standard(PLANTED.annotations).soft_labels.take(people.items[10:])
    known = people.take(people.items[10:])
    number = report["soft_cross_entropy_loss", "standard"]
    assert number.n == len(known.items)
    assert number.value == pytest.approx(evaluate.soft_cross_entropy_loss(made, known))
    with pytest.raises(InputError, match="must have the classes of the annotations"):
        compare(PLANTED.annotations, VIEWS, gold=SoftLabels([[0.5, 0.5]], items=["i1"], classes=["0", "9"]))


def test_the_order_of_the_rows_changes_nothing() -> None:
    votes = PLANTED.annotations
    names = [
        [vocabulary[code] for code in codes]
        for vocabulary, codes in (
            (votes.items, votes.item), (votes.annotators, votes.annotator), (votes.classes, votes.label)
        )
    ]  # fmt: skip
    order = np.random.default_rng(1).permutation(len(votes.item))
    shuffled = Annotations.from_rows(*([column[row] for row in order] for column in names), classes=votes.classes)
    assert shuffled.items != votes.items
    one, other = (compare(each, VIEWS, gold=PLANTED.gold, resamples=30).to_json() for each in (votes, shuffled))
    assert one == other


def test_a_fold_may_be_empty() -> None:
    votes = Annotations.from_rows(["x", "y"], ["p", "q"], ["a", "b"])
    assert compare(votes, ["standard", "dawid_skene"], resamples=5)["weight", "standard"].value >= 0


def test_views_that_do_not_fit_are_left_out_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = {"standard": {}, "dawid_skene": {"memory_limit": 10}}
    with pytest.raises(TooLargeError, match="GiB"):
        compare(PLANTED.annotations, chosen, resamples=5)
    monkeypatch.setattr(importlib.import_module("sfumato.aggregate.compare"), "COMPARED", chosen)
    report = compare(PLANTED.annotations, resamples=5)
    assert report.notes[-1] == "Left out, as their models would not fit in the memory: dawid_skene."
    assert list(report.rows()) == ["standard"]
