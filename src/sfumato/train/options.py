"""Options of a model, a target or a loss, checked against what its function takes."""

from __future__ import annotations

__all__ = ["checked_options"]

import inspect
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from functools import partial
from typing import Any, get_args, get_origin, get_type_hints

from sfumato.errors import OptionError

_WORDS = {int: "a whole number", float: "a number", str: "text", bool: "true or false"}


def checked_options(function: Callable[..., Any], options: Mapping[str, Any], *, what: str) -> dict[str, Any]:
    """Return *options* if they are keyword-only parameters of *function* and of their type, else say what there is.

    >>> def model(data, *, width: int = 3): ...
    >>> checked_options(model, {"width": 4}, what="The model 'm'")
    {'width': 4}
    """
    source = function.__init__ if inspect.isclass(function) else function
    known = [
        name for name, parameter in inspect.signature(source).parameters.items()
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY
    ]  # fmt: skip
    hints = get_type_hints(source.func if isinstance(source, partial) else source)
    for name, value in options.items():
        if name not in known:
            near = get_close_matches(name, known, n=1)
            hint = f" Is it {near[0]}?" if near else f" It takes: {', '.join(known)}." if known else " It takes none."
            raise OptionError(f"{what} has no option {name!r}.{hint}")
        if not _fits(value, hints.get(name, Any)):
            raise OptionError(
                f"The option '{name}' of {what[0].lower()}{what[1:]} cannot be {value!r}.{_wanted(hints[name])}"
            )
    return dict(options)


def _wanted(kind: Any) -> str:
    (kind,) = [each for each in get_args(kind) if each is not type(None)] if type(None) in get_args(kind) else [kind]
    if get_origin(kind) in (tuple, Sequence):
        return f" It must be a list, each {_WORDS[get_args(kind)[0]]}."
    return f" It must be {_WORDS[kind]}." if kind in _WORDS else ""


def _fits(value: Any, kind: Any) -> bool:
    """Return whether *value* is of a plain type *kind*; choices and the like are checked where they are used."""
    origin = get_origin(kind)
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if kind in (int, str):
        return isinstance(value, kind) and not isinstance(value, bool)
    if kind is bool:
        return isinstance(value, bool)
    if origin in (tuple, Sequence):
        inner = get_args(kind)[0]
        return isinstance(value, list | tuple) and all(_fits(each, inner) for each in value)
    if origin is not None and type(None) in get_args(kind):
        return any(value is None if each is type(None) else _fits(value, each) for each in get_args(kind))
    return True
