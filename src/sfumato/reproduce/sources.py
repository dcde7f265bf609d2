"""Where the data of an experiment come from: a public set by its name, or a file of one's own."""

from __future__ import annotations

__all__ = [
    "content_fingerprint",
    "fingerprint_or_missing",
    "is_public",
    "judged",
    "missing_data",
    "resolved",
    "without_folder",
]

import hashlib
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from sfumato import data
from sfumato.core.annotations import Annotations
from sfumato.core.gold import Gold
from sfumato.data import places
from sfumato.errors import InputError, MissingDataError


def is_public(name: str) -> bool:
    """Return whether *name* names a public set (or a part of one), and not a file.

    >>> is_public("lewidi2023/md_agreement"), is_public("votes.csv")
    (True, False)
    """
    return name.partition("/")[0] in data.names()


def resolved(name: str, folder: Path) -> str:
    """Return the name of a public set as it is, and the name of a file as a path, seen from *folder*."""
    return name if not name or is_public(name) else str((folder / name).resolve())


def without_folder(name: str) -> str:
    """Return what a set is called in settings and tables: a file without its folder, which differs between machines.

    >>> without_folder("/home/ann/votes.csv"), without_folder("lewidi2023/md_agreement")
    ('votes.csv', 'lewidi2023/md_agreement')
    """
    return name if not name or is_public(name) else Path(name).name


def judged(name: str, options: Mapping[str, Any], *, gold: str = "") -> tuple[Annotations, Gold | None]:
    """Return the annotations of a public set or of a file of votes, and the gold that goes with them, if any."""
    from sfumato.tables.read import read_annotations
    from sfumato.tables.read_gold import read_gold

    if is_public(name):
        known = data.load(name, **options)
        if known.annotations is None:
            raise InputError(f"The data set {name!r} has no annotations, which this study is about. Name another set.")
        return known.annotations, known.gold if not gold else read_gold(gold)
    if options:
        raise InputError(f"The options {', '.join(options)} are for public sets; {name} is a file.")
    return read_annotations(name), read_gold(gold) if gold else None


def content_fingerprint(names: Iterable[str]) -> str:
    """Return a hash of the content of all files behind *names*: the same files give the same, wherever they lie."""
    digest = hashlib.blake2b(digest_size=12)
    for name in sorted(set(names)):
        for path in _files(name):
            found = places.stored(path)
            if found is None:
                raise InputError(f"The file {path}, which an experiment reads, is not there.")
            stat = found.stat()
            digest.update(_hash(str(found), stat.st_size, stat.st_mtime_ns))
    return digest.hexdigest()


def fingerprint_or_missing(names: tuple[str, ...]) -> tuple[str, str]:
    """Return the hash of the content of *names* and an empty text, or an empty hash and what is missing."""
    missing = missing_data(names)
    return ("", missing) if missing else (content_fingerprint(names), "")


def missing_data(names: Iterable[str]) -> str:
    """Return in one sentence what is not on this machine; empty where all is."""
    for name in names:
        try:
            absent = [path for path in _files(name) if places.stored(path) is None]
        except MissingDataError as error:
            return str(error)
        if absent:
            other = "" if is_public(name) else ", and no public set has this name (see: sfumato data list)"
            return f"The file {absent[0]} is not there{other}."
    return ""


def _files(name: str) -> list[Path]:
    if not is_public(name):
        return [Path(name)]
    folder, (known, part) = data.path(name), data.registry.chosen(name, None)
    return [folder / file.path for file in known.files_of(part)]


@lru_cache(maxsize=4096)
def _hash(path: str, size: int, changed: int) -> bytes:
    # Size and time are in the key, so that a file that is replaced while we run is read anew.
    with open(path, "rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).digest()
