"""Kullback–Leibler divergence between people and the model, in both directions."""

from __future__ import annotations

__all__ = [
    "inverse_kl_divergence",
    "inverse_kl_divergence_per_item",
    "inverse_kl_part",
    "kl_divergence",
    "kl_divergence_per_item",
    "kl_part",
]

import math

import numpy as np
from numpy.typing import NDArray

from sfumato.evaluate.blocks import Block, each_of, mean_of, over_classes
from sfumato.evaluate.pairing import Distributions, paired

_Floats = NDArray[np.float64]


def kl_divergence(predicted: Distributions, people: Distributions) -> float:
    """Return the mean over items of KL(p‖q) = Σ p log(p/q) in nats; 0 or more (Fornaciari et al. 2021, section 2).

    Both of shape (n_items, n_classes), p of people, q predicted. It is the soft cross-entropy less the entropy of
    people. Infinite where the model rules out what somebody said; `jensen_shannon_divergence` never is.

    >>> round(kl_divergence([[0.5, 0.5]], [[1.0, 0.0]]), 4), kl_divergence([[1.0, 0.0]], [[0.5, 0.5]])
    (0.6931, inf)
    """
    return mean_of(kl_part, *paired(predicted, people))


def kl_divergence_per_item(predicted: Distributions, people: Distributions) -> _Floats:
    """Return KL(p‖q) of each item, shape (n_items,), in the order of *predicted*."""
    return each_of(kl_part, *paired(predicted, people))


def inverse_kl_divergence(predicted: Distributions, people: Distributions) -> float:
    """Return the mean over items of KL(q‖p) = Σ q log(q/p) in nats; 0 or more (Fornaciari et al. 2021, section 2).

    Both of shape (n_items, n_classes), p of people, q predicted. Infinite where the model gives mass to a class that
    nobody named: with shares of votes that is nearly always so, with softmaxed counts never.

    >>> round(inverse_kl_divergence([[1.0, 0.0]], [[0.5, 0.5]]), 4), inverse_kl_divergence([[0.5, 0.5]], [[1.0, 0.0]])
    (0.6931, inf)
    """
    return mean_of(inverse_kl_part, *paired(predicted, people))


def inverse_kl_divergence_per_item(predicted: Distributions, people: Distributions) -> _Floats:
    """Return KL(q‖p) of each item, shape (n_items,), in the order of *predicted*."""
    return each_of(inverse_kl_part, *paired(predicted, people))


def kl_part(block: Block) -> _Floats:
    """Return KL(p‖q) of each item of the block."""
    return _relative_entropy(block.p, block.log_p, block.q, block.log_q)


def inverse_kl_part(block: Block) -> _Floats:
    """Return KL(q‖p) of each item of the block."""
    return _relative_entropy(block.q, block.log_q, block.p, block.log_p)


def _relative_entropy(a: _Floats, log_a: _Floats, b: _Floats, log_b: _Floats) -> _Floats:
    result: _Floats = np.maximum(over_classes(a * (log_a - log_b)), 0)
    result[((b == 0) & (a > 0)).any(axis=0)] = math.inf
    return result
