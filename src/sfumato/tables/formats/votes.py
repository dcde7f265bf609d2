"""Votes as a format door gathers them, one by one, with a count of what was left aside and why."""

from __future__ import annotations

__all__ = ["Votes", "choose", "only", "refuse_options", "single_label"]

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from sfumato.core.vocabulary import Vocabulary
from sfumato.errors import FormatError, InputError, OptionError
from sfumato.tables.formats.records import Record
from sfumato.tables.source import as_text
from sfumato.tables.vote_table import VoteTable


class Votes:
    """Votes under way to a `VoteTable`."""

    def __init__(self, path: Path, format: str) -> None:
        self.path = path
        self.format = format
        self.items: list[str] = []
        self.annotators: list[str] = []
        self.labels: list[str] = []
        self.rows: list[int] = []
        self.left_out: Counter[str] = Counter()
        self.notes: list[str] = []

    def add(self, item: str, annotator: str, label: str, record: Record) -> None:
        """Add one vote; a blank name is an error that points to the record."""
        for name, what in ((item, "item"), (annotator, "annotator"), (label, "label")):
            if not name.strip():
                raise InputError(f"{record.where}: the {what} is blank. Fill it in, or take the record out.")
        self.items.append(item)
        self.annotators.append(annotator)
        self.labels.append(label)
        self.rows.append(record.row)

    def leave_out(self, why: str) -> None:
        """Count something that is no vote; *why* ends up in the notes after its number."""
        self.left_out[why] += 1

    def note(self, sentence: str) -> None:
        """Note something once that a reader of the result should know."""
        if sentence not in self.notes:
            self.notes.append(sentence)

    def table(
        self,
        columns: dict[str, str],
        *,
        classes: Sequence[str] | None = None,
        tokens: pl.DataFrame | None = None,
    ) -> VoteTable:
        """Return the votes as a table; no vote at all is an error that says what was left out."""
        left_out = [f"Left out: {why} ({count:,})." for why, count in self.left_out.items()]
        if not self.items:
            because = f" ({' '.join(left_out)})" if left_out else ""
            raise InputError(f"{self.path} holds no judgement by anybody{because}. Export it with its annotations.")
        frame = pl.DataFrame(
            {"item": self.items, "annotator": self.annotators, "label": self.labels, "row": self.rows},
            schema={"item": pl.String, "annotator": pl.String, "label": pl.String, "row": pl.Int64},
        )
        ordered: Vocabulary | None = tuple(classes) if classes is not None else None
        return VoteTable(frame, self.format, columns, ordered, tokens, (*self.notes, *left_out))


def choose(wanted: str | None, available: Sequence[str], *, where: object, what: str, option: str = "label") -> str:
    """Return what the option names among *available*, or the only one there is; anything else is an error."""
    listed = ", ".join(map(repr, available))
    if not available:
        raise FormatError(f"{where} has no {what} with classes to choose from. Name the format, or the {what}.")
    if wanted is None:
        if len(available) > 1:
            raise InputError(
                f"{where} has more than one {what}: {listed}. Name one ({option}={available[0]!r}, "
                f"on the command line --{option})."
            )
        return available[0]
    if wanted not in available:
        raise InputError(f"{where} has no {what} {wanted!r} ({option}={wanted!r}). It has: {listed}.")
    return wanted


def only(paths: Sequence[Path], title: str) -> Path:
    """Return the one path; a format whose annotations all stand in one file takes no second."""
    if len(paths) != 1:
        raise OptionError(f"A {title} export is one file. Got {len(paths)} files; read them one by one.")
    return paths[0]


def refuse_options(title: str, **options: str | None) -> None:
    """Raise an `OptionError` if an option was given that the format has no use for."""
    for option, value in options.items():
        if value is not None:
            raise OptionError(f"The format {title} takes no option '{option}'. Got {value!r}; leave it out.")


def single_label(values: Sequence[Any], *, where: str) -> str:
    """Return the one label of a judgement; several are an error, as a judgement here is one class.

    >>> single_label(["cat"], where="votes.jsonl, line 1")
    'cat'
    """
    texts = [as_text(value, where=where) for value in values]
    if len(texts) != 1:
        raise InputError(
            f"{where}: gives {len(texts)} labels ({', '.join(map(repr, texts))}) where one is wanted. "
            "Decide for one class per judgement, or make one question of each class."
        )
    return texts[0]
