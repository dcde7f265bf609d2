"""Every experiment that comes along runs at its smallest size, and the page of all of them can be made."""

from __future__ import annotations

from pathlib import Path

import pytest

from sfumato.reproduce import compare, experiments, names, report_markdown, report_page, run_all
from sfumato.reproduce.sources import missing_data


@pytest.fixture(scope="module")
def all_run(results: Path) -> Path:
    missing = {text for one in experiments() for each in one.runs("smoke") if (text := missing_data(each.data))}
    if missing:
        pytest.skip(sorted(missing)[0])
    # Two processes: the tests have two cores, and this is the way in which it is run.
    summary = run_all(experiments(), folder=results, size="smoke", jobs=2)
    assert summary.failed == ()
    return results


@pytest.mark.parametrize("name", names())
def test_every_run_is_there(name: str, all_run: Path) -> None:
    (one,) = [each for each in experiments() if each.name == name]
    table = compare(one, all_run, size="smoke")
    assert table.n_runs == table.n_wanted
    absent = {place for gap in one.absent for place in (gap.row, gap.on) if place}
    for cell in table.cells:
        assert cell.ours or cell.as_published or {cell.row, cell.on} & absent, (
            f"{name}: nothing stands beside the printed {cell.row!r}, {cell.on!r}, {cell.metric}"
        )
    assert all(verdict.word not in ("not run", "no paired runs") for verdict in table.verdicts)


def test_the_pages_hold_all_of_them(all_run: Path) -> None:
    tables = [compare(one, all_run, size="smoke") for one in experiments()]
    page, text = report_page(tables), report_markdown(tables)
    for one in experiments():
        assert one.name in page
        assert f"## {one.name}" in text
    assert page.count("<svg") > len(tables) / 2
