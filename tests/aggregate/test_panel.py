"""The report on a panel: the figures of real sets, columns against loops, and what does not change it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binomtest

import sfumato as sf
from sfumato.aggregate.panel import agreement
from sfumato.core import storage
from sfumato.core.agreement import observed_agreement_score
from sfumato.core.annotations import Annotations
from sfumato.core.gold import Gold
from sfumato.core.report import Report
from sfumato.data.simulate import simulate
from sfumato.errors import InputError, OptionError


def test_numbers_worked_by_hand() -> None:
    # a: 1 1 0, b: 0 0, c: 1 alone.
    votes = Annotations.from_rows(list("aaabbc"), list("xyzxyx"), list("110001"), classes=["0", "1"])
    report = agreement(votes, gold=Gold.from_names(["a", "b", "d"], ["1", "1", "0"]), resamples=50)
    assert report["observed_agreement_score"].value == pytest.approx((1 / 3 + 1) / 2)
    entropy = -(2 / 3 * np.log(2 / 3) + 1 / 3 * np.log(1 / 3)) / 2
    assert report["mean_entropy"].value == pytest.approx(entropy)
    assert report["mean_normalised_entropy"].value == pytest.approx(entropy / np.log(2))
    # x is right once of 2, y once of 2, z never of 1; the majority once of 2.
    assert report["annotator_accuracy_score"].value == pytest.approx(1 / 3)
    assert report["pooled_accuracy_score"].value == pytest.approx(2 / 5)
    assert report["majority_accuracy_score"].value == 0.5
    n = {number.name: number.n for number in report.numbers}
    assert n["observed_agreement_score"] == n["mean_entropy"] == n["majority_accuracy_score"] == 2
    assert (n["annotator_accuracy_score"], n["pooled_accuracy_score"]) == (3, 5)
    annotators, items = report.details["annotators"], report.details["items"]
    assert annotators["annotator"] == ["x", "y", "z"]
    assert annotators["n_annotations"] == [3, 2, 1]
    assert annotators["agreement"] == pytest.approx([0.75, 0.75, 0])
    assert annotators["accuracy"] == pytest.approx([0.5, 0.5, 0])
    assert annotators["n_gold"] == [2, 2, 1]
    assert annotators["suspected"] == ["unclear"] * 3
    assert annotators["suspected_p"] == [None] * 3
    assert items["item"] == ["a", "b", "c"]
    assert items["n_annotations"] == [3, 2, 1]
    assert items["entropy"] == pytest.approx([2 * entropy, 0, 0])
    assert items["agreement"][:2] == pytest.approx([1 / 3, 1])
    assert items["agreement"][2] is None
    assert items["top_share"] == pytest.approx([2 / 3, 1, 1])


def test_agreement_interval_is_wilsons() -> None:
    votes = simulate(n_items=100, n_annotators=4, per_item=2, seed=1).annotations
    columns = agreement(votes, resamples=5).details["annotators"]
    for j in range(4):
        # With one other annotator each, agreement is a plain share.
        n = columns["n_annotations"][j]
        exact = binomtest(round(columns["agreement"][j] * n), n).proportion_ci(method="wilson")
        assert (columns["agreement_low"][j], columns["agreement_high"][j]) == pytest.approx((exact.low, exact.high))


def test_distributions_are_right_to_a_degree() -> None:
    votes = Annotations.from_rows(
        ["i"] * 4, ["u", "u", "v", "v"], list("KLKL"), weights=[0.75, 0.25, 0.5, 0.5], classes=["K", "L"]
    )
    report = agreement(votes, gold=Gold.from_names(["i"], ["K"]), resamples=5)
    assert report["annotator_accuracy_score"].value == pytest.approx(0.625)
    assert report["pooled_accuracy_score"].value == pytest.approx(0.625)
    assert report.details["annotators"]["agreement"] == pytest.approx([0.5, 0.5])


def test_gold_of_a_class_that_nobody_knows_is_missed() -> None:
    votes = Annotations.from_rows(["a", "a"], ["x", "y"], ["K", "K"])
    report = agreement(votes, gold=Gold.from_names(["a"], ["M"]), resamples=5)
    assert report["pooled_accuracy_score"].value == 0
    assert report["majority_accuracy_score"].value == 0


def test_numbers_of_ordered_classes_are_for_numbers() -> None:
    named = agreement(Annotations.from_rows(["a", "a", "b"], ["x", "y", "x"], ["K", "L", "K"]), resamples=5)
    numbered = agreement(Annotations.from_rows(["a", "a", "b"], ["x", "y", "x"], ["1", "2", "1"]), resamples=5)
    alphas = ["krippendorff_alpha_score", "krippendorff_alpha_score (ordinal)", "krippendorff_alpha_score (interval)"]
    assert [name for name in named.names() if "alpha" in name] == alphas[:1]
    assert [name for name in numbered.names() if "alpha" in name] == alphas


def test_planted_spammers_and_copies_stand_in_the_report() -> None:
    planted = simulate(n_items=600, n_annotators=15, per_item=9, spammers=0.2, copiers=0.13, seed=3)
    report = agreement(planted.annotations, gold=planted.gold, resamples=20)
    columns, copies = report.details["annotators"], report.details["copies"]
    names = planted.annotations.annotators
    wanted = {frozenset((names[j], names[source])) for j, source in enumerate(planted.copied) if source >= 0}
    assert {frozenset(pair) for pair in zip(copies["annotator"], copies["other"], strict=True)} >= wanted
    suspected = [verdict not in ("", "unclear") for verdict in columns["suspected"]]
    assert suspected == planted.spammers.tolist()
    pairs = [*copies["annotator"], *copies["other"]]
    assert columns["n_copies"] == [pairs.count(name) for name in names]
    for model in ("dawid_skene", "one_coin", "mace"):
        competence = np.array(columns[f"competence_{model}"])
        assert competence[planted.spammers].max() < np.quantile(competence[~planted.spammers], 0.4)
    assert report.notes[0].startswith("3 of 15 annotators are suspected")
    assert report.notes[1].startswith(f"{len(copies['z'])} of 105 pairs")
    assert len({len(column) for column in columns.values()}) == 1
    assert Report.from_dict(report.to_dict()).to_json() == report.to_json()


def test_a_spammer_and_the_copy_are_both_suspected() -> None:
    planted = simulate(n_items=400, n_annotators=8, per_item="all", seed=5).annotations
    label = planted.label.reshape(400, 8).copy()
    label[:, 2] = label[:, 6] = np.random.default_rng(0).integers(3, size=400)
    votes = Annotations.from_codes(
        planted.item, planted.annotator, label.ravel(), items=planted.items, annotators=planted.annotators,
        classes=planted.classes,
    )  # fmt: skip
    columns = agreement(votes, resamples=5).details["annotators"]
    assert [verdict == "spammer" for verdict in columns["suspected"]] == [j in (2, 6) for j in range(8)]
    assert columns["n_copies"] == [int(j in (2, 6)) for j in range(8)]


def test_intervals_hold_what_other_crowds_give() -> None:
    reports = [
        agreement(planted.annotations, gold=planted.gold, resamples=100)
        for planted in (simulate(n_items=120, n_annotators=20, per_item=4, seed=seed) for seed in range(12))
    ]
    for name in ("mean_entropy", "pooled_accuracy_score", "majority_accuracy_score", "annotator_accuracy_score"):
        numbers = [report[name] for report in reports]
        middle = np.mean([number.value for number in numbers])
        assert all(number.level == 0.95 for number in numbers)
        assert sum(number.low < middle < number.high for number in numbers) >= 8  # type: ignore[operator]


def test_the_order_of_the_rows_changes_nothing() -> None:
    planted = simulate(n_items=120, n_annotators=12, per_item=6, spammers=0.2, copiers=0.2, seed=6)
    votes = planted.annotations
    rows = [
        (votes.items[i], votes.annotators[j], votes.classes[k])
        for i, j, k in zip(votes.item, votes.annotator, votes.label, strict=True)
    ]
    shuffled = [rows[r] for r in np.random.default_rng(0).permutation(len(rows))]
    first, second = (
        agreement(
            Annotations.from_rows(*zip(*order, strict=True), classes=votes.classes),
            gold=planted.gold,
            resamples=30,
            seed=3,
        )
        for order in (rows, shuffled)
    )
    assert first.numbers == second.numbers
    assert first.notes == second.notes
    assert first.details["copies"] == second.details["copies"]
    for table, key in (("annotators", "annotator"), ("items", "item")):
        here, there = (report.details[table] for report in (first, second))
        place = {name: row for row, name in enumerate(there[key])}
        order = [place[name] for name in here[key]]
        assert {name: [column[row] for row in order] for name, column in there.items()} == here
        assert here[key] != there[key]


def test_columns_can_be_saved(tmp_path: Path) -> None:
    planted = simulate(n_items=200, n_annotators=8, per_item="all", copiers=0.13, seed=1)
    details = agreement(planted.annotations, resamples=5).details
    for name in ("annotators", "items", "copies"):
        for ending in ("csv", "parquet", "jsonl"):
            path = tmp_path / f"{name}.{ending}"
            storage.save_columns(details[name], path)
            assert path.stat().st_size > 50


def test_what_cannot_be_asked_is_refused() -> None:
    lone = Annotations.from_rows(["a", "b"], ["x", "x"], ["1", "2"])
    with pytest.raises(InputError, match="No item has two annotations"):
        agreement(lone)
    votes = Annotations.from_rows(["a", "a"], ["x", "y"], ["1", "2"])
    with pytest.raises(InputError, match="for none of the annotated items"):
        agreement(votes, gold=Gold.from_names(["z"], ["1"]))
    with pytest.raises(OptionError, match="'resamples'"):
        agreement(votes, resamples=0)


def test_textual_entailment(load_data: Callable[[str], sf.data.DataSet]) -> None:
    report = _of(load_data("rte"))
    _figures(report, observed_agreement_score=(0.6287, 4), fleiss_kappa_score=(0.2414, 4))
    _figures(report, krippendorff_alpha_score=(0.2415, 4), annotator_accuracy_score=(0.837, 3))
    _figures(report, majority_accuracy_score=(0.91875, 5))
    assert report["annotator_accuracy_score"].n == 164
    assert report["pooled_accuracy_score"].n == 8000


def test_medical_relations(load_data: Callable[[str], sf.data.DataSet]) -> None:
    report = _of(load_data("mre"))
    _figures(report, observed_agreement_score=(0.857, 3), fleiss_kappa_score=(0.270, 3))
    _figures(report, annotator_accuracy_score=(0.7606, 4), majority_accuracy_score=(0.763, 3))


def test_labelme(load_data: Callable[[str], sf.data.DataSet]) -> None:
    data = load_data("labelme")
    report = _of(data)
    _figures(report, observed_agreement_score=(0.7206, 4), annotator_accuracy_score=(0.6916, 4))
    assert data.annotations is not None
    assert round(observed_agreement_score(data.annotations, singles="agree"), 4) == 0.7323
    accuracies = np.array(report.details["annotators"]["accuracy"], dtype=float)
    assert round(float((accuracies >= 0.75).mean()), 3) == 0.424


def test_parts_of_speech(load_data: Callable[[str], sf.data.DataSet]) -> None:
    data = load_data("pos")
    assert data.annotations is not None
    assert data.gold is not None
    votes = data.annotations
    assert round(observed_agreement_score(votes), 4) == 0.7254
    # The published accuracy of annotators holds on the tokens with five labels.
    five = np.flatnonzero(votes.per_item() == 5)
    assert len(five) == 13_474
    part = votes.take_annotations(np.isin(votes.item, five))
    hit = part.label == data.gold.aligned(part.items, part.classes)[part.item]
    n = np.bincount(part.annotator, minlength=part.n_annotators)
    mean = (np.bincount(part.annotator, weights=hit, minlength=part.n_annotators)[n > 0] / n[n > 0]).mean()
    report = agreement(part, gold=data.gold, resamples=30)
    assert report["annotator_accuracy_score"].value == pytest.approx(mean, abs=1e-12)
    _figures(report, annotator_accuracy_score=(0.678, 3))


def _of(data: sf.data.DataSet) -> Report:
    assert data.annotations is not None
    return agreement(data.annotations, gold=data.gold, resamples=20)


def _figures(report: Report, **figures: tuple[float, int]) -> None:
    for name, (value, digits) in figures.items():
        number = report[name]
        assert round(number.value, digits) == value, name
        assert number.low is not None
        assert number.high is not None
        assert number.low < number.value < number.high


def test_classes_with_an_order_have_an_ordinal_alpha() -> None:
    labels = ["low", "high", "mid", "mid"]
    votes = Annotations.from_rows(list("aabb"), list("xyxy"), labels, classes=["low", "mid", "high"])
    name = "krippendorff_alpha_score (ordinal)"
    assert name not in agreement(votes, resamples=5).names()
    assert agreement(votes, ordinal=True, resamples=5)[name].value == pytest.approx(-0.5)
