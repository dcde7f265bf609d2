"""Learning curves: which numbers of a history stand together, and which are left out."""

from __future__ import annotations

import math

import pytest

from sfumato.errors import InputError
from sfumato.evaluate.report.learning_curves import learning_curves


def words(history: dict[str, list[dict[str, object]]]) -> dict[str, str]:
    return {figure.name: figure.drawings[0].description for figure in learning_curves(history)}


def test_parts_of_the_data_share_a_figure_and_nested_ones_too() -> None:
    flat = [{"epoch": k, "train_loss": 1 / k, "dev_loss": 2 / k} for k in (1, 2, 4)]
    nested = [{"epoch": k, "train": {"loss": 1 / k}, "dev": {"loss": 2 / k}} for k in (1, 2, 4)]
    assert words({"A": flat}) == words({"A": nested})
    assert words({"A": flat})["learning-loss"] == "train: 1 at 1, 0.25 at 4, 0.25 to 1; dev: 2 at 1, 0.5 at 4, 0.5 to 2"


def test_what_is_no_number_of_the_model_is_left_out() -> None:
    record = {"epoch": 1, "loss": 0.5, "seconds": 3.0, "best": True, "note": "x", "gap": math.nan, "kind": "epoch"}
    assert list(words({"A": [record]})) == ["learning-loss"]
    with pytest.raises(InputError, match="no numbers"):
        learning_curves({"A": [{"epoch": 1, "note": "x"}]})


def test_several_trainings_are_told_apart_and_places_stand_in_for_epochs() -> None:
    found = words({"A": [{"loss": 1.0}, {"loss": 0.5}], "B": [{"loss": 0.25}]})
    assert found["learning-loss"] == "A: 1 at 1, 0.5 at 2, 0.5 to 1; B: 0.25 at 1, 0.25 at 1, 0.25 to 0.25"
