"""CIFAR-10H: what about fifty people each said of every image of the CIFAR-10 test set."""

from __future__ import annotations

__all__ = ["ENTRY", "load"]

import io
from pathlib import Path

import numpy as np

from sfumato.core.gold import Gold
from sfumato.data import cifar10, places
from sfumato.data.anonymous import ANONYMOUS, anonymous_votes
from sfumato.data.dataset import DataFile, DataSet, Entry, github
from sfumato.errors import FormatError, MissingDataError

_REPOSITORY = "jcpeterson/cifar-10h"
_COMMIT = "48da312b193b82e6939ec20f23d1f09cbdd849c8"


def load(folder: Path, *, gold: bool = True, splits: bool = False) -> DataSet:
    """Load the counts (10,000 images × 10 classes), and each vote as an annotation of nobody in particular.

    Items are named by their place in the CIFAR-10 test set. The *gold* classes are in test_batch.bin of the set
    cifar10; the *splits* "train" (7,000) and "test" (3,000) of Uma et al. (2020) and Collins et al. (2022) are in two
    files that come with the set cifar10s. Whoever asks for them needs those files on this machine, too.
    """
    counts = np.load(io.BytesIO(places.read_bytes(folder / "cifar10h-counts.npy")), allow_pickle=False)
    if counts.ndim != 2 or counts.shape[1] != len(cifar10.CLASSES):
        raise FormatError(f"cifar10h-counts.npy in {folder} must have one column per class. It has {counts.shape}.")
    counts = counts.astype(np.int64)
    items = tuple(str(place) for place in range(len(counts)))
    labels = cifar10.read_batch(_neighbour(cifar10.ENTRY.folder, cifar10.TEST_BATCH, "gold"))[1] if gold else None
    return DataSet(
        name=ENTRY.name,
        items=items,
        classes=cifar10.CLASSES,
        annotations=anonymous_votes(counts, items=items, classes=cifar10.CLASSES),
        gold=None if labels is None else Gold(items, labels, cifar10.CLASSES),
        counts=counts,
        splits={name: _split(file) for name, file in _SPLITS.items()} if splits else {},
        notes=ENTRY.notes,
    )


def _split(file: DataFile) -> tuple[str, ...]:
    content = places.read_bytes(_neighbour("cifar10s", file, "splits"))
    return tuple(str(place) for place in np.load(io.BytesIO(content), allow_pickle=False))


def _neighbour(folder: str, file: DataFile, option: str) -> Path:
    """Return where a file of another set lies, on which an option of this one depends."""
    found = places.find(folder, (file,))
    if found is None:
        raise MissingDataError(
            f"The {option} of CIFAR-10H is in {file.path} of the set {folder!r}, which is not on this machine: put it "
            f"into {places.folders()[0] / folder}, or load with {option}=False."
        )
    return found / file.path


_SPLITS = {
    "train": DataFile(
        path="train_indices.npy",
        address=None,
        size=56_128,
        sha256="af80134e896dda7f42c7acc9386243d53b4bf54c996b219452fa6ac600c8883a",
    ),
    "test": DataFile(
        path="test_indices.npy",
        address=None,
        size=24_128,
        sha256="2cda098d4cc19137cde538b37f26759e8c0fbc20c470aa89a9574f4edba2bcbb",
    ),
}

ENTRY = Entry(
    name="cifar10h",
    title="CIFAR-10H",
    summary="Which of ten things is on the photograph? 10,000 images, 511,000 votes, no annotator ids.",
    citation="Peterson, Battleday, Griffiths, Russakovsky (2019). Human uncertainty makes classification more robust. "
    "ICCV.",
    licence="CC BY-NC-SA 4.0",
    homepage=f"https://github.com/{_REPOSITORY}",
    files=(
        DataFile(
            path="cifar10h-counts.npy",
            address=github(_REPOSITORY, _COMMIT, "data/cifar10h-counts.npy"),
            size=800_128,
            sha256="9b36b4550349af56c79083356312eb4af856cc5fd3caf1f669d40b9d0bbb69ff",
        ),
    ),
    gives=("annotations", "gold", "counts"),
    load=load,
    notes=(f"Who voted is not in the file: every vote is one by the annotator {ANONYMOUS!r}.",),
)
