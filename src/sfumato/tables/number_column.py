"""A column of numbers that came as text."""

from __future__ import annotations

__all__ = ["NumberColumn"]

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from sfumato.core.simplex import SUM_TOLERANCE
from sfumato.errors import InputError
from sfumato.tables.cells import Cells
from sfumato.tables.coding import Coder
from sfumato.tables.plain_table import PlainTable


class NumberColumn:
    """The numbers of the column at *place*, as its batches come in; each way of writing one is parsed only once."""

    def __init__(self, table: PlainTable, place: int) -> None:
        self.place = place
        self._table = table
        self._coder = Coder()
        self._codes: list[NDArray[np.int32]] = []

    def add(self, cells: Cells) -> None:
        """Take in the next batch."""
        self._codes.append(self._coder.add(cells))

    def probabilities(self) -> NDArray[np.float64]:
        """Return the numbers if each is between 0 and 1, else raise an `InputError` that says which is not."""
        return self._numbers(lambda value: 0 <= value <= 1 + SUM_TOLERANCE, "a probability between 0 and 1, as in 0.7")

    def counts(self) -> NDArray[np.int64]:
        """Return the numbers if each is a whole one from 0 on, else raise an `InputError`."""
        wanted = "a whole number, as `Annotations.save` writes it"
        return self._numbers(lambda value: 0 <= value < 2**31 and value == int(value), wanted).astype(np.int64)

    def durations(self) -> NDArray[np.float64]:
        """Return the numbers if none is below 0, else raise an `InputError`."""
        return self._numbers(lambda value: value >= 0, "a number of seconds, 0 or more")

    def _numbers(self, fits: Callable[[float], bool], wanted: str) -> NDArray[np.float64]:
        codes = np.concatenate(self._codes)
        texts = self._coder.names()
        values = np.fromiter(map(_number, texts), dtype=np.float64, count=len(texts))
        # A column may hold few different numbers or a different one in each row; the check is quick enough for both.
        wrong = np.array([not (math.isfinite(value) and fits(value)) for value in values.tolist()], dtype=np.bool_)
        if wrong.any():
            row = int(np.argmax(wrong[codes]))
            text = texts[codes[row]]
            found = f"{text!r} is not" if text.strip() else "the cell is blank where there must be"
            raise InputError(
                f"{self._table.where(row)}, column {self._table.header[self.place]!r}: {found} {wanted}. "
                "Correct it, or drop the annotation."
            )
        result: NDArray[np.float64] = values[codes]
        return result


def _number(text: str) -> float:
    """Return the number that a text is, NaN where it is none; Python's underscores are none of it."""
    try:
        return math.nan if "_" in text else float(text)
    except ValueError:
        return math.nan
