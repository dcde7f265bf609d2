"""Processes that compute runs end with whoever started them, and one that is killed stops no other."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from sfumato.reproduce import Experiment, compare, run
from sfumato.reproduce.results import Results

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals are of POSIX")

# Only a fault takes as long: a machine under load starts its processes late.
_PATIENCE = 300

# A script and not a patch: the processes are fresh ones, which import what started them.
_PREPARED = """
import json, os, signal, sys, time
from pathlib import Path
from sfumato.reproduce import find, run
from sfumato.reproduce.studies import views
right = views.measure
def measure(setting, *, seed=0, device="cpu"):
    {what}
    return right(setting, seed=seed, device=device)
views.measure = measure
"""
_SLOW = """
    if seed == 1:
        print("at it", flush=True)
        time.sleep(1000)
"""
_RUN = """
if __name__ == "__main__":
    from sfumato.cli import main
    sys.argv[1:] = ["reproduce", "run", sys.argv[1], "--folder", sys.argv[2], "--jobs", "2"]
    main()
"""


def begun(folder: Path, what: str, *arguments: str) -> subprocess.Popen[str]:
    script = folder / "script.py"
    script.write_text(_PREPARED.format(what=what.strip()) + _RUN)
    return subprocess.Popen(
        [sys.executable, str(script), *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    )  # fmt: skip


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_processes_end_with_the_one_that_started_them(experiment: Experiment, tmp_path: Path, how: int) -> None:
    process = begun(tmp_path, _SLOW, str(experiment.source), str(tmp_path / "results"))
    assert process.stdout is not None
    assert [process.stdout.readline() for _ in range(2)] == ["at it\n", "at it\n"]
    process.send_signal(how)
    # The output ends when the last of the processes that hold it has ended.
    _, errors = process.communicate(timeout=_PATIENCE)
    assert "Traceback" not in errors
    assert run(experiment, folder=tmp_path / "results").failed == ()
    assert compare(experiment, tmp_path / "results", size="small").n_runs == 6


@pytest.mark.parametrize("times", [1, 2])
def test_ctrl_c_ends_them_in_order_and_so_does_a_second_one(experiment: Experiment, tmp_path: Path, times: int) -> None:
    process = begun(tmp_path, _SLOW, str(experiment.source), str(tmp_path / "results"))
    assert process.stdout is not None
    assert [process.stdout.readline() for _ in range(2)] == ["at it\n", "at it\n"]
    for _ in range(times):
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does it: to all of them
    _, errors = process.communicate(timeout=_PATIENCE)
    assert process.returncode == 1
    assert "Traceback" not in errors
    assert errors.endswith("error Interrupted. Every file is either whole or was not touched.\n")


def test_a_process_that_is_killed_stops_no_run_but_its_own(experiment: Experiment, tmp_path: Path) -> None:
    killed = """
    once = Path(__file__).with_name("once")
    if (setting.on, seed) == ("two", 1) or ((setting.on, seed) == ("one", 0) and not once.exists()):
        once.touch() if seed == 0 else None
        os.kill(os.getpid(), signal.SIGKILL)
"""
    folder = tmp_path / "results"
    process = begun(tmp_path, killed, str(experiment.source), str(folder))
    out, errors = process.communicate(timeout=_PATIENCE)
    assert process.returncode == 1
    assert "5 runs computed" in out
    assert "Traceback" not in errors
    told = errors.replace("\n", " ")
    assert "mine, again, one, corrected, seed 0: the process that was at it was ended, and it was begun anew." in told
    assert "mine, again, two, corrected, seed 1: The process that computed it was ended twice" in told
    assert len(Results(folder).known()) == 5
    assert len(list((folder / "failed").iterdir())) == 1
    assert run(experiment, folder=folder).computed == 1
    assert list((folder / "failed").iterdir()) == []


def test_a_script_that_starts_itself_again_is_told_so(experiment: Experiment, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import sys; from pathlib import Path; from sfumato.reproduce import find, run\n"
        "run(find(sys.argv[1])[0], folder=Path(sys.argv[2]), jobs=2)\n"
    )
    done = subprocess.run(
        [sys.executable, str(script), str(experiment.source), str(tmp_path / "results")], capture_output=True, text=True
    )
    assert "No process could be started" in done.stderr
    assert "BrokenProcessPool" not in done.stderr
