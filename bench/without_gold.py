"""How near the labels that are chosen or weighed without gold come to the best method of each set, by gold.

    python bench/without_gold.py                # two small sets
    python bench/without_gold.py all            # every set of votes with gold
    python bench/without_gold.py SET …

Needs SFUMATO_DATA; prints a Markdown table, a row for each set.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator

import numpy as np

from sfumato import data
from sfumato.aggregate.compare import COMPARED
from sfumato.aggregate.held_out import held_out
from sfumato.aggregate.views import fitted
from sfumato.errors import ConvergenceWarning, MissingDataError

# Every set of votes with gold that is at hand, each once: rte stands in three folders under three names.
SETS = [
    *(f"truth_inference/{part}" for part in data.entry("truth_inference").parts if part != "rte"),
    "rte", "snow2008/temp", "snow2008/wsd", "mre", "pos", "stemming", "labelme",
]  # fmt: skip
SHOWN = ("standard", "dawid_skene", "mace", "glad", "ebcc")


def rows(names: list[str]) -> Iterator[tuple[str, dict[str, float], float, float, str]]:
    for name in names:
        loaded = data.load(name)
        votes, gold = loaded.annotations, loaded.gold
        codes = gold.aligned(votes.items, votes.classes)
        known = codes >= 0
        scored = held_out(votes, COMPARED)
        probs = {view: result.soft_labels.probs for view, result in fitted(votes, COMPARED).items()}
        accuracy = {view: float((p.argmax(axis=1) == codes)[known].mean()) for view, p in probs.items()}
        joined = np.tensordot(scored.weights, np.array([probs[view] for view in scored.names]), axes=1)
        picked = scored.names[int(scored.scores().argmax())]
        yield name, accuracy, accuracy[picked], float((joined.argmax(axis=1) == codes)[known].mean()), picked


def main() -> None:
    warnings.simplefilter("ignore", ConvergenceWarning)
    print(f"| set | {' | '.join(SHOWN)} | best | picked | | weighed |")
    print("|---" * (len(SHOWN) + 5) + "|")
    table = []
    asked = sys.argv[1:] or ["snow2008/temp", "snow2008/wsd"]
    for name, accuracy, picked, weighed, view in rows(SETS if asked == ["all"] else asked):
        table.append((accuracy, picked, weighed))
        cells = [*(accuracy[shown] for shown in SHOWN), max(accuracy.values())]
        numbers = " | ".join(f"{cell:.4f}" for cell in cells)
        print(f"| {name} | {numbers} | {picked:.4f} | {view} | {weighed:.4f} |", flush=True)
    means = {view: float(np.mean([accuracy[view] for accuracy, _, _ in table])) for view in COMPARED}
    best_of_each = float(np.mean([max(accuracy.values()) for accuracy, _, _ in table]))
    picked, weighed = (float(np.mean([row[k] for row in table])) for k in (1, 2))
    numbers = " | ".join(f"{cell:.4f}" for cell in (*(means[shown] for shown in SHOWN), best_of_each))
    print(f"| mean of {len(table)} | {numbers} | {picked:.4f} | | {weighed:.4f} |")
    view = max(means, key=lambda one: means[one])
    gap = best_of_each - means[view]
    print(f"\nBest single view: {view} {means[view]:.4f}; best of each set {best_of_each:.4f}.")
    for what, value in (("picked", picked), ("weighed", weighed)):
        print(f"{what}: {value:.4f}, closes {(value - means[view]) / gap:.0%} of the gap.")


if __name__ == "__main__":
    try:
        main()
    except MissingDataError as error:
        print(error)
