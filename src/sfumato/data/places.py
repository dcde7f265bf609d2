"""Where the files of a public data set lie on this machine, and how they are opened.

Two folders are looked into, in this order: the one that the environment variable SFUMATO_DATA names, and sfumato's
part of the user's cache (SFUMATO_CACHE, else XDG_CACHE_HOME/sfumato, else ~/.cache/sfumato). Each holds one folder
per set. A file may be stored as it is or compressed, as ``name.gz``.
"""

from __future__ import annotations

__all__ = ["cache_folder", "find", "folders", "missing", "read_bytes", "stored"]

import gzip
import os
import zlib
from collections.abc import Iterable
from pathlib import Path

from sfumato.data.dataset import DataFile
from sfumato.errors import InputError


def cache_folder() -> Path:
    """Return the folder into which sets are fetched; it need not exist."""
    own = os.environ.get("SFUMATO_CACHE")
    if own:
        return Path(own).expanduser() / "data"
    shared = os.environ.get("XDG_CACHE_HOME")
    return (Path(shared) if shared else Path.home() / ".cache") / "sfumato" / "data"


def folders() -> tuple[Path, ...]:
    """Return the folders that may hold data sets, in the order in which they are looked into."""
    given = os.environ.get("SFUMATO_DATA")
    return (Path(given).expanduser(), cache_folder()) if given else (cache_folder(),)


def stored(path: Path) -> Path | None:
    """Return *path* or its compressed twin, whichever is there, or None."""
    for candidate in (path, path.with_name(path.name + ".gz")):
        if candidate.is_file():
            return candidate
    return None


def missing(folder: Path, files: Iterable[DataFile]) -> list[DataFile]:
    """Return the files that *folder* does not hold."""
    return [file for file in files if stored(folder / file.path) is None]


def find(set_folder: str, files: Iterable[DataFile]) -> Path | None:
    """Return the first folder that holds all *files* of the set, or None."""
    wanted = tuple(files)
    for root in folders():
        if not missing(root / set_folder, wanted):
            return root / set_folder
    return None


def read_bytes(path: Path) -> bytes:
    """Return the content of *path*, or of its compressed twin."""
    found = stored(path)
    if found is None:
        raise InputError(f"The file {path} is not there.")
    content = found.read_bytes()
    if found.suffix != ".gz" or path.suffix == ".gz":
        return content
    try:
        return gzip.decompress(content)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InputError(f"The file {found} is damaged ({error}); delete it and fetch the set again.") from None
