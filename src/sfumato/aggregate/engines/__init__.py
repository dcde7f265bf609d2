"""Engines run the blocks: threads by default, files for what does not fit in memory, Ray for many machines.

>>> from sfumato.core.annotations import Annotations
>>> votes = Annotations.from_rows(["a", "a", "b"], ["ann", "bob", "ann"], ["yes", "no", "yes"])
>>> with open_engine(votes) as engine:
...     engine.matrix.n_rows
3
"""

from __future__ import annotations

__all__ = ["Engine", "EngineName", "open_engine"]

from typing import Any, Literal, Protocol, Self, get_args

import numpy as np

from sfumato.aggregate.blocks import AnnotationMatrix, Floats, annotation_matrix
from sfumato.aggregate.engines.chunk import Expectation
from sfumato.aggregate.memory import check_memory
from sfumato.aggregate.tables import Table
from sfumato.core.annotations import Annotations
from sfumato.errors import OptionError, check_choice

EngineName = Literal["threads", "files", "ray"]


class Engine(Protocol):
    """What runs the E-step and the expected counts over all annotations."""

    @property
    def matrix(self) -> AnnotationMatrix: ...

    def expect(self, table: Table) -> Expectation:
        """Return the expected counts and the log-likelihood under *table*."""
        ...

    def posterior(self, table: Table) -> Floats:
        """Return p(state | annotations), shape (n_items, n_states), in the order of the annotations' items."""
        ...

    def __enter__(self) -> Self: ...
    def __exit__(self, *exception: object) -> None: ...


def open_engine(
    annotations: Annotations,
    *,
    engine: EngineName = "threads",
    threads: int | None = None,
    dtype: str | np.dtype[Any] = "float64",
) -> Engine:
    """Return the engine called *engine*, ready to run over *annotations*; use it in a ``with`` statement.

    *threads* is the number of threads (default: one for each processor) of this process, or of all Ray actors.
    """
    check_choice(engine, get_args(EngineName), option="engine")
    check_choice(str(np.dtype(dtype)), ("float64", "float32"), option="dtype")
    if threads is not None and threads < 1:
        raise OptionError(f"The option 'threads' must be at least 1. Got {threads} instead.")
    check_memory(
        annotations.n_items * annotations.n_classes * np.dtype(dtype).itemsize,
        what=f"A soft label over {annotations.n_classes:,} classes for each of {annotations.n_items:,} items",
        instead="Aggregate the items in parts, or leave out classes that nobody gave.",
    )
    if engine == "files":
        from sfumato.aggregate.engines.files import FilesEngine

        return FilesEngine(annotations, threads=threads, dtype=dtype)
    if engine == "ray":
        from sfumato.aggregate.engines.ray import RayEngine

        return RayEngine(annotation_matrix(annotations, dtype=dtype), actors=threads)
    from sfumato.aggregate.engines.threads import ThreadsEngine

    return ThreadsEngine(annotation_matrix(annotations, dtype=dtype), threads=threads)
