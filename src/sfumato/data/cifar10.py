"""CIFAR-10: small photographs of ten kinds of thing, the test set and the first batch of the training set."""

from __future__ import annotations

__all__ = ["CLASSES", "ENTRY", "TEST_BATCH", "load", "read_batch"]

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sfumato.core.gold import Gold
from sfumato.data import places
from sfumato.data.dataset import DataFile, DataSet, Entry
from sfumato.errors import FormatError

CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
_ARCHIVE = DataFile(
    path="cifar-10-binary.tar.gz",
    address="https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",
    size=170_052_171,
    sha256="c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd",
)
TEST_BATCH = DataFile(
    path="test_batch.bin",
    address="cifar-10-batches-bin/test_batch.bin",
    size=30_730_000,
    sha256="8e2eb146ae340b09e24670f29cabc6326dba54da8789dab6768acf480273f65b",
    archive=_ARCHIVE,
)
_TRAIN_BATCH = DataFile(
    path="data_batch_1.bin",
    address="cifar-10-batches-bin/data_batch_1.bin",
    size=30_730_000,
    sha256="cee916563c9f80d84e3cc88e17fdc0941787f1244f00a67874d45b261883ada5",
    archive=_ARCHIVE,
)
# One byte for the class, then 32 rows of 32 pixels of the red, the green and the blue plane.
_RECORD = 1 + 3 * 32 * 32


def load(folder: Path) -> DataSet:
    """Load images, shape (20,000, 32, 32, 3), with their classes: the test set, then the first training batch.

    Test images are named by their place in the test set ("0" to "9999"), as everybody who publishes judgements of
    them does; training images "train-0" to "train-9999".
    """
    images, labels = zip(*(read_batch(folder / file.path) for file in ENTRY.files), strict=True)
    splits = {
        "test": tuple(str(place) for place in range(len(labels[0]))),
        "train": tuple(f"train-{place}" for place in range(len(labels[1]))),
    }
    items = splits["test"] + splits["train"]
    return DataSet(
        name=ENTRY.name,
        items=items,
        classes=CLASSES,
        gold=Gold(items, np.concatenate(labels), CLASSES),
        images=np.concatenate(images),
        splits=splits,
    )


def read_batch(path: Path) -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
    """Return the images (n, 32, 32, 3) and the classes (n,) of one file of the binary version."""
    content = places.read_bytes(path)
    if not content or len(content) % _RECORD:
        raise FormatError(
            f"The file {path} is not a batch of CIFAR-10: it has {len(content):,} bytes, not a multiple of {_RECORD:,}."
        )
    records = np.frombuffer(content, dtype=np.uint8).reshape(-1, _RECORD)
    labels = records[:, 0].astype(np.int32)
    if labels.max() >= len(CLASSES):
        row = int(labels.argmax())
        raise FormatError(f"The file {path} is not a batch of CIFAR-10: image {row} has the class {labels[row]}.")
    images = records[:, 1:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
    return np.ascontiguousarray(images), labels


ENTRY = Entry(
    name="cifar10",
    title="CIFAR-10",
    summary="Photographs of 32 × 32 pixels in ten classes: the 10,000 of the test set and 10,000 training images.",
    citation="Krizhevsky (2009). Learning multiple layers of features from tiny images. University of Toronto.",
    licence="not stated",
    homepage="https://www.cs.toronto.edu/~kriz/cifar.html",
    files=(TEST_BATCH, _TRAIN_BATCH),
    gives=("gold", "images", "splits"),
    load=load,
)
