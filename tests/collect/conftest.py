"""Studies for the tests of the room: a small one to say things in, and the paper's as it was imported."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from sfumato.collect.items import Item
from sfumato.collect.sqlite_store import SqliteStore
from sfumato.collect.store import Contact, PersonRow, PlaceRow, ResponseRow
from sfumato.collect.study import Study
from sfumato.collect.study_file import read_study

FIRST = 1_700_000_000_000


@dataclass
class Field:
    """A study under way: answers are said in one line each."""

    folder: Path
    study: Study
    store: SqliteStore
    number: int = 0
    places: dict[str, int] = field(default_factory=dict)
    known: set[str] = field(default_factory=set)

    @property
    def items(self) -> dict[str, Item]:
        return {name: Item(id=name, kind="text", text=f"Text of {name}") for name in ("a", "b", "c")}

    def person(self, name: str, *, handed_in: bool = True, contact: str = "", platform: str = "plain") -> None:
        end = FIRST + 600_000 if handed_in else None
        row = PersonRow(
            id=name, platform=platform, visitor=f"hash of {name}" if contact else "", arrived_at=FIRST,
            seen_at=FIRST + 600_000, assigned_at=FIRST, finished_at=end, done_at=end,
        )  # fmt: skip
        paid = Contact(name, platform, contact, f"session of {contact}", {}, FIRST) if contact else None
        self.known.add(name)
        # The next thing that is waited for is written after this, in the same transaction.
        added = self.store.add_person(row, paid)
        if paid is not None:
            added.result()

    def says(self, person: str, item: str, answer: dict[str, Any], *, kind: str = "main", **more: Any) -> ResponseRow:
        if person not in self.known:
            self.person(person)
        self.number += 1
        place = more.pop("place", None)
        if place is None:
            place = self.places[person] = self.places.get(person, 0) + 1
            if kind != "practice":
                self.store.add_places(person, [PlaceRow(person, place, item, kind)], at=FIRST)
        row = ResponseRow(
            key=f"key-{self.number}", person=person, place=place, item=item, kind=kind, answer=answer,
            received_at=FIRST + self.number * 1000, **{"seconds": 10.0, **more},
        )  # fmt: skip
        return self.store.add_response(row).result().row

    @staticmethod
    def top2(top: str, percent: float, second: str | None = None, other: float | None = None, *impossible: str) -> Any:
        return {
            "mode": "top2", "top": top, "top_percent": percent, "second": second, "second_percent": other,
            "impossible": list(impossible),
        }  # fmt: skip


@pytest.fixture
def make_field(tmp_path: Path) -> Iterator[Callable[..., Field]]:
    """Make a study of three texts and three classes, with more lines of study.toml where they are given."""
    opened: list[SqliteStore] = []

    def make(more: str = "", *, mode: str = "top2", name: str = "study") -> Field:
        folder = tmp_path / name
        folder.mkdir()
        (folder / "items.csv").write_text("item,text\na,Text of a\nb,Text of b\nc,Text of c\n")
        (folder / "study.toml").write_text(
            f'[study]\ntitle = "Animals"\nclasses = ["deer", "horse", "ship"]\nmode = "{mode}"\n'
            f'[items]\nsource = "items.csv"\n{more}'
        )
        store = SqliteStore(folder / "study.sqlite")
        opened.append(store)
        return Field(folder, read_study(folder), store)

    yield make
    for store in opened:
        store.close()


@pytest.fixture(scope="session")
def paper_file() -> Path:
    """The raw answers of Collins et al. (2022)."""
    path = Path(os.environ["SFUMATO_DATA"]) / "cifar10s" / "raw_human_data.csv"
    if not path.is_file():
        pytest.skip(f"the raw answers of CIFAR-10S are not at {path}; set SFUMATO_DATA to where the sets are")
    return path


@pytest.fixture(scope="session")
def imported_once(paper_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The paper's study, imported once; nothing may be written to it."""
    from sfumato.collect.jspsych_import import import_jspsych

    folder = tmp_path_factory.mktemp("paper") / "study"
    assert import_jspsych(paper_file, folder) == 6723
    return folder


@pytest.fixture
def imported(imported_once: Path, tmp_path: Path) -> Path:
    """A copy of the paper's study."""
    return Path(shutil.copytree(imported_once, tmp_path / "paper"))
