"""The arguments with which every command reads votes, and the reading itself."""

from __future__ import annotations

__all__ = [
    "Annotator",
    "Classes",
    "Duplicates",
    "Format",
    "Item",
    "Label",
    "Seed",
    "Votes",
    "check_given",
    "keep_apart",
    "names_of_views",
    "read",
]

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from sfumato.cli import screen
from sfumato.errors import OptionError, check_choice

if TYPE_CHECKING:
    from sfumato.core.annotations import Annotations
    from sfumato.tables.duplicates import Duplicates as DuplicateRule

Votes = Annotated[
    list[Path],
    typer.Argument(
        metavar="VOTES",
        help="A file of votes: CSV, TSV, JSONL, Parquet, …; of a tool that writes several (a file per annotator), all.",
    ),
]
Format = Annotated[
    str,
    typer.Option(help="The format, where the guess is wrong: long, wide, soft, label_studio, mturk, …"),
]
Item = Annotated[str | None, typer.Option(help="The column that names the item.")]
Annotator = Annotated[str | None, typer.Option(help="The column that names the annotator.")]
Label = Annotated[str | None, typer.Option(help="The column that holds the label.")]
Classes = Annotated[
    str | None, typer.Option(help="The classes in their order, separated by commas; any other label is refused.")
]
Duplicates = Annotated[
    str,
    typer.Option(help="When an annotator judged an item more than once: error, keep, first, last or mean."),
]


Seed = Annotated[int, typer.Option(min=0, help="The seed of everything that is random.")]


def keep_apart(written: Iterable[Path | None], given: Iterable[Path | None]) -> None:
    """Refuse to write over a file that is read, or two results to one file."""
    taken = {path.resolve(): "is one of the files that are read" for path in given if path is not None}
    for target in written:
        if target is None:
            continue
        if target.resolve() in taken:
            raise OptionError(f"{target} {taken[target.resolve()]}. Name another file to write to.")
        taken[target.resolve()] = "was named for another result"


def check_given(*given: Path | None) -> None:
    """Refuse a file that is not there before others are read, which may take long."""
    from sfumato.tables.source import check_file

    for path in given:
        if path is not None:
            check_file(path)


def names_of_views(text: str) -> list[str]:
    """Return the names in the option --views; each is a view, and stands there once."""
    from sfumato.aggregate.methods import VIEWS

    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise OptionError(f"--views names no view. Got {text!r}; name some, or leave the option out.")
    for name in names:
        check_choice(name, VIEWS, option="--views")
    if len(set(names)) < len(names):
        raise OptionError(f"--views names a view twice. Got {text!r}; name each once.")
    return names


def read(
    paths: list[Path],
    *,
    format: str,
    item: str | None,
    annotator: str | None,
    label: str | None,
    classes: str | None,
    duplicates: str,
) -> Annotations:
    """Read the votes and say what was taken for what."""
    from sfumato.tables.read import read_annotations

    with screen.working(f"Reading {paths[0].name}"):
        votes = read_annotations(
            paths,
            format=format,
            item=item,
            annotator=annotator,
            label=label,
            classes=None if classes is None else [name.strip() for name in classes.split(",")],
            # Whatever was typed: the door checks it and lists the choices.
            duplicates=cast("DuplicateRule", duplicates),
        )
    for line in votes.notes:
        screen.note(line)
    return votes
