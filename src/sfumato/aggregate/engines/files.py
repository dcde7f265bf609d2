"""The engine for more annotations than fit in memory: the matrix lies in files that are mapped into memory.

The operating system brings in each block when its turn comes and drops it again, so that memory is set by the table
and the soft labels; the arrays of the annotations may be mapped files themselves, as they are read once, in slabs.
Blocks, runs and sums are those of the threads engine, and so are the bits of the result.
"""

from __future__ import annotations

__all__ = ["FilesEngine"]

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from sfumato.aggregate.blocks import annotation_matrix
from sfumato.aggregate.engines.threads import ThreadsEngine
from sfumato.core.annotations import Annotations


class FilesEngine(ThreadsEngine):
    """Runs the blocks of *annotations* from files in a temporary folder (in *folder*, else where the system says)."""

    def __init__(
        self,
        annotations: Annotations,
        *,
        threads: int | None = None,
        dtype: str | np.dtype[Any] = "float64",
        folder: Path | None = None,
    ) -> None:
        self._folder = TemporaryDirectory(prefix="sfumato-", dir=folder, ignore_cleanup_errors=True)
        super().__init__(annotation_matrix(annotations, dtype=dtype, folder=Path(self._folder.name)), threads=threads)

    def __exit__(self, *exception: object) -> None:
        super().__exit__(*exception)
        self._folder.cleanup()
