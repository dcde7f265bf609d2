"""Calibrated log-likelihood: how good the probabilities would be at the temperature that suits the model best."""

from __future__ import annotations

__all__ = ["calibrated_log_loss"]

import math

import numpy as np
from numpy.typing import ArrayLike

from sfumato.core.alphabetical import alphabetical
from sfumato.core.seeds import Seed, generator
from sfumato.core.soft_labels import SoftLabels
from sfumato.errors import InputError, OptionError
from sfumato.evaluate.pairing import Labels
from sfumato.evaluate.temperature import fitted_temperature, log_losses, with_logits


def calibrated_log_loss(logits: ArrayLike | SoftLabels, gold: Labels, *, splits: int = 5, seed: Seed = 0) -> float:
    """Return the mean over random halves of the log loss on one, at the temperature fitted on the other; in nats.

    *logits* of shape (n_items, n_classes), or `Predictions`; *gold* are class numbers of shape (n_items,), a `Gold`
    table, or soft labels of people. Two models are compared fairly this way, each at its own best temperature; what is
    printed as CLL is this number (Ashukha et al. 2020, section 4; Wright et al. 2024, appendix C). The temperature is
    exact, between 0.01 and 100. Of n items the first half has ⌊n/2⌋; named items are drawn by name, whatever the order
    of the rows.

    >>> calibrated_log_loss([[2.0, 0.0], [2.0, 0.0]], [0, 0]) < 1e-12
    True
    """
    if splits < 1:
        raise OptionError(f"The option 'splits' must be 1 or more. Got {splits} instead.")
    scores, labels, names = with_logits(logits, gold)
    if len(scores) < 2:
        raise InputError("Calibrated log loss needs at least 2 items, one for each half. Got 1.")
    if names is not None:
        order = alphabetical(names)
        scores, labels = scores[order], labels[order]
    rng = generator(seed)
    losses = []
    for _ in range(splits):
        fitted = np.zeros(len(scores), dtype=np.bool_)
        fitted[rng.permutation(len(scores))[: len(scores) // 2]] = True
        temperature = fitted_temperature(scores[fitted], labels[fitted])
        losses.append(log_losses(scores[~fitted], labels[~fitted], temperature))
    return math.fsum(losses) / splits
