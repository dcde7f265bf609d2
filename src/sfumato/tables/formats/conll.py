r"""CoNLL-like files: one token per line, what many annotators said of it beside it, a blank line after each sequence.

    I        PRON  PRON  ?               one column per annotator; ?, -, _ or nothing: did not judge
    predict  VERB  NOUN  VERB

    000000   I     PRON,,PRON    PRON    one column with the labels of all annotators, in the same order on each line;
    000001   win   VERB,NOUN,    VERB    a column of one label each after it is a reference, and is not read

Columns are parted by tabs, or else by blank space. A first column of numbers holds ids: where they are unique in the
file, they name the items; otherwise an item is "<sequence>-<position>", both from 1. A header (``token``, ``ann``, …)
names the annotators, who else are called by their number. Where a blank line stands after every single token, a
sequence ends at the wider gaps. Comments (lines that begin with # and lack the columns) and -DOCSTART- are no tokens.
"""

from __future__ import annotations

__all__ = ["NAME", "TITLE", "read", "recognises"]

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from sfumato.errors import FormatError, InputError
from sfumato.tables.formats.beginning import Beginning
from sfumato.tables.formats.records import Record
from sfumato.tables.formats.votes import Votes, only, refuse_options
from sfumato.tables.source import read_text
from sfumato.tables.vote_table import VoteTable

NAME = "conll"
TITLE = "CoNLL"

_NOT_JUDGED = ("?", "-", "_", "")
_TOKEN_NAMES = ("token", "word", "form")


@dataclass(frozen=True)
class _Lines:
    """The token lines: cells, line numbers, how many blank lines stand before each, and the header if there is one."""

    cells: list[list[str]]
    numbers: list[int]
    gaps: list[int]
    header: list[str] | None


@dataclass(frozen=True)
class _Layout:
    """Which columns hold what: ids (or None), the list of all labels (or None), else one column per annotator."""

    id: int | None
    listed: int | None
    annotators: list[int]
    unread: list[int]


def recognises(beginning: Beginning) -> bool:
    """Return whether blank lines part lines of a token and the labels of at least two annotators."""
    try:
        lines = _split(beginning.lines, Path("the file"))
        layout = _layout(lines, Path("the file"))
    except InputError:
        return False
    if not any(lines.gaps[1:]):
        return False
    if layout.listed is not None:
        return len({cells[layout.listed].count(",") for cells in lines.cells}) == 1
    return len(layout.annotators) > 1 and _is_one_kind(lines, layout)


def read(
    paths: Sequence[Path],
    *,
    item: str | None = None,
    annotator: str | None = None,
    label: str | None = None,
    task: str | None = None,
) -> VoteTable:
    """Return the votes and the places of the tokens.

    ``label`` is the one column to read, ``item`` the column with the ids: each by name or by number from 1.
    """
    path = only(paths, TITLE)
    refuse_options(TITLE, annotator=annotator, task=task)
    text = read_text(path)
    if text.lstrip().startswith(('{"', '[{"')):
        raise FormatError(f"{path} holds JSON, not lines of tokens. Name its format.")
    lines = _split(text.split("\n"), path)
    layout = _layout(lines, path, id=_column(item, lines, path), label=_column(label, lines, path))
    votes = Votes(path, NAME)
    names = [str(number) for number in range(1, _n_annotators(lines, layout) + 1)]
    if layout.listed is None and lines.header is not None:
        names = [lines.header[column] or f"column {column + 1}" for column in layout.annotators]
    ids = None if layout.id is None else [cells[layout.id] for cells in lines.cells]
    if ids is not None and item is None and len(set(ids)) < len(ids):
        ids = None
    usual = min(lines.gaps[1:], default=0)
    if max(lines.gaps[1:], default=0) == usual:  # no gap is wider than another: each blank line ends a sequence
        usual = 0
    sequence, position = 1, 0
    places: list[tuple[str, int, int]] = []
    for row, (cells, number, gap) in enumerate(zip(lines.cells, lines.numbers, lines.gaps, strict=True)):
        if row and gap > usual:
            sequence, position = sequence + 1, 0
        position += 1
        name = ids[row] if ids is not None else f"{sequence}-{position}"
        places.append((name, sequence, position))
        record = Record({}, f"{path}, line {number}", number)
        said = _said(cells, layout)
        if len(said) != len(names):
            raise InputError(
                f"{record.where}: has {len(said)} labels where the first line has {len(names)}. Correct it."
            )
        for who, what in zip(names, said, strict=True):
            if what not in _NOT_JUDGED:
                votes.add(name, who, what, record)
    _note(votes, lines, layout)
    tokens = pl.DataFrame(places, schema={"item": pl.String, "sequence": pl.Int64, "position": pl.Int64}, orient="row")
    twice = tokens.filter(pl.col("item").is_duplicated())
    if twice.height:
        raise InputError(
            f"{path}: the id {twice['item'][0]!r} stands on more than one line. Name another column of ids."
        )
    shown = "the position" if ids is None else f"column {(layout.id or 0) + 1}"
    read_columns = layout.annotators if layout.listed is None else [layout.listed]
    columns = ", ".join(str(column + 1) for column in read_columns)
    named = "the place" if layout.listed is not None or lines.header is None else "the header"
    return votes.table({"item": shown, "annotator": named, "label": f"column {columns}"}, tokens=tokens)


def _split(texts: Sequence[str], path: Path) -> _Lines:
    tabs = any("\t" in text for text in texts)
    cells: list[list[str]] = []
    numbers: list[int] = []
    gaps: list[int] = []
    # Without tabs a comment has as many columns as words; tokens have all the same number.
    widths = Counter(len(text.split()) for text in texts if text.strip() and not text.startswith("#"))
    width = max(widths, key=widths.__getitem__, default=0)
    gap = 0
    for number, text in enumerate(texts, start=1):
        found = [cell.strip() for cell in text.split("\t")] if tabs else text.split()
        if not any(found):
            gap += 1
        elif not tabs and found[0] == "#" and len(found) != width:
            continue
        elif len(found) > 1 and found[0] != "-DOCSTART-":
            if cells and len(found) != len(cells[0]):
                raise InputError(
                    f"{path}, line {number}: has {len(found)} columns where the first token has {len(cells[0])}. "
                    "Correct the line; if it is the last one, the file was cut: export it again."
                )
            cells.append(found)
            numbers.append(number)
            gaps.append(gap)
            gap = 0
        elif not found[0].startswith(("#", "-DOCSTART-")):
            raise InputError(f"{path}, line {number}: holds a token and nothing beside it. Give its labels too.")
    if not cells:
        raise FormatError(f"{path} holds no line with a token and labels. Name its format.")
    names = [cell.removeprefix("#").strip() for cell in cells[0]]
    if any(name.lower() in _TOKEN_NAMES for name in names[:2]) and len(cells) > 1 and _is_header(cells):
        return _Lines(cells[1:], numbers[1:], [0, *gaps[2:]], names)
    return _Lines(cells, numbers, gaps, None)


def _is_header(cells: list[list[str]]) -> bool:
    """Return whether the first line has names in its columns: texts that no column holds anywhere else."""
    elsewhere = {cell for line in cells[1:] for cell in line[1:]}
    return not elsewhere & set(cells[0][2:]) and len(set(cells[0])) == len(cells[0])


def _layout(lines: _Lines, path: Path, *, id: int | None = None, label: int | None = None) -> _Layout:
    columns = list(range(len(lines.cells[0])))
    if id is None and len(columns) > 2 and all(cells[0].isdecimal() for cells in lines.cells):
        id = 0
    token = next(column for column in columns if column != id)
    labels = [column for column in columns if column not in (id, token)]
    if label is not None:
        if label not in labels:
            raise InputError(
                f"{path}: column {label + 1} holds the ids or the tokens, not labels. Name another column."
            )
        labels = [label]
    if not labels:
        raise InputError(
            f"{path} has no column of labels beside those of ids and tokens. Name another column, or the format."
        )
    listed = next((column for column in labels if all("," in cells[column] for cells in lines.cells)), None)
    annotators = [] if listed is not None else labels
    unread = [column for column in columns if column not in (id, token, listed, *annotators)]
    return _Layout(id, listed, annotators, unread)


def _column(name: str | None, lines: _Lines, path: Path) -> int | None:
    if name is None:
        return None
    if lines.header is not None and name in lines.header:
        return lines.header.index(name)
    n_columns = len(lines.cells[0])
    if name.isdecimal() and 1 <= int(name) <= n_columns:
        return int(name) - 1
    known = ", ".join(map(repr, lines.header or ())) or "no header"
    raise InputError(f"{path} has no column {name!r}. Give a number from 1 to {n_columns}, or a name ({known}).")


def _said(cells: list[str], layout: _Layout) -> list[str]:
    if layout.listed is not None:
        return [label.strip() for label in cells[layout.listed].split(",")]
    return [cells[column] for column in layout.annotators]


def _n_annotators(lines: _Lines, layout: _Layout) -> int:
    return len(_said(lines.cells[0], layout))


def _note(votes: Votes, lines: _Lines, layout: _Layout) -> None:
    if layout.listed is not None:
        votes.note(
            f"Column {layout.listed + 1} lists the labels of {_n_annotators(lines, layout)} annotators by place."
        )
    if layout.unread:
        shown = ", ".join(str(column + 1) for column in layout.unread)
        votes.note(f"Not read: column {shown} (a reference or something else that is no annotator's).")


def _is_one_kind(lines: _Lines, layout: _Layout) -> bool:
    """Return whether the columns share their labels, as those of annotators do and those of other layers do not."""
    kinds = [{cells[column] for cells in lines.cells} - set(_NOT_JUDGED) for column in layout.annotators]
    for number, kind in enumerate(kinds):
        others = set().union(*kinds[:number], *kinds[number + 1 :])
        if not kind or len(kind & others) < len(kind) / 2:
            return False
    if lines.header is not None:
        return True
    # Names at the head of a wide table stand nowhere else, and such a table is none of tokens.
    first = {lines.cells[0][column] for column in layout.annotators} - set(_NOT_JUDGED)
    elsewhere = {cells[column] for cells in lines.cells[1:] for column in layout.annotators}
    return bool(first & elsewhere) or len(first) < len(layout.annotators)
