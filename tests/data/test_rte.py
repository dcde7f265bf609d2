from __future__ import annotations

import numpy as np
import pytest

import sfumato as sf


def test_the_figures_are_those_that_are_known(shared_data, figures):
    data = sf.data.load("rte")
    votes = data.annotations
    assert (votes.n_items, votes.n_annotators, votes.n_annotations, votes.n_classes) == (800, 164, 8000, 2)
    assert np.bincount(data.gold.labels).tolist() == [400, 400]
    assert (votes.per_item() == 10).all()
    assert figures.vote_accuracy(data) == 0.91875
    assert figures.agreement(data) == pytest.approx(0.6287, abs=5e-5)


def test_ties_decide_as_science_says(shared_data, figures):
    data = sf.data.load("rte")
    counts, gold = data.annotations.counts(), figures.gold_of(data)
    tied = counts[:, 0] == counts[:, 1]
    assert tied.sum() == 65
    to_the_other = np.where(tied, 1, counts.argmax(axis=1))
    assert (to_the_other == gold).mean() == 0.875
    assert np.where(tied, 0.5, counts.argmax(axis=1) == gold).mean() == pytest.approx(0.8969, abs=5e-5)


def test_every_pair_has_its_texts(shared_data):
    data = sf.data.load("rte")
    assert tuple(data.texts["item"]) == data.items == data.annotations.items
    assert data.texts.null_count().row(0) == (0, 0, 0, 0)
    assert data.texts["task"].n_unique() == 7
    row = data.texts.filter(data.texts["item"] == "822").row(0, named=True)
    assert row["hypothesis"] == "Satomi Mitarai bled to death."
    assert data.gold.classes[data.gold.labels[data.gold.items.index("822")]] == "1"
    assert not data.texts["text"].str.contains("&quot;|&apos;|&amp;").any()
