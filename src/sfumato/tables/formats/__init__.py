"""Doors for the exports of other people's tools: one file per format, each of which recognises and reads its own."""

from __future__ import annotations

__all__ = ["FORMATS", "Format", "read", "recognise"]

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Protocol

from sfumato.errors import FormatError, check_choice
from sfumato.tables.formats import (
    argilla,
    conll,
    crowdkit,
    doccano,
    label_studio,
    lewidi,
    mturk,
    potato,
    prodigy,
    toloka,
)
from sfumato.tables.formats.beginning import Beginning, read_beginning
from sfumato.tables.source import binary_kind, check_file
from sfumato.tables.vote_table import VoteTable


class Format(Protocol):
    """What each format's module offers."""

    NAME: str
    TITLE: str

    def recognises(self, beginning: Beginning) -> bool: ...

    def read(
        self,
        paths: Sequence[Path],
        *,
        item: str | None = None,
        annotator: str | None = None,
        label: str | None = None,
        task: str | None = None,
    ) -> VoteTable: ...


# In the order in which they are asked: those with the most distinctive marks come first.
_MODULES: tuple[Format, ...] = (
    label_studio, argilla, prodigy, potato, lewidi, doccano, mturk, toloka, crowdkit, conll,
)  # fmt: skip
FORMATS: dict[str, Format] = {module.NAME: module for module in _MODULES}


def recognise(path: str | PathLike[str]) -> str | None:
    """Return the name of the format that a file is in, judged by its beginning; None for plain tables and the rest."""
    path = check_file(path)
    if binary_kind(path) is not None:
        return None
    beginning = read_beginning(path)
    return next((name for name, module in FORMATS.items() if module.recognises(beginning)), None)


def read(
    name: str,
    path: str | PathLike[str] | Sequence[str | PathLike[str]],
    *,
    item: str | None = None,
    annotator: str | None = None,
    label: str | None = None,
    task: str | None = None,
) -> VoteTable:
    """Return the votes in a file (in several files, where the format writes one per annotator) of the named format.

    *item*, *annotator* and *label* name what to take instead of what the format means by itself: a field, a column, a
    control, a question. *task* names one of several questions where a format has them; see each format.
    """
    check_choice(name, FORMATS, option="format")
    given = [path] if isinstance(path, str | PathLike) else list(path)
    if not given:
        raise FormatError(f"The format {FORMATS[name].TITLE} needs at least one file. Got none.")
    paths = [check_file(one) for one in given]
    return FORMATS[name].read(paths, item=item, annotator=annotator, label=label, task=task)
