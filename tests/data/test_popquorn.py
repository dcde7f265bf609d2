from __future__ import annotations

import numpy as np

import sfumato as sf


def test_the_counts_and_the_comments(shared_data):
    data = sf.data.load("popquorn")
    votes = data.annotations
    assert (votes.n_items, votes.n_annotators, votes.n_annotations) == (1_500, 262, 13_036)
    assert votes.counts().sum(axis=0).astype(int).tolist() == [7_516, 2_190, 1_590, 1_039, 701]
    assert np.unique(np.stack([votes.item, votes.annotator]), axis=1).shape[1] == votes.n_annotations
    assert tuple(data.texts["item"]) == data.items == votes.items
    assert data.gold is None


def test_nothing_that_describes_a_person_is_loaded(shared_data):
    data = sf.data.load("popquorn")
    assert data.texts.columns == ["item", "text"]
    header = (shared_data / "popquorn/raw_data.csv").read_text().splitlines()[0]
    assert "gender" in header
    assert "race" in header
