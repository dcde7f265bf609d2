"""Calibrated log-likelihood: how good the probabilities would be at the temperature that suits the model best."""

from __future__ import annotations

__all__ = ["calibrated_log_loss", "scored_losses"]

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.core.alphabetical import alphabetical
from sfumato.core.seeds import Seed, generator
from sfumato.core.soft_labels import SoftLabels
from sfumato.errors import InputError, OptionError
from sfumato.evaluate.pairing import Labels
from sfumato.evaluate.temperature import fitted_temperature, log_losses_per_item, with_logits


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
    total, times = scored_losses(logits, gold, splits=splits, seed=seed)
    return math.fsum(total.tolist()) / float(times.sum())


def scored_losses(
    logits: ArrayLike | SoftLabels, gold: Labels, *, splits: int = 5, seed: Seed = 0
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the sum of the losses of each item over the splits in which it is scored, and in how many that is.

    Both of shape (n_items,), in the order of *logits* (those that have gold). As every half is of the same size, the
    calibrated log loss is the ratio of their sums. With the temperatures held fixed it is a mean over items like any
    other, which can be resampled and compared.

    >>> losses, times = scored_losses([[2.0, 0.0], [2.0, 0.0]], [0, 0], splits=3)
    >>> times.sum(), bool((losses < 1e-12).all())
    (np.int64(3), True)
    """
    if splits < 1:
        raise OptionError(f"The option 'splits' must be 1 or more. Got {splits} instead.")
    scores, labels, names = with_logits(logits, gold)
    if len(scores) < 2:
        raise InputError("Calibrated log loss needs at least 2 items, one for each half. Got 1.")
    order = np.arange(len(scores)) if names is None else np.asarray(alphabetical(names))
    rng = generator(seed)
    total, times = np.zeros(len(scores)), np.zeros(len(scores), dtype=np.int64)
    for _ in range(splits):
        drawn = order[rng.permutation(len(scores))]
        # In the order of the names, so that sums have the same bits whatever the order of the rows.
        half = np.zeros(len(scores), dtype=np.bool_)
        half[drawn[: len(scores) // 2]] = True
        fitted, scored = order[half[order]], order[~half[order]]
        temperature = fitted_temperature(scores[fitted], labels[fitted])
        total[scored] += log_losses_per_item(scores[scored], labels[scored], temperature)
        times[scored] += 1
    return total, times
