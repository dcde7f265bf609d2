"""MACE: an annotator knows the class, or answers by a distribution of their own.

D. Hovy, T. Berg-Kirkpatrick, A. Vaswani and E. Hovy (2013), Learning whom to trust with MACE, NAACL-HLT. Annotator j
gives the true class with probability 1 − θ_j, and else draws a label from ξ_j; all classes are equally likely.
"""

from __future__ import annotations

__all__ = ["mace"]

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from sfumato.aggregate import em
from sfumato.aggregate.confusion import implied_confusion
from sfumato.aggregate.dirichlet import dirichlet_divergence, expected_logs
from sfumato.aggregate.engines import Engine, EngineName, open_engine
from sfumato.aggregate.engines.chunk import Expectation
from sfumato.aggregate.result import Result
from sfumato.aggregate.tables import DiagonalTable
from sfumato.core.annotations import Annotations
from sfumato.core.arguments import checked_arguments
from sfumato.core.seeds import Seed
from sfumato.core.simplex import normalise
from sfumato.errors import OptionError, check_choice

MaceFit = Literal["variational", "em"]
# The priors of each fit, where none are given.
_USUAL: dict[MaceFit, dict[str, float]] = {
    "variational": {"alpha": 0.5, "beta": 0.5, "strategy_prior": 10.0},
    "em": {},
}


@checked_arguments
def mace(
    annotations: Annotations,
    *,
    fit: MaceFit = "variational",
    restarts: int = 10,
    max_iter: int = 500,
    tolerance: float = 1e-6,
    alpha: float | None = None,
    beta: float | None = None,
    strategy_prior: float | None = None,
    smoothing: float | None = None,
    noise: float = 0.5,
    dtype: Literal["float64", "float32"] = "float64",
    engine: EngineName = "threads",
    threads: int | None = None,
    seed: Seed = 0,
    progress: Callable[[em.Iteration], None] | None = None,
) -> Result:
    """Return the posterior over classes under MACE, the best of several restarts.

    *fit* "variational" has the priors θ_j ~ Beta(*beta*, *alpha*) (alpha for knowing; both 0.5 if not given) and
    ξ_j ~ Dirichlet(*strategy_prior*) (10), and its objective is the evidence lower bound; "em" adds *smoothing*
    (0.01/n_classes if not given) to every count, and its objective is the log-likelihood with that prior. Both only
    rise. Each restart begins with parameters of its own: counts of 1 + *noise*·U(0, 1), normalised. The priors
    and the noise are those of the authors' program (which stops after 50 iterations, wherever it is then).
    ``competence`` is the probability of a right answer, 1 − θ_j + θ_j/n_classes.

    >>> votes = Annotations.from_rows(list("aaabbbccc"), list("xyzxyzxyz"), list("110001111"))
    >>> mace(votes).soft_labels.top()
    ('1', '0', '1')
    """
    check_choice(fit, get_args(MaceFit), option="fit")
    given = {"alpha": alpha, "beta": beta, "strategy_prior": strategy_prior, "smoothing": smoothing}
    usual = _USUAL[fit] | ({"smoothing": 0.01 / annotations.n_classes} if fit == "em" else {})
    for option, value in given.items():
        if value is not None and option not in usual:
            raise OptionError(f"The option '{option}' is none of fit={fit!r}, which takes {', '.join(usual)}.")
    priors = usual | {option: value for option, value in given.items() if value is not None}
    for option, value in priors.items():
        if not 0 < value < np.inf:
            raise OptionError(f"The option '{option}' must be more than 0. Got {value} instead.")
    if not 0 <= noise < np.inf:
        raise OptionError(f"The option 'noise' must be 0 or more. Got {noise} instead.")
    with open_engine(annotations, engine=engine, threads=threads, dtype=dtype) as opened:
        if fit == "variational":
            knowing = np.array([priors["alpha"], priors["beta"]])
            model = _Mace(opened, knowing, priors["strategy_prior"], noise, variational=True)
        else:
            added = priors["smoothing"]
            model = _Mace(opened, np.array([added, added]), added, noise, variational=False)
        found = em.fit(
            model, opened, restarts=restarts, max_iter=max_iter, tolerance=tolerance, seed=seed, progress=progress
        )
        options: dict[str, Any] = {
            **priors, "fit": fit, "restarts": restarts, "max_iter": max_iter, "tolerance": tolerance, "noise": noise,
        }  # fmt: skip
        if dtype != "float64":
            options["dtype"] = dtype
        knows, strategy = normalise(found.parameters.knows)[:, 0], normalise(found.parameters.strategy)
        return em.result(
            annotations, opened, found, method="mace", options=options, seed=seed,
            competence=knows + (1 - knows) / annotations.n_classes,
            confusion=implied_confusion((1 - knows)[:, None] * strategy, knows),
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class _Parameters:
    """Counts with their priors (the parameters of q, or what is normalised), and the logs that the table needs.

    ``knows`` has shape (n_annotators, 2): knowing, guessing; ``strategy`` (n_annotators, n_classes).
    """

    knows: NDArray[np.float64]
    strategy: NDArray[np.float64]
    log_knows: NDArray[np.float64]
    log_strategy: NDArray[np.float64]

    @property
    def log_guess(self) -> NDArray[np.float64]:
        """log p(guesses, and guesses this label), shape (n_annotators, n_classes)."""
        return self.log_knows[:, 1:] + self.log_strategy


class _Mace:
    """What `em.fit` asks of the model."""

    def __init__(
        self,
        engine: Engine,
        knows_prior: NDArray[np.float64],
        strategy_prior: float,
        noise: float,
        *,
        variational: bool,
    ) -> None:
        matrix = engine.matrix
        self._shape = (matrix.n_annotators, matrix.n_classes)
        self._dtype = matrix.dtype
        self._totals = matrix.column_totals.reshape(self._shape)
        self._knows_prior = knows_prior
        self._strategy_prior = np.full(matrix.n_classes, strategy_prior)
        self._noise = noise
        self._variational = variational

    def start(self, engine: Engine, rng: np.random.Generator) -> _Parameters:
        n_annotators, n_classes = self._shape
        return self._parameters(
            1 + self._noise * rng.random((n_annotators, 2)), 1 + self._noise * rng.random((n_annotators, n_classes))
        )

    def table(self, parameters: _Parameters) -> DiagonalTable:
        log_guess = parameters.log_guess
        # log(p(knows) + p(guesses the label)) − log p(guesses the label)
        gain = np.logaddexp(0, parameters.log_knows[:, :1] - log_guess)
        return DiagonalTable(
            gain=gain.reshape(-1).astype(self._dtype),
            log_prior=np.full(self._shape[1], -np.log(self._shape[1]), dtype=self._dtype),
            shared=float((self._totals * log_guess).sum()),
        )

    def penalty(self, parameters: _Parameters) -> float:
        if self._variational:
            return -dirichlet_divergence(parameters.knows, self._knows_prior) - dirichlet_divergence(
                parameters.strategy, self._strategy_prior
            )
        knows, strategy = self._knows_prior * parameters.log_knows, self._strategy_prior * parameters.log_strategy
        return float(knows.sum() + strategy.sum())

    def maximise(self, parameters: _Parameters, expected: Expectation) -> _Parameters:
        agreed = expected.counts.reshape(self._shape).astype(np.float64)
        # Of the mass where label and class agree, the share that was known rather than guessed.
        known = agreed / (1 + np.exp(parameters.log_guess - parameters.log_knows[:, :1]))
        guessed = self._totals - known
        knows = np.stack([known.sum(axis=1), guessed.sum(axis=1)], axis=1)
        return self._parameters(knows + self._knows_prior, guessed + self._strategy_prior)

    def _parameters(self, knows: NDArray[np.float64], strategy: NDArray[np.float64]) -> _Parameters:
        if self._variational:
            return _Parameters(knows, strategy, expected_logs(knows), expected_logs(strategy))
        return _Parameters(knows, strategy, np.log(normalise(knows)), np.log(normalise(strategy)))
