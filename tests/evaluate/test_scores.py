"""All numbers at once are the numbers one by one."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato import Predictions, SoftLabels, evaluate
from sfumato.core.gold import Gold
from sfumato.errors import InputError, OptionError

RNG = np.random.default_rng(0)
LOGITS = RNG.normal(size=(40, 3)) * 2
ITEMS, CLASSES = [f"i{k}" for k in range(40)], ["x", "y", "z"]
PREDICTED = Predictions.from_logits(LOGITS, items=ITEMS, classes=CLASSES)
PEOPLE = SoftLabels(RNG.dirichlet(np.ones(3), 40), items=ITEMS, classes=CLASSES)
GOLD = Gold.from_names(ITEMS[:30], RNG.choice(CLASSES, 30))


def test_everything_that_can_be_had_in_the_order_of_the_registry() -> None:
    found = evaluate.scores(PREDICTED, people=PEOPLE, gold=GOLD)
    assert list(found) == [name for name, one in evaluate.METRICS.items() if one.needs != "annotations"]
    for name, value in found.items():
        labels = PEOPLE if evaluate.METRICS[name].needs == "people" else GOLD
        assert value == pytest.approx(evaluate.METRICS[name](PREDICTED, labels), rel=1e-12), name


def test_calibration_is_against_people_where_there_is_no_gold() -> None:
    found = evaluate.scores(PREDICTED, people=PEOPLE)
    assert "accuracy_score" not in found
    for name in ("expected_calibration_error", "adaptive_rms_calibration_error", "calibrated_log_loss"):
        assert found[name] == pytest.approx(evaluate.METRICS[name](PREDICTED, PEOPLE), rel=1e-12)


def test_without_logits_there_is_no_calibrated_log_loss() -> None:
    plain = SoftLabels(PREDICTED.probs, items=ITEMS, classes=CLASSES)
    assert "calibrated_log_loss" not in evaluate.scores(plain, gold=GOLD)
    with pytest.raises(OptionError, match="needs logits"):
        evaluate.scores(plain, gold=GOLD, metrics=["calibrated_log_loss"])


def test_numbers_that_cannot_be_had_are_left_out_only_where_nobody_asked_for_them() -> None:
    for gold in (Gold.from_names(ITEMS[:1], ["x"]), Gold.from_names(ITEMS, ["x", "other"] * 20)):
        found = evaluate.scores(PREDICTED, people=PEOPLE, gold=gold)
        assert "accuracy_score" in found
        assert "calibrated_log_loss" not in found
        with pytest.raises(InputError):
            evaluate.scores(PREDICTED, gold=gold, metrics=["calibrated_log_loss"])
    assert evaluate.scores(PREDICTED, gold=GOLD, metrics=[]) == {}


def test_what_was_asked_for_and_cannot_be_had_is_said() -> None:
    with pytest.raises(OptionError, match="'accuracy_score' needs gold"):
        evaluate.scores(PREDICTED, people=PEOPLE, metrics=["accuracy_score"])
    with pytest.raises(OptionError, match="'brier_error' needs people"):
        evaluate.scores(PREDICTED, gold=GOLD, metrics=["brier_error"])
    with pytest.raises(OptionError, match="'perspectivist_error' needs annotations"):
        evaluate.scores(PREDICTED, gold=GOLD, metrics=["perspectivist_error"])
    with pytest.raises(OptionError, match="must be one of accuracy_score"):
        evaluate.scores(PREDICTED, gold=GOLD, metrics=["acuracy"])
    with pytest.raises(OptionError, match="nothing to compare"):
        evaluate.scores(PREDICTED)


def test_many_items_in_blocks_are_the_same_numbers() -> None:
    rng = np.random.default_rng(1)
    q, p = rng.dirichlet(np.ones(6), 50_000), rng.dirichlet(np.ones(6), 50_000)
    found = evaluate.scores(q, people=p, gold=p.argmax(axis=1))
    assert found["brier_error"] == pytest.approx(np.square(q - p).sum(axis=1).mean(), rel=1e-12)
    assert found["accuracy_score"] == np.mean(q.argmax(axis=1) == p.argmax(axis=1))
    assert found["soft_cross_entropy_loss"] == pytest.approx(-(p * np.log(q)).sum(axis=1).mean(), rel=1e-12)
