from __future__ import annotations

import functools

import numpy as np
import pytest

import sfumato as sf
from sfumato.data import cifar10
from sfumato.errors import FormatError


@functools.cache
def loaded():
    return sf.data.load("cifar10")


def test_images_classes_and_splits(shared_data):
    data = loaded()
    assert data.images.shape == (20_000, 32, 32, 3)
    assert data.images.dtype == np.uint8
    assert data.images.flags.c_contiguous
    assert {name: len(items) for name, items in data.splits.items()} == {"test": 10_000, "train": 10_000}
    assert data.items[:2] == ("0", "1")
    assert data.items[10_000] == "train-0"
    assert np.bincount(data.gold.labels[:10_000]).tolist() == [1000] * 10
    # The first images of the test set: cat, ship, ship, airplane, frog; of the training set: frog, truck, truck.
    assert data.gold.names()[:5] == ("cat", "ship", "ship", "airplane", "frog")
    assert data.gold.names()[10_000:10_003] == ("frog", "truck", "truck")


def test_the_colours_stand_where_they_belong(shared_data):
    data = loaded()
    # The published means of red, green and blue over the whole training set; the first batch is a fifth of it.
    means = data.images[10_000:].mean(axis=(0, 1, 2)) / 255
    np.testing.assert_allclose(means, [0.4914, 0.4822, 0.4465], atol=0.003)
    # Neighbouring pixels are alike, in both directions: rows and columns are not mixed up with the planes.
    pixels = data.images[:500].astype(float)
    for axis in (1, 2):
        near = np.abs(np.diff(pixels, axis=axis)).mean()
        assert near < 0.35 * np.abs(pixels - np.roll(pixels, 16, axis=axis)).mean()


def test_a_batch_is_read_byte_by_byte(tmp_path):
    record = np.arange(1 + 3072, dtype=np.uint32).astype(np.uint8)
    record[0] = 7
    (tmp_path / "batch.bin").write_bytes(record.tobytes() * 2)
    images, labels = cifar10.read_batch(tmp_path / "batch.bin")
    assert labels.tolist() == [7, 7]
    for channel, row, column in [(0, 0, 0), (1, 2, 3), (2, 31, 31)]:
        assert images[1, row, column, channel] == record[1 + channel * 1024 + row * 32 + column]


def test_what_is_no_batch_is_refused(tmp_path):
    path = tmp_path / "batch.bin"
    path.write_bytes(b"\x00" * 3072)
    with pytest.raises(FormatError, match=r"3,072 bytes, not a multiple of 3,073"):
        cifar10.read_batch(path)
    path.write_bytes(b"")
    with pytest.raises(FormatError, match="0 bytes"):
        cifar10.read_batch(path)
    path.write_bytes(b"\x0a" * 3073)
    with pytest.raises(FormatError, match="image 0 has the class 10"):
        cifar10.read_batch(path)
