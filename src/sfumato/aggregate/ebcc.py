"""EBCC: annotators make the same mistakes on the same kind of item."""

from __future__ import annotations

__all__ = ["ebcc"]

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.aggregate import em
from sfumato.aggregate.blocks import AnnotationMatrix, Block, Floats
from sfumato.aggregate.dirichlet import dirichlet_divergence, expected_logs
from sfumato.aggregate.engines import Engine, EngineName, open_engine
from sfumato.aggregate.engines.chunk import Expectation
from sfumato.aggregate.memory import check_memory
from sfumato.aggregate.result import Latent, Result
from sfumato.aggregate.tables import FullTable, Scratch
from sfumato.core.annotations import Annotations
from sfumato.core.arguments import checked_arguments
from sfumato.core.seeds import Seed
from sfumato.core.simplex import normalise
from sfumato.errors import OptionError, check_choice

ClassPrior = Literal["votes", "flat"]

# A state with less than this of an item, over all items, is empty.
_EMPTY = 1e-12
# An empty state to which an item would give this much after all was left out wrongly.
_REVIVED = 1e-6


@checked_arguments
def ebcc(
    annotations: Annotations,
    *,
    subtypes: int = 10,
    restarts: int = 10,
    class_prior: ClassPrior = "votes",
    concentration: float = 0.1,
    right: float = 4.0,
    wrong: float = 1.0,
    max_iter: int = 500,
    tolerance: float = 1e-6,
    engine: EngineName = "threads",
    threads: int | None = None,
    dtype: Literal["float64", "float32"] = "float64",
    seed: Seed = 0,
    progress: Callable[[em.Iteration], None] | None = None,
) -> Result:
    """Return the posterior of each item's class where the errors of annotators may correlate.

    Enhanced Bayesian classifier combination (Li, Rubinstein & Cohn 2019, "Exploiting Worker Correlation for Label
    Aggregation in Crowdsourcing"). Each class k is a mixture of *subtypes* kinds of items, and given class and
    subtype m annotator j answers from a distribution v_jkm of its own:

        τ ~ Dir(α)   z_i ~ τ   π_k ~ Dir(concentration / subtypes)   g_i | z_i = k ~ π_k   label_ij ~ v_j,z_i,g_i
        v_jkm ~ Dir(β_k), where β_kk = *right* and β_kl = *wrong* for the other labels l

    with α_k the sum of the vote shares of k over all items, at least 1 (*class_prior* "votes", as in the authors'
    experiments), or 1 ("flat"). Mean-field variational Bayes: q(z_i, g_i) q(τ) Π q(π_k) Π q(v_jkm). ``trace`` is the
    evidence lower bound, which never falls; of *restarts* starts with random subtypes the one with the highest bound
    is returned. A start ends when the bound rises by at most *tolerance* times its size. The soft labels, the bound
    and the draws of an item depend neither on the order of the rows nor on the number of *threads*.

    Confusion matrices are means over the subtypes, π_k weighing them, and competence their diagonal under τ.

    >>> votes = Annotations.from_rows(list("aaabbbccc"), list("xyz" * 3), list("110001110"))
    >>> ebcc(votes, subtypes=2).soft_labels.top()
    ('1', '0', '1')
    """
    check_choice(class_prior, ("votes", "flat"), option="class_prior")
    if subtypes < 1:
        raise OptionError(f"The option 'subtypes' must be at least 1. Got {subtypes} instead.")
    for value, option in ((concentration, "concentration"), (right, "right"), (wrong, "wrong")):
        if not 0 < value < np.inf:
            raise OptionError(f"The option '{option}' must be a positive number. Got {value} instead.")
    n_states = annotations.n_classes * subtypes
    n_columns = annotations.n_annotators * annotations.n_classes
    check_memory(
        8 * (6 * n_states * n_columns + 2 * (subtypes + 1) * annotations.n_classes * annotations.n_items),
        what=f"EBCC of {annotations.n_annotators:,} annotators with {annotations.n_classes:,} × {subtypes} subtypes",
        instead="Use fewer subtypes, or a method without confusion matrices such as 'glad'.",
    )
    options = {
        "subtypes": subtypes, "restarts": restarts, "class_prior": class_prior, "concentration": concentration,
        "right": right, "wrong": wrong, "max_iter": max_iter, "tolerance": tolerance, "dtype": dtype,
    }  # fmt: skip
    with open_engine(annotations, engine=engine, threads=threads, dtype=dtype) as opened:
        model = _Model(annotations, opened.matrix, subtypes, class_prior, concentration, right, wrong)
        while True:
            found = em.fit(
                model, opened, restarts=restarts, max_iter=max_iter, tolerance=tolerance, seed=seed, progress=progress
            )
            closing, column_class, n_held = model.closing_table(found.parameters)
            states = opened.posterior(closing)
            if states[:, n_held:].sum(axis=1).max(initial=0) <= _REVIVED:
                break
            model.prune = False
        confusion, share = model.confusion(found.parameters), found.parameters.tau / found.parameters.tau.sum()
        probs = states @ np.eye(annotations.n_classes, dtype=states.dtype)[column_class]
        probs[annotations.per_item() == 0] = share
        # Sums of many float32 terms may miss 1 by more than rounding.
        probs /= probs.sum(axis=1, keepdims=True)
        used = np.count_nonzero(found.parameters.pi.reshape(-1) > model.pi_prior + 1)
        result = em.result(
            annotations, opened, found, method="ebcc", options=options, seed=seed, probs=probs,
            confusion=confusion, competence=confusion.diagonal(axis1=1, axis2=2) @ share, class_prior=share,
            notes=(f"{used} of {n_states} subtypes hold more than one item.",),
        )  # fmt: skip
        return replace(result, latent=model.latent(found.parameters, states, opened.matrix.annotator_order))


@dataclass(frozen=True, eq=False)
class _Posterior:
    """The parameters of the Dirichlet posteriors, and the table that they give.

    ``tau`` has shape (n_classes,), ``pi`` (n_classes, n_subtypes), ``labels`` (n_annotators, n_labels, len(states)),
    where ``states`` are the pairs of class and subtype, class-major, that still hold items; at the others the posterior
    of the labels is the prior. ``divergence`` is the sum of the KL divergences from the priors.
    """

    tau: NDArray[np.float64]
    pi: NDArray[np.float64]
    labels: NDArray[np.float64]
    states: NDArray[np.int64]
    table: FullTable
    divergence: float


class _Model:
    """EBCC as a latent-class model whose states are pairs of class and subtype.

    A small *concentration* empties most subtypes within a few iterations, and an empty one stays empty: its expected
    log-share is about −subtypes / concentration. They are left out of the products, which then cost a fraction.
    """

    def __init__(
        self,
        annotations: Annotations,
        matrix: AnnotationMatrix,
        subtypes: int,
        class_prior: ClassPrior,
        concentration: float,
        right: float,
        wrong: float,
    ) -> None:
        n_classes = annotations.n_classes
        self.shape = (annotations.n_annotators, n_classes, n_classes * subtypes)
        self.subtypes, self.dtype, self.prune = subtypes, matrix.dtype, True
        self.tau_prior = np.ones(n_classes)
        if class_prior == "votes":
            shares = normalise(annotations.counts()[matrix.item_order])
            # Without a floor a class that nobody gave would have an improper prior.
            self.tau_prior = np.maximum(1, shares.sum(axis=0))
        self.pi_prior = concentration / subtypes
        label_prior = np.full((n_classes, n_classes), wrong)
        np.fill_diagonal(label_prior, right)
        self.label_prior = np.repeat(label_prior, subtypes, axis=1)
        # Drawn class by class in the order of their names, so that the order of the classes decides nothing.
        self.class_rank = np.argsort(np.argsort(np.array(annotations.classes, dtype=object)))

    def start(self, engine: Engine, rng: np.random.Generator) -> _Posterior:
        key = int(rng.integers(2**63))
        expected = engine.expect(_RandomSubtypes(self.shape, self.subtypes, self.class_rank, key))
        return self._posterior(np.arange(self.shape[2]), expected.counts, expected.state_counts)

    def maximise(self, parameters: _Posterior, expected: Expectation) -> _Posterior:
        states, counts, in_state = parameters.states, expected.counts, expected.state_counts
        held = in_state >= _EMPTY
        # Fewer states mean other blocks and new room for them: done when a tenth of the work is saved.
        if self.prune and 0 < held.sum() <= 0.9 * len(states):
            states, counts, in_state = states[held], counts[:, held], in_state[held]
        return self._posterior(states, counts, in_state)

    def table(self, parameters: _Posterior) -> FullTable:
        return parameters.table

    def penalty(self, parameters: _Posterior) -> float:
        return -parameters.divergence

    def closing_table(self, parameters: _Posterior) -> tuple[FullTable, NDArray[np.int64], int]:
        """Return the table with the empty states back in it, the class of each column, and how many were not empty.

        The empty states of a class all have the prior's distribution of labels and the same share: one column for all.
        """
        held = np.zeros(self.shape[2], dtype=np.bool_)
        held[parameters.states] = True
        empty = self.subtypes - held.reshape(-1, self.subtypes).sum(axis=1)
        classes = np.flatnonzero(empty)
        one = classes * self.subtypes + held.reshape(-1, self.subtypes).argmin(axis=1)[classes]
        log_share = expected_logs(parameters.tau)[:, None] + expected_logs(parameters.pi)
        log_of_one = log_share.reshape(-1)[one] + np.log(empty[classes])
        labels = np.tile(expected_logs(self.label_prior[:, one], axis=0), (self.shape[0], 1))
        table = FullTable(
            np.hstack([parameters.table.values, labels.astype(self.dtype, copy=False)]),
            np.append(parameters.table.log_prior, log_of_one).astype(self.dtype, copy=False),
        )
        return table, np.append(parameters.states // self.subtypes, classes), len(parameters.states)

    def confusion(self, parameters: _Posterior) -> NDArray[np.float64]:
        """Return p(label | class) of each annotator, shape (n_annotators, n_classes, n_classes), the class first."""
        labels = parameters.labels / parameters.labels.sum(axis=1, keepdims=True)
        share = (parameters.pi / parameters.pi.sum(axis=1, keepdims=True)).reshape(-1)[parameters.states]
        confusion = np.empty((self.shape[0], self.shape[1], self.shape[1]))
        for k in range(self.shape[1]):
            own = parameters.states // self.subtypes == k
            prior = self.label_prior[:, k * self.subtypes]
            confusion[:, k] = labels[:, :, own] @ share[own] + (1 - share[own].sum()) * prior / prior.sum()
        return confusion

    def latent(self, parameters: _Posterior, states: Floats, order: NDArray[np.int64]) -> Latent:
        """Return the states that hold items, for annotators in their own order; *order* is the matrix's."""
        labels = np.empty_like(parameters.labels)
        labels[order] = parameters.labels / parameters.labels.sum(axis=1, keepdims=True)
        return Latent(normalise(states[:, : len(parameters.states)]), labels)

    def _posterior(self, states: NDArray[np.int64], counts: Floats, in_state: Floats) -> _Posterior:
        held = np.zeros(self.shape[2])
        held[states] = in_state
        pi = self.pi_prior + held.reshape(-1, self.subtypes)
        tau = self.tau_prior + held.reshape(-1, self.subtypes).sum(axis=1)
        label_prior = self.label_prior[:, states]
        labels = counts.reshape(*self.shape[:2], len(states)) + label_prior
        log_tau, log_pi, log_labels = expected_logs(tau), expected_logs(pi), expected_logs(labels, axis=-2)
        divergence = (
            dirichlet_divergence(tau, self.tau_prior, logs=log_tau)
            + dirichlet_divergence(pi, np.full(self.subtypes, self.pi_prior), logs=log_pi)
            + dirichlet_divergence(labels, label_prior, axis=-2, logs=log_labels)
        )
        table = FullTable(
            log_labels.reshape(-1, len(states)).astype(self.dtype, copy=False),
            (log_tau[:, None] + log_pi).reshape(-1)[states].astype(self.dtype, copy=False),
        )
        return _Posterior(tau, pi, labels, states, table, divergence)


@dataclass(frozen=True, eq=False)
class _RandomSubtypes:
    """Not a model but a start: an item's vote shares, each split among the subtypes by a draw from Dir(1, …, 1).

    The draws of an item depend on *key* and its place in the matrix alone.
    """

    shape: tuple[int, int, int]
    subtypes: int
    class_rank: NDArray[np.int64]
    key: int

    @property
    def n_states(self) -> int:
        return self.shape[2]

    @property
    def counts_shape(self) -> tuple[int, ...]:
        return self.shape[0] * self.shape[1], self.shape[2]

    @property
    def shared(self) -> float:
        return 0.0

    def posterior(self, block: Block, scratch: Scratch) -> tuple[Floats, float]:
        n_classes = self.shape[1]
        owner = np.repeat(np.arange(block.size), np.diff(block.offsets))
        cells = owner * n_classes + block.columns % n_classes
        votes = np.bincount(cells, weights=block.weights, minlength=block.size * n_classes)
        shares = normalise(votes.reshape(block.size, n_classes))
        # Philox makes four numbers per step of its counter: with room for a multiple of four, each item has its own.
        room = -(-self.n_states // 4)
        bits = np.random.Philox(key=self.key)
        bits.advance(block.start * room)
        uniform = np.random.Generator(bits).random((block.size, 4 * room))[:, : self.n_states]
        split = -np.log1p(-uniform).reshape(block.size, n_classes, self.subtypes)[:, self.class_rank]
        split *= (shares / split.sum(axis=2))[:, :, None]
        rows = scratch.rows(block.size)
        rows[:] = split.reshape(block.size, -1)
        return rows, 0.0

    def add_counts(self, block: Block, posterior: Floats, counts: Floats) -> None:
        FullTable(counts, np.zeros(self.n_states)).add_counts(block, posterior, counts)

    def prior(self) -> NDArray[np.float64]:
        return np.full(self.n_states, 1 / self.n_states)
