"""How much better than a reference, item by item: paired, with intervals, and corrected for how often one asked."""

from __future__ import annotations

__all__ = ["Compared", "gains"]

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.evaluate.significance import holm, paired_bootstrap_test
from sfumato.reproduce.outcome import Measured


@dataclass(frozen=True, eq=False)
class Compared:
    """A number of two systems for the same items, shape (n_items,) each: that of a row, and that of the reference."""

    metric: str
    on: str
    row: str
    values: NDArray[np.float64]
    reference: NDArray[np.float64]


def gains(pairs: Sequence[Compared], *, higher_is_better: bool, seed: int = 0) -> list[Measured]:
    """Return for each pair how much better the row is (above 0: better), and p after Holm over all *pairs*.

    >>> one = Compared("accuracy_score", "RTE", "new", np.ones(20), np.zeros(20))
    >>> [(number.metric, number.value) for number in gains([one], higher_is_better=True)]
    [('accuracy_score_gain', 1.0), ('accuracy_score_p', 9.999000099990002e-05)]
    """
    found = [
        paired_bootstrap_test(pair.values, pair.reference, higher_is_better=higher_is_better, seed=seed)
        for pair in pairs
    ]
    corrected = holm([each.p_value for each in found])
    numbers = []
    for pair, each, p_value in zip(pairs, found, corrected, strict=True):
        # The 0 keeps a difference of nothing from being shown as -0.
        low, high = (each.low, each.high) if higher_is_better else (0 - each.high, 0 - each.low)
        value = each.difference if higher_is_better else 0 - each.difference
        numbers.append(Measured(f"{pair.metric}_gain", value, pair.on, pair.row, low, high, each.n_items))
        numbers.append(Measured(f"{pair.metric}_p", float(p_value), pair.on, pair.row, n=each.n_items))
    return numbers
