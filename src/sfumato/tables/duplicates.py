"""From coded votes to annotations, and what becomes of several judgements of one item by one annotator."""

from __future__ import annotations

__all__ = ["DUPLICATES", "Duplicates", "as_annotations"]

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from sfumato.core.annotations import Annotations
from sfumato.core.simplex import SUM_TOLERANCE
from sfumato.core.vocabulary import Vocabulary
from sfumato.errors import DuplicateError, InputError
from sfumato.tables.coded_votes import CodedVotes

Duplicates = Literal["error", "keep", "first", "last", "mean"]
DUPLICATES: tuple[Duplicates, ...] = get_args(Duplicates)

Codes = NDArray[np.int32]
Integers = NDArray[np.integer[Any]]
Mask = NDArray[np.bool_]

# Rows that are taken apart at a time, so that what lies between hardly counts in the peak of memory.
_RUN = 1 << 18
_KEY_BITS = 64


def as_annotations(
    votes: CodedVotes, classes: Vocabulary, *, duplicates: Duplicates = "error", notes: Sequence[str] = ()
) -> Annotations:
    """Return the votes as annotations; *duplicates* says what to do where an annotator judged an item repeatedly.

    ``error`` refuses (unless the source itself numbers the judgements), ``keep`` counts each, ``first`` and ``last``
    take one, and ``mean`` makes one distribution of them.
    """
    place = {name: code for code, name in enumerate(classes)}
    new_code = np.array([place[name] for name in votes.labels.names()], dtype=np.min_scalar_type(len(classes)))
    votes.label = new_code[votes.label]
    if votes.numbered and duplicates == "error":
        duplicates = "keep"
    sequence, position = _token_places(votes)
    plain = votes.weight is None and votes.annotation is None
    key = _key_of(votes, len(classes)) if plain else None
    # The names are made by Python and sorting needs none of it, so that both take place at the same time.
    with ThreadPoolExecutor(1) as other:
        sorting = None if key is None else other.submit(key.sort)
        items, annotators = votes.items.names(), votes.annotators.names()
        if sorting is not None:
            sorting.result()
    if key is not None and (duplicates == "keep" or not key.repeated().any()):
        votes.let_go()
        i, j, k = key.codes()
        del key
        return Annotations._from_sorted(
            i, j, k, items=items, annotators=annotators, classes=classes,
            sequence=sequence, position=position, notes=notes,
        )  # fmt: skip
    rows = _Rows.of(votes)
    if votes.weight is not None:
        rows.check(votes, classes)
    if duplicates != "keep":
        rows, aside = rows.resolved(votes, duplicates)
        notes = (*notes, *aside)
    hard = plain and duplicates != "mean"
    return Annotations.from_codes(
        rows.item, rows.annotator, rows.label,
        weight=None if hard else rows.weight, annotation=None if hard else rows.annotation,
        items=items, annotators=annotators, classes=classes,
        sequence=sequence, position=position, notes=notes,
    )  # fmt: skip


@dataclass(frozen=True)
class _Key:
    """Item, annotator and label of each vote in one number: sorting these is ten times as fast as sorting rows."""

    key: NDArray[np.uint64]
    n_bits: tuple[int, int, int]

    def sort(self) -> None:
        self.key.sort()

    def repeated(self) -> Mask:
        """Return where a vote has the item and the annotator of the sorted one before it; shape (n_votes − 1,)."""
        result = np.empty(max(len(self.key) - 1, 0), dtype=np.bool_)
        shift = np.uint64(self.n_bits[2])
        for begin in range(0, len(result), _RUN):
            pair = self.key[begin : begin + _RUN + 1] >> shift
            np.equal(pair[1:], pair[:-1], out=result[begin : begin + _RUN])
        return result

    def codes(self) -> tuple[Codes, Codes, Codes]:
        """Return items, annotators and labels."""
        _, annotator_bits, label_bits = self.n_bits
        shifts = (annotator_bits + label_bits, label_bits, 0)
        parts = [np.empty(len(self.key), dtype=np.int32) for _ in shifts]
        for begin in range(0, len(self.key), _RUN):
            run = slice(begin, begin + _RUN)
            for codes, bits, shift in zip(parts, self.n_bits, shifts, strict=True):
                codes[run] = (self.key[run] >> np.uint64(shift)) & np.uint64((1 << bits) - 1)
        return parts[0], parts[1], parts[2]


def _key_of(votes: CodedVotes, n_classes: int) -> _Key | None:
    """Return the key of plain votes, or None where it would need more than 64 bits."""
    item_bits, annotator_bits, label_bits = (
        size.bit_length() for size in (len(votes.items), len(votes.annotators), n_classes)
    )
    if item_bits + annotator_bits + label_bits > _KEY_BITS:
        return None
    key = np.empty(len(votes.label), dtype=np.uint64)
    for begin in range(0, len(key), _RUN):
        run = slice(begin, begin + _RUN)
        part = votes.item[run].astype(np.uint64)
        for codes, bits in ((votes.annotator, annotator_bits), (votes.label, label_bits)):
            part <<= np.uint64(bits)
            part |= codes[run].astype(np.uint64)
        key[run] = part
    return _Key(key, (item_bits, annotator_bits, label_bits))


@dataclass(frozen=True)
class _Rows:
    """Rows of distributions: those that share item, annotator and annotation are one."""

    item: Integers
    annotator: Integers
    label: Integers
    weight: NDArray[np.float64]
    annotation: Integers

    @classmethod
    def of(cls, votes: CodedVotes) -> _Rows:
        n = len(votes.label)
        if votes.annotation is not None:
            annotation = votes.annotation
        else:
            annotation = np.arange(n) if votes.weight is None else np.zeros(n, dtype=np.int8)
        weight = np.ones(n) if votes.weight is None else votes.weight
        return cls(votes.item, votes.annotator, votes.label, weight, annotation)

    def take(self, rows: Integers) -> _Rows:
        return _Rows(*(getattr(self, name)[rows] for name in ("item", "annotator", "label", "weight", "annotation")))

    def check(self, votes: CodedVotes, classes: Vocabulary) -> None:
        """Refuse a distribution that names a class twice or does not sum to 1, and say where it stands."""
        order = np.lexsort((self.label, self.annotation, self.annotator, self.item))
        new = _begins(self.item[order], self.annotator[order], self.annotation[order])
        label = self.label[order]
        twice = order[1:][~new[1:] & (label[1:] == label[:-1])]
        if twice.size:
            vote = int(twice.min())
            name = classes[self.label[vote]]
            raise InputError(
                f"{votes.where(vote)}: {self._whose(vote, votes)} gives the class {name!r} a weight a second time. "
                "Keep one row per class; several judgements by one annotator need a column per class."
            )
        starts = np.flatnonzero(new)
        total = np.add.reduceat(self.weight[order], starts)
        wrong = np.flatnonzero(np.abs(total - 1) > SUM_TOLERANCE)
        if wrong.size:
            first = np.minimum.reduceat(order, starts)[wrong]
            vote, found = int(first.min()), total[wrong[np.argmin(first)]]
            raise InputError(
                f"{votes.where(vote)}: the weights of {self._whose(vote, votes)} sum to {found:.6g}, not to 1. "
                "Correct them; a column 'weight' that means something else must be renamed."
            )

    def resolved(self, votes: CodedVotes, duplicates: Duplicates) -> tuple[_Rows, list[str]]:
        """Return rows with one judgement of an item by an annotator and what became of the others, or refuse."""
        order = np.lexsort((self.annotation, self.annotator, self.item))
        new_pair = _begins(self.item[order], self.annotator[order])
        new = _begins(self.item[order], self.annotator[order], self.annotation[order])
        # The number of each judgement within its pair of item and annotator, 0 for the first.
        count = np.cumsum(new)
        pairs = np.flatnonzero(new_pair)
        n_rows = np.diff(np.append(pairs, len(order)))
        number: Integers = count - np.repeat(count[pairs], n_rows)
        n_judgements = np.repeat(np.maximum.reduceat(number, pairs) + 1, n_rows)
        if duplicates == "error":
            repeated = order[new & ~new_pair]
            if not repeated.size:
                return self, []
            raise self._refusal(votes, int(repeated.min()), repeated.size)
        n_more, n_pairs = int((new & ~new_pair).sum()), int((n_judgements[pairs] > 1).sum())
        if duplicates in ("first", "last"):
            kept: Mask = number == (0 if duplicates == "first" else n_judgements - 1)
            aside = (
                f"{duplicates} of each annotator for each item counts: {n_more:,} of {int(new.sum()):,} were dropped."
            )
            return self.take(np.sort(order[kept])), [f"Of several judgements the {aside}"] if n_more else []
        rows = self.take(order)
        shares = rows.weight / n_judgements
        # Sorted by the shares, too, so that their sum does not depend on the order in which they came.
        order = np.lexsort((shares, rows.label, rows.annotator, rows.item))
        rows, shares = rows.take(order), shares[order]
        starts = np.flatnonzero(_begins(rows.item, rows.annotator, rows.label))
        merged = rows.take(starts)
        one = replace(merged, weight=np.add.reduceat(shares, starts), annotation=np.zeros(len(starts), dtype=np.int8))
        if not n_more:
            return one, []
        became = "one distribution" if n_pairs == 1 else f"{n_pairs:,} distributions, one for each annotator and item"
        return one, [f"Several judgements were merged: {n_more + n_pairs:,} of {int(new.sum()):,} became {became}."]

    def _refusal(self, votes: CodedVotes, vote: int, n_repeated: int) -> DuplicateError:
        before = (self.item == self.item[vote]) & (self.annotator == self.annotator[vote])
        first = votes.where(int(np.argmax(before))).removeprefix(f"{votes.table.name}, ")
        more = f", and {n_repeated - 1:,} more such judgements follow" if n_repeated > 1 else ""
        who, what = _named(vote, votes)
        return DuplicateError(
            f"{votes.where(vote)}: the annotator {who} judges the item {what} once more (first: {first}){more}. "
            "Say what to do with duplicates=… (on the command line --duplicates): keep counts each, first or last "
            "takes one, mean makes one distribution of them."
        )

    def _whose(self, vote: int, votes: CodedVotes) -> str:
        who, what = _named(vote, votes)
        return f"the annotation of {what} by {who}"


def _named(vote: int, votes: CodedVotes) -> tuple[str, str]:
    """Return annotator and item of a vote, in quotes."""
    return (
        votes.annotators.cells().quoted(int(votes.annotator[vote])),
        votes.items.cells().quoted(int(votes.item[vote])),
    )


def _begins(*keys: Integers) -> Mask:
    """Return where a row differs from the one before it in any of the keys."""
    result = np.zeros(len(keys[0]), dtype=np.bool_)
    result[:1] = True
    for key in keys:
        result[1:] |= key[1:] != key[:-1]
    return result


def _token_places(votes: CodedVotes) -> tuple[Codes | None, Codes | None]:
    """Return for each item its sequence and its place in it, which all its votes must give alike."""
    result: list[Codes | None] = []
    for name, values in (("sequence", votes.sequence), ("position", votes.position)):
        if values is None:
            result.append(None)
            continue
        of_item = np.zeros(len(votes.items), dtype=np.int32)
        of_item[votes.item] = values
        differs = np.flatnonzero(of_item[votes.item] != values)
        if differs.size:
            vote = int(differs[0])
            what = _named(vote, votes)[1]
            raise InputError(
                f"{votes.where(vote)}, column {name!r}: the item {what} has {values[vote]} here and "
                f"{of_item[votes.item[vote]]} elsewhere. An item is one token in one place; correct one of them."
            )
        result.append(of_item)
    return result[0], result[1]
