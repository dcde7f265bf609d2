"""The items of a study: a folder of pictures, sounds or films, or a file of texts."""

from __future__ import annotations

__all__ = ["Item", "asked_of", "item_of", "read_items"]

import csv
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from sfumato.collect.study import Items, Kind, Study
from sfumato.errors import InputError

_ENDINGS: dict[str, Kind] = {
    **dict.fromkeys((".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".avif"), "image"),
    **dict.fromkeys((".mp3", ".wav", ".ogg", ".oga", ".flac", ".m4a", ".opus"), "audio"),
    **dict.fromkeys((".mp4", ".webm", ".ogv", ".m4v", ".mov"), "video"),
    ".txt": "text",
}
_TABLES = (".csv", ".tsv", ".jsonl", ".json")
_TEXT_COLUMNS = ("text", "sentence", "tweet", "comment", "document", "content", "question")
_ID_COLUMNS = ("item", "id", "item_id", "name", "key")
_LONGEST_ID = 500
_LONGEST_TEXT = 100_000


@dataclass(frozen=True, slots=True)
class Item:
    """One item: its *id*, its *kind*, the file it is shown from or its text, and what else its row said."""

    id: str
    kind: Kind
    path: Path | None = None
    text: str = ""
    meta: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))

    def __post_init__(self) -> None:
        if not self.id or len(self.id) > _LONGEST_ID or not self.id.isprintable():
            raise InputError(f"The id of an item is printable text of up to {_LONGEST_ID} characters. Got {self.id!r}.")
        if len(self.text) > _LONGEST_TEXT:
            raise InputError(f"The text of item {self.id!r} has more than {_LONGEST_TEXT:,} characters.")


def read_items(source: Items, *, folder: Path) -> dict[str, Item]:
    """Return the items by id, in the order of the file, or of the sorted names in the folder.

    An item of a folder is called by its path inside it. A link that leads out of the folder is refused.
    """
    path = folder / source.source
    if path.is_dir():
        found = _from_folder(path, source)
    elif path.is_file() and path.suffix.lower() in _TABLES:
        found = _from_table(path, source)
    elif path.exists():
        raise InputError(f"{path} is neither a folder nor a file of texts ({', '.join(_TABLES)}).")
    else:
        raise InputError(f"The items {path} do not exist. Set [items] source in study.toml.")
    items: dict[str, Item] = {}
    for item in found:
        if item.id in items:
            raise InputError(f"{path}: the item id {item.id!r} stands there twice; each item needs an id of its own.")
        items[item.id] = item
    if not items:
        kinds = source.kind or "image, audio, video or text"
        raise InputError(f"{path} holds no {kinds} items. Known endings: {', '.join(sorted(_ENDINGS))}.")
    return items


def item_of(told: str, items: Mapping[str, Item], *, folder: Path, kind: Kind) -> Item:
    """Return the item that a line of study.toml means: an id, a file in the folder of the study, or a text itself."""
    if told in items:
        return items[told]
    inside = _inside(folder, folder / told) if len(told) < _LONGEST_ID and "\n" not in told else None
    if inside is not None and inside.is_file() and inside.suffix.lower() in _ENDINGS:
        return _of_file(told, inside, _ENDINGS[inside.suffix.lower()])
    if kind == "text":
        return Item(id=f"text: {' '.join(told.split())[:80]}", kind="text", text=told)
    raise InputError(f"{told!r} in study.toml is neither the id of an item nor a file in {folder}.")


def asked_of(study: Study, items: Mapping[str, Item]) -> dict[str, Item]:
    """Return the items that people are asked about: not those of which they learn before what is expected.

    An item that is practised, that is an attention check, or that shows what a class is, is told, and not judged, be it
    named by its id, its file or its text.
    """
    kind = next(iter(items.values())).kind
    named = [each.item for each in study.practice] + [each.item for each in study.checks]
    named += [each.example for each in study.classes if each.example]
    told = [item_of(each, items, folder=study.folder, kind=kind) for each in named]
    ids = {each.id for each in told}
    files = {each.path.resolve() for each in told if each.path is not None}
    texts = {each.text for each in told if each.path is None}

    def known(item: Item) -> bool:
        if item.id in ids or (item.path is None and item.text in texts):
            return True
        return bool(files) and item.path is not None and item.path.resolve() in files

    asked = {name: item for name, item in items.items() if not known(item)}
    if not asked:
        raise InputError(
            "No item is left to ask about: each is practised, an attention check, or the example of a class. "
            "Take other items for these."
        )
    return asked


def _from_folder(path: Path, source: Items) -> Iterator[Item]:
    for file in sorted(path.rglob("*")):
        kind = _ENDINGS.get(file.suffix.lower())
        name = file.relative_to(path)
        hidden = any(part.startswith(".") for part in name.parts)
        if kind is None or hidden or not file.is_file() or (source.kind and kind != source.kind):
            continue
        if _inside(path, file) is None:
            raise InputError(f"{file} is a link that leads out of {path}; copy the file instead.")
        yield _of_file(name.as_posix(), file, kind)


def _of_file(name: str, file: Path, kind: Kind) -> Item:
    if kind == "text":
        try:
            return Item(id=name, kind=kind, text=file.read_text(encoding="utf-8-sig"))
        except UnicodeDecodeError:
            raise InputError(f"{file} is not UTF-8 text.") from None
    return Item(id=name, kind=kind, path=file)


def _inside(folder: Path, file: Path) -> Path | None:
    """Return the file with its links resolved where it stays in the folder, else None."""
    resolved = file.resolve()
    return resolved if resolved.is_relative_to(folder.resolve()) else None


def _from_table(path: Path, source: Items) -> Iterator[Item]:
    rows = _rows(path)
    first = next(rows, None)
    if first is None:
        raise InputError(f"{path} has no rows.")
    columns = list(first[1])
    text_column = _column(source.text_column, _TEXT_COLUMNS, columns, path, "text_column")
    id_column = _column(source.id_column, _ID_COLUMNS, columns, path, "id_column")
    for number, row in (first, *rows):
        where = f"{path}, row {number}"
        if row.get(text_column) in (None, ""):
            raise InputError(f"{where}: the column {text_column!r} is empty.")
        if id_column and row.get(id_column) in (None, ""):
            raise InputError(f"{where}: the column {id_column!r} is empty.")
        name = str(row[id_column]).strip() if id_column else str(number)
        rest = {key: value for key, value in row.items() if key not in (text_column, id_column)}
        yield Item(id=name, kind="text", text=str(row[text_column]), meta=MappingProxyType(rest))


def _rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the number and the cells of each row, counted from 1 without the header."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            if path.suffix.lower() in (".csv", ".tsv"):
                header = file.readline()
                file.seek(0)
                # Spreadsheets of many countries write semicolons; what stands most in the header parts its names.
                parted_by = "\t" if path.suffix.lower() == ".tsv" else max(",;\t", key=header.count)
                reader = csv.DictReader(file, delimiter=parted_by, strict=True)
                for number, row in enumerate(reader, start=1):
                    if None in row or None in row.values():
                        raise InputError(f"{path}, row {number}: not as many cells as the header has.")
                    yield number, row
                return
            if path.suffix.lower() == ".json":
                told = json.load(file)
                if not isinstance(told, list):
                    raise InputError(f"{path} must hold a list of objects.")
            else:
                told = (json.loads(line) for line in file if line.strip())
            for number, row in enumerate(told, start=1):
                if not isinstance(row, dict):
                    raise InputError(f"{path}, row {number}: not an object with named values.")
                yield number, row
    except UnicodeDecodeError:
        raise InputError(f"{path} is not UTF-8 text.") from None
    except (csv.Error, json.JSONDecodeError) as error:
        raise InputError(f"{path} cannot be read: {error}.") from None


def _column(told: str, usual: tuple[str, ...], columns: list[str], path: Path, option: str) -> str:
    """Return the column that was named, or one of the usual names; "" where an id is missing and rows are counted."""
    if told:
        if told not in columns:
            raise InputError(f"{path} has no column {told!r} (items.{option}); it has: {', '.join(columns)}.")
        return told
    lower = {column.lower().strip(): column for column in columns}
    for name in usual:
        if name in lower:
            return lower[name]
    if option == "id_column":
        return ""
    raise InputError(
        f"{path} has none of the columns {', '.join(usual)}; it has: {', '.join(columns)}. Rename one of them, or set "
        "text_column under [items] of study.toml (sfumato collect new writes one)."
    )
