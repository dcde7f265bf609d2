"""The report of several systems: its numbers, intervals, tests and baselines, and tables that do not match."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from scipy import stats

from sfumato import Annotations, Predictions, Report, SoftLabels
from sfumato.core.gold import Gold
from sfumato.errors import InputError, OptionError
from sfumato.evaluate.bootstrap import resampled_rows
from sfumato.evaluate.calibrated_log import scored_losses
from sfumato.evaluate.compare_systems import DEFAULT_METRICS, evaluate
from sfumato.evaluate.f1 import f1_score, precision_score, recall_score
from sfumato.evaluate.metrics import METRICS

N = 300
CLASSES = ("x", "y", "z")
ITEMS = tuple(f"i{k:03}" for k in range(N))


def study(seed: int = 0) -> tuple[SoftLabels, Gold, dict[str, Predictions]]:
    """Return people, gold, and two systems: one that is near to people, and one that is further away."""
    rng = np.random.default_rng(seed)
    truth = rng.dirichlet(np.full(3, 0.6), N)
    people = SoftLabels(rng.multinomial(20, truth) / 20, items=ITEMS, classes=CLASSES)
    gold = Gold(ITEMS, truth.argmax(axis=1), CLASSES)
    made = {
        name: Predictions((1 - far) * truth + far * rng.dirichlet(np.ones(3), N), items=ITEMS, classes=CLASSES)
        for name, far in (("near", 0.2), ("far", 0.7))
    }
    return people, gold, made


def test_numbers_are_the_metrics_and_intervals_those_of_the_rows() -> None:
    people, gold, made = study()
    report = evaluate(made, labels=people, gold=gold, resamples=200, seed=3)
    assert report.names() == list(DEFAULT_METRICS)
    for name in DEFAULT_METRICS:
        target = gold if METRICS[name].needs == "gold" else people
        codes = gold.labels if target is gold else people.probs
        for system, table in made.items():
            number = report[name, system]
            assert number.value == pytest.approx(METRICS[name](table, target), abs=1e-12)
            assert number.n == N
            assert number.low is not None
            assert number.high is not None
            assert number.low <= number.value <= number.high
            slow = resampled_rows(
                lambda rows, q=table.probs, p=codes, name=name: METRICS[name](q[rows], p[rows]),  # type: ignore[misc]
                N, resamples=200, seed=3,
            )  # fmt: skip
            low, high = np.quantile(slow, [0.025, 0.975])
            if name == "expected_calibration_error":  # its own kind, tested in test_calibration_gaps.py
                continue
            assert (number.low, number.high) == pytest.approx((low, high), abs=1e-9), name


def test_systems_are_compared_in_the_right_direction_and_corrected() -> None:
    people, gold, made = study()
    report = evaluate(made, labels=people, gold=gold, resamples=500)
    rows = {row["metric"]: row for row in report.details["comparisons"]}
    assert set(rows) == set(DEFAULT_METRICS)
    for name in ("soft_cross_entropy_loss", "jensen_shannon_divergence", "soft_accuracy_score", "accuracy_score"):
        row = rows[name]
        assert row["better"] == "near"
        assert row["p_value"] == pytest.approx(1 / 501)
        assert row["p_holm"] == pytest.approx(len(rows) / 501)
        assert (row["difference"] > 0) is METRICS[name].higher_is_better
        x, y = (METRICS[name].per_item(made[key], gold if name == "accuracy_score" else people) for key in made)  # type: ignore[misc]
        assert row["effect_size"] == pytest.approx(stats.ttest_rel(x, y).statistic / math.sqrt(N), abs=1e-9)
    assert math.isnan(rows["f1_score"]["effect_size"])
    assert rows["accuracy_score"]["p_mcnemar"] < 0.01
    assert "p_mcnemar" not in rows["f1_score"]
    assert any("Holm" in line for line in report.notes)
    assert not any("too few" in line for line in report.notes)
    few = evaluate(made, labels=people, gold=gold, resamples=99)
    assert any("no corrected p-value can be below 0.08. Ask for 320 or more" in line for line in few.notes)


def test_baselines_stand_beside_the_systems() -> None:
    people, gold, made = study()
    report = evaluate(made, labels=people, gold=gold, resamples=50)
    rows = report.rows()
    assert list(rows) == [
        "near", "far", "baseline: class prior", "baseline: best constant", "baseline: uniform",
        "baseline: smoothed gold",
    ]  # fmt: skip
    assert rows["baseline: uniform"]["soft_cross_entropy_loss"].value == pytest.approx(math.log(3))
    assert "accuracy_score" not in rows["baseline: uniform"]
    assert "entropy_correlation_score" not in rows["baseline: class prior"]
    top = np.bincount(gold.labels, minlength=3).max() / N
    assert rows["baseline: best constant"]["accuracy_score"].value == pytest.approx(top)
    assert set(evaluate(made, labels=people, resamples=9, baselines=False).rows()) == {"near", "far"}


def test_people_are_the_ceiling_beside_the_score() -> None:
    people, _, made = study()
    rng = np.random.default_rng(1)
    rows = [
        (item, f"a{j}", CLASSES[rng.choice(3, p=people.probs[i])]) for i, item in enumerate(ITEMS) for j in range(8)
    ]
    votes = Annotations.from_rows(*zip(*rows, strict=True), classes=CLASSES[::-1])
    report = evaluate(made, labels=people, annotations=votes, metrics=["manhattan_error"], resamples=50)
    half, one = (report["manhattan_error", f"people: {name}"] for name in ("half of the panel", "one annotator"))
    assert half.value < one.value
    assert half.n == N
    assert any("half of the panel" in line for line in report.notes)
    with pytest.raises(InputError, match="none of the predicted"):
        evaluate(made, labels=people, annotations=Annotations.from_rows(["i000"], ["a"], ["w"]))


def test_people_are_measured_against_gold_as_a_model_would_be() -> None:
    items = [f"i{k}" for k in range(60)]
    right = Gold.from_names(items, ["x", "y"] * 30)
    rows = [(item, f"a{j}", name if j else {"x": "y", "y": "x"}[name])
            for item, name in zip(items, right.names(), strict=True) for j in range(4)]  # fmt: skip
    votes = Annotations.from_rows(*zip(*rows, strict=True))
    model = SoftLabels([[0.8, 0.2]] * 60, items=items, classes=["x", "y"])
    some = right.__class__(right.items[:40], right.labels[:40], right.classes)
    report = evaluate({"A": model}, gold=some, annotations=votes, resamples=20, metrics=["accuracy_score"])
    one = report["accuracy_score", "people: one annotator"]
    # One of the four is always wrong.
    assert one.value == pytest.approx(0.75, abs=0.2)
    assert one.n == 40


def test_without_soft_labels_the_shares_of_the_votes_are_the_labels() -> None:
    rows = [("p", "ann", "x"), ("p", "bob", "y"), ("q", "ann", "x"), ("q", "bob", "x")]
    votes = Annotations.from_rows(*zip(*rows, strict=True))
    model = SoftLabels([[0.2, 0.5, 0.3], [0.0, 1.0, 0.0]], items=["p", "q"], classes=["y", "x", "z"])
    report = evaluate({"A": model}, annotations=votes, resamples=20, metrics=["manhattan_error"])
    assert report["manhattan_error", "A"].value == pytest.approx((0.3 + 0 + 0.3) / 2)
    assert any("shares of their votes" in line for line in report.notes)
    with pytest.raises(InputError, match="none of the predicted"):
        evaluate({"A": model}, annotations=Annotations.from_rows(["p"], ["ann"], ["w"]))


def test_systems_are_not_called_as_what_stands_beside_them() -> None:
    people, _, made = study()
    for name in ("people", "baseline: uniform", "people: one annotator"):
        with pytest.raises(InputError, match="cannot be called"):
            evaluate({name: made["near"]}, labels=people)


def test_several_runs_widen_the_interval_by_what_they_differ() -> None:
    people, gold, _ = study()
    rng = np.random.default_rng(5)
    runs = []
    for shift in (0.0, 0.1, 0.3, 0.5):
        probs = (1 - shift) * people.probs + shift * rng.dirichlet(np.ones(3), N)
        runs.append(Predictions(probs, items=ITEMS, classes=CLASSES))
    several = evaluate({"S": runs}, labels=people, gold=gold, resamples=400)
    for name in ("manhattan_error", "f1_score", "expected_calibration_error"):
        target = people if name == "manhattan_error" else gold
        each = [METRICS[name](run, target) for run in runs]
        number = several[name, "S"]
        assert number.value == pytest.approx(np.mean(each), abs=1e-12)
        assert number.high - number.low > 2 * np.std(each, ddof=1) / 2  # type: ignore[operator]
    alone = evaluate(runs[2], labels=people, gold=gold, resamples=400)
    wide, narrow = several["manhattan_error", "S"], alone["manhattan_error", "model"]
    assert wide.high - wide.low > 3 * (narrow.high - narrow.low)  # type: ignore[operator]
    assert several.details["runs"] == {"S": 4}
    listed = evaluate(runs, labels=people, gold=gold, resamples=400)
    assert listed["manhattan_error", "model"].value == several["manhattan_error", "S"].value


def test_neither_the_order_of_items_nor_of_classes_matters() -> None:
    people, gold, made = study()
    first = evaluate(made, labels=people, gold=gold, resamples=60, seed=1)
    mixed = np.random.default_rng(0).permutation(N)
    names = [ITEMS[row] for row in mixed]
    turned = {name: table.take(names).with_classes(CLASSES[::-1]) for name, table in made.items()}
    other_gold = Gold(tuple(names), 2 - gold.labels[mixed], CLASSES[::-1])
    again = evaluate(turned, labels=people.take(names[::-1]), gold=other_gold, resamples=60, seed=1)
    assert again.numbers == first.numbers
    assert again.origin == first.origin
    assert again.to_json() == first.to_json()
    assert evaluate(made, labels=people, gold=gold, resamples=60, seed=2).numbers != first.numbers


def test_items_that_do_not_match_are_counted() -> None:
    people, gold, made = study()
    with pytest.raises(InputError, match=r"'near' 300, 'far' 290, labels 300; 290 stand in all"):
        evaluate({**made, "far": made["far"].take(ITEMS[10:])}, labels=people)
    report = evaluate({**made, "far": made["far"].take(ITEMS[10:])}, labels=people, missing="drop", resamples=20)
    assert report["manhattan_error", "near"].n == 290
    assert "290 of 300 items stand in every table; the others were left out." in report.notes
    with pytest.raises(InputError, match="No item"):
        evaluate({"a": made["near"].take(ITEMS[:5])}, labels=people.take(ITEMS[5:]), missing="drop")
    some = Gold(ITEMS[:100], gold.labels[:100], CLASSES)
    partly = evaluate(made, labels=people, gold=some, resamples=20)
    assert (partly["accuracy_score", "near"].n, partly["manhattan_error", "near"].n) == (100, 300)
    assert any("100 of 300 items have gold" in line for line in partly.notes)
    fewer = evaluate(made["near"].take(ITEMS[:40]), gold=gold, resamples=20)
    assert "Gold has 260 more items, which nobody predicted." in fewer.notes


def test_gold_alone_is_enough_and_its_unknown_classes_count_as_missed() -> None:
    _, gold, made = study()
    report = evaluate(made, gold=gold, resamples=20)
    assert report.names() == ["accuracy_score", "f1_score", "expected_calibration_error"]
    names = list(gold.names())
    names[:30] = ["unheard of"] * 30
    odd = Gold.from_names(ITEMS, names)
    report = evaluate(made, gold=odd, resamples=20)
    right = made["near"].probs.argmax(axis=1) == gold.labels
    assert report["accuracy_score", "near"].value == pytest.approx(right[30:].sum() / N)
    assert any("unheard of" in line for line in report.notes)


def test_metrics_made_of_no_sums_are_resampled_by_rows() -> None:
    people, gold, made = study()
    report = evaluate(
        made, labels=people, gold=gold, metrics=["adaptive_rms_calibration_error", "soft_f1_score"], resamples=30
    )
    number = report["soft_f1_score", "near"]
    slow = resampled_rows(
        lambda rows: METRICS["soft_f1_score"](made["near"].probs[rows], people.probs[rows]), N, resamples=30, seed=0
    )
    assert (number.low, number.high) == pytest.approx(tuple(np.quantile(slow, [0.025, 0.975])), abs=1e-12)
    assert report["adaptive_rms_calibration_error", "near"].low is not None


def test_the_calibrated_log_loss_is_resampled_and_tested_with_its_temperatures_held() -> None:
    people, gold, _ = study()
    rng = np.random.default_rng(0)
    scores = 2 * np.log(people.probs + 0.05) + rng.normal(size=(N, 3))
    made = {
        name: Predictions.from_logits(scores + far * rng.normal(size=(N, 3)), items=ITEMS, classes=CLASSES)
        for name, far in (("near", 0.1), ("far", 3.0))
    }
    names = ["calibrated_log_loss"]
    report = evaluate(made, labels=people, gold=gold, metrics=names, resamples=300)
    number = report[names[0], "near"]
    assert number.value == pytest.approx(METRICS[names[0]](made["near"], gold), abs=1e-12)
    losses, times = scored_losses(made["near"], gold)
    assert number.value == pytest.approx(losses.sum() / times.sum(), abs=1e-12)
    # The error of a ratio of means.
    error = np.std(losses - number.value * times, ddof=1) / times.mean() / math.sqrt(N)
    assert (number.high - number.low) / (2 * 1.96 * error) == pytest.approx(1, abs=0.15)  # type: ignore[operator]
    (row,) = report.details["comparisons"]
    assert (row["better"], row["p_value"]) == ("near", pytest.approx(1 / 301))
    assert math.isfinite(row["effect_size"])
    assert report[names[0], "baseline: uniform"].value == pytest.approx(math.log(3), abs=1e-12)
    prior = np.bincount(gold.labels, minlength=3) / N
    entropy = -(prior * np.log(prior)).sum()
    # The prior of the soft labels, at temperatures that suit the gold.
    assert report[names[0], "baseline: class prior"].value == pytest.approx(entropy, abs=0.03)
    assert not any("no interval" in line for line in report.notes)


def test_models_without_a_correlation_and_with_infinite_losses_stand_in_the_report() -> None:
    people, gold, made = study()
    flat = Predictions(np.full((N, 3), [0.5, 0.3, 0.2]), items=ITEMS, classes=CLASSES)
    sure = Predictions(np.eye(3)[gold.labels], items=ITEMS, classes=CLASSES)
    names = ["kl_divergence", "entropy_correlation_score", "accuracy_score"]
    systems = {"near": made["near"], "flat": flat, "sure": sure, "sure too": sure}
    report = evaluate(systems, labels=people, gold=gold, metrics=names, resamples=30)
    assert math.isnan(report["entropy_correlation_score", "flat"].value)
    assert report["entropy_correlation_score", "flat"].low is None
    assert report["kl_divergence", "sure"].value == report["kl_divergence", "sure"].high == math.inf
    rows = {(row["metric"], row["a"], row["b"]): row for row in report.details["comparisons"]}
    assert len(rows) == 18
    for key in (("kl_divergence", "near", "sure"), ("kl_divergence", "sure", "sure too")):
        assert math.isnan(rows[key]["p_value"])
        assert math.isnan(rows[key]["p_holm"])
    assert math.isnan(rows["entropy_correlation_score", "near", "flat"]["p_value"])
    assert rows["accuracy_score", "sure", "sure too"]["p_value"] == 1
    assert json.loads(report.to_json())


def test_one_item_and_one_class_have_numbers() -> None:
    one = SoftLabels([[1.0]], items=["a"], classes=["x"])
    gold = Gold.from_names(["a"], ["x"])
    report = evaluate({"A": one, "B": one}, labels=one, gold=gold, resamples=5)
    assert (report["accuracy_score", "A"].value, report["accuracy_score", "A"].low) == (1, None)
    assert all(math.isnan(row["p_value"]) for row in report.details["comparisons"])
    assert "A single item has no interval and no test." in report.notes
    assert report["soft_cross_entropy_loss", "B"].value == 0
    single = SoftLabels([[0.4, 0.6]], items=["a"], classes=["x", "y"])
    assert evaluate(single, labels=single, resamples=5)["manhattan_error", "model"].high is None


@pytest.mark.parametrize("n", [2, 3, 5, 12])
def test_equal_systems_on_few_items_are_seldom_told_apart(n: int) -> None:
    """The bootstrap alone calls 47, 28, 14 and 9 of a hundred such pairs different."""
    rng = np.random.default_rng(n)
    found, trials = 0, 150
    for trial in range(trials):
        tables = [SoftLabels(rng.dirichlet(np.ones(3), n), items=ITEMS[:n], classes=CLASSES) for _ in range(3)]
        report = evaluate(
            {"A": tables[0], "B": tables[1]}, labels=tables[2], metrics=["brier_error", "entropy_correlation_score"],
            baselines=False, resamples=99, seed=trial,
        )  # fmt: skip
        mean, other = report.details["comparisons"]
        assert mean["test"] == "permutation"
        assert math.isnan(other["p_value"]) is (n < 10)
        found += mean["p_value"] <= 0.05
    assert found <= stats.binom.isf(0.001, trials, 0.05)
    assert any("is no mean over items: no test" in line for line in report.notes) is (n < 10)
    assert any("exchanging the systems" in line for line in report.notes)


def test_the_luck_of_runs_counts_on_few_items_too() -> None:
    rng = np.random.default_rng(3)
    people = SoftLabels(rng.dirichlet(np.ones(3), 30), items=ITEMS[:30], classes=CLASSES)
    found, trials = 0, 60
    for trial in range(trials):
        made = {}
        for name in "AB":
            far = np.clip(0.3 + 0.15 * rng.normal(size=6), 0, 1)  # each run has its own luck, the same for all items
            made[name] = [
                Predictions((1 - each) * people.probs + each / 3, items=ITEMS[:30], classes=CLASSES) for each in far
            ]
        report = evaluate(made, labels=people, metrics=["manhattan_error"], baselines=False, resamples=199, seed=trial)
        (row,) = report.details["comparisons"]
        assert row["test"] == "permutation and bootstrap"
        found += row["p_value"] <= 0.05
    assert found / trials <= 0.15


def test_each_class_has_its_numbers_and_runs_are_averaged() -> None:
    people, gold, made = study()
    report = evaluate({"S": [made["near"], made["far"]]}, gold=gold, resamples=5, metrics=["weighted_f1_score"])
    rows = report.details["classes"]["S"]
    assert [row["class"] for row in rows] == list(CLASSES)
    assert [row["support"] for row in rows] == np.bincount(gold.labels, minlength=3).tolist()
    for kind, function in (("precision", precision_score), ("recall", recall_score), ("f1", f1_score)):
        each = np.mean([function(made[name], gold, average=None) for name in made], axis=0)
        assert [row[kind] for row in rows] == pytest.approx(each.tolist(), abs=1e-12)
    odd = Gold(ITEMS, np.where(np.arange(N) < 10, 3, np.minimum(gold.labels, 1)), (*CLASSES, "unheard of"))
    rows = evaluate(made["near"], gold=odd, resamples=5).details["classes"]["model"]
    assert (rows[3]["class"], rows[3]["recall"], rows[3]["support"]) == ("unheard of", 0, 10)
    assert evaluate(people, labels=people, resamples=5).details["classes"] == {}


@pytest.mark.parametrize(("name", "average"), [("micro_f1_score", "micro"), ("weighted_f1_score", "weighted")])
def test_other_averages_of_f1_have_intervals(name: str, average: str) -> None:
    _, gold, made = study()
    report = evaluate(made, gold=gold, metrics=[name], resamples=50, seed=2)
    number = report[name, "far"]
    probs = made["far"].probs
    slow = resampled_rows(
        lambda rows: f1_score(probs[rows], gold.labels[rows], average=average),
        N,
        resamples=50,
        seed=2,  # type: ignore[call-overload]
    )
    assert number.value == pytest.approx(f1_score(made["far"], gold, average=average), abs=1e-12)  # type: ignore[call-overload]
    assert (number.low, number.high) == pytest.approx(tuple(np.quantile(slow, [0.025, 0.975])), abs=1e-12)


def test_classes_are_placed_on_a_scale() -> None:
    people, _, made = study()
    far = evaluate(made, labels=people, metrics=["wasserstein_error"], positions=[0, 1, 5], resamples=20)
    expected = METRICS["wasserstein_error"](made["near"], people, positions=[0, 1, 5])
    assert far["wasserstein_error", "near"].value == pytest.approx(expected, abs=1e-12)
    assert far["wasserstein_error", "near"].low < expected < far["wasserstein_error", "near"].high  # type: ignore[operator]
    assert far.origin.options["positions"] == [0, 1, 5]
    with pytest.raises(OptionError, match="ascending"):
        evaluate(made, labels=people, metrics=["wasserstein_error"], positions=[0, 2, 1])
    with pytest.raises(OptionError, match="not asked for"):
        evaluate(made, labels=people, metrics=["brier_error"], positions=[0, 1, 2])
    with pytest.raises(OptionError, match="not called by numbers"):
        evaluate(made, labels=people, positions="classes")
    named = {name: Predictions(table.probs, items=ITEMS, classes=["1", "2", "10"]) for name, table in made.items()}
    marked = SoftLabels(people.probs, items=ITEMS, classes=["1", "2", "10"])
    report = evaluate(named, labels=marked, positions="classes", resamples=20)
    expected = METRICS["wasserstein_error"](made["near"], people, positions=[1, 2, 10])
    assert report["wasserstein_error", "near"].value == pytest.approx(expected, abs=1e-12)


def test_a_report_survives_json() -> None:
    people, gold, made = study()
    report = evaluate(made, labels=people, gold=gold, resamples=20)
    again = Report.from_dict(json.loads(report.to_json()))
    assert again.numbers == report.numbers
    assert len(again.details["comparisons"]) == len(report.details["comparisons"])


def test_what_cannot_be_evaluated_is_refused() -> None:
    people, _, made = study()
    with pytest.raises(OptionError, match="nothing to compare"):
        evaluate(made)
    with pytest.raises(OptionError, match="metrics"):
        evaluate(made, labels=people, metrics=["beauty"])
    with pytest.raises(OptionError, match="needs gold"):
        evaluate(made, labels=people, metrics=["accuracy_score"])
    with pytest.raises(OptionError, match="annotations with annotations"):
        evaluate(made, labels=people, metrics=["perspectivist_error"])
    with pytest.raises(OptionError, match="missing"):
        evaluate(made, labels=people, missing="ignore")  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="level"):
        evaluate(made, labels=people, level=95)
    with pytest.raises(OptionError, match="resamples"):
        evaluate(made, labels=people, resamples=0)
    with pytest.raises(OptionError, match="one at least"):
        evaluate(made, labels=people, metrics=[])
    with pytest.raises(InputError, match="no predictions"):
        evaluate({}, labels=people)
    with pytest.raises(InputError, match="ndarray"):
        evaluate({"a": people.probs}, labels=people)  # type: ignore[dict-item]
    other = SoftLabels(people.probs, items=ITEMS, classes=["x", "y", "w"])
    with pytest.raises(InputError, match=r"System 'near'.*classes"):
        evaluate(made, labels=other)


def test_votes_of_one_annotator_each_have_no_ceiling_and_say_so() -> None:
    people, _, made = study()
    votes = Annotations.from_rows(list(ITEMS), ["ann"] * N, [CLASSES[k] for k in people.probs.argmax(axis=1)])
    report = evaluate(made, labels=people, annotations=votes, metrics=["manhattan_error"], resamples=20)
    assert not any(of.startswith("people: ") for of in report.rows())
    assert any("what people reach cannot be shown" in line for line in report.notes)


def test_two_runs_come_with_a_warning_and_three_without() -> None:
    people, _, made = study()
    for n_runs, warned in ((2, True), (3, False)):
        report = evaluate([made["near"]] * n_runs, labels=people, metrics=["manhattan_error"], resamples=20)
        assert any("Two runs" in line for line in report.notes) is warned
