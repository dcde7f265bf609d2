"""What can go wrong, and how it is told.

One root; a command that meets one of these prints its sentence and ends with exit code 2.

SfumatoError
├── InputError (ValueError)          what came in cannot be used: file, row, column and what to do
│   ├── FormatError                  the file is not of the format that was asked for or recognised
│   └── DuplicateError               the same annotator judged the same item more than once
├── OptionError (ValueError)         an option has a value that it does not take
├── MissingDataError                 a public data set is not on this machine
├── MissingExtraError (ImportError)  a part of sfumato needs a package that is not installed
└── TooLargeError (MemoryError)      the work would not fit in memory; refused before it starts

Warnings: SfumatoWarning (UserWarning) ── ConvergenceWarning
"""

from __future__ import annotations

__all__ = [
    "ConvergenceWarning",
    "DuplicateError",
    "FormatError",
    "InputError",
    "MissingDataError",
    "MissingExtraError",
    "OptionError",
    "SfumatoError",
    "SfumatoWarning",
    "TooLargeError",
    "check_choice",
]

from collections.abc import Iterable
from difflib import get_close_matches


class SfumatoError(Exception):
    """The root of everything that sfumato raises on purpose."""


class InputError(SfumatoError, ValueError):
    """What came in cannot be used; the sentence says where it is and what to do."""


class FormatError(InputError):
    """The file is not of the format that was asked for or recognised."""


class DuplicateError(InputError):
    """The same annotator judged the same item more than once, and nobody said what to do about it."""


class OptionError(SfumatoError, ValueError):
    """An option has a value that it does not take."""


class MissingDataError(SfumatoError):
    """A public data set is not on this machine; the sentence says which file to put where."""


class MissingExtraError(SfumatoError, ImportError):
    """A part of sfumato needs a package that is not installed."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f'{what} needs the extra "{extra}". Install it with: pip install "sfumato[{extra}]"')
        self.extra = extra


class TooLargeError(SfumatoError, MemoryError):
    """The work would not fit in memory; the sentence gives the figure and a smaller way."""


class SfumatoWarning(UserWarning):
    """Something that a reader of the result should know."""


class ConvergenceWarning(SfumatoWarning):
    """An iterative method stopped at its limit of steps, not where it wanted to."""


def check_choice(value: str, choices: Iterable[str], *, option: str) -> str:
    """Return *value* if it is one of *choices*, else raise an `OptionError` that lists them.

    >>> check_choice("first", ["first", "random"], option="ties")
    'first'
    """
    known = list(choices)
    if value not in known:
        near = get_close_matches(str(value), known, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise OptionError(f"The option '{option}' must be one of {', '.join(known)}. Got {value!r} instead.{hint}")
    return value
