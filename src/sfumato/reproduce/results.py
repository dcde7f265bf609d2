"""Results: rows in one Parquet per experiment, appended whole or not at all, and found again by fingerprint."""

from __future__ import annotations

__all__ = ["Found", "Key", "Results"]

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import polars as pl

from sfumato.core.predictions import Predictions
from sfumato.core.version import __version__
from sfumato.errors import FormatError
from sfumato.reproduce.experiment import Run
from sfumato.reproduce.lock import locked
from sfumato.reproduce.outcome import Measured, Outcome
from sfumato.tables.frame_files import read_frame, write_frame

# Each row says all that is needed to make it again, and to see whether it would be the same.
_SCHEMA: dict[str, Any] = {
    "experiment": pl.String, "arm": pl.String, "variant": pl.String, "size": pl.String, "config": pl.String,
    "seed": pl.Int64, "data": pl.String, "on": pl.String, "row": pl.String, "metric": pl.String, "value": pl.Float64,
    "low": pl.Float64, "high": pl.Float64, "n": pl.Int64, "made_with": pl.String, "seconds": pl.Float64,
    "device": pl.String, "versions": pl.String, "setting": pl.String,
}  # fmt: skip
# Settings, seed, data.
Key = tuple[str, int, str]
_NUMBER = ("metric", "value", "on", "row", "low", "high", "n")
_TOLD = ("numpy", "scipy", "polars", "torch", "transformers")


@dataclass(frozen=True, slots=True)
class Found:
    """What is stored of a run."""

    numbers: tuple[Measured, ...]
    made_with: str
    seconds: float
    size: str
    versions: str
    device: str


class Results:
    """A folder of results. Any number of processes may read and append at the same time.

    A run is known by the fingerprint of its settings, its seed, and the fingerprint of its data; one that another
    experiment has computed is as good as one's own.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, experiment: str) -> Path:
        """Return the Parquet of an experiment."""
        return self.folder / f"{experiment.replace('/', '-')}.parquet"

    def rows(self, experiment: str) -> pl.DataFrame:
        """Return all rows of an experiment; none where nothing was computed."""
        path = self.path(experiment)
        if not path.is_file():
            return pl.DataFrame(schema=_SCHEMA)
        frame, _ = read_frame(path)
        if frame.schema != pl.Schema(_SCHEMA):
            raise FormatError(f"{path} holds no results of this version. Move it away, and run the experiment again.")
        return frame

    def known(self) -> dict[Key, Found]:
        """Return every run that is stored in the folder, by its fingerprints and seed."""
        found: dict[Key, Found] = {}
        for path in sorted(self.folder.glob("*.parquet")):
            for (config, seed, data), rows in self.rows(path.stem).group_by("config", "seed", "data"):
                first = rows.row(0, named=True)
                found[str(config), int(seed), str(data)] = Found(
                    tuple(Measured(**{name: row[name] for name in _NUMBER}) for row in rows.iter_rows(named=True)),
                    *(first[name] for name in ("made_with", "seconds", "size", "versions", "device")),
                )
        return found

    def has(self, experiment: str, run: Run, data: str) -> bool:
        """Return whether a run is stored with the experiment."""
        same = (pl.col("config") == run.config) & (pl.col("seed") == run.seed) & (pl.col("data") == data)
        return not self.rows(experiment).filter(same).is_empty()

    def append(
        self, experiment: str, run: Run, outcome: Outcome, *, size: str, data: str, seconds: float, device: str
    ) -> None:
        """Add the rows of a run; those of the same run that stand there are replaced."""
        told = {
            "experiment": experiment, "arm": run.arm, "variant": run.variant, "size": size, "config": run.config,
            "seed": run.seed, "data": data, "made_with": outcome.made_with, "seconds": seconds, "device": device,
            "versions": _versions(), "setting": json.dumps(asdict(run.setting), ensure_ascii=False),
        }  # fmt: skip
        new = pl.DataFrame([{**told, **asdict(number)} for number in outcome.numbers], schema=_SCHEMA)
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.path(experiment)
        with locked(self._lock(experiment)):
            old = self.rows(experiment)
            same = (pl.col("config") == run.config) & (pl.col("seed") == run.seed) & (pl.col("data") == data)
            write_frame(path, pl.concat([old.filter(~same), new]), {"kind": "results", "experiment": experiment})
        self._failure(run).unlink(missing_ok=True)

    def running(self, run: Run, data: str) -> Path:
        """Return the lock that a process holds while it computes a run, so that no two compute the same one."""
        return self._lock(f"run-{run.config}-{run.seed}-{data}")

    def note_failure(self, run: Run, text: str) -> None:
        """Write down what a run ran into, in full; it is taken away when the run succeeds."""
        (self.folder / "failed").mkdir(parents=True, exist_ok=True)
        self._failure(run).write_text(text, encoding="utf-8")

    def predictions(self, run: Run, data: str, on: str) -> Path:
        """Return the file of the predictions of a run on one set."""
        return self.folder / "predictions" / f"{run.config}-{run.seed}-{data}-{on or 'test'}.parquet"

    def keep(self, run: Run, data: str, predictions: Iterable[tuple[str, Predictions]]) -> None:
        """Write the predictions of a run."""
        from sfumato.core import storage

        (self.folder / "predictions").mkdir(parents=True, exist_ok=True)
        for on, found in predictions:
            storage.save(found, self.predictions(run, data, on))

    def _failure(self, run: Run) -> Path:
        return self.folder / "failed" / f"{run.config}-{run.seed}.txt"

    def _lock(self, name: str) -> Path:
        return self.folder / "locks" / f"{name.replace('/', '-')}.lock"


def _versions() -> str:
    said = [f"sfumato {__version__}"]
    for name in _TOLD:
        try:
            said.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return ", ".join(said)
