"""The one loop of every latent-class model: expectation-maximisation with restarts, an objective and its trace.

A model turns expected counts into parameters and parameters into a table; an engine turns a table into expected counts.
What is here decides when to stop, which restart wins, and what is told about it.
"""

from __future__ import annotations

__all__ = ["Fit", "Iteration", "Model", "Stop", "fit", "result"]

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Literal, NamedTuple, Protocol, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from sfumato.aggregate.engines import Engine
from sfumato.aggregate.engines.chunk import Expectation
from sfumato.aggregate.result import AnnotatorSkills, Result
from sfumato.aggregate.tables import Table
from sfumato.aggregate.unseen import unseen
from sfumato.core.annotations import Annotations
from sfumato.core.origin import Origin
from sfumato.core.seeds import Seed, recorded, spawn
from sfumato.core.simplex import check_simplex
from sfumato.core.soft_labels import SoftLabels
from sfumato.errors import ConvergenceWarning, OptionError, check_choice

P = TypeVar("P")

Stop = Literal["objective", "class_prior"]


class Model(Protocol[P]):
    """What a latent-class model must offer; ``P`` is the type of its parameters."""

    def start(self, engine: Engine, rng: np.random.Generator) -> P:
        """Return the first parameters; *rng* is another one for each restart."""
        ...

    def table(self, parameters: P) -> Table:
        """Return the log-probabilities of the labels under *parameters*."""
        ...

    def penalty(self, parameters: P) -> float:
        """Return what the objective adds to the log-likelihood: the log prior, or −KL of a variational posterior."""
        ...

    def maximise(self, parameters: P, expected: Expectation) -> P:
        """Return the parameters that are best for the counts expected under *parameters*."""
        ...


class Iteration(NamedTuple):
    """What a progress callback is told after each iteration."""

    restart: int
    step: int
    max_iter: int
    objective: float


@dataclass(frozen=True, eq=False)
class Fit(Generic[P]):
    """The best restart: its parameters and table, and the objective after each of its iterations."""

    parameters: P
    table: Table
    converged: bool
    trace: tuple[float, ...]

    @property
    def objective(self) -> float:
        return self.trace[-1]


def fit(
    model: Model[P],
    engine: Engine,
    *,
    restarts: int = 1,
    max_iter: int = 200,
    tolerance: float = 1e-6,
    stop: Stop = "objective",
    seed: Seed = 0,
    progress: Callable[[Iteration], None] | None = None,
) -> Fit[P]:
    """Return the restart with the highest objective.

    A restart stops when the objective rises by at most *tolerance* times its size, or, with ``stop="class_prior"``,
    when Σ|Δπ| over the class prior is at most *tolerance*; at *max_iter* iterations it stops in any case, and a
    `ConvergenceWarning` says so if that restart wins.
    """
    check_choice(stop, get_args(Stop), option="stop")
    for value, option in ((restarts, "restarts"), (max_iter, "max_iter")):
        if value < 1:
            raise OptionError(f"The option '{option}' must be at least 1. Got {value} instead.")
    if not 0 <= tolerance < np.inf:
        raise OptionError(f"The option 'tolerance' must be a number, 0 or more. Got {tolerance} instead.")
    climbs = (
        _climb(model, engine, restart, rng, max_iter, tolerance, stop, progress)
        for restart, rng in enumerate(spawn(seed, restarts))
    )
    best = max(climbs, key=lambda found: found.objective)
    if not best.converged:
        wanted = f"the change of the {stop.replace('_', ' ')}"
        warnings.warn(
            f"Stopped at the limit of {max_iter} iterations before {wanted} fell below {tolerance:g}. "
            "Raise 'max_iter', or 'tolerance' if this is near enough.",
            ConvergenceWarning,
            stacklevel=4,
        )
    return best


def _climb(
    model: Model[P],
    engine: Engine,
    restart: int,
    rng: np.random.Generator,
    max_iter: int,
    tolerance: float,
    stop: Stop,
    progress: Callable[[Iteration], None] | None,
) -> Fit[P]:
    trace: list[float] = []
    converged = False
    parameters = model.start(engine, rng)
    before: Table | None = None
    while True:
        table = model.table(parameters)
        expected = engine.expect(table)
        trace.append(expected.log_likelihood + model.penalty(parameters))
        if progress is not None:
            progress(Iteration(restart, len(trace), max_iter, trace[-1]))
        if before is not None:
            if stop == "objective":
                change = abs(trace[-1] - trace[-2]) / (abs(trace[-1]) or 1)
            else:
                change = float(np.abs(table.prior() - before.prior()).sum())
            converged = change <= tolerance
        if converged or len(trace) == max_iter:
            return Fit(parameters, table, converged, tuple(trace))
        before, parameters = table, model.maximise(parameters, expected)


def result(
    annotations: Annotations,
    engine: Engine,
    found: Fit[Any],
    *,
    method: str,
    options: Mapping[str, Any],
    seed: Seed,
    competence: NDArray[np.float64],
    confusion: NDArray[np.floating[Any]] | None = None,
    probs: NDArray[np.floating[Any]] | None = None,
    class_prior: NDArray[np.float64] | None = None,
    notes: tuple[str, ...] = (),
) -> Result:
    """Return the result of a fit; *competence* and *confusion* stand in the matrix's order of annotators.

    *probs* are the soft labels where they are not simply the posterior of the fit's table.
    """
    if probs is None:
        probs = engine.posterior(found.table)
    check_simplex(probs, names=annotations.items)
    matrix = engine.matrix
    back = matrix.annotator_order
    totals = matrix.column_totals.reshape(matrix.n_annotators, matrix.n_classes)
    # The weights of an annotation sum to 1, so their sum counts the annotations.
    n_annotations = np.rint(totals.sum(axis=1)).astype(np.int64)
    return Result(
        soft_labels=SoftLabels.trusted(
            probs, annotations.items, annotations.classes,
            Origin(method, options, recorded(seed), annotations.fingerprint),
        ),
        annotators=AnnotatorSkills(
            annotators=annotations.annotators, n_annotations=_placed(n_annotations, back),
            competence=_placed(competence, back), confusion=None if confusion is None else _placed(confusion, back),
        ),
        converged=found.converged, n_iter=len(found.trace), trace=found.trace,
        class_prior=found.table.prior() if class_prior is None else class_prior,
        notes=(*unseen(annotations, annotators="the prior alone describes them"), *notes),
    )  # fmt: skip


def _placed(values: NDArray[Any], order: NDArray[np.int64]) -> NDArray[Any]:
    placed = np.empty_like(values)
    placed[order] = values
    return placed
