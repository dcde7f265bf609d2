"""The scores of the shared tasks on learning with disagreement (LeWiDi), as their organisers compute them."""

from __future__ import annotations

__all__ = [
    "lewidi_cross_entropy_loss",
    "lewidi_cross_entropy_loss_per_item",
    "lewidi_cross_entropy_part",
    "lewidi_scores",
]

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.core.gold import Gold
from sfumato.errors import OptionError
from sfumato.evaluate.blocks import Block, each_of, mean_of, over_classes
from sfumato.evaluate.f1 import f1_score
from sfumato.evaluate.manhattan import manhattan_error
from sfumato.evaluate.pairing import Distributions, paired
from sfumato.evaluate.wasserstein import wasserstein_error

Edition = Literal[2021, 2023, 2025]


def lewidi_cross_entropy_loss(predicted: Distributions, people: Distributions) -> float:
    """Return the mean over items of −Σ p log(q' + 1e-9), q' being q between 1e-12 and 1 − 1e-12 (LeWiDi 2021, 2023).

    Both of shape (n_items, n_classes). It is what the starting kits compute (Uma et al. 2021; Leonardelli et al.
    2023): an impossible class costs 20.7 nats, and a model that is certain and right is rewarded by 1e-9. For
    anything but a comparison with published scores take `soft_cross_entropy_loss`.

    >>> round(lewidi_cross_entropy_loss([[0.0, 1.0]], [[1.0, 0.0]]), 3)
    20.722
    """
    return mean_of(lewidi_cross_entropy_part, *paired(predicted, people))


def lewidi_cross_entropy_loss_per_item(predicted: Distributions, people: Distributions) -> NDArray[np.float64]:
    """Return −Σ p log(q' + 1e-9) of each item, shape (n_items,), in the order of *predicted*."""
    return each_of(lewidi_cross_entropy_part, *paired(predicted, people))


def lewidi_cross_entropy_part(block: Block) -> NDArray[np.float64]:
    """Return −Σ p log(q' + 1e-9) of each item of the block."""
    logs = np.log(np.clip(block.q, 1e-12, 1 - 1e-12) + 1e-9)
    return -over_classes(block.p * logs)


def lewidi_scores(
    predicted: Distributions,
    people: Distributions,
    *,
    edition: Edition,
    gold: ArrayLike | Gold | None = None,
) -> dict[str, float]:
    """Return the scores by which an edition ranked its systems, by name.

    *predicted* and *people* of shape (n_items, n_classes). 2021 and 2023: the cross-entropy as published and, given
    *gold*, the micro-averaged F1; 2025 has no gold: the Manhattan distance (tasks with named classes) and the
    Wasserstein distance (tasks with ordered ones). The perspectivist scores of 2025 are `perspectivist_error` and
    `perspectivist_distance_error`.

    >>> lewidi_scores([[0.5, 0.5]], [[1.0, 0.0]], edition=2025)
    {'manhattan_error': 1.0, 'wasserstein_error': 0.5}
    """
    if edition not in (2021, 2023, 2025):
        raise OptionError(f"The option 'edition' must be one of 2021, 2023, 2025. Got {edition!r} instead.")
    if edition == 2025:
        if gold is not None:
            raise OptionError("The edition of 2025 has no score against gold. Leave gold out.")
        return {
            "manhattan_error": manhattan_error(predicted, people),
            "wasserstein_error": wasserstein_error(predicted, people),
        }
    scores = {"lewidi_cross_entropy_loss": lewidi_cross_entropy_loss(predicted, people)}
    if gold is not None:
        scores["f1_score"] = f1_score(predicted, gold, average="micro")
    return scores
