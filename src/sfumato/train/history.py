"""The history of a run: a line of JSON for every few steps and for every epoch, written as it happens."""

from __future__ import annotations

__all__ = ["History", "read_history"]

import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sfumato.errors import InputError


class History:
    """Records in the order in which they happened, kept in memory and, where there is a *path*, in a JSONL file.

    >>> history = History(None)
    >>> history.add({"kind": "epoch", "epoch": 1, "loss": 0.5})
    >>> [record["loss"] for record in history.epochs()]
    [0.5]
    """

    def __init__(self, path: Path | None, *, size: int | None = None) -> None:
        """Go on with the file at *path*, of which the first *size* bytes count (None: begin anew).

        Lines behind them come from an epoch that was interrupted, and is run again.
        """
        self.path = path
        self.records: list[dict[str, Any]] = []
        if path is None:
            return
        if size:
            if (found := path.stat().st_size if path.exists() else 0) < size:
                raise InputError(
                    f"{path} holds {found:,} bytes, and the checkpoint beside it was written after {size:,}. Put back "
                    "the whole file, or give another folder to begin anew."
                )
            with path.open("r+b") as file:
                file.truncate(size)
            self.records = read_history(path)
        else:
            path.write_bytes(b"")

    @property
    def size(self) -> int:
        """The bytes that have been written."""
        return 0 if self.path is None else self.path.stat().st_size

    def add(self, record: Mapping[str, Any]) -> None:
        """Append a record; it is on the disk when this returns."""
        plain = {key: _plain(value) for key, value in record.items()}
        self.records.append(plain)
        if self.path is not None:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(plain, ensure_ascii=False) + "\n")
                file.flush()
                os.fsync(file.fileno())

    def epochs(self) -> list[dict[str, Any]]:
        """Return the records of the epochs that are over."""
        return [record for record in self.records if record["kind"] == "epoch"]


def read_history(path: Path) -> list[dict[str, Any]]:
    """Return the records in a history file."""
    try:
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]
    except FileNotFoundError:
        raise InputError(f"There is no history {path}. Is the folder that of a run?") from None
    except ValueError as error:
        raise InputError(f"{path} is not a history that can be read ({error}).") from None


def _plain(value: Any) -> Any:
    """Return what JSON can hold: a number that is not finite becomes null."""
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value
