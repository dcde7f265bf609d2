"""The default engine: blocks in a pool of threads, in memory.

SciPy's products and NumPy's loops release the interpreter lock, so threads run side by side. Runs of blocks are cut
by the annotations alone and their counts are added in a fixed order: any number of threads gives the same bits.
"""

from __future__ import annotations

__all__ = ["ThreadsEngine"]

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from queue import SimpleQueue
from typing import Self, TypeVar

import numpy as np

from sfumato.aggregate.blocks import AnnotationMatrix, Floats, cut
from sfumato.aggregate.engines.chunk import (
    WORTH_THREADS,
    Chunk,
    Expectation,
    PartialCounts,
    n_chunks,
    run_chunk,
    scratch_for,
    write_posterior,
)
from sfumato.aggregate.tables import Scratch, Table
from sfumato.core.processors import n_processors

# Numbers of a table that are added at a time; they stay in the cache while all runs are added.
_SLICE = 1 << 16

Work = TypeVar("Work")
Made = TypeVar("Made")


class ThreadsEngine:
    """Runs the blocks of *matrix* on *threads* threads (default: one for each processor)."""

    def __init__(self, matrix: AnnotationMatrix, *, threads: int | None = None) -> None:
        self.matrix = matrix
        self._threads = threads or n_processors()
        self._pool: ThreadPoolExecutor | None = None
        self._n_states = 0
        self._chunks: list[Chunk] = []
        self._scratches: SimpleQueue[Scratch] = SimpleQueue()
        self._counts: list[Floats] = []

    def expect(self, table: Table) -> Expectation:
        """Return the expected counts and the log-likelihood under *table*."""
        self._prepare(table)
        if len(self._counts) != len(self._chunks) or any(c.shape != table.counts_shape for c in self._counts):
            self._counts = [np.empty(table.counts_shape, dtype=self.matrix.dtype) for _ in self._chunks]

        def run(work: tuple[Chunk, Floats]) -> PartialCounts:
            scratch = self._scratches.get()
            try:
                return run_chunk(self.matrix, table, work[0], scratch, work[1])
            finally:
                self._scratches.put(scratch)

        partial = self._map(run, zip(self._chunks, self._counts, strict=True))
        return Expectation(
            counts=self._added(table.counts_shape),
            state_counts=sum((part.state_counts for part in partial), start=np.zeros(table.n_states)),
            log_likelihood=sum(part.log_likelihood for part in partial) + table.shared,
        )

    def posterior(self, table: Table) -> Floats:
        """Return p(state | annotations), shape (n_items, n_states), in the order of the annotations' items."""
        self._prepare(table)
        out = np.empty((self.matrix.n_items, table.n_states), dtype=self.matrix.dtype)
        if self.matrix.n_judged < self.matrix.n_items:
            out[:] = table.prior()

        def run(chunk: Chunk) -> None:
            scratch = self._scratches.get()
            try:
                write_posterior(self.matrix, table, chunk, scratch, out)
            finally:
                self._scratches.put(scratch)

        self._map(run, self._chunks)
        return out

    def __enter__(self) -> Self:
        if self._threads > 1 and self.matrix.n_rows >= WORTH_THREADS:
            self._pool = ThreadPoolExecutor(self._threads, thread_name_prefix="sfumato-blocks")
        return self

    def __exit__(self, *exception: object) -> None:
        if self._pool is not None:
            # After Ctrl-C the runs that have not begun never do.
            self._pool.shutdown(cancel_futures=True)
            self._pool = None
        self._counts = []
        self._n_states = 0

    def _prepare(self, table: Table) -> None:
        if table.n_states == self._n_states:
            return
        self._n_states = table.n_states
        self._chunks = cut(self.matrix, table.n_states, n_chunks(self.matrix))
        self._scratches = SimpleQueue()
        for _ in range(min(self._threads, max(1, len(self._chunks)))):
            self._scratches.put(scratch_for(self.matrix, self._chunks, table.n_states))

    def _added(self, shape: tuple[int, ...]) -> Floats:
        """Return the sum of the runs' counts, each number added in the order of the runs."""
        if not self._counts:
            return np.zeros(shape, dtype=self.matrix.dtype)
        total = np.empty(shape, dtype=self.matrix.dtype)
        # Every number is a sum of its own, so slices of a large table may be added side by side.
        edges = np.linspace(0, shape[0], max(2, total.size // _SLICE + 1)).astype(np.int64)

        def add(part: slice) -> None:
            total[part] = self._counts[0][part]
            for counts in self._counts[1:]:
                total[part] += counts[part]

        self._map(add, [slice(*edge) for edge in pairwise(edges)])
        return total

    def _map(self, function: Callable[[Work], Made], work: Iterable[Work]) -> list[Made]:
        mapped = map(function, work) if self._pool is None else self._pool.map(function, work)
        return list(mapped)
