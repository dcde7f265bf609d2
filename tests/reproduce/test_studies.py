"""The studies beyond the papers, on crowds of which the answer is known."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sfumato.data import simulate
from sfumato.errors import InputError, OptionError
from sfumato.reproduce.gains import Compared, gains
from sfumato.reproduce.outcome import Measured
from sfumato.reproduce.sources import missing_data
from sfumato.reproduce.studies import panel_sizes, soft_responses, weighting


def by_row(numbers: tuple[Measured, ...], metric: str) -> dict[str, float]:
    return {number.row: number.value for number in numbers if number.metric == metric}


@pytest.fixture
def crowd(tmp_path: Path) -> Path:
    """Two good annotators, and twelve who nearly always say the first class."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 300)
    lines = ["item,annotator,label"]
    for item, gold in enumerate(truth):
        for annotator in range(14):
            right = rng.random() < 0.95
            said = (gold if right else 1 - gold) if annotator < 2 else int(rng.random() < 0.1 + 0.05 * gold)
            lines.append(f"i{item},a{annotator},{said}")
    (tmp_path / "votes.csv").write_text("\n".join(lines))
    (tmp_path / "gold.csv").write_text("item,label\n" + "\n".join(f"i{i},{g}" for i, g in enumerate(truth)))
    return tmp_path


def test_weights_find_the_view_that_knows_the_annotators(crowd: Path) -> None:
    setting = weighting.Setting(
        sets={"ours": str(crowd / "votes.csv")}, gold={"ours": str(crowd / "gold.csv")},
        methods={"standard": {}, "dawid_skene": {}},
    )  # fmt: skip
    numbers = weighting.measure(setting, seed=0).numbers
    weights, accuracy = by_row(numbers, "weight"), by_row(numbers, "accuracy_score")
    assert weights["dawid_skene"] > 0.9
    assert accuracy["dawid_skene"] > 0.9 > 0.7 > accuracy["standard"]
    assert by_row(numbers, "accuracy_score_gain")["Average, weighted"] == pytest.approx(
        accuracy["Average, weighted"] - accuracy["Average"], abs=1e-9
    )
    assert set(by_row(numbers, "log_loss_p")) == {"Average, weighted", "Centroid, weighted", "Best foreseeing view"}


def test_weights_need_gold_to_be_measured(crowd: Path) -> None:
    with pytest.raises(InputError, match="has no gold"):
        weighting.measure(weighting.Setting(sets={"ours": str(crowd / "votes.csv")}))


def test_gains_are_signed_by_what_is_better_and_corrected() -> None:
    worse, better = np.linspace(1, 2, 50), np.linspace(0, 1, 50)
    pairs = [Compared("x_loss", "A", "r", better, worse), Compared("x_loss", "A", "s", worse, worse)]
    numbers = gains(pairs, higher_is_better=False)
    found = {(one.metric, one.row): one for one in numbers}
    gain = found["x_loss_gain", "r"]
    assert gain.value == pytest.approx(1.0)
    assert gain.low is not None
    assert gain.high is not None
    assert gain.low <= gain.value <= gain.high
    assert found["x_loss_p", "r"].value == pytest.approx(2 / 10_001)  # the smallest p of 10,000 resamples, twice
    assert found["x_loss_p", "s"].value == 1.0
    assert str(found["x_loss_gain", "s"].value) == "0.0"


def test_active_panels_ask_where_people_disagree(tmp_path: Path) -> None:
    # Most items are plain, a fifth of them is a matter of taste: only for those does one more annotator help.
    rng = np.random.default_rng(1)
    lines = ["item,annotator,label"]
    for item in range(200):
        shares = rng.dirichlet(np.ones(4)) if item % 5 == 0 else np.eye(4)[item % 4]
        lines += [f"i{item},a{annotator},{rng.choice(4, p=shares)}" for annotator in range(40)]
    (tmp_path / "votes.csv").write_text("\n".join(lines))
    setting = panel_sizes.Setting(data=str(tmp_path / "votes.csv"), least=40, sizes=(4, 6, 20))
    numbers = panel_sizes.measure(setting, seed=0).numbers
    gain = {one.row: one for one in numbers if one.metric == "squared_error_gain"}
    for size in (4, 6):
        low = gain[f"Active, {size} per item"].low
        assert low is not None
        assert low > 0
    assert gain["Active, 20 per item"].value == 0  # everybody was asked
    apart = by_row(numbers, "squared_error")
    assert apart["Fixed, 4 per item"] > apart["Fixed, 6 per item"] > apart["Fixed, 20 per item"]


def test_both_policies_pay_the_same() -> None:
    votes = simulate(n_items=60, n_annotators=20, n_classes=3, per_item=12, seed=0).annotations
    orders = panel_sizes._ordered(votes, np.arange(60), np.random.default_rng(0))
    bought = panel_sizes._bought(orders, np.full(3, 0.5), (3, 5))
    assert {size: int(taken.sum()) for size, taken in bought.items()} == {3: 180, 5: 300}
    assert bought[3].min() >= 2
    assert bought[5].max() <= 6  # half of the twelve
    assert orders.counts(bought[5]).sum() == 300
    # The people to come are the other half: together with all that can be asked they are the whole panel.
    whole = orders.counts(np.full(60, 6)) + orders.people * 6
    assert np.allclose(whole, votes.counts())


def test_sizes_beyond_half_of_the_panel_are_refused(crowd: Path) -> None:
    setting = panel_sizes.Setting(data=str(crowd / "votes.csv"), least=14, sizes=(8,))
    with pytest.raises(OptionError, match="half of 'least'"):
        panel_sizes.measure(setting)


def test_soft_responses_on_a_panel_of_two() -> None:
    if missing := missing_data(["cifar10s", "cifar10h"]):
        pytest.skip(missing)
    said, people = soft_responses._responses("cifar10s", 2, seed=3)
    assert (said.per_item() == 2).all()
    assert said.n_items == 1000
    assert people.items == said.items
    again, _ = soft_responses._responses("cifar10s", 2, seed=3)
    other, _ = soft_responses._responses("cifar10s", 2, seed=4)
    assert np.array_equal(said.annotator, again.annotator)
    assert not np.array_equal(said.annotator, other.annotator)
    numbers = soft_responses.measure(soft_responses.Setting(), seed=0).numbers
    loss = by_row(numbers, "soft_cross_entropy_loss")
    assert by_row(numbers, "soft_cross_entropy_loss_gain")["dawid_skene"] == pytest.approx(
        loss["Naive average"] - loss["dawid_skene"], abs=1e-9
    )
