"""The command line as a person meets it: results, sentences, exit codes, and nothing half-written."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import sfumato as sf
from sfumato.aggregate.methods import METHODS
from sfumato.cli import doctor, main
from sfumato.cli.app import run

VOTES = "task,worker,answer\n08,ann,yes\n08,bob,no\n7,ann,no\n7,bob,no\n7,cem,no\n"


@pytest.fixture
def votes(tmp_path: Path) -> Path:
    path = tmp_path / "votes.csv"
    path.write_text(VOTES)
    return path


def test_soft_labels_stand_in_the_order_of_the_file_with_ids_as_written(votes: Path, tmp_path: Path) -> None:
    out = tmp_path / "soft.csv"
    assert run(["aggregate", str(votes), "--method", "standard", "--out", str(out)]) == 0
    assert out.read_text() == "item,no,yes\n08,0.5,0.5\n7,1.0,0.0\n"


def test_what_was_taken_for_what_is_told_beside_the_result(votes: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["aggregate", str(votes), "--method", "standard"]) == 0
    shown = capsys.readouterr()
    assert "item = 'task', annotator = 'worker', label = 'answer'" in shown.err
    assert "08" in shown.out


def test_json_is_json_alone(votes: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["aggregate", str(votes), "--method", "mace", "--option", "restarts=2", "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["n_annotations"] == 5
    assert summary["origin"]["options"]["restarts"] == 2
    assert summary["origin"]["fingerprint"] == sf.read_annotations(votes).fingerprint


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "parquet", "arrow"])
def test_the_command_line_writes_what_python_computes(votes: Path, tmp_path: Path, suffix: str) -> None:
    out = tmp_path / f"soft.{suffix}"
    assert run(["aggregate", str(votes), "--method", "dawid_skene", "--out", str(out)]) == 0
    expected = sf.aggregate.dawid_skene(sf.read_annotations(votes)).soft_labels
    read = sf.SoftLabels.load(out)
    assert (read.items, read.classes) == (expected.items, expected.classes)
    assert np.array_equal(read.probs, expected.probs)


def test_a_join_of_views(votes: Path, tmp_path: Path) -> None:
    out = tmp_path / "soft.parquet"
    assert run(["aggregate", str(votes), "--method", "average", "--views", "standard,softmax", "--out", str(out)]) == 0
    made = sf.aggregate.views(sf.read_annotations(votes), ["standard", "softmax"])
    np.testing.assert_allclose(sf.SoftLabels.load(out).probs, (made["standard"].probs + made["softmax"].probs) / 2)


def test_a_classifier_joins_the_annotators(votes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, out = tmp_path / "model.csv", tmp_path / "soft.csv"
    model.write_text("item,yes,no\n7,0.1,0.9\n08,0.8,0.2\n")
    assert run(["aggregate", str(votes), "--method", "with_model", "--model", str(model), "--out", str(out)]) == 0
    expected = sf.aggregate.with_model(sf.read_annotations(votes), sf.SoftLabels.load(model)).soft_labels
    assert np.array_equal(sf.SoftLabels.load(out).probs, expected.probs)
    assert run(["aggregate", str(votes), "--method", "with_model"]) == 2
    assert run(["aggregate", str(votes), "--method", "mace", "--model", str(model)]) == 2
    assert "takes no --model" in capsys.readouterr().err


def test_annotators_are_written_with_their_confusion(votes: Path, tmp_path: Path) -> None:
    out = tmp_path / "annotators.csv"
    assert run(["aggregate", str(votes), "--annotators-out", str(out)]) == 0
    head, *rows = out.read_text().splitlines()
    assert head.split(",") == [
        "annotator", "n_annotations", "competence", "p(no | no)", "p(yes | no)", "p(no | yes)", "p(yes | yes)",
    ]  # fmt: skip
    assert [row.split(",")[:2] for row in rows] == [["ann", "2"], ["bob", "2"], ["cem", "1"]]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--method", "ds"], "'method' must be one of"),
        (["--option", "prior"], "NAME=VALUE"),
        (["--option", "prior=mystery"], "prior"),
        (["--option", "mystery=1"], "takes prior"),
        (["--option", "max_iter=many"], "max_iter"),
        (["--option", "max_iter=-1"], "max_iter"),
        (["--views", "standard"], "is a view itself"),
        (["--method", "average", "--views", "standard,mystery"], "must be one of"),
        (["--out", "soft.xyz"], "names no format"),
        (["--out", "nowhere/soft.csv"], "no folder"),
        (["--label", "colour"], "colour"),
        (["--classes", "yes,maybe"], "'no'"),
        (["--format", "excel"], "must be one of"),
        (["--duplicates", "drop"], "must be one of"),
        (["--seed", "x"], None),
        (["--mystery"], None),
    ],
)
def test_wrong_arguments_are_one_sentence_and_exit_2(
    votes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    arguments: list[str], said: str | None,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    assert run(["aggregate", str(votes), *arguments]) == 2
    shown = capsys.readouterr()
    assert "Traceback" not in shown.err
    if said is not None:
        assert said in shown.err
        assert [line.split()[0] for line in shown.err.splitlines() if line][-1] == "error"
    assert [path.name for path in tmp_path.iterdir()] == ["votes.csv"]


def test_what_was_there_stays_when_the_input_cannot_be_used(tmp_path: Path) -> None:
    broken, out = tmp_path / "votes.csv", tmp_path / "soft.csv"
    broken.write_text("item,annotator,label\na,x,\n")
    out.write_text("kept")
    assert run(["aggregate", str(broken), "--out", str(out)]) == 2
    assert out.read_text() == "kept"


def test_simulated_votes_and_their_gold(tmp_path: Path) -> None:
    votes, gold = tmp_path / "v.csv", tmp_path / "g.csv"
    assert run(["data", "simulate", str(votes), "--items", "50", "--seed", "3", "--gold-out", str(gold)]) == 0
    planted = sf.data.simulate(n_items=50, seed=3)
    assert sf.read_annotations(votes).fingerprint == planted.annotations.fingerprint
    assert sf.read_gold(gold).names() == planted.gold.names()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["v.csv", "--gold-out", "v.csv"], "was named for another result"),
        (["v.csv", "--gold-out", "g.xyz"], "names no format"),
        (["v.csv", "--gold-out", "nowhere/g.csv"], "no folder"),
        (["v.xyz"], "names no format"),
        (["v.csv", "--per-item", "nan"], "'per_item' must be at least 1"),
        (["v.csv", "--per-item", "inf"], "'per_item' must be at least 1"),
        (["v.csv", "--seed", "-1"], "Invalid value for '--seed'"),
    ],
)
def test_a_simulation_that_could_not_be_written_whole_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "v.csv").write_text("kept")
    assert run(["data", "simulate", *arguments]) == 2
    assert said in capsys.readouterr().err
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("v.csv", "kept")]


def test_a_simulation_and_a_folder_are_told_to_machines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    votes = tmp_path / "v.csv"
    assert run(["data", "simulate", str(votes), "--items", "5", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said == {
        "n_items": 5, "n_annotators": 20, "n_annotations": 25, "classes": ["class0", "class1", "class2"], "seed": 0,
        "out": str(votes), "gold_out": None,
    }  # fmt: skip
    known = sf.data.entry("rte")
    (tmp_path / "rte").mkdir()
    for file in known.files:
        (tmp_path / "rte" / file.path).touch()
    monkeypatch.setenv("SFUMATO_DATA", str(tmp_path))
    assert run(["data", "path", "rte", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"name": "rte", "at": str(tmp_path / "rte")}


def test_data_list_and_describe(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["data", "list", "--json"]) == 0
    assert [row["name"] for row in json.loads(capsys.readouterr().out)] == list(sf.data.names())
    assert run(["data", "describe", "rte", "--json"]) == 0
    about = json.loads(capsys.readouterr().out)
    assert about["licence"]
    assert about["citation"]
    assert all(file["source"] for file in about["files"])
    assert run(["data", "describe", "rte"]) == 0
    shown = capsys.readouterr().out
    for file in sf.data.entry("rte").files:
        assert f"{file.path} · {file.size:,} bytes · sha256 {file.sha256}\n    {file.source}" in shown
    assert run(["data", "describe", "mre"]) == 0
    shown = capsys.readouterr().out
    assert all(f"git blob {file.git_blob}" in shown for file in sf.data.entry("mre").files if file.git_blob)
    assert run(["data", "list"]) == 0


def test_a_set_that_is_not_here_says_where_to_put_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SFUMATO_DATA", str(tmp_path))
    monkeypatch.setenv("SFUMATO_CACHE", str(tmp_path / "cache"))
    assert run(["data", "path", "rte"]) == 2
    said = capsys.readouterr().err
    assert "sfumato data get rte" in said.replace("\n", " ")
    assert run(["data", "path", "mystery"]) == 2


def test_doctor_tells_what_is_installed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["doctor", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["packages"]["numpy"]["version"]
    extras = {"report", "collect", "pictures", "train", "text", "sklearn", "torchmetrics", "cluster"}
    assert set(found["extras"]) == extras
    assert run(["doctor"]) == 0
    assert "numpy" in capsys.readouterr().out


def test_doctor_tells_which_extra_is_not_whole(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    there = {"numpy": "2.1", "scipy": "1.14", "jinja2": "3.1", "torch": "2.13", "transformers": "5"}

    def version(name: str) -> str:
        if name not in there:
            raise PackageNotFoundError(name)
        return there[name]

    needs = [
        "numpy>=2", "scipy", "jinja2>=3.1; extra == 'report'", "matplotlib ; extra == 'report'",
        "torch; extra == 'train'", "jinja2; extra == 'collect'", "sfumato[train]; extra == 'text'",
        "transformers; extra == 'text'", "sfumato[report,train]; extra == 'all'", "ray; extra == 'cluster'",
    ]  # fmt: skip
    monkeypatch.setattr(doctor, "version", version)
    monkeypatch.setattr(doctor, "requires", lambda _: needs)
    assert run(["doctor", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [extra for extra, whole in found["extras"].items() if not whole] == ["report", "cluster"]
    assert found["packages"]["jinja2"] == {"for": "[report] [collect]", "version": "3.1"}
    assert found["packages"]["torch"]["for"] == "[train] [text]"
    assert run(["doctor"]) == 0
    assert 'pip install "sfumato[cluster]"' in capsys.readouterr().out.replace("\n", " ")
    del there["scipy"]
    assert run(["doctor"]) == 1


def test_compare_tells_the_best_view(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    votes, out = tmp_path / "v.csv", tmp_path / "report.json"
    assert run(["data", "simulate", str(votes), "--items", "80"]) == 0
    capsys.readouterr()
    assert run(["compare", str(votes), "--views", "standard,mace", "--resamples", "20", "--out", str(out)]) == 0
    assert "foresees left-out annotations best" in capsys.readouterr().out
    assert sf.Report.load(out)["weight", "mace"].value >= 0
    assert run(["compare", str(votes), "--panel-size", "--views", "standard"]) == 2
    assert run(["compare", str(votes), "--panel-size", "--folds", "3"]) == 2
    assert run(["compare", str(votes), "--seconds", "3"]) == 2
    assert run(["compare", str(votes), "--views", ","]) == 2
    assert run(["compare", str(votes), "--out", str(tmp_path / "x.pdf")]) == 2


def test_gold_adds_a_table_of_its_own_that_fits_eighty_columns(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    votes, gold = tmp_path / "v.csv", tmp_path / "g.csv"
    assert run(["data", "simulate", str(votes), "--items", "60", "--gold-out", str(gold)]) == 0
    capsys.readouterr()
    views = ["--views", "standard,zero_based_skill", "--resamples", "20"]
    assert run(["compare", str(votes), *views, "--gold", str(gold)]) == 0
    shown = capsys.readouterr().out
    lines = shown.splitlines()
    assert max(map(len, lines)) <= 80
    assert sum(line.startswith("zero_based_skill ") for line in lines) == 2
    assert sum(line.startswith("held_out ") for line in lines) == 1


def test_pages_hold_what_was_computed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    votes, page = tmp_path / "v.csv", tmp_path / "page.html"
    assert run(["data", "simulate", str(votes), "--items", "60", "--annotators", "9"]) == 0
    assert run(["aggregate", str(votes), "--report", str(page)]) == 0
    assert f"→ {page}" in capsys.readouterr().out
    said = page.read_text()
    assert "60 items by 9 annotators" in said
    assert "How competent the annotators are" in said
    assert "How far the views are apart" not in said
    assert run(["aggregate", str(votes), "--method", "average", "--views", "wawa,glad", "--report", str(page)]) == 0
    assert "How far the views are apart" in page.read_text()
    assert run(["compare", str(votes), "--views", "wawa,glad", "--resamples", "20", "--report", str(page)]) == 0
    assert "Behind the best" in page.read_text()
    capsys.readouterr()
    command = ["compare", str(votes), "--panel-size", "--resamples", "2", "--seconds", "4", "--report", str(page)]
    assert run([*command, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["details"]["curve"]["seconds_per_item"][1] == 8
    assert "What one more annotator adds" in page.read_text()
    assert run(["aggregate", str(votes), "--report", str(tmp_path / "page.pdf")]) == 2
    assert run(["aggregate", str(votes), "--report", str(tmp_path / "no" / "page.html")]) == 2


def test_every_method_is_listed_with_its_options(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["aggregate", "--methods"]) == 0
    lines = capsys.readouterr().out.splitlines()
    told = {line.partition(":")[0]: below.strip() for line, below in zip(lines[::2], lines[1::2], strict=True)}
    assert list(told) == list(METHODS)
    assert told["majority"] == "ties=first"
    assert told["standard"] == "no options"
    assert told["with_model"] == "passes=1"
    assert "as_published=false" in told["temperature"]


def test_help_of_every_command_has_an_example() -> None:
    import typer

    from sfumato.cli.app import app

    def walk(command: object, path: str) -> None:
        inner = getattr(command, "commands", None)
        for name, one in (inner or {}).items():
            walk(one, f"{path} {name}")
        if not inner:
            assert getattr(command, "help", ""), path
            assert str(getattr(command, "epilog", "")).startswith("Example: "), path

    walk(typer.main.get_command(app), "sfumato")


def test_version_and_module_are_the_command_line_too() -> None:
    said = subprocess.run([sys.executable, "-m", "sfumato", "--version"], capture_output=True, text=True, check=True)
    assert said.stdout == f"sfumato {sf.__version__}\n"


def test_ctrl_c_is_a_sentence_and_leaves_no_file_behind(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "sfumato",
        "data",
        "simulate",
        "big.csv",
        "--items",
        "1000000",
        "--annotators",
        "50",
    ]
    started = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True, env={**os.environ})
    # As soon as something is on disk, so that there is something to leave behind.
    while started.poll() is None and not list(tmp_path.iterdir()):
        time.sleep(0.01)
    started.send_signal(signal.SIGINT)
    _, said = started.communicate(timeout=60)
    assert started.returncode == 1
    assert "Interrupted" in said
    assert "Traceback" not in said
    assert list(tmp_path.iterdir()) == []


def test_no_file_that_is_read_is_written_over(votes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, link = tmp_path / "soft.csv", tmp_path / "link.csv"
    link.symlink_to(votes)
    for command in (
        ["aggregate", str(votes), "--out", str(votes)],
        ["aggregate", str(votes), "--out", str(link)],
        ["agreement", str(votes), "--annotators-out", str(votes)],
    ):
        assert run(command) == 2
        assert "is one of the files that are read" in capsys.readouterr().err
    assert run(["aggregate", str(votes), "--out", str(out), "--annotators-out", str(out)]) == 2
    assert "was named for another result" in capsys.readouterr().err
    assert votes.read_text() == VOTES
    assert not out.exists()


def test_what_is_not_there_or_out_of_range_is_told_before_votes_are_read(
    votes: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def never(*_: object, **__: object) -> None:
        raise AssertionError("the votes were read")

    monkeypatch.setattr("sfumato.tables.read.read_annotations", never)
    for command in (
        ["compare", "--gold", "nowhere.csv"],
        ["agreement", "--gold", "nowhere.csv"],
        ["aggregate", "--method", "with_model", "--model", "nowhere.csv"],
    ):
        assert run([command[0], str(votes), *command[1:]]) == 2
        assert "There is no file nowhere.csv" in capsys.readouterr().err
    for command, option in (
        (["aggregate"], ["--seed", "-1"]),
        (["compare"], ["--seed", "-1"]),
        (["compare"], ["--folds", "1"]),
        (["compare"], ["--resamples", "0"]),
        (["agreement"], ["--resamples", "0"]),
    ):
        assert run([*command, str(votes), *option]) == 2
        assert f"Invalid value for '{option[0]}'" in capsys.readouterr().err


def test_a_demo_keeps_off_what_it_did_not_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Begun(Exception):
        pass

    def begin(**_: object) -> None:
        raise Begun

    monkeypatch.setattr("sfumato.cli.demo_study.simulate_study", begin)
    (tmp_path / "votes.csv").write_text("mine")
    assert run(["demo", "--out", str(tmp_path)]) == 2
    assert "holds votes.csv that no demo wrote. Name another folder with --out." in capsys.readouterr().err
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("votes.csv", "mine")]
    for free in (tmp_path / "new", tmp_path):
        (tmp_path / ".sfumato-demo").touch()
        with pytest.raises(Begun):
            run(["demo", "--out", str(free)])


def test_an_output_that_does_not_fit_is_a_sentence() -> None:
    if not Path("/dev/full").exists():
        pytest.skip("there is no full device here")
    for command in (["doctor", "--json"], ["--help"]):
        with open("/dev/full", "w") as full:
            done = subprocess.run(
                [sys.executable, "-m", "sfumato", *command], stdout=full, stderr=subprocess.PIPE, text=True, check=False
            )
        assert done.returncode == 1
        assert done.stderr.startswith("error The output could not be written (No space left on device)")
        assert done.stderr.count("\n") == 1


def test_ctrl_c_while_commands_are_loaded_is_a_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Stopped(ModuleType):
        def __getattr__(self, name: str) -> object:
            raise KeyboardInterrupt

    monkeypatch.setitem(sys.modules, "sfumato.cli.app", Stopped("sfumato.cli.app"))
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 1
    assert capsys.readouterr().err == "error Interrupted before anything began.\n"


@pytest.mark.parametrize(
    ("views", "said"),
    [("standard,mase", "Did you mean 'mace'?"), ("mace,mace", "names a view twice"), (",", "names no view")],
)
def test_views_are_checked_before_anything_is_read(
    views: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for command in (["aggregate", "--method", "centroid"], ["compare"]):
        assert run([*command, str(tmp_path / "nowhere.csv"), "--views", views]) == 2
        told = capsys.readouterr().err
        assert "--views" in told
        assert said in told


def test_compare_takes_soft_labels_for_gold_and_times_from_a_column(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    votes, soft = tmp_path / "votes.csv", tmp_path / "soft.csv"
    votes.write_text("item,annotator,label,took\na,x,yes,2\na,y,no,4\nb,x,no,3\nb,y,no,5\nc,x,yes,1\nc,y,yes,3\n")
    soft.write_text("item,no,yes\na,0.5,0.5\nb,1,0\nc,0,1\n")
    given = ["compare", str(votes), "--json"]
    assert run([*given, "--views", "standard", "--resamples", "5", "--gold", str(soft)]) == 0
    numbers = {
        one["name"]: one["value"] for one in json.loads(capsys.readouterr().out)["numbers"] if one["of"] == "standard"
    }
    assert numbers["soft_cross_entropy_loss"] == pytest.approx(np.log(2) / 3)
    assert run([*given, "--panel-size", "--seconds", "took", "--resamples", "2"]) == 0
    found = json.loads(capsys.readouterr().out)["details"]["curve"]
    assert found["seconds_per_item"][0] == pytest.approx(3.0)
