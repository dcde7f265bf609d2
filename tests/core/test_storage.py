from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from sfumato.core import storage
from sfumato.core.annotations import Annotations
from sfumato.core.gold import Gold
from sfumato.core.soft_labels import SoftLabels


class Notebook:
    """Doors that note what they are asked for."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []

    def save(self, table: Any, path: Any) -> None:
        self.calls.append(("save", table, path))

    def save_columns(self, columns: Any, path: Any) -> None:
        self.calls.append(("columns", columns, path))

    def load(self, kind: type[Any], path: Any) -> Any:
        self.calls.append(("load", kind, path))
        return "loaded"

    def arrow_stream(self, table: Any, requested_schema: object | None) -> object:
        self.calls.append(("stream", table, requested_schema))
        return "capsule"


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> Notebook:
    doors = Notebook()
    monkeypatch.setattr(storage, "_doors", None)
    storage.connect(lambda: doors)
    return doors


def test_every_type_asks_the_doors(notebook: Notebook) -> None:
    soft = SoftLabels([[1.0]], items=["a"], classes=["x"])
    votes = Annotations.from_rows(["a"], ["w"], ["x"])
    gold = Gold.from_names(["a"], ["x"])
    for table in (soft, votes, gold):
        table.save("file.csv")
        assert table.__arrow_c_stream__("schema") == "capsule"
    assert SoftLabels.load("file.csv") == "loaded"
    assert Gold.load("file.csv") == "loaded"
    asked = [(call[0], id(call[1]), call[2]) for call in notebook.calls]
    expected = [
        (what, id(table), with_)
        for table in (soft, votes, gold)
        for what, with_ in (("save", "file.csv"), ("stream", "schema"))
    ]
    assert asked == [*expected, ("load", id(SoftLabels), "file.csv"), ("load", id(Gold), "file.csv")]


def test_columns_go_to_the_doors_too(notebook: Notebook) -> None:
    storage.save_columns({"a": [1]}, "file.csv")
    assert notebook.calls == [("columns", {"a": [1]}, "file.csv")]


def test_the_doors_are_fetched_when_first_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    fetched = []
    doors = Notebook()
    monkeypatch.setattr(storage, "_doors", None)
    storage.connect(lambda: fetched.append(1) or doors)  # type: ignore[func-returns-value]
    assert fetched == []
    storage.save("table", "path")
    assert fetched == [1]


def test_without_the_package_there_are_no_doors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage, "_doors", None)
    with pytest.raises(RuntimeError, match="No doors are connected; import sfumato first"):
        storage.save("table", "path")


def test_saving_needs_no_import_but_that_of_the_package(tmp_path: Any) -> None:
    code = (
        "import sys, sfumato as sf\n"
        "soft = sf.SoftLabels([[1.0]], items=['a'], classes=['x'])\n"
        "assert 'polars' not in sys.modules\n"
        "soft.save(sys.argv[1])\n"
        "assert 'polars' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "soft.csv")], check=True)
    assert (tmp_path / "soft.csv").read_text() == "item,x\na,1.0\n"
