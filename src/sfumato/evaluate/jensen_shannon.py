"""Jensen–Shannon divergence between the model and people."""

from __future__ import annotations

__all__ = ["jensen_shannon_divergence", "jensen_shannon_divergence_per_item", "jensen_shannon_part"]

import math

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import OptionError
from sfumato.evaluate.blocks import Block, each_of, logarithm, mean_of, over_classes
from sfumato.evaluate.pairing import Distributions, paired


def jensen_shannon_divergence(predicted: Distributions, people: Distributions, *, base: float = math.e) -> float:
    """Return the mean over items of ½ KL(q‖m) + ½ KL(p‖m), m = (p + q)/2; 0 to log 2 (Uma et al. 2021, section 5).

    Both of shape (n_items, n_classes); symmetric, and finite where classes have no mass. *base* 2 gives bits.

    >>> jensen_shannon_divergence([[1.0, 0.0]], [[0.0, 1.0]], base=2)
    1.0
    """
    return mean_of(jensen_shannon_part, *paired(predicted, people)) / _log_of(base)


def jensen_shannon_divergence_per_item(
    predicted: Distributions, people: Distributions, *, base: float = math.e
) -> NDArray[np.float64]:
    """Return the divergence of each item, shape (n_items,), in the order of *predicted*."""
    return each_of(jensen_shannon_part, *paired(predicted, people)) / _log_of(base)


def jensen_shannon_part(block: Block) -> NDArray[np.float64]:
    """Return the divergence of each item of the block in nats."""
    logs = logarithm((block.p + block.q) / 2)
    terms = block.p * (block.log_p - logs)
    terms += block.q * (block.log_q - logs)
    # Rounding may leave it an ulp below zero or above log 2, and a square root downstream must not see that.
    return np.clip(over_classes(terms) / 2, 0, math.log(2))


def _log_of(base: float) -> float:
    if not base > 1:
        raise OptionError(f"The option 'base' must be above 1. Got {base} instead.")
    return 1.0 if base == math.e else math.log(base)
