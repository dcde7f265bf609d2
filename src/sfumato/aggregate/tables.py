"""The two kinds of table that a latent-class model makes of its parameters, and what they do with a block.

A table gives log p(label | state, annotator); a *state* is a class, or a class with a subtype. The E-step of a block is
the product of its rows with the table and a softmax, the M-step the transposed product with the posterior. Both
products call SciPy's compiled routines on arrays that are kept, which spares an allocation per block.
"""

from __future__ import annotations

__all__ = ["DiagonalTable", "FullTable", "Scratch", "Table", "VoteTable"]

from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from sfumato.aggregate.blocks import Block, Floats, Indices

# NumPy's loops cost as much to begin as they take for a row of ten numbers, so rows are taken together in groups of
# about this many numbers; and OpenBLAS starts threads of its own only for products of more than 9,216.
_GROUP = 4096


class Scratch:
    """The arrays that a worker uses again and again, for blocks of up to *n_items* items."""

    def __init__(self, n_items: int, n_states: int, n_entries: int, dtype: np.dtype[np.floating[Any]]) -> None:
        self.n_states = n_states
        self._rows = np.empty(n_items * n_states, dtype=dtype)
        self._masses = np.empty(n_items * n_states, dtype=dtype)
        self._top = np.empty(n_items, dtype=dtype)
        self._total = np.empty(n_items, dtype=dtype)
        self._ones_by_state = np.ones(n_states, dtype=dtype)
        self._group = max(1, _GROUP // n_states)
        # Between these bounds a sum of exponentials has lost nothing to underflow that anybody could see.
        self._lowest = dtype.type(1e-100 if dtype == np.float64 else 1e-20)
        self._highest = dtype.type(1e100 if dtype == np.float64 else 1e20)
        self.ones = np.ones(n_entries, dtype=dtype)

    def rows(self, n_items: int) -> Floats:
        """Return room for (n_items, n_states)."""
        return self._rows[: n_items * self.n_states].reshape(n_items, self.n_states)

    def filled(self, n_items: int, values: Floats) -> Floats:
        """Return (n_items, n_states) with *values* in each row."""
        rows = self.rows(n_items)
        whole = n_items - n_items % self._group
        rows[:whole].reshape(-1, self._group * self.n_states)[:] = np.tile(values, self._group)
        rows[whole:] = values
        return rows

    def softmax(self, rows: Floats) -> float:
        """Turn each row of scores into its softmax, in place; return the sum of the rows' log Σ exp."""
        n_items = len(rows)
        masses, total = self._masses[: rows.size].reshape(rows.shape), self._total[:n_items]
        # Without looking for the largest score first: of a hundred annotations it is seldom below −230 or above 230.
        with np.errstate(over="ignore"):
            np.exp(rows, out=masses)
            self._row_sums(masses, total)
        if not (total.min() > self._lowest and total.max() < self._highest):
            return self._shifted_softmax(rows)
        log_total = float(np.log(total).sum(dtype=np.float64))
        np.reciprocal(total, out=total)
        np.multiply(masses, total[:, None], out=rows)
        return log_total

    def _shifted_softmax(self, rows: Floats) -> float:
        """The same for scores of any size: exp(score − largest score)."""
        n_items = len(rows)
        # Along the long axis of the transposed block every step is one vectorised loop over thousands of items.
        scores = self._masses[: rows.size].reshape(self.n_states, n_items)
        top, total = self._top[:n_items], self._total[:n_items]
        np.copyto(scores, rows.T)
        np.maximum.reduce(scores, axis=0, out=top)
        scores -= top
        np.exp(scores, out=scores)
        np.add.reduce(scores, axis=0, out=total)
        log_total = float(np.log(total).sum(dtype=np.float64) + top.sum(dtype=np.float64))
        np.reciprocal(total, out=total)
        scores *= total
        np.copyto(rows, scores.T)
        return log_total

    def _row_sums(self, rows: Floats, out: Floats) -> None:
        whole = len(rows) - len(rows) % self._group
        groups = rows[:whole].reshape(-1, self._group, self.n_states)
        np.matmul(groups, self._ones_by_state, out=out[:whole].reshape(-1, self._group))
        np.matmul(rows[whole:], self._ones_by_state, out=out[whole:])


class Table(Protocol):
    """What an engine asks of a table."""

    @property
    def n_states(self) -> int: ...
    @property
    def counts_shape(self) -> tuple[int, ...]:
        """The shape of the expected counts."""
        ...

    def posterior(self, block: Block, scratch: Scratch) -> tuple[Floats, float]:
        """Return p(state | annotations), shape (items of the block, n_states), and Σ log p(annotations)."""
        ...

    def add_counts(self, block: Block, posterior: Floats, counts: Floats) -> None:
        """Add the block's expected counts to *counts*."""
        ...

    def prior(self) -> NDArray[np.float64]:
        """Return what an item gets that nobody judged, shape (n_states,)."""
        ...

    @property
    def shared(self) -> float:
        """The part of Σ log p(annotations) that no state changes, over all annotations at once."""
        ...


@dataclass(frozen=True, eq=False)
class FullTable:
    """log p(label | state, annotator) for every column and state.

    ``values`` has shape (n_columns, n_states), ``log_prior`` (n_states,). The expected counts have the shape of
    ``values``: how often each annotator gave each label to items of each state. Every item must have a state whose
    score is finite; −inf elsewhere is welcome.
    """

    values: Floats
    log_prior: Floats

    @property
    def n_states(self) -> int:
        return len(self.log_prior)

    @property
    def counts_shape(self) -> tuple[int, ...]:
        return self.values.shape

    @property
    def shared(self) -> float:
        return 0.0

    def posterior(self, block: Block, scratch: Scratch) -> tuple[Floats, float]:
        rows = scratch.filled(block.size, self.log_prior)
        _products().csr_matvecs(
            block.size, len(self.values), self.n_states,
            block.offsets, block.columns, block.weights, self.values.reshape(-1), rows.reshape(-1),
        )  # fmt: skip
        return rows, scratch.softmax(rows)

    def add_counts(self, block: Block, posterior: Floats, counts: Floats) -> None:
        # The compressed rows of A, read as compressed columns, are Aᵀ.
        _products().csc_matvecs(
            len(self.values), block.size, self.n_states,
            block.offsets, block.columns, block.weights, posterior.reshape(-1), counts.reshape(-1),
        )  # fmt: skip

    def prior(self) -> NDArray[np.float64]:
        return _exp_normalised(self.log_prior)


@dataclass(frozen=True, eq=False)
class DiagonalTable:
    """A table of two values per column: one where the label is the class, one where it is any other.

    log p(label | class, annotator) = other[column] + ``gain``[column]·[label = class], with ``gain`` of shape
    (n_columns,). What every class shares leaves the posterior as it is, so only its sum over all annotations is kept,
    as ``shared``; ``log_prior`` has shape (n_classes,). The expected counts, shape (n_columns,), are the mass on which
    label and class agree. One number per annotation instead of a row of n_classes: however many classes there are,
    it takes no more memory or time than the posterior.
    """

    gain: Floats
    log_prior: Floats
    shared: float = 0.0

    @property
    def n_states(self) -> int:
        return len(self.log_prior)

    @property
    def counts_shape(self) -> tuple[int, ...]:
        return self.gain.shape

    def posterior(self, block: Block, scratch: Scratch) -> tuple[Floats, float]:
        rows = scratch.filled(block.size, self.log_prior)
        _products().coo_matvec(
            len(block.columns), _cells(block, self.n_states), block.columns, block.weights, self.gain, rows.reshape(-1)
        )
        return rows, scratch.softmax(rows)

    def add_counts(self, block: Block, posterior: Floats, counts: Floats) -> None:
        cells = _cells(block, self.n_states)
        _products().coo_matvec(len(cells), block.columns, cells, block.weights, posterior.reshape(-1), counts)

    def prior(self) -> NDArray[np.float64]:
        return _exp_normalised(self.log_prior)


@dataclass(frozen=True, eq=False)
class VoteTable:
    """Not a model but a start: the posterior is each item's vote shares, or its majority (ties share).

    The expected counts are those that ``like`` would count.
    """

    rule: Literal["shares", "majority"]
    like: FullTable | DiagonalTable

    @property
    def n_states(self) -> int:
        return self.like.n_states

    @property
    def counts_shape(self) -> tuple[int, ...]:
        return self.like.counts_shape

    @property
    def shared(self) -> float:
        return 0.0

    def posterior(self, block: Block, scratch: Scratch) -> tuple[Floats, float]:
        rows = scratch.rows(block.size)
        cells = _cells(block, self.n_states)
        rows[:] = np.bincount(cells, weights=block.weights, minlength=rows.size).reshape(rows.shape)
        if self.rule == "majority":
            np.equal(rows, rows.max(axis=1, keepdims=True), out=rows)
        rows /= rows.sum(axis=1, keepdims=True)
        return rows, 0.0

    def add_counts(self, block: Block, posterior: Floats, counts: Floats) -> None:
        self.like.add_counts(block, posterior, counts)

    def prior(self) -> NDArray[np.float64]:
        return np.full(self.n_states, 1 / self.n_states)


def _cells(block: Block, n_classes: int) -> Indices:
    """Return where each entry stands in the flattened (items of the block, n_classes): its item and its label."""
    items = np.arange(0, block.size * n_classes, n_classes, dtype=block.columns.dtype)
    cells = np.repeat(items, np.diff(block.offsets))
    cells += block.columns
    # column − column // n_classes · n_classes: NumPy vectorises the division by a scalar, not the remainder.
    annotators = block.columns // n_classes
    annotators *= n_classes
    cells -= annotators
    return cells


def _exp_normalised(log_prior: Floats) -> NDArray[np.float64]:
    prior = np.exp(log_prior.astype(np.float64) - log_prior.max())
    result: NDArray[np.float64] = prior / prior.sum()
    return result


def _products() -> Any:
    """SciPy's compiled products; its Python layer around them would allocate a result for every block."""
    from scipy.sparse import _sparsetools

    return _sparsetools
