"""What every engine does with a run of blocks, and how many runs there are."""

from __future__ import annotations

__all__ = [
    "WORTH_THREADS",
    "Chunk",
    "Expectation",
    "PartialCounts",
    "n_chunks",
    "run_chunk",
    "scratch_for",
    "write_posterior",
]

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sfumato.aggregate.blocks import AnnotationMatrix, Floats
from sfumato.aggregate.tables import Scratch, Table

Chunk = list[tuple[int, int]]

# Each run has a table of counts of its own, to be cleared and added: worth it where its share of the annotations is
# several times the table's size. The most there can be bounds what many processors gain.
_ROWS_PER_COLUMN = 16
_MOST_CHUNKS = 64
# Fewer entries than this are done sooner than threads are woken.
WORTH_THREADS = 1 << 15


@dataclass(frozen=True, eq=False)
class Expectation:
    """What an E-step found: the expected ``counts`` (in the table's counts_shape), the expected number of judged
    items of each state, shape (n_states,), and the log-likelihood."""

    counts: Floats
    state_counts: NDArray[np.float64]
    log_likelihood: float


class PartialCounts(NamedTuple):
    """What one run of blocks adds to an expectation besides its counts."""

    state_counts: NDArray[np.float64]
    log_likelihood: float


def n_chunks(matrix: AnnotationMatrix) -> int:
    """Return into how many runs the annotations are cut: by their number and the table's size, not by threads."""
    fewest = 2 if matrix.n_rows >= WORTH_THREADS else 1
    most = int(np.clip(matrix.n_rows // (_ROWS_PER_COLUMN * max(1, matrix.n_columns)), fewest, _MOST_CHUNKS))
    # An even number: three runs would keep one of two threads waiting for a quarter of the time.
    return most + most % 2 if most > 1 else most


def scratch_for(matrix: AnnotationMatrix, chunks: Sequence[Chunk], n_states: int) -> Scratch:
    """Return room for the largest block."""
    n_items = max((stop - start for chunk in chunks for start, stop in chunk), default=0)
    offsets = matrix.offsets
    n_entries = max((int(offsets[stop] - offsets[start]) for chunk in chunks for start, stop in chunk), default=0)
    return Scratch(n_items, n_states, n_entries, matrix.dtype)


def run_chunk(matrix: AnnotationMatrix, table: Table, chunk: Chunk, scratch: Scratch, counts: Floats) -> PartialCounts:
    """Clear *counts* and add those of the chunk's blocks in order."""
    counts[...] = 0
    state_counts = np.zeros(table.n_states)
    log_likelihood = 0.0
    for start, stop in chunk:
        block = matrix.block(start, stop, scratch.ones)
        posterior, block_likelihood = table.posterior(block, scratch)
        table.add_counts(block, posterior, counts)
        state_counts += _column_sums(posterior)
        log_likelihood += block_likelihood
    return PartialCounts(state_counts, log_likelihood)


def write_posterior(matrix: AnnotationMatrix, table: Table, chunk: Chunk, scratch: Scratch, out: Floats) -> None:
    """Write the posterior of the chunk's items to their places in *out*, shape (n_items, n_states)."""
    for start, stop in chunk:
        posterior, _ = table.posterior(matrix.block(start, stop, scratch.ones), scratch)
        out[matrix.item_order[start:stop]] = posterior


def _column_sums(rows: Floats) -> NDArray[np.float64]:
    """Return the sums over the rows of (n_items, n_states).

    NumPy adds row to row, and for a row of ten numbers the call costs more than the sum: so it adds groups of rows
    that lie side by side, and the rows of the one group that is left.
    """
    n_items, n_states = rows.shape
    group = max(1, 512 // n_states)
    whole = n_items - n_items % group
    wide = rows[:whole].reshape(-1, group * n_states).sum(axis=0, dtype=np.float64)
    sums: NDArray[np.float64] = wide.reshape(group, n_states).sum(axis=0) + rows[whole:].sum(axis=0, dtype=np.float64)
    return sums
