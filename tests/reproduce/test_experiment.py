"""An experiment is read whole: names, types, sizes, and what its runs are known by."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sfumato.errors import FormatError, OptionError
from sfumato.reproduce import Experiment, experiments, find, names
from sfumato.reproduce.expected import Costs
from sfumato.reproduce.experiment import SIZES
from sfumato.reproduce.published import Printed, read_published
from sfumato.reproduce.studies import STUDIES


def written(folder: Path, text: str) -> Experiment:
    path = folder / "one.toml"
    path.write_text(text)
    return find(str(path))[0]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("title = 'A'\nstudy = 'crowds'", "'crowds'"),
        ("title = 'A'\nstudy = 'crowd'\nseed = 3", "has the key 'seed'"),
        ("study = 'crowd'", "needs a 'title'"),
        ("title = 'A'\nstudy = 'crowd'\n[arms.a]\ndata = 3", "sets 'data' to 3; it must be text"),
        ("title = 'A'\nstudy = 'crowd'\n[arms.a]\nsets = 'x'", "sets 'sets', which is no setting here"),
        ("title = 'A'\nstudy = 'crowd'\n[arms.a]\nsingles = 'x'", "one of 'leave_out', 'agree'"),
        ("title = 'A'\nstudy = 'panel_sizes'\n[sizes.smoke]\nleast = 3", "A size changes seeds, repeats, items only"),
        ("title = 'A'\nstudy = 'panel_sizes'\n[sizes.tiny]\nitems = 3", "'tiny'"),
        ("title = 'A'\nstudy = 'panel_sizes'\n[arms.a]\nrepeats = true", "it must be a whole number"),
        ("title = 'A'\nstudy = 'crowd'\n[[claims]]\ntext = 'a'", "claims, lacks 'better', 'worse', 'metric'; it takes"),
        ("title = 'A'\nstudy = 'crowd'\n[arms]\na = 3", "arms, sets 'a' to 3; it must be a table"),
        ("title = 'A'\nstudy = 'crowd'\narms = 3", "sets 'arms' to 3; it must be a table"),
        ("title = 'A'\nstudy = 'crowd'\ndefault = 'rte'", "sets 'default' to 'rte'; it must be a table"),
        ("title = 'A'\nstudy = 'crowd'\n[arms.a]\neach = 3", "arm 'a', sets 'each' to 3; it must be a table"),
        ("title = 'A'\nstudy = 'crowd'\n[arms.a]\neach = { on = 'x' }", "each, sets 'on' to 'x'; it must be a list"),
        ("title = 'A'\nstudy = 'crowd'\n[arms.a]\nrow = 3", "arm 'a', sets 'row' to 3; it must be text"),
        ("title = 'A'\nstudy = 'crowd'\n[arms.'a {b}']", "than a name of its 'each' in braces in 'a {b}'"),
        ("title = 'A'\nstudy = 'crowd'\n[sizes]\nsmall = 3", "sizes, sets 'small' to 3; it must be a table"),
        ("title = 'A'\nstudy = 'crowd'\n[sizes.small]\nseeds = 0", "sets 'seeds' to 0; it must be 1 or more"),
        ("title = 'A'\nstudy = 'crowd'\nseeds = 'two'", "sets 'seeds' to 'two'; it must be a whole number"),
        ("title = 'A'\nstudy = 'crowd'\nseeds = 0", "sets 'seeds' to 0; it must be 1 or more"),
        ("title = 'A'\nstudy = 'crowd'\nshows = 'n_items'", "sets 'shows' to 'n_items'; it must be a list"),
        ("title = 'A'\nstudy = 'crowd'\nclaims = 3", "sets 'claims' to 3; it must be a list"),
        ("title = 'A'\nstudy = 'crowd'\nlike = 3", "sets 'like' to 3; it must be text"),
        ("title = 'A'\nstudy = 'crowd'", "says nothing of the data. Set 'data' in [default]"),
        ("title = 'A'\nstudy = 'weighting'", "says nothing of the data. Set 'sets' in [default]"),
        ("title = 'A'\nstudy = 'crowd'\nreference = 'b'\n[arms.a]", "reference, names the row 'b'. There are 'a'"),
        (
            "title = 'A'\nstudy = 'crowd'\n[arms.a]\n[[claims]]\ntext = 'a'\nbetter = 'b'\nworse = 'a'\nmetric = 'm'",
            "claims, names the row 'b'. There are 'a'",
        ),
        ("title = 'A'\nstudy = 'crowd'\n[[absent]]\nwhat = 'a'", "has 'what'; it takes row, on, why"),
        ("title = ", "is not TOML"),
    ],
)
def test_what_is_wrong_in_a_file_is_said(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises((OptionError, FormatError)) as error:
        written(tmp_path, text)
    assert said in str(error.value)
    assert "one.toml" in str(error.value) or "option" in str(error.value)


def test_every_experiment_that_comes_along_can_be_read() -> None:
    assert len(names()) == len(set(names())) == len(experiments())
    for one in experiments():
        assert one.study.name in STUDIES
        for size in SIZES:
            runs = one.runs(size, seeds=1)
            assert len({run.config for run in runs}) > 0
            assert all(run.study.seconds_of(run.setting) > 0 for run in runs)
        # What the paper prints has a row of ours, or a reason.
        rows = {*one.rows(), *(gap.row for gap in one.absent)}
        for row, on, metric in one.published:
            if one.study.name in ("training", "crowd") and not any(gap.on == on for gap in one.absent):
                assert row in rows, f"{one.name}: no arm for the printed row {row!r} ({on}, {metric})"


def test_the_page_says_how_many_runs_there_are() -> None:
    page = (Path(__file__).parents[2] / "docs" / "reproduction.md").read_text(encoding="utf-8")
    alike = {(run.config, run.seed) for one in experiments() for run in one.runs("smoke")}
    assert f"Everything at smoke is {len(alike)} runs" in page
    assert Costs().of(experiments(), "smoke").n_runs == len(alike)


@pytest.mark.parametrize(
    ("name", "network", "task", "seconds"),
    [  # core-seconds of runs at small on a small machine, while other work was going on there
        ("collins/table1", "vgg11", "", 27.5),
        ("collins/table1", "resnet50", "", 113.7),
        ("wright/figure1", "", "RTE", 34.5),
        ("uma/table3", "", "POS", 10.1),
        ("uma/table3", "", "IC-LABELME", 1.7),
    ],
)
def test_what_is_expected_is_near_to_what_was_measured(name: str, network: str, task: str, seconds: float) -> None:
    (one,) = find(name)
    runs = [run for run in one.runs("small", seeds=1) if getattr(run.setting, "task", "") == task]
    chosen = next(run for run in runs if task or run.setting.network == network)
    assert chosen.study.seconds_of(chosen.setting) == pytest.approx(seconds, rel=0.4)


def test_each_and_names_in_braces(tmp_path: Path) -> None:
    one = written(
        tmp_path,
        "title = 'A'\nstudy = 'panel_sizes'\n[arms.'of {least}']\neach = { least = [10, 20], on = ['x', 'y'] }\n",
    )
    runs = one.runs("full")
    assert [(run.row, run.unit, run.setting.least, run.setting.on) for run in runs] == [
        ("of 10", "x", 10, "x"), ("of 10", "y", 10, "y"), ("of 20", "x", 20, "x"), ("of 20", "y", 20, "y"),
    ]  # fmt: skip
    assert len({run.config for run in runs}) == 4


def test_sizes_and_quirks_are_laid_over(tmp_path: Path) -> None:
    one = written(
        tmp_path,
        """
title = "A"
study = "panel_sizes"
seeds = 5
[default]
least = 12
[sizes.smoke]
seeds = 1
repeats = 2
[arms.a]
as_published = { on = "odd" }
[as_published]
why = "They did."
set = { least = 14 }
""",
    )
    smoke, full = one.runs("smoke"), one.runs("full")
    assert [(run.variant, run.seed, run.setting.repeats, run.setting.least, run.setting.on) for run in smoke] == [
        ("corrected", 0, 2, 12, ""), ("as published", 0, 2, 14, "odd"),
    ]  # fmt: skip
    assert len(full) == 10
    assert full[0].setting.repeats == 20


def test_the_fingerprint_holds_what_differs_and_no_path(tmp_path: Path) -> None:
    def config(folder: str, **given: Any) -> str:
        (tmp_path / folder).mkdir(exist_ok=True)
        lines = "\n".join(f"{name} = {value!r}" for name, value in given.items())
        return written(tmp_path / folder, f"title = 'A'\nstudy = 'crowd'\n[arms.a]\n{lines}\n").runs("full")[0].config

    assert config("here", data="votes.csv") == config("there", data="votes.csv")
    assert config("here", data="votes.csv") != config("here", data="other.csv")
    assert config("here", data="rte") == config("here")  # which is the default
    assert config("here", panels_of=3) != config("here", panels_of=4)


def test_names_that_are_not_there_are_told() -> None:
    with pytest.raises(OptionError, match="no experiment 'wright/table9'"):
        find("wright/table9")
    with pytest.raises(OptionError, match=r"There is no file nothing\.toml"):
        find("nothing.toml")
    assert [one.name for one in find("uma")] == [name for name in names() if name.startswith("uma/")]


@pytest.mark.parametrize(
    ("text", "value", "digits", "spread", "stars"),
    [
        ("0.927", 0.927, 3, None, ""),
        ("1.293±0.08", 1.293, 3, 0.08, ""),
        ("86.62 %**", 0.8662, 2, None, "**"),
        ("6,200", 6200, 0, None, ""),
        ("6.015*", 6.015, 3, None, "*"),
        ("32 s", 32, 0, None, ""),
    ],
)
def test_printed_numbers(text: str, value: float, digits: int, spread: float | None, stars: str) -> None:
    printed = Printed.of(text)
    assert printed.value == pytest.approx(value)
    assert (printed.digits, printed.spread, printed.stars) == (digits, spread, stars)


def test_a_number_matches_what_it_rounds_to() -> None:
    assert Printed.of("0.919").matches(0.91875)
    assert Printed.of("0.93").matches(0.925)
    assert not Printed.of("0.919").matches(0.9180)
    assert Printed.of("67.81 %").matches(0.67814)
    with pytest.raises(FormatError, match="not a printed number"):
        Printed.of("about 3")


def test_published_numbers_are_read_by_row_set_and_metric(tmp_path: Path) -> None:
    path = tmp_path / "published.toml"
    path.write_text('[table1."A, B"]\n"on" = { accuracy_score = "0.5" }\n')
    assert {place: printed.value for place, printed in read_published(path, "table1").items()} == {
        ("A, B", "on", "accuracy_score"): 0.5
    }
    assert read_published(path, "table2") == {}
    for text, said in (("row = 3", "it must be a table"), ("row.on = { accuracy_score = 0.5 }", 'write "0.5"')):
        other = tmp_path / f"{len(text)}.toml"
        other.write_text(f"[table1]\n{text}\n")
        with pytest.raises(FormatError, match=said):
            read_published(other, "table1")
    assert read_published(tmp_path / "none.toml", "table1") == {}
