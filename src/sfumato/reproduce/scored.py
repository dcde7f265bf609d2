"""The numbers of a test: predictions against gold, and against what people said."""

from __future__ import annotations

__all__ = ["scored"]

import math

import numpy as np

from sfumato.core.gold import Gold
from sfumato.core.predictions import Predictions
from sfumato.core.soft_labels import SoftLabels
from sfumato.evaluate import (
    accuracy_score,
    calibrated_log_loss,
    entropy_correlation_score,
    f1_score,
    jensen_shannon_divergence,
    soft_cross_entropy_loss,
)
from sfumato.reproduce.outcome import Measured

# Fewer items than this cannot be halved into one half to fit a temperature on and one to measure.
_HALVED_FROM = 4


def scored(predicted: Predictions, *, gold: Gold | None, people: SoftLabels | None, on: str) -> list[Measured]:
    """Return every number that the labels allow, of the items that have them."""
    numbers: list[Measured] = []
    if gold is not None:
        known = gold.aligned(predicted.items, predicted.classes) >= 0
        n = int(known.sum())
        if n:
            part = predicted if known.all() else predicted.take([predicted.items[row] for row in np.flatnonzero(known)])
            codes = gold.aligned(part.items, part.classes)
            numbers.append(Measured("accuracy_score", accuracy_score(part.probs, codes), on, n=n))
            numbers.append(Measured("f1_score", f1_score(part.probs, codes), on, n=n))
            if part.logits is not None and n >= _HALVED_FROM:
                numbers.append(Measured("calibrated_log_loss", calibrated_log_loss(part.logits, codes), on, n=n))
    if people is not None:
        judged = set(people.items)
        both = [item for item in predicted.items if item in judged]
        if both:
            model, crowd = predicted.take(both), people.take(both).with_classes(predicted.classes)
            found = {
                "soft_cross_entropy_loss": soft_cross_entropy_loss(model.probs, crowd.probs),
                "jensen_shannon_divergence": jensen_shannon_divergence(model.probs, crowd.probs),
                "entropy_correlation_score": entropy_correlation_score(model.probs, crowd.probs),
            }
            numbers += [Measured(name, value, on, n=len(both)) for name, value in found.items()]
    return [number for number in numbers if not math.isnan(number.value)]
