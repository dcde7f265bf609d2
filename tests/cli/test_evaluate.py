"""`sfumato evaluate` from files to tables and reports, and what it refuses."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from sfumato import Annotations, Predictions, SoftLabels
from sfumato.cli.app import run
from sfumato.core.gold import Gold
from sfumato.core.simplex import normalise
from sfumato.evaluate.compare_systems import evaluate


@pytest.fixture
def study(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    n, classes = 120, ("cat & dog", "deer", "<ship>")
    truth = rng.dirichlet([0.6] * 3, n)
    items = tuple(f"img{k}" for k in range(n))
    rows = [(items[i], f"a{j}", classes[rng.choice(3, p=truth[i])]) for i in range(n) for j in range(6)]
    votes = Annotations.from_rows(*zip(*rows, strict=True))
    votes.save(tmp_path / "votes.csv")
    SoftLabels(normalise(votes.counts()), items=votes.items, classes=votes.classes).save(tmp_path / "soft.parquet")
    Gold(items, truth.argmax(axis=1), classes).save(tmp_path / "gold.csv")
    for name, far in (("near", 0.2), ("far", 0.7)):
        probs = (1 - far) * truth + far * rng.dirichlet([1] * 3, n)
        Predictions(probs, items=items, classes=classes).save(tmp_path / f"{name}.parquet")
    return tmp_path


def arguments(study: Path, *more: str) -> list[str]:
    paths = [str(study / "near.parquet"), "--labels", str(study / "soft.parquet"), "--gold", str(study / "gold.csv")]
    return ["evaluate", *paths, "--compare", str(study / "far.parquet"), "--resamples", "50", *more]


def test_a_table_with_intervals_baselines_and_tests(
    study: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    assert run(arguments(study, "--votes", str(study / "votes.csv"))) == 0
    out = capsys.readouterr().out
    assert re.search(r"accuracy score ↑ +» 0\.\d{3} \[0\.\d{3}, 0\.\d{3}\] +0\.\d{3} \[", out)
    assert re.search(r"manhattan error ↓ +-0\.\d{3} \[-0\.\d{3}, -0\.\d{3}\] +0\.0\d\d", out)
    for word in (
        "uniform",
        "best constant",
        "half of the panel",
        "p (Holm)",
        "near − far",
        "120 items, 120 with gold",
        "Holm 1979",
    ):
        assert word in out


def test_json_holds_what_the_function_returns(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(arguments(study, "--json", "--seed", "3")) == 0
    printed = json.loads(capsys.readouterr().out)
    people = SoftLabels.load(study / "soft.parquet")
    systems = {name: Predictions.load(study / f"{name}.parquet") for name in ("near", "far")}
    report = evaluate(systems, labels=people, gold=Gold.load(study / "gold.csv"), resamples=50, seed=3)
    assert printed == json.loads(report.to_json())


def test_reports_of_every_kind(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    targets = [study / f"report{ending}" for ending in (".html", ".json", ".md", ".tex")]
    more = [word for target in targets for word in ("--report", str(target))]
    assert run(arguments(study, *more)) == 0
    assert all(f"→ {target}" in capsys.readouterr().out or target.exists() for target in targets)
    page = targets[0].read_text()
    assert page.startswith("<!doctype html>")
    assert len(page) < 1_000_000
    assert "<ship>" not in page
    assert not re.search(r"(src|href)=\"(?!data:)", page)
    for heading in ("How good", "more than chance", "how sure to be", "people disagree", "taken for what", "furthest"):
        assert heading in page
    labels = re.findall(r'aria-label="([^"]+)"', page)
    assert len(labels) == len(set(labels))
    svg_titles = re.findall(r'<svg[^>]*aria-labelledby="([^"]+)"', page)
    assert svg_titles
    assert all(f'id="{name}"' in page for both in svg_titles for name in both.split())
    assert len(re.findall(r'id="([^"]+)"', page)) == len(set(re.findall(r'id="([^"]+)"', page)))
    assert r"\midrule" in targets[3].read_text()


def test_a_folder_is_the_runs_of_one_system(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (study / "seeds").mkdir()
    for seed in (1, 2):
        Predictions.load(study / "far.parquet").save(study / "seeds" / f"seed{seed}.csv")
    (study / "seeds" / "notes.txt").write_text("no predictions")
    assert run(arguments(study, "--compare", str(study / "seeds"), "--json")) == 0
    details = json.loads(capsys.readouterr().out)["details"]
    assert details["runs"] == {"near": 1, "far": 1, "seeds": 2}
    (study / "empty").mkdir()
    assert run(arguments(study, "--compare", str(study / "empty"))) == 2
    assert "holds no predictions" in capsys.readouterr().err


def test_votes_alone_say_what_people_say(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    votes = ["--votes", str(study / "votes.csv"), "--resamples", "20", "--json"]
    assert run(["evaluate", str(study / "near.parquet"), *votes]) == 0
    alone = json.loads(capsys.readouterr().out)
    assert run(["evaluate", str(study / "near.parquet"), "--labels", str(study / "soft.parquet"), *votes]) == 0
    beside = json.loads(capsys.readouterr().out)
    for ours, theirs in zip(alone["numbers"], beside["numbers"], strict=True):
        assert (ours["name"], ours["of"]) == (theirs["name"], theirs["of"])
        assert ours["value"] == pytest.approx(theirs["value"], abs=1e-12)
    assert len(alone["notes"]) == len(beside["notes"]) + 1


def test_texts_pictures_histories_annotators_and_figures(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture = pytest.importorskip("PIL.Image")
    pytest.importorskip("matplotlib")
    picture.new("RGB", (300, 200), "red").save(study / "red.png")
    rows = ["item,text,image", *(f"img{k},What <b>{k}</b> says,{'red.png' if k < 100 else ''}" for k in range(120))]
    (study / "items.csv").write_text("\n".join(rows))
    (study / "run").mkdir()
    epochs = [{"kind": "epoch", "epoch": k, "loss": 1 / k, "dev": {"accuracy_score": 1 - 1 / k}} for k in range(1, 4)]
    steps = [{"kind": "step", "epoch": 1, "step": 1, "loss": 9.0}]
    (study / "run" / "history.jsonl").write_text("\n".join(map(json.dumps, steps + epochs)))
    page, folder = study / "report.html", study / "figures"
    more = ["--items", str(study / "items.csv"), "--history", str(study / "run"), "--figures", str(folder)]
    assert run(arguments(study, *more, "--votes", str(study / "votes.csv"), "-o", str(page))) == 0
    html = page.read_text()
    assert "What &lt;b&gt;" in html
    assert "data:image/jpeg;base64," in html
    assert "In whose eyes" in html
    assert "How it learnt" in html
    assert "9 at 1" not in html
    names = {path.name for path in folder.iterdir()}
    assert {"reliability.svg", "reliability.pdf", "learning-loss.pdf", "furthest.svg", "views.pdf"} <= names
    assert {name.removesuffix(".svg") for name in names if name.endswith(".svg")} == {
        name.removesuffix(".pdf") for name in names if name.endswith(".pdf")
    }


@pytest.mark.parametrize(
    ("name", "content", "option", "word"),
    [
        ("items.csv", "item,sentence\nimg0,x\n", "--items", "neither a column 'text' nor 'image'"),
        ("history.json", '{"loss": 1}', "--history", "not a history"),
        ("history.jsonl", "[1]\n", "--history", "history.jsonl"),
    ],
)
def test_what_cannot_be_shown_is_refused_before_the_work(
    study: Path, capsys: pytest.CaptureFixture[str], name: str, content: str, option: str, word: str
) -> None:
    (study / name).write_text(content)
    assert run(arguments(study, option, str(study / name), "-o", str(study / "report.html"))) == 2
    assert word in capsys.readouterr().err
    assert not (study / "report.html").exists()


def test_metrics_and_items_are_chosen(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = Predictions.load(study / "far.parquet")
    table.take(table.items[:100]).save(study / "far.parquet")
    assert run(arguments(study)) == 2
    assert "100 stand in all of them" in capsys.readouterr().err
    assert run(arguments(study, "--missing", "drop", "--metric", "brier_error", "--json")) == 0
    printed = json.loads(capsys.readouterr().out)
    assert {number["name"] for number in printed["numbers"]} == {"brier_error"}
    assert {number["n"] for number in printed["numbers"]} == {100}


@pytest.mark.parametrize(
    ("more", "word"),
    [
        (["--missing", "ignore"], "missing"),
        (["--metric", "beauty"], "beauty"),
        (["--resamples", "0"], "resamples"),
        (["--level", "95"], "level"),
        (["--seed", "-1"], "seed"),
        (["--report", "x.docx"], ".html"),
        (["--figures", "/proc/foo"], "cannot be written"),
        (["--figures", "/dev/null/foo"], "is a file"),
        (["--positions", "1,two"], "--positions"),
        (["--positions", "1,2"], "positions"),
        (["--positions", "classes"], "not called by numbers"),
    ],
)
def test_wrong_options_end_with_a_sentence(
    study: Path, capsys: pytest.CaptureFixture[str], more: list[str], word: str
) -> None:
    assert run(arguments(study, *more)) == 2
    assert word in capsys.readouterr().err


def test_systems_of_the_same_file_name_are_told_apart(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (study / "other").mkdir()
    Predictions.load(study / "far.parquet").save(study / "other" / "near.parquet")
    near, other = str(study / "near.parquet"), str(study / "other" / "near.parquet")
    common = ["evaluate", near, "--labels", str(study / "soft.parquet"), "--resamples", "20"]
    assert run([*common, "--compare", other, "--json"]) == 0
    assert list(json.loads(capsys.readouterr().out)["details"]["runs"]) == [f"{study.name}/near", "other/near"]
    assert run([*common, "--compare", near]) == 2
    assert "twice" in capsys.readouterr().err
    assert run(["evaluate", near]) == 2
    assert "nothing to compare" in capsys.readouterr().err


def test_what_only_a_page_shows_is_refused_without_one(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (study / "items.csv").write_text("item,text\nimg0,x\n")
    assert run(arguments(study, "--items", str(study / "items.csv"), "-o", str(study / "report.md"))) == 2
    assert "--items" in capsys.readouterr().err
    assert not (study / "report.md").exists()


def test_classes_positions_runs_and_levels_are_told(
    study: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    (study / "seeds").mkdir()
    for seed in (1, 2):
        Predictions.load(study / "far.parquet").save(study / "seeds" / f"seed{seed}.csv")
    more = ["--compare", str(study / "seeds"), "--per-class", "--positions", "1,2,5", "--level", "0.995"]
    assert run(arguments(study, *more, "-o", str(study / "report.md"))) == 0
    out = capsys.readouterr().out
    assert re.search(r"class +precision +recall +F1 +items\n", out)
    assert "wasserstein error ↓" in out
    assert "Runs: seeds 2." in out
    assert "Intervals of 99.5%" in out
    assert "## near − far" in (study / "report.md").read_text()


def test_one_item_of_equal_systems(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("near", "far"):
        Predictions.load(study / "near.parquet").take(["img0"]).save(study / f"{name}.parquet")
    assert run([*arguments(study), "--missing", "drop"]) == 0
    out = capsys.readouterr().out
    assert "1 item, 1 with gold." in out
    assert "A single item has no interval and no test." in out
    assert "» " not in out.split("»: the best")[0]
    assert "nan" not in out
