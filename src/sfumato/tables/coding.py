"""Names in, integer codes out: exact, and fast enough for tens of millions of rows.

A hash only says where to look: a name is the same as another only when all its bytes are.
"""

from __future__ import annotations

__all__ = ["Coder", "with_room"]

import mmap
from contextlib import suppress
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.core.vocabulary import Vocabulary
from sfumato.errors import TooLargeError
from sfumato.tables.cells import Cells, Rows, Words

Codes = NDArray[np.int32]

_HALF = np.uint64(32)
# A free entry of the table; its lower half is the code -1.
_FREE = np.uint64(2**64 - 1)
# Places of words are kept in 32 bits.
_MOST_WORDS = 2**31 - 1
# Arrays of at least so many bytes get a mapping of their own.
_LARGE = 1 << 20
_ALL = slice(None)
# How many names are hashed, or made into texts, at once.
_RUN = 1 << 16


class Coder:
    """Gives each name a code, in the order in which the names first appear.

    >>> coder = Coder()
    >>> coder.add(Cells.of(["b", "a", "b"])).tolist(), coder.add(Cells.of(["c", "a"])).tolist()
    ([0, 1, 0], [2, 1])
    >>> coder.names()
    ('b', 'a', 'c')
    """

    def __init__(self) -> None:
        self._n = 0
        # The words of the names, one name after the other, and where those of each code begin (and the last end).
        self._words: Words = np.zeros(1, dtype=np.uint64)
        self._place: Codes = np.ones(1, dtype=np.int32)
        self._length: Codes = np.zeros(0, dtype=np.int32)
        # Open addressing: at the slot that its hash names, or at the first free one after it, stands where the words
        # of a name are and which code it has (place << 32 | code), so that a look at a name visits memory twice.
        self._table: Words = np.full(64, _FREE)

    def __len__(self) -> int:
        return self._n

    def add(self, cells: Cells) -> Codes:
        """Return the code of each cell, shape (n_rows,); names not met before get the next codes."""
        # A comparison may read as many words from the last name on as the longest cell has.
        self._words = with_room(self._words, int(self._place[self._n]) + len(cells.words))
        codes = self._find(cells)
        new = np.flatnonzero(codes < 0)
        if new.size:
            codes[new] = self._learn(cells.take(new))
        return codes

    def close(self) -> None:
        """Give back the memory of the search; no name can be added any more."""
        self._table = np.full(0, _FREE)

    def cells(self, codes: slice = _ALL) -> Cells:
        """Return the names (those of a run of codes) as cells, in the order of their codes."""
        data = self._words[: self._place[self._n]].astype("<u8", copy=False).view(np.uint8)
        place, length = self._place[: self._n][codes], self._length[: self._n][codes]
        return Cells(data, 8 * place.astype(np.intp), length.astype(np.intp))

    def only(self, codes: NDArray[np.integer[Any]]) -> tuple[NDArray[np.integer[Any]], Coder]:
        """Return *codes* and a coder for the names that they use and no others, in the same order."""
        used = np.zeros(self._n, dtype=np.bool_)
        used[codes] = True
        if used.all():
            return codes, self
        fewer = Coder()
        new_code = np.full(self._n, -1, dtype=np.int32)
        new_code[used] = fewer.add(self.cells().take(np.flatnonzero(used)))
        return new_code[codes], fewer

    def names(self) -> Vocabulary:
        """Return the names, in the order of their codes."""
        runs = (slice(begin, begin + _RUN) for begin in range(0, self._n, _RUN))
        return tuple(chain.from_iterable(self.cells(run).texts() for run in runs))

    def _find(self, cells: Cells) -> Codes:
        """Return the code of each cell, -1 for those that are not known yet."""
        slot = self._slots(cells.hashes)
        found = self._table.take(slot)
        wrong = np.flatnonzero(self._differs(found, cells))
        while wrong.size:
            slot = (slot if len(slot) == len(wrong) else slot[wrong]) + 1 & len(self._table) - 1
            other = self._table.take(slot)
            found[wrong] = other
            still = self._differs(other, cells.take(wrong))
            wrong, slot = wrong[still], slot[still]
        return found.astype(np.int32)

    def _differs(self, found: Words, cells: Cells) -> NDArray[np.bool_]:
        """Return where an entry of the table is that of another name than the cell."""
        place = (found >> _HALF).view(np.int64)
        differs = np.zeros(len(place), dtype=np.bool_)
        for k, (rows, words) in enumerate(cells.words):
            # A free entry points beyond all words; clipped, it is compared with what does not matter.
            if rows is None:
                differs |= self._words.take(place + k if k else place, mode="clip") != words
            else:
                differs[rows] |= self._words.take(place[rows] + k, mode="clip") != words
        differs &= found != _FREE
        return differs

    def _learn(self, cells: Cells) -> Codes:
        """Give codes to names that are not known yet (some perhaps several times), and return those codes."""
        first = _first_rows(cells)
        rows = np.flatnonzero(first == np.arange(len(first)))
        code_of = np.empty(len(cells), dtype=np.int32)
        code_of[rows] = np.arange(self._n, self._n + len(rows))
        self._append(cells.take(rows))
        return code_of[first]

    def _append(self, cells: Cells) -> None:
        """Add names that are new and distinct."""
        old, n = self._n, self._n + len(cells)
        end = self._place[old] + np.cumsum((cells.length >> 3) + 1)
        if end[-1] > _MOST_WORDS:
            raise TooLargeError("The names in one column take more than 16 GiB. Give shorter ids.")
        self._words = with_room(self._words, int(end[-1]))
        self._place = with_room(self._place, n + 1)
        self._length = with_room(self._length, n)
        self._place[old + 1 : n + 1] = end
        self._length[old:n] = cells.length
        place = self._place[old:n].astype(np.intp)
        for k, (rows, words) in enumerate(cells.words):
            self._words[(place if rows is None else place[rows]) + k] = words
        self._n = n
        if 3 * n <= len(self._table):
            self._enter(cells.hashes, old)
            return
        # Larger than needed now, so that the names are entered anew only a few times.
        self._table = _room(1 << (4 * n).bit_length(), self._table.dtype)
        self._table.fill(_FREE)
        for begin in range(0, n, _RUN):
            self._enter(self.cells(slice(begin, begin + _RUN)).hashes, begin)

    def _enter(self, hashes: Words, first: int) -> None:
        """Enter the names from code *first* on into the table."""
        codes = np.arange(first, first + len(hashes), dtype=np.uint64)
        entry = (self._place[first : first + len(hashes)].astype(np.uint64) << _HALF) + codes
        slot = self._slots(hashes)
        while entry.size:
            free = self._table.take(slot) == _FREE
            self._table[slot[free]] = entry[free]
            # Of several names that wanted the same slot one has it now.
            lost = np.flatnonzero(self._table.take(slot) != entry)
            slot, entry = slot[lost] + 1 & len(self._table) - 1, entry[lost]

    def _slots(self, hashes: Words) -> Rows:
        return (hashes >> np.uint64(65 - len(self._table).bit_length())).view(np.intp)


def _first_rows(cells: Cells) -> Rows:
    """Return for each cell the first row that holds the same bytes."""
    result = np.arange(len(cells))
    left = result
    while left.size:
        # The upper bits of the hash and the row in one number: sorting it brings equal names together, in order.
        bits = np.uint64((1 << len(left).bit_length()) - 1)
        key = (cells.hashes[left] & ~bits) | np.arange(len(left), dtype=np.uint64)
        key.sort()
        rows = left[(key & bits).astype(np.intp)]
        key &= ~bits
        begins = np.ones(len(rows), dtype=np.bool_)
        np.not_equal(key[1:], key[:-1], out=begins[1:])
        first = rows[begins][np.cumsum(begins) - 1]
        rows, first = rows[~begins], first[~begins]
        same = cells.take(rows).equal(cells.take(first))
        result[rows[same]] = first[same]
        # Another name with the same hash: it waits for the next round, in which its own first row leads.
        left = np.sort(rows[~same])
    return result


def with_room(array: NDArray[Any], size: int) -> NDArray[Any]:
    """Return an array with at least *size* entries that begins as this one does; what is not used takes no memory."""
    if len(array) >= size:
        return array
    larger = _room(max(size, 2 * len(array)), array.dtype)
    larger[: len(array)] = array
    return larger


def _room(size: int, kind: np.dtype[Any]) -> NDArray[Any]:
    """Return an array of which nothing is used yet.

    A large one is a mapping of its own, because the usual allocator keeps the holes that growing arrays leave
    behind: a hundred megabytes for ten million rows. Large pages make random visits to it twice as fast.
    """
    n_bytes = size * kind.itemsize
    if n_bytes < _LARGE:
        return np.zeros(size, dtype=kind)
    private = {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS} if hasattr(mmap, "MAP_ANONYMOUS") else {}
    mapping = mmap.mmap(-1, n_bytes, **private)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        with suppress(OSError):
            mapping.madvise(mmap.MADV_HUGEPAGE)
    return np.frombuffer(mapping, dtype=kind)
