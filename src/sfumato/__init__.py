"""sfumato takes human judgement all the way to a calibrated model without throwing the disagreement away.

Every name below is loaded when it is first used, so that ``import sfumato`` stays quick and light.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sfumato.core import storage as _storage
from sfumato.core.version import __version__

if TYPE_CHECKING:
    from sfumato import aggregate, data, errors, evaluate, train
    from sfumato.aggregate.compare import compare
    from sfumato.aggregate.panel import agreement
    from sfumato.aggregate.panel_size import panel_size
    from sfumato.core.annotations import Annotations
    from sfumato.core.gold import Gold
    from sfumato.core.origin import Origin
    from sfumato.core.predictions import Predictions
    from sfumato.core.report import Report
    from sfumato.core.responses import Response
    from sfumato.core.soft_labels import SoftLabels
    from sfumato.tables.read import read_annotations
    from sfumato.tables.read_gold import read_gold

__all__ = [
    "Annotations",
    "Gold",
    "Origin",
    "Predictions",
    "Report",
    "Response",
    "SoftLabels",
    "__version__",
    "aggregate",
    "agreement",
    "compare",
    "data",
    "errors",
    "evaluate",
    "panel_size",
    "read_annotations",
    "read_gold",
    "train",
]

_HOMES = {
    "Annotations": "sfumato.core.annotations",
    "Gold": "sfumato.core.gold",
    "Origin": "sfumato.core.origin",
    "Predictions": "sfumato.core.predictions",
    "Report": "sfumato.core.report",
    "Response": "sfumato.core.responses",
    "SoftLabels": "sfumato.core.soft_labels",
    "agreement": "sfumato.aggregate.panel",
    "compare": "sfumato.aggregate.compare",
    "panel_size": "sfumato.aggregate.panel_size",
    "read_annotations": "sfumato.tables.read",
    "read_gold": "sfumato.tables.read_gold",
}
_ROOMS = ("aggregate", "data", "errors", "evaluate", "train")

_storage.connect(lambda: import_module("sfumato.tables.doors"))


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
    elif name in _ROOMS:
        value = import_module(f"sfumato.{name}")
    else:
        raise AttributeError(f"module 'sfumato' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
