"""All the numbers of a model at once, in one pass over the items."""

from __future__ import annotations

__all__ = ["scores"]

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.core.gold import Gold
from sfumato.core.predictions import Predictions
from sfumato.errors import InputError, OptionError, check_choice
from sfumato.evaluate.blocks import Block, over_blocks
from sfumato.evaluate.metrics import METRICS, Metric
from sfumato.evaluate.pairing import Distributions, gold_codes, paired


def scores(
    predicted: Distributions,
    *,
    people: Distributions | None = None,
    gold: ArrayLike | Gold | None = None,
    metrics: Sequence[str] | None = None,
) -> dict[str, float]:
    """Return the numbers by name: those of *metrics*, or all that people, gold and the logits at hand allow.

    *predicted* and *people* of shape (n_items, n_classes), *gold* of shape (n_items,) or a `Gold` table. Calibration
    is measured against gold where there is gold, else against people. The calibrated log loss needs `Predictions` with
    logits, at least two items and a logit for every gold class; without *metrics* it is left out where it has not.

    >>> found = scores([[0.75, 0.25], [0.5, 0.5]], people=[[0.5, 0.5], [0.5, 0.5]], metrics=["brier_error"])
    >>> found
    {'brier_error': 0.0625}
    """
    if people is None and gold is None:
        raise OptionError("There is nothing to compare the predictions with. Give people, gold, or both.")
    chosen = [
        METRICS[check_choice(name, METRICS, option="metrics")] for name in (METRICS if metrics is None else metrics)
    ]
    found: dict[str, float] = {}
    labels_of = {"people": people, "gold": gold}
    sides: dict[str, list[Metric]] = {"people": [], "gold": []}
    for metric in chosen:
        side = _side(metric, labels_of)
        if metric.part is not None and side is not None:
            sides[side].append(metric)
        elif metric.needs == "logits" and side is not None and _has_logits(predicted):
            try:
                found[metric.name] = metric(predicted, labels_of[side])
            except InputError:  # a single item, or a gold class without a logit; what is wrong with all is said below
                if metrics is not None:
                    raise
        elif metrics is not None:
            raise OptionError(
                f"The metric '{metric.name}' needs {metric.needs}, which it was not given"
                + (" (Predictions with logits)." if metric.needs == "logits" else ".")
            )
    if sides["people"] and people is not None:
        found |= _in_one_pass(sides["people"], *paired(predicted, people))
    if sides["gold"] and gold is not None:
        found |= _in_one_pass(sides["gold"], *gold_codes(predicted, gold))
    return {metric.name: found[metric.name] for metric in chosen if metric.name in found}


def _side(metric: Metric, labels_of: dict[str, Any]) -> str | None:
    """Return whether the metric is taken against gold or against people; None where what it needs is not given."""
    wanted = ["people"] if metric.needs == "people" else [] if metric.needs == "annotations" else ["gold"]
    if metric.also_people:
        wanted.append("people")
    return next((side for side in wanted if labels_of[side] is not None), None)


def _has_logits(predicted: Distributions) -> bool:
    return isinstance(predicted, Predictions) and predicted.logits is not None


def _in_one_pass(chosen: list[Metric], predicted: NDArray[Any], labels: NDArray[Any]) -> dict[str, float]:
    # Metrics that start from the same part (all of one confusion matrix) share it; a mean needs but its sum.
    parts = {metric.part: metric.whole is None for metric in chosen if metric.part is not None}

    def work(block: Block) -> list[Any]:
        return [float(part(block).sum()) if mean else part(block) for part, mean in parts.items()]

    made = dict(zip(parts, zip(*over_blocks(work, predicted, labels), strict=True), strict=True))
    found = {}
    for metric in chosen:
        pieces = made[metric.part] if metric.part is not None else ()
        if metric.whole is None:
            found[metric.name] = math.fsum(pieces) / len(predicted)
        else:
            found[metric.name] = metric.whole([np.asarray(piece) for piece in pieces], len(predicted))
    return found
