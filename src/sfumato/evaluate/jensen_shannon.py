"""Jensen–Shannon divergence between the model and people."""

from __future__ import annotations

__all__ = ["jensen_shannon_divergence"]

import math

import numpy as np

from sfumato.core import simplex
from sfumato.evaluate.pairing import Distributions, paired


def jensen_shannon_divergence(predicted: Distributions, people: Distributions, *, base: float = math.e) -> float:
    """Return the mean over items of the Jensen–Shannon divergence; 0 to log 2 (Uma et al. 2021, section 5).

    Both of shape (n_items, n_classes); symmetric, and finite where classes have no mass.

    >>> jensen_shannon_divergence([[1.0, 0.0]], [[0.0, 1.0]], base=2)
    1.0
    """
    q, p = paired(predicted, people)
    return float(np.mean(simplex.jensen_shannon_divergence(p, q, base=base)))
