"""How much memory there is, so that work which would not fit is refused before it starts."""

from __future__ import annotations

__all__ = ["available_memory", "check_memory"]

import os
from pathlib import Path

from sfumato.errors import TooLargeError

_MEMINFO = Path("/proc/meminfo")
# What a container may use (cgroup v2) and what it uses already; the machine's own figure would promise too much.
_CONTAINER_LIMIT = Path("/sys/fs/cgroup/memory.max")
_CONTAINER_USED = Path("/sys/fs/cgroup/memory.current")


def available_memory() -> int | None:
    """Return how many bytes this process may still take, or None where the machine does not say."""
    known = [figure for figure in (_machine(), _container()) if figure is not None]
    return min(known) if known else None


def check_memory(needed: int, *, what: str, instead: str, limit: int | None = None) -> None:
    """Raise a `TooLargeError` where *needed* bytes are more than *limit* (default: what is available).

    *what* begins the sentence and *instead* ends it.

    >>> check_memory(10, what="A small table", instead="…", limit=100)
    """
    most = available_memory() if limit is None else limit
    if most is not None and needed > most:
        raise TooLargeError(
            f"{what} needs {needed / 2**30:,.3g} GiB of memory, and {most / 2**30:,.3g} GiB are there. {instead}"
        )


def _machine() -> int | None:
    try:
        for line in _MEMINFO.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError, AttributeError):  # a system without these names
        return None


def _container() -> int | None:
    try:
        return max(0, int(_CONTAINER_LIMIT.read_text()) - int(_CONTAINER_USED.read_text()))
    except (OSError, ValueError):  # no container, or the limit is "max"
        return None
