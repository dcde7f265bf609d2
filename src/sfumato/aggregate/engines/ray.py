"""The engine for many machines: runs of blocks live in Ray actors, and their counts are summed in a tree.

Each iteration sends the table to every actor and brings one sum back. When a node is lost, its runs are built again
from the matrix, which the driver keeps, and the iteration is repeated.
"""

from __future__ import annotations

__all__ = ["RayEngine"]

from dataclasses import replace
from itertools import pairwise
from typing import Any, Self

import numpy as np

from sfumato.aggregate.blocks import AnnotationMatrix, Floats, cut
from sfumato.aggregate.engines.chunk import Chunk, Expectation, PartialCounts, n_chunks, run_chunk, scratch_for
from sfumato.aggregate.tables import Scratch, Table
from sfumato.errors import MissingExtraError

# How often in a row an iteration is repeated after a loss, before the cluster is taken to be gone.
_MOST_REPEATS = 20


class RayEngine:
    """Runs the blocks of *matrix* on *actors* Ray actors of one processor each (default: one for each of the cluster).

    A cluster that this process has joined (``ray.init(address=…)``) is used; else Ray starts one on this machine.
    """

    def __init__(self, matrix: AnnotationMatrix, *, actors: int | None = None) -> None:
        try:
            import ray
        except ImportError:
            raise MissingExtraError("The ray engine", "cluster") from None
        self.matrix = matrix
        self._ray = ray
        self._wanted = actors
        self._started_here = False
        self._n_states = 0
        self._shares: list[tuple[AnnotationMatrix, list[Chunk]]] = []
        self._actors: list[Any] = []

    def expect(self, table: Table) -> Expectation:
        """Return the expected counts and the log-likelihood under *table*."""
        counts, partial = self._until_done(table, "expect")
        # What Ray hands over cannot be written to, and the model makes its table in place.
        return Expectation(counts.copy(), partial.state_counts, partial.log_likelihood + table.shared)

    def posterior(self, table: Table) -> Floats:
        """Return p(state | annotations), shape (n_items, n_states), in the order of the annotations' items."""
        out = np.empty((self.matrix.n_items, table.n_states), dtype=self.matrix.dtype)
        if self.matrix.n_judged < self.matrix.n_items:
            out[:] = table.prior()
        begin = 0
        for part in self._until_done(table, "posterior"):
            out[self.matrix.item_order[begin : begin + len(part)]] = part
            begin += len(part)
        return out

    def __enter__(self) -> Self:
        if not self._ray.is_initialized():
            self._ray.init(include_dashboard=False, log_to_driver=False, configure_logging=False)
            self._started_here = True
        return self

    def __exit__(self, *exception: object) -> None:
        for actor in self._actors:
            self._ray.kill(actor)
        self._actors, self._n_states = [], 0
        if self._started_here:
            self._ray.shutdown()
            self._started_here = False

    def _until_done(self, table: Table, step: str) -> Any:
        """Return what the actors made of *table*, with lost actors replaced as often as need be."""
        self._prepare(table)
        for _ in range(_MOST_REPEATS):
            try:
                shared = self._ray.put(table)
                made = [getattr(actor, step).remote(shared) for actor in self._actors]
                return self._ray.get(self._summed(made) if step == "expect" else made)
            except (self._ray.exceptions.RayActorError, self._ray.exceptions.ObjectLostError):
                self._rebuild()
        raise RuntimeError(f"The Ray cluster lost an actor {_MOST_REPEATS} times in a row; giving up.")

    def _summed(self, made: list[Any]) -> Any:
        """Return a reference to the sum of all parts: neighbours are added, then neighbours of those."""
        add = self._ray.remote(num_cpus=0)(_add)
        while len(made) > 1:
            made = [add.remote(*made[i : i + 2]) if i + 1 < len(made) else made[i] for i in range(0, len(made), 2)]
        return made[0]

    def _prepare(self, table: Table) -> None:
        if self._actors and table.n_states == self._n_states:
            return
        for actor in self._actors:
            self._ray.kill(actor)
        self._n_states = table.n_states
        count = self._wanted or int(self._ray.cluster_resources().get("CPU", 1))
        chunks = cut(self.matrix, table.n_states, max(count, n_chunks(self.matrix)))
        edges = np.linspace(0, len(chunks), min(count, max(1, len(chunks))) + 1).astype(int)
        self._shares = [_share(self.matrix, chunks[begin:end]) for begin, end in pairwise(edges)]
        self._actors = [self._actor(share) for share in self._shares]

    def _actor(self, share: tuple[AnnotationMatrix, list[Chunk]]) -> Any:
        return self._ray.remote(num_cpus=1)(_Shard).remote(*share, self._n_states)

    def _rebuild(self) -> None:
        """Replace every actor that no longer answers."""
        for place, actor in enumerate(self._actors):
            try:
                self._ray.get(actor.alive.remote())
            except self._ray.exceptions.RayError:
                self._actors[place] = self._actor(self._shares[place])


class _Shard:
    """Some runs of blocks, in an actor."""

    def __init__(self, matrix: AnnotationMatrix, chunks: list[Chunk], n_states: int) -> None:
        self._matrix = matrix
        self._chunks = chunks
        self._scratch: Scratch = scratch_for(matrix, chunks, n_states)

    def alive(self) -> bool:
        return True

    def expect(self, table: Table) -> tuple[Floats, PartialCounts]:
        total = (np.zeros(table.counts_shape, self._matrix.dtype), PartialCounts(np.zeros(table.n_states), 0.0))
        counts = np.empty(table.counts_shape, dtype=self._matrix.dtype)
        for chunk in self._chunks:
            total = _add(total, (counts, run_chunk(self._matrix, table, chunk, self._scratch, counts)))
        return total

    def posterior(self, table: Table) -> Floats:
        out = np.empty((self._matrix.n_judged, table.n_states), dtype=self._matrix.dtype)
        for chunk in self._chunks:
            for start, stop in chunk:
                out[start:stop], _ = table.posterior(self._matrix.block(start, stop, self._scratch.ones), self._scratch)
        return out


def _add(left: tuple[Floats, PartialCounts], right: tuple[Floats, PartialCounts]) -> tuple[Floats, PartialCounts]:
    (counts, one), (more, other) = left, right
    return counts + more, PartialCounts(
        one.state_counts + other.state_counts, one.log_likelihood + other.log_likelihood
    )


def _share(matrix: AnnotationMatrix, chunks: list[Chunk]) -> tuple[AnnotationMatrix, list[Chunk]]:
    """Return the rows of some neighbouring chunks as a matrix of their own, and the chunks in its numbering."""
    if not chunks:
        return matrix, []
    begin, end = chunks[0][0][0], chunks[-1][-1][1]
    rows = slice(matrix.offsets[begin], matrix.offsets[end])
    part = replace(
        matrix,
        offsets=matrix.offsets[begin : end + 1] - matrix.offsets[begin],
        columns=matrix.columns[rows],
        weights=None if matrix.weights is None else matrix.weights[rows],
        item_order=matrix.item_order[begin:end],
    )
    moved: list[Chunk] = [[(start - begin, stop - begin) for start, stop in chunk] for chunk in chunks]
    return part, moved
