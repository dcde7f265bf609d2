from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import sfumato as sf

# items, annotators, annotations, classes, items with gold, rows that repeat, accuracy of the vote
KNOWN = {
    "rte": (800, 164, 8_000, 2, 800, 0, 0.91875),
    "trec": (19_033, 762, 88_385, 2, 2_275, 0, 0.66110),
    "CF": (300, 461, 1_720, 5, 300, 0, 0.90000),
    "CF_amt": (300, 110, 6_030, 5, 300, 5, 0.84667),
    "MS": (700, 44, 2_945, 10, 700, 0, 0.71000),
    "SP": (4_999, 203, 27_746, 2, 4_999, 0, 0.88958),
    "SP_amt": (500, 143, 10_000, 2, 500, 0, 0.94400),
    "ZenCrowd_all": (2_040, 78, 21_855, 2, 2_040, 1_730, 0.83824),
    "ZenCrowd_in": (2_040, 25, 11_205, 2, 2_040, 710, 0.74510),
    "ZenCrowd_us": (2_040, 74, 12_190, 2, 2_040, 1_035, 0.86765),
    "product": (8_315, 176, 24_945, 2, 8_315, 0, 0.89657),
    "relevance": (20_232, 766, 98_453, 4, 4_460, 1_570, 0.53565),
    "adult": (11_040, 825, 92_721, 4, 333, 2_922, 0.76276),
    "fact_eval": (42_624, 57, 216_725, 3, 576, 1_810, 0.90104),
}


def test_every_part_is_known():
    assert set(sf.data.entry("truth_inference").parts) == set(KNOWN)


@pytest.mark.parametrize("part", KNOWN)
def test_the_figures_of_each_set(shared_data, figures, part):
    data = sf.data.load(f"truth_inference/{part}")
    votes = data.annotations
    repeated = votes.n_annotations - np.unique(np.stack([votes.item, votes.annotator]), axis=1).shape[1]
    found = (votes.n_items, votes.n_annotators, votes.n_annotations, votes.n_classes, len(data.gold.items), repeated)
    assert found == KNOWN[part][:-1]
    assert figures.vote_accuracy(data) == pytest.approx(KNOWN[part][-1], abs=5e-6)
    assert data.name == f"truth_inference/{part}"
    assert bool(data.notes) == bool(repeated)


def test_the_entailment_set_has_the_votes_of_rte(shared_data):
    def profile(data):
        return Counter(zip(data.gold.labels.tolist(), map(tuple, data.annotations.counts().tolist()), strict=True))

    ours, theirs = sf.data.load("rte"), sf.data.load("truth_inference/rte")
    assert theirs.gold.items == theirs.annotations.items
    assert profile(ours) == profile(theirs)
    assert sorted(ours.annotations.per_annotator()) == sorted(theirs.annotations.per_annotator())


def test_sets_that_share_their_items(shared_data):
    def gold(part):
        data = sf.data.load(f"truth_inference/{part}")
        return {item: data.gold.classes[k] for item, k in zip(data.gold.items, data.gold.labels, strict=True)}

    assert gold("CF") == gold("CF_amt")
    assert gold("ZenCrowd_all") == gold("ZenCrowd_in") == gold("ZenCrowd_us")
