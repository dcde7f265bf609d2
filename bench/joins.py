"""How long joining views takes, beside the iteration that the papers use.

    python bench/joins.py [--items 1000000] [--classes 10] [--views 4] [--peer-items 100000] [--threads N]

The centroid is timed on all items, and on the first ``--peer-items`` of them beside the convex-concave procedure
(CCCP, Nielsen 2020) in whole-array NumPy, which runs until every item meets the optimality condition as well as ours
is promised to (residual 1e-9 in max_k |g_k − μ|): once over all items to the end, as the authors' program does, and
once leaving out items as they finish. Views are the vote shares and the softmax of simulated votes and two sharper
posteriors with noise. Times are those of one run, on the clock and of processors; the ratios are per item.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

import sfumato as sf
from sfumato.core.simplex import softmax

Floats = NDArray[np.float64]

_RESIDUAL = 1e-9
_MOST_STEPS = 3000


def simulated(n_items: int, n_classes: int, n_views: int) -> list[Floats]:
    """Vote shares (with zeros), softmaxed votes, and posteriors of several sharpnesses."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, n_classes, n_items)
    votes = np.zeros((n_items, n_classes))
    for _ in range(5):
        label = np.where(rng.random(n_items) < 0.7, truth, rng.integers(0, n_classes, n_items))
        votes[np.arange(n_items), label] += 1
    views = [votes / 5, softmax(votes)]
    sharper = np.linspace(2.5, 4.0, max(n_views - 2, 0))
    views += [softmax(sharpness * votes + rng.normal(0, 0.5, votes.shape)) for sharpness in sharper]
    return [np.asarray(view) for view in views[:n_views]]


def soft_labels(views: list[Floats]) -> list[sf.SoftLabels]:
    n_items, n_classes = views[0].shape
    items, classes = tuple(f"i{i}" for i in range(n_items)), tuple(f"k{k}" for k in range(n_classes))
    return [sf.SoftLabels(view, items=items, classes=classes) for view in views]


def residual(q: Floats, views: list[Floats]) -> Floats:
    """max_k |g_k − μ| of each item, over the classes that some view gives mass."""
    live = np.maximum.reduce(views) > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        g = np.where(live, sum(np.log(2 * q / (q + view)) for view in views) / len(views), 0)
    mu = (q * g).sum(axis=1, keepdims=True)
    result: Floats = np.abs(np.where(live, g - mu, 0)).max(axis=1)
    return result


def cccp(views: list[Floats], *, leaving_out: bool) -> tuple[Floats, int, int]:
    """Return the centroids, the steps, and how many items had not got there by the last of them.

    The update is q ∝ exp(mean_m log((q + p_m)/2)); whether items are done is looked at every tenth step.
    """
    done = np.mean(views, axis=0)
    q, rest = done.copy(), np.arange(len(done))
    for step in range(1, _MOST_STEPS + 1):
        with np.errstate(divide="ignore"):
            logs = sum(np.log((q + view) / 2) for view in views) / len(views)
        q = np.exp(logs)
        q /= q.sum(axis=1, keepdims=True)
        if step % 10 == 0:
            far = residual(q, views) > _RESIDUAL
            if leaving_out or not far.any():
                done[rest] = q
            if not far.any():
                return done, step, 0
            if leaving_out:
                q, rest, views = q[far], rest[far], [view[far] for view in views]
    done[rest] = q
    return done, _MOST_STEPS, int(far.sum())


def timed(work: Callable[[], object]) -> tuple[float, float, object]:
    """Return the seconds on the clock, those of processors, and what was made."""
    start, used = time.perf_counter(), time.process_time()
    made = work()
    return time.perf_counter() - start, time.process_time() - used, made


def main() -> None:
    parser = argparse.ArgumentParser(description="Time the joins of views beside the convex-concave procedure.")
    parser.add_argument("--items", type=int, default=1_000_000)
    parser.add_argument("--classes", type=int, default=10)
    parser.add_argument("--views", type=int, default=4)
    parser.add_argument("--peer-items", type=int, default=100_000)
    parser.add_argument("--threads", type=int, default=None)
    options = parser.parse_args()
    probs = simulated(options.items, options.classes, options.views)
    views = soft_labels(probs)
    print(f"{options.views} views of {options.items:,} items with {options.classes} classes")
    for name, join in (
        ("average", lambda: sf.aggregate.average(views)),
        ("centroid", lambda: sf.aggregate.centroid(views, threads=options.threads)),
        ("temperature", lambda: sf.aggregate.temperature(views, threads=options.threads)),
        ("hybrid", lambda: sf.aggregate.hybrid(views, threads=options.threads)),
    ):
        for view in views:
            view.__dict__.pop("fingerprint", None)  # each join pays for the fingerprints of its input
        seconds, cpu, result = timed(join)
        assert isinstance(result, sf.aggregate.JoinResult)
        told = "" if result.temperatures is None else f"  T = {result.temperatures.round(4).tolist()}"
        print(f"  {name:12} {seconds:7.2f} s, {cpu:6.2f} s of processors{told}")
    few = [view[: options.peer_items] for view in probs]
    some = soft_labels(few)
    seconds, cpu, ours = timed(lambda: sf.aggregate.centroid(some, threads=options.threads))
    again, cpu_again, _ = timed(lambda: sf.aggregate.centroid(some, threads=options.threads))
    assert isinstance(ours, sf.aggregate.JoinResult)
    worst = residual(ours.soft_labels.probs, few).max()
    print(
        f"Centroid of the first {options.peer_items:,} items: {seconds:.3f} s, {cpu:.3f} s of processors; again, "
        f"when the fingerprints of the views are known: {again:.3f} s, {cpu_again:.3f}; residual at most {worst:.1e}"
    )
    for leaving_out in (False, True):
        theirs, cpu_theirs, made = timed(lambda leaving_out=leaving_out: cccp(few, leaving_out=leaving_out))
        q, steps, left = made  # type: ignore[misc]
        apart = np.abs(q - ours.soft_labels.probs).max()
        how = "leaving out what is done" if leaving_out else "all items to the end"
        print(
            f"  CCCP, {how}: {theirs:.1f} s, {steps} steps, residual above {_RESIDUAL:g} on {left} items, "
            f"{apart:.1e} from ours at most: {theirs / seconds:.0f} times our time, {cpu_theirs / cpu:.0f} times "
            f"that of processors ({theirs / again:.0f} and {cpu_theirs / cpu_again:.0f} with known fingerprints)"
        )


if __name__ == "__main__":
    main()
