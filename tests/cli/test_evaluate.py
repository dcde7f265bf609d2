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
    assert re.search(r"accuracy score ↑ +\* 0\.\d{3} \[0\.\d{3}, 0\.\d{3}\] +0\.\d{3} \[", out)
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
        (["--report", "x.docx"], ".html"),
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
