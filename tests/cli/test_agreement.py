"""``sfumato agreement``: what it prints, what it writes, and how it refuses."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from sfumato.cli.app import run
from sfumato.core.annotations import Annotations
from sfumato.core.gold import Gold
from sfumato.core.report import Report
from sfumato.data.simulate import Simulation, simulate


@pytest.fixture
def planted() -> Simulation:
    return simulate(n_items=300, n_annotators=15, per_item=10, spammers=0.13, copiers=0.07, seed=3)


@pytest.fixture
def files(tmp_path: Path, planted: Simulation) -> tuple[str, str]:
    votes, gold = tmp_path / "votes.csv", tmp_path / "gold.csv"
    _write(votes, planted.annotations)
    _write_gold(gold, planted.gold)
    return str(votes), str(gold)


def test_what_is_printed(
    files: tuple[str, str], planted: Simulation, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "annotators.csv"
    arguments = ["agreement", files[0], "--gold", files[1], "--resamples", "20", "--annotators-out", str(target)]
    assert run(arguments) == 0
    lines = capsys.readouterr().out.splitlines()
    table = {line.split("  ")[0]: line.split() for line in lines if line}
    for name in ("observed agreement", "fleiss kappa", "krippendorff alpha", "mean entropy", "pooled accuracy"):
        assert name in table
    assert table["pooled accuracy"][-1] == "3,000"
    suspected = [planted.annotations.annotators[j] for j in np.flatnonzero(planted.spammers)]
    assert any(line.startswith("2 of 15 annotators are suspected (") for line in lines)
    for name in suspected:
        assert any(line.startswith(name) for line in lines)
    copier = int(planted.copied.argmax())
    pair = {planted.annotations.annotators[j] for j in (copier, planted.copied[copier])}
    assert any(line.startswith("1 of 105 pairs") for line in lines)
    assert any(set(line.split()[:2]) == pair for line in lines)
    assert any("items, over these the most." in line for line in lines)
    assert lines[-1] == f"→ {target}"
    with target.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["annotator"] for row in rows if row["suspected"] not in ("", "unclear")] == suspected
    assert {"agreement", "accuracy", "competence_dawid_skene", "information", "n_copies"} <= set(rows[0])


def test_the_most_disputed_item_comes_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "votes.csv"
    said = [("agreed", "111"), ("split", "12"), ("split by more", "1212"), ("leaning", "1112"), ("alone", "1")]
    votes = [(item, f"ann{j}", label) for item, labels in said for j, label in enumerate(labels)]
    _write(path, Annotations.from_rows(*zip(*votes, strict=True)))
    assert run(["agreement", str(path), "--resamples", "5"]) == 0
    lines = capsys.readouterr().out.splitlines()
    start = lines.index("People are split over 3 of 5 items, over these the most.") + 2
    assert [line.split("  ")[0] for line in lines[start:]] == ["split by more", "split", "leaning"]


def test_json_holds_the_report(files: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["agreement", files[0], "--resamples", "10", "--json", "--seed", "4"]) == 0
    report = Report.from_dict(json.loads(capsys.readouterr().out))
    assert report.origin.seed == 4
    assert report["fleiss_kappa_score"].n == 300
    assert len(report.details["items"]["item"]) == 300


def test_one_class_is_still_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "votes.csv"
    _write(path, Annotations.from_rows(["a", "a"], ["x", "y"], ["yes", "yes"]))
    assert run(["agreement", str(path), "--resamples", "5", "--json"]) == 0
    numbers = {number["name"]: number["value"] for number in json.loads(capsys.readouterr().out)["numbers"]}
    assert numbers["observed_agreement_score"] == 1
    assert numbers["fleiss_kappa_score"] == "nan"


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (["--annotators-out", "annotators.xyz"], "annotators.xyz"),
        (["--resamples", "0"], "'--resamples'"),
        (["--gold", "missing.csv"], "missing.csv"),
    ],
)
def test_what_cannot_be_used_is_refused_in_a_sentence(
    files: tuple[str, str], more: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["agreement", files[0], *more]) == 2
    shown = capsys.readouterr().err
    assert sentence in shown
    assert "Traceback" not in shown


def test_an_order_that_nobody_gave_is_not_made_up(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    votes = tmp_path / "votes.csv"
    votes.write_text("item,annotator,label\ni1,a,low\ni1,b,high\ni2,a,medium\ni2,b,low\n")
    assert run(["agreement", str(votes), "--ordinal", "--resamples", "10"]) == 2
    assert "Give it with --classes" in capsys.readouterr().err
    assert run(["agreement", str(votes), "--ordinal", "--classes", "low,medium,high", "--resamples", "10"]) == 0


def _write(path: Path, votes: Annotations) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["item", "annotator", "label"])
        for i, j, k in zip(votes.item, votes.annotator, votes.label, strict=True):
            writer.writerow([votes.items[i], votes.annotators[j], votes.classes[k]])


def _write_gold(path: Path, gold: Gold) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["item", "label"])
        writer.writerows(zip(gold.items, gold.names(), strict=True))
