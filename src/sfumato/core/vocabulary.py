"""Names and their integer codes."""

from __future__ import annotations

__all__ = ["Vocabulary", "check_vocabulary", "code_names", "counted", "positions"]

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import InputError

Vocabulary = tuple[str, ...]


def code_names(names: Iterable[str]) -> tuple[NDArray[np.int32], Vocabulary]:
    """Return a code for each name, and the names in the order of their first appearance.

    >>> codes, vocabulary = code_names(["b", "a", "b"])
    >>> codes.tolist(), vocabulary
    ([0, 1, 0], ('b', 'a'))
    """
    place: dict[str, int] = {}
    try:
        codes = [place.setdefault(name, len(place)) for name in names]
    except TypeError:  # no row of names at all, or a list among them
        raise InputError(f"A row of names is wanted, each of them text. Got {_shown(names)} instead.") from None
    return np.array(codes, dtype=np.int32), tuple(place)


def check_vocabulary(names: Sequence[str], *, what: str) -> None:
    """Raise an `InputError` unless the names are distinct, not blank, and text that can be written down."""
    if isinstance(names, str):
        raise InputError(f"The {what} names must be a list of texts. Got the one text {names!r}.")
    try:
        joined = "\n".join(names)
    except TypeError:
        if not isinstance(names, Iterable):
            raise InputError(f"The {what} names must be a list of texts. Got {_shown(names)} instead.") from None
        wrong = next(name for name in names if not isinstance(name, str))
        raise InputError(f"{_a(what)} name must be text. Got {wrong!r} of type {type(wrong).__name__}.") from None
    try:
        joined.encode()
    except UnicodeEncodeError:
        raise InputError(
            f"{_a(what)} name holds half a character (a lone surrogate), which no file can hold."
        ) from None
    if len(set(names)) != len(names):
        seen: set[str] = set()
        twice = next(name for name in names if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise InputError(f"The {what} name {twice!r} stands more than once in the list of names.")
    if not all(map(str.strip, names)):
        raise InputError(f"{_a(what)} name is blank (name {list(map(str.strip, names)).index('') + 1}).")


def positions(names: Sequence[str], wanted: Sequence[str], *, what: str) -> NDArray[np.int64]:
    """Return where each of the *wanted* names stands in *names*; a name that is not there is an error."""
    place = {name: code for code, name in enumerate(names)}
    try:
        return np.array([place[name] for name in wanted], dtype=np.int64)
    except KeyError as error:
        raise InputError(f"The {what} {error.args[0]!r} is not among the {len(names):,} that are known.") from None


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, for a sentence.

    >>> counted(1, "class"), counted(2000, "class")
    ('1 class', '2,000 classes')
    """
    plural = f"{noun}es" if noun.endswith("s") else f"{noun}s"
    return f"{number:,} {noun if number == 1 else plural}"


def _a(what: str) -> str:
    return f"{'An' if what[0] in 'aeiou' else 'A'} {what}"


def _shown(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else f"{shown[:60]}…"
