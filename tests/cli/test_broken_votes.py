"""Every broken file on the command line: a sentence, exit code 2, nothing written and nothing lost."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from sfumato.cli.app import run

# Tests are no package: the corpus, which the test of the doors uses as well, is loaded by its path.
_spec = importlib.util.spec_from_file_location(
    "broken_votes_of_the_doors", Path(__file__).parents[1] / "tables" / "broken_votes.py"
)
assert _spec
assert _spec.loader
broken_votes = importlib.util.module_from_spec(_spec)
sys.modules[_spec.name] = broken_votes
_spec.loader.exec_module(broken_votes)

BROKEN = broken_votes.broken_files()


def test_the_corpus_is_large() -> None:
    assert len(BROKEN) >= 200
    assert len({broken.name for broken in BROKEN}) == len(BROKEN)


@pytest.mark.parametrize("broken", BROKEN, ids=[broken.name for broken in BROKEN])
@pytest.mark.filterwarnings("default::sfumato.errors.SfumatoWarning")
def test_a_broken_file_is_refused_whole(tmp_path: Path, capsys: pytest.CaptureFixture[str], broken: object) -> None:
    path, out = tmp_path / broken.filename, tmp_path / "soft.csv"  # type: ignore[attr-defined]
    path.write_bytes(broken.content)  # type: ignore[attr-defined]
    out.write_text("what stood here before")
    assert run(["aggregate", str(path), "--method", "standard", "--out", str(out)]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("error ")
    assert "Traceback" not in shown.err
    assert shown.err.count("\n") == 1
    assert out.read_text() == "what stood here before"
    assert path.read_bytes() == broken.content  # type: ignore[attr-defined]
    assert sorted(one.name for one in tmp_path.iterdir()) == sorted({broken.filename, "soft.csv"})  # type: ignore[attr-defined]
