"""The registry of aggregators: which there are, what each takes, and where its function lives.

Names are looked up without importing the methods, so that a list of them costs nothing.
"""

from __future__ import annotations

__all__ = ["JOINS", "METHODS", "VIEWS", "Method", "Option"]

import inspect
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from sfumato.aggregate.result import Result
from sfumato.errors import OptionError

# What every method takes, or what is handed over in code only.
_NOT_OPTIONS = ("seed", "progress", "names", "model")


@dataclass(frozen=True)
class Option:
    """A keyword of a method: its name and default, the types that it takes and, of a choice, the choices."""

    name: str
    default: Any
    types: tuple[type, ...]
    choices: tuple[str, ...] = ()

    def parse(self, text: str) -> Any:
        """Return the value that *text* stands for, as it comes from a command line.

        >>> METHODS["zero_based_skill"].options["max_iter"].parse("50")
        50
        """
        if text in self.choices:
            return text
        for kind, (_, reader) in _READERS.items():
            if kind in self.types:
                try:
                    return reader(text)
                except ValueError:
                    continue
        wanted = [*self.choices, *(said for kind, (said, _) in _READERS.items() if kind in self.types)]
        raise OptionError(f"The option '{self.name}' must be {' or '.join(wanted)}. Got {text!r} instead.")


@dataclass(frozen=True)
class Method:
    """An aggregator by name. What it *needs* says what it is called with: annotations, annotations and the soft labels
    of a *model*, or views to join.

    >>> METHODS["majority"].options["ties"].choices
    ('first', 'random', 'share')
    """

    name: str
    needs: Literal["annotations", "annotations and model", "views"]

    @property
    def module(self) -> str:
        """The module that the function lives in: one of its own name, but for the plain votes."""
        return f"sfumato.aggregate.{'votes' if self.name in _VOTES else self.name}"

    @cached_property
    def function(self) -> Callable[..., Result]:
        """The function itself, imported when it is first asked for."""
        found: Callable[..., Result] = getattr(import_module(self.module), self.name)
        return found

    @property
    def summary(self) -> str:
        """The first sentence of the function's documentation."""
        return (inspect.getdoc(self.function) or "").partition(".\n")[0].partition("\n\n")[0].replace("\n", " ")

    @cached_property
    def options(self) -> Mapping[str, Option]:
        """The keywords of the function but for the seed, by name."""
        hints = get_type_hints(self.function)
        parameters = inspect.signature(self.function).parameters.values()
        return {
            one.name: _option(one.name, one.default, hints[one.name])
            for one in parameters
            if one.kind is one.KEYWORD_ONLY and one.name not in _NOT_OPTIONS
        }

    def __call__(self, given: Any, **options: Any) -> Result:
        """Call the function; an option that it does not take is refused with a list of those that it takes."""
        for name in options:
            if name not in self.options and name not in _NOT_OPTIONS:
                known = ", ".join(self.options) or "no options"
                raise OptionError(f"The method '{self.name}' takes {known}. Got the option {name!r} instead.")
        return self.function(given, **options)


def _option(name: str, default: Any, hint: Any) -> Option:
    members = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
    choices: list[str] = []
    kinds: list[type] = []
    for member in members:
        if get_origin(member) is Literal:
            choices += get_args(member)
        else:
            kinds.append(get_origin(member) or member)
    return Option(name, default, tuple(kinds), tuple(choices))


def _none(text: str) -> None:
    if text.lower() != "none":
        raise ValueError(text)


def _boolean(text: str) -> bool:
    try:
        return {"true": True, "false": False}[text.lower()]
    except KeyError:
        raise ValueError(text) from None


def _numbers(text: str) -> list[float]:
    return [float(part) for part in text.split(",")]


_READERS: Mapping[type, tuple[str, Callable[[str], Any]]] = {
    types.NoneType: ("none", _none),
    bool: ("true or false", _boolean),
    int: ("a whole number", int),
    float: ("a number", float),
    Sequence: ("numbers with commas between them", _numbers),
}

_VOTES = ("majority", "standard", "softmax")
_VIEWS = (*_VOTES, "dawid_skene", "ibcc", "one_coin", "mace", "glad", "wawa", "zero_based_skill", "bwa", "ebcc")
_JOINS = ("average", "centroid", "temperature", "hybrid")

VIEWS: Mapping[str, Method] = {name: Method(name, "annotations") for name in _VIEWS}
JOINS: Mapping[str, Method] = {name: Method(name, "views") for name in _JOINS}
METHODS: Mapping[str, Method] = {**VIEWS, "with_model": Method("with_model", "annotations and model"), **JOINS}
