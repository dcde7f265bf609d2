from __future__ import annotations

import numpy as np
import pytest

import sfumato as sf


@pytest.fixture
def stems(shared_data):
    return sf.data.load("stemming")


def test_the_counts_are_the_known_ones_and_the_gold_annotator_is_out(stems):
    votes = stems.annotations
    assert (votes.n_items, votes.n_annotators, votes.n_annotations) == (6_679, 26, 26_692)
    assert votes.per_annotator().max() < votes.n_items
    assert stems.items == votes.items == stems.gold.items
    assert np.bincount(votes.per_item()).tolist() == [0, 0, 0, 24, 6_655]


def test_the_vote_is_the_published_one_in_the_mean_over_random_ties(stems, figures):
    counts, gold = stems.annotations.counts(), figures.gold_of(stems)
    tied = counts[:, 0] == counts[:, 1]
    assert tied.sum() == 526
    assert np.where(tied, 0.5, counts.argmax(axis=1) == gold).mean() == pytest.approx(0.884, abs=5e-4)
    assert figures.vote_accuracy(stems) == pytest.approx(0.8819, abs=5e-5)


def test_pairs_and_splits_belong_together(stems):
    first = stems.texts.row(1, named=True)
    assert (first["word"], first["stem"]) == ("forefathers", "forefather")
    assert stems.gold.classes[stems.gold.labels[1]] == "1"
    assert {name: len(items) for name, items in stems.splits.items()} == {"train": 5_478, "dev": 600, "test": 601}
    assert sorted(item for split in stems.splits.values() for item in split) == sorted(stems.items)
    assert stems.splits["test"][0] == "1"
    assert stems.splits["dev"][0] == "2"
    assert set(stems.texts["fold10"]) == set("0123456789")
