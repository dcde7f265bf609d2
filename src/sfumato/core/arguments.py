"""The door of the functions that take tables of the data model: a path or a frame in their place is told at once."""

from __future__ import annotations

__all__ = ["checked_arguments"]

from collections.abc import Callable
from functools import wraps
from inspect import signature
from os import PathLike
from typing import ParamSpec, TypeVar

from sfumato.core.annotations import Annotations
from sfumato.core.gold import Gold
from sfumato.core.soft_labels import SoftLabels
from sfumato.errors import InputError

P = ParamSpec("P")
R = TypeVar("R")

# For each type what it is called, and what makes one of a path or a frame.
_KINDS = {
    Annotations: ("annotations", "sf.read_annotations"),
    Gold: ("gold", "sf.read_gold"),
    SoftLabels: ("soft labels", "sf.SoftLabels.load"),
}


def checked_arguments(function: Callable[P, R]) -> Callable[P, R]:
    """Return *function* with a look at each argument that its signature wants to be annotations, gold or soft labels.

    >>> @checked_arguments
    ... def size(annotations: Annotations) -> int:
    ...     return annotations.n_items
    >>> size("votes.csv")
    Traceback (most recent call last):
    sfumato.errors.InputError: size takes annotations. Got 'votes.csv'; give sf.read_annotations('votes.csv').
    """
    parameters = signature(function)
    wanted: dict[str, tuple[tuple[type, ...], bool]] = {}
    for name, parameter in parameters.parameters.items():
        said = str(parameter.annotation).split(" | ")
        if kinds := tuple(kind for kind in _KINDS if kind.__name__ in said):
            wanted[name] = (kinds, "None" in said)

    @wraps(function)
    def door(*args: P.args, **kwargs: P.kwargs) -> R:
        given = {**dict(zip(parameters.parameters, args, strict=False)), **kwargs}
        for name, (kinds, optional) in wanted.items():
            value = given.get(name)
            if name in given and not isinstance(value, kinds) and not (optional and value is None):
                raise _refusal(function.__name__, kinds[0], value)
        return function(*args, **kwargs)

    return door


def _refusal(function: str, kind: type, value: object) -> InputError:
    called, reader = _KINDS[kind]
    text = isinstance(value, str | PathLike)
    shown = repr(str(value)) if text else type(value).__name__
    remedy = f"give {reader}({shown if text else '…'})"
    for other, (name, _) in _KINDS.items():
        if isinstance(value, other):
            shown, remedy = name, f"give {called} instead"
    return InputError(f"{function} takes {called}. Got {shown}; {remedy}.")
