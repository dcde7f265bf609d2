"""How a study stands: numbers that agree with those of the core, and that follow what happens."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sfumato.collect.bonus import bonuses
from sfumato.collect.exclusions import run_exclusions
from sfumato.collect.export import Chosen, annotations_of_study
from sfumato.collect.items import read_items
from sfumato.collect.overview import Overview
from sfumato.collect.redistribution import redistribution_of
from sfumato.collect.sqlite_store import SqliteStore
from sfumato.collect.store import PlaceRow
from sfumato.collect.study import StudyClass
from sfumato.collect.study_file import read_study
from sfumato.core.agreement import observed_agreement_score
from sfumato.core.simplex import entropy
from sfumato.errors import OptionError


def test_a_study_that_nobody_has_come_to(make_field: Callable) -> None:
    field = make_field()
    view = Overview(field.study, field.store, field.items)
    told = view.overview()
    assert told["answers"] == {"usable": 0, "needed": 18, "surplus": 0, "all": 0}
    assert told["per_item"] == {"least": 0, "most": 0, "counts": {"0": 3}}
    assert [told[name] for name in ("agreement", "entropy", "seconds", "repeat_change")] == [None] * 4
    assert told["exclusions"] == {"run": None, "at": None, "leave_out": 0, "do_not_pay": 0}
    assert view.people() == {"people": []}
    assert view.items()["items"][0] == {
        "id": "a", "kind": "text", "text": "Text of a", "answers": 0, "distribution": {}, "entropy": None,
        "agreement": None,
    }  # fmt: skip


def test_a_worked_example(make_field: Callable) -> None:
    more = (
        '[exclusions]\nchecks_wrong_above = 0\n[exclusions.do_not_pay]\npeople = ["bob"]\n[bonus]\namount = 1.0\n'
        'from_agreement = 0.0\nfull_at = 1.0\nleast_others = 1\n[[checks]]\nitem = "c"\nanswer = "deer"\n'
    )
    field = make_field(more, mode="hard")
    for name, item, top, kind, seconds in (
        ("ann", "a", "deer", "main", 1.0), ("ann", "b", "deer", "main", 3.0), ("ann", "a", "horse", "repeat", 5.0),
        ("ann", "c", "deer", "check", None), ("bob", "a", "deer", "main", 7.0), ("eve", "a", "ship", "main", 9.0),
        ("eve", "c", "ship", "check", 2.0),
    ):  # fmt: skip
        field.says(name, item, {"mode": "hard", "top": top}, kind=kind, seconds=seconds)
    field.store.add_places("bob", [PlaceRow("bob", 2, "b"), PlaceRow("bob", 3, "c")], lapsed=[3], at=5).result()
    run_exclusions(field.study, field.store, at=77)
    view = Overview(field.study, field.store, field.items)
    told = view.overview()
    # Eve failed the check: her answer is there and does not count.
    assert told["answers"] == {"usable": 3, "needed": 18, "surplus": 0, "all": 4}
    assert told["per_item"] == {"least": 0, "most": 2, "counts": {"0": 1, "1": 1, "2": 1}}
    assert (told["agreement"], told["entropy"]) == (1.0, 0.0)
    assert (told["seconds"], told["repeat_change"]) == (4.0, 1.0)
    assert told["checks"] == {"asked": 2, "wrong": 1}
    assert told["exclusions"] == {"run": 1, "at": 77, "leave_out": 1, "do_not_pay": 1}
    assert told["people"] == {"done": 3}
    ann, bob, eve = view.people()["people"]
    assert (ann["answered"], ann["places"], ann["seconds"], ann["minutes"]) == (4, 4, 3.0, 10.0)
    assert (ann["repeat_change"], ann["checks"], ann["checks_wrong"]) == (1.0, 1, 0)
    assert (ann["agreement"], ann["bonus"], ann["leave_out"], ann["do_not_pay"]) == (1.0, 1.0, False, False)
    assert (bob["places"], bob["repeat_change"], bob["do_not_pay"]) == (2, None, True)
    assert (eve["agreement"], eve["leave_out"], eve["checks_wrong"]) == (0.0, True, 1)
    assert eve["reasons"] == ["left out: 1 attention check failed, more than 0"]
    by_id = {each["id"]: each for each in view.items()["items"]}
    assert by_id["a"]["distribution"] == {"deer": 1.0, "horse": 0.0, "ship": 0.0}
    assert (by_id["a"]["answers"], by_id["a"]["agreement"], by_id["b"]["agreement"]) == (2, 1.0, None)


def test_it_follows_what_happens(make_field: Callable) -> None:
    field = make_field(mode="hard")
    view = Overview(field.study, field.store, field.items)
    row = field.says("ann", "a", {"mode": "hard", "top": "deer"})
    field.says("bob", "a", {"mode": "hard", "top": "deer"})
    assert view.overview()["agreement"] == 1.0
    field.says("ann", "a", {"mode": "hard", "top": "ship"}, place=row.place)
    assert view.overview()["agreement"] == 0.0
    assert view.overview()["answers"]["all"] == 2
    field.says("cem", "a", {"mode": "hard", "top": "ship"}, surplus=True)
    assert view.overview()["answers"] == {"usable": 2, "needed": 18, "surplus": 1, "all": 3}
    assert field.store.erase("ann").result()
    told = view.overview()
    assert told["answers"]["all"] == 2
    assert [each["id"] for each in view.people()["people"]] == ["bob", "cem"]
    assert view.items()["items"][0]["distribution"] == {"deer": 0.5, "horse": 0.0, "ship": 0.5}


def test_items_in_every_order(make_field: Callable) -> None:
    field = make_field(mode="hard")
    for name, item, top in (("x", "c", "deer"), ("y", "c", "ship"), ("x", "b", "deer")):
        field.says(name, item, {"mode": "hard", "top": top})
    view = Overview(field.study, field.store, field.items)

    def ids(**asked) -> list[str]:
        return [each["id"] for each in view.items(**asked)["items"]]

    assert ids() == ["c", "b", "a"]
    assert ids(by="least") == ["a", "b", "c"]
    assert ids(by="id") == ["a", "b", "c"]
    assert ids(by="entropy", offset=1, n=1) == ["b"]
    assert view.items(offset=2, n=5)["total"] == 3
    with pytest.raises(OptionError, match="'by' must be one of"):
        view.items(by="colour")


def test_the_numbers_of_the_paper(imported_once: Path) -> None:
    """Against the core's own functions, on 6,200 answers; and what the paper prints of repeats and time."""
    store = SqliteStore(imported_once / "study.sqlite")
    study = read_study(imported_once)
    view = Overview(study, store, read_items(study.items, folder=study.folder))
    told, people = view.overview(), view.people()["people"]
    votes = annotations_of_study(study, store, redistribution_of(study), Chosen())
    earned = bonuses(study, store)
    store.close()
    soft = votes.counts() / votes.counts().sum(axis=1, keepdims=True)
    assert told["agreement"] == pytest.approx(observed_agreement_score(votes), abs=1e-6)
    assert told["entropy"] == pytest.approx(float(np.mean(entropy(soft))) / np.log(10), abs=1e-6)
    assert (told["seconds"], told["per_item"]["counts"]) == (pytest.approx(32.0, abs=0.1), {"6": 800, "7": 200})
    assert told["repeat_change"] == pytest.approx(34 / 496)
    assert [each["agreement"] for each in people] == pytest.approx([earned[each["id"]].agreement for each in people])
    assert {each["places"] for each in people} == {27}


def test_of_many_classes_the_most_probable_ones_are_told(make_field: Callable) -> None:
    field = make_field()
    classes = tuple(StudyClass(name=f"class {number}") for number in range(40))
    study = replace(field.study, classes=classes)
    field.says("ann", "a", field.top2("class 30", 60, "class 7", 30))
    told = Overview(study, field.store, field.items).items()["items"][0]["distribution"]
    assert len(told) == 12
    assert list(told)[:2] == ["class 30", "class 7"]
    assert list(told.values()) == pytest.approx([0.6, 0.3, *[0.1 / 38] * 10])
