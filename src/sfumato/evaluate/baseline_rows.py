"""Which baselines stand beside the systems in a report, metric by metric."""

from __future__ import annotations

__all__ = ["PEOPLE_AGAINST_GOLD", "baseline_rows", "ceiling_gold", "ceiling_rows"]

import numpy as np
from numpy.typing import NDArray

from sfumato.core.annotations import Annotations
from sfumato.core.gold import Gold
from sfumato.core.predictions import Predictions
from sfumato.core.soft_labels import SoftLabels
from sfumato.core.vocabulary import Vocabulary
from sfumato.errors import InputError
from sfumato.evaluate.baselines import (
    BEST_CONSTANTS,
    Ceiling,
    best_constant,
    class_prior,
    half_panel,
    held_out_annotator,
    smoothed_labels,
    uniform,
)
from sfumato.evaluate.metrics import Metric
from sfumato.evaluate.systems import Systems

_MARK = "baseline: "
# In which numbers against gold people are shown as if they were a model; votes are no confidence to be calibrated.
PEOPLE_AGAINST_GOLD = frozenset(
    {"accuracy_score", "f1_score", "micro_f1_score", "weighted_f1_score", "precision_score", "recall_score"}
)
# The logit of a class that never occurs: its probability is nothing, and its logarithm is finite.
_NEVER = 1e-12


def baseline_rows(metric: Metric, systems: Systems) -> dict[str, Predictions]:
    """Return the baselines that say something about a metric, by the name of their row.

    What needs logits is given the logarithms. Uniform predictions have no most probable class, so the metrics that
    ask for one do without them; labels smoothed from the gold are always right about the gold, so they stand beside
    what people say.
    """
    # Without soft labels only the prior of the gold classes is known; each table covers all items, as the systems do.
    labels = systems.labels if systems.labels is not None else uniform(systems.first)
    prior = None if systems.labels is not None else _one_hot(systems)
    rows: dict[str, Predictions] = {}
    if metric.needs == "logits":
        for name, made in (("uniform", uniform(labels)), ("class prior", class_prior(labels, reference=prior))):
            logits = np.log(np.maximum(made.probs, _NEVER))
            rows[_MARK + name] = Predictions.from_logits(logits, items=made.items, classes=made.classes)
        return rows
    if metric.needs == "people":
        rows[f"{_MARK}uniform"] = uniform(labels)
    rows[f"{_MARK}class prior"] = class_prior(labels, reference=prior)
    if metric.name in BEST_CONSTANTS:
        rows[f"{_MARK}best constant"] = best_constant(labels, metric=metric.name, gold=systems.gold)
    if metric.needs == "people":
        covered = systems.gold is not None and systems.gold.n_items == labels.n_items
        rows[f"{_MARK}smoothed {'gold' if covered else 'majority'}"] = smoothed_labels(
            labels, gold=systems.gold if covered else None
        )
    return rows


def ceiling_rows(annotations: Annotations, systems: Systems, *, seed: int) -> tuple[dict[str, Ceiling], str]:
    """Return people against people for the items that the systems predict, and a sentence on what that is.

    The classes are those of the systems, of which the annotators need not have used all.
    """
    if not set(annotations.classes) <= set(systems.classes):
        odd = next(name for name in annotations.classes if name not in systems.classes)
        raise InputError(f"The annotators' class {odd!r} is none of the predicted ones: {', '.join(systems.classes)}.")
    known = set(systems.items)
    several = {name for name, n in zip(annotations.items, annotations.per_item().tolist(), strict=True) if n > 1}
    if not known & several:
        return {}, "None of the predicted items has two annotations, so what people reach cannot be shown."
    rows = {}
    for name, make in (("one annotator", held_out_annotator), ("half of the panel", half_panel)):
        found = make(annotations, seed=seed)
        items = tuple(sorted(known.intersection(found.predicted.items)))
        rows[f"people: {name}"] = Ceiling(
            Predictions(_wider(found.predicted, systems, items), items=items, classes=systems.classes),
            SoftLabels(_wider(found.people, systems, items), items=items, classes=systems.classes),
        )
    return rows, (
        f"The numbers of people compare one annotator, or half of the panel, with the other annotators of "
        f"{len(items):,} items, or with gold. These are fewer people than the whole panel, so the numbers are somewhat "
        "worse than what people can reach, and far worse in cross-entropy, which a class that none of a few people "
        "names makes very large."
    )


def ceiling_gold(ceiling: Ceiling, gold: Gold) -> Gold | None:
    """Return the gold of the items that people are compared on, None where it is of none of them."""
    items = ceiling.predicted.items
    codes = gold.aligned(items, gold.classes)
    known = np.flatnonzero(codes >= 0)
    return Gold(tuple(items[row] for row in known), codes[known], gold.classes) if len(known) else None


def _wider(table: SoftLabels, systems: Systems, items: Vocabulary) -> NDArray[np.float64]:
    probs = np.zeros((len(items), len(systems.classes)))
    probs[:, [systems.classes.index(name) for name in table.classes]] = table.take(items).probs
    return probs


def _one_hot(systems: Systems) -> SoftLabels:
    gold = systems.gold
    if gold is None:
        raise InputError("There are neither soft labels nor gold.")
    codes = gold.aligned(gold.items, systems.classes)
    known = codes < len(systems.classes)
    rows = np.full((gold.n_items, len(systems.classes)), 1 / len(systems.classes))
    rows[known] = np.eye(len(systems.classes))[codes[known]]
    return SoftLabels(rows, items=gold.items, classes=systems.classes)
