"""Scorers within scikit-learn, and the function that a Hugging Face trainer calls."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score

from sfumato import evaluate
from sfumato.core.simplex import softmax
from sfumato.core.soft_labels import SoftLabels
from sfumato.errors import InputError, OptionError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 4))
LOGITS = X @ RNG.normal(size=(4, 3))
SOFT = softmax(LOGITS)


class FromHard(LogisticRegression):
    """A classifier that learns from the top class of soft labels."""

    def fit(self, X: Any, y: Any) -> FromHard:
        return super().fit(X, y.argmax(axis=1) if np.ndim(y) == 2 else y)


def test_a_scorer_works_where_scikit_learn_takes_one() -> None:
    model = FromHard(max_iter=500)
    scorer = evaluate.soft_scorer("jensen_shannon_divergence")
    values = cross_val_score(model, X, SOFT, scoring=scorer, cv=3)
    model.fit(X[30:], SOFT[30:])
    expected = -evaluate.jensen_shannon_divergence(model.predict_proba(X[:30]), SOFT[:30])
    assert values[0] == pytest.approx(expected, rel=1e-12)
    assert (values < 0).all()
    search = GridSearchCV(model, {"C": [1e-4, 1.0]}, scoring=scorer, cv=3).fit(X, SOFT)
    assert search.best_params_ == {"C": 1.0}


def test_scores_stay_positive_and_options_pass_through() -> None:
    model = FromHard(max_iter=500).fit(X, SOFT)
    gold = SOFT.argmax(axis=1)
    assert evaluate.soft_scorer("accuracy_score")(model, X, gold) == model.score(X, gold)
    bits = evaluate.soft_scorer("jensen_shannon_divergence", base=2)(model, X, SOFT)
    assert bits == pytest.approx(evaluate.soft_scorer("jensen_shannon_divergence")(model, X, SOFT) / np.log(2))


def test_classes_that_the_estimator_never_saw_get_no_mass() -> None:
    rows = SOFT.argmax(axis=1) != 1
    model = LogisticRegression(max_iter=500).fit(X[rows], SOFT.argmax(axis=1)[rows])
    probs = np.zeros((90, 3))
    probs[:, [0, 2]] = model.predict_proba(X)
    assert evaluate.soft_scorer("brier_error")(model, X, SOFT) == -evaluate.brier_error(probs, SOFT)
    named = LogisticRegression(max_iter=500).fit(X[rows], np.array(["a", "b", "c"])[SOFT.argmax(axis=1)[rows]])
    with pytest.raises(InputError, match="knows 2 classes and the soft labels have 3"):
        evaluate.soft_scorer()(named, X, SOFT)


def test_classes_are_matched_by_their_name_or_number() -> None:
    top = SOFT.argmax(axis=1)
    rows = top != 0
    for names in (np.arange(3), np.array(["a", "b", "c"])):
        model = LogisticRegression(max_iter=500).fit(X[rows], names[top[rows]])
        for name in ("accuracy_score", "f1_score"):
            probs = np.insert(model.predict_proba(X), 0, 0, axis=1)
            assert evaluate.soft_scorer(name)(model, X, names[top]) == getattr(evaluate, name)(probs, top)
        assert evaluate.soft_scorer("accuracy_score")(model, X, names[top]) == model.score(X, names[top])


def test_unknown_or_unfit_metrics_are_refused() -> None:
    with pytest.raises(OptionError, match="one of accuracy_score"):
        evaluate.soft_scorer("brier")
    with pytest.raises(OptionError, match="needs logits"):
        evaluate.soft_scorer("calibrated_log_loss")
    with pytest.raises(OptionError, match="one of accuracy_score"):
        evaluate.compute_metrics(["brier"])


def test_a_trainer_gets_plain_numbers() -> None:
    gold = SOFT.argmax(axis=1)
    found = evaluate.compute_metrics()((LOGITS, gold))
    assert found["accuracy_score"] == 1
    assert found["expected_calibration_error"] == pytest.approx(evaluate.expected_calibration_error(SOFT, gold))
    assert all(type(value) is float for value in found.values())
    soft = evaluate.compute_metrics()((LOGITS, SOFT))
    assert soft["jensen_shannon_divergence"] == pytest.approx(0, abs=1e-12)
    assert "accuracy_score" not in soft
    assert soft["expected_calibration_error"] == pytest.approx(0, abs=1e-12)
    only = evaluate.compute_metrics(["calibrated_log_loss", "f1_score"])(((LOGITS, "hidden states"), gold))
    assert only == {"calibrated_log_loss": evaluate.calibrated_log_loss(LOGITS, gold), "f1_score": 1.0}


def test_tokens_without_a_label_are_left_out() -> None:
    logits, gold = LOGITS.reshape(30, 3, 3), SOFT.argmax(axis=1).reshape(30, 3).copy()
    gold[:, 1:] = -100
    found = evaluate.compute_metrics(["accuracy_score", "expected_calibration_error"])((logits, gold))
    rows = slice(None, None, 3)
    expected = evaluate.expected_calibration_error(SOFT[rows], SOFT[rows].argmax(axis=1))
    assert found == {"accuracy_score": 1, "expected_calibration_error": pytest.approx(expected)}
    soft = np.full((30, 3, 3), -100.0)
    soft[:, 0] = SOFT[rows]
    assert evaluate.compute_metrics(["human_distance_error"])((logits, soft))["human_distance_error"] < 1e-12
    with pytest.raises(InputError, match="All 90 labels are -100"):
        evaluate.compute_metrics()((logits, np.full((30, 3), -100)))
    with pytest.raises(InputError, match="shape of the logits"):
        evaluate.compute_metrics()((logits, gold[0]))


def test_what_a_trainer_hands_over_may_be_an_object() -> None:
    class Handed(SimpleNamespace):
        def __iter__(self) -> Any:
            return iter((self.predictions, self.label_ids))

    found = evaluate.compute_metrics(["accuracy_score"])(Handed(predictions=LOGITS, label_ids=SOFT.argmax(axis=1)))
    assert found == {"accuracy_score": 1}


def test_neither_package_is_imported() -> None:
    code = (
        "import sys; from sfumato import evaluate; evaluate.soft_scorer(); evaluate.compute_metrics(); "
        "print([name for name in ('sklearn', 'transformers', 'torch', 'polars', 'matplotlib') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_soft_labels_are_met_by_the_names_of_their_classes() -> None:
    class Sure:
        classes_ = np.array(["a", "b"])

        def predict_proba(self, X: object) -> np.ndarray:
            return np.array([[0.9, 0.1]])

    score = evaluate.soft_scorer("manhattan_error")
    turned = SoftLabels([[0.1, 0.9]], items=["i"], classes=["b", "a"])
    assert score(Sure(), [0], turned) == 0
    assert score(Sure(), [0], SoftLabels([[0.1, 0.9]], items=["i"], classes=["a", "b"])) == pytest.approx(-1.6)
