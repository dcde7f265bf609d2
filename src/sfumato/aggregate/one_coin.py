"""The one-coin model: each annotator has one accuracy, whatever the class.

Dawid and Skene's model with θ_j[k,l] = p_j where l = k, and (1 − p_j)/(n_classes − 1) elsewhere.
"""

from __future__ import annotations

__all__ = ["one_coin"]

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from sfumato.aggregate import em
from sfumato.aggregate.confusion import Start, implied_confusion, no_gain, strength_of
from sfumato.aggregate.engines import Engine, EngineName, open_engine
from sfumato.aggregate.engines.chunk import Expectation
from sfumato.aggregate.result import Result
from sfumato.aggregate.tables import DiagonalTable, VoteTable
from sfumato.core.annotations import Annotations
from sfumato.core.arguments import checked_arguments
from sfumato.core.seeds import Seed
from sfumato.core.simplex import normalise
from sfumato.errors import check_choice

Prior = Literal["pooled", "ml"]
ClassPrior = Literal["uniform", "estimated"]

# An accuracy of exactly 0 or 1 would make the score of a class infinite; this far from them the log-likelihood of an
# annotation that fits changes by 1e-12.
_EDGE = 1e-12


@checked_arguments
def one_coin(
    annotations: Annotations,
    *,
    prior: Prior = "pooled",
    strength: float | None = None,
    class_prior: ClassPrior = "uniform",
    start: Start = "shares",
    tolerance: float = 1e-6,
    max_iter: int = 500,
    dtype: Literal["float64", "float32"] = "float64",
    engine: EngineName = "threads",
    threads: int | None = None,
    seed: Seed = 0,
    progress: Callable[[em.Iteration], None] | None = None,
) -> Result:
    """Return the posterior over classes under one accuracy per annotator, by EM.

    The objective is the log-likelihood, plus for *prior* "pooled" the log density of a Beta prior on each accuracy,
    worth *strength* pseudo-annotations (8 if not given) and centred on the accuracy of all annotators at the start;
    "ml" has none.
    *class_prior* is "uniform" or "estimated": one accuracy cannot tell a frequent class from a label that is given too
    often, and an estimated prior then feeds on itself.
    Time and memory grow with the annotations and the posterior, never with annotators × classes². The other options
    are those of `dawid_skene`.

    >>> votes = Annotations.from_rows(list("aaabbbccc"), list("xyzxyzxyz"), list("110001111"))
    >>> one_coin(votes).annotators.competence.round(3).tolist()
    [0.713, 0.713, 0.603]
    """
    check_choice(prior, get_args(Prior), option="prior")
    check_choice(class_prior, get_args(ClassPrior), option="class_prior")
    check_choice(start, get_args(Start), option="start")
    strength = strength_of(prior, strength)
    with open_engine(annotations, engine=engine, threads=threads, dtype=dtype) as opened:
        model = _OneCoin(opened, strength, class_prior, start)
        found = em.fit(model, opened, max_iter=max_iter, tolerance=tolerance, seed=seed, progress=progress)
        options: dict[str, Any] = {
            "prior": prior, "class_prior": class_prior, "start": start,
            "tolerance": tolerance, "max_iter": max_iter,
        }  # fmt: skip
        if prior != "ml":
            options["strength"] = strength
        if dtype != "float64":
            options["dtype"] = dtype
        accuracy = found.parameters.accuracy
        other = _other(accuracy, annotations.n_classes)
        return em.result(
            annotations, opened, found, method="one_coin", options=options, seed=seed, competence=accuracy,
            confusion=implied_confusion(np.repeat(other[:, None], annotations.n_classes, axis=1), accuracy - other),
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class _Parameters:
    """The accuracies, log π, and the Beta prior's centre."""

    accuracy: NDArray[np.float64]
    log_prior: NDArray[np.float64]
    centre: float


class _OneCoin:
    """What `em.fit` asks of the model."""

    def __init__(self, engine: Engine, strength: float, class_prior: ClassPrior, start: Start) -> None:
        matrix = engine.matrix
        self._n_classes = matrix.n_classes
        self._dtype = matrix.dtype
        self._totals = matrix.column_totals.reshape(-1, matrix.n_classes).sum(axis=1)
        self._strength = strength
        self._class_prior: ClassPrior = class_prior
        self._start: Start = start

    def start(self, engine: Engine, rng: np.random.Generator) -> _Parameters:
        expected = engine.expect(VoteTable(self._start, no_gain(engine.matrix)))
        agreed = expected.counts.sum(dtype=np.float64)
        return self._best_for(expected, float((agreed + 1) / (self._totals.sum() + 2)))

    def table(self, parameters: _Parameters) -> DiagonalTable:
        log_other = np.log(_other(parameters.accuracy, self._n_classes))
        gain = np.repeat(np.log(parameters.accuracy) - log_other, self._n_classes)
        return DiagonalTable(
            gain=gain.astype(self._dtype), log_prior=parameters.log_prior.astype(self._dtype),
            shared=float(self._totals @ log_other),
        )  # fmt: skip

    def penalty(self, parameters: _Parameters) -> float:
        right, wrong = np.log(parameters.accuracy).sum(), np.log1p(-parameters.accuracy).sum()
        return float(self._strength * (parameters.centre * right + (1 - parameters.centre) * wrong))

    def maximise(self, parameters: _Parameters, expected: Expectation) -> _Parameters:
        return self._best_for(expected, parameters.centre)

    def _best_for(self, expected: Expectation, centre: float) -> _Parameters:
        agreed = expected.counts.reshape(-1, self._n_classes).sum(axis=1, dtype=np.float64)
        total = self._totals + self._strength
        silent = total == 0
        accuracy = np.where(silent, centre, (agreed + self._strength * centre) / np.where(silent, 1, total))
        counts = expected.state_counts if self._class_prior == "estimated" else np.ones(self._n_classes)
        with np.errstate(divide="ignore"):
            log_prior = np.log(normalise(counts))
        return _Parameters(np.clip(accuracy, _EDGE, 1 - _EDGE), log_prior, centre)


def _other(accuracy: NDArray[np.float64], n_classes: int) -> NDArray[np.float64]:
    """Return the probability of each single wrong label."""
    return (1 - accuracy) / max(1, n_classes - 1)
