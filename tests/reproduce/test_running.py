"""Runs are computed once, kept whole, and safe from other processes and from being killed."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sfumato.core import storage
from sfumato.core.predictions import Predictions
from sfumato.errors import InputError, OptionError
from sfumato.reproduce import Experiment, compare, find, run, run_all
from sfumato.reproduce.lock import locked
from sfumato.reproduce.outcome import Outcome
from sfumato.reproduce.results import Results
from sfumato.reproduce.studies import views


def test_what_is_stored_is_not_computed_again(experiment: Experiment, tmp_path: Path) -> None:
    folder = tmp_path / "results"
    first = run(experiment, folder=folder)
    before = Results(folder).path(experiment.name).read_bytes()
    second = run(experiment, folder=folder)
    assert (first.computed, first.found) == (6, 0)
    assert (second.computed, second.found) == (0, 6)
    assert Results(folder).path(experiment.name).read_bytes() == before


def test_only_new_seeds_are_computed(experiment: Experiment, tmp_path: Path) -> None:
    run(experiment, folder=tmp_path / "results", seeds=1)
    summary = run(experiment, folder=tmp_path / "results", seeds=3)
    assert (summary.computed, summary.found) == (6, 3)


def test_changed_data_are_computed_anew(experiment: Experiment, tmp_path: Path) -> None:
    run(experiment, folder=tmp_path / "results")
    votes = tmp_path / "votes.csv"
    votes.write_text(votes.read_text().replace("c,z,yes", "c,z,no"))
    summary = run(experiment, folder=tmp_path / "results")
    assert (summary.computed, summary.found) == (6, 0)
    table = compare(experiment, tmp_path / "results", size="small")
    shown = {(cell.row, cell.on): cell.ours.value for cell in table.cells if cell.ours}
    assert shown["standard", "ours"] == 1.0


def test_the_same_experiment_in_another_folder_has_the_same_fingerprints(
    experiment: Experiment, tmp_path: Path
) -> None:
    run(experiment, folder=tmp_path / "results")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for name in ("votes.csv", "gold.csv", "mine.toml"):
        shutil.copy(tmp_path / name, elsewhere / name)
    (moved,) = find(str(elsewhere / "mine.toml"))
    summary = run(moved, folder=tmp_path / "results")
    assert (summary.computed, summary.found) == (0, 6)


def test_results_are_shown_where_the_data_are_gone(experiment: Experiment, tmp_path: Path) -> None:
    run(experiment, folder=tmp_path / "results")
    (tmp_path / "votes.csv").unlink()
    table = compare(experiment, tmp_path / "results", size="small")
    assert table.n_runs == table.n_wanted == 6
    summary = run(experiment, folder=tmp_path / "results")
    assert summary.computed == 0
    assert "votes.csv is not there" in summary.left_out[0]


def test_a_run_that_fails_stops_no_other(
    experiment: Experiment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = views.measure

    def measure(setting: Any, *, seed: int = 0, device: str = "cpu") -> Outcome:
        if setting.on == "two" and seed == 1:
            raise InputError("Item c is odd.")
        return right(setting, seed=seed, device=device)

    monkeypatch.setattr(views, "measure", measure)
    folder = tmp_path / "results"
    summary = run(experiment, folder=folder)
    assert summary.computed == 5
    assert summary.failed == ("mine, again, two, corrected, seed 1: Item c is odd.",)
    (note,) = (folder / "failed").iterdir()
    assert "Traceback" in note.read_text()
    monkeypatch.undo()
    assert run(experiment, folder=folder).computed == 1
    assert not note.exists()


def test_runs_that_fail_alike_are_told_once(
    experiment: Experiment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def measure(setting: Any, *, seed: int = 0, device: str = "cpu") -> Outcome:
        raise OptionError("There is no such device.")

    monkeypatch.setattr(views, "measure", measure)
    summary = run(experiment, folder=tmp_path / "results")
    assert summary.computed == 0
    (told,) = summary.failed
    assert told.endswith(" (and 5 more runs): There is no such device.")


def test_predictions_are_kept_where_an_experiment_asks_for_them(
    experiment: Experiment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = views.measure
    made = Predictions(np.array([[0.2, 0.8]]), items=("a",), classes=("no", "yes"))

    def measure(setting: Any, *, seed: int = 0, device: str = "cpu") -> Outcome:
        return replace(right(setting, seed=seed, device=device), predictions={"ours": made})

    monkeypatch.setattr(views, "measure", measure)
    folder = tmp_path / "results"
    assert run(experiment, folder=folder, seeds=1).computed == 3
    assert not (folder / "predictions").exists()
    keeping = replace(experiment, keep_predictions=True)
    assert run(keeping, folder=folder, seeds=1).computed == 3  # the numbers were there, the predictions were not
    kept = sorted((folder / "predictions").iterdir())
    assert len(kept) == 3
    assert storage.load(Predictions, kept[0]) == made
    assert run(keeping, folder=folder, seeds=1).computed == 0
    assert compare(experiment, folder, size="small", seeds=1).n_runs == 3


def test_several_jobs_give_what_one_gives(experiment: Experiment, tmp_path: Path) -> None:
    run(experiment, folder=tmp_path / "one")
    run(experiment, folder=tmp_path / "two", jobs=2)
    numbers = [
        {
            (config, seed): [(number.metric, number.row, number.value) for number in found.numbers]
            for (config, seed, _), found in Results(tmp_path / name).known().items()
        }
        for name in ("one", "two")
    ]
    assert numbers[0] == numbers[1]
    assert len(numbers[0]) == 6


_COUNTED = """
import sys, time
from pathlib import Path
from sfumato.reproduce import find, run
from sfumato.reproduce.studies import views
right = views.measure
def noted(setting, *, seed=0, device="cpu"):
    with open(sys.argv[3], "a") as file:
        file.write(f"{setting.on} {seed}\\n")
    time.sleep(0.2)
    return right(setting, seed=seed, device=device)
views.measure = noted
(experiment,) = find(sys.argv[1])
run(experiment, folder=Path(sys.argv[2]))
"""


def test_two_processes_share_the_work(experiment: Experiment, tmp_path: Path) -> None:
    notes = tmp_path / "notes.txt"
    arguments = [str(experiment.source), str(tmp_path / "results"), str(notes)]
    both = [subprocess.Popen([sys.executable, "-c", _COUNTED, *arguments]) for _ in range(2)]
    assert [process.wait() for process in both] == [0, 0]
    lines = notes.read_text().splitlines()
    assert len(lines) == len(set(lines)) == 6
    assert compare(experiment, tmp_path / "results", size="small").n_runs == 6


_KILLED = """
import sys, time
from pathlib import Path
from sfumato.reproduce import find, run
from sfumato.reproduce.studies import views
right = views.measure
def slowly(setting, *, seed=0, device="cpu"):
    if seed == 1:
        print("at it", flush=True)
        time.sleep(60)
    return right(setting, seed=seed, device=device)
views.measure = slowly
(experiment,) = find(sys.argv[1])
run(experiment, folder=Path(sys.argv[2]))
"""


@pytest.mark.skipif(os.name != "posix", reason="kill -9 is of POSIX")
def test_killed_in_the_middle_it_goes_on_and_ends_with_the_same_table(experiment: Experiment, tmp_path: Path) -> None:
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    run(experiment, folder=whole)
    process = subprocess.Popen(
        [sys.executable, "-c", _KILLED, str(experiment.source), str(broken)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "at it\n"
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    summary = run(experiment, folder=broken)
    assert (summary.computed, summary.found) == (3, 3)
    cells = [compare(experiment, folder, size="small").cells for folder in (whole, broken)]
    assert cells[0] == cells[1]
    assert len(cells[0]) == 6


def test_an_append_that_is_cut_short_leaves_the_file_as_it_was(
    experiment: Experiment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "results"
    run(experiment, folder=folder, seeds=1)
    path = Results(folder).path(experiment.name)
    before = path.read_bytes()

    def cut(*_: object) -> None:
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr("sfumato.tables.write.os.replace", cut)
    with pytest.raises(Exception, match="No space left"):
        run(experiment, folder=folder, seeds=2)
    assert path.read_bytes() == before
    assert sorted(one.name for one in folder.iterdir() if one.is_file()) == [path.name]


def test_a_lock_is_held_by_one(tmp_path: Path) -> None:
    with locked(tmp_path / "a.lock") as first, locked(tmp_path / "a.lock", wait=False) as second:
        assert first
        assert not second
    with locked(tmp_path / "a.lock", wait=False) as third:
        assert third


def test_a_second_one_waits(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from sfumato.reproduce.lock import locked\n"
        "with locked(Path(sys.argv[1])): print('in')"
    )
    with locked(tmp_path / "a.lock"):
        process = subprocess.Popen(
            [sys.executable, "-c", code, str(tmp_path / "a.lock")], stdout=subprocess.PIPE, text=True
        )
        time.sleep(0.5)
        assert process.poll() is None
    out, _ = process.communicate()
    assert out == "in\n"


def test_a_run_of_two_experiments_is_computed_once(experiment: Experiment, tmp_path: Path) -> None:
    again = tmp_path / "again.toml"
    again.write_text((tmp_path / "mine.toml").read_text())
    (other,) = find(str(again))
    summary = run_all([experiment, other], folder=tmp_path / "results")
    assert summary.computed == 6
    assert compare(other, tmp_path / "results", size="small").n_runs == 6


def test_no_jobs_are_refused(experiment: Experiment, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="'jobs' must be 1 or more"):
        run(experiment, folder=tmp_path, jobs=0)
