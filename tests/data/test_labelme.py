from __future__ import annotations

import numpy as np
import pytest

import sfumato as sf


@pytest.fixture
def places(shared_data):
    return sf.data.load("labelme")


def test_the_counts_are_the_known_ones(places):
    votes = places.annotations
    assert (votes.n_items, votes.n_annotators, votes.n_annotations, votes.n_classes) == (1_000, 59, 2_547, 8)
    assert {name: len(items) for name, items in places.splits.items()} == {"train": 1_000, "dev": 500, "test": 1_188}
    assert len(places.gold.items) == len(places.items) == 2_688
    assert set(votes.items) == set(places.splits["train"])


def test_the_agreement_and_the_accuracies_are_the_published_ones(places, figures):
    assert figures.agreement(places, single=1.0) == pytest.approx(0.7323, abs=5e-5)
    assert figures.agreement(places) == pytest.approx(0.7206, abs=5e-5)
    accuracies = figures.annotator_accuracies(places)
    assert accuracies.mean() == pytest.approx(0.6916, abs=5e-5)
    assert (accuracies >= 0.75).mean() == pytest.approx(0.424, abs=5e-4)


def test_the_gold_is_what_the_file_names_say(places):
    assert [places.gold.classes[k] for k in places.gold.labels] == [item.partition("_")[0] for item in places.items]


def test_features_are_the_visual_words_of_the_files(places, shared_data):
    assert places.features.shape == (2_688, 200)
    lines = (shared_data / "labelme/data_valid.txt").read_text().splitlines()
    for row in (0, 7, 499):
        words = dict(pair.split(":") for pair in lines[row].split()[1:])
        expected = [float(words.get(str(word), 0)) for word in range(1, 201)]
        np.testing.assert_array_equal(places.features[1_000 + row], expected)
