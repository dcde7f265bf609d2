"""Typed settings from a file of differences: what a TOML names is checked by name and by type, the rest stays."""

from __future__ import annotations

__all__ = ["checked", "size_fields", "with_differences"]

import types
from collections.abc import Mapping
from dataclasses import fields, replace
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from sfumato.errors import OptionError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    Setting = TypeVar("Setting", bound=DataclassInstance)
else:
    Setting = TypeVar("Setting")

_NAMES: Mapping[Any, str] = {
    bool: "true or false", int: "a whole number", float: "a number", str: "text", types.NoneType: "nothing",
}  # fmt: skip


def with_differences(default: Setting, given: Mapping[str, Any], *, where: str) -> Setting:
    """Return *default* with the fields that *given* names; *where* says in an error which file and table it was.

    >>> from sfumato.reproduce.studies.crowd import Crowd
    >>> with_differences(Crowd(), {"data": "rte"}, where="mine.toml").data
    'rte'
    """
    hints = _hints(type(default))
    for name in given:
        if name not in hints:
            raise OptionError(f"{where} sets {name!r}, which is no setting here. The settings are {', '.join(hints)}.")
    return replace(default, **checked(type(default), given, where=where))


def checked(kind: type[DataclassInstance], given: Mapping[str, Any], *, where: str) -> dict[str, Any]:
    """Return what *given* says of fields of *kind*, each as the type of its field has it."""
    hints = _hints(kind)
    return {name: _checked(hints[name], value, name, where) for name, value in given.items()}


def size_fields(setting: type[DataclassInstance]) -> tuple[str, ...]:
    """Return the fields that a size may change: how long, how wide, and on how much of the data."""
    return tuple(one.name for one in fields(setting) if one.metadata.get("size"))


@cache
def _hints(setting: type[Any]) -> Mapping[str, Any]:
    # Thousands of runs have the same few types, whose annotations are compiled anew at each call.
    return get_type_hints(setting)


def _checked(hint: Any, value: Any, name: str, where: str) -> Any:
    converted = _converted(hint, value)
    if converted is _WRONG:
        raise OptionError(f"{where} sets {name!r} to {value!r}; it must be {_said(hint)}.")
    return converted


_WRONG = object()


def _converted(hint: Any, value: Any) -> Any:
    """Return the value as the type says, or `_WRONG`; TOML's arrays become tuples."""
    origin, members = get_origin(hint), get_args(hint)
    if origin is Literal:
        return value if value in members else _WRONG
    if origin in (Union, types.UnionType):
        return next((found for member in members if (found := _converted(member, value)) is not _WRONG), _WRONG)
    if origin is tuple:
        if not isinstance(value, list | tuple):
            return _WRONG
        found = tuple(_converted(members[0], part) for part in value)
        return _WRONG if _WRONG in found else found
    if origin is not None:  # a mapping of options, which the function that takes them checks
        return dict(value) if isinstance(value, Mapping) else _WRONG
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if hint is int and isinstance(value, bool):
        return _WRONG
    return value if isinstance(value, hint) else _WRONG


def _said(hint: Any) -> str:
    origin, members = get_origin(hint), get_args(hint)
    if origin is Literal:
        return "one of " + ", ".join(map(repr, members))
    if origin in (Union, types.UnionType):
        return " or ".join(map(_said, members))
    if origin is tuple:
        return f"a list, each of it {_said(members[0])}"
    return _NAMES.get(hint, "a table")
