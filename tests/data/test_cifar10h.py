from __future__ import annotations

import io

import numpy as np
import pytest

import sfumato as sf
from sfumato.data import cifar10h
from sfumato.errors import FormatError, MissingDataError


def test_the_figures_are_those_that_are_known(shared_data, figures):
    data = sf.data.load("cifar10h")
    votes = data.annotations
    assert (votes.n_items, votes.n_annotators, votes.n_annotations, votes.n_classes) == (10_000, 1, 511_000, 10)
    assert votes.annotators == ("anonymous",)
    assert data.items == votes.items == data.gold.items
    np.testing.assert_array_equal(votes.counts(), data.counts)
    assert votes.per_item().mean() == 51.1
    assert (votes.per_item().min(), votes.per_item().max()) == (47, 63)
    right = data.counts[np.arange(10_000), data.gold.labels].sum() / data.counts.sum()
    assert right == pytest.approx(0.9524, abs=5e-5)
    assert figures.agreement(data) == pytest.approx(0.9235, abs=5e-5)
    assert ((data.counts > 0).sum(axis=1) <= 2).mean() == pytest.approx(0.7715, abs=1e-12)
    assert figures.vote_accuracy(data) == pytest.approx(0.9921, abs=1e-12)


def test_the_gold_is_that_of_the_images(shared_data):
    images = sf.data.load("cifar10")
    data = sf.data.load("cifar10h")
    assert images.items[:10_000] == data.items
    np.testing.assert_array_equal(images.gold.labels[:10_000], data.gold.labels)


def test_the_splits_come_when_they_are_asked_for(shared_data):
    data = sf.data.load("cifar10h", splits=True)
    train, test = (set(data.splits[name]) for name in ("train", "test"))
    assert (len(train), len(test)) == (7000, 3000)
    assert train | test == set(data.items)
    assert set(sf.data.load("cifar10s").items) <= train
    gold = dict(zip(data.gold.items, data.gold.labels, strict=True))
    assert np.bincount([gold[item] for item in test]).tolist() == [300] * 10
    assert sf.data.load("cifar10h").splits == {}


def test_without_the_images_there_is_a_sentence_and_a_way(shared_data, tmp_path, monkeypatch):
    counts = (shared_data / "cifar10h/cifar10h-counts.npy").read_bytes()
    (tmp_path / "cifar10h").mkdir()
    (tmp_path / "cifar10h/cifar10h-counts.npy").write_bytes(counts)
    monkeypatch.setenv("SFUMATO_DATA", str(tmp_path))
    monkeypatch.setenv("SFUMATO_CACHE", str(tmp_path / "cache"))
    with pytest.raises(
        MissingDataError, match=r"gold of CIFAR-10H is in test_batch\.bin of the set 'cifar10', which .* gold=False\.$"
    ):
        sf.data.load("cifar10h")
    with pytest.raises(MissingDataError, match=r"train_indices\.npy of the set 'cifar10s', .* splits=False\.$"):
        sf.data.load("cifar10h", gold=False, splits=True)
    data = sf.data.load("cifar10h", gold=False)
    assert data.gold is None
    assert data.annotations.n_annotations == 511_000


def test_counts_of_another_shape_are_refused(tmp_path):
    content = io.BytesIO()
    np.save(content, np.zeros((3, 4)))
    (tmp_path / "cifar10h-counts.npy").write_bytes(content.getvalue())
    with pytest.raises(FormatError, match=r"one column per class. It has \(3, 4\)"):
        cifar10h.load(tmp_path, gold=False)
