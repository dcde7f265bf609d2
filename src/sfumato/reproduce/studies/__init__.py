"""The registry of studies: a study is a procedure with typed settings, of which an experiment names the differences.

Each is one module beside this one, loaded when it is first needed: a list of experiments loads neither torch nor data.
"""

from __future__ import annotations

__all__ = ["STUDIES", "Study", "study"]

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from sfumato.errors import check_choice
from sfumato.reproduce.outcome import Outcome


@dataclass(frozen=True)
class Study:
    """A procedure by name. Its module has ``Setting`` (the typed default), ``measure``, ``data_of`` and ``seconds_of``.

    ``revision`` is raised when a default changes, or when the same settings come to mean other numbers: results of the
    old one are not taken. ``names_rows`` says that its numbers name rows of their own, where else the arms do.
    """

    name: str
    module: str
    revision: int = 1
    names_rows: bool = True

    @property
    def _loaded(self) -> Any:
        return import_module(f"sfumato.reproduce.studies.{self.module}")

    @property
    def default(self) -> Any:
        """The settings before any difference."""
        return self._loaded.Setting()

    @property
    def measure(self) -> Callable[..., Outcome]:
        """The function that runs it: ``measure(setting, *, seed, device) -> Outcome``."""
        found: Callable[..., Outcome] = self._loaded.measure
        return found

    def data_of(self, setting: Any) -> tuple[str, ...]:
        """Return what data the settings read: names of public sets, and paths of files."""
        found: tuple[str, ...] = self._loaded.data_of(setting)
        return found

    def seconds_of(self, setting: Any) -> float:
        """Return about how many seconds of one core a run with these settings takes."""
        return float(self._loaded.seconds_of(setting))


# Studies whose numbers have come to mean something else since their first results.
_REVISIONS = {"divergences": 2}
_ROWS_OF_ARMS = ("crowd", "training", "every_annotator")

STUDIES: Mapping[str, Study] = {
    name: Study(name, name, _REVISIONS.get(name, 1), name not in _ROWS_OF_ARMS)
    for name in (
        "crowd",
        "elicited",
        "views",
        "divergences",
        "weighting",
        "soft_responses",
        "panel_sizes",
        "training",
        "every_annotator",
        "error_analysis",
    )
}


def study(name: str) -> Study:
    """Return the study of that name."""
    return STUDIES[check_choice(name, STUDIES, option="study")]
