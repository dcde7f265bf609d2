"""The public data sets: which there are, where their files lie, and loading them.

Each set is one module beside this one, with its `Entry` under the name ``ENTRY``; it is imported when first asked for.
"""

from __future__ import annotations

__all__ = ["chosen", "entry", "load", "names", "path"]

import inspect
from importlib import import_module
from itertools import takewhile
from pathlib import Path
from typing import Any

from sfumato.data import places
from sfumato.data.dataset import DataSet, Entry
from sfumato.data.verification import verify_stored
from sfumato.errors import InputError, MissingDataError, OptionError, SfumatoError, check_choice

_MODULES = (
    "amt_sense",
    "causal_strength",
    "chaosnli",
    "cifar10",
    "cifar10h",
    "cifar10s",
    "labelme",
    "lewidi2023",
    "mre",
    "popquorn",
    "pos",
    "rte",
    "snli",
    "snow2008",
    "stemming",
    "treebank_sample",
    "truth_inference",
)

# Of so many missing files each is told with its address; beyond, the addresses would be all that is seen.
_SHOWN = 4


def names() -> tuple[str, ...]:
    """Return the names of the public data sets; some have parts, see `entry`."""
    return _MODULES


def entry(name: str) -> Entry:
    """Return what is known of a set without reading it: title, citation, licence, files, parts.

    >>> entry("rte").title
    'Recognising textual entailment'
    """
    found: Entry = import_module(f"sfumato.data.{check_choice(_split(name)[0], _MODULES, option='name')}").ENTRY
    return found


def path(name: str, *, part: str | None = None) -> Path:
    """Return the folder that holds the files of a set (of one part, where that is named)."""
    known, part = chosen(name, part)
    wanted = known.files_of(part)
    found = places.find(known.folder, wanted)
    if found is not None:
        return found
    nearest = min((root / known.folder for root in places.folders()), key=lambda f: len(places.missing(f, wanted)))
    absent = places.missing(nearest, wanted)
    full_name = _full(name, part)
    start = f"The data set {full_name!r} is not on this machine: put "
    if not all(file.source for file in absent):
        listed = ", ".join(file.path for file in absent)
        raise MissingDataError(f"{start}{listed} into {nearest} by hand, see {known.homepage}")
    if len(absent) <= _SHOWN:
        listed = ", ".join(f"{file.path} ({file.size:,} bytes from {file.source})" for file in absent)
    else:
        parts = zip(*(str(file.source).split("/") for file in absent), strict=False)
        shared = "/".join(same[0] for same in takewhile(lambda found: len(set(found)) == 1, parts))
        size = sum(file.size for file in absent)
        listed = f"{', '.join(file.path for file in absent)} ({size:,} bytes in all, from below {shared}/; "
        listed += f"sfumato data describe {known.name} gives each address)"
    raise MissingDataError(f"{start}{listed} into {nearest}, or run: sfumato data get {full_name}")


def load(name: str, *, part: str | None = None, **options: Any) -> DataSet:
    """Load a public data set, or one part of it (``load("snow2008/temp")``), from this machine.

    *options* are those of the set's own loader. Nothing is fetched here: `sfumato.data.get` does that.
    """
    known, part = chosen(name, part)
    if known.parts and part is None:
        raise OptionError(f"The data set {name!r} has parts; name one as '{name}/PART': {', '.join(known.parts)}.")
    taken = [key for key in inspect.signature(known.load).parameters if key not in ("folder", "part")]
    unknown = [key for key in options if key not in taken]
    if unknown:
        offered = f"its options are {', '.join(taken)}" if taken else "it takes no options"
        raise OptionError(f"The data set {name!r} does not know the option {unknown[0]!r}; {offered}.")
    folder = path(name, part=part)
    files = known.files_of(part)
    remedy = f"Delete it and run: sfumato data get {_full(name, part)}"
    if not all(file.source for file in files):
        remedy = f"Put it there anew, see {known.homepage}"
    verify_stored(folder, files, remedy=remedy)
    try:
        return known.load(folder, **options) if part is None else known.load(folder, part=part, **options)
    except SfumatoError:
        raise
    except Exception as error:
        # No hash is known of files from which personal data were taken out: only reading shows what is amiss.
        unknown = [str(places.stored(folder / file.path)) for file in files if file.sha256 is None]
        if not unknown:
            raise
        shown = unknown[0] if len(unknown) == 1 else f"One of the {len(unknown)} files like {unknown[0]}"
        raise InputError(f"{shown} cannot be read ({type(error).__name__}: {_first_line(error)}). {remedy}") from error


def chosen(name: str, part: str | None) -> tuple[Entry, str | None]:
    """Return the entry and the part that "set", "set/part" or ("set", part) name."""
    in_name = _split(name)[1]
    if in_name is not None and part is not None and part != in_name:
        raise OptionError(f"The data set {name!r} names the part {in_name!r}, and the option 'part' says {part!r}.")
    known = entry(name)
    part = part if in_name is None else in_name
    if part is None:
        return known, None
    if not known.parts:
        raise OptionError(f"The data set {known.name!r} has no parts. Got the part {part!r}.")
    return known, check_choice(part, known.parts, option="part")


def _full(name: str, part: str | None) -> str:
    return name if part is None or "/" in name else f"{name}/{part}"


def _first_line(error: Exception) -> str:
    return str(error).split("\n", 1)[0].rstrip(".")


def _split(name: str) -> tuple[str, str | None]:
    if not isinstance(name, str):
        raise OptionError(f"The option 'name' must be the name of a data set, such as 'rte'. Got {name!r} instead.")
    head, separator, tail = name.partition("/")
    return head, tail if separator else None
