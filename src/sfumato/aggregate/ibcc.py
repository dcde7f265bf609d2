"""Independent Bayesian classifier combination: Dawid and Skene's model with Dirichlet posteriors, fitted variationally.

H.-C. Kim and Z. Ghahramani (2012), Bayesian classifier combination, AISTATS; E. Simpson, S. Roberts, I. Psorakis and
A. Smith (2013), Dynamic Bayesian combination of multiple imperfect classifiers (the variational form).
"""

from __future__ import annotations

__all__ = ["ibcc"]

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from sfumato.aggregate import em
from sfumato.aggregate.blocks import Floats
from sfumato.aggregate.confusion import ConfusionPrior, Prior, Start, centre_of, check_confusion_memory, votes_in
from sfumato.aggregate.dirichlet import dirichlet_divergence, expected_logs
from sfumato.aggregate.engines import Engine, EngineName, open_engine
from sfumato.aggregate.engines.chunk import Expectation
from sfumato.aggregate.result import Result
from sfumato.aggregate.tables import FullTable
from sfumato.core.annotations import Annotations
from sfumato.core.arguments import checked_arguments
from sfumato.core.seeds import Seed
from sfumato.errors import OptionError, check_choice

IbccPrior = Literal["pooled", "dirichlet"]


@checked_arguments
def ibcc(
    annotations: Annotations,
    *,
    prior: IbccPrior = "pooled",
    strength: float = 8.0,
    start: Start = "shares",
    tolerance: float = 1e-6,
    max_iter: int = 500,
    dtype: Literal["float64", "float32"] = "float64",
    engine: EngineName = "threads",
    threads: int | None = None,
    memory_limit: int | None = None,
    seed: Seed = 0,
    progress: Callable[[em.Iteration], None] | None = None,
) -> Result:
    """Return the variational posterior over classes; the uncertainty about the confusion matrices enters it.

    q(z) q(π) Π_jk q(θ_j[k]) with Dirichlet factors; priors π ~ Dirichlet(1 + 1/n_classes) and
    θ_j[k] ~ Dirichlet(a[k]), with Σ_l a[k,l] = *strength*, centred as in `dawid_skene`. The objective is the evidence
    lower bound, which only rises; ``confusion`` holds the posterior means.

    >>> votes = Annotations.from_rows(list("aaabbbccc"), list("xyzxyzxyz"), list("110001111"))
    >>> ibcc(votes).soft_labels.top()
    ('1', '0', '1')
    """
    check_choice(prior, get_args(IbccPrior), option="prior")
    check_choice(start, get_args(Start), option="start")
    if not 0 < strength < np.inf:
        raise OptionError(f"The option 'strength' must be more than 0. Got {strength}.")
    with open_engine(annotations, engine=engine, threads=threads, dtype=dtype) as opened:
        check_confusion_memory(opened, memory_limit, at_once=6)
        model = _Ibcc(prior, strength, start, opened.matrix.dtype)
        found = em.fit(model, opened, max_iter=max_iter, tolerance=tolerance, seed=seed, progress=progress)
        alpha = found.parameters.alpha
        confusion = (alpha / alpha.sum(axis=1, keepdims=True)).swapaxes(1, 2)
        classes = found.parameters.class_alpha / found.parameters.class_alpha.sum()
        options: dict[str, Any] = {
            "prior": prior, "strength": strength, "start": start, "tolerance": tolerance, "max_iter": max_iter,
        }  # fmt: skip
        if dtype != "float64":
            options["dtype"] = dtype
        return em.result(
            annotations, opened, found, method="ibcc", options=options, seed=seed,
            competence=confusion.diagonal(axis1=1, axis2=2) @ classes, confusion=confusion, class_prior=classes,
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class _Parameters:
    """The parameters of q: ``alpha``, shape (n_annotators, labels, classes), and ``class_alpha``; and the prior's."""

    alpha: NDArray[np.float64]
    class_alpha: NDArray[np.float64]
    prior: ConfusionPrior


class _Ibcc:
    """What `em.fit` asks of the model."""

    def __init__(self, prior: Prior, strength: float, start: Start, dtype: np.dtype[Any]) -> None:
        self._prior: Prior = prior
        self._strength = strength
        self._start: Start = start
        self._dtype = dtype

    def start(self, engine: Engine, rng: np.random.Generator) -> _Parameters:
        expected = votes_in(engine, self._start)
        prior = centre_of(self._prior, self._strength, expected, engine.matrix.n_classes)
        return self._best_for(expected, prior)

    def table(self, parameters: _Parameters) -> FullTable:
        alpha = parameters.alpha
        values: Floats = expected_logs(alpha, axis=-2).reshape(-1, alpha.shape[-1])
        log_prior: Floats = expected_logs(parameters.class_alpha)
        return FullTable(values.astype(self._dtype, copy=False), log_prior.astype(self._dtype, copy=False))

    def penalty(self, parameters: _Parameters) -> float:
        return -dirichlet_divergence(parameters.alpha, parameters.prior.confusion, axis=-2) - dirichlet_divergence(
            parameters.class_alpha, 1 + parameters.prior.classes
        )

    def maximise(self, parameters: _Parameters, expected: Expectation) -> _Parameters:
        return self._best_for(expected, parameters.prior)

    def _best_for(self, expected: Expectation, prior: ConfusionPrior) -> _Parameters:
        n_classes = len(prior.classes)
        return _Parameters(
            alpha=expected.counts.reshape(-1, n_classes, n_classes) + prior.confusion,
            class_alpha=expected.state_counts + 1 + prior.classes,
            prior=prior,
        )
