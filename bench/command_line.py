"""From a file of votes to a file of soft labels through the command line, each run a fresh process.

    python bench/command_line.py [--rows 10000000] [--methods standard,dawid_skene,mace] [--folder DIR]
    python bench/command_line.py --small        # every method on 8,000 votes: what starting costs

Aimed at: ten million votes under 10 s and 1.5 GiB; a small file under 1 s whole, whatever the method.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from multiprocessing import get_context
from pathlib import Path

from sfumato import data
from sfumato.aggregate import METHODS


def write_votes(path: Path, **size: int) -> None:
    """Write votes of annotators who mostly see what was planted: methods settle as they do on real ones.

    In a process of its own: the peak memory of the others would begin at that of this one.
    """
    with get_context("spawn").Pool(1) as other:
        other.apply(_write_votes, (path, size))


def _write_votes(path: Path, size: dict[str, int]) -> None:
    data.simulate(**size, seed=0).annotations.save(path)  # type: ignore[arg-type]


def measure(votes: Path, method: str) -> tuple[float, float, float]:
    """Return the wall time, processor time and peak memory (MiB) of one run."""
    soft = votes.with_name("soft.parquet")
    command = [sys.executable, "-m", "sfumato", "aggregate", str(votes), "--method", method, "--out", str(soft)]
    command += ["--duplicates", "keep"]
    began = time.perf_counter()
    started = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert started.stderr is not None
    said = started.stderr.read().decode()
    _, status, used = os.wait4(started.pid, 0)
    if status:
        raise SystemExit(f"{' '.join(command)}\n{said}")
    seconds = time.perf_counter() - began
    return seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--methods", default="standard,dawid_skene,mace")
    parser.add_argument("--small", action="store_true", help="every method on a file as small as a pilot study")
    parser.add_argument("--folder", type=Path, help="where the file of votes is made (and kept)")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        if given.small:
            votes = Path(temporary) / "votes.csv"
            # As many votes, annotators and classes as RTE has.
            write_votes(votes, n_items=800, n_annotators=164, n_classes=2, per_item=10)
            methods = [name for name, method in METHODS.items() if method.needs != "annotations and model"]
        else:
            votes = (given.folder or Path(temporary)) / f"planted-{given.rows}.csv"
            methods = given.methods.split(",")
            if not votes.exists():
                write_votes(votes, n_items=given.rows // 5, n_annotators=20_000, n_classes=10, per_item=5)
        print(
            f"{votes.stat().st_size / 2**20:,.1f} MiB of votes, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
        )
        measure(votes, methods[0])  # the first run also fills the caches of the disk
        for method in methods:
            seconds, cpu, mib = min(measure(votes, method) for _ in range(3 if given.small else 1))
            print(f"{method:18}{seconds:7.2f} s{cpu:9.2f} s of processors{mib:8.0f} MiB", flush=True)


if __name__ == "__main__":
    main()
