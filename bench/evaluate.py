"""Metrics beside a per-item Python loop, SciPy and scikit-learn: each number once, and all of them in one pass.

    python bench/evaluate.py [--items 1000000] [--classes 10] [--clock cpu|wall] [--large]

Where netcal is installed (pip install netcal==1.4.0) its calibration error stands beside ours.

The loop is what a per-item program does: Python over the classes of one item after another, on rows of the arrays and,
in brackets, on lists of plain floats, both on a part of the items. Ratios are times per item of one run on the same
data; processor time counts both threads, so on a quiet machine the wall clock is shorter. --large adds ten million
items with the memory that they need. Aimed at: all numbers of a million items and ten classes in 1 s, and fifty times
the loop.
"""

from __future__ import annotations

import argparse
import math
import os
import resource
import time
from collections.abc import Callable

import numpy as np
import scipy.stats
from scipy.spatial.distance import jensenshannon
from sklearn import metrics as sklearn

from sfumato import evaluate

CLOCKS = {"cpu": time.process_time, "wall": time.perf_counter}
Item = Callable[[list[float], list[float]], float]
LOOPS: dict[str, Item] = {
    "soft_cross_entropy_loss": lambda q, p: -sum(b * math.log(max(a, 1e-12)) for a, b in zip(q, p, strict=True) if b),
    "kl_divergence": lambda q, p: sum(b * math.log(b / a) for a, b in zip(q, p, strict=True) if b),
    "jensen_shannon_divergence": lambda q, p: (
        sum(
            (a * math.log(2 * a / (a + b)) if a else 0) + (b * math.log(2 * b / (a + b)) if b else 0)
            for a, b in zip(q, p, strict=True)
        )
        / 2
    ),
    "manhattan_error": lambda q, p: sum(abs(a - b) for a, b in zip(q, p, strict=True)),
    "soft_accuracy_score": lambda q, p: sum(map(min, q, p)),
    "brier_error": lambda q, p: sum((a - b) ** 2 for a, b in zip(q, p, strict=True)),
    "values_wasserstein_error": lambda q, p: (
        sum(abs(a - b) for a, b in zip(sorted(q), sorted(p), strict=True)) / len(q)
    ),
}


def seconds(work: Callable[[], object], clock: Callable[[], float], repeats: int = 3) -> float:
    """Return the shortest of a few runs: the machine may be busy, never quicker than it is."""
    best = math.inf
    for _ in range(repeats):
        began = clock()
        work()
        best = min(best, clock() - began)
    return best


def peers(q: np.ndarray, p: np.ndarray, gold: np.ndarray) -> dict[str, tuple[int, Callable[[], float]]]:
    """Return what SciPy and scikit-learn offer for the same number, with the number of items it is run on."""
    n = len(q)
    some = min(n, 2_000)
    return {
        "jensen_shannon_divergence": (n, lambda: float(np.mean(jensenshannon(q, p, axis=1) ** 2))),
        "kl_divergence": (n, lambda: float(np.mean(scipy.stats.entropy(p, q, axis=1)))),
        "values_wasserstein_error": (
            some,
            lambda: float(np.mean([scipy.stats.wasserstein_distance(q[i], p[i]) for i in range(some)])),
        ),
        "accuracy_score": (n, lambda: float(sklearn.accuracy_score(gold, q.argmax(axis=1)))),
        **netcal(q, gold),
        "f1_score": (n, lambda: float(sklearn.f1_score(gold, q.argmax(axis=1), average="macro"))),
    }


def netcal(q: np.ndarray, gold: np.ndarray) -> dict[str, tuple[int, Callable[[], float]]]:
    """Return netcal's calibration error, where it is installed."""
    try:
        from netcal.metrics import ECE
    except ImportError:
        return {}
    return {"expected_calibration_error": (len(q), lambda: float(ECE(15).measure(q, gold)))}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=1_000_000)
    parser.add_argument("--classes", type=int, default=10)
    parser.add_argument("--clock", choices=CLOCKS, default="cpu")
    parser.add_argument("--large", action="store_true")
    given = parser.parse_args()
    clock = CLOCKS[given.clock]
    rng = np.random.default_rng(0)
    q = rng.dirichlet(np.full(given.classes, 0.5), given.items)
    p = rng.multinomial(5, np.full(given.classes, 1 / given.classes), size=given.items) / 5
    gold = p.argmax(axis=1)
    few = min(given.items, 10_000)
    rows, lists = (list(q[:few]), list(p[:few])), (q[:few].tolist(), p[:few].tolist())
    others = peers(q, p, gold)

    print(f"{given.items:,} items, {given.classes} classes, {os.cpu_count()} processors, {given.clock} time\n")
    print(f"{'metric':32}{'ns per item':>12}{'loop':>10}{'ratio':>8}{'':6}{'library':>10}{'ratio':>8}")
    for name, metric in evaluate.METRICS.items():
        if metric.needs not in ("people", "gold"):
            continue
        labels = p if metric.needs == "people" else gold
        own = seconds(lambda metric=metric, labels=labels: metric(q, labels), clock) / given.items * 1e9  # type: ignore[misc]
        line = f"{name:32}{own:12.0f}"
        if name in LOOPS:
            item = LOOPS[name]
            loop, lean = (
                seconds(lambda item=item, on=on: sum(map(item, *on)), clock, 1) / few * 1e9  # type: ignore[misc]
                for on in (rows, lists)
            )
            assert abs(sum(map(item, *lists)) / few - metric(q[:few], p[:few])) < 1e-10, name
            line += f"{loop:10.0f}{loop / own:8.0f}{f'({lean / own:.0f})':>6}"
        else:
            line += " " * 24
        if name in others:
            n, work = others[name]
            theirs = seconds(work, clock, 1) / n * 1e9
            assert abs(work() - metric(q[:n], labels[:n])) < 1e-10, name
            line += f"{theirs:10.0f}{theirs / own:8.1f}"
        print(line)

    logits = np.log(q) * 2
    for what, work in (
        ("all numbers against people and gold, in one pass", lambda: evaluate.scores(q, people=p, gold=gold)),
        ("calibrated_log_loss, five halves", lambda: evaluate.calibrated_log_loss(logits, gold)),
    ):
        print(f"\n{what}: {seconds(work, clock):.2f} s")
    if given.large:
        large(given.classes)


def large(n_classes: int, n_items: int = 10_000_000) -> None:
    """Print what ten million items take, and how much memory beyond the tables themselves."""
    rng = np.random.default_rng(0)
    tables = []
    for _ in range(2):
        table = rng.random((n_items, n_classes), dtype=np.float32)
        table /= table.sum(axis=1, keepdims=True)
        tables.append(table)
    gold = rng.integers(0, n_classes, n_items)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.perf_counter()
    evaluate.jensen_shannon_divergence(*tables)
    middle = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    evaluate.scores(tables[0], people=tables[1], gold=gold)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(
        f"{n_items:,} items: {time.perf_counter() - began:.1f} s wall; peak memory before {before / 2**10:,.0f} MiB, "
        f"one metric +{(middle - before) / 2**10:,.0f} MiB, all +{(after - before) / 2**10:,.0f} MiB"
    )


if __name__ == "__main__":
    main()
