"""Fixed batches: which items stand together, from a file that says so."""

from __future__ import annotations

__all__ = ["read_allocation"]

import csv
import json
import re
from collections.abc import Collection
from pathlib import Path
from typing import Any

from sfumato.errors import FormatError, InputError

# The names under which the paper's file and others know an item, the first that fits a known item counts.
_NAMES = ("item", "id", "example_idx", "img_id", "filename")
_SCRIPT = re.compile(r"^\s*(?:var|let|const)\s+\w+\s*=\s*", re.ASCII)


def read_allocation(
    path: Path, items: Collection[str], *, explained: Collection[str] = ()
) -> dict[str, tuple[str, ...]]:
    """Return the ids of the items of each batch, by the name of the batch, in the order of the file.

    A JSON file is a list of batches or an object of them by name; a batch is a list of item ids, or of objects that
    hold one. So is the ``batches.js`` of Collins et al. (2022), a script with one assignment. A CSV file has the
    columns batch and item. *explained* are items of which people are told what they are: they may stand in
    no batch.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"The batches {path} cannot be read: {error.strerror}. Set batches.allocation.") from None
    except UnicodeDecodeError:
        raise FormatError(f"The batches {path} are not UTF-8 text.") from None
    told = _from_csv(text, path) if path.suffix.lower() == ".csv" else _from_json(text, path)
    known = frozenset(items) | frozenset(explained)
    batches = {
        name: tuple(_item(each, known, f"{path}, batch {name!r}, place {place}") for place, each in enumerate(batch, 1))
        for name, batch in told.items()
    }
    for name, batch in batches.items():
        if not batch:
            raise InputError(f"{path}: the batch {name!r} is empty.")
        before = next((item for item in batch if item in explained), None)
        if before is not None:
            raise InputError(
                f"{path}: the item {before!r} of the batch {name!r} is practised, an attention check, or the example "
                "of a class, and people are told what it is. Take it out of the batch, or take another item for that."
            )
        twice = next((item for item in batch if batch.count(item) > 1), None)
        if twice is not None:
            raise InputError(
                f"{path}: the item {twice!r} stands twice in the batch {name!r}; "
                "for consistency checks set batches.repeats instead."
            )
    if not batches:
        raise InputError(f"{path} holds no batches.")
    return batches


def _from_csv(text: str, path: Path) -> dict[str, list[Any]]:
    reader = csv.DictReader(text.splitlines(), strict=True)
    if not {"batch", "item"} <= set(reader.fieldnames or ()):
        raise FormatError(f"{path} must have the columns batch and item. It has: {reader.fieldnames or 'none'}.")
    batches: dict[str, list[Any]] = {}
    try:
        for number, row in enumerate(reader, start=1):
            if not row["batch"] or not row["item"]:
                raise InputError(f"{path}, row {number}: batch or item is empty.")
            batches.setdefault(row["batch"], []).append(row["item"])
    except csv.Error as error:
        raise FormatError(f"{path} cannot be read: {error}.") from None
    return batches


def _from_json(text: str, path: Path) -> dict[str, list[Any]]:
    try:
        told = json.loads(_SCRIPT.sub("", text).rstrip().removesuffix(";"))
    except ValueError as error:
        raise FormatError(f"{path} is not JSON: {error}.") from None
    if isinstance(told, list) and len(told) == 1 and isinstance(told[0], dict) and _all_lists(told[0].values()):
        told = told[0]  # the paper's: a list that holds one object of batches
    if isinstance(told, list):
        told = {str(number): batch for number, batch in enumerate(told, start=1)}
    if not isinstance(told, dict) or not _all_lists(told.values()):
        raise FormatError(f"{path} must be a list of batches or an object of them by name, each a list of items.")
    return told


def _all_lists(values: Collection[Any]) -> bool:
    return all(isinstance(value, list) for value in values)


def _item(told: Any, known: frozenset[str], where: str) -> str:
    names = [told.get(name) for name in _NAMES] if isinstance(told, dict) else [told]
    said = [str(name) for name in names if isinstance(name, str | int) and not isinstance(name, bool)]
    for name in said:
        if name in known:
            return name
    if not said:
        raise FormatError(f"{where}: an item is its id, or an object with one of {', '.join(_NAMES)}. Got {told!r}.")
    raise InputError(f"{where}: the study has no item {' or '.join(map(repr, said))}.")
