"""A copy of a study that opens, made while the server runs, and the way back from it."""

from __future__ import annotations

__all__ = ["Backup", "backup", "restore"]

import hashlib
import json
import os
import shutil
import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex

from sfumato.core.version import __version__
from sfumato.errors import FormatError, InputError, SfumatoError

# The study first: a person is stored there before they are in the list of payments, so nobody's contact is missing.
_DATABASES = ("study.sqlite", "payments.sqlite")
_FILES = ("study.toml", "secret.json")
_MANIFEST = "backup.json"


@dataclass(frozen=True, slots=True)
class Backup:
    """What a backup holds."""

    path: Path
    n_people: int
    n_responses: int
    files: tuple[str, ...]


def backup(folder: Path, target: Path, *, also: tuple[str, ...] = ()) -> Backup:
    """Copy the study in *folder* to the new folder *target*, whole or not at all, and check the copy.

    Each database is copied as it was at one moment, whatever is written meanwhile. *also* names other files of the
    folder, such as the batches. The items are not copied.
    """
    if not (folder / "study.sqlite").is_file():
        raise InputError(f"{folder} holds no study.sqlite, so there is nothing to back up yet.")
    if target.exists():
        raise InputError(f"{target} exists; name a folder that does not.")
    with _made_whole(target) as part:
        names = [name for name in _DATABASES if (folder / name).is_file()]
        for name in names:
            _copy_database(folder / name, part / name)
        for name in (*_FILES, *also):
            if (folder / name).is_file():
                _copy_file(folder / name, part / name)
                names.append(name)
        counts = _counts(part / "study.sqlite")
        manifest = {
            "made_at": int(time.time() * 1000),
            "sfumato": __version__,
            **counts,
            "sha256": {name: _digest(part / name) for name in names},
        }
        (part / _MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
    return Backup(target, counts["people"], counts["responses"], tuple(names))


def restore(source: Path, folder: Path) -> Backup:
    """Put the backup *source* into *folder*, which may hold the items but no study; the copy is checked before."""
    manifest = _manifest(source)
    taken = [name for name in manifest if (folder / name).exists() and name not in ("study.toml",)]
    if taken or ((folder / "study.toml").exists() and not _same(source / "study.toml", folder / "study.toml")):
        raise InputError(
            f"{folder} holds a study already ({', '.join(taken or ['study.toml'])}); "
            "move it away, or name another folder."
        )
    for name, digest in manifest.items():
        if not (source / name).is_file() or _digest(source / name) != digest:
            raise FormatError(f"{source / name} is not the file that was backed up: it is missing or was changed.")
    folder.mkdir(parents=True, exist_ok=True)
    # The study file last: until it is there, the folder is no study.
    for name in sorted(manifest, key=lambda name: name == "study.sqlite"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        _copy_file(source / name, folder / name)
    counts = _counts(folder / "study.sqlite")
    return Backup(folder, counts["people"], counts["responses"], tuple(manifest))


def _manifest(source: Path) -> dict[str, str]:
    try:
        told = json.loads((source / _MANIFEST).read_text(encoding="utf-8"))["sha256"]
    except (OSError, ValueError, KeyError, TypeError):
        raise FormatError(f"{source} is not a backup of `sfumato collect backup`: it has no {_MANIFEST}.") from None
    if not isinstance(told, Mapping) or "study.sqlite" not in told:
        raise FormatError(f"{source / _MANIFEST} does not name the files of the backup.")
    inside = source.resolve()
    for name in told:
        if not (source / name).resolve().is_relative_to(inside):
            raise FormatError(f"{source / _MANIFEST} names {name!r}, which is not in the backup.")
    return {str(name): str(digest) for name, digest in told.items()}


@contextmanager
def _made_whole(target: Path) -> Iterator[Path]:
    """Give a hidden folder that becomes *target* when the block ends well, and is removed when it does not."""
    part = target.parent / f".{target.name}.{token_hex(4)}.part"
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        part.mkdir(mode=0o700)
    except OSError as error:
        raise InputError(f"{target} cannot be made: {error.strerror}.") from None
    try:
        yield part
        part.rename(target)
    except OSError as error:
        raise SfumatoError(f"{target} could not be written: {error.strerror or error}.") from None
    finally:
        with suppress(FileNotFoundError):
            shutil.rmtree(part)


def _copy_database(source: Path, target: Path) -> None:
    os.close(os.open(target, os.O_CREAT | os.O_RDWR | os.O_EXCL, 0o600))
    reader = sqlite3.connect(source, timeout=30)
    writer = sqlite3.connect(target)
    try:
        # All pages in one step: a snapshot, which writes of the server neither change nor start anew.
        reader.backup(writer, pages=-1)
        writer.execute("pragma journal_mode = delete")
        found = writer.execute("pragma integrity_check").fetchone()[0]
    except sqlite3.DatabaseError as error:
        raise FormatError(f"{source} cannot be copied: {error}.") from None
    finally:
        reader.close()
        writer.close()
    if found != "ok":
        raise FormatError(f"{source} is damaged: {found}.")
    _flush(target)


def _copy_file(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
    target.chmod(0o600)
    _flush(target)


def _counts(path: Path) -> dict[str, int]:
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        if connection.execute("pragma integrity_check").fetchone()[0] != "ok":
            raise FormatError(f"{path} is damaged.")
        return {
            name: connection.execute(f"select count(*) from {name}").fetchone()[0] for name in ("people", "responses")
        }
    except sqlite3.DatabaseError as error:
        raise FormatError(f"{path} is not a study file of sfumato: {error}.") from None
    finally:
        connection.close()


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _same(left: Path, right: Path) -> bool:
    return left.is_file() and left.read_bytes() == right.read_bytes()


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
