"""The public data sets for the tests of the aggregators."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

import sfumato as sf


@pytest.fixture
def load_data(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], sf.data.DataSet]:
    """Loads public data sets from SFUMATO_DATA or from beside the repository; where neither is, the test is skipped."""
    folder = Path(os.environ.get("SFUMATO_DATA") or Path(__file__).parents[3] / "shared" / "data")
    if not folder.is_dir():
        pytest.skip(f"the public data sets are not in {folder}; set SFUMATO_DATA to where they are")
    monkeypatch.setenv("SFUMATO_DATA", str(folder))
    return sf.data.load
