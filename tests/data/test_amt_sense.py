from __future__ import annotations

import numpy as np
import pytest

import sfumato as sf


def test_all_words_together_are_about_a_million_annotations(shared_data):
    words = sf.data.entry("amt_sense").parts
    assert len(words) == 45
    counts = dict(
        line.split() for line in (shared_data / "amt_sense/RELEASE_1.0/munged/words_cts.txt").read_text().splitlines()
    )
    total = 0
    for word in words:
        votes = sf.data.load(f"amt_sense/{word}").annotations
        assert votes.n_annotations == int(counts[word])
        assert np.unique(np.stack([votes.item, votes.annotator]), axis=1).shape[1] == votes.n_annotations
        # Few senses are missing from a dictionary, except in "tenfold" and the like.
        assert 0 < votes.counts()[:, 0].sum() / votes.n_annotations < 0.2 or word in ("fold-v", "time-n")
        total += votes.n_annotations
    assert total == sum(map(int, counts.values()))
    assert total == pytest.approx(1e6, rel=0.1)


def test_none_of_the_senses_is_class_zero(shared_data):
    data = sf.data.load("amt_sense/add-v")
    assert data.classes == ("0", "1", "2", "3", "4", "5", "6")
    assert (data.annotations.n_items, data.annotations.n_annotators) == (967, 57)
    # Of the published table: 15,338 rows say 1, and 388 say 7, one more than there are senses.
    assert data.annotations.counts().sum(axis=0).astype(int).tolist()[:2] == [388, 15_338]
    assert data.meanings["2"] == "state or say further"
