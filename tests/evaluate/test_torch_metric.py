"""Metrics in the clothes of torchmetrics: whatever the batches, the value of the NumPy metric on all items."""

from __future__ import annotations

import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from sfumato import evaluate
from sfumato.core.simplex import softmax
from sfumato.errors import InputError, OptionError
from sfumato.evaluate import METRICS, torch_metric

torch = pytest.importorskip("torch")
torchmetrics = pytest.importorskip("torchmetrics")

RNG = np.random.default_rng(0)
LOGITS = RNG.normal(size=(90, 4)) * 2
PEOPLE = RNG.dirichlet(np.ones(4), 90) + 1e-9
PEOPLE /= PEOPLE.sum(axis=1, keepdims=True)
GOLD = RNG.integers(0, 4, 90)
PARTS = (slice(0, 40), slice(40, 41), slice(41, 90))


def labels(name: str) -> Any:
    return PEOPLE if METRICS[name].needs == "people" else GOLD


def expected(name: str, rows: Any = slice(None)) -> float:
    left = LOGITS if METRICS[name].needs == "logits" else softmax(LOGITS)
    return METRICS[name](left[rows], labels(name)[rows])


@pytest.mark.parametrize("name", [name for name, one in METRICS.items() if one.needs != "annotations"])
def test_batches_give_the_value_of_all_items(name: str) -> None:
    metric = torch_metric(name)
    for rows in PARTS:
        metric.update(torch.tensor(LOGITS[rows]), torch.tensor(labels(name)[rows]))
    assert float(metric.compute()) == pytest.approx(expected(name), rel=1e-12)
    assert metric.higher_is_better is METRICS[name].higher_is_better
    metric.reset()
    batch = metric(torch.tensor(LOGITS[:40]), torch.tensor(labels(name)[:40]))  # as Lightning calls it in a step
    assert float(batch) == pytest.approx(expected(name, slice(0, 40)), rel=1e-12)
    assert float(metric.compute()) == pytest.approx(expected(name, slice(0, 40)), rel=1e-12)
    again = pickle.loads(pickle.dumps(metric))
    assert float(again.compute()) == pytest.approx(expected(name, slice(0, 40)), rel=1e-12)


def test_states_of_processes_join() -> None:
    for name in ("soft_cross_entropy_loss", "entropy_correlation_score"):
        left, right = torch_metric(name), torch_metric(name)
        left.update(torch.tensor(LOGITS[:30]), torch.tensor(PEOPLE[:30]))
        right.update(torch.tensor(LOGITS[30:]), torch.tensor(PEOPLE[30:]))
        left.merge_state(right)
        assert float(left.compute()) == pytest.approx(expected(name), rel=1e-12)


def test_a_mean_keeps_no_predictions() -> None:
    metric = torch_metric("brier_error")
    metric.update(torch.tensor(LOGITS), torch.tensor(PEOPLE))
    assert sum(value.numel() for value in metric.metric_state.values()) == 2


def test_they_make_a_collection_with_metrics_of_others() -> None:
    theirs = torchmetrics.Accuracy("multiclass", num_classes=4, average="micro")
    both = torchmetrics.MetricCollection({"ours": torch_metric("accuracy_score"), "theirs": theirs})
    found = both(torch.tensor(LOGITS), torch.tensor(GOLD))
    assert float(found["ours"]) == pytest.approx(float(found["theirs"]), rel=1e-6)


def test_probabilities_options_and_half_precision() -> None:
    probs = torch.tensor(softmax(LOGITS))
    bits = torch_metric("jensen_shannon_divergence", logits=False, base=2)
    bits.update(probs, torch.tensor(PEOPLE))
    assert float(bits.compute()) == pytest.approx(
        evaluate.jensen_shannon_divergence(softmax(LOGITS), PEOPLE, base=2), rel=1e-12
    )
    half = torch_metric()
    half.update(torch.tensor(LOGITS).bfloat16(), torch.tensor(PEOPLE).float())
    assert float(half.compute()) == pytest.approx(expected("soft_cross_entropy_loss"), rel=0.01)


def test_tokens_without_a_label_are_left_out() -> None:
    logits, soft, gold = LOGITS.reshape(30, 3, 4), PEOPLE.reshape(30, 3, 4).copy(), GOLD.reshape(30, 3).copy()
    soft[:, 1:], gold[:, 1:] = -100, -100
    first = slice(None, None, 3)
    for name, target in (("soft_cross_entropy_loss", soft), ("entropy_correlation_score", soft), ("f1_score", gold)):
        metric = torch_metric(name)
        metric.update(torch.tensor(logits), torch.tensor(target))
        assert float(metric.compute()) == pytest.approx(expected(name, first), rel=1e-12)
        metric.reset()
        metric.update(torch.tensor(logits[:1, 1:]), torch.tensor(target[:1, 1:]))
        with pytest.raises(InputError, match="no batch had an item with a label"):
            metric.compute()


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(OptionError, match="one of accuracy_score"):
        torch_metric("brier")
    with pytest.raises(OptionError, match="needs annotations"):
        torch_metric("perspectivist_error")
    with pytest.raises(OptionError, match="needs logits"):
        torch_metric("calibrated_log_loss", logits=False)
    with pytest.raises(InputError, match="needs soft labels as 'target'"):
        torch_metric().update(torch.tensor(LOGITS), torch.tensor(GOLD))
    with pytest.raises(InputError, match="needs class numbers as 'target'"):
        torch_metric("accuracy_score").update(torch.tensor(LOGITS), torch.tensor(PEOPLE))
    with pytest.raises(InputError, match=r"shape of 'preds'.*\(90, 4\)"):
        torch_metric().update(torch.tensor(LOGITS), torch.tensor(PEOPLE[:3]))


def test_its_lack_is_one_sentence() -> None:
    code = (
        "import sys; from sfumato import evaluate; sys.modules['torchmetrics'] = None\n"
        "try: evaluate.torch_metric()\n"
        "except ImportError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip().endswith(
        'needs the extra "torchmetrics". Install it with: pip install "sfumato[torchmetrics]"'
    )


def test_the_function_stays_a_function() -> None:
    torch_metric()
    assert evaluate.torch_metric is torch_metric
