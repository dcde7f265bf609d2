"""Annotations to soft labels: every method is a function ``f(annotations, *, …, seed=0) -> Result``.

Joins take views instead: soft labels, or annotations with the names of the views to make of them. Each name is loaded
when it is first used.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sfumato.aggregate.average import average
    from sfumato.aggregate.bwa import bwa
    from sfumato.aggregate.centroid import centroid
    from sfumato.aggregate.dawid_skene import dawid_skene
    from sfumato.aggregate.ebcc import ebcc
    from sfumato.aggregate.glad import glad
    from sfumato.aggregate.hybrid import hybrid
    from sfumato.aggregate.ibcc import ibcc
    from sfumato.aggregate.joining import JoinResult
    from sfumato.aggregate.mace import mace
    from sfumato.aggregate.methods import JOINS, METHODS, VIEWS
    from sfumato.aggregate.one_coin import one_coin
    from sfumato.aggregate.result import AnnotatorSkills, Result
    from sfumato.aggregate.temperature import temperature
    from sfumato.aggregate.views import views
    from sfumato.aggregate.votes import majority, softmax, standard
    from sfumato.aggregate.wawa import wawa
    from sfumato.aggregate.with_model import with_model
    from sfumato.aggregate.zero_based_skill import zero_based_skill

__all__ = [
    "JOINS",
    "METHODS",
    "VIEWS",
    "AnnotatorSkills",
    "JoinResult",
    "Result",
    "average",
    "bwa",
    "centroid",
    "dawid_skene",
    "ebcc",
    "glad",
    "hybrid",
    "ibcc",
    "mace",
    "majority",
    "one_coin",
    "softmax",
    "standard",
    "temperature",
    "views",
    "wawa",
    "with_model",
    "zero_based_skill",
]

# Where a name is not in the module of the same name.
_HOMES = {
    "JOINS": "methods",
    "METHODS": "methods",
    "VIEWS": "methods",
    "AnnotatorSkills": "result",
    "JoinResult": "joining",
    "Result": "result",
    "majority": "votes",
    "softmax": "votes",
    "standard": "votes",
}


class _Room(ModuleType):
    """A package in which ``mace`` is the function, not the module `sfumato.aggregate.mace` that holds it.

    Python sets a package's attribute to each submodule that is imported; where a public name of the package is the
    same, that would hide the function from whoever comes later.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        if not (isinstance(value, ModuleType) and name in __all__):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Room


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'sfumato.aggregate' has no attribute {name!r}")
    value = getattr(import_module(f"sfumato.aggregate.{_HOMES.get(name, name)}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
