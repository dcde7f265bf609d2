"""How long experiments will take: from what was measured here, else from what was measured when they were written."""

from __future__ import annotations

__all__ = ["Costs", "Expected"]

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from sfumato.reproduce.experiment import SIZES, Experiment, Size
from sfumato.reproduce.results import Results


@dataclass(frozen=True, slots=True)
class Expected:
    """How many runs there are, those that are alike only once, and how many core-seconds they take."""

    n_runs: int
    seconds: float


class Costs:
    """What runs cost; those that are stored in *folder* set the pace.

    A study knows the cost of a run of one core of the machine on which it was written. Where the folder holds runs of
    an experiment at any size, the estimate is scaled by how long those took beside what was expected of them.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._measured: dict[str, list[float]] = {}
        self._paces: dict[Path, float] = {}
        for (config, _, _), found in Results(folder).known().items() if folder and folder.is_dir() else ():
            self._measured.setdefault(config, []).append(found.seconds)

    def of(self, experiments: Iterable[Experiment], size: Size) -> Expected:
        """Return what all runs of *experiments* take, those that they share only once."""
        costs: dict[str, float] = {}
        seeds: dict[str, int] = {}
        for one in experiments:
            pace = self._pace(one)
            for run in one.runs(size, seeds=1):  # seeds cost alike, and there are many: one of each stands for all
                config = run.config
                costs[config] = pace * run.study.seconds_of(run.setting)
                seeds[config] = max(seeds.get(config, 0), one.n_seeds(size))
        return Expected(sum(seeds.values()), sum(seeds[config] * cost for config, cost in costs.items()))

    def _pace(self, experiment: Experiment) -> float:
        if experiment.source not in self._paces:
            took = planned = 0.0
            for size in SIZES if self._measured else ():
                for run in experiment.runs(size, seeds=1):
                    for seconds in self._measured.get(run.config, ()):
                        took += seconds
                        planned += run.study.seconds_of(run.setting)
            self._paces[experiment.source] = took / planned if planned else 1.0
        return self._paces[experiment.source]
