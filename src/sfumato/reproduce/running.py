"""Running experiments: what is missing is computed, run by run, here or in several processes."""

from __future__ import annotations

__all__ = ["Progress", "Summary", "run", "run_all"]

import os
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import get_args

from sfumato.errors import OptionError, SfumatoError, check_choice
from sfumato.reproduce.experiment import Experiment, Run, Size
from sfumato.reproduce.lock import locked
from sfumato.reproduce.results import Results
from sfumato.reproduce.sources import fingerprint_or_missing
from sfumato.reproduce.workers import Died, Workers
from sfumato.train.config import Device

# Done so far, of how many, and what was done last.
Progress = Callable[[int, int, str], None]
_DIED = (
    "The process that computed it was ended twice, by the system or from outside. The system does so where memory runs "
    "out: fewer jobs need less of it."
)
_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "POLARS_MAX_THREADS")


@dataclass(frozen=True, slots=True)
class Summary:
    """How many runs were computed, how many were there before; a sentence for what was left out, and each failure.

    ``again`` says which runs were begun anew because their process was ended.
    """

    computed: int
    found: int
    left_out: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    again: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Job:
    experiment: str
    run: Run
    size: Size
    data: str
    folder: Path
    device: str
    keep: bool

    @property
    def name(self) -> str:
        return f"{self.experiment}, {self.run.arm}, {self.run.variant}, seed {self.run.seed}"


def run(
    experiment: Experiment,
    *,
    folder: Path,
    size: Size = "small",
    seeds: int | None = None,
    device: str = "cpu",
    jobs: int = 1,
    progress: Progress | None = None,
) -> Summary:
    """Compute the runs of an experiment that are not in *folder* yet, as `run_all` does."""
    return run_all([experiment], folder=folder, size=size, seeds=seeds, device=device, jobs=jobs, progress=progress)


def run_all(
    experiments: Sequence[Experiment],
    *,
    folder: Path,
    size: Size = "small",
    seeds: int | None = None,
    device: str = "cpu",
    jobs: int = 1,
    progress: Progress | None = None,
) -> Summary:
    """Compute the runs of experiments that are not in *folder* yet; stop it at any time and call it again.

    *jobs* processes share the cores between them. Runs whose data are not on this machine are left out and told, and
    one that fails does not stop the others: what it ran into is told, and stands in ``failed`` beside the results.
    One whose process is killed is begun anew, once.
    """
    if jobs < 1:
        raise OptionError(f"The option 'jobs' must be 1 or more. Got {jobs} instead.")
    check_choice(device, get_args(Device), option="device")  # here: not every study looks at it
    results = Results(folder)
    known = results.known()
    wanted: dict[tuple[str, int], _Job] = {}
    left_out: dict[str, None] = {}
    found = 0
    looked_at: dict[tuple[str, ...], tuple[str, str]] = {}
    for experiment in experiments:
        for one in experiment.runs(size, seeds=seeds):
            if one.data not in looked_at:
                looked_at[one.data] = fingerprint_or_missing(one.data)
            data, missing = looked_at[one.data]
            if missing:
                left_out[f"{experiment.name}, {one.arm}: {missing}"] = None
                continue
            job = _Job(experiment.name, one, size, data, folder, device, experiment.keep_predictions)
            if (one.config, one.seed, data) in known and not _lacks_predictions(job):
                found += 1
            elif (one.config, one.seed) not in wanted or job.keep:
                wanted[one.config, one.seed] = job
    # The longest first, so that none of them is left alone at the end.
    todo = sorted(wanted.values(), key=lambda job: -job.run.study.seconds_of(job.run.setting))
    failed: dict[str, list[str]] = {}
    again: list[str] = []
    done = 0
    for job, error in _computed(todo, jobs):
        if isinstance(error, Died):
            again.append(f"{job.name}: the process that was at it was ended, and it was begun anew.")
            continue
        if error:
            failed.setdefault(error, []).append(job.name)
        done += 1
        if progress is not None:
            progress(done, len(todo), job.name)
    told = (f"{jobs[0]}{_and_more(len(jobs) - 1)}: {error}" for error, jobs in failed.items())
    return Summary(len(todo) - sum(map(len, failed.values())), found, tuple(left_out), tuple(told), tuple(again))


def _and_more(count: int) -> str:
    return f" (and {count:,} more run{'s' if count > 1 else ''})" if count else ""


_Work = Callable[[Sequence[_Job], bool], Iterator[tuple[_Job, str | Died | None]]]


def _computed(todo: Sequence[_Job], jobs: int) -> Iterator[tuple[_Job, str | Died]]:
    """Give each job with the error it ran into, or an empty text; what another process is at comes last.

    So does a job whose process was ended, when there may be memory for it; it is given for that, and once more.
    """
    ended: set[tuple[str, int]] = set()
    left, wait = list(todo), False
    with _workers(min(jobs, len(todo))) as work:
        while left:
            later: list[_Job] = []
            for job, error in work(left, wait):
                known_by = job.run.config, job.run.seed
                if error is None:
                    later.append(job)
                elif not isinstance(error, Died):
                    yield job, error
                elif known_by not in ended:
                    ended.add(known_by)
                    later.append(job)
                    yield job, error
                else:
                    Results(job.folder).note_failure(job.run, f"{job.name}\n{job.run.setting}\n\n{_DIED}")
                    yield job, _DIED
            left, wait = later, True


@contextmanager
def _workers(count: int) -> Iterator[_Work]:
    if count <= 1:
        yield lambda todo, wait: ((job, _compute(job, wait)) for job in todo)
        return
    with _threads(max(1, _n_cores() // count)), Workers(count) as workers:
        yield lambda todo, wait: workers.each(partial(_compute, wait=wait), todo)


def _compute(job: _Job, wait: bool) -> str | None:
    """Compute one run and store it; return the error it ran into, or None where another process is at it.

    Where another process has stored it in the meantime there is nothing to do.
    """
    results = Results(job.folder)
    with locked(results.running(job.run, job.data), wait=wait) as ours:
        if not ours:
            return None
        if results.has(job.experiment, job.run, job.data) and not _lacks_predictions(job):
            return ""
        # On a processor the time of its cores: other work on the machine must not count.
        clock = time.process_time if job.device == "cpu" else time.perf_counter
        start = clock()
        try:
            outcome = job.run.study.measure(job.run.setting, seed=job.run.seed, device=job.device)
        except Exception as error:
            results.note_failure(job.run, f"{job.name}\n{job.run.setting}\n\n{traceback.format_exc()}")
            return str(error) if isinstance(error, SfumatoError) else f"{type(error).__name__}: {error}"
        seconds = clock() - start
        if job.keep:
            # Before the rows: whoever finds the rows finds the predictions, too.
            results.keep(job.run, job.data, outcome.predictions.items())
        results.append(
            job.experiment, job.run, outcome, size=job.size, data=job.data, seconds=seconds, device=job.device
        )
    return ""


def _lacks_predictions(job: _Job) -> bool:
    if not job.keep:
        return False
    stem = Results(job.folder).predictions(job.run, job.data, "").name.removesuffix("test.parquet")
    return not any((job.folder / "predictions").glob(f"{stem}*.parquet"))


def _n_cores() -> int:
    """Return how many cores this process may use, which in a container may be fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def _threads(count: int) -> Iterator[None]:
    """Let the processes that are started in the block use *count* threads each, so that they do not fight for cores."""
    before = {name: os.environ.get(name) for name in _THREADS}
    os.environ.update(dict.fromkeys(_THREADS, str(count)))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
