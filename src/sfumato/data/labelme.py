"""LabelMe: what kind of place does the photograph show? 2,688 images, 1,000 of them with annotations."""

from __future__ import annotations

__all__ = ["ENTRY", "load"]

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sfumato.core.annotations import Annotations
from sfumato.core.gold import Gold
from sfumato.data import places
from sfumato.data.dataset import DataFile, DataSet, Entry, github
from sfumato.data.pseudonyms import pseudonyms

_REPOSITORY = "pilot7747/crowd-embeddings"
_COMMIT = "f015cc1851d76f96cf55b98ea335ad1f6a7ff80b"
# The codes 0 to 7 of the files, which name no class; every file name begins with the class that the code stands for.
_CLASSES = ("highway", "insidecity", "tallbuilding", "street", "forest", "coast", "mountain", "opencountry")
_SPLITS = {"train": "train", "dev": "valid", "test": "test"}
_N_VISUAL_WORDS = 200


def load(folder: Path) -> DataSet:
    """Load the annotations of the training images, the gold of all, the visual words, and the splits.

    ``features`` counts how often each of 200 visual words occurs in an image. The photographs themselves and the
    VGG-16 features that were made of them are not part of these files.
    """
    splits = {name: tuple(_lines(folder / f"filenames_{there}.txt")) for name, there in _SPLITS.items()}
    items = tuple(item for split in splits.values() for item in split)
    labels = [_CLASSES[int(code)] for there in _SPLITS.values() for code in _lines(folder / f"labels_{there}.txt")]
    counts = [_visual_words(line) for there in _SPLITS.values() for line in _lines(folder / f"data_{there}.txt")]
    # One line per training image, one column per annotator, -1 where there is no label; 18 columns have none at all.
    answers = np.array([line.split() for line in _lines(folder / "answers.txt")], dtype=np.int64)
    image, annotator = np.nonzero(answers >= 0)
    return DataSet(
        name=ENTRY.name,
        items=items,
        classes=_CLASSES,
        annotations=Annotations.from_rows(
            [splits["train"][row] for row in image],
            pseudonyms(str(column) for column in annotator),
            [_CLASSES[code] for code in answers[image, annotator]],
            classes=_CLASSES,
        ),
        gold=Gold.from_names(items, labels, classes=_CLASSES),
        features=np.array(counts),
        splits=splits,
    )


def _lines(path: Path) -> list[str]:
    return places.read_bytes(path).decode().splitlines()


def _visual_words(line: str) -> NDArray[np.float32]:
    """Read "number of different words, then word:count …", words counted from 1."""
    row = np.zeros(_N_VISUAL_WORDS, dtype=np.float32)
    for pair in line.split()[1:]:
        word, _, count = pair.partition(":")
        row[int(word) - 1] = float(count)
    return row


_FILES = (
    ("answers.txt", 228_453, "7d1945e639cc2bf4de40338eca1be9c8a6f0402da63f73a79b71d98e07e91897"),
    ("data_test.txt", 1_541_466, "04a95fcb77b5f82292cca3153a1d3076ee078fe3fa233dd45a9e52b1fecfd29d"),
    ("data_train.txt", 1_296_021, "4477377b48860313b6331c359549588b587c2068ec2b113df9ddfc1f1f49391c"),
    ("data_valid.txt", 651_298, "cbd87cb85c201fba4e02189ff3790e579365e77e62da0f8dae4b212cc4952356"),
    ("filenames_test.txt", 24_736, "4ecc5ba8be2060d49783a4f955deeed698f3cde8aeef3b1a1daa2e8d976104d4"),
    ("filenames_train.txt", 20_745, "ab6b8c79cf243aadad711e13c31fd05c645caeeab691be1f93481eb63105142c"),
    ("filenames_valid.txt", 10_300, "7f38999aee931a392a04208cf3a0a48a4556a1d1f0dceeb365b04619b6d0816f"),
    ("labels_test.txt", 2_376, "6d508b638d41fa84b2628615270456df96a49dce18054d201ac6261b03ea77bc"),
    ("labels_train.txt", 2_000, "229556bdc5da327dd7d4e4154ba180969091c83f43cf8cbee3727131c5a062f6"),
    ("labels_valid.txt", 1_000, "40aba43f903a539b38243c411e214da1f8c696cc47aa59811cc3388cc6899892"),
)

ENTRY = Entry(
    name="labelme",
    title="LabelMe: kinds of places",
    summary="Which of eight kinds of place does a photograph show? 1,000 images, 59 annotators, 2,547 annotations.",
    citation="Rodrigues, Pereira (2018). Deep learning from crowds. AAAI. Images: Russell, Torralba, Murphy, Freeman "
    "(2008). LabelMe: a database and web-based tool for image annotation. IJCV.",
    licence="not stated",
    homepage=f"https://github.com/{_REPOSITORY}",
    files=tuple(
        DataFile(path=path, address=github(_REPOSITORY, _COMMIT, f"data/LabelMe/{path}"), size=size, sha256=sha256)
        for path, size, sha256 in _FILES
    ),
    gives=("annotations", "gold", "features", "splits"),
    load=load,
    notes=("The features are counts of 200 visual words; the VGG-16 features of the paper are not in these files.",),
)
