"""What a report shows beside the numbers: the texts and pictures of the items, and the histories of trainings."""

from __future__ import annotations

__all__ = ["Shown", "check_reports", "read_history", "read_items"]

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sfumato.errors import InputError, OptionError


@dataclass(frozen=True)
class Shown:
    """Texts and pictures (addresses that hold their data) by the name of the item."""

    texts: Mapping[str, str] = field(default_factory=dict)
    pictures: Mapping[str, str] = field(default_factory=dict)


def check_reports(targets: list[Path], endings: tuple[str, ...]) -> None:
    """Refuse a report that could not be written, before the work for it begins."""
    from sfumato.tables.write import check_writable

    for target in targets:
        if target.suffix.lower() not in endings:
            raise OptionError(f"A report ends in {', '.join(endings)}. Got {target} instead.")
        check_writable(target)


def read_items(path: Path | None) -> Shown:
    """Read a file with a row per item: the column ``text``, the column ``image`` (a path beside the file), or both."""
    if path is None:
        return Shown()
    from sfumato.evaluate.report.thumbnails import Thumbnails
    from sfumato.tables.frame_files import format_of, read_frame
    from sfumato.tables.sheet import Sheet, item_column, names_in, read_exactly, texts_in
    from sfumato.tables.source import check_file

    file = check_file(path)
    format = format_of(file)
    sheet = Sheet(read_frame(file)[0], str(file)) if format in ("parquet", "arrow") else read_exactly(file, format)
    columns = [column for column in ("text", "image") if column in sheet.frame.columns]
    if not columns:
        raise InputError(
            f"{file} has neither a column 'text' nor 'image' (it has: {', '.join(sheet.frame.columns)}). "
            "Call what the items say 'text', or the paths of their pictures 'image'."
        )
    items = names_in(sheet, item_column([c for c in sheet.frame.columns if c not in columns], sheet.name), what="item")
    found = {
        column: {item: cell for item, cell in zip(items, texts_in(sheet, column), strict=True) if cell is not None}
        for column in columns
    }
    pictures = {item: file.parent / name for item, name in found.get("image", {}).items()}
    return Shown(found.get("text", {}), Thumbnails(pictures))


def read_history(paths: list[Path]) -> dict[str, list[dict[str, Any]]]:
    """Return the records of each epoch by name of the training.

    A path is a file of JSON lines, a record each, or the folder of a run that holds ``history.jsonl``, or what Hugging
    Face's trainer leaves behind (``trainer_state.json``).
    """
    from sfumato.tables.source import check_file, read_json, read_json_lines

    found: dict[str, list[dict[str, Any]]] = {}
    for given in paths:
        path = check_file(given / "history.jsonl" if given.is_dir() else given)
        if path.suffix.lower() == ".json":
            held = read_json(path)
            records = held.get("log_history") if isinstance(held, dict) else held
        else:
            records = [record for _, record in read_json_lines(path)]
        if not isinstance(records, list) or not all(isinstance(record, dict) for record in records):
            raise InputError(f"{path} is not a history: a list of records is wanted, each the numbers of one epoch.")
        # A record that says of what it is may be of a few steps; where there are epochs, they are what is drawn.
        epochs = [record for record in records if record.get("kind", "epoch") == "epoch"]
        name = path.resolve().parent.name if path.stem in ("history", "trainer_state") else path.stem
        if name in found:
            raise OptionError(f"Two histories are called {name!r}. Call their files, or their folders, by other names.")
        found[name] = epochs or records
    return found
