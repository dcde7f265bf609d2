"""The cells of a column as bytes, of which eight at a time are hashed and compared as one number.

So that what would be a loop over cells is a handful of NumPy operations on a whole batch of them.
"""

from __future__ import annotations

__all__ = ["Cells", "Rows", "Words"]

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from sfumato.core.vocabulary import Vocabulary

Rows = NDArray[np.intp]
Words = NDArray[np.uint64]

# The odd number next to 2^64 / golden ratio: multiplying by it spreads near numbers over the whole range (Knuth,
# The Art of Computer Programming 3, 6.4).
_SPREAD = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)
# What remains of a word of eight bytes when only its first 0, 1, … 8 belong to the name.
_MASKS = np.array([(1 << 8 * size) - 1 for size in range(9)], dtype=np.uint64)
# Whether a character that is white space can begin with a byte.
_MAY_BE_SPACE = np.zeros(256, dtype=np.bool_)
_MAY_BE_SPACE[[character.encode()[0] for character in map(chr, range(0xD800)) if character.isspace()]] = True
# How much of a cell is quoted in a sentence.
_QUOTED = 60
# How many cells become texts at a time.
_RUN = 1 << 14


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of one column: ``length[r]`` bytes of ``buffer`` from ``start[r]``, UTF-8, without zero bytes.

    ``start`` and ``length`` have shape (n_rows,). The buffer goes on for at least 8 bytes after the last cell, so
    that whole words can be read from it.

    >>> cells = Cells.of(["yes", "", "no"])
    >>> cells.length.tolist(), cells.text(2)
    ([3, 0, 2], 'no')
    """

    buffer: NDArray[np.uint8]
    start: Rows
    length: Rows

    @classmethod
    def of(cls, texts: Iterable[str]) -> Cells:
        """Return cells that hold *texts*."""
        encoded = [text.encode() for text in texts]
        length = np.fromiter(map(len, encoded), dtype=np.intp, count=len(encoded))
        return cls.joined(b"".join(encoded), length)

    @classmethod
    def joined(cls, data: bytes, length: Rows) -> Cells:
        """Return cells that stand in *data* one after the other."""
        return cls(np.frombuffer(data + bytes(8), dtype=np.uint8), np.cumsum(length) - length, length)

    def __len__(self) -> int:
        return len(self.start)

    def take(self, rows: Rows | slice) -> Cells:
        """Return some of the cells, and what was worked out of them."""
        result = Cells(self.buffer, self.start[rows], self.length[rows])
        known = self.__dict__
        if "words" in known and all(some is None for some, _ in self.words):
            result.__dict__["words"] = [(None, words[rows]) for _, words in self.words]
        if "hashes" in known:
            result.__dict__["hashes"] = self.hashes[rows]
        return result

    def text(self, row: int) -> str:
        """Return one cell as text."""
        start = self.start[row]
        return self.buffer[start : start + self.length[row]].tobytes().decode()

    def quoted(self, row: int) -> str:
        """Return one cell in quotes, for a sentence; a long one is cut."""
        text = self.text(row)
        return repr(text if len(text) <= _QUOTED else text[:_QUOTED] + "…")

    def texts(self) -> Vocabulary:
        """Return all cells as texts."""
        # In runs, because the places of all bytes take eight times what the bytes take.
        return tuple(chain.from_iterable(self.take(slice(i, i + _RUN))._texts() for i in range(0, len(self), _RUN)))

    def _texts(self) -> list[str]:
        length = self.length + 1
        begin = np.cumsum(length) - length
        data = self.buffer[np.arange(length.sum()) + np.repeat(self.start - begin, length)]
        # The byte after each cell becomes a zero byte, which no cell holds.
        data[begin + self.length] = 0
        texts: list[str] = data.tobytes().decode().split("\0")
        return texts[:-1]

    def blank(self) -> NDArray[np.bool_]:
        """Return which cells hold nothing, or nothing but white space; shape (n_rows,)."""
        result: NDArray[np.bool_] = self.length == 0
        # Most cells begin with a byte with which no white space begins, be it ASCII or not (U+0085, U+00A0, U+2003, …).
        for row in np.flatnonzero(_MAY_BE_SPACE[self.buffer[self.start]] & ~result):
            result[row] = not self.text(int(row)).strip()
        return result

    @cached_property
    def words(self) -> list[tuple[Rows | None, Words]]:
        """The first word of the cells, the second, …, each with the rows that have it (None: all of them).

        The last word of a cell always ends with a zero byte, so two cells are equal when all their words are.
        """
        every_byte = np.ndarray(len(self.buffer) - 7, dtype="<u8", buffer=self.buffer.data, strides=(1,))
        result: list[tuple[Rows | None, Words]] = []
        shortest = int(self.length.min(initial=1 << 62))
        rows: Rows | None = None
        for begin in range(0, int(self.length.max(initial=-1)) + 1, 8):
            if begin > shortest:
                rows = np.flatnonzero(self.length >= begin) if rows is None else rows[self.length[rows] >= begin]
            start, length = (self.start, self.length) if rows is None else (self.start[rows], self.length[rows])
            words = every_byte[start + begin if begin else start]
            words &= _MASKS.take(length - begin if begin else length, mode="clip")
            result.append((rows, words))
        return result

    @cached_property
    def hashes(self) -> Words:
        """A number of 64 bits for each cell, the same for the same bytes."""
        result: Words = np.zeros(len(self), dtype=np.uint64)
        for place, (rows, words) in enumerate(self.words):
            mixed = words >> _HALF
            mixed ^= words
            if place:
                mixed ^= result if rows is None else result[rows]
            mixed *= _SPREAD
            mixed ^= mixed >> _HALF
            if rows is None:
                result = mixed
            else:
                result[rows] = mixed
        return result

    def equal(self, other: Cells) -> NDArray[np.bool_]:
        """Return in which rows the two hold the same bytes."""
        result: NDArray[np.bool_] = self.length == other.length
        if not result.all():
            rows = np.flatnonzero(result)
            result[rows] = self.take(rows).equal(other.take(rows))
            return result
        for (rows_here, words), (_, others) in zip(self.words, other.words, strict=True):
            if rows_here is None:
                result &= words == others
            else:
                result[rows_here] &= words == others
        return result
