"""Dawid and Skene's model: each annotator has a confusion matrix.

A. P. Dawid and A. M. Skene (1979), Maximum likelihood estimation of observer error-rates using the EM algorithm,
Applied Statistics 28(1). Item i has the class z_i ~ π; annotator j labels it l with probability θ_j[z_i, l].
"""

from __future__ import annotations

__all__ = ["dawid_skene"]

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from sfumato.aggregate import em
from sfumato.aggregate.blocks import Floats
from sfumato.aggregate.confusion import (
    ConfusionPrior,
    Prior,
    Start,
    centre_of,
    check_confusion_memory,
    confusion_of,
    strength_of,
    votes_in,
)
from sfumato.aggregate.engines import Engine, EngineName, open_engine
from sfumato.aggregate.engines.chunk import Expectation
from sfumato.aggregate.result import Result
from sfumato.aggregate.tables import FullTable
from sfumato.core.annotations import Annotations
from sfumato.core.arguments import checked_arguments
from sfumato.core.seeds import Seed
from sfumato.core.simplex import normalise
from sfumato.errors import check_choice

# Numbers of the table that are made at a time.
_CACHED = 1 << 15


@checked_arguments
def dawid_skene(
    annotations: Annotations,
    *,
    prior: Prior = "pooled",
    strength: float | None = None,
    start: Start = "shares",
    stop: em.Stop = "objective",
    tolerance: float = 1e-6,
    max_iter: int = 500,
    dtype: Literal["float64", "float32"] = "float64",
    engine: EngineName = "threads",
    threads: int | None = None,
    memory_limit: int | None = None,
    seed: Seed = 0,
    progress: Callable[[em.Iteration], None] | None = None,
) -> Result:
    """Return the posterior over classes under a confusion matrix per annotator, by EM.

    The objective is Σ_i log Σ_k π_k Π_(j,l) θ_j[k,l]^w + Σ_jkl a[k,l] log θ_j[k,l] + Σ_k b log π_k: the log-likelihood
    and the log density of Dirichlet priors with pseudo-counts a and b. *prior* is "pooled" (a is centred on the pool
    of all annotators), "dirichlet" (a is even over the labels), both with *strength* = Σ_l a[k,l] (8 if not given), or
    "ml" (a = b = 0: pure maximum likelihood, as in the paper). *start* is each item's vote shares or its majority (ties
    share); *stop* and *tolerance* say when to stop (`em.fit`). Nothing is left to chance: *seed* changes nothing.

    >>> votes = Annotations.from_rows(list("aaabbbccc"), list("xyzxyzxyz"), list("110001111"))
    >>> dawid_skene(votes, prior="ml", tolerance=1e-9).soft_labels.probs.round(3).tolist()
    [[0.0, 1.0], [1.0, 0.0], [0.0, 1.0]]
    """
    check_choice(prior, get_args(Prior), option="prior")
    check_choice(start, get_args(Start), option="start")
    strength = strength_of(prior, strength)
    with open_engine(annotations, engine=engine, threads=threads, dtype=dtype) as opened:
        check_confusion_memory(opened, memory_limit, at_once=4)
        model = _DawidSkene(prior, strength, start)
        found = em.fit(model, opened, max_iter=max_iter, tolerance=tolerance, stop=stop, seed=seed, progress=progress)
        confusion = confusion_of(found.parameters.values, annotations.n_classes)
        options: dict[str, Any] = {
            "prior": prior,
            "start": start,
            "stop": stop,
            "tolerance": tolerance,
            "max_iter": max_iter,
        }
        if prior != "ml":
            options["strength"] = strength
        if dtype != "float64":
            options["dtype"] = dtype
        return em.result(
            annotations, opened, found, method="dawid_skene", options=options, seed=seed,
            competence=confusion.diagonal(axis1=1, axis2=2) @ found.table.prior(), confusion=confusion,
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class _Parameters:
    """log θ as a table, log π, and the prior with its log density at them."""

    values: Floats
    log_prior: Floats
    pseudo: ConfusionPrior
    penalty: float


class _DawidSkene:
    """What `em.fit` asks of the model."""

    def __init__(self, prior: Prior, strength: float, start: Start) -> None:
        self._prior: Prior = prior
        self._strength = strength
        self._start: Start = start

    def start(self, engine: Engine, rng: np.random.Generator) -> _Parameters:
        expected = votes_in(engine, self._start)
        pseudo = centre_of(self._prior, self._strength, expected, engine.matrix.n_classes)
        return self._best_for(expected, pseudo)

    def table(self, parameters: _Parameters) -> FullTable:
        return FullTable(parameters.values, parameters.log_prior)

    def penalty(self, parameters: _Parameters) -> float:
        return parameters.penalty

    def maximise(self, parameters: _Parameters, expected: Expectation) -> _Parameters:
        return self._best_for(expected, parameters.pseudo)

    def _best_for(self, expected: Expectation, pseudo: ConfusionPrior) -> _Parameters:
        n_classes = len(pseudo.classes)
        # Everything in place, a few annotators at a time that stay in the cache: the counts become the table.
        values = expected.counts.reshape(-1, n_classes, n_classes)
        added, log_sums = pseudo.confusion.astype(values.dtype), np.zeros((n_classes, n_classes))
        step = max(1, _CACHED // n_classes**2)
        with np.errstate(divide="ignore"):
            for first in range(0, len(values), step):
                part = values[first : first + step]
                part += added
                total = part.sum(axis=1, keepdims=True)
                np.log(part, out=part)
                # Under maximum likelihood an annotator may never have met a class. The row then stays without mass
                # (0/0 = 0, as in the paper's program): what no posterior supports at the start never comes back.
                part -= np.log(np.where(total == 0, 1, total))
                if self._prior != "ml":
                    log_sums += part.sum(axis=0, dtype=np.float64)
            log_prior = np.log(normalise(expected.state_counts + pseudo.classes))
        penalty = 0.0
        if self._prior != "ml":
            penalty = float((pseudo.confusion * log_sums).sum() + pseudo.classes @ log_prior)
        return _Parameters(values.reshape(-1, n_classes), log_prior.astype(values.dtype), pseudo, penalty)
