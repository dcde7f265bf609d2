"""What needs no training comes out to the last printed digit, or is one of the exceptions that are explained."""

from __future__ import annotations

from pathlib import Path

import pytest

from sfumato.reproduce import compare, find, run
from sfumato.reproduce.sources import missing_data

# The printed numbers that do not come out: each has its sentence in the notes of the experiment and in the docs.
EXCEPTIONS = {
    "collins/figure5": set(),
    "collins/labels": {
        ("T2, Clamp", "CIFAR-10H", "entropy_correlation_score"),
        ("T2, Clamp", "CIFAR-10H", "values_wasserstein_error"),
    },
    "uma/table1": {
        ("POS", "", "coder_to_label_ratio"),
        ("IC-LABELME", "", "annotations_per_item"),
        ("IC-LABELME", "", "coder_to_label_ratio"),
        ("IC-CIFAR10H", "", "observed_agreement_score"),
    },
    "fornaciari/crowd": {("Stemming", "", "least_annotations_per_item")},
    "wright/correlation": {("all views", "", "correlation_of_divergences")},
    "wright/crowd": set(),
    "wright/figure4": set(),
    "wright/table1": {
        ("D&S", "MRE", "accuracy_score"),
        ("Temperature", "MRE", "accuracy_score"),
        ("Hybrid", "MRE", "accuracy_score"),
    },
}


@pytest.mark.parametrize("name", EXCEPTIONS)
def test_to_the_last_digit(name: str, results: Path) -> None:
    (one,) = find(name)
    missing = [missing_data(each.data) for each in one.runs("full")]
    if any(missing):
        pytest.skip(next(filter(None, missing)))
    summary = run(one, folder=results, size="full")
    assert not summary.failed
    table = compare(one, results)
    other = {(cell.row, cell.on, cell.metric) for cell in table.cells if cell.same_digits is False}
    assert other == EXCEPTIONS[name]
    if other:
        assert one.notes
    absent = {gap.row for gap in one.absent} | {gap.on for gap in one.absent}
    lacking = {cell.row for cell in table.cells if cell.printed and cell.same_digits is None}
    assert all(row in absent or "Toxicity" in absent for row in lacking)
    assert all(verdict.word == "shown" for verdict in table.verdicts)


def test_the_corrected_numbers_of_wright_table_1(results: Path) -> None:
    (one,) = find("wright/table1")
    if any(missing_data(each.data) for each in one.runs("full")):
        pytest.skip("the sets of wright/table1 are not on this machine")
    run(one, folder=results, size="full")
    cells = {(cell.row, cell.on): cell for cell in compare(one, results).cells}
    for row, on, right, published, n in (
        ("Standard", "RTE", 735, 735, 800), ("D&S", "RTE", 737, 742, 800), ("Standard", "MRE", 744, 745, 975)
    ):  # fmt: skip
        ours, theirs = cells[row, on].ours, cells[row, on].as_published
        assert ours is not None
        assert theirs is not None
        assert ours.value == pytest.approx(right / n, abs=1e-12)
        assert theirs.value == pytest.approx(published / n, abs=1e-12)
        assert ours.low is not None
        assert ours.high is not None
        assert ours.low < ours.value < ours.high
