from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from sfumato.core.origin import Origin
from sfumato.core.report import Number, Report


def sample() -> Report:
    return Report(
        "Votes of 3 annotators",
        [
            Number("accuracy_score", 0.91875, n=800, of="standard", low=0.9, high=0.93, level=0.95),
            Number("soft_cross_entropy_loss", 0.25, n=800, of="standard"),
            Number("accuracy_score", 0.9275, n=800, of="dawid_skene"),
            Number("n_items", 800.0, n=800),
        ],
        Origin("compare", options={"folds": 5}, seed=0, fingerprint="abc"),
        notes=["65 items are tied.", "ü"],
        details={"matrix": [[1, 2], [3, 4]]},
    )


def test_numbers_are_found_by_name_and_by_what_they_describe() -> None:
    report = sample()
    assert report["accuracy_score"].value == 0.91875
    assert report["accuracy_score", "dawid_skene"].value == 0.9275
    assert report["n_items"].of == ""
    for key in ("f1_score", ("accuracy_score", "mace"), ("soft_cross_entropy_loss", "dawid_skene")):
        with pytest.raises(KeyError):
            report[key]  # type: ignore[index]


def test_a_saved_report_is_loaded_as_it_was(tmp_path: Path) -> None:
    sample().save(tmp_path / "report.json")
    assert Report.load(tmp_path / "report.json") == sample()


def test_names_and_rows_keep_their_order() -> None:
    report = sample()
    assert report.names() == ["accuracy_score", "soft_cross_entropy_loss", "n_items"]
    assert {of: list(numbers) for of, numbers in report.rows().items()} == {
        "standard": ["accuracy_score", "soft_cross_entropy_loss"],
        "dawid_skene": ["accuracy_score"],
        "": ["n_items"],
    }


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (Number("x", 0.91875, n=1), "0.9187"),
        (Number("x", 0.91875, n=1, low=0.9, high=0.93), "0.9187 [0.9000, 0.9300]"),
        (Number("x", 0.0, n=1), "0.0000"),
        (Number("x", 1.5e-9, n=1), "1.5e-09"),
        (Number("x", -2.5, n=1, low=-math.inf, high=None), "-2.5000 [-inf, ]"),
        (Number("x", math.nan, n=0), "nan"),
    ],
)
def test_how_a_number_reads(number: Number, text: str) -> None:
    assert str(number) == text


def test_markdown() -> None:
    assert sample().to_markdown() == (
        "| | accuracy_score | soft_cross_entropy_loss | n_items |\n"
        "|---|---|---|---|\n"
        "| standard | 0.9187 [0.9000, 0.9300] | 0.2500 |  |\n"
        "| dawid_skene | 0.9275 |  |  |\n"
        "| Votes of 3 annotators |  |  | 800.0000 |"
    )
    text = str(sample())
    assert text.startswith("Votes of 3 annotators\n\n| | accuracy_score")
    assert text.endswith("\n\n65 items are tied.\nü")
    assert str(Report("Empty", [], Origin("x"))) == "Empty\n\n| |  |\n|---|"


def test_html_escapes_what_it_is_given() -> None:
    page = Report("<b>", [Number("a&b", 1.0, n=1, of="<i>")], Origin("x"))._repr_html_()
    assert page == (
        "<table><caption>&lt;b&gt;</caption><tr><th></th><th>a&amp;b</th></tr><tr><th>&lt;i&gt;</th><td>1.0000</td></tr></table>"
    )
    assert "<td></td>" in sample()._repr_html_()


def test_a_report_comes_back_from_json() -> None:
    report = sample()
    assert Report.from_dict(json.loads(report.to_json())) == report
    assert Report.from_dict(report.to_dict()) == report
    assert "ü" in report.to_json()


def test_numbers_that_are_not_finite_come_back_from_json() -> None:
    numbers = [Number("x", math.inf, n=1, low=-math.inf, high=math.inf, level=0.95), Number("y", math.nan, n=0)]
    text = Report("x", numbers, Origin("x"), details={"curve": [math.nan, (1.0, -math.inf)]}).to_json()
    json.loads(text, parse_constant=lambda token: pytest.fail(f"{token} is no JSON"))
    back = Report.from_dict(json.loads(text))
    assert back["x"] == numbers[0]
    assert math.isnan(back["y"].value)
    assert back.details["curve"] == ["nan", [1.0, "-inf"]]


def test_numbers_of_numpy_are_written_as_numbers() -> None:
    number = Number("x", np.float32(0.5), n=np.int64(3), of="y")  # type: ignore[arg-type]
    report = Report(
        "x", [number], Origin("x"), details={"counts": np.array([1, 2]), "flag": np.True_, "bad": np.array([np.nan])}
    )
    said = json.loads(report.to_json())
    assert said["numbers"][0]["value"] == 0.5
    assert said["numbers"][0]["n"] == 3
    assert said["details"] == {"counts": [1, 2], "flag": True, "bad": ["nan"]}


def test_a_report_does_not_hang_on_what_it_was_made_of() -> None:
    numbers, notes, details = [Number("x", 1.0, n=1)], ["a"], {"k": 1}
    report = Report("x", numbers, Origin("x"), notes, details)
    numbers.clear()
    notes.clear()
    details.clear()
    assert (len(report.numbers), report.notes, report.details) == (1, ("a",), {"k": 1})
    with pytest.raises(AttributeError):
        report.title = "y"  # type: ignore[misc]
