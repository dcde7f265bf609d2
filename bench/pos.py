"""Soft labels of tweets' parts of speech: what a tagger gains by learning from the crowd's disagreement.

Two questions, each by the protocol of the paper that asks it, with the same network and the same seeds on both sides:

- Does a tagger taught soft labels say what people say? Uma et al. (2020): 20 epochs, the last one counts. Measured on
  the development tweets, which people judged.
- Does a second head taught soft labels help the one that is taught gold? Fornaciari et al. (2021): 10 epochs, the best
  by macro-F1 on the development tweets, softmaxed counts, KL in bits, GloVe vectors where they are on this machine
  (glove100_subset in SFUMATO_DATA). Measured on the separate test set, which has gold alone.

Means of three seeds with 95 % intervals (Student's t; of the differences in pairs). Takes some minutes on two cores:

    python bench/pos.py [--quick] [--glove FILE]
"""

from __future__ import annotations

import argparse
import math
import os
import time
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

import sfumato as sf
from sfumato.errors import MissingDataError

SEEDS = (0, 1, 2)
# Percentile 97.5 of Student's t with two degrees of freedom, for the mean of three runs.
T_OF_THREE = 4.303
UMA = {"epochs": 20, "batch_size": 16, "keep": "last"}
FORNACIARI = {"epochs": 10, "batch_size": 16, "metric": "f1_score"}
Settings = dict[str, Any]
Numbers = dict[str, float]


def trained(view: str, loss: Settings, loop: Settings, glove: str | None, seed: int) -> tuple[Numbers, Numbers, float]:
    """Train one tagger; return its numbers on dev and test, and the seconds that its quickest epoch took."""
    import torch

    from sfumato.train import config_from, examples_of, fit, join, needs_of

    torch.set_num_threads(1)
    tweets = sf.data.load("pos")
    soft = sf.aggregate.views(tweets.annotations, [view])[view]
    config = config_from(
        {
            "seed": seed,
            "model": {"name": "pos_tagger", "options": {} if glove is None else {"glove": glove}},
            "loss": loss,
            "optimizer": {"name": "adam", "learning_rate": 1e-3},
            "loop": {**loop, "device": "cpu", "log_every": 0},
        }
    )
    found = examples_of(tweets)
    data = join(
        found.examples, items=found.items, splits=found.splits, needs=needs_of(config), soft=soft, gold=tweets.gold
    )
    run = fit(data, config)
    seconds = [record["seconds"] for record in run.history if record["kind"] == "epoch"]
    return dict(run.scores["dev"]), dict(run.scores["test"]), min(seconds)


def shown(values: list[float]) -> str:
    """Return the mean and, of three runs, its 95 % interval."""
    if len(values) != len(SEEDS):
        return f"{np.mean(values):.4f}"
    return f"{np.mean(values):.4f} ± {T_OF_THREE * float(np.std(values, ddof=1)) / math.sqrt(len(values)):.4f}"


def compared(
    title: str, sides: dict[str, list[Future[Any]]], split: int, metrics: tuple[str, ...]
) -> dict[str, dict[str, list[float]]]:
    """Print a table of the two sides, and return their numbers."""
    table = {
        side: {metric: [each.result()[split][metric] for each in runs] for metric in metrics}
        for side, runs in sides.items()
    }
    print(f"\n{title:34}" + "".join(f"{metric:>28}" for metric in metrics))
    for side, numbers in table.items():
        print(f"{side:34}" + "".join(f"{shown(numbers[metric]):>28}" for metric in metrics))
    first, second = table
    for metric in metrics:
        pairs = list(zip(table[first][metric], table[second][metric], strict=True))
        print(f"  {metric}: {second} − {first} {shown([b - a for a, b in pairs])}, "
              f"{second} ÷ {first} {np.mean([b for _, b in pairs]) / np.mean([a for a, _ in pairs]):.2f}")  # fmt: skip
    return table


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true", help="one seed and two epochs, to see that it runs")
    parser.add_argument("--glove", help="a file of word vectors, 100 numbers each, in the place of glove100_subset")
    given = parser.parse_args()
    seeds = SEEDS[:1] if given.quick else SEEDS
    uma, fornaciari = ({**loop, "epochs": 2} if given.quick else loop for loop in (UMA, FORNACIARI))
    here = Path(os.environ.get("SFUMATO_DATA", ".")) / "glove100_subset" / "glove.subset.100d.txt.gz"
    glove = given.glove or (str(here) if here.exists() else None)
    both = {"name": "gold_plus_soft", "options": {"soft_base": 2.0}}
    began = time.perf_counter()
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:

        def started(view: str, loss: Settings, loop: Settings, vectors: str | None = None) -> list[Future[Any]]:
            return [pool.submit(trained, view, loss, loop, vectors, seed) for seed in seeds]

        people = {
            "gold": started("standard", {"name": "hard"}, uma),
            "soft": started("standard", {"name": "soft"}, uma),
        }
        heads = {
            "gold": started("softmax", {"name": "hard"}, fornaciari, glove),
            "gold + KL": started("softmax", both, fornaciari, glove),
        }
        compared("dev, 20 epochs", people, 0, ("soft_cross_entropy_loss", "entropy_correlation_score"))
        compared(f"separate test set, {'GloVe' if glove else 'no GloVe'}", heads, 1, ("accuracy_score", "f1_score"))
        quickest = min(each.result()[2] for runs in [*people.values(), *heads.values()] for each in runs)
    print(f"\n{quickest:.2f} s per epoch at best, {time.perf_counter() - began:.0f} s in all")


if __name__ == "__main__":
    try:
        main()
    except MissingDataError as error:
        print(f"skipped: {error}")
