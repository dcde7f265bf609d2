"""Targets: what is taught, and that it depends on item, epoch and seed alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

import sfumato as sf
from sfumato.errors import InputError, OptionError
from sfumato.train import join
from sfumato.train.targets import hashed_uniform, make_targets, panel_of, target_needs

CLASSES = ("no", "maybe", "yes")


@pytest.fixture
def data():
    """Three items: two votes against one, a tie of two, and one that nobody judged."""
    votes = sf.Annotations.from_rows(
        ["a", "a", "a", "b", "b"], ["x", "y", "z", "x", "y"], ["yes", "yes", "no", "no", "yes"], classes=CLASSES
    )
    soft = sf.SoftLabels([[0.2, 0.1, 0.7], [0.4, 0.2, 0.4]], items=["a", "b"], classes=CLASSES)
    gold = sf.Gold.from_names(["a", "c"], ["yes", "maybe"], classes=CLASSES)
    examples = [{"text": name, "item": row} for row, name in enumerate("abc")]
    return join(
        examples, items=["a", "b", "c"], splits={"train": [0, 1, 2]}, needs=[], soft=soft, gold=gold, annotations=votes
    )


def at(data, kind, options=None, items=(0, 1, 2, -1), *, epoch=0, seed=0):
    return make_targets(data, kind, options or {}, seed=seed).at(torch.tensor(items), epoch=epoch, seed=seed)


def test_gold_and_what_has_none(data):
    assert at(data, "gold")["label"].tolist() == [2, -100, 1, -100]


def test_gold_of_a_class_the_model_does_not_have_teaches_nothing(data):
    other = replace(data, gold=np.array([3, 1, 0]))
    assert at(other, "gold")["label"].tolist() == [-100, 1, 0, -100]
    assert at(other, "smoothed")["soft"][0].tolist() == [-100] * 3


def test_soft(data):
    soft = at(data, "soft")["soft"]
    np.testing.assert_allclose(soft[:2], [[0.2, 0.1, 0.7], [0.4, 0.2, 0.4]], rtol=1e-6)
    assert soft[2:].tolist() == [[-100] * 3] * 2


def test_silver_and_its_ties(data):
    assert at(data, "silver")["label"].tolist() == [2, 0, -100, -100]
    drawn = {int(at(data, "silver", {"ties": "random"}, seed=seed)["label"][1]) for seed in range(20)}
    assert drawn == {0, 2}
    shared = at(data, "silver", {"ties": "share"})["soft"]
    assert shared[:2].tolist() == [[0, 0, 1], [0.5, 0, 0.5]]
    assert at(data, "silver", {"of": "annotations"})["label"].tolist() == [2, 0, -100, -100]


def test_smoothed(data):
    soft = at(data, "smoothed", {"smoothing": 0.3})["soft"]
    np.testing.assert_allclose(soft[0], [0.1, 0.1, 0.8], rtol=1e-6)
    assert soft[1].tolist() == [-100] * 3


def test_drawn_gives_each_annotator_the_same_share(data):
    draws = torch.stack([at(data, "drawn", epoch=epoch)["label"] for epoch in range(3000)])
    assert set(draws[:, 2].tolist()) == set(draws[:, 3].tolist()) == {-100}
    np.testing.assert_allclose((draws[:, 0] == 2).double().mean(), 2 / 3, atol=0.03)
    np.testing.assert_allclose((draws[:, 1] == 0).double().mean(), 1 / 2, atol=0.03)
    # Items are drawn for themselves.
    both = ((draws[:, 0] == 2) & (draws[:, 1] == 0)).double().mean()
    np.testing.assert_allclose(both, 1 / 3, atol=0.03)


def test_drawn_from_soft_labels_follows_them(data):
    draws = torch.stack([at(data, "drawn", {"of": "soft"}, epoch=epoch)["label"] for epoch in range(3000)])
    shares = [(draws[:, 0] == label).double().mean() for label in range(3)]
    np.testing.assert_allclose(shares, [0.2, 0.1, 0.7], atol=0.03)
    assert set(draws[:, 2].tolist()) == {-100}


def test_drawn_from_responses_gives_what_one_person_said(data):
    votes = sf.Annotations.from_rows(
        ["a", "a", "a"], ["x", "x", "y"], ["no", "yes", "yes"], weights=[0.3, 0.7, 1.0], classes=CLASSES
    )
    votes = sf.Annotations.from_codes(
        votes.item, votes.annotator, votes.label, weight=votes.weight,
        items=["a", "b", "c"], annotators=votes.annotators, classes=CLASSES,
    )  # fmt: skip
    taught = {tuple(at(replace(data, annotations=votes), "drawn", epoch=e)["soft"][0].tolist()) for e in range(40)}
    assert {tuple(round(p, 6) for p in row) for row in taught} == {(0.3, 0.0, 0.7), (0.0, 0.0, 1.0)}


@pytest.mark.parametrize("kind", ["drawn", "annotations"])
def test_an_answer_does_not_depend_on_who_asks_together_with_whom(data, kind):
    together = at(data, kind, items=(0, 1, 2), epoch=5, seed=9)
    alone = [at(data, kind, items=(row,), epoch=5, seed=9) for row in range(3)]
    name = "label"
    assert torch.equal(together[name], torch.cat([each[name] for each in alone]))
    assert torch.equal(together[name], at(data, kind, items=(0, 1, 2), epoch=5, seed=9)[name])


def test_another_seed_or_epoch_draws_others():
    items = np.arange(1000)
    first = hashed_uniform(items, 0, 0)
    for other in (hashed_uniform(items, 0, 1), hashed_uniform(items, 1, 0)):
        assert abs(np.corrcoef(first, other)[0, 1]) < 0.1
    assert 0 <= first.min() < 0.01
    assert 0.99 < first.max() < 1
    assert abs(np.corrcoef(first[1:], first[:-1])[0, 1]) < 0.1


def test_repeated_counts_every_annotation(data):
    repeated = at(data, "repeated")
    assert repeated["item_weight"].tolist() == [3, 2, 0, 0]
    np.testing.assert_allclose(repeated["soft"][0], [1 / 3, 0, 2 / 3], rtol=1e-6)


def test_annotations_are_only_those_that_there_are(data):
    sparse = at(data, "annotations", items=((2, 1), (-1, 0)))
    assert sparse["row"].tolist() == [1, 1, 3, 3, 3]
    assert sparse["annotator"].tolist() == [0, 1, 0, 1, 2]
    assert sparse["label"].tolist() == [0, 2, 2, 2, 0]
    assert at(data, "annotations", items=(2,))["row"].shape == (0,)


def test_a_panel_is_drawn_once_and_without_putting_back(data):
    two = panel_of(data.annotations, 2, seed=1)
    assert two.per_item().tolist() == [2, 2, 0]
    assert two == panel_of(data.annotations, 2, seed=1)
    whose = {tuple(panel_of(data.annotations, 2, seed=seed).annotator[:2].tolist()) for seed in range(30)}
    assert whose == {(0, 1), (0, 2), (1, 2)}
    one = at(data, "soft", {"of": "annotations", "panel": 1})["soft"]
    assert sorted(one[0].tolist()) == [0, 0, 1]
    assert at(data, "drawn", {"panel": 1}, epoch=0)["label"][0] == at(data, "drawn", {"panel": 1}, epoch=7)["label"][0]


def test_what_cannot_be_is_refused(data):
    with pytest.raises(OptionError, match="'panel' needs of = 'annotations'"):
        at(data, "soft", {"panel": 2})
    with pytest.raises(OptionError, match=r"The target 'soft' has no option 'pannel'\. Is it panel"):
        at(data, "soft", {"pannel": 2})
    with pytest.raises(OptionError, match="'panel' must be 1 or more"):
        at(data, "drawn", {"panel": 0})
    with pytest.raises(OptionError, match="one of gold, silver"):
        at(data, "golden")
    with pytest.raises(OptionError, match="'ties' must be one of first, random, share"):
        at(data, "silver", {"ties": "last"})
    with pytest.raises(OptionError, match="'ties' needs of = 'soft' or 'annotations'"):
        at(data, "smoothed", {"ties": "random"})
    with pytest.raises(InputError, match="made of soft labels, and there are none"):
        at(replace(data, soft=None), "soft")
    assert target_needs("smoothed", {"of": "soft"}) == {"soft"}


@pytest.mark.parametrize(("kind", "of"), [("soft", "votes"), ("smoothed", "golden"), ("silver", "gold"), ("drawn", 3)])
def test_what_a_target_is_made_of_is_checked_before_the_labels_are(kind, of):
    with pytest.raises(OptionError, match=r"'of'"):
        target_needs(kind, {"of": of})
    with pytest.raises(OptionError, match="has no option 'off'"):
        target_needs(kind, {"off": "soft"})
