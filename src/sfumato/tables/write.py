"""Writing a file whole or not at all."""

from __future__ import annotations

__all__ = ["check_writable", "write_whole", "written_whole"]

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path
from typing import IO

from sfumato.errors import OptionError, SfumatoError


@contextmanager
def written_whole(path: str | PathLike[str]) -> Iterator[IO[bytes]]:
    """Give a file to write to, which takes the place of *path* when the block ends well.

    Until then it lies beside *path* under a hidden name. When the block fails or is interrupted it is removed,
    and what stood at *path* stays as it was. A link is followed; the rights of a file that is replaced are kept.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     with written_whole(f"{folder}/a.txt") as file:
    ...         _ = file.write(b"whole")
    ...     Path(folder, "a.txt").read_text()
    'whole'
    """
    target, mode = check_writable(path)
    # Beside the target, because only within one file system is a replacement a single step; short and without the
    # target's name, which may already be as long as a name can be.
    part = target.parent / f".sfumato-{secrets.token_hex(8)}.part"
    try:
        descriptor = os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
        with os.fdopen(descriptor, "w+b") as file:
            yield file
            file.flush()
            # Without this a power cut can leave the new name with none of the new content.
            os.fsync(file.fileno())
        if mode is not None:
            part.chmod(mode)
        os.replace(part, target)
    except OSError as error:
        # A full disk shows itself in the middle of the block; an error that names another file is not ours to tell.
        if error.filename not in (None, part, str(part)):
            raise
        raise _refusal(path, error) from None
    finally:
        with suppress(FileNotFoundError):
            part.unlink()


def write_whole(path: str | PathLike[str], content: str | bytes) -> None:
    """Write text (as UTF-8) or bytes to a file, whole or not at all."""
    with written_whole(path) as file:
        file.write(content.encode() if isinstance(content, str) else content)


def check_writable(path: str | PathLike[str]) -> tuple[Path, int | None]:
    """Return the file that *path* leads to and, where it exists, its rights; refuse what cannot be replaced."""
    try:
        target = Path(os.path.realpath(path))
        mode = target.stat().st_mode if target.exists() else None
    except (OSError, ValueError) as error:
        raise _refusal(path, error) from None
    if mode is None:
        if not target.parent.is_dir():
            raise OptionError(
                f"{path} cannot be written: there is no folder {target.parent}. Make it, or name another."
            )
        return target, None
    if stat.S_ISDIR(mode):
        raise OptionError(f"{path} is a folder. Name the file to write in it.")
    if not stat.S_ISREG(mode):
        raise OptionError(f"{path} is a pipe or a device, which cannot be replaced by a whole file. Name a file.")
    if not os.access(target, os.W_OK):
        raise OptionError(f"{path} is there and may not be written. Name another file, or change its rights.")
    return target, stat.S_IMODE(mode)


def _refusal(path: str | PathLike[str], error: OSError | ValueError) -> SfumatoError:
    if isinstance(error, PermissionError):
        return OptionError(f"{path} may not be written. Ask for the right to write in its folder, or name another.")
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return SfumatoError(f"{path} could not be written: {reason}. What stood there before is untouched.")
