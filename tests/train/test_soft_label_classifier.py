"""Soft labels for scikit-learn: equal to their definition, and at home wherever a classifier goes."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from sfumato import SoftLabels
from sfumato.errors import InputError, OptionError
from sfumato.evaluate import soft_cross_entropy_loss, soft_scorer

pytest.importorskip("sklearn")

from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.metrics import get_scorer, roc_auc_score
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from sfumato.train import SoftLabelClassifier

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 4))
LOGITS = X @ RNG.normal(size=(4, 3)) * 2
PEOPLE = np.exp(LOGITS) / np.exp(LOGITS).sum(axis=1, keepdims=True)
GOLD = PEOPLE.argmax(axis=1)


@parametrize_with_checks(
    [
        SoftLabelClassifier(DecisionTreeClassifier(random_state=0)),
        SoftLabelClassifier(GaussianNB()),
        SoftLabelClassifier(LogisticRegression()),
    ]
)
def test_it_is_an_estimator_as_scikit_learn_checks_one(estimator: Any, check: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of the classifiers inside, on the data of the checks
        check(estimator)


def test_it_minimises_the_soft_cross_entropy() -> None:
    model = SoftLabelClassifier(LogisticRegression(C=1e6, tol=1e-10, max_iter=5000)).fit(X, PEOPLE)
    # The labels come from a model of this family, so that the minimum is known: the labels themselves.
    np.testing.assert_allclose(model.predict_proba(X), PEOPLE, atol=1e-3)
    hard = LogisticRegression(max_iter=5000).fit(X, GOLD)
    assert soft_cross_entropy_loss(model.predict_proba(X), PEOPLE) < soft_cross_entropy_loss(
        hard.predict_proba(X), PEOPLE
    )


@pytest.mark.parametrize("inner", [GaussianNB(), DecisionTreeClassifier(max_depth=3, random_state=0)])
def test_it_is_each_item_once_for_each_class_weighted(inner: Any) -> None:
    soft = PEOPLE.copy()
    soft[:40] = np.eye(3)[GOLD[:40]]
    weight = RNG.gamma(2, size=120)
    model = SoftLabelClassifier(inner).fit(X, soft, sample_weight=weight)
    rows = [(i, k) for i in range(120) for k in range(3) if soft[i, k] > 0]
    by_hand = clone(inner).fit(
        X[[i for i, _ in rows]], [k for _, k in rows], sample_weight=[weight[i] * soft[i, k] for i, k in rows]
    )
    np.testing.assert_array_equal(model.predict_proba(X), by_hand.predict_proba(X))
    np.testing.assert_array_equal(model.predict(X), by_hand.predict(X))


def test_certain_labels_are_classes() -> None:
    for inner in (LogisticRegression(), RandomForestClassifier(5, random_state=0)):
        alone = clone(inner).fit(X, GOLD).predict_proba(X)
        np.testing.assert_array_equal(SoftLabelClassifier(inner).fit(X, np.eye(3)[GOLD]).predict_proba(X), alone)
        np.testing.assert_array_equal(SoftLabelClassifier(inner).fit(X, GOLD).predict_proba(X), alone)


def test_names_come_from_the_soft_labels_or_the_option() -> None:
    named = SoftLabels(PEOPLE, items=[f"i{i}" for i in range(120)], classes=["b", "a", "c"])
    model = SoftLabelClassifier(LogisticRegression()).fit(X, named)
    assert model.classes_.tolist() == ["a", "b", "c"]
    assert model.predict(X).tolist() == [["a", "b", "c"][k] for k in model.predict_proba(X).argmax(axis=1)]
    for given in (["a", "b", "c"], ["c", "b", "a"]):
        other = SoftLabelClassifier(LogisticRegression(), classes=given).fit(X, named)
        np.testing.assert_array_equal(other.predict_proba(X), model.predict_proba(X))
    plain = SoftLabelClassifier(LogisticRegression()).fit(X, PEOPLE)
    np.testing.assert_allclose(model.predict_proba(X), plain.predict_proba(X)[:, [1, 0, 2]], atol=1e-4)
    words = SoftLabelClassifier(LogisticRegression(), classes=["c", "a", "b"]).fit(
        X[:60], np.array(["b", "c"])[GOLD[:60] // 2]
    )
    assert words.predict_proba(X).shape == (120, 3)
    assert (words.predict_proba(X)[:, 0] == 0).all()


def test_the_score_goes_by_the_names_of_the_soft_labels() -> None:
    named = SoftLabels(PEOPLE, items=[f"i{i}" for i in range(120)], classes=["b", "a", "c"])
    model = SoftLabelClassifier(LogisticRegression()).fit(X, named)
    expected = np.mean([named.probs[i, named.classes.index(name)] for i, name in enumerate(model.predict(X))])
    assert model.score(X, named) == pytest.approx(expected)
    assert model.score(X, named.with_classes(["c", "b", "a"])) == model.score(X, named)
    others = SoftLabels(PEOPLE, items=named.items, classes=["x", "y", "z"])
    with pytest.raises(InputError, match="have the classes x, y, z, and the model a, b, c"):
        model.score(X, others)


def test_scorers_of_scikit_learn_find_the_classes_in_their_order() -> None:
    names = np.array(["yes", "no"])
    soft = SoftLabels(PEOPLE[:, 1:] / PEOPLE[:, 1:].sum(axis=1, keepdims=True), items=list(map(str, range(120))),
                      classes=names.tolist())  # fmt: skip
    gold = names[soft.probs.argmax(axis=1)]
    for model in (
        SoftLabelClassifier(LogisticRegression()).fit(X, soft),
        SoftLabelClassifier(GaussianNB(), classes=["yes", "no"]).fit(X, gold),
    ):
        assert roc_auc_score(gold == "yes", model.predict_proba(X)[:, 1]) > 0.9
        for scorer in ("roc_auc", "neg_log_loss"):
            assert get_scorer(scorer)(model, X, gold) > -0.5
        assert get_scorer("roc_auc")(model, X, gold) > 0.9
        with pytest.raises(InputError, match="sorted order of their classes"):
            SoftLabelClassifier(LogisticRegression(), classes=["yes", "no"]).fit(X, soft.probs)
    with pytest.raises(InputError, match="or give SoftLabels"):
        model.score(X, soft.probs)


def test_scores_of_classes_are_those_of_the_classifier_inside() -> None:
    model = SoftLabelClassifier(LogisticRegression()).fit(X, GOLD)
    inner = LogisticRegression().fit(X, GOLD)
    np.testing.assert_allclose(model.decision_function(X), inner.decision_function(X))
    wider = SoftLabelClassifier(RidgeClassifier()).fit(X, np.insert(np.eye(2)[GOLD // 2], 1, 0, axis=1))
    scores = wider.decision_function(X)
    assert (scores[:, 1] == -np.inf).all()
    np.testing.assert_array_equal(wider.classes_[scores.argmax(axis=1)], wider.predict(X))
    assert not hasattr(SoftLabelClassifier(GaussianNB()), "decision_function")


def test_a_class_that_nobody_chose_has_a_column_without_mass() -> None:
    soft = np.insert(PEOPLE, 1, 0, axis=1)
    model = SoftLabelClassifier(LogisticRegression()).fit(X, soft)
    plain = SoftLabelClassifier(LogisticRegression()).fit(X, PEOPLE)
    np.testing.assert_array_equal(model.predict_proba(X), np.insert(plain.predict_proba(X), 1, 0, axis=1))
    assert model.classes_.tolist() == [0, 1, 2, 3]
    assert set(model.predict(X)) == {0, 2, 3}
    assert (model.predict_log_proba(X)[:, 1] == -np.inf).all()
    alone = SoftLabelClassifier(DecisionTreeClassifier()).fit(X, np.tile([0.0, 1.0], (120, 1)))
    assert alone.predict_proba(X[:1]).tolist() == [[0, 1]]


def test_the_score_is_the_share_of_people_who_agree() -> None:
    model = SoftLabelClassifier(LogisticRegression()).fit(X, PEOPLE)
    predicted = model.predict(X)
    assert model.score(X, PEOPLE) == pytest.approx(PEOPLE[np.arange(120), predicted].mean())
    assert model.score(X, GOLD) == pytest.approx((predicted == GOLD).mean())
    assert model.score(X, np.eye(3)[GOLD]) == pytest.approx((predicted == GOLD).mean())
    with pytest.raises(InputError, match="knows 3 classes, and these soft labels have 2"):
        model.score(X, np.full((120, 2), 0.5))


def test_it_goes_into_pipelines_searches_and_cross_validation() -> None:
    scorer = soft_scorer("soft_cross_entropy_loss")
    pipeline = make_pipeline(StandardScaler(), SoftLabelClassifier(LogisticRegression()))
    search = GridSearchCV(pipeline, {"softlabelclassifier__estimator__C": [1e-4, 10.0]}, scoring=scorer, cv=3)
    search.fit(X, PEOPLE)
    assert search.best_params_ == {"softlabelclassifier__estimator__C": 10.0}
    assert search.best_score_ == pytest.approx(
        cross_val_score(search.best_estimator_, X, PEOPLE, scoring=scorer, cv=3).mean()
    )
    assert (cross_val_predict(pipeline, X, PEOPLE, cv=3) == GOLD).mean() > 0.8
    assert cross_val_score(pipeline, X, PEOPLE, cv=3).mean() > 0.6


def test_frames_sparse_matrices_and_missing_values_go_through() -> None:
    import pandas as pd
    from scipy import sparse

    model = SoftLabelClassifier(HistGradientBoostingClassifier(max_iter=5))
    holes = pd.DataFrame(X, columns=list("abcd")).mask(RNG.random((120, 4)) < 0.2)
    assert model.fit(holes, PEOPLE).feature_names_in_.tolist() == list("abcd")
    assert model.predict_proba(holes).shape == (120, 3)
    plain = SoftLabelClassifier(LogisticRegression()).fit(X, PEOPLE).predict_proba(X)
    packed = SoftLabelClassifier(LogisticRegression()).fit(sparse.csr_matrix(X), PEOPLE)
    np.testing.assert_allclose(packed.predict_proba(sparse.csr_matrix(X)), plain, atol=1e-4)


def test_lightgbm() -> None:
    lightgbm = pytest.importorskip("lightgbm")
    model = SoftLabelClassifier(lightgbm.LGBMClassifier(n_estimators=20, verbose=-1, n_jobs=1))
    _boosts(model, ignored="X does not have valid feature names")


def test_xgboost() -> None:
    xgboost = pytest.importorskip("xgboost")
    _boosts(SoftLabelClassifier(xgboost.XGBClassifier(n_estimators=20, n_jobs=1)))


def _boosts(model: Any, ignored: str = "") -> None:
    soft = np.insert(PEOPLE, 1, 0, axis=1)  # both want the numbers of classes without a gap
    with warnings.catch_warnings():
        if ignored:
            warnings.filterwarnings("ignore", message=ignored)
        probs = model.fit(X, soft).predict_proba(X)
        assert set(model.predict(X)) == {0, 2, 3}
        values = cross_val_score(model, X, soft, cv=3, scoring=soft_scorer("brier_error"))
    assert (probs[:, 1] == 0).all()
    assert soft_cross_entropy_loss(probs, soft) < soft_cross_entropy_loss(np.tile(soft.mean(axis=0), (120, 1)), soft)
    assert (
        values > soft_scorer("brier_error")(DummyClassifier(strategy="uniform").fit(X, [0, 2, 3] * 40), X, soft)
    ).all()


@pytest.mark.parametrize(
    ("inner", "labels", "options", "error", "match"),
    [
        (KNeighborsClassifier(), PEOPLE, {}, OptionError, "KNeighborsClassifier takes no sample_weight"),
        (Ridge(), PEOPLE, {}, OptionError, "Ridge is no classifier"),
        (make_pipeline(LogisticRegression()), PEOPLE, {}, OptionError, "goes around this one, not inside"),
        (LogisticRegression(), LOGITS, {}, InputError, "soft labels of item in row 1"),
        (LogisticRegression(), PEOPLE[:50], {}, ValueError, "inconsistent numbers of samples"),
        (LogisticRegression(), PEOPLE, {"classes": ["a", "b"]}, InputError, "3 columns, and 'classes' names 2"),
        (LogisticRegression(), GOLD, {"classes": [0, 1]}, InputError, "The class 2 is not among the 'classes'"),
        (LogisticRegression(), [["a", "b"]] * 120, {}, InputError, "must be numbers"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_said(inner: Any, labels: Any, options: Any, error: Any, match: str) -> None:
    with pytest.raises(error, match=match):
        SoftLabelClassifier(inner, **options).fit(X, labels)


def test_a_classifier_without_probabilities_predicts_classes() -> None:
    model = SoftLabelClassifier(RidgeClassifier()).fit(X, PEOPLE)
    assert (model.predict(X) == GOLD).mean() > 0.7
    assert not hasattr(model, "predict_proba")
