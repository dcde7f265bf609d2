"""Figures of the papers, on the real labels."""

from __future__ import annotations

import numpy as np
import pytest

import sfumato as sf
from sfumato import evaluate
from sfumato.errors import MissingDataError


def cifar10s_and_10h() -> tuple[sf.SoftLabels, sf.SoftLabels]:
    try:
        single, many = sf.data.load("cifar10s"), sf.data.load("cifar10h", splits=False)
    except MissingDataError as missing:
        pytest.skip(str(missing))
    assert single.annotations is not None
    assert many.counts is not None
    votes = single.annotations
    soft = sf.SoftLabels(votes.counts() / votes.per_item()[:, None], items=votes.items, classes=votes.classes)
    shares = many.counts / many.counts.sum(axis=1, keepdims=True)
    return soft, sf.SoftLabels(shares, items=many.items, classes=many.classes)


def test_labels_of_few_sure_people_are_near_those_of_many() -> None:
    """Collins et al. 2022, section 4.2: mean Wasserstein distance 0.028 and entropy correlation 0.596, as printed."""
    few, many = evaluate.aligned(*cifar10s_and_10h(), missing="drop")
    assert few.n_items == 1000
    assert evaluate.values_wasserstein_error(few, many) == pytest.approx(0.0270, abs=5e-4)
    assert evaluate.entropy_correlation_score(few, many) == pytest.approx(0.6299, abs=5e-5)
    # Over classes in the order of their names, which means nothing for these, it is another number.
    assert evaluate.wasserstein_error(few, many) > 10 * evaluate.values_wasserstein_error(few, many)


def test_a_model_that_is_always_right_and_always_sure_pays_for_it_where_people_are_not() -> None:
    _, many = cifar10s_and_10h()
    assert evaluate.soft_accuracy_score(many, many) == pytest.approx(1, abs=1e-12)
    sure = sf.SoftLabels(np.eye(10)[many.probs.argmax(axis=1)], items=many.items, classes=many.classes)
    assert evaluate.expected_calibration_error(sure, many.probs.argmax(axis=1)) == 0
    assert evaluate.soft_accuracy_score(sure, many) == pytest.approx(float(many.probs.max(axis=1).mean()), abs=1e-12)
    assert evaluate.kl_divergence(sure, many) == np.inf
