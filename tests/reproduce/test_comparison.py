"""The paper beside ours: intervals, digits, signs and verdicts, from results that are written by hand."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import t, ttest_rel

from sfumato.reproduce import Experiment, compare, find
from sfumato.reproduce.expected import Costs
from sfumato.reproduce.layout import cells_in_words, grids, size_in_words, verdicts_in_words
from sfumato.reproduce.outcome import Measured, Outcome
from sfumato.reproduce.page import report_markdown, report_page
from sfumato.reproduce.results import Results
from sfumato.reproduce.sources import content_fingerprint

_TOML = """
title = "By hand"
study = "panel_sizes"
table = "table1"
seeds = 3
reference = "old"
x = "least"

[arms.old]
data = "votes.csv"
least = 10

[arms.new]
data = "votes.csv"
least = 20

[[claims]]
text = "New is better"
better = "new"
worse = "old"
metric = "soft_cross_entropy_loss"
on = "A"

[[claims]]
text = "New is far better"
better = "new"
worse = "old"
metric = "accuracy_score"
on = "A"

[[absent]]
row = "none"
why = "data not available: nobody has them"
"""
_PUBLISHED = """
[table1.old]
A = { soft_cross_entropy_loss = "1.50±0.1", accuracy_score = "70.0 %" }
[table1.new]
A = { soft_cross_entropy_loss = "1.20±0.1", accuracy_score = "80.0 %" }
[table1.none]
A = { accuracy_score = "90.0 %" }
"""
_LOSSES = {"old": (1.6, 1.5, 1.4), "new": (1.3, 1.15, 1.15)}
_RIGHT = {"old": (0.7, 0.75, 0.8), "new": (0.71, 0.74, 0.78)}


@pytest.fixture
def by_hand(tmp_path: Path) -> Experiment:
    (tmp_path / "votes.csv").write_text("item,annotator,label\na,x,yes\n")
    (tmp_path / "one.toml").write_text(_TOML)
    (tmp_path / "published.toml").write_text(_PUBLISHED)
    (one,) = find(str(tmp_path / "one.toml"))
    results = Results(tmp_path / "results")
    for run in one.runs("small"):
        numbers = (
            Measured("soft_cross_entropy_loss", _LOSSES[run.row][run.seed], "A"),
            Measured("accuracy_score", _RIGHT[run.row][run.seed], "A", low=0.1, high=0.9, n=10),
        )
        data = content_fingerprint(run.data)
        results.append(one.name, run, Outcome(numbers, "hands"), size="small", data=data, seconds=2.0, device="cpu")
    return one


def test_means_and_intervals_over_seeds(by_hand: Experiment, tmp_path: Path) -> None:
    table = compare(by_hand, tmp_path / "results")
    assert (table.size, table.n_runs, table.n_wanted, table.seconds) == ("small", 6, 6, 12.0)
    (cell,) = [one for one in table.cells if (one.row, one.metric) == ("old", "soft_cross_entropy_loss")]
    half = t.ppf(0.975, 2) * np.std([1.6, 1.5, 1.4], ddof=1) / math.sqrt(3)
    assert cell.ours is not None
    assert cell.ours.value == pytest.approx(1.5)
    assert (cell.ours.low, cell.ours.high) == (pytest.approx(1.5 - half), pytest.approx(1.5 + half))
    assert cell.ours.n_runs == 3
    assert cell.same_digits is True


def stored(one: Experiment, folder: Path, size: str, values: dict[int, float], metric: str = "fgsm_loss") -> None:
    for run in one.runs("full"):
        if run.seed in values:
            outcome = Outcome((Measured(metric, values[run.seed], "A"),))
            data = content_fingerprint(run.data)
            Results(folder).append(one.name, run, outcome, size=size, data=data, seconds=1.0, device="cpu")


def test_the_size_is_the_one_that_made_the_runs(by_hand: Experiment, tmp_path: Path) -> None:
    # All sizes of this experiment have the same settings.
    table = compare(by_hand, tmp_path / "results")
    assert (table.size, table.made_at) == ("small", ("small",))
    assert size_in_words(table) == "size small, 3 seeds"
    asked = compare(by_hand, tmp_path / "results", size="full")
    assert size_in_words(asked) == "size full, 3 seeds, made at size small, which has the same settings"
    assert "Size full, 3 seeds, made at size small, which has the same settings." in report_page([asked])
    stored(by_hand, tmp_path / "both", "smoke", {0: 1.0})
    stored(by_hand, tmp_path / "both", "full", {1: 1.0, 2: 1.0})
    both = compare(by_hand, tmp_path / "both")
    assert size_in_words(both) == "size full, 3 seeds, in part made at size smoke, which has the same settings"


@pytest.mark.parametrize(
    ("metric", "least", "most"),
    [
        ("adaptive_rms_calibration_error", 0.0, 1.0), ("fgsm_loss", 0.0, None), ("mean_entropy", 0.0, None),
        ("accuracy_score", 0.0, 1.0), ("entropy_correlation_score", -1.0, 1.0), ("squared_error_gain", None, None),
    ],
)  # fmt: skip
def test_an_interval_ends_where_the_number_does(
    by_hand: Experiment, tmp_path: Path, metric: str, least: float | None, most: float | None
) -> None:
    stored(by_hand, tmp_path / "wide", "small", {0: 0.01, 1: 0.99}, metric)
    cell = next(one for one in compare(by_hand, tmp_path / "wide").cells if one.ours and one.metric == metric)
    assert cell.ours is not None
    half = t.ppf(0.975, 1) * 0.49
    assert cell.ours.low == pytest.approx(0.5 - half if least is None else least)
    assert cell.ours.high == pytest.approx(0.5 + half if most is None else most)


def test_runs_that_tables_share_are_counted_once(by_hand: Experiment, tmp_path: Path) -> None:
    table = compare(by_hand, tmp_path / "results")
    assert "2 experiments, 6 runs, 12 seconds of a core" in report_markdown([table, table])


def test_ones_own_claims_are_not_a_papers(by_hand: Experiment, tmp_path: Path) -> None:
    (tmp_path / "published.toml").unlink()
    (own,) = find(str(tmp_path / "one.toml"))
    page, text = (
        report_page([compare(own, tmp_path / "results")]),
        report_markdown([compare(own, tmp_path / "results")]),
    )
    for written in (page, text):
        assert "What is claimed" in written
        assert "What the paper claims" not in written
        assert "12 seconds" in written
        assert "0.0 hours" not in written


def test_signs_are_told_against_the_reference_row(by_hand: Experiment, tmp_path: Path) -> None:
    signs = {(cell.row, cell.metric): cell.same_sign for cell in compare(by_hand, tmp_path / "results").cells}
    assert signs["new", "soft_cross_entropy_loss"] is True
    assert signs["new", "accuracy_score"] is False
    assert signs["old", "accuracy_score"] is None
    assert signs["none", "accuracy_score"] is None


def test_verdicts_are_paired(by_hand: Experiment, tmp_path: Path) -> None:
    better, far = compare(by_hand, tmp_path / "results").verdicts
    apart = np.array([1.3 - 1.6, 1.15 - 1.5, 1.15 - 1.4])
    half = t.ppf(0.975, 2) * apart.std(ddof=1) / math.sqrt(3)
    assert better.difference == pytest.approx(apart.mean())
    assert better.high == pytest.approx(apart.mean() + half)
    assert better.printed == pytest.approx(-0.3)
    assert (better.word, far.word) == ("shown", "not shown")


def test_stars_are_those_of_a_paired_test_corrected_over_the_table(by_hand: Experiment, tmp_path: Path) -> None:
    cells = {(cell.row, cell.metric): cell for cell in compare(by_hand, tmp_path / "results").cells}
    found = cells["new", "soft_cross_entropy_loss"].p_value
    other = cells["new", "accuracy_score"].p_value
    raw = [
        ttest_rel(_LOSSES["new"], _LOSSES["old"]).pvalue,
        ttest_rel(_RIGHT["new"], _RIGHT["old"]).pvalue,
    ]
    assert raw[0] < raw[1]
    assert found == pytest.approx(2 * raw[0])
    assert other == pytest.approx(max(raw[1], 2 * raw[0]))
    assert cells["old", "accuracy_score"].p_value is None


def test_with_one_seed_nothing_is_settled(by_hand: Experiment, tmp_path: Path) -> None:
    table = compare(by_hand, tmp_path / "results", seeds=1)
    assert table.n_wanted == 2
    assert table.verdicts[0].word == "same direction"


def test_what_was_measured_scales_what_is_expected(by_hand: Experiment, tmp_path: Path) -> None:
    guessed = Costs().of([by_hand], "full")
    assert guessed.n_runs == 6
    assert guessed.seconds == 3 * sum(run.study.seconds_of(run.setting) for run in by_hand.runs("full", seeds=1))
    assert Costs(tmp_path / "nothing").of([by_hand], "full") == guessed
    # Each of the six runs took two seconds.
    assert Costs(tmp_path / "results").of([by_hand], "full").seconds == pytest.approx(12.0)


def test_runs_that_experiments_share_are_expected_once(by_hand: Experiment, tmp_path: Path) -> None:
    (tmp_path / "more.toml").write_text(_TOML.replace("seeds = 3", "seeds = 5").replace("least = 20", "least = 30"))
    (more,) = find(str(tmp_path / "more.toml"))
    together = Costs().of([by_hand, more], "full")
    assert together.n_runs == 5 + 3 + 5
    each = {run.setting.least: run.study.seconds_of(run.setting) for run in more.runs("full", seeds=1)}
    assert together.seconds == pytest.approx(5 * each[10] + 3 * each[10] + 5 * each[30])


def test_what_is_absent_is_said(by_hand: Experiment, tmp_path: Path) -> None:
    lines = cells_in_words(compare(by_hand, tmp_path / "results"))
    (line,) = [line for line in lines if line[0] == "none"]
    assert line[3] == "90.0 %"
    assert line[4] == "data not available: nobody has them"


def test_before_anything_is_run_the_table_is_the_papers(by_hand: Experiment, tmp_path: Path) -> None:
    table = compare(by_hand, tmp_path / "empty")
    assert (table.size, table.n_runs) == ("small", 0)
    assert [cell.printed.text for cell in table.cells if cell.printed][:2] == ["1.50±0.1", "70.0 %"]
    assert {verdict.word for verdict in table.verdicts} == {"not run"}


def test_the_layout_has_the_papers_columns_and_marks_the_same_sign(by_hand: Experiment, tmp_path: Path) -> None:
    (grid,) = grids(compare(by_hand, tmp_path / "results"))
    assert grid.title == "A"
    assert grid.head == (
        "", "soft cross entropy loss ↓: paper", "soft cross entropy loss ↓: ours", "accuracy score ↑: paper",
        "accuracy score ↑: ours",
    )  # fmt: skip
    row = next(row for row in grid.rows if row[0] == "new")
    assert row[2].startswith("1.200* [")
    assert row[4] == "74.33 % [65.61, 83.06]"
    assert grid.good == ((1, 2),)


def test_the_pages_hold_table_claims_figure_and_seeds(by_hand: Experiment, tmp_path: Path) -> None:
    table = compare(by_hand, tmp_path / "results")
    page, text = report_page([table]), report_markdown([table])
    for written in (page, text):
        assert "New is better" in written
        assert "3 seeds" in written
        assert "data not available: nobody has them" in written
        assert "hands" in written
    assert page.count("<svg") == 2
    assert "<script" not in page
    assert "**1.200\\*** [" in text or "**1.200** [" in text
    claims = verdicts_in_words(table)
    assert claims is not None
    assert [row[0] for row in claims.rows] == ["shown", "not shown"]


def test_the_quirk_stands_in_a_column_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "votes.csv").write_text("item,annotator,label\na,x,yes\na,y,no\nb,x,no\n")
    (tmp_path / "one.toml").write_text(
        'title = "A"\nstudy = "crowd"\nexact = true\n[arms.ours]\ndata = "votes.csv"\n'
        '[as_published]\nwhy = "They counted so."\nset = { singles = "agree" }\n'
    )
    (tmp_path / "published.toml").write_text('[one.ours]\n"" = { observed_agreement_score = "0.50" }\n')
    (one,) = find(str(tmp_path / "one.toml"))
    from sfumato.reproduce import run

    run(one, folder=tmp_path / "results")
    (cell,) = [cell for cell in compare(one, tmp_path / "results").cells if cell.metric == "observed_agreement_score"]
    assert cell.ours is not None
    assert cell.as_published is not None
    assert (cell.ours.value, cell.as_published.value) == (0.0, 0.5)
    assert cell.same_digits is True  # one of the two columns is the print's
    assert "They counted so." in report_page([compare(one, tmp_path / "results")])
