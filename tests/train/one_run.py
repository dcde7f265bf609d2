"""A small run for tests that stop one or let processes share one: python one_run.py OUT --epochs N [--slow]."""

from __future__ import annotations

import sys
import time

import numpy as np
import torch

import sfumato as sf
from sfumato.train import config_from, fit, join

CLASSES = ("cat", "dog", "fox")


def main() -> None:
    torch.set_num_threads(1)
    out, epochs = sys.argv[1], int(sys.argv[3])
    rng = np.random.default_rng(9)
    # 39 sequences of differing length, batches of 9: the last one of an epoch is smaller, and odd.
    sizes = rng.integers(1, 6, 48)
    n = int(sizes.sum())
    words = rng.integers(0, 5, n)
    soft = rng.dirichlet(np.ones(3) / 2, n) * 0.5 + 0.5 * np.eye(3)[words % 3]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    examples = [
        {"tokens": [f"w{word}" for word in words[first:last]], "item": list(range(first, last))}
        for first, last in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True)
    ]
    items = [f"t{row}" for row in range(n)]
    data = join(
        examples, items=items, splits={"train": range(39), "dev": range(39, 44), "test": range(44, 48)}, needs=["soft"],
        soft=sf.SoftLabels(soft, items=items, classes=CLASSES),
    )  # fmt: skip
    # Dropout draws per process; without it one process and two have to agree.
    dropout = 0.2 if "--slow" in sys.argv or "whole" in out or "killed" in out else 0.0
    config = config_from(
        {
            "model": {
                "name": "pos_tagger",
                "options": {"hidden": 8, "word_width": 8, "character_width": 4, "dropout": dropout},
            },
            "optimizer": {"name": "adam", "learning_rate": 0.01},
            "schedule": {"name": "linear", "warmup_steps": 3},
            "loop": {"epochs": epochs, "batch_size": 9, "parts": 2, "clip": 1.0, "device": "cpu", "log_every": 1},
        }
    )
    fit(data, config, out=out, progress=(lambda *_: time.sleep(0.05)) if "--slow" in sys.argv else None)


if __name__ == "__main__":
    main()
