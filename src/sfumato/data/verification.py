"""Whether the files of a public data set are, on this machine, what upstream has."""

from __future__ import annotations

__all__ = ["verify_stored"]

import hashlib
from collections.abc import Iterable
from pathlib import Path

from sfumato.data import places
from sfumato.data.dataset import DataFile
from sfumato.errors import InputError

# Hashing so much takes some hundredths of a second; for larger files the size has to do before each loading.
_HASHED_AT_ONCE = 20_000_000


def verify_stored(folder: Path, files: Iterable[DataFile], *, remedy: str, large_too: bool = False) -> None:
    """Refuse a file that was cut or changed; *remedy* ends the sentence. What is of unknown content passes.

    The content of a large file is hashed only on demand; its size, where it is not compressed, is always compared.
    """
    for file in files:
        path = places.stored(folder / file.path)
        if path is None or file.clean is not None:  # what was taken out of a file changes its size and its hash
            continue
        size = path.stat().st_size
        if path == folder / file.path and size != file.size:
            raise InputError(
                f"The file {path} is not the one that upstream has (it has {size:,} bytes, not {file.size:,}). {remedy}"
            )
        if file.sha256 is None or (file.size > _HASHED_AT_ONCE and not large_too):
            continue
        came = hashlib.sha256(places.read_bytes(folder / file.path)).hexdigest()
        if came != file.sha256:
            raise InputError(
                f"The file {path} is not the one that upstream has (its sha256 is {came}, not {file.sha256}). {remedy}"
            )
