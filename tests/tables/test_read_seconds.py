"""The seconds of each vote, out of a column of its file."""

from __future__ import annotations

from pathlib import Path

import pytest

from sfumato.errors import InputError, OptionError
from sfumato.tables.read_seconds import read_seconds


def _file(folder: Path, text: str) -> Path:
    path = folder / "votes.csv"
    path.write_text(text)
    return path


def test_seconds_are_found_by_item_and_annotator_and_added_up(tmp_path: Path) -> None:
    path = _file(tmp_path, "task,worker,answer,took\n08,ann,yes,3.5\n08,bob,no,4\n7,ann,no,1\n7,ann,yes,2\n")
    assert read_seconds(path, "took") == {("08", "ann"): 3.5, ("08", "bob"): 4.0, ("7", "ann"): 3.0}


def test_what_is_no_time_is_refused_with_its_place(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"line 2, column 'took': '-1' is not a number of seconds"):
        read_seconds(_file(tmp_path, "item,annotator,label,took\na,x,yes,-1\n"), "took")
    with pytest.raises(OptionError, match=r"no column 'time' for the seconds. The columns are item, annotator"):
        read_seconds(_file(tmp_path, "item,annotator,label,took\na,x,yes,1\n"), "time")
