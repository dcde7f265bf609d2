"""Running an experiment: what is missing is computed, run by run, here or in several processes."""

from __future__ import annotations

__all__ = ["Progress", "Summary", "run"]

import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

from sfumato.errors import OptionError
from sfumato.reproduce.experiment import Experiment, Run, Size
from sfumato.reproduce.lock import locked
from sfumato.reproduce.results import Results
from sfumato.reproduce.sources import content_fingerprint, missing_data

# Done so far, of how many, and what was done last.
Progress = Callable[[int, int, str], None]
_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "POLARS_MAX_THREADS")


@dataclass(frozen=True, slots=True)
class Summary:
    """How many runs were computed, how many were there before, and why some could not be (a sentence for each)."""

    computed: int
    found: int
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Job:
    experiment: str
    run: Run
    size: Size
    data: str
    folder: Path
    device: str
    keep: bool


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
    """Compute the runs of an experiment that are not in *folder* yet; stop it at any time and call it again.

    *jobs* processes share the cores between them. Runs whose data are not on this machine are left out and told.
    """
    if jobs < 1:
        raise OptionError(f"The option 'jobs' must be 1 or more. Got {jobs} instead.")
    results = Results(folder)
    known = results.known()
    wanted: dict[tuple[str, int], _Job] = {}
    left_out: dict[str, None] = {}
    found = 0
    for one in experiment.runs(size, seeds=seeds):
        missing = missing_data(one.data)
        if missing:
            left_out[f"{experiment.name}, {one.arm}: {missing}"] = None
            continue
        data = content_fingerprint(one.data)
        job = _Job(experiment.name, one, size, data, folder, device, experiment.keep_predictions)
        if (one.config, one.seed, data) in known and not _lacks_predictions(job):
            found += 1
        else:
            wanted[one.config, one.seed] = job
    todo = list(wanted.values())
    for done, label in enumerate(_computed(todo, jobs), start=1):
        if progress is not None:
            progress(done, len(todo), label)
    return Summary(len(todo), found, tuple(left_out))


def _computed(todo: Sequence[_Job], jobs: int) -> Iterator[str]:
    if jobs == 1 or len(todo) <= 1:
        yield from map(_compute, todo)
        return
    with _threads(max(1, (os.cpu_count() or 1) // jobs)):
        # Fresh processes: a fork would inherit the threads of torch and polars in whatever state they are.
        pool = ProcessPoolExecutor(min(jobs, len(todo)), mp_context=get_context("spawn"))
        try:
            for future in as_completed([pool.submit(_compute, job) for job in todo]):
                yield future.result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _compute(job: _Job) -> str:
    """Compute one run and store it; if another process has done so in the meantime, there is nothing to do."""
    results = Results(job.folder)
    with locked(results.running(job.run, job.data)):
        if (job.run.config, job.run.seed, job.data) not in results.known() or _lacks_predictions(job):
            start = time.perf_counter()
            outcome = job.run.study.measure(job.run.setting, seed=job.run.seed, device=job.device)
            seconds = time.perf_counter() - start
            if job.keep:
                # Before the rows: whoever finds the rows finds the predictions, too.
                results.keep(job.run, job.data, outcome.predictions.items())
            results.append(
                job.experiment, job.run, outcome, size=job.size, data=job.data, seconds=seconds, device=job.device
            )
    return f"{job.run.arm}, seed {job.run.seed}"


def _lacks_predictions(job: _Job) -> bool:
    if not job.keep:
        return False
    stem = Results(job.folder).predictions(job.run, job.data, "").name.removesuffix("test.parquet")
    return not any((job.folder / "predictions").glob(f"{stem}*.parquet"))


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
