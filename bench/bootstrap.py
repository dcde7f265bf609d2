"""Bootstrap intervals and tests: sfumato beside the per-resample loop that the usual programs run.

    python bench/bootstrap.py [--items 100000] [--resamples 1000] [--large]

The loop draws item numbers and takes the mean of the chosen values, one resample after another, as a NumPy user would
write it; boostsa also computes the metrics anew, and stands beside us where it is installed (pip install
boostsa==0.2.13 'pandas<3'). --large adds 10,000 resamples of ten systems. Aimed at: 1,000 resamples of accuracy, soft
cross-entropy and Jensen–Shannon on 100,000 items in 2 s, and fifty times boostsa.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import io
import time
from collections.abc import Callable

import numpy as np

from sfumato.evaluate.bootstrap import resampled_numbers
from sfumato.evaluate.draws import resampled_means
from sfumato.evaluate.metrics import METRICS
from sfumato.evaluate.sums import mean_sums

_METRICS = ("accuracy_score", "soft_cross_entropy_loss", "jensen_shannon_divergence")


def seconds(work: Callable[[], object], repeats: int = 3) -> float:
    """Return the shortest of a few runs: the machine may be busy, never quicker than it is."""
    best = float("inf")
    for _ in range(repeats):
        began = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - began)
    return best


def loop(columns: np.ndarray, resamples: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    n = len(columns)
    return np.array([columns[rng.integers(0, n, n)].mean(axis=0) for _ in range(resamples)])


def boostsa(people: np.ndarray, a: np.ndarray, b: np.ndarray, loops: int) -> float:
    """Return the seconds that boostsa takes for *loops* comparisons of two systems over half of the items, its most."""
    from boostsa import Bootstrap

    began = time.perf_counter()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        Bootstrap(save_results=False, save_outcomes=False).test(people, a, b, n_loops=loops, sample_size=0.5)
    return time.perf_counter() - began


def two_systems(people: np.ndarray, a: np.ndarray, b: np.ndarray, resamples: int) -> object:
    """Compare two systems in the numbers that boostsa compares: JSD, cross-entropy, and how entropies go together."""
    from sfumato.evaluate.blocks import each_of
    from sfumato.evaluate.entropy_correlation import entropies
    from sfumato.evaluate.significance import compare_samples
    from sfumato.evaluate.sums import correlation_sums

    sums = {}
    for name, probs in (("a", a), ("b", b)):
        for metric in _METRICS[1:]:
            sums[name, metric] = [mean_sums(METRICS[metric].per_item(probs, people))]  # type: ignore[misc]
        sums[name, "correlation"] = [correlation_sums(*each_of(entropies, probs, people))]
    drawn = resampled_numbers(sums, resamples=resamples)
    return [
        compare_samples(
            (sums["a", metric][0].value, drawn["a", metric]), (sums["b", metric][0].value, drawn["b", metric]),
            n_items=len(people), higher_is_better=metric == "correlation",
        )
        for metric in (*_METRICS[1:], "correlation")
    ]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--resamples", type=int, default=1000)
    parser.add_argument("--large", action="store_true")
    given = parser.parse_args()
    rng = np.random.default_rng(0)
    q, p = rng.dirichlet(np.full(10, 0.5), (2, given.items))
    gold = p.argmax(axis=1)

    def whole() -> object:
        systems = {
            name: [mean_sums(METRICS[name].per_item(q, gold if METRICS[name].needs == "gold" else p))]  # type: ignore[misc]
            for name in _METRICS
        }
        return resampled_numbers(systems, resamples=given.resamples)

    columns = np.column_stack(
        [METRICS[name].per_item(q, gold if METRICS[name].needs == "gold" else p) for name in _METRICS]  # type: ignore[misc]
    )
    fewer = max(given.resamples // 20, 1)
    ours, theirs = seconds(whole), seconds(lambda: loop(columns, fewer), 1) * given.resamples / fewer
    print(f"{given.items:,} items × {given.resamples:,} resamples of {', '.join(_METRICS)}")
    print(f"  sfumato, metrics included {ours:8.2f} s")
    print(f"  a loop over resamples     {theirs:8.2f} s   ({theirs / ours:.1f} times as long)")
    if importlib.util.find_spec("boostsa") is None:
        print("  boostsa                   not installed")
    else:
        other = rng.dirichlet(np.full(10, 0.5), given.items)
        mine = seconds(lambda: two_systems(p, q, other, given.resamples))
        some = 20
        # One loop alone is what it needs to begin with; half of the items are the most it draws.
        peer = (boostsa(p, q, other, some + 1) - boostsa(p, q, other, 1)) / some * given.resamples
        print(f"  two systems, three tests  {mine:8.2f} s")
        print(f"  boostsa, half the items   {peer:8.2f} s   ({peer / mine:.0f} times as long)")
    spread = resampled_means(columns, resamples=given.resamples).std(axis=0) * given.items**0.5 / columns.std(axis=0)
    print(f"  spread of the means over that of the formula: {np.round(spread, 3).tolist()}")
    if given.large:
        systems = rng.random((given.items, 10))
        took = seconds(lambda: resampled_means(systems, resamples=10_000), 1)
        print(f"{given.items:,} items × 10,000 resamples × 10 systems: {took:.1f} s")


if __name__ == "__main__":
    main()
