"""Votes out of plain tables, as codes: long ones, wide ones and soft ones."""

from __future__ import annotations

__all__ = ["CodedVotes", "long_votes", "soft_votes", "wide_votes"]

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.core.simplex import SUM_TOLERANCE
from sfumato.errors import InputError
from sfumato.tables.cells import Cells
from sfumato.tables.coding import Coder, with_room
from sfumato.tables.number_column import NumberColumn
from sfumato.tables.plain_table import PlainTable
from sfumato.tables.recognise_columns import Columns

Integers = NDArray[np.integer[Any]]

# Batches that one thread has read before another has coded their items.
_AHEAD = 2
_LONGEST_NAME = 1 << 20


@dataclass
class CodedVotes:
    """One entry per vote (per class of a vote that is a distribution), in the order of the source.

    ``item``, ``annotator`` and ``label`` are codes of any integer type. ``annotation`` numbers the distributions;
    ``numbered`` says that the source itself tells the several judgements of one item by one annotator apart.
    """

    item: Integers
    annotator: Integers
    label: Integers
    items: Coder
    annotators: Coder
    labels: Coder
    table: PlainTable
    # The name of the column in which a vote says its item, its annotator and its label.
    item_column: str
    annotator_column: str
    label_column: Callable[[int], str]
    rows: Integers | None = None  # the row of each vote, where it is not the number of the vote
    weight: NDArray[np.float64] | None = None
    annotation: Integers | None = None
    numbered: bool = False
    # For tokens: what each vote says of its item.
    sequence: NDArray[np.int64] | None = None
    position: NDArray[np.int64] | None = None
    notes: tuple[str, ...] = ()

    def let_go(self) -> None:
        """Give back the memory of all codes and names."""
        self.item = self.annotator = self.label = np.zeros(0, dtype=np.int8)
        self.items, self.annotators = Coder(), Coder()

    def where(self, vote: int) -> str:
        """Return the place of a vote, to begin a sentence with."""
        return self.table.where(int(self.rows_of(np.array([vote]))[0]))

    def rows_of(self, votes: NDArray[np.intp]) -> Integers:
        """Return the rows of the table in which some votes stand."""
        return votes if self.rows is None else self.rows[votes]


def long_votes(table: PlainTable, columns: Columns) -> CodedVotes:
    """Return the votes of a table with a row per vote, or per class of a vote that is a distribution."""
    items, annotators, labels = (
        _Column(table, columns.item),
        _Column(table, columns.annotator),
        _Column(table, columns.label),
    )
    numbers = {
        role: NumberColumn(table, place)
        for role in ("weight", "annotation", "sequence", "position")
        if (place := getattr(columns, role)) >= 0
    }
    wanted = [columns.item, columns.annotator, columns.label, *(column.place for column in numbers.values())]
    waiting: deque[Future[None]] = deque()
    # Items are many, and to code them takes half of the time: a second thread does that.
    with ThreadPoolExecutor(1) as other:
        for item, annotator, label, *more in table.batches(wanted):
            item.hashes  # noqa: B018  # made here, so that both threads have as much to do
            waiting.append(other.submit(items.add, item))
            annotators.add(annotator)
            labels.add(label)
            for column, cells in zip(numbers.values(), more, strict=True):
                column.add(cells)
            if len(waiting) > _AHEAD:
                waiting.popleft().result()
        for last in waiting:
            last.result()
    if not items.n_rows:
        raise _no_rows(table)
    name = table.header[columns.label]
    number = {role: column.counts() for role, column in numbers.items() if role != "weight"}
    return CodedVotes(
        items.taken(), annotators.taken(), labels.taken(), items.coder, annotators.coder, labels.coder, table,
        table.header[columns.item], table.header[columns.annotator], lambda _: name,
        weight=numbers["weight"].probabilities() if "weight" in numbers else None,
        annotation=number.get("annotation"), numbered="annotation" in number,
        sequence=number.get("sequence"), position=number.get("position"),
    )  # fmt: skip


def wide_votes(table: PlainTable, columns: Columns, *, sure: bool) -> CodedVotes:
    """Return the votes of a table with a row per item and a column per annotator; blank cells are no votes.

    Unless somebody is *sure* that it is one, a column that shares no label with any other is refused.
    """
    items, labels = _Column(table, columns.item), Coder()
    # A column of labels for each annotator, all coded by one coder.
    said = [_Column(table, place, labels) for place in columns.many]
    for item, *cells in table.batches([columns.item, *columns.many]):
        items.add(item)
        for column, batch in zip(said, cells, strict=True):
            column.add(batch)
    if not items.n_rows:
        raise _no_rows(table)
    names = [table.header[place] for place in columns.many]
    label = np.stack([column.taken() for column in said], axis=1)
    judged = ~labels.cells().blank()[label]
    if not sure:
        _check_shared(label, judged, names, table, columns)
    rows, voter = np.nonzero(judged)
    if not rows.size:
        raise InputError(f"{table.name} was taken for a wide table (a column per annotator), and every cell is blank.")
    item_codes, item_names = items.coder.only(items.taken()[rows])
    label_codes, label_names = labels.only(label[rows, voter])
    annotators = Coder()
    annotators.add(Cells.of(names))
    annotator_codes, used = annotators.only(voter)
    notes = []
    if len(used) < len(names):
        notes.append(f"Annotators who judged nothing were left out ({len(names) - len(used):,} of {len(names):,}).")
    n_silent = len(label) - np.count_nonzero(judged.any(axis=1))
    if n_silent:
        notes.append(f"Rows without any vote were left out ({n_silent:,} of {len(label):,}).")
    return CodedVotes(
        item_codes, annotator_codes, label_codes, item_names, used, label_names, table,
        table.header[columns.item], "", lambda vote: names[voter[vote]], rows=rows, notes=tuple(notes),
    )  # fmt: skip


def _check_shared(
    label: Integers, judged: NDArray[np.bool_], names: list[str], table: PlainTable, columns: Columns
) -> None:
    """Refuse a table that is no wide one, or in which a column holds something else than votes.

    A column that shares no label with any other is suspicious. It holds no votes if its cells are all different, as
    free text is; and if none of its cells is blank, and there are two such columns or no blank cell at all, this is a
    long table with columns of unusual names.
    """
    used_by = np.zeros((int(label.max()) + 1, len(names)), dtype=np.bool_)
    row, column = np.nonzero(judged)
    used_by[label[row, column], column] = True
    shared = used_by & (used_by.sum(axis=1) > 1)[:, np.newaxis]
    n_votes, n_labels = judged.sum(axis=0), used_by.sum(axis=0)
    alone = (n_labels > 0) & ~shared.any(axis=0)
    full = alone & (n_votes == len(label))
    if np.count_nonzero(full) < 2 and not judged.all():
        full[:] = False
    odd = full | alone & (n_labels == n_votes) & (n_votes > 1)
    if odd.any() and (n_labels > 0).sum() > 1 and len(label) > 1:
        _refuse_first_row_as_header(table, columns)
        listed = ", ".join(map(repr, table.header[:12])) + (", …" if len(table.header) > 12 else "")
        raise InputError(
            f"{table.name} has no columns named as annotator and label, and is no wide table (a column per annotator) "
            f"either: {names[int(np.argmax(odd))]!r} shares no label with the other columns ({listed}). "
            "Say which is which with item=…, annotator=… and label=… (on the command line --item, --annotator, "
            "--label), or that it is wide with format='wide' (--format wide)."
        )


def _refuse_first_row_as_header(table: PlainTable, columns: Columns) -> None:
    """Say so where the names of columns stand among the cells below them: the table has no header at all."""
    header = [table.header[place] for place in columns.many]
    below = [set[str]() for _ in header]
    for batches in table.batches(list(columns.many)):
        for seen, cells in zip(below, batches, strict=True):
            seen.update(cells.texts())
    if all(name in seen for name, seen in zip(header, below, strict=True)):
        first = ", ".join(map(repr, table.header[:6]))
        raise InputError(
            f"{table.name}: the first line ({first}) looks like a vote, not like a header. Put a line with the names "
            "of the columns above it, such as item,annotator,label."
        )


def soft_votes(table: PlainTable, columns: Columns) -> CodedVotes:
    """Return the votes of a table with a row per vote and a column per class, which holds its probability."""
    items, annotators = _Column(table, columns.item), _Column(table, columns.annotator)
    numbers = [NumberColumn(table, place) for place in columns.many]
    for item, annotator, *cells in table.batches([columns.item, columns.annotator, *columns.many]):
        items.add(item)
        annotators.add(annotator)
        for column, batch in zip(numbers, cells, strict=True):
            column.add(batch)
    if not items.n_rows:
        raise _no_rows(table)
    weight = np.stack([column.probabilities() for column in numbers], axis=1)
    total = weight.sum(axis=1)
    wrong = np.flatnonzero(np.abs(total - 1) > SUM_TOLERANCE)
    names = [table.header[place] for place in columns.many]
    if wrong.size:
        shown = ", ".join(map(repr, names[:6])) + (", …" if len(names) > 6 else "")
        raise InputError(
            f"{table.where(int(wrong[0]))}: the probabilities in the columns {shown} sum to {total[wrong[0]]:.6g}, "
            "not to 1. Correct them, or say which columns are classes with classes=… (on the command line --classes)."
        )
    labels = Coder()
    labels.add(Cells.of(names))
    rows = np.repeat(np.arange(len(weight)), len(names))
    return CodedVotes(
        items.taken()[rows], annotators.taken()[rows], np.tile(np.arange(len(names)), len(weight)),
        items.coder, annotators.coder, labels, table,
        table.header[columns.item], table.header[columns.annotator], lambda vote: names[vote % len(names)],
        rows=rows, weight=weight.ravel(), annotation=rows,
    )  # fmt: skip


class _Column:
    """The codes of a column of names, as its batches come in."""

    def __init__(self, table: PlainTable, place: int, coder: Coder | None = None) -> None:
        self.coder = Coder() if coder is None else coder
        self.n_rows = 0
        self._table = table
        self._place = place
        # One array with room to grow: many small ones would leave holes in the memory when they go.
        self._codes: Integers = np.zeros(0, dtype=np.uint8)

    def add(self, cells: Cells) -> None:
        if cells.length.max(initial=0) > _LONGEST_NAME:
            row = int(np.argmax(cells.length > _LONGEST_NAME))
            raise InputError(
                f"{self._table.where(self.n_rows + row)}, column {self._table.header[self._place]!r}: "
                f"holds {cells.length[row]:,} bytes, which is no name. Was a quote left open?"
            )
        codes = self.coder.add(cells)
        # Ten labels need a byte each, not four.
        kind = np.min_scalar_type(len(self.coder))
        if self._codes.dtype != kind:
            self._codes = self._codes.astype(kind)
        n_rows = self.n_rows + len(cells)
        self._codes = with_room(self._codes, n_rows)
        self._codes[self.n_rows : n_rows] = codes
        self.n_rows = n_rows

    def taken(self) -> Integers:
        """Return the codes of all rows; none can be added any more."""
        self.coder.close()
        return self._codes[: self.n_rows]


def _no_rows(table: PlainTable) -> InputError:
    return InputError(f"{table.name} has a header and no row below it. Export it again, with its annotations.")
