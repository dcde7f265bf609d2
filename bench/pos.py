"""Soft labels of tweets' parts of speech: what a tagger gains by learning from the crowd's disagreement.

Two questions, each with the same network and the same seeds on both sides:

- Does a tagger taught soft labels say what people say? By the protocol of Uma et al. (2020): 20 epochs, the last one
  counts. Measured on the development tweets, which people judged.
- Does a second head taught soft labels (softmaxed counts, KL in bits) help the one that is taught gold? Measured on the
  development tweets, of the same collection, and on the separate test set. By the protocol of Fornaciari et al. (2021):
  10 epochs, the best by macro-F1 on the development tweets, GloVe vectors where they are on this machine
  (glove100_subset in SFUMATO_DATA). By that of Uma et al. And by that without dropout, where only the second head
  keeps the first from learning the training tweets by heart.

Means of the seeds 0, 1, … with 95 % intervals (Student's t; of the differences in pairs). Three seeds take some minutes
on two cores:

    python bench/pos.py                              # one seed and two epochs, to see that it runs
    python bench/pos.py --seeds 3 [--glove FILE]
"""

from __future__ import annotations

import argparse
import os
import time
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import stdtrit

import sfumato as sf
from sfumato.errors import MissingDataError

UMA = {"epochs": 20, "batch_size": 16, "keep": "last"}
FORNACIARI = {"epochs": 10, "batch_size": 16, "metric": "f1_score"}
Settings = dict[str, Any]
Numbers = dict[str, float]


def trained(view: str, loss: Settings, loop: Settings, options: Settings, seed: int) -> tuple[Numbers, Numbers, float]:
    """Train one tagger; return its numbers on dev and test, and the seconds that its quickest epoch took."""
    import torch

    from sfumato.train import config_from, examples_of, fit, join, needs_of

    torch.set_num_threads(1)
    tweets = sf.data.load("pos")
    soft = sf.aggregate.views(tweets.annotations, [view])[view]
    config = config_from(
        {
            "seed": seed,
            "model": {"name": "pos_tagger", "options": options},
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
    """Return the mean and, of two runs or more, its 95 % interval."""
    if len(values) < 2:
        return f"{np.mean(values):.4f}"
    half = stdtrit(len(values) - 1, 0.975) * np.std(values, ddof=1) / np.sqrt(len(values))
    return f"{np.mean(values):.4f} ± {half:.4f}"


def compared(title: str, sides: dict[str, list[Future[Any]]], split: int, metrics: tuple[str, ...]) -> None:
    """Print a table of the two sides, and how they differ."""
    table = {
        side: {metric: [each.result()[split][metric] for each in runs] for metric in metrics}
        for side, runs in sides.items()
    }
    print(f"\n{title:48}" + "".join(f"{metric:>28}" for metric in metrics))
    for side, numbers in table.items():
        print(f"{side:48}" + "".join(f"{shown(numbers[metric]):>28}" for metric in metrics))
    first, second = table
    for metric in metrics:
        pairs = list(zip(table[first][metric], table[second][metric], strict=True))
        print(f"  {metric}: {second} − {first} {shown([b - a for a, b in pairs])}, "
              f"{second} ÷ {first} {np.mean([b for _, b in pairs]) / np.mean([a for a, _ in pairs]):.2f}")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--glove", help="a file of word vectors, 100 numbers each, in the place of glove100_subset")
    parser.add_argument("--seeds", type=int, help="runs of each side, of all epochs (default: one of two epochs)")
    given = parser.parse_args()
    quick = given.seeds is None
    seeds = range(1 if quick else given.seeds)
    uma, fornaciari = ({**loop, "epochs": 2} if quick else loop for loop in (UMA, FORNACIARI))
    here = Path(os.environ.get("SFUMATO_DATA", ".")) / "glove100_subset" / "glove.subset.100d.txt.gz"
    glove = given.glove or (str(here) if here.exists() else None)
    vectors = {} if glove is None else {"glove": glove}
    gold, soft = {"name": "hard"}, {"name": "soft"}
    both = {"name": "gold_plus_soft", "options": {"soft_base": 2.0}}
    began = time.perf_counter()
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:

        def started(view: str, loss: Settings, loop: Settings, options: Settings) -> list[Future[Any]]:
            return [pool.submit(trained, view, loss, loop, options, seed) for seed in seeds]

        people = {"gold": started("standard", gold, uma, {}), "soft": started("standard", soft, uma, {})}
        heads = {
            f"10 epochs, the best, {'GloVe' if vectors else 'no GloVe'}": {
                "gold": started("softmax", gold, fornaciari, vectors),
                "gold + KL": started("softmax", both, fornaciari, vectors),
            },
            "20 epochs, the last": {"gold": people["gold"], "gold + KL": started("softmax", both, uma, {})},
            "20 epochs, the last, no dropout": {
                "gold": started("softmax", gold, uma, {"dropout": 0.0}),
                "gold + KL": started("softmax", both, uma, {"dropout": 0.0}),
            },
        }
        compared("dev, 20 epochs", people, 0, ("soft_cross_entropy_loss", "entropy_correlation_score"))
        for title, sides in heads.items():
            for split, name in enumerate(("dev", "separate test")):
                compared(f"{name}, {title}", sides, split, ("accuracy_score", "f1_score"))
        runs = [run for sides in (people, *heads.values()) for side in sides.values() for run in side]
        quickest = min(run.result()[2] for run in runs)
    print(f"\n{quickest:.2f} s per epoch at best, {time.perf_counter() - began:.0f} s in all")


if __name__ == "__main__":
    try:
        main()
    except MissingDataError as error:
        print(f"skipped: {error}")
