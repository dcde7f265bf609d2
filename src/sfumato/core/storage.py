"""The port through which the data model reaches files.

The core knows no file format. The room `tables` holds the doors, and the package's `__init__` connects them
here, so that ``soft.save("soft.parquet")`` works although nothing in `core` imports `tables`.
"""

from __future__ import annotations

__all__ = ["Doors", "arrow_stream", "connect", "load", "save", "save_columns"]

from collections.abc import Callable, Mapping
from os import PathLike
from typing import Any, Protocol

_doors: Callable[[], Doors] | None = None


class Doors(Protocol):
    """What a module must offer to be connected."""

    def save(self, table: Any, path: str | PathLike[str]) -> None: ...
    def save_columns(self, columns: Mapping[str, Any], path: str | PathLike[str]) -> None: ...
    def load(self, kind: type[Any], path: Any) -> Any: ...
    def arrow_stream(self, table: Any, requested_schema: object | None) -> object: ...


def connect(doors: Callable[[], Doors]) -> None:
    """Say where the doors are; they are fetched when first needed."""
    global _doors
    _doors = doors


def save(table: Any, path: str | PathLike[str]) -> None:
    """Write a table of the data model to a file."""
    _connected().save(table, path)


def save_columns(columns: Mapping[str, Any], path: str | PathLike[str]) -> None:
    """Write columns of equal length, by name, to a file."""
    _connected().save_columns(columns, path)


def load(kind: type[Any], path: Any) -> Any:
    """Read a table of the data model from a file or from anything that speaks Arrow."""
    return _connected().load(kind, path)


def arrow_stream(table: Any, requested_schema: object | None) -> object:
    """Return the table as an Arrow stream capsule."""
    return _connected().arrow_stream(table, requested_schema)


def _connected() -> Doors:
    if _doors is None:  # only when core is taken out of the package
        raise RuntimeError("No doors are connected; import sfumato first.")
    return _doors()
