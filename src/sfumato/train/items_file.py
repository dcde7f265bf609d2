"""The items file: a row per item with what the model sees of it, read from CSV, JSON lines, Parquet, Arrow or .npz.

Columns say what the items are. ``text`` (and ``text_pair``): texts; ``text`` with ``sequence`` (and ``position``):
tokens; ``image``: paths of image files, relative to the items file; nothing of these: every column of numbers is a
feature, but for those that are named like an answer. The column ``item`` names the items, and one may name the split.
"""

from __future__ import annotations

__all__ = ["ItemsFile", "read_items", "shortened"]

import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.core.vocabulary import check_vocabulary
from sfumato.errors import InputError
from sfumato.tables.frame_files import format_of, read_frame
from sfumato.tables.sheet import Sheet, item_column, names_in, read_exactly, texts_in
from sfumato.tables.source import check_file
from sfumato.train.training_data import SPLITS, Example

_LISTED = 6
_CONTENT = ("text", "text_pair", "image", "sequence", "position")
# A model that sees the answer learns nothing else.
_ANSWERS = ("label", "gold", "class", "annotator")
_SPLIT_WORDS = {"train": "train", "training": "train", "dev": "dev", "development": "dev", "validation": "dev",
                "valid": "dev", "val": "dev", "test": "test"}  # fmt: skip


@dataclass(frozen=True)
class ItemsFile:
    """What an items file holds: examples, the names of all items, and the split of each example where it says so.

    ``features`` names the columns of numbers that became features, in their order, where they have names;
    ``left_out`` those that did not, since they are named like an answer.
    """

    examples: Sequence[Example]
    items: tuple[str, ...]
    split_of: tuple[str, ...] | None
    kind: str
    features: tuple[str, ...] | None = None
    left_out: tuple[str, ...] = ()

    def with_features(self, names: Sequence[str]) -> ItemsFile:
        """Return the same items with their features in the order of *names*; others are refused by name.

        >>> one = ItemsFile([{"features": np.array([1.0, 2.0]), "item": 0}], ("i",), None, "features", ("a", "b"))
        >>> one.with_features(["b", "a"]).examples[0]["features"].tolist()
        [2.0, 1.0]
        """
        if self.features is None or self.features == tuple(names):
            return self
        missing = [name for name in names if name not in self.features]
        extra = [name for name in self.features if name not in names]
        if missing or extra:
            told = [f"lack {shortened(missing)}"] * bool(missing) + [f"have {shortened(extra)} beside"] * bool(extra)
            raise InputError(
                f"The items {' and '.join(told)}: the model sees the features {shortened(names)}. Give a file with "
                "these columns of numbers, in any order."
            )
        places = [self.features.index(name) for name in names]
        examples = [{**example, "features": example["features"][places]} for example in self.examples]
        return replace(self, examples=examples, features=tuple(names))

    @property
    def splits(self) -> dict[str, NDArray[np.int64]] | None:
        """The numbers of the examples of each split, or None where nobody has said."""
        if self.split_of is None:
            return None
        return {name: np.flatnonzero(np.array(self.split_of) == name) for name in SPLITS}


def read_items(path: str | PathLike[str], *, split: str = "split") -> ItemsFile:
    """Return the examples in a file; the column *split*, if it is there, says which split each is in."""
    path = check_file(path)
    if path.suffix.lower() == ".npz":
        return _arrays(path, split)
    format = format_of(path)
    sheet = Sheet(read_frame(path)[0], str(path)) if format in ("parquet", "arrow") else read_exactly(path, format)
    return _of_sheet(sheet, path.parent, split)


def shortened(names: Sequence[str]) -> str:
    """Return a list of names as people read it, the first and the last where there are many.

    >>> shortened(["x", "y"]), shortened([f"f{n}" for n in range(300)])
    ('x, y', 'f0, f1, f2, f3, …, f299 (300)')
    """
    if len(names) <= _LISTED:
        return ", ".join(names)
    return f"{', '.join(names[: _LISTED - 2])}, …, {names[-1]} ({len(names):,})"


def _of_sheet(sheet: Sheet, folder: Path, split: str) -> ItemsFile:
    columns = sheet.frame.columns
    if not sheet.frame.height:
        raise InputError(f"{sheet.name} holds no item. Give a file with a row per item.")
    item = item_column([column for column in columns if column not in (*_CONTENT, split)], sheet.name)
    items = names_in(sheet, item, what="item")
    twice = pl.Series(items).is_duplicated()
    if twice.any():
        rows = twice.arg_true().to_list()
        raise InputError(f"{sheet.where(rows[1])}: the item {items[rows[0]]!r} stands there a second time. Keep one.")
    splits = _splits(sheet, split) if split in columns else None
    if "text" in columns and "sequence" in columns:
        return _tokens(sheet, items, splits)
    if "text" in columns:
        contents: dict[str, Any] = {"text": _texts(sheet, "text")}
        kind = "text"
        if "text_pair" in columns:
            kind, contents = "text pair", {**contents, "text_pair": _texts(sheet, "text_pair")}
    elif "image" in columns:
        kind, contents = "image", {"image": _images(sheet, folder)}
    else:
        others = [column for column in columns if column not in (item, split)]
        answers = tuple(column for column in others if column.strip().lower() in _ANSWERS)
        names = tuple(column for column in others if column not in answers)
        made = _whole("features", {"features": _features(sheet, names)}, items, splits)
        return replace(made, features=names, left_out=answers)
    return _whole(kind, contents, items, splits)


def _whole(kind: str, contents: dict[str, Any], items: Sequence[str], splits: Sequence[str] | None) -> ItemsFile:
    rows = range(len(items))
    examples = [{**{name: values[row] for name, values in contents.items()}, "item": row} for row in rows]
    return ItemsFile(examples, tuple(items), None if splits is None else tuple(splits), kind)


def _tokens(sheet: Sheet, items: Sequence[str], splits: Sequence[str] | None) -> ItemsFile:
    words, sequence = _texts(sheet, "text"), names_in(sheet, "sequence", what="sequence")
    place = np.arange(len(items), dtype=np.float64)
    if "position" in sheet.frame.columns:
        place = _numbers(sheet, ["position"])[:, 0]
    rows_of: dict[str, list[int]] = {}
    for row, name in enumerate(sequence):
        rows_of.setdefault(name, []).append(row)
    examples, split_of = [], []
    for name, rows in rows_of.items():
        rows = sorted(rows, key=place.__getitem__)
        examples.append({"tokens": [words[row] for row in rows], "item": rows})
        if splits is not None:
            within = {splits[row] for row in rows}
            if len(within) > 1:
                raise InputError(
                    f"{sheet.where(rows[0])}: the sequence {name!r} lies in several splits "
                    f"({', '.join(sorted(within))}). Put all its tokens in one."
                )
            split_of.append(splits[rows[0]])
    return ItemsFile(examples, tuple(items), None if splits is None else tuple(split_of), "tokens")


def _texts(sheet: Sheet, column: str) -> list[str]:
    texts = texts_in(sheet, column)
    if texts.null_count():
        row = texts.is_null().arg_max() or 0
        raise InputError(f"{sheet.where(row)}: the text is blank (column {column!r}). Fill it in, or drop the row.")
    return texts.to_list()


def _splits(sheet: Sheet, column: str) -> list[str]:
    found = []
    for row, word in enumerate(names_in(sheet, column, what="split")):
        if word.strip().lower() not in _SPLIT_WORDS:
            raise InputError(
                f"{sheet.where(row)}, column {column!r}: the split must be {', '.join(SPLITS)}. Got {word!r} instead."
            )
        found.append(_SPLIT_WORDS[word.strip().lower()])
    return found


def _features(sheet: Sheet, names: Sequence[str]) -> NDArray[np.float32]:
    if not names:
        raise InputError(f"{sheet.name} has no column that a model could see: text, image, or columns of numbers.")
    numbers = _numbers(sheet, names)
    values = _single(numbers)
    if not np.isfinite(values).all():
        row, column = np.argwhere(~np.isfinite(values))[0].tolist()
        raise InputError(
            f"{sheet.where(row)}, column {names[column]!r}: {numbers[row, column]:g} is too large for a feature, which "
            "is held in single precision (up to 3.4e38). Scale the column."
        )
    return values


def _single(values: NDArray[Any]) -> NDArray[np.float32]:
    with np.errstate(over="ignore"):  # what does not fit is told by those who call
        return values.astype(np.float32)


def _numbers(sheet: Sheet, names: Sequence[str]) -> NDArray[np.float64]:
    columns = []
    for name in names:
        column = sheet.frame[name]
        try:
            numbers = column.cast(pl.Float64)
        except pl.exceptions.PolarsError:
            raise InputError(
                f"{sheet.name}: the column {name!r} holds what is not a number, and there is neither a column 'text' "
                "nor 'image'. Call the texts 'text', or drop the column."
            ) from None
        bad = numbers.is_null() | ~numbers.is_finite().fill_null(False)
        if bad.any():
            row = bad.arg_max() or 0
            raise InputError(
                f"{sheet.where(row)}, column {name!r}: {column[row]!r} is not a finite number. Fill it in."
            )
        columns.append(numbers.to_numpy())
    return np.stack(columns, axis=1)


def _images(sheet: Sheet, folder: Path) -> list[NDArray[np.uint8]]:
    from sfumato.errors import MissingExtraError

    try:
        from PIL import Image, UnidentifiedImageError
    except ImportError:
        raise MissingExtraError("Reading image files", "train") from None
    images: list[NDArray[np.uint8]] = []
    for row, name in enumerate(_texts(sheet, "image")):
        path = folder / name
        try:
            with Image.open(path) as image:
                images.append(np.asarray(image.convert("RGB")))
        except FileNotFoundError:
            raise InputError(f"{sheet.where(row)}: there is no image {path}. Paths start at the items file.") from None
        except (OSError, UnidentifiedImageError) as error:
            raise InputError(f"{sheet.where(row)}: {path} is not an image that can be read ({error}).") from None
        if images[-1].shape != images[0].shape:
            raise InputError(
                f"{sheet.where(row)}: the image {path} has {images[-1].shape[1]}×{images[-1].shape[0]} pixels, "
                f"the first one {images[0].shape[1]}×{images[0].shape[0]}. Bring all to one size."
            )
    return images


def _arrays(path: Path, split: str) -> ItemsFile:
    """Read ``item`` and ``features`` (n, d) or ``images`` (n, height, width, channels) from a NumPy archive."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
    except (ValueError, OSError, zipfile.BadZipFile, EOFError) as error:
        raise InputError(f"{path} is not a NumPy archive that can be read ({error}).") from None
    if "item" not in arrays or not {"features", "images"} & set(arrays):
        raise InputError(
            f"{path} must hold 'item' and 'features' or 'images'. It holds {', '.join(arrays) or 'nothing'}."
        )
    items = [str(name) for name in arrays["item"]]
    try:
        check_vocabulary(items, what="item")
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    kind, values = ("image", arrays["images"]) if "images" in arrays else ("features", arrays["features"])
    if len(values) != len(items) or values.ndim != (4 if kind == "image" else 2):
        raise InputError(f"{path}: {len(items)} items do not go with values of the shape {values.shape}.")
    if kind == "image" and values.dtype != np.uint8:
        raise InputError(f"{path}: images must be whole numbers from 0 to 255 (uint8). Got {values.dtype} instead.")
    if kind == "features":
        if values.dtype.kind not in "fiub":
            raise InputError(f"{path}: features must be numbers. Got {values.dtype} instead.")
        values = _single(values)
        if not np.isfinite(values).all():
            raise InputError(
                f"{path}: the features of item {items[_first_bad(values)]!r} hold what is not a finite number of "
                "single precision (up to 3.4e38)."
            )
    splits = None
    if split in arrays:
        splits = _splits(Sheet(pl.DataFrame({split: [str(word) for word in arrays[split]]}), str(path)), split)
    return _whole(kind, {kind: values}, items, splits)


def _first_bad(values: NDArray[Any]) -> int:
    return int(np.argmin(np.isfinite(values).all(axis=1)))
