"""Soft labels for any scikit-learn classifier that takes sample weights."""

from __future__ import annotations

__all__ = ["SoftLabelClassifier"]

import warnings
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone, is_classifier
from sklearn.exceptions import DataConversionWarning
from sklearn.utils import _safe_indexing, check_consistent_length, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    check_array,
    check_is_fitted,
    has_fit_parameter,
    validate_data,
)

from sfumato.core.simplex import check_simplex
from sfumato.core.soft_labels import SoftLabels
from sfumato.errors import InputError, OptionError


def _inner_has(name: str) -> Any:
    """Return a check that the classifier inside has a method of that name."""
    return lambda self: hasattr(getattr(self, "estimator_", self.estimator), name)


class SoftLabelClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Train *estimator* on soft labels: each item once for every class that somebody gave it, weighted by its share.

    ``fit`` takes soft labels of shape (n_items, n_classes), `SoftLabels` (row by row), or classes of shape (n_items,),
    with which it does what *estimator* alone does. For a classifier that minimises a weighted log loss this is exactly
    the soft cross-entropy −Σ p log q. *classes* names the columns; without it they are those of the `SoftLabels`, or 0
    to n_classes − 1. ``classes_`` and the columns of ``predict_proba`` are these, sorted as everywhere in scikit-learn,
    whether or not anybody chose them: `SoftLabels` are brought into that order by name, an array has to have it.

    It goes into pipelines, searches and cross-validation as any classifier does (put a scaler before it, not inside);
    only ``cross_val_predict(…, method="predict_proba")`` cannot have soft labels, whose columns scikit-learn recodes.
    ``score`` is the mean share of people who say what is predicted: the accuracy, where labels are classes. For another
    score give ``scoring=sfumato.evaluate.soft_scorer(…)``.

    >>> from sklearn.linear_model import LogisticRegression
    >>> X, soft = [[0.0], [1.0], [2.0], [3.0]], [[1.0, 0.0], [0.75, 0.25], [0.25, 0.75], [0.0, 1.0]]
    >>> model = SoftLabelClassifier(LogisticRegression(C=100), classes=["no", "yes"]).fit(X, soft)
    >>> model.predict([[0.5], [2.5]]).tolist(), model.predict_proba([[1.5]]).round(3).tolist()
    (['no', 'yes'], [[0.5, 0.5]])
    """

    def __init__(self, estimator: Any, *, classes: Sequence[Any] | None = None) -> None:
        self.estimator = estimator
        self.classes = classes

    def fit(self, X: Any, y: ArrayLike | SoftLabels, sample_weight: ArrayLike | None = None, **fit_params: Any) -> Self:
        """Train on items *X* and their labels; *sample_weight*, shape (n_items,), weighs items."""
        if not has_fit_parameter(self.estimator, "sample_weight"):
            raise OptionError(
                f"{type(self.estimator).__name__} takes no sample_weight, which would tell it how much each label "
                "counts. Choose another classifier; a pipeline or a search goes around this one, not inside."
            )
        if not is_classifier(self.estimator):
            raise OptionError(f"{type(self.estimator).__name__} is no classifier. Choose one that is.")
        validate_data(self, X, skip_check_array=True)  # what X may be, the classifier inside knows
        probs = self._distributions(y)
        check_consistent_length(X, probs)
        if sample_weight is not None:
            probs = probs * _check_sample_weight(sample_weight, X)[:, None]
        item, label = np.nonzero(probs)
        # Classes that nobody chose are left out inside: some classifiers want the numbers 0, 1, 2, … without a gap.
        self._present, code = np.unique(label, return_inverse=True)
        weight = probs[item, label]
        rows = X if np.array_equal(item, np.arange(len(probs))) else _safe_indexing(X, item)
        given = {} if (weight == 1).all() else {"sample_weight": weight}
        self.estimator_ = clone(self.estimator).fit(rows, code, **given, **fit_params)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each item that is most probable."""
        check_is_fitted(self)
        codes = np.asarray(self.estimator_.predict(X)).astype(np.int64)
        chosen: NDArray[Any] = self.classes_[self._present[codes]]
        return chosen

    @available_if(_inner_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of every class, shape (n_items, n_classes), in the order of ``classes_``."""
        check_is_fitted(self)
        known = np.asarray(self.estimator_.predict_proba(X), dtype=np.float64)
        probs = np.zeros((len(known), len(self.classes_)))
        # A classifier that saw a single class may give one column for it, or two.
        probs[:, self._present] = known if known.shape[1] == len(self._present) else 1.0
        return probs

    @available_if(_inner_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the logarithm of `predict_proba`; −∞ for a class that nobody chose."""
        with np.errstate(divide="ignore"):
            logs: NDArray[np.float64] = np.log(self.predict_proba(X))
        return logs

    @available_if(_inner_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the scores of the classes as *estimator* gives them; −∞ for a class that nobody chose."""
        check_is_fitted(self)
        known: NDArray[np.float64] = np.asarray(self.estimator_.decision_function(X), dtype=np.float64)
        if len(self._present) == len(self.classes_):
            return known
        if known.ndim == 1:  # of two classes scikit-learn scores the second
            known = np.stack([-known, known], axis=1)
        scores = np.full((len(known), len(self.classes_)), -np.inf)
        scores[:, self._present] = known
        return scores

    def score(self, X: Any, y: ArrayLike | SoftLabels, sample_weight: ArrayLike | None = None) -> float:
        """Return the mean share of people who say what is predicted; the accuracy, where labels are classes."""
        predicted = self.predict(X)
        if not _is_soft(y):
            right = predicted == np.asarray(y)
        else:
            place = {name: column for column, name in enumerate(self.classes_.tolist())}
            probs = _soft_array(self._in_order(y, self.classes_))
            if probs.shape[1] != len(place):
                raise InputError(f"The model knows {len(place)} classes, and these soft labels have {probs.shape[1]}.")
            right = probs[np.arange(len(predicted)), [place[name] for name in predicted.tolist()]]
        return float(np.average(right, weights=None if sample_weight is None else np.asarray(sample_weight)))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.input_tags = inner.input_tags
        tags.target_tags.required = True
        if inner.classifier_tags is not None:
            tags.classifier_tags.poor_score = inner.classifier_tags.poor_score
            tags.classifier_tags.multi_class = inner.classifier_tags.multi_class
        return tags

    def _distributions(self, y: Any) -> NDArray[np.float64]:
        """Return labels of either kind as distributions, and set ``classes_``."""
        if _is_soft(y):
            probs = _soft_array(y)
            names = self.classes
            if names is None:
                names = y.classes if isinstance(y, SoftLabels) else range(probs.shape[1])
            # Sorted: scikit-learn's scorers take the columns for those of np.unique(y), whatever classes_ says.
            self.classes_ = np.unique(np.asarray(list(names)))
            if len(self.classes_) != probs.shape[1] or len(names) != len(self.classes_):
                raise InputError(
                    f"The soft labels have {probs.shape[1]} columns, and 'classes' names {len(set(names))} classes. "
                    "It needs one name for each."
                )
            return _soft_array(self._in_order(y, self.classes_))
        if y is None:
            raise InputError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        labels = check_array(y, ensure_2d=False, dtype=None, input_name="y")
        if labels.ndim == 2:
            warnings.warn(
                "A column-vector y was passed when a 1d array was expected. Change the shape of y to (n_items,).",
                DataConversionWarning,
                stacklevel=3,
            )
            labels = labels.ravel()
        check_classification_targets(labels)
        found, codes = np.unique(labels, return_inverse=True)
        if self.classes is None:
            self.classes_ = found
        else:
            self.classes_ = np.unique(np.asarray(list(self.classes)))
            unknown = [name for name in found.tolist() if name not in self.classes_.tolist()]
            if unknown:
                raise InputError(f"The class {unknown[0]!r} is not among the 'classes' {list(self.classes)}.")
            codes = np.array([self.classes_.tolist().index(name) for name in found.tolist()])[codes]
        return np.eye(len(self.classes_))[codes]

    def _in_order(self, y: Any, classes: NDArray[Any]) -> Any:
        """Return soft labels with the columns in the order of *classes*, by name where they have names."""
        if isinstance(y, SoftLabels):
            names = classes.tolist()
            if set(names) != set(y.classes):
                raise InputError(
                    f"The soft labels have the classes {', '.join(y.classes)}, and the model "
                    f"{', '.join(map(str, names))}. They must be the same."
                )
            return y.with_classes(names)
        if self.classes is not None and list(self.classes) != classes.tolist():
            # Whoever compares predict_proba with this array, as scorers do, would compare other classes.
            raise InputError(
                f"The columns of soft labels must stand in the sorted order of their classes, {classes.tolist()}. "
                f"'classes' is {list(self.classes)}: sort it, and the columns with it, or give SoftLabels."
            )
        return y


def _is_soft(y: Any) -> bool:
    shape = (0, 2) if isinstance(y, SoftLabels) else np.asarray(y).shape
    return len(shape) == 2 and shape[1] > 1


def _soft_array(y: Any) -> NDArray[np.float64]:
    try:
        probs: NDArray[np.float64] = np.asarray(y.probs if isinstance(y, SoftLabels) else y, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("Soft labels must be numbers of shape (n_items, n_classes).") from None
    check_simplex(probs, what="soft labels")
    return probs
