from __future__ import annotations

import numpy as np
import pytest

import sfumato as sf


@pytest.fixture
def tags(shared_data):
    return sf.data.load("pos")


def test_the_tokens_are_counted_as_published(tags):
    votes = tags.annotations
    assert len(tags.items) == len(tags.gold.items) == 17_503
    assert (votes.n_items, votes.n_annotators, votes.n_classes) == (14_439, 177, 12)
    per_item = votes.per_item()
    assert (per_item == 5).sum() == 13_474
    assert (per_item == 177).sum() == 939
    assert ((per_item > 100) & (per_item < 177)).sum() == 20
    assert (per_item == 6).sum() == 6
    assert {name: len(items) for name, items in tags.splits.items()} == {"train": 13_000, "dev": 1_439, "test": 3_064}


def test_the_vote_and_the_agreement_are_the_published_ones(tags, figures):
    assert tags.classes[0] == "ADJ"
    assert tags.classes[-1] == "X"
    assert figures.vote_accuracy(tags) == pytest.approx(0.7985, abs=5e-5)
    assert figures.agreement(tags) == pytest.approx(0.7254, abs=5e-5)
    five = tags.annotations.per_item() == 5
    accuracies = figures.annotator_accuracies(tags, five)
    assert len(accuracies) == 177
    assert accuracies.mean() == pytest.approx(0.678, abs=5e-4)


def test_tokens_with_177_annotations_are_automatic(tags):
    votes = tags.annotations
    automatic = np.flatnonzero(votes.per_item() == 177)
    assert (votes.counts()[automatic].max(axis=1) == 177).all()
    words = dict(zip(tags.texts["item"], tags.texts["text"], strict=True))
    assert {words[votes.items[i]] for i in automatic} == {"@USER", "URL"}


def test_sequences_are_the_tweets(tags):
    votes = tags.annotations
    assert votes.sequence.max() + 1 == 1000
    starts = np.flatnonzero(votes.position == 0)
    assert len(starts) == 1000
    np.testing.assert_array_equal(np.diff(votes.sequence), (votes.position[1:] == 0).astype(int))
    first = tags.texts.filter(tags.texts["sequence"] == 0)
    assert " ".join(first["text"]).startswith("I predict I won't win a single game I bet on .")
    assert tags.texts["position"].to_list()[: len(first)] == list(range(len(first)))
    test_tweets = tags.texts.filter(tags.texts["item"].str.starts_with("test-"))
    assert test_tweets["sequence"].n_unique() == 200
