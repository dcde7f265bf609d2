"""What a public data set is: its files, its entry in the registry, and what loading it gives."""

from __future__ import annotations

__all__ = ["DataFile", "DataSet", "Entry", "github"]

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from sfumato.core.annotations import Annotations
from sfumato.core.gold import Gold
from sfumato.core.responses import Response
from sfumato.core.soft_labels import SoftLabels

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, slots=True)
class DataFile:
    """One file of a set: where it lies in the set's folder, where it comes from, and how to know it again.

    ``size`` and ``sha256`` are those of the file as upstream has it, not compressed; a copy that is stored as
    ``path + ".gz"`` is as good. Where upstream holds personal data, ``clean`` takes it out before the file is kept:
    such a download is known by ``git_blob``, the name that git gives to the upstream content, and ``sha256`` is None.
    Where a file comes inside a .tar.gz, ``archive`` is that file (its path is where it lies until it is unpacked) and
    ``address`` is the name of the member. ``parts`` says which parts of the set need the file; empty means all of them.
    """

    path: str
    address: str | None
    size: int
    sha256: str | None = None
    git_blob: str | None = None
    clean: Callable[[bytes], bytes] | None = None
    archive: DataFile | None = None
    parts: tuple[str, ...] = ()

    @property
    def source(self) -> str | None:
        """The web address from which the file, or the archive that holds it, can be fetched."""
        return self.address if self.archive is None else self.archive.address


@dataclass(frozen=True, eq=False)
class DataSet:
    """What loading a set gives. What a set does not have is None or empty.

    ``items`` are all items of the set, in the order of its files. The rows of ``counts`` (n_items, n_classes),
    ``images`` (n_items, height, width, 3) and ``features`` (n_items, n_features) follow them; ``texts`` is a frame with
    the column ``item`` and one row per item. ``annotations`` and ``gold`` may cover fewer items. ``counts`` is for
    sets that publish how many annotators chose a class, but not who.
    Numeric judgements are in ``ratings`` (columns item, annotator, rating), their references in ``gold_ratings``
    (item, rating). ``soft_labels`` are those that upstream publishes. ``responses`` are what annotators filled in, and
    ``repeats`` what the same annotators filled in for the same items a second time. ``splits`` names groups of items;
    ``meanings`` says in words what a class stands for; ``notes`` says what the loader decided.
    """

    name: str
    items: tuple[str, ...]
    classes: tuple[str, ...] = ()
    annotations: Annotations | None = None
    gold: Gold | None = None
    counts: NDArray[np.int64] | None = None
    ratings: pl.DataFrame | None = None
    gold_ratings: pl.DataFrame | None = None
    soft_labels: SoftLabels | None = None
    responses: tuple[Response, ...] = ()
    repeats: tuple[Response, ...] = ()
    texts: pl.DataFrame | None = None
    images: NDArray[np.uint8] | None = None
    features: NDArray[np.floating[Any]] | None = None
    splits: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    meanings: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        optional = ("gold", "counts", "ratings", "gold_ratings", "soft_labels", "texts", "images", "features")
        given = [name for name in ("annotations", *optional) if getattr(self, name) is not None]
        given += [name for name in ("responses", "repeats", "splits") if getattr(self, name)]
        return f"DataSet({self.name!r}, {len(self.items):,} items: {', '.join(given)})"


@dataclass(frozen=True, slots=True)
class Entry:
    """What the registry knows of a set without reading it.

    ``load(folder, **options)`` reads the files. Where the set has ``parts`` (name: what it is in a few words), one of
    them must be named and is passed as ``part``. ``gives`` lists the fields of `DataSet` that are filled.
    """

    name: str
    title: str
    summary: str
    citation: str
    licence: str
    homepage: str
    files: tuple[DataFile, ...]
    gives: tuple[str, ...]
    load: Callable[..., DataSet]
    parts: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def folder(self) -> str:
        """The name of the folder that holds the files."""
        return self.name

    @property
    def size(self) -> int:
        """The bytes of all files, as upstream has them."""
        return sum(file.size for file in self.files)

    def files_of(self, part: str | None) -> tuple[DataFile, ...]:
        """Return the files that loading *part* reads; None stands for the whole set."""
        return tuple(file for file in self.files if part is None or not file.parts or part in file.parts)


def github(repository: str, commit: str, path: str) -> str:
    """Return the address of one file of a GitHub repository at a commit, which never changes.

    >>> github("ann/votes", "0a1b", "data/my votes.csv")
    'https://raw.githubusercontent.com/ann/votes/0a1b/data/my%20votes.csv'
    """
    return f"https://raw.githubusercontent.com/{repository}/{commit}/{quote(path)}"
