"""Fetching a public data set from its upstream address: resumable, verified, whole or not at all."""

from __future__ import annotations

__all__ = ["Progress", "get"]

import hashlib
import os
import shutil
import tarfile
from collections.abc import Callable
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from sfumato.core.version import __version__
from sfumato.data import places
from sfumato.data.dataset import DataFile
from sfumato.data.registry import chosen
from sfumato.data.verification import verify_stored
from sfumato.errors import InputError, MissingDataError

# Called with the file's path, the bytes that are here, and the bytes that it has.
Progress = Callable[[str, int, int], None]

_CHUNK = 1 << 16
_SECONDS = 30.0
# A download that breaks off is taken up again where it stopped, as long as each attempt brings something.
_ATTEMPTS = 5
_AGAIN = "Delete it and fetch the set again."


def get(name: str, *, part: str | None = None, progress: Progress | None = None) -> Path:
    """Bring the files of a set (or of one part) onto this machine, and return the folder that holds them.

    What is there already is verified and left alone. The rest is fetched into the user's cache (see `places`): a
    broken download is resumed, and a file appears under its name only when its size and hash are right.
    """
    known, part = chosen(name, part)
    wanted = known.files_of(part)
    found = places.find(known.folder, wanted)
    if found is not None:
        verify_stored(found, wanted, remedy=_AGAIN, large_too=True)
        return found
    folder = places.cache_folder() / known.folder
    for file in wanted:
        if places.stored(folder / file.path) is None:
            _fetch(file, folder, known.homepage, progress)
        else:
            verify_stored(folder, [file], remedy=_AGAIN, large_too=True)
    for archive in {file.archive.path for file in wanted if file.archive is not None}:
        (folder / archive).unlink(missing_ok=True)
    return folder


def _fetch(file: DataFile, folder: Path, homepage: str, progress: Progress | None) -> None:
    """Fetch one file into *folder*."""
    if file.address is None:
        raise MissingDataError(f"{file.path} cannot be fetched: put it into {folder} by hand, see {homepage}.")
    target = folder / file.path
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"The folder {target.parent} cannot be made ({error.strerror}); set SFUMATO_CACHE to one that can."
        ) from None
    partial = target.with_name(target.name + ".part")
    try:
        if file.archive is None:
            _download(file, file.address, partial, target, progress)
        else:
            if not (folder / file.archive.path).exists():
                _fetch(file.archive, folder, homepage, progress)
            _unpack(folder / file.archive.path, file.address, partial)
        _verify_download(file, partial)
        if file.clean is not None:
            partial.write_bytes(file.clean(partial.read_bytes()))
    except BaseException:
        if file.clean is not None:  # half a download is worth keeping, personal data are not
            partial.unlink(missing_ok=True)
        raise
    os.replace(partial, target)


def _unpack(archive: Path, member: str, partial: Path) -> None:
    with tarfile.open(archive) as packed:
        content = packed.extractfile(member)
        if content is None:
            raise InputError(f"{member} in {archive} is not a file.")
        with content, partial.open("wb") as out:
            shutil.copyfileobj(content, out)


def _download(file: DataFile, address: str, partial: Path, target: Path, progress: Progress | None) -> None:
    """Bring *partial* to the size of the file, from where it stands."""
    for _ in range(_ATTEMPTS):
        here = _size(partial)
        if here > file.size:
            partial.unlink()
            here = 0
        elif here == file.size:
            return
        try:
            with _open(address, here) as answer:
                _receive(answer, partial, here, file, progress)
        except HTTPError as error:
            raise MissingDataError(
                f"{address} answers {error.code} ({error.reason}). Put the file there yourself: {target}"
            ) from None
        except (HTTPException, OSError) as error:
            if _size(partial) <= here:
                reason = error.reason if isinstance(error, URLError) else error
                raise MissingDataError(
                    f"{address} cannot be reached ({reason}). What has come is kept: try again when there is a "
                    f"connection, or put the file there yourself: {target}"
                ) from None
    if _size(partial) < file.size:
        raise MissingDataError(f"{address} broke off {_ATTEMPTS} times. What has come is kept: run the same again.")


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _open(address: str, start: int) -> HTTPResponse:
    headers = {"User-Agent": f"sfumato/{__version__}"}
    if start:
        headers["Range"] = f"bytes={start}-"
    answer: HTTPResponse = urlopen(Request(address, headers=headers), timeout=_SECONDS)
    return answer


def _receive(answer: HTTPResponse, partial: Path, here: int, file: DataFile, progress: Progress | None) -> None:
    """Append what comes to *partial*; a server that does not resume sends the whole file anew."""
    if answer.status != 206:
        here = 0
    with partial.open("ab" if here else "wb") as out:
        while here <= file.size and (chunk := answer.read(_CHUNK)):
            out.write(chunk)
            here += len(chunk)
            if progress is not None:
                progress(file.path, min(here, file.size), file.size)


def _verify_download(file: DataFile, partial: Path) -> None:
    size = _size(partial)
    kind, wanted, digest = "sha256", file.sha256, hashlib.sha256()
    if file.git_blob is not None:
        kind, wanted, digest = "git blob", file.git_blob, hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
    with partial.open("rb") as content:
        while chunk := content.read(_CHUNK):
            digest.update(chunk)
    came = digest.hexdigest()
    if size != file.size:
        difference = f"{size:,} bytes came, not {file.size:,}"
    elif wanted is not None and came != wanted:
        difference = f"its {kind} is {came}, not {wanted}"
    else:
        return
    partial.unlink()
    source = file.source if file.archive is None else f"{file.source} ({file.address})"
    raise InputError(f"What {source} sends is not {file.path} as it was ({difference}); nothing was kept.")
