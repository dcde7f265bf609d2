"""How long an experiment will take: from what was measured here, else from what was measured when it was written."""

from __future__ import annotations

__all__ = ["expected_seconds"]

from pathlib import Path

from sfumato.reproduce.experiment import SIZES, Experiment, Size
from sfumato.reproduce.results import Results


def expected_seconds(experiment: Experiment, size: Size, *, folder: Path | None = None) -> float:
    """Return the core-seconds of all runs of a size that are alike only once; stored runs set the pace.

    A study knows the cost of a run of one core of the machine on which it was written. Where the folder holds runs of
    the experiment at any size, the estimate is scaled by how long those took beside what was expected of them.
    """
    # Seeds cost alike, and there are many: one of each stands for all.
    runs = {run.config: run for run in experiment.runs(size, seeds=1)}
    total = experiment.n_seeds(size) * sum(run.study.seconds_of(run.setting) for run in runs.values())
    if folder is None or not folder.is_dir():
        return total
    known: dict[str, list[float]] = {}
    for (config, _, _), found in Results(folder).known().items():
        known.setdefault(config, []).append(found.seconds)
    took = planned = 0.0
    for one in SIZES:
        for run in experiment.runs(one, seeds=1):
            for seconds in known.get(run.config, ()):
                took += seconds
                planned += run.study.seconds_of(run.setting)
    return total * took / planned if planned else total
