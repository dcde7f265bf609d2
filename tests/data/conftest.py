"""The public data sets for the tests, and the figures that are checked on them, in a few lines each."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

import sfumato as sf


@pytest.fixture
def shared_data(monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the public data sets, from SFUMATO_DATA or beside the repository; else the test is skipped."""
    folder = Path(os.environ.get("SFUMATO_DATA") or Path(__file__).parents[3] / "shared" / "data")
    if not folder.is_dir():
        pytest.skip(f"the public data sets are not in {folder}; set SFUMATO_DATA to where they are")
    monkeypatch.setenv("SFUMATO_DATA", str(folder))
    return folder


class Figures:
    """What the papers report of a crowd: the vote, the agreement, the accuracy of the annotators."""

    @staticmethod
    def gold_of(data: sf.data.DataSet) -> np.ndarray:
        """The gold of each annotated item, as codes of the annotations' classes; -1 where there is none."""
        assert data.annotations is not None
        assert data.gold is not None
        code = {name: k for k, name in enumerate(data.annotations.classes)}
        known = {item: code[data.gold.classes[k]] for item, k in zip(data.gold.items, data.gold.labels, strict=True)}
        return np.array([known.get(item, -1) for item in data.annotations.items])

    @classmethod
    def vote_accuracy(cls, data: sf.data.DataSet) -> float:
        """The accuracy of the most frequent class, ties to the first."""
        gold = cls.gold_of(data)
        known = gold >= 0
        return float((data.annotations.counts().argmax(axis=1) == gold)[known].mean())

    @staticmethod
    def agreement(data: sf.data.DataSet, *, single: float | None = None) -> float:
        """The mean over the items of the share of pairs that agree; an item with one vote counts as *single*."""
        counts = data.annotations.counts()
        n = counts.sum(axis=1)
        pairs = np.where(n > 1, n * (n - 1), 1)
        observed = (counts * (counts - 1)).sum(axis=1) / pairs
        return float(observed[n > 1].mean() if single is None else np.where(n > 1, observed, single).mean())

    @classmethod
    def annotator_accuracies(cls, data: sf.data.DataSet, items: np.ndarray | None = None) -> np.ndarray:
        """The accuracy of each annotator who judged an item with gold (among *items*, a mask, if given)."""
        votes, gold = data.annotations, cls.gold_of(data)
        rows = gold[votes.item] >= 0
        if items is not None:
            rows &= items[votes.item]
        right = (votes.label == gold[votes.item])[rows]
        n = np.bincount(votes.annotator[rows], minlength=votes.n_annotators)
        return np.bincount(votes.annotator[rows], weights=right, minlength=votes.n_annotators)[n > 0] / n[n > 0]


@pytest.fixture
def figures() -> type[Figures]:
    return Figures
