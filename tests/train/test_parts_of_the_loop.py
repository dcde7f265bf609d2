"""Steps, batches, schedules, splits, numbers on dev: each as its description says."""

from __future__ import annotations

import numpy as np
import pytest

import sfumato as sf
from sfumato.train.batches import by_length
from sfumato.train.config import ScheduleConfig
from sfumato.train.development import METRICS, choose_metric, is_better, scores
from sfumato.train.schedules import learning_rate
from sfumato.train.splits import draw_splits
from sfumato.train.steps import epoch_steps, shares


@pytest.mark.parametrize("lengths", [None, np.random.default_rng(0).integers(1, 30, 103)])
def test_every_epoch_sees_every_example_once_in_another_order(lengths):
    numbers = np.arange(103) + 1000
    seen = []
    for epoch in range(2):
        steps = epoch_steps(numbers, lengths, batch_size=8, seed=4, epoch=epoch)
        assert sorted(np.concatenate(steps)) == list(numbers)
        assert all(len(step) <= 8 for step in steps)
        again = epoch_steps(numbers, lengths, batch_size=8, seed=4, epoch=epoch)
        assert all(np.array_equal(one, other) for one, other in zip(steps, again, strict=True))
        seen.append(np.concatenate(steps))
    assert not np.array_equal(*seen)


def test_batches_by_length_hold_little_padding():
    lengths = np.random.default_rng(1).integers(1, 100, 4000)
    for shuffle in (True, False):
        batches = by_length(lengths, 16, shuffle=shuffle)
        padded = sum(len(batch) * lengths[batch].max() for batch in batches)
        assert padded < 1.15 * lengths.sum()
    alone = np.random.default_rng(0).permutation(4000).reshape(-1, 16)
    assert sum(16 * lengths[batch].max() for batch in alone) > 1.7 * lengths.sum()


@pytest.mark.parametrize(("size", "n_processes", "parts"), [(8, 2, 2), (5, 2, 3), (1, 2, 4), (7, 3, 1)])
def test_processes_and_parts_share_a_step_without_rest(size, n_processes, parts):
    step = np.arange(size)
    cut = [shares(step, process=p, n_processes=n_processes, parts=parts) for p in range(n_processes)]
    assert len({len(each) for each in cut}) == 1
    assert sorted(np.concatenate([part for each in cut for part in each])) == list(step)


def test_schedules_are_those_of_the_papers():
    uma = ScheduleConfig("steps", at=(50, 55), rates=(0.01, 0.001))
    rates = [learning_rate(uma, 0.1, step=epoch * 10, steps_per_epoch=10, epochs=65) for epoch in range(65)]
    assert rates == [0.1] * 50 + [0.01] * 5 + [0.001] * 10
    wright = ScheduleConfig("linear", warmup_steps=200)
    rates = [learning_rate(wright, 2e-5, step=step, steps_per_epoch=90, epochs=5) for step in range(450)]
    assert np.argmax(rates) == 200
    assert rates[200] == 2e-5
    np.testing.assert_allclose(np.diff(rates[:200]), 2e-5 / 201)
    np.testing.assert_allclose(np.diff(rates[200:]), -2e-5 / 250)
    cosine = ScheduleConfig("cosine")
    np.testing.assert_allclose(learning_rate(cosine, 1.0, step=5, steps_per_epoch=10, epochs=1), 0.5)


def test_splits_divide_each_stratum_and_test_does_not_depend_on_dev():
    strata = np.repeat([0, 1, 2], [100, 50, 10])
    given = {"test_share": 0.3, "seed": 7, "strata": strata}
    splits = draw_splits(160, dev_share=0.1, **given)
    assert sorted(np.concatenate(list(splits.values()))) == list(range(160))
    assert np.bincount(strata[splits["test"]]).tolist() == [30, 15, 3]
    assert np.bincount(strata[splits["dev"]]).tolist() == [10, 5, 1]
    assert np.array_equal(splits["test"], draw_splits(160, dev_share=0.5, **given)["test"])
    other = draw_splits(160, dev_share=0.1, test_share=0.3, seed=8)
    assert not np.array_equal(splits["test"], other["test"])


def test_numbers_on_dev_are_those_of_the_room_of_evaluation():
    rng = np.random.default_rng(3)
    probs, soft = rng.dirichlet(np.ones(4), 60), rng.dirichlet(np.ones(4) / 3, 60)
    gold = rng.integers(0, 4, 60)
    items, classes = tuple(map(str, range(60))), tuple("abcd")
    reference = sf.Gold(items, gold.astype(np.int32), classes)
    predicted = sf.Predictions(probs, items=items, classes=classes)
    found = scores(probs, soft=soft, gold=gold)
    assert set(found) == set(METRICS)
    evaluate = sf.evaluate
    wanted = {
        "accuracy_score": evaluate.accuracy_score(predicted, reference),
        "f1_score": evaluate.f1_score(predicted, reference, average="macro"),
        "soft_cross_entropy_loss": evaluate.soft_cross_entropy_loss(probs, soft),
        "jensen_shannon_divergence": evaluate.jensen_shannon_divergence(probs, soft),
        "entropy_correlation_score": evaluate.entropy_correlation_score(probs, soft),
    }
    for name, value in wanted.items():
        np.testing.assert_allclose(found[name], value, rtol=1e-9, err_msg=name)
    some = np.where(np.arange(60)[:, None] < 20, np.nan, soft)
    part = scores(probs, soft=some, gold=np.where(np.arange(60) < 30, -100, gold))
    np.testing.assert_allclose(part["soft_cross_entropy_loss"], evaluate.soft_cross_entropy_loss(probs[20:], soft[20:]))


def test_the_metric_that_chooses_is_that_of_what_is_learned():
    assert choose_metric("auto", target="hard", has_soft=True, has_gold=True) == "f1_score"
    assert choose_metric("auto", target="soft", has_soft=True, has_gold=True) == "soft_cross_entropy_loss"
    assert choose_metric("auto", target="soft", has_soft=False, has_gold=True) == "f1_score"
    assert choose_metric("auto", target="soft", has_soft=False, has_gold=False) is None
    with pytest.raises(sf.errors.OptionError, match="needs gold labels on the dev split"):
        choose_metric("accuracy_score", target="soft", has_soft=True, has_gold=False)
    assert not is_better("f1_score", float("nan"), 0.1)
