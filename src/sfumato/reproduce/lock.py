"""A lock between processes: held while a block runs, and let go by the system when a process dies."""

from __future__ import annotations

__all__ = ["locked"]

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def locked(path: Path, *, wait: bool = True) -> Iterator[bool]:
    """Hold the lock file *path* while the block runs; whoever comes second waits, or is told False with wait=False.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder, locked(Path(folder, "a.lock")) as alone:
    ...     alone
    True
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        yield _take(descriptor, wait)
    finally:
        os.close(descriptor)  # gives the lock back; so does the end of the process, however it comes


if sys.platform == "win32":
    import msvcrt

    def _take(descriptor: int, wait: bool) -> bool:
        while True:
            try:
                msvcrt.locking(descriptor, msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
                return True
            except OSError:  # a waiting one gives up after ten seconds
                if not wait:
                    return False

else:
    import fcntl

    def _take(descriptor: int, wait: bool) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            return False
        return True
