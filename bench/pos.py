"""Soft labels of tweets' parts of speech: what a tagger gains by learning from the crowd's disagreement.

Three systems, the same network and the same seeds: gold alone, soft labels alone, gold and soft labels in two heads.
Soft metrics are measured on the development tweets (people judged those; no epoch is chosen by them), accuracy and
macro-F1 on the separate test set, which has gold alone. Takes some minutes on two cores: python bench/pos.py [--quick]
"""

from __future__ import annotations

import math
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from multiprocessing import get_context

import numpy as np

import sfumato as sf
from sfumato.errors import MissingDataError

SEEDS = (0, 1, 2)
SYSTEMS = {"gold": "hard", "soft": "soft", "gold + KL": "gold_plus_soft"}
# Percentile 97.5 of Student's t with two degrees of freedom, for the mean of three runs.
T_OF_THREE = 4.303
MEASURED = {
    "soft_cross_entropy_loss": "dev",
    "entropy_correlation_score": "dev",
    "accuracy_score": "test",
    "f1_score": "test",
}
Numbers = dict[str, float]


def trained(loss: str, seed: int, epochs: int) -> Numbers:
    """Train one tagger, and return its numbers and the seconds that an epoch took."""
    import torch

    from sfumato.train import config_from, examples_of, fit, join, needs_of

    torch.set_num_threads(1)
    tweets = sf.data.load("pos")
    soft = sf.aggregate.standard(tweets.annotations).soft_labels
    config = config_from(
        {
            "seed": seed,
            "model": {"name": "pos_tagger"},
            "loss": {"name": loss},
            "optimizer": {"name": "adam", "learning_rate": 1e-3},
            "loop": {"epochs": epochs, "batch_size": 16, "keep": "last", "device": "cpu", "log_every": 0},
        }
    )
    found = examples_of(tweets)
    data = join(
        found.examples, items=found.items, splits=found.splits, needs=needs_of(config), soft=soft, gold=tweets.gold
    )
    run = fit(data, config)
    seconds = [record["seconds"] for record in run.history if record["kind"] == "epoch"]
    return {name: run.scores[split][name] for name, split in MEASURED.items()} | {"seconds": min(seconds)}


def shown(values: list[float]) -> str:
    """Return mean and 95 % interval of the mean."""
    half = (
        T_OF_THREE * float(np.std(values, ddof=1)) / math.sqrt(len(values)) if len(values) == len(SEEDS) else math.nan
    )
    return f"{np.mean(values):.4f} ± {half:.4f}"


def main() -> None:
    quick = "--quick" in sys.argv
    seeds, epochs = (SEEDS[:1], 2) if quick else (SEEDS, 20)
    began = time.perf_counter()
    runs = list(product(SYSTEMS, seeds))
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        started = [pool.submit(trained, SYSTEMS[system], seed, epochs) for system, seed in runs]
        found = [each.result() for each in started]
    print(f"{'':12}" + "".join(f"{name:>28}" for name in MEASURED))
    table: dict[str, dict[str, list[float]]] = {}
    for system in SYSTEMS:
        own = [numbers for (name, _), numbers in zip(runs, found, strict=True) if name == system]
        table[system] = {name: [numbers[name] for numbers in own] for name in MEASURED}
        print(f"{system:12}" + "".join(f"{shown(table[system][name]):>28}" for name in MEASURED))
    ratio = {name: float(np.mean(table["soft"][name]) / np.mean(table["gold"][name])) for name in MEASURED}
    print(f"soft ÷ gold: soft cross-entropy {ratio['soft_cross_entropy_loss']:.2f} (0.5 or less is wanted), "
          f"entropy correlation {ratio['entropy_correlation_score']:.2f} (2 or more)")  # fmt: skip
    for name in ("accuracy_score", "f1_score"):
        gains = [both - gold for both, gold in zip(table["gold + KL"][name], table["gold"][name], strict=True)]
        print(
            f"gold + KL − gold, {name}: {shown(gains)}, {sum(gain > 0 for gain in gains)} of {len(gains)} seeds above 0"
        )
    best = min(numbers["seconds"] for numbers in found)
    print(f"{best:.2f} s per epoch at best, {time.perf_counter() - began:.0f} s in all")


if __name__ == "__main__":
    try:
        main()
    except MissingDataError as error:
        print(f"skipped: {error}")
