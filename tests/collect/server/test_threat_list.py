"""Every test that docs/collect-safety.md names is there."""

from __future__ import annotations

import re
from pathlib import Path

_ROOT = Path(__file__).parents[3]


def test_every_threat_has_the_test_that_it_names():
    text = (_ROOT / "docs" / "collect-safety.md").read_text(encoding="utf-8")
    folders = (_ROOT / "tests" / "collect" / "server", _ROOT / "tests" / "faults")
    files = {file.name: file.read_text(encoding="utf-8") for folder in folders for file in folder.glob("test_*.py")}
    rows = [line for line in text.splitlines() if line.startswith("| ") and not line.startswith("| threat")]
    assert len(rows) > 25
    for row in rows:
        named = re.findall(r"`(test_\w+\.py|…)(?:::(test_\w+))?`", row.rsplit("|", 2)[1])
        assert named, row
        for file, test in named:
            if file == "…":
                assert any(f"def {test}(" in content for content in files.values()), test
            else:
                assert file in files, file
                assert not test or f"def {test}(" in files[file], test
