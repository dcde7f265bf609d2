from __future__ import annotations

import numpy as np

import sfumato as sf


def test_the_published_numbers_of_pairs(shared_data):
    data = sf.data.load("snli")
    assert {name: len(items) for name, items in data.splits.items()} == {"validation": 9842, "test": 9824}
    assert data.classes == ("entailment", "neutral", "contradiction")
    assert np.bincount(data.gold.labels[:9842]).tolist() == [3329, 3235, 3278]
    assert np.bincount(data.gold.labels[9842:]).tolist() == [3368, 3219, 3237]
    assert tuple(data.texts["item"]) == data.items
    assert data.texts.null_count().row(0) == (0, 0, 0)


def test_texts_and_classes_belong_together(shared_data):
    data = sf.data.load("snli")
    row = data.items.index("test-1")
    assert data.texts["hypothesis"][row] == "The church is filled with song."
    assert data.gold.names()[row] == "entailment"
    # Cells with quotes in them are quoted in the file, and come without.
    quoted = data.texts.filter(data.texts["premise"].str.contains("HI-POINTE"))
    assert quoted["premise"][0].endswith('has a sign that says "HI-POINTE."')


def test_the_gold_is_that_of_chaosnli_where_both_have_the_pair(shared_data):
    chaos = sf.data.load("chaosnli/snli")
    data = sf.data.load("snli")
    known = dict(zip(zip(data.texts["premise"], data.texts["hypothesis"], strict=True), data.gold.names(), strict=True))
    pairs = zip(chaos.texts["premise"], chaos.texts["hypothesis"], strict=True)
    both = [(known[pair], name) for pair, name in zip(pairs, chaos.gold.names(), strict=True) if pair in known]
    assert len(both) > 1400
    assert all(own == other for own, other in both)
