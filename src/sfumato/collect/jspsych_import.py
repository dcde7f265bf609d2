"""A study made of what people said elsewhere: the pages of Collins et al. (2022), in the CSV file of jsPsych."""

from __future__ import annotations

__all__ = ["import_jspsych"]

import csv
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.collect.sqlite_store import SqliteStore
from sfumato.collect.store import PersonRow, PlaceKind, PlaceRow, ResponseRow
from sfumato.collect.study_file import commented
from sfumato.errors import InputError

if TYPE_CHECKING:
    from sfumato.data.jspsych import Page


def import_jspsych(path: Path, folder: Path, *, classes: Sequence[str] | None = None) -> int:
    """Make a study in *folder* of the pages in *path*, and return how many answers it holds.

    Everything that was filled in is kept, the form as it was sent beside what it says. A page that the file holds twice
    is a second revision of the same answer. The file tells no dates: times count from each person's own start. Beside
    the study file come ``study.toml`` for another round of the same design, the items by name, the batches, and the
    reference classes that the paper's exclusion rules need.
    """
    from sfumato.data.jspsych import classes_in, read_pages

    if (folder / "study.sqlite").exists() or (folder / "study.toml").exists():
        raise InputError(f"{folder} holds a study already; name a folder that does not.")
    pages = read_pages(path, classes=classes, keep_copies=True)
    if not pages:
        raise InputError(f"{path} holds no filled-in pages (rows of the task spec_conf).")
    names = tuple(classes) if classes is not None else classes_in([page.form for page in pages])
    folder.mkdir(parents=True, exist_ok=True)
    _write_design(folder, path.name, pages, names)
    store = SqliteStore(folder / "study.sqlite")
    try:
        _write_answers(store, pages)
    finally:
        store.close()
    return len(pages)


def _write_design(folder: Path, name: str, pages: Sequence[Page], classes: Sequence[str]) -> None:
    gold = {page.response.item: page.gold for page in pages}
    batches: dict[str, dict[str, None]] = {}
    for page in pages:
        batches.setdefault(page.batch, {})[page.response.item] = None
    ordered = {batch: list(batches[batch]) for batch in sorted(batches, key=lambda batch: (len(batch), batch))}
    again = {(page.response.annotator, page.trial) for page in pages if page.is_repeat}
    repeats = max(Counter(person for person, _ in again).values(), default=0)
    with (folder / "items.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["item", "text"])
        writer.writerows([item, f"Image {item}"] for item in gold)
    with (folder / "reference.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["item", "label"])
        writer.writerows([item, label] for item, label in gold.items() if label in classes)
    (folder / "batches.json").write_text(json.dumps(ordered, indent=1) + "\n", encoding="utf-8")
    settings: dict[tuple[str, str], Any] = {
        ("study", "mode"): "top2",
        ("study", "person"): "third",
        ("batches", "size"): max(map(len, ordered.values())),
        ("batches", "repeats"): repeats,
        ("batches", "allocation"): "batches.json",
        ("exclusions", "reference"): "reference.csv",
    }
    text = commented(title=f"Imported from {name}", classes=classes, source="items.csv", settings=settings)
    (folder / "study.toml").write_text(text, encoding="utf-8")


def _write_answers(store: SqliteStore, pages: Sequence[Page]) -> None:
    of_people: dict[str, list[Page]] = {}
    for page in pages:
        of_people.setdefault(page.response.annotator, []).append(page)
    waiting: list[Any] = []
    for person, said in of_people.items():
        ended = int(max(page.elapsed for page in said) * 1000)
        row = PersonRow(
            id=person, platform="import", batch=said[0].batch, arrived_at=0, seen_at=ended,
            assigned_at=0, finished_at=ended, done_at=ended,
        )  # fmt: skip
        waiting.append(store.add_person(row))
        # A page that is there twice has the same trial both times.
        numbers = {trial: place for place, trial in enumerate(dict.fromkeys(page.trial for page in said), start=1)}
        kinds = {page.trial: _kind(page) for page in said}
        items = {page.trial: page.response.item for page in said}
        places = [PlaceRow(person, numbers[trial], items[trial], kinds[trial]) for trial in numbers]
        waiting.append(store.add_places(person, places, batch=said[0].batch, at=0))
        for number, page in enumerate(said):
            waiting.append(store.add_response(_row(page, numbers[page.trial], f"{person}-{number}")))
    for each in waiting:
        each.result()


def _row(page: Page, place: int, key: str) -> ResponseRow:
    response = page.response
    (top, top_percent), *rest = response.stated
    second, second_percent = rest[0] if rest else (None, None)
    answer = {
        "mode": "top2",
        "top": top,
        "top_percent": top_percent,
        "second": second,
        "second_percent": second_percent,
        "impossible": sorted(response.impossible),
        "form": dict(page.form),
    }
    return ResponseRow(
        key=key, person=response.annotator, place=place, item=response.item, kind=_kind(page), answer=answer,
        seconds=response.seconds, received_at=int(page.elapsed * 1000),
    )  # fmt: skip


def _kind(page: Page) -> PlaceKind:
    return "repeat" if page.is_repeat else "main"
