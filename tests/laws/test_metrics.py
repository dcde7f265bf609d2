"""Laws that every metric keeps, over the whole registry; each law is shown to find a planted fault."""

from __future__ import annotations

import inspect
import math
import pkgutil
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato import Annotations, Predictions, SoftLabels, evaluate
from sfumato.evaluate.metrics import METRICS, Metric

LOWER = ("_loss", "_error", "_divergence")
# Metrics for which the order of the classes means something.
ORDERED = {"wasserstein_error", "perspectivist_distance_error"}
ON_ITEMS = [name for name, metric in METRICS.items() if metric.needs in ("people", "gold")]
seeds = st.integers(0, 10_000)


def sample(metric: Metric, seed: int, n_items: int = 20, n_classes: int = 4) -> tuple[Any, Any]:
    """Return predictions and labels of the kind that the metric needs."""
    rng = np.random.default_rng(seed)
    q = rng.dirichlet(np.full(n_classes, 0.7), n_items)
    if metric.needs == "people":
        p = rng.dirichlet(np.full(n_classes, 0.7), n_items)
        if metric.name != "inverse_kl_divergence":  # infinite at any class that nobody named
            p[rng.random(p.shape) < 0.2] = 0
            p[p.sum(axis=1) == 0, 0] = 1
        return q, p / p.sum(axis=1, keepdims=True)
    if metric.needs == "annotations":
        items = [str(i) for i in range(n_items) for _ in range(3)]
        who = ["x", "y", "z"] * n_items
        classes = [str(k) for k in range(n_classes)]
        said, true = (
            Annotations.from_rows(items, who, rng.choice(classes, len(items)), classes=classes) for _ in range(2)
        )
        return said, true
    gold = rng.integers(0, n_classes, n_items)
    return (3 * rng.normal(size=q.shape) if metric.needs == "logits" else q), gold


def named(metric: Metric, predicted: Any, labels: Any) -> tuple[Any, Any]:
    """Return logits as predictions with names, by which the random halves are drawn."""
    if metric.needs != "logits":
        return predicted, labels
    n_items, n_classes = predicted.shape
    return Predictions.from_logits(predicted, items=[f"{i:03}" for i in range(n_items)],
                                   classes=[str(k) for k in range(n_classes)]), labels  # fmt: skip


def items_moved(metric: Metric, predicted: Any, labels: Any, seed: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    if metric.needs == "annotations":
        return shuffled(predicted, rng), shuffled(labels, rng)
    order = rng.permutation(len(labels))
    if metric.needs == "logits":
        return predicted.take([predicted.items[row] for row in order]), labels[order]
    return predicted[order], labels[order]


def shuffled(table: Annotations, rng: np.random.Generator) -> Annotations:
    order = rng.permutation(len(table.item))
    names = [(table.items[table.item[r]], table.annotators[table.annotator[r]], table.classes[table.label[r]])
             for r in order]  # fmt: skip
    return Annotations.from_rows(*zip(*names, strict=True), classes=table.classes)


def classes_moved(metric: Metric, predicted: Any, labels: Any, seed: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    if metric.needs == "annotations":
        order = [predicted.classes[k] for k in rng.permutation(predicted.n_classes)]
        return reclassed(predicted, order), labels
    order = rng.permutation(predicted.shape[1])
    return predicted[:, order], labels[:, order] if labels.ndim == 2 else np.argsort(order)[labels]


def reclassed(table: Annotations, classes: list[str]) -> Annotations:
    return Annotations.from_rows(
        [table.items[i] for i in table.item], [table.annotators[j] for j in table.annotator],
        [table.classes[k] for k in table.label], classes=classes,
    )  # fmt: skip


# The laws: each takes a metric and a seed, and asserts.


def law_order_of_items(metric: Metric, seed: int) -> None:
    given_ = named(metric, *sample(metric, seed))
    moved = items_moved(metric, *given_, seed)
    assert metric(*moved) == pytest.approx(metric(*given_), abs=1e-12)


def law_names_of_classes(metric: Metric, seed: int) -> None:
    given_ = sample(metric, seed)
    assert metric(*classes_moved(metric, *given_, seed)) == pytest.approx(metric(*given_), abs=1e-12)


def law_bounds(metric: Metric, seed: int) -> None:
    value = metric(*sample(metric, seed))
    assert metric.low is None or value >= metric.low - 1e-12
    assert metric.high is None or value <= metric.high + 1e-12


def law_mean_of_items(metric: Metric, seed: int) -> None:
    given_ = sample(metric, seed)
    assert metric.per_item is not None
    each = metric.per_item(*given_)
    assert each.shape == (20,)
    assert each.mean() == pytest.approx(metric(*given_), rel=1e-12, abs=1e-15)


def law_each_item_its_own(metric: Metric, seed: int) -> None:
    """The number of an item is the metric of that item alone."""
    predicted, labels = sample(metric, seed, n_items=5)
    assert metric.per_item is not None
    alone = [metric(predicted[row : row + 1], labels[row : row + 1]) for row in range(5)]
    np.testing.assert_allclose(metric.per_item(predicted, labels), alone, atol=1e-14)


def law_input_untouched(metric: Metric, seed: int) -> None:
    predicted, labels = sample(metric, seed)
    before = predicted.copy(), labels.copy()
    metric(predicted, labels)
    np.testing.assert_array_equal(predicted, before[0])
    np.testing.assert_array_equal(labels, before[1])


def law_perfect(metric: Metric, seed: int) -> None:
    """Nothing is better than to say what is so."""
    _, labels = sample(metric, seed)
    same = np.eye(4)[labels] if metric.needs == "gold" else labels
    best = metric(same, labels)
    if metric.name in ("soft_cross_entropy_loss", "lewidi_cross_entropy_loss"):  # then it is the entropy of people
        entropy = -np.sum(labels * np.log(np.where(labels > 0, labels, 1)), axis=1).mean()
        assert best == pytest.approx(entropy, abs=1e-7 if metric.name.startswith("lewidi") else 1e-12)
    else:
        assert best == pytest.approx(1 if metric.higher_is_better else 0, abs=1e-12)


def law_better_is_better(metric: Metric, seed: int) -> None:
    """A step from the model towards people is never a step back."""
    predicted, labels = sample(metric, seed)
    nearer = (predicted + labels) / 2
    sign = 1 if metric.higher_is_better else -1
    assert sign * metric(nearer, labels) >= sign * metric(predicted, labels) - 1e-9


def law_direction_by_name(metric: Metric, seed: int) -> None:
    assert metric.name.endswith("_score") is metric.higher_is_better
    assert metric.higher_is_better or metric.name.endswith(LOWER)


def law_one_pass(metric: Metric, seed: int) -> None:
    predicted, labels = sample(metric, seed)
    found = evaluate.scores(predicted, **{metric.needs: labels}, metrics=[metric.name])
    assert found[metric.name] == pytest.approx(metric(predicted, labels), rel=1e-13, abs=1e-15)


# Where a step towards people need not help: what looks at entropies or sorted values, or at several items together.
_NOT_CONVEX = {"entropy_correlation_score", "entropy_calibration_error", "values_wasserstein_error", "soft_f1_score"}
LAWS: dict[Callable[[Metric, int], None], list[str]] = {
    law_order_of_items: list(METRICS),
    law_names_of_classes: [name for name in METRICS if name not in ORDERED],
    law_bounds: list(METRICS),
    law_mean_of_items: [name for name, metric in METRICS.items() if metric.per_item is not None],
    law_each_item_its_own: [name for name in ON_ITEMS if METRICS[name].per_item is not None],
    law_input_untouched: [name for name in METRICS if METRICS[name].needs != "annotations"],
    law_perfect: [name for name in METRICS if METRICS[name].needs != "logits"],
    law_better_is_better: [
        name for name, metric in METRICS.items() if metric.needs == "people" and name not in _NOT_CONVEX
    ],
    law_direction_by_name: list(METRICS),
    law_one_pass: ON_ITEMS,
}


@pytest.mark.parametrize(
    ("law", "name"),
    [pytest.param(law, name, id=f"{law.__name__}-{name}") for law, names in LAWS.items() for name in names],
)
@settings(max_examples=10, deadline=None)
@given(seed=seeds)
def test_law(law: Callable[[Metric, int], None], name: str, seed: int) -> None:
    law(METRICS[name], seed)


def planted(name: str, function: Callable[..., float], **changed: Any) -> Metric:
    return replace(METRICS[name], function=function, **changed)


def _first_item_only(q: Any, p: Any) -> float:
    return evaluate.brier_error(q[:1], p[:1])


def _first_class_only(q: Any, p: Any) -> float:
    return float(np.square(q[:, 0] - p[:, 0]).mean())


def _spoils(q: Any, p: Any) -> float:
    q[0] = p[0]
    return evaluate.brier_error(q, p)


FAULTS: dict[Callable[[Metric, int], None], Metric] = {
    law_order_of_items: planted("brier_error", _first_item_only),
    law_names_of_classes: planted("brier_error", _first_class_only),
    law_bounds: planted("brier_error", lambda q, p: 3 + evaluate.brier_error(q, p)),
    law_mean_of_items: planted("brier_error", lambda q, p: 2 * evaluate.brier_error(q, p)),
    law_each_item_its_own: planted(
        "brier_error", evaluate.brier_error, per_item=lambda q, p: np.sort(evaluate.brier_error_per_item(q, p))[::-1]
    ),
    law_input_untouched: planted("brier_error", _spoils),
    law_perfect: planted("brier_error", lambda q, p: float(np.square(p).sum(axis=1).mean())),
    law_better_is_better: planted("brier_error", lambda q, p: 2 - evaluate.brier_error(q, p)),
    law_direction_by_name: replace(METRICS["brier_error"], higher_is_better=True),
    law_one_pass: planted("brier_error", lambda q, p: evaluate.brier_error(q, p) / 2),
}


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_each_law_finds_a_planted_fault(law: Callable[[Metric, int], None]) -> None:
    def on_several_seeds() -> None:
        for seed in range(5):
            law(FAULTS[law], seed)

    with pytest.raises(AssertionError):
        on_several_seeds()


@pytest.mark.parametrize("name", ON_ITEMS)
def test_a_model_that_is_sure_and_wrong_is_as_bad_as_can_be(name: str) -> None:
    metric = METRICS[name]
    wrong, right = np.eye(3)[[1, 2, 1]], np.array([0, 0, 0])
    value = metric(wrong, np.eye(3)[right] if metric.needs == "people" else right)
    worst = {
        "soft_cross_entropy_loss": -math.log(1e-12), "kl_divergence": math.inf, "inverse_kl_divergence": math.inf,
        "lewidi_cross_entropy_loss": -math.log(1e-12 + 1e-9), "wasserstein_error": 4 / 3,
        # They ask how sure, not of what: sure people and a sure model differ in nothing.
        "values_wasserstein_error": 0, "entropy_calibration_error": 0, "entropy_correlation_score": math.nan,
        "classwise_calibration_error": 2 / 3,
    }  # fmt: skip
    expected = worst.get(name, metric.low if metric.higher_is_better else metric.high)
    assert value == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize("name", ON_ITEMS)
@pytest.mark.parametrize("n_classes", [1, 2])
def test_one_item_and_few_classes_are_defined(name: str, n_classes: int) -> None:
    metric = METRICS[name]
    probs = [[0.7, 0.3]] if n_classes == 2 else [[1.0]]
    value = metric(probs, probs if metric.needs == "people" else [0])
    if name == "entropy_correlation_score":  # one point has no correlation
        assert math.isnan(value)
    else:
        assert math.isfinite(value)


@pytest.mark.parametrize("name", ON_ITEMS)
def test_single_precision_goes_in(name: str) -> None:
    metric = METRICS[name]
    predicted, labels = sample(metric, 3)
    value = metric(predicted.astype(np.float32), labels)
    assert value == pytest.approx(metric(predicted, labels), abs=1e-5)


@pytest.mark.parametrize("name", ON_ITEMS)
def test_named_tables_give_what_arrays_give(name: str) -> None:
    metric = METRICS[name]
    predicted, labels = sample(metric, 4)
    items, classes = [f"i{k}" for k in range(20)], ["a", "b", "c", "d"]
    soft = SoftLabels(predicted, items=items, classes=classes)
    if metric.needs == "people":
        other: Any = SoftLabels(labels[::-1, ::-1], items=items[::-1], classes=classes[::-1])
    else:
        other = labels
    assert metric(soft, other) == pytest.approx(metric(predicted, labels), abs=1e-13)


def test_no_metric_is_forgotten() -> None:
    """Every public function of the room whose name says which way is better stands in the registry, and is exported.

    All but those of robustness: they need the model itself, not what it predicted.
    """
    found = set()
    for module in pkgutil.iter_modules(evaluate.__path__):
        if module.ispkg or module.name == "robustness":
            continue
        home = import_module(f"sfumato.evaluate.{module.name}")
        for name, value in inspect.getmembers(home, inspect.isfunction):
            if value.__module__ == home.__name__ and name.endswith(("_score", *LOWER)) and not name.startswith("_"):
                found.add(name)
    assert found == set(METRICS)
    assert set(METRICS) <= set(evaluate.__all__)


def test_every_metric_is_told_of_on_the_page_of_its_room() -> None:
    page = (Path(__file__).parents[2] / "docs" / "evaluate.md").read_text()
    assert [name for name in METRICS if f"| `{name}` |" not in page] == []


def test_entries_of_the_registry_are_whole() -> None:
    for name, metric in METRICS.items():
        assert metric.name == name == metric.function.__name__
        assert metric.source
        assert metric.summary.startswith("Return")
        if metric.per_item is not None:
            assert metric.per_item.__name__ == f"{name}_per_item"
            assert metric.per_item.__name__ in evaluate.__all__
