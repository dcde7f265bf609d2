"""What the images are taught by, what it cost the people, and what stays the same whatever is taught."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sfumato.core.responses import Response
from sfumato.errors import FormatError
from sfumato.reproduce.own_answers import own_answers
from sfumato.reproduce.studies.every_annotator import EveryAnnotator, _answered, _cost, _divided_images

CLASSES = ("cat", "dog", "ship")


def told(**changed: Any) -> dict[str, Any]:
    stated = {"top": "cat", "top_percent": 60, "second": "dog", "second_percent": 20, "impossible": ["ship"]}
    events = [
        {"at": 1000, "what": "top"},
        {"at": 1500, "until": 3000, "what": "top_percent"},
        {"at": 4000, "what": "second"},
        {"at": 5000, "what": "second_percent"},
        {"at": 9000, "what": "others"},
    ]
    return {
        "item": "7", "annotator": "ann", "kind": "main", "place": 1, "revision": 1, "seconds": 9.5,
        "answer": {"mode": "top2", **stated}, "events": events, "left_out": False, "key": "k", **changed,
    }  # fmt: skip


def written(folder: Path, *rows: dict[str, Any]) -> str:
    path = folder / "responses.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def test_an_answer_costs_the_inputs_that_a_label_is_made_of(tmp_path: Path) -> None:
    path = written(tmp_path, told())
    answers = [one.response for one in own_answers(path)]
    costs = {}
    for use in ("T1", "T2"):
        for rule in ("uniform", "clamp"):
            setting = EveryAnnotator(answers=path, use=use, redistribute=rule, panel=2)  # type: ignore[arg-type]
            (cost,) = _cost(setting, answers)
            costs[use, rule] = cost.value
    # Top takes 3 s, the second class 2 s, what is impossible 4 s; two people of each image.
    assert costs == {("T1", "uniform"): 6.0, ("T1", "clamp"): 14.0, ("T2", "uniform"): 10.0, ("T2", "clamp"): 18.0}


def test_of_an_export_only_what_counts_is_taken(tmp_path: Path) -> None:
    changed = told(revision=2, answer={"mode": "top2", "top": "dog", "top_percent": 90}, key="l")
    path = written(
        tmp_path, changed, told(), told(annotator="bob", kind="practice"), told(annotator="eve", left_out=True)
    )
    (one,) = own_answers(path)
    assert one.response.stated == (("dog", 90.0),)


def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, told(), {"item": "7", "label": "cat"})
    with pytest.raises(FormatError, match="line 2, is no answer of a study"):
        own_answers(path)


def test_labels_follow_their_names() -> None:
    answers = [Response("7", "ann", stated=(("cat", 60.0), ("dog", 20.0)), impossible=frozenset({"ship"}))]
    plain = EveryAnnotator()

    def label(setting: EveryAnnotator) -> list[float]:
        said = _answered(setting, answers, CLASSES)
        return [round(float(share), 4) for share in said.counts()[0]]

    assert label(plain) == [0.75, 0.25, 0.0]  # nothing is left but the two: scaled
    assert label(replace(plain, redistribute="uniform")) == [0.6, 0.2, 0.2]
    assert label(replace(plain, use="T1", redistribute="uniform")) == [0.6, 0.2, 0.2]
    assert label(replace(plain, use="T1")) == [0.6, 0.4, 0.0]
    assert label(replace(plain, select_top_two=True)) == [0.5, 0.5, 0.0]
    assert label(replace(plain, as_released=True, use="T1")) == [1.0, 0.0, 0.0]


def test_the_images_that_are_held_out_are_the_same_for_every_setting() -> None:
    answers = [Response(str(number), "ann", stated=(("cat", 100.0),)) for number in range(1000)]
    held_out, taught = _divided_images(answers)
    assert (len(held_out), len(taught)) == (100, 900)
    assert not set(held_out) & set(taught)
    assert held_out == _divided_images(answers[::-1])[0]
    assert np.unique([int(name) for name in held_out]).size == 100
