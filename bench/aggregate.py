"""The engine beside its peers: ours, crowd-kit's, peerannot's, whole-array SciPy, Fast Dawid–Skene and a bare C loop.

    python bench/aggregate.py                                                # 200,000 annotations, under a minute
    python bench/aggregate.py --data pos --methods dawid_skene,mace          # votes of a public set, scored by its gold
    python bench/aggregate.py --annotations 1000000 --classes 10 --peer-python PYTHON
    python bench/aggregate.py --annotations 10000000 --iterations 2 --repeats 1 --methods dawid_skene
    python bench/aggregate.py --classes 100 --dtype float32 --threads 2
    python bench/aggregate.py --annotations 10000000 --methods standard,wawa --repeats 1
    python bench/aggregate.py --methods mace --mace-jar MACE.jar

All runners get the same votes and the same number of iterations, each in a process of its own, one after the
other. ``--peer-python`` is an interpreter with crowd-kit and peerannot (default: this one, where they are installed);
the C loop is built where ``cc`` is found; ``--mace-jar`` is the program of MACE's authors. An iteration's time is the
quickest of those in the run; of a peer that does not say, it is the difference between a long and a short run
divided by the iterations between them. Of methods without iterations it is the whole fit, coding of names left
out. It is processor time unless ``--clock wall`` says otherwise. Total, processor time and memory are those of the
whole run, coding of names included. The ratios are to ours.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def processor_time() -> float:
    """Return the seconds that this process and those it waited for have used."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


CLOCKS = {"cpu": processor_time, "wall": time.perf_counter}


def simulate(options: argparse.Namespace, path: Path) -> None:
    """Write votes of annotators with accuracies between 0.4 and 0.9, wrong labels even."""
    rng = np.random.default_rng(options.seed)
    n_items = options.annotations // options.per_item
    truth = rng.integers(0, options.classes, n_items)
    item = np.repeat(np.arange(n_items), options.per_item)
    annotator = rng.integers(0, options.annotators, len(item))
    right = rng.random(len(item)) < rng.uniform(0.4, 0.9, options.annotators)[annotator]
    label = np.where(right, truth[item], rng.integers(0, options.classes, len(item)))
    sizes = {"n_annotators": options.annotators, "n_classes": options.classes}
    np.savez(path, item=item.astype(np.int32), annotator=annotator.astype(np.int32), label=label.astype(np.int32),
             truth=truth, **sizes)  # fmt: skip


def real(name: str, path: Path) -> None:
    """Write the votes of a public set, and the gold as codes (-1 where an item has none)."""
    import sfumato as sf

    loaded = sf.data.load(name)
    votes, gold = loaded.annotations, loaded.gold
    sizes = {"n_annotators": votes.n_annotators, "n_classes": votes.n_classes}
    truth = gold.aligned(votes.items, votes.classes)
    np.savez(path, item=votes.item, annotator=votes.annotator, label=votes.label, truth=truth, **sizes)


# A runner takes the votes, a number of iterations and the options, and returns the most probable labels by item (or
# None where it gives none) and, where it knows it, the seconds of one iteration.
Runner = Callable[[Any, int, argparse.Namespace], tuple[Any, float | None]]


def ours(votes: Any, n_iter: int, options: argparse.Namespace) -> tuple[Any, float | None]:
    import warnings

    import sfumato as sf

    warnings.simplefilter("ignore", sf.errors.ConvergenceWarning)
    annotations = sf.Annotations.from_codes(
        votes["item"], votes["annotator"], votes["label"],
        items=[f"{i:08}" for i in range(len(votes["truth"]))],
        annotators=[f"{j:08}" for j in range(int(votes["n_annotators"]))],
        classes=[f"{k:08}" for k in range(int(votes["n_classes"]))],
    )  # fmt: skip
    method = getattr(sf.aggregate, options.method)
    if options.method in WITHOUT_ITERATIONS:
        begin = CLOCKS[options.clock]()
        probs = method(annotations).soft_labels.probs
        took = CLOCKS[options.clock]() - begin
        return probs.argmax(axis=1), took
    marks: list[float] = []
    result = method(
        annotations, max_iter=n_iter, tolerance=0, threads=options.threads, dtype=options.dtype,
        progress=lambda told: marks.append(CLOCKS[options.clock]()),
        **({"restarts": 1} if options.method == "mace" else {"prior": "ml"}),
    )  # fmt: skip
    return result.soft_labels.probs.argmax(axis=1), float(np.diff(marks).min())


def crowd_kit(votes: Any, n_iter: int, options: argparse.Namespace) -> tuple[Any, float | None]:
    import pandas as pd
    from crowdkit.aggregation import MACE, DawidSkene, MajorityVote, Wawa

    ids = {"task": votes["item"], "worker": votes["annotator"], "label": votes["label"]}
    frame = pd.DataFrame(ids if options.codes else {name: names(codes) for name, codes in ids.items()})
    model = {
        "dawid_skene": lambda: DawidSkene(n_iter=n_iter, tol=-1.0), "mace": lambda: MACE(n_restarts=1, n_iter=n_iter),
        "standard": MajorityVote, "majority": MajorityVote, "softmax": MajorityVote, "wawa": Wawa,
    }[options.method]()  # fmt: skip
    begin = CLOCKS[options.clock]()
    found = model.fit_predict(frame)
    took = CLOCKS[options.clock]() - begin
    top = found.sort_index().to_numpy().astype(np.int64)
    return top, took if options.method in WITHOUT_ITERATIONS else None


def peerannot(votes: Any, n_iter: int, options: argparse.Namespace) -> tuple[Any, float | None]:
    import warnings

    from peerannot.models.aggregation.dawid_skene import DawidSkene

    warnings.simplefilter("ignore")
    answers: dict[int, dict[int, int]] = {}
    for item, annotator, label in zip(*(votes[name].tolist() for name in ("item", "annotator", "label")), strict=True):
        answers.setdefault(item, {})[annotator] = label
    model = DawidSkene(answers, int(votes["n_annotators"]), int(votes["n_classes"]))
    model.run(epsilon=0, maxiter=n_iter)
    return model.get_probas().argmax(axis=1), None


def fast_dawid_skene(votes: Any, n_iter: int, options: argparse.Namespace) -> tuple[Any, float | None]:
    """Sinha, Rao & Balasubramanian 2018: every item counts for its most probable class alone; whole-array SciPy."""
    from scipy.sparse import csr_array

    n_items, n_classes, n_annotators = len(votes["truth"]), int(votes["n_classes"]), int(votes["n_annotators"])
    item, column = votes["item"], votes["annotator"].astype(np.int64) * n_classes + votes["label"]
    matrix = csr_array((np.ones(len(item)), (item, column)), shape=(n_items, n_annotators * n_classes))
    shares = np.bincount(item * np.int64(n_classes) + votes["label"], minlength=n_items * n_classes)
    top = shares.reshape(n_items, n_classes).argmax(axis=1)
    marks = []
    for _ in range(n_iter):
        marks.append(CLOCKS[options.clock]())
        counts = np.bincount(column * n_classes + top[item], minlength=n_annotators * n_classes**2)
        counts = counts.reshape(n_annotators, n_classes, n_classes) + 1e-9
        table = np.log(counts / counts.sum(axis=1, keepdims=True)).reshape(-1, n_classes)
        top = (matrix @ table + np.log(np.bincount(top, minlength=n_classes) / n_items + 1e-12)).argmax(axis=1)
    return top, float(np.diff(marks).min())


def mace_program(votes: Any, n_iter: int, options: argparse.Namespace) -> tuple[Any, float | None]:
    """The program of MACE's authors, which reads a table with a row per item and a column per annotator."""
    table = Path(options.work) / "table.csv"
    if not table.exists():
        order = np.argsort(votes["item"], kind="stable")
        ends = np.cumsum(np.bincount(votes["item"], minlength=len(votes["truth"])))
        with table.open("w") as file:
            for rows in np.split(order, ends[:-1]):
                cells = [""] * int(votes["n_annotators"])
                for row in rows:
                    cells[votes["annotator"][row]] = str(votes["label"][row])
                file.write(",".join(cells) + "\n")
    prefix = Path(options.work) / "mace"
    command = ["java", "-Xmx6g", "-jar", options.mace_jar, "--restarts", "1", "--iterations", str(n_iter)]
    subprocess.run([*command, "--prefix", str(prefix), str(table)], check=True, capture_output=True)
    said = Path(f"{prefix}.prediction").read_text().splitlines()
    return np.array([int(line) for line in said if line]), None


def names(codes: Any) -> Any:
    """Return the codes as text of equal length, as ids stand in people's files."""
    return np.char.zfill(np.arange(codes.max() + 1).astype(str), 8).astype(object)[codes]


def whole_array(votes: Any, n_iter: int, options: argparse.Namespace) -> tuple[Any, float | None]:
    """The same sparse products without blocks: what one writes first with SciPy."""
    from scipy.sparse import csr_array
    from scipy.special import logsumexp

    n_items, n_classes, n_annotators = len(votes["truth"]), int(votes["n_classes"]), int(votes["n_annotators"])
    item, column = votes["item"], votes["annotator"].astype(np.int64) * n_classes + votes["label"]
    matrix = csr_array((np.ones(len(item)), (item, column)), shape=(n_items, n_annotators * n_classes))
    columns = matrix.T.tocsr()
    posterior = np.bincount(item * np.int64(n_classes) + votes["label"], minlength=n_items * n_classes)
    posterior = posterior.reshape(n_items, n_classes) / np.diff(matrix.indptr)[:, None]
    marks = []
    for _ in range(n_iter):
        marks.append(CLOCKS[options.clock]())
        counts = (columns @ posterior).reshape(n_annotators, n_classes, n_classes)
        with np.errstate(divide="ignore", invalid="ignore"):
            table = np.nan_to_num(np.log(counts / counts.sum(axis=1, keepdims=True)), nan=0.0, neginf=-700.0)
        scores = matrix @ table.reshape(-1, n_classes) + np.log(posterior.mean(axis=0))
        posterior = np.exp(scores - logsumexp(scores, axis=1, keepdims=True))
    return posterior.argmax(axis=1), float(np.diff(marks).min())


def bare_loop(votes: Any, n_iter: int, options: argparse.Namespace) -> tuple[Any, float | None]:
    offsets = np.concatenate([[0], np.cumsum(np.bincount(votes["item"], minlength=len(votes["truth"])))])
    head = [len(votes["truth"]), int(votes["n_annotators"]), int(votes["n_classes"]), len(votes["item"])]
    file = Path(options.work) / "votes.bin"
    np.concatenate([head, offsets, votes["annotator"], votes["label"]]).astype(np.int32).tofile(file)
    said = subprocess.run(
        [options.bare, file, str(n_iter), options.clock], check=True, capture_output=True, text=True
    ).stdout.split()
    return None, float(said[0])


RUNNERS: dict[str, Runner] = {
    "sfumato": ours, "bare C loop": bare_loop, "whole-array SciPy": whole_array, "Fast Dawid–Skene": fast_dawid_skene,
    "crowd-kit": crowd_kit, "peerannot": peerannot, "MACE (Java)": mace_program,
}  # fmt: skip
# Of other methods than Dawid and Skene's, who has them.
OF_METHOD = {
    "mace": ("sfumato", "crowd-kit", "MACE (Java)"), "wawa": ("sfumato", "crowd-kit"),
    "standard": ("sfumato", "crowd-kit"), "majority": ("sfumato", "crowd-kit"), "softmax": ("sfumato", "crowd-kit"),
}  # fmt: skip
WITHOUT_ITERATIONS = ("standard", "majority", "softmax", "wawa")
# peerannot holds items × annotators × classes as a dense array.
MOST_CELLS = 4e9


def run_one(options: argparse.Namespace) -> None:
    """Run one runner in this process and print its figures as JSON."""
    runner, votes = RUNNERS[options.runner], np.load(options.votes)
    votes = {name: votes[name] for name in votes.files}
    few, many = 1, 1 + options.iterations
    begin, begin_cpu = time.perf_counter(), processor_time()
    top, iteration = runner(votes, many, options)
    total, cpu = time.perf_counter() - begin, processor_time() - begin_cpu
    if iteration is None:
        clock = CLOCKS[options.clock]
        quickest = {}
        for n_iter in (few, many):
            took = []
            for _ in range(options.repeats):
                begin = clock()
                runner(votes, n_iter, options)
                took.append(clock() - begin)
            quickest[n_iter] = min(took)
        iteration = (quickest[many] - quickest[few]) / (many - few)
    who = resource.RUSAGE_CHILDREN if options.runner in ("bare C loop", "MACE (Java)") else resource.RUSAGE_SELF
    known = votes["truth"] >= 0
    accuracy = None if top is None else float((np.asarray(top) == votes["truth"])[known].mean())
    print(json.dumps({
        "total": total, "cpu": cpu, "iteration": iteration, "accuracy": accuracy,
        "memory": resource.getrusage(who).ru_maxrss * 1024,
    }))  # fmt: skip


def compare(options: argparse.Namespace, method: str, runners: list[str], votes: Path, work: str, bare: str) -> None:
    """Run each runner in a process of its own and print a table."""
    stored = np.load(votes)
    n_rows, n_items = len(stored["item"]), len(stored["truth"])
    n_annotators, n_classes = int(stored["n_annotators"]), int(stored["n_classes"])
    iterations = "the whole fit" if method in WITHOUT_ITERATIONS else f"{options.iterations} iterations"
    print(
        f"\n{method}: {n_rows:,} annotations of {n_items:,} items, {n_classes} classes, {n_annotators:,} annotators, "
        f"{iterations}, {options.threads} thread(s), {options.dtype}, {options.clock} time, "
        f"load {os.getloadavg()[0]:.1f}"
    )
    print(
        f"{'':<20}{'iteration':>13}{'per annotation':>16}{'/ class':>9}{'ratio':>9}"
        f"{'total':>10}{'cpu':>10}{'memory':>12}{'ratio':>8}{'accuracy':>10}"
    )
    first: dict[str, float] = {}
    for name in runners:
        if name == "peerannot" and float(n_items) * n_annotators * n_classes > MOST_CELLS:
            print(f"{name:<20}left out: its dense array of items × annotators × classes would not fit")
            continue
        python = options.peer_python if name in ("crowd-kit", "peerannot") else sys.executable
        command = [
            python, __file__, "--runner", name, "--votes", str(votes), "--method", method, "--work", work,
            "--bare", bare, "--iterations", str(options.iterations), "--repeats", str(options.repeats),
            "--threads", str(options.threads), "--dtype", options.dtype, "--clock", options.clock,
            *(["--codes"] if options.codes else []), *(["--mace-jar", options.mace_jar] if options.mace_jar else []),
        ]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **ONE_THREAD})
        if done.returncode:
            print(f"{name:<20}failed: {(done.stderr.strip() or 'it said nothing').splitlines()[-1]}")
            continue
        figures = json.loads(done.stdout.splitlines()[-1])
        first = first or figures
        took, accuracy = figures["iteration"], figures["accuracy"]
        print(
            f"{name:<20}{took * 1e3:>10.2f} ms{took / n_rows * 1e9:>13.2f} ns{took / n_rows / n_classes * 1e9:>6.2f} ns"
            f"{took / first['iteration']:>8.2f}×{figures['total']:>8.2f} s{figures['cpu']:>8.2f} s"
            f"{figures['memory'] / 2**20:>8.0f} MiB{figures['memory'] / first['memory']:>7.2f}×"
            f"{'' if accuracy is None else format(accuracy, '10.4f')}",
            flush=True,
        )


def build_bare_loop(folder: str) -> str:
    """Return the path of the compiled C loop, or nothing where there is no compiler."""
    compiler = shutil.which("cc")
    if compiler is None:
        return ""
    program = f"{folder}/bare_loop"
    command = [compiler, "-O3", "-march=native", str(HERE / "bare_loop.c"), "-o", program, "-lm"]
    return program if subprocess.run(command).returncode == 0 else ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--annotations", type=int, default=200_000)
    parser.add_argument("--per-item", type=int, default=5)
    parser.add_argument("--annotators", type=int, default=1000)
    parser.add_argument("--classes", type=int, default=10)
    parser.add_argument("--iterations", type=int, default=10)
    parser.add_argument("--repeats", type=int, default=2, help="runs of each length; the quickest counts")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--dtype", default="float64", choices=["float64", "float32"])
    parser.add_argument("--clock", default="cpu", choices=list(CLOCKS), help="what an iteration is measured in")
    parser.add_argument("--codes", action="store_true", help="hand crowd-kit integers, not ids as they stand in files")
    parser.add_argument("--methods", default="dawid_skene,mace")
    parser.add_argument("--runners", default=",".join(RUNNERS))
    parser.add_argument("--data", help="a public set in place of simulated votes: rte, pos, truth_inference/CF, …")
    parser.add_argument("--peer-python", default=sys.executable)
    parser.add_argument("--mace-jar", help="the program of MACE's authors")
    parser.add_argument("--seed", type=int, default=0)
    for inner in ("--runner", "--votes", "--method", "--work", "--bare"):
        parser.add_argument(inner, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.runner:
        run_one(options)
        return
    with tempfile.TemporaryDirectory() as work:
        votes = Path(work) / "votes.npz"
        if options.data:
            real(options.data, votes)
        else:
            simulate(options, votes)
        bare = build_bare_loop(work)
        for method in options.methods.split(","):
            owners = OF_METHOD.get(method, [name for name in RUNNERS if name != "MACE (Java)"])
            absent = {"bare C loop": bare, "MACE (Java)": options.mace_jar}
            runners = [name for name in options.runners.split(",") if name in owners and absent.get(name, "there")]
            compare(options, method, runners, votes, work, bare)


if __name__ == "__main__":
    main()
