from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.errors import OptionError

NUMERIC = {
    "anger": (100, 38, 0, 100),
    "disgust": (100, 38, 0, 100),
    "fear": (100, 38, 0, 100),
    "joy": (100, 38, 0, 100),
    "sadness": (100, 38, 0, 100),
    "surprise": (100, 38, 0, 100),
    "valence": (100, 38, -100, 100),
    "wordsim": (30, 10, 0, 10),
}
CLASSES = {"rte": (800, 164, 0.91875), "temp": (462, 76, 0.93939), "wsd": (177, 34, 0.99435)}


def test_the_tasks_are_all_there(shared_data):
    assert set(sf.data.entry("snow2008").parts) == set(NUMERIC) | set(CLASSES)


@pytest.mark.parametrize("task", NUMERIC)
def test_numeric_tasks_give_ten_ratings_per_item(shared_data, task):
    n_items, n_annotators, low, high = NUMERIC[task]
    data = sf.data.load(f"snow2008/{task}")
    assert data.annotations is None
    assert data.gold is None
    assert len(data.items) == n_items
    assert data.ratings["annotator"].n_unique() == n_annotators
    assert data.ratings.group_by("item").len()["len"].to_list() == [10] * n_items
    assert (data.ratings["rating"].min(), data.ratings["rating"].max()) == (low, high)
    assert tuple(data.gold_ratings["item"]) == data.items
    assert data.gold_ratings["rating"].is_between(low, high).all()


def test_ten_annotators_together_are_close_to_the_experts(shared_data):
    data = sf.data.load("snow2008/wordsim")
    means = data.ratings.group_by("item", maintain_order=True).agg(pl.col("rating").mean())
    r = np.corrcoef(means["rating"], data.gold_ratings["rating"])[0, 1]
    assert r == pytest.approx(0.95, abs=0.02)  # Snow et al., figure 2: 0.952


@pytest.mark.parametrize("task", CLASSES)
def test_tasks_with_classes_give_ten_annotations_per_item(shared_data, figures, task):
    n_items, n_annotators, accuracy = CLASSES[task]
    data = sf.data.load("snow2008", part=task)
    assert (data.annotations.n_items, data.annotations.n_annotators) == (n_items, n_annotators)
    assert (data.annotations.per_item() == 10).all()
    assert figures.vote_accuracy(data) == pytest.approx(accuracy, abs=5e-6)


def test_the_entailment_task_is_the_set_rte(shared_data):
    assert sf.data.load("snow2008/rte").annotations == sf.data.load("rte").annotations


def test_headlines_belong_to_their_ratings(shared_data):
    data = sf.data.load("snow2008/joy")
    assert tuple(data.texts["item"]) == data.items
    assert data.texts["text"].str.len_chars().min() > 10


def test_one_task_must_be_named(shared_data):
    with pytest.raises(OptionError, match=r"snow2008/PART.*wordsim"):
        sf.data.load("snow2008")
