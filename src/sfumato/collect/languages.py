"""The words of the pages in one language: English and German are here, any other comes from a file of the study."""

from __future__ import annotations

__all__ = ["LANGUAGES", "Language", "language"]

import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType

from sfumato.errors import InputError

LANGUAGES = ("en", "de")
_FOLDER = Path(__file__).parent / "languages"
_HOLE = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Language:
    """The words of one language by their key, and the direction it is written in.

    >>> words = language("de")
    >>> words("page.place", place=3, of=27)
    '3 von 27'
    """

    code: str
    direction: str
    words: Mapping[str, str]

    def __call__(self, key: str, **holes: object) -> str:
        """Return the words of a key, their holes filled in."""
        return _HOLE.sub(lambda hole: str(holes.get(hole[1], hole[0])), self.words[key])

    def section(self, name: str) -> dict[str, str]:
        """Return the words of one section by the rest of their key, holes and all."""
        return {
            key.removeprefix(f"{name}."): text for key, text in self.words.items() if key.rpartition(".")[0] == name
        }


def language(named: str, *, folder: Path = Path()) -> Language:
    """Return a language by its code (en, de), or from a TOML file, whose path is relative to *folder*.

    A file has the keys of ``en.toml``, all of them and no other, each with the same holes to fill in.
    """
    path = _FOLDER / f"{named}.toml" if named in LANGUAGES else folder / named
    # The function of os.path, for which a name that no file can have is no file.
    if not os.path.isfile(path):
        raise InputError(f"The language {named!r} is neither {' nor '.join(LANGUAGES)}, nor a file ({path}).")
    words = _read(path)
    wanted = _shipped()
    missing, unknown = sorted(wanted.keys() - words.keys()), sorted(words.keys() - wanted.keys())
    if missing or unknown:
        told = [f"has no {', '.join(missing)}"] * bool(missing) + [f"has {', '.join(unknown)} too many"] * bool(unknown)
        raise InputError(f"The language {path} {' and '.join(told)}. It needs the keys of {_FOLDER / 'en.toml'}.")
    for key, text in words.items():
        # Optional text may be empty; a hole that the page does not fill would be shown as it stands.
        extra = set(_HOLE.findall(text)) - set(_HOLE.findall(wanted[key]))
        if extra:
            raise InputError(f"The language {path}, {key}: {{{extra.pop()}}} is filled in by nothing there.")
        if not text.strip() and wanted[key]:
            raise InputError(f"The language {path}, {key} is empty.")
    if words["language.direction"] not in ("ltr", "rtl"):
        raise InputError(f'The language {path}: direction is "ltr" or "rtl". Got {words["language.direction"]!r}.')
    return Language(words["language.code"], words["language.direction"], MappingProxyType(words))


@cache
def _shipped() -> dict[str, str]:
    return _read(_FOLDER / "en.toml")


def _read(path: Path) -> dict[str, str]:
    try:
        told = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"The language {path} cannot be read: {error}.") from None
    return _flat(told, "", path)


def _flat(told: Mapping[str, object], prefix: str, path: Path) -> dict[str, str]:
    words: dict[str, str] = {}
    for key, value in told.items():
        if isinstance(value, dict):
            words |= _flat(value, f"{prefix}{key}.", path)
        elif isinstance(value, str):
            words[prefix + key] = value
        else:
            raise InputError(f"The language {path}, {prefix}{key} must be a text. Got {value!r}.")
    return words
