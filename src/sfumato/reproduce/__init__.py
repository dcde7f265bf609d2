"""The tables and figures of four papers, each an experiment of a few lines, run with one call and shown beside theirs.

In Python, as `sfumato reproduce` does it:

    from sfumato.reproduce import compare, find, run
    (experiment,) = find("wright/table1")
    run(experiment, folder=Path("reproduction"))
    table = compare(experiment, Path("reproduction"))
"""

from __future__ import annotations

__all__ = [
    "Experiment",
    "Table",
    "compare",
    "experiments",
    "find",
    "names",
    "report_markdown",
    "report_page",
    "run",
    "run_all",
]

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sfumato.reproduce.catalogue import experiments, find, names
    from sfumato.reproduce.comparison import Table, compare
    from sfumato.reproduce.experiment import Experiment
    from sfumato.reproduce.page import report_markdown, report_page
    from sfumato.reproduce.running import run, run_all

_HOMES = {
    "Experiment": "experiment",
    "Table": "comparison",
    "compare": "comparison",
    "experiments": "catalogue",
    "find": "catalogue",
    "names": "catalogue",
    "report_markdown": "page",
    "report_page": "page",
    "run": "running",
    "run_all": "running",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'sfumato.reproduce' has no attribute {name!r}")
    value = getattr(import_module(f"sfumato.reproduce.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
