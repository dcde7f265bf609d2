"""GLAD, BWA, EBCC and the join with a classifier: accuracy on real sets, and speed beside the programs they come from.

    python bench/annotator_models.py                                           # our side of the races, small votes
    python bench/annotator_models.py accuracy                                  # over the public sets, with gold
    python bench/annotator_models.py with-model                                # digits, judged by simulated annotators
    python bench/annotator_models.py speed glad --peer-python PYTHON           # crowd-kit there
    python bench/annotator_models.py speed with_model --peer-python PYTHON     # cleanlab there
    python bench/annotator_models.py speed ebcc --ebcc-program FILE            # the authors' ebcc.py

Both sides of a race run in this one call, each in a process of its own, on the same simulated votes.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

# What the authors print in the notebooks beside their programs; only the sets that they and we have.
PUBLISHED = {
    "bwa": {
        "rte": 0.9275, "trec": 0.604396, "CF": 0.893333, "CF_amt": 0.86, "MS": 0.785714, "SP": 0.916983,
        "SP_amt": 0.946, "ZenCrowd_all": 0.834804, "ZenCrowd_in": 0.763725, "ZenCrowd_us": 0.910784,
        "product": 0.919423, "adult": 0.741742, "fact_eval": 0.887153,
    },
    "ebcc": {
        "rte": 0.93125, "trec": 0.703736, "CF": 0.883333, "CF_amt": 0.856667, "MS": 0.787143, "SP": 0.915183,
        "SP_amt": 0.944, "ZenCrowd_all": 0.862255, "ZenCrowd_in": 0.780882, "ZenCrowd_us": 0.912255,
        "product": 0.934937, "adult": 0.747748,
    },
}  # fmt: skip
SETS = (
    *(f"truth_inference/{part}" for part in (
        "rte", "trec", "CF", "CF_amt", "MS", "SP", "SP_amt", "ZenCrowd_all", "ZenCrowd_in", "ZenCrowd_us", "product",
        "relevance", "adult", "fact_eval",
    )),
    "snow2008/temp", "snow2008/wsd", "pos", "mre", "labelme",
)  # fmt: skip
SIZES = {
    "glad": {"n_items": 20_000, "n_annotators": 500, "n_classes": 4, "per_item": 5, "difficulty": 0.2},
    "ebcc": {"n_items": 100_000, "n_annotators": 1000, "n_classes": 10, "per_item": 10},
    "with_model": {"n_items": 200_000, "n_annotators": 400, "n_classes": 10, "per_item": 5},
}


def accuracy() -> None:
    """Print the accuracy of each method on each set; a tie of t classes counts 1/t, a repeated row once."""
    import sfumato as sf

    aggregate = sf.aggregate
    methods: dict[str, Callable[[sf.Annotations], Any]] = {
        "majority": lambda votes: aggregate.majority(votes, ties="share"),
        "D&S (ml)": lambda votes: aggregate.dawid_skene(votes, prior="ml"),
        "D&S": aggregate.dawid_skene,
        "glad": aggregate.METHODS["glad"].function,
        "bwa": _method("bwa"),
        "ebcc": _method("ebcc"),
    }
    print(f"{'':24}" + "".join(f"{name:>10}" for name in methods) + f"{'bwa, pub.':>11}{'ebcc, pub.':>11}")
    rows = []
    for name in SETS:
        data = sf.data.load(name)
        assert data.annotations is not None
        assert data.gold is not None
        votes = _distinct(data.annotations)
        rows.append([_accuracy(method(votes).soft_labels, data.gold) for method in methods.values()])
        short = name.rpartition("/")[2]
        published = [PUBLISHED[method].get(short) for method in ("bwa", "ebcc")]
        print(
            f"{name:24}" + "".join(f"{value:10.4f}" for value in rows[-1])
            + "".join(f"{'' if value is None else format(value, '.4f'):>11}" for value in published),
            flush=True,
        )  # fmt: skip
    print(f"{'mean of ' + str(len(rows)):24}" + "".join(f"{value:10.4f}" for value in np.mean(rows, axis=0)))


def with_model_on_digits() -> None:
    """Print accuracies on scikit-learn's digits with simulated annotators and a cross-validated classifier.

    Of the join also the cross-entropy to gold, after one pass and after two.
    """
    from sklearn.datasets import load_digits
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import cross_val_predict

    import sfumato as sf

    digits = load_digits()
    names = [f"{i:04}" for i in range(len(digits.target))]
    truth = sf.SoftLabels(np.eye(10)[digits.target], items=names, classes=[str(k) for k in range(10)])
    heads = ("majority", "D&S", "model", "joined", "2 passes", "loss", "2 passes")
    print(f"{'per item':10}{'ability':10}" + "".join(f"{head:>10}" for head in heads))
    for per_item, ability in [(size, ability) for size in (1.5, 2, 3, 5) for ability in (0.6, 0.35)]:
        planted = sf.data.simulate(truth=truth, n_annotators=40, per_item=per_item, ability=ability, seed=1)
        votes = planted.annotations
        first = sf.aggregate.majority(votes, ties="random").soft_labels
        # The classifier learns from the majority, as it would have to, and predicts what it has not seen.
        learner = LogisticRegression(C=0.01, max_iter=500)
        rows = [names.index(item) for item in first.items]
        said = cross_val_predict(learner, digits.data[rows] / 16, first.top(), cv=5, method="predict_proba")
        model = sf.SoftLabels(said, items=first.items, classes=first.classes)
        joined = [_method("with_model")(votes, model, passes=passes).soft_labels for passes in (1, 2)]
        found = (sf.aggregate.majority(votes, ties="share"), sf.aggregate.dawid_skene(votes))
        figures = [_accuracy(labels, planted.gold) for labels in (*(f.soft_labels for f in found), model, *joined)]
        gold = planted.gold.aligned(votes.items, votes.classes)
        figures += [float(-np.log(labels.probs[np.arange(len(gold)), gold]).mean()) for labels in joined]
        print(f"{per_item:<10}{ability:<10}" + "".join(f"{figure:10.4f}" for figure in figures), flush=True)


def speed(method: str, peer_python: str | None, ebcc_program: str | None) -> None:
    """Race us against the program of the method on the same votes and print what both needed, and the ratios."""
    import sfumato as sf

    planted = sf.data.simulate(seed=0, **SIZES[method])  # type: ignore[arg-type]
    votes = planted.annotations
    gold = np.empty(votes.n_items, dtype=np.int64)
    place = {item: row for row, item in enumerate(votes.items)}
    gold[[place[item] for item in planted.gold.items]] = planted.gold.labels
    rng = np.random.default_rng(1)
    told = np.where(rng.random(votes.n_items) < 0.7, gold, rng.integers(votes.n_classes, size=votes.n_items))
    model = 0.6 * np.eye(votes.n_classes)[told] + 0.4 * rng.dirichlet(np.ones(votes.n_classes), votes.n_items)
    peer = [peer_python or sys.executable] if method != "ebcc" else [sys.executable]
    if (method == "ebcc") != (ebcc_program is not None):
        raise SystemExit("ebcc, and nothing else, needs --ebcc-program FILE (ebcc.py of its authors)")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "votes.npz"
        np.savez(path, item=votes.item, annotator=votes.annotator, label=votes.label, model=model, gold=gold)
        sides = {}
        for side, python in (("ours", [sys.executable]), ("peer", peer)):
            command = [*python, __file__, "side", side, method, str(path), ebcc_program or ""]
            environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=environment)
            sides[side] = json.loads(done.stdout.splitlines()[-1])
            print(f"{side}: {json.dumps(sides[side])}", flush=True)
    print(f"{method} on {votes.n_annotations:,} annotations: peer / ours")
    for figure in ("wall_s", "cpu_s", "peak_mib"):
        print(f"  {figure:9} {sides['peer'][figure] / sides['ours'][figure]:8.1f}×")
    if all("iterations" in side for side in sides.values()):
        each = {side: figures["cpu_s"] / figures["iterations"] for side, figures in sides.items()}
        print(f"  cpu_s, each iteration {each['peer'] / each['ours']:8.1f}×")


def small() -> None:
    """Print what our side of each race needs on a twentieth of the votes."""
    import sfumato as sf

    for method, size in SIZES.items():
        votes = sf.data.simulate(seed=0, **{**size, "n_items": int(size["n_items"]) // 20}).annotations  # type: ignore[arg-type]
        codes = votes.item, votes.annotator, votes.label
        run = _ours(method, codes, np.full((votes.n_items, votes.n_classes), 1 / votes.n_classes))
        began = time.process_time()
        run()
        print(f"{method}: {votes.n_annotations:,} annotations in {time.process_time() - began:.2f} s of processors")


def run_side(side: str, method: str, path: str, program: str) -> None:
    """Run one side of a race in this process; the last line of its output is the figures as JSON."""
    stored = np.load(path)
    codes, model, gold = (stored["item"], stored["annotator"], stored["label"]), stored["model"], stored["gold"]
    run = _ours(method, codes, model) if side == "ours" else _peer(method, codes, model, program)
    wall, cpu = time.perf_counter(), time.process_time()
    probs, extra = run()
    figures = {"wall_s": time.perf_counter() - wall, "cpu_s": time.process_time() - cpu}
    figures["peak_mib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({**figures, **extra, "accuracy": float((probs.argmax(axis=1) == gold).mean())}))


def _ours(method: str, codes: tuple[Any, Any, Any], model: Any) -> Callable[[], tuple[Any, dict[str, Any]]]:
    from sfumato.core.annotations import Annotations
    from sfumato.core.soft_labels import SoftLabels

    function = _method(method)
    items, annotators, classes = ([f"{n:07}" for n in range(codes[side].max() + 1)] for side in range(3))

    def run() -> tuple[Any, dict[str, Any]]:
        votes = Annotations.from_codes(*codes, items=items, annotators=annotators, classes=classes)
        if method == "with_model":
            return function(votes, SoftLabels(model, items=items, classes=classes)).soft_labels.probs, {}
        # One thread, as the authors' program has.
        options = {"restarts": 1, "class_prior": "flat", "threads": 1} if method == "ebcc" else {}
        result = function(votes, **options)
        return result.soft_labels.probs, {"iterations": result.n_iter, "converged": result.converged}

    return run


def _peer(
    method: str, codes: tuple[Any, Any, Any], model: Any, program: str
) -> Callable[[], tuple[Any, dict[str, Any]]]:
    item, annotator, label = codes
    if method == "glad":
        import pandas as pd
        from crowdkit.aggregation import GLAD

        def run() -> tuple[Any, dict[str, Any]]:
            fit = GLAD()
            probs = fit.fit_predict_proba(pd.DataFrame({"task": item, "worker": annotator, "label": label}))
            return probs.sort_index().to_numpy(), {"iterations": len(fit.loss_history_)}
    elif method == "with_model":
        from cleanlab.multiannotator import get_label_quality_multiannotator

        def run() -> tuple[Any, dict[str, Any]]:
            table = np.full((item.max() + 1, annotator.max() + 1), np.nan)
            table[item, annotator] = label
            found = get_label_quality_multiannotator(table, model, verbose=False)
            return np.eye(model.shape[1])[found["label_quality"]["consensus_label"]], {}
    else:
        # Their program names np.bool, which NumPy has given up.
        scope: dict[str, Any] = {"__name__": "ebcc"}
        exec(compile(Path(program).read_text().replace("np.bool)", "bool)"), program, "exec"), scope)

        class Counting:
            """NumPy, with a count of the tests for convergence: one per iteration, which the program does not tell."""

            n_tests = 0

            def __getattr__(self, name: str) -> Any:
                return getattr(np, name)

            def allclose(self, *given: Any, **options: Any) -> bool:
                self.n_tests += 1
                return np.allclose(*given, **options)

        counting = scope["np"] = Counting()

        def run() -> tuple[Any, dict[str, Any]]:
            probs = scope["ebcc_vb"](np.stack(codes, axis=1).astype(np.int64))[0]
            return probs, {"iterations": counting.n_tests}

    return run


def _method(name: str) -> Callable[..., Any]:
    from importlib import import_module

    found: Callable[..., Any] = getattr(import_module(f"sfumato.aggregate.{name}"), name)
    return found


def _distinct(votes: Any) -> Any:
    """Return the annotations without the rows that repeat another one exactly, as the published figures were made."""
    rows = np.stack([votes.item, votes.annotator, votes.label])
    return votes.take_annotations(np.unique(rows, axis=1, return_index=True)[1])


def _accuracy(soft: Any, gold: Any) -> float:
    place = {item: row for row, item in enumerate(soft.items)}
    known = [(place[item], gold.classes[k]) for item, k in zip(gold.items, gold.labels, strict=True) if item in place]
    best = soft.probs >= soft.probs.max(axis=1, keepdims=True) - 1e-12
    share = best / best.sum(axis=1, keepdims=True)
    return float(np.mean([share[row, soft.classes.index(name)] if name in soft.classes else 0 for row, name in known]))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    tasks = parser.add_subparsers(dest="task")
    tasks.add_parser("accuracy")
    tasks.add_parser("with-model")
    race = tasks.add_parser("speed")
    race.add_argument("method", choices=sorted(SIZES))
    race.add_argument("--peer-python")
    race.add_argument("--ebcc-program")
    one = tasks.add_parser("side")
    for argument in ("side", "method", "path", "program"):
        one.add_argument(argument)
    given = parser.parse_args()
    if given.task is None:
        small()
    elif given.task == "accuracy":
        accuracy()
    elif given.task == "with-model":
        with_model_on_digits()
    elif given.task == "speed":
        speed(given.method, given.peer_python, given.ebcc_program)
    else:
        run_side(given.side, given.method, given.path, given.program)
