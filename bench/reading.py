"""Votes from CSV to codes: sfumato beside pandas.read_csv and pandas.factorize.

    python bench/reading.py                                  # 200,000 rows, three times
    python bench/reading.py --rows 10000000 --repeats 5 [--folder DIR] [--peer-python PYTHON]

Each run is a process of its own, and the two take turns, so that both meet the same weather. Sfumato does more in its
time: it checks every row, sorts the votes by item, annotator and label, and gives back validated `Annotations`.
``--peer-python`` is an interpreter with another pandas: since version 3 it keeps text in Arrow where pyarrow is
installed, which needs less than half of the memory.
Aimed at with ten million rows: at least 3 times as fast as pandas, with at most half of its peak memory.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from multiprocessing import get_context
from pathlib import Path

_SFUMATO = """
import sfumato
read = sfumato.read_annotations
def work(path):
    return len(read(path, duplicates="keep").item)
"""
_PANDAS = """
import pandas
def work(path):
    frame = pandas.read_csv(path)
    return len([pandas.factorize(frame[column]) for column in frame.columns][0][0])
"""
_RUN = """
import json, resource, sys, time
began, used = time.perf_counter(), time.process_time()
n_rows = work(sys.argv[1])
wall, cpu = time.perf_counter() - began, time.process_time() - used
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps({"n_rows": n_rows, "seconds": wall, "cpu": cpu, "mib": peak}))
"""


def write_votes(path: Path, n_rows: int) -> None:
    """Write random votes: a fifth as many items as rows, 20,000 annotators, 10 labels, in random order."""
    import numpy as np
    import polars as pl

    generator = np.random.default_rng(0)
    frame = pl.DataFrame(
        {
            "item": generator.integers(0, max(n_rows // 5, 1), n_rows),
            "annotator": generator.integers(0, 20_000, n_rows),
            "label": generator.integers(0, 10, n_rows),
        }
    )
    frame.select(
        pl.format("item-{}", "item").alias("item"),
        pl.format("w{}", "annotator").alias("annotator"),
        pl.format("c{}", "label").alias("label"),
    ).write_csv(path)


def measure(python: str, code: str, path: Path) -> dict[str, float]:
    """Return what one process took."""
    done = subprocess.run([python, "-c", code + _RUN, str(path)], capture_output=True, text=True, check=True)
    result: dict[str, float] = json.loads(done.stdout)
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--folder", type=Path, default=None, help="where the file of votes is made (and kept)")
    parser.add_argument("--peer-python", default=sys.executable)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        path = (arguments.folder or Path(temporary)) / f"votes-{arguments.rows}.csv"
        if not path.exists():
            # In a process of its own: the peak memory of the others would begin at that of this one.
            with get_context("spawn").Pool(1) as other:
                other.apply(write_votes, (path, arguments.rows))
        load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
        print(f"{arguments.rows:,} rows, {path.stat().st_size / 2**20:,.0f} MiB, {os.cpu_count()} cores{load}")
        runs: dict[str, list[dict[str, float]]] = {"sfumato": [], "pandas": []}
        for _ in range(arguments.repeats):
            for name, python, code in (
                ("sfumato", sys.executable, _SFUMATO),
                ("pandas", arguments.peer_python, _PANDAS),
            ):
                runs[name].append(measure(python, code, path))
                last = runs[name][-1]
                print(f"{name:8} {last['seconds']:6.2f} s, {last['cpu']:6.2f} s of processors, {last['mib']:6.0f} MiB")
    assert len({run["n_rows"] for both in runs.values() for run in both}) == 1
    for what, label in (("seconds", "time"), ("cpu", "processor time"), ("mib", "peak memory")):
        ratios = [p[what] / s[what] for s, p in zip(runs["sfumato"], runs["pandas"], strict=True)]
        best = min(run[what] for run in runs["pandas"]) / min(run[what] for run in runs["sfumato"])
        print(f"pandas / sfumato, {label}: median {statistics.median(ratios):.2f}, best against best {best:.2f}")


if __name__ == "__main__":
    main()
