"""What leaves a study: raw answers as they were said, annotations, soft labels, and never an id of a platform."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import sfumato as sf
from sfumato.collect.exclusions import run_exclusions
from sfumato.collect.export import (
    Chosen,
    annotations_of_study,
    chosen_answers,
    exit_rows,
    people_rows,
    response_records,
)
from sfumato.collect.redistribution import Redistribution, redistribution_of
from sfumato.collect.sqlite_store import SqliteStore
from sfumato.collect.store import ExitRow
from sfumato.collect.study_file import read_study
from sfumato.data.cifar10 import CLASSES
from sfumato.errors import InputError, OptionError


def soft_of(field, **rule) -> dict[tuple[str, str], list[float]]:
    """The distributions by item and person."""
    votes = annotations_of_study(field.study, field.store, redistribution_of(field.study, **rule), Chosen())
    found: dict[tuple[str, str], list[float]] = {}
    for start, end in zip(votes.starts[:-1], votes.starts[1:], strict=True):
        probs = np.zeros(votes.n_classes)
        probs[votes.label[start:end]] = votes.weight[start:end]
        found[votes.items[votes.item[start]], votes.annotators[votes.annotator[start]]] = probs.tolist()
    return found


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ({}, [0.7, 0.2, 0.1]),
        ({"use": "T1"}, [0.7, 0.15, 0.15]),
        ({"use": "T1", "gamma": 0.5}, [0.7, 0.15, 0.15]),
        ({"use": "top1"}, [1, 0, 0]),
        ({"use": "top2"}, [0.5, 0.5, 0]),
    ],
)
def test_every_use_of_an_answer(make_field: Callable, rule: dict, expected: list[float]) -> None:
    field = make_field()
    field.says("ann", "a", field.top2("deer", 70, "horse", 20))
    assert soft_of(field, **rule)["a", "ann"] == pytest.approx(expected)


def test_clamp_and_uniform_and_gamma(make_field: Callable) -> None:
    field = make_field()
    field.says("ann", "a", field.top2("deer", 70, None, None, "ship"))
    field.says("ann", "b", field.top2("deer", 80, "horse", 20))
    assert soft_of(field)["a", "ann"] == pytest.approx([0.7, 0.3, 0.0])
    assert soft_of(field, rule="uniform")["a", "ann"] == pytest.approx([0.7, 0.15, 0.15])
    assert soft_of(field)["b", "ann"] == pytest.approx([0.72, 0.18, 0.1])
    assert soft_of(field, gamma=0.0)["b", "ann"] == pytest.approx([0.8, 0.2, 0.0])
    assert soft_of(field, gamma=0.4)["b", "ann"] == pytest.approx([0.48, 0.12, 0.4])
    assert soft_of(field, rule="uniform")["b", "ann"] == pytest.approx([0.8, 0.2, 0.0])


@pytest.mark.parametrize(
    ("mode", "answer", "expected", "chosen"),
    [
        ("hard", {"top": "horse"}, [0, 1, 0], [0, 1, 0]),
        ("top1", {"top": "deer", "top_percent": 60}, [0.6, 0.2, 0.2], [1, 0, 0]),
        ("chips", {"chips": {"deer": 15, "ship": 5}}, [0.75, 0, 0.25], [0.5, 0, 0.5]),
        ("chips", {"chips": {"deer": 5, "horse": 10, "ship": 5}}, [0.25, 0.5, 0.25], [1 / 3] * 3),
        ("sliders", {"percents": {"deer": 90, "horse": 10, "ship": 0}}, [0.9, 0.1, 0], [0.5, 0.5, 0]),
        ("sliders", {"percents": {"deer": 60}}, [0.6, 0.2, 0.2], [1, 0, 0]),
        ("sliders", {"percents": {"deer": 60, "ship": 0}}, [0.6, 0.4, 0], [1, 0, 0]),
    ],
)
def test_every_mode(make_field: Callable, mode: str, answer: dict, expected: list, chosen: list) -> None:
    field = make_field(mode=mode)
    field.says("ann", "a", {"mode": mode, **answer})
    assert soft_of(field)["a", "ann"] == pytest.approx(expected)
    assert soft_of(field, use="top2")["a", "ann"] == pytest.approx(chosen)


def test_which_answers_are_taken(make_field: Callable) -> None:
    field = make_field('[exclusions]\npeople = ["eve"]\n')
    first = field.says("ann", "a", field.top2("deer", 60))
    field.says("ann", "a", field.top2("horse", 90), place=first.place)
    field.says("ann", "a", field.top2("ship", 50), kind="repeat")
    field.says("ann", "b", field.top2("deer", 60), kind="check")
    field.says("ann", "c", field.top2("deer", 60), kind="practice", place=1)
    field.says("eve", "a", field.top2("ship", 60))
    field.person("new", handed_in=False)
    field.says("new", "b", field.top2("ship", 60))
    run_exclusions(field.study, field.store, at=1)

    def taken(**chosen: bool) -> list[tuple[str, str, str]]:
        answers = chosen_answers(field.store, Chosen(**chosen))
        return [(row.person, row.item, row.answer["top"]) for row in answers]

    assert taken() == [("ann", "a", "horse"), ("new", "b", "ship")]
    assert taken(finished=True) == [("ann", "a", "horse")]
    assert taken(repeats=True) == [("ann", "a", "horse"), ("ann", "a", "ship"), ("new", "b", "ship")]
    assert taken(left_out=True) == [("ann", "a", "horse"), ("eve", "a", "ship"), ("new", "b", "ship")]
    assert taken(as_published=True) == [
        ("ann", "a", "deer"), ("ann", "a", "horse"), ("ann", "a", "ship"), ("new", "b", "ship"),
    ]  # fmt: skip


@pytest.mark.filterwarnings("ignore:.*holds the rows of the annotations:sfumato.errors.SfumatoWarning")
def test_hard_answers_are_plain_votes(make_field: Callable, tmp_path: Path) -> None:
    field = make_field(mode="hard")
    for name, top in (("ann", "deer"), ("bob", "horse")):
        field.says(name, "a", {"mode": "hard", "top": top})
    votes = annotations_of_study(field.study, field.store, redistribution_of(field.study), Chosen())
    assert votes.is_hard
    votes.save(tmp_path / "votes.csv")
    assert (tmp_path / "votes.csv").read_text() == "item,annotator,label\na,ann,deer\na,bob,horse\n"


def test_everything_that_was_said_is_in_the_raw_answers(make_field: Callable) -> None:
    field = make_field('[exclusions]\npeople = ["ann"]\n')
    events = [
        {"at": 812, "what": "top", "value": "deer", "how": "key"},
        {"at": 1500, "what": "top_percent", "value": 70},
    ]
    answer = field.top2("deer", 70.5)
    row = field.says("ann", "a", answer, events=events, shown_at="2026-01-01T00:00:00Z", seconds=1.75)
    field.says("ann", "a", field.top2("ship", 70), place=row.place)
    field.says("ann", "c", field.top2("deer", 60), kind="practice", place=1)
    run_exclusions(field.study, field.store, at=1)
    told = list(response_records(field.store))
    assert [(each["kind"], each["place"], each["revision"], each["left_out"]) for each in told] == [
        ("main", 1, 1, True), ("main", 1, 2, True), ("practice", 1, 1, True),
    ]  # fmt: skip
    first = told[0]
    assert (first["answer"], first["events"], first["seconds"]) == (answer, events, 1.75)
    assert (first["shown_at"], first["received_at"]) == ("2026-01-01T00:00:00Z", "2023-11-14T22:13:21.000+00:00")
    assert json.loads(json.dumps(told)) == told


def test_no_export_holds_an_id_of_a_platform(make_field: Callable) -> None:
    field = make_field('[platform]\nkind = "prolific"\n')
    field.person("ann", contact="SECRETPID", platform="prolific")
    field.says("ann", "a", field.top2("deer", 60))
    field.store.add_exit([ExitRow("ann", "Unclear?", "No", 5)]).result()
    told = [*response_records(field.store), *people_rows(field.store), *exit_rows(field.store)]
    text = json.dumps(told)
    assert "SECRETPID" not in text
    assert "hash of ann" not in text
    assert len(told) == 3
    people = next(people_rows(field.store))
    assert (people["annotator"], people["answers"], people["seconds"], people["state"]) == ("ann", 1, 10.0, "done")


def test_nothing_to_export(make_field: Callable) -> None:
    field = make_field()
    with pytest.raises(InputError, match="no answers to export: nobody has come yet"):
        soft_of(field)
    field.says("ann", "a", field.top2("deer", 60))
    with pytest.raises(OptionError, match=r"redistribute\.use"):
        soft_of(field, use="T3")


def test_the_annotations_come_back_from_every_format(imported_once: Path, tmp_path: Path) -> None:
    store = SqliteStore(imported_once / "study.sqlite")
    study = read_study(imported_once)
    votes = annotations_of_study(study, store, redistribution_of(study), Chosen(repeats=True))
    store.close()
    assert votes.n_annotations == 6696
    for name in ("votes.parquet", "votes.csv", "votes.jsonl"):
        votes.save(tmp_path / name)
        read = sf.read_annotations(tmp_path / name, duplicates="keep", classes=None if "parquet" in name else CLASSES)
        assert read.n_annotations == 6696
        assert read.fingerprint == votes.fingerprint


def test_the_released_labels_of_the_paper_and_the_clean_ones(imported_once: Path, paper_file: Path) -> None:
    """Imported and exported, the raw file gives the authors' labels to 1e-12, or 6,200 without their accidents."""
    theirs = json.loads((paper_file.parent / "released_t2clamp_labels_even_images.json").read_text())
    store = SqliteStore(imported_once / "study.sqlite")
    study = read_study(imported_once)
    published = annotations_of_study(study, store, Redistribution(), Chosen(as_published=True))
    clean = annotations_of_study(study, store, Redistribution(), Chosen())
    store.close()
    assert (published.n_annotations, clean.n_annotations, clean.n_items, clean.n_annotators) == (6723, 6200, 1000, 248)
    assert published.classes == clean.classes == CLASSES
    ours: dict[str, list[np.ndarray]] = {item: [] for item in theirs}
    for start, end in zip(published.starts[:-1], published.starts[1:], strict=True):
        item = published.items[published.item[start]]
        if item in ours:
            probs = np.zeros(10)
            probs[published.label[start:end]] = published.weight[start:end]
            ours[item].append(probs)
    assert sum(map(len, theirs.values())) == sum(map(len, ours.values())) == 3308
    for item, labels in theirs.items():
        # Neither file says whose label is whose: each of theirs is met by one of ours, and none by two.
        left = [np.array(label) for label in labels]
        for own in ours[item]:
            match = [k for k, label in enumerate(left) if np.abs(own - label).max() < 1e-12]
            assert match, f"nothing in image {item} equals {own}"
            del left[match[0]]
        assert not left
    # The clean ones are those that the data set gives when it is loaded.
    loaded = sf.data.load("cifar10s").annotations
    np.testing.assert_allclose(clean.counts(), loaded.counts(), atol=1e-12)
    assert clean.items == loaded.items
