"""Metrics where people already are: a scikit-learn scorer, the compute_metrics of a Hugging Face trainer, torchmetrics.

The first two import neither package: a scorer is any function of an estimator and data, and a trainer hands over plain
arrays.
"""

from __future__ import annotations

__all__ = ["compute_metrics", "soft_scorer", "torch_metric"]

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sfumato.core.simplex import softmax
from sfumato.core.soft_labels import SoftLabels
from sfumato.errors import InputError, MissingExtraError, OptionError
from sfumato.evaluate.metrics import metric
from sfumato.evaluate.scores import scores

if TYPE_CHECKING:
    from sfumato.evaluate.batchwise import TorchMetric

# Positions that a Hugging Face model is told to ignore.
_IGNORED = -100


def soft_scorer(name: str = "soft_cross_entropy_loss", **options: Any) -> Callable[[Any, Any, Any], float]:
    """Return a scikit-learn scorer: f(estimator, X, y), the higher the better, of the metric of that name.

    *y* are soft labels of shape (n_items, n_classes) or classes of shape (n_items,), whichever the metric needs.
    Losses, errors and divergences come out negative, as scikit-learn's own do. It goes wherever ``scoring`` does
    (cross_val_score, GridSearchCV). The columns of soft labels are the classes 0 to K − 1; an estimator that saw only
    some of them says which in ``classes_``, and gives the others no mass.

    >>> class Even:
    ...     def predict_proba(self, X):
    ...         return [[0.5, 0.5] for _ in X]
    >>> soft_scorer("brier_error")(Even(), ["one item"], [[0.75, 0.25]])
    -0.125
    """
    chosen = metric(name)
    if chosen.needs not in ("people", "gold"):
        raise OptionError(f"The metric '{name}' needs {chosen.needs}, which a scorer does not get. Choose another.")

    def score(estimator: Any, X: Any, y: Any) -> float:
        labels = _by_name(y, estimator).probs if isinstance(y, SoftLabels) else np.asarray(y)
        value = chosen(*_same_columns(estimator, np.asarray(estimator.predict_proba(X)), labels), **options)
        return value if chosen.higher_is_better else -value

    return score


def _by_name(labels: SoftLabels, estimator: Any) -> SoftLabels:
    """Return the soft labels with their classes in the order of the estimator's, where it knows them by name."""
    names = [str(name) for name in getattr(estimator, "classes_", ())]
    return labels.with_classes(names) if set(names) == set(labels.classes) else labels


def compute_metrics(metrics: Sequence[str] | None = None) -> Callable[[Any], dict[str, float]]:
    """Return a function for the ``compute_metrics`` of a Hugging Face trainer: (logits, labels) → numbers by name.

    Labels are class numbers, one for each item (or each token), or soft labels of the shape of the logits; those of
    −100, and rows that are filled with it, are left out. Without *metrics* all that such labels allow are worked out;
    the calibrated log loss only where it is named.

    >>> compute_metrics(["accuracy_score"])(([[2.0, 0.0], [0.0, 1.0]], [0, 0]))
    {'accuracy_score': 0.5}
    """
    chosen = [metric(name) for name in metrics] if metrics is not None else None

    def compute(predictions: Any) -> dict[str, float]:
        logits, labels = _pair(predictions)
        probs = softmax(logits)
        given: dict[str, Any] = {"people" if labels.ndim == 2 else "gold": labels}
        if chosen is None:
            return scores(probs, **given)
        found = scores(probs, **given, metrics=[one.name for one in chosen if one.needs != "logits"])
        found |= {one.name: one(logits, labels) for one in chosen if one.needs == "logits"}
        return {one.name: found[one.name] for one in chosen}

    return compute


def torch_metric(name: str = "soft_cross_entropy_loss", *, logits: bool = True, **options: Any) -> TorchMetric:
    """Return the metric of that name as a `torchmetrics.Metric`: update(preds, target), compute(), reset().

    ``preds`` are logits of shape (…, n_classes), or probabilities where *logits* is false; ``target`` soft labels of
    the same shape or classes of shape (…), whichever the metric needs. Positions that are filled with −100 are left
    out. It goes into a MetricCollection, is logged by Lightning, and adds up over processes; the value is that of the
    metric on all items at once. A mean over items keeps two numbers, any other metric the predictions themselves.
    """
    try:
        from sfumato.evaluate.batchwise import TorchMetric
    except ModuleNotFoundError:
        raise MissingExtraError("A metric for torchmetrics", "torchmetrics") from None
    return TorchMetric(name, logits=logits, **options)


def _same_columns(estimator: Any, probs: NDArray[Any], labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return probabilities with a column for every class, and the labels in the numbers of these columns."""
    known = np.asarray(getattr(estimator, "classes_", np.arange(probs.shape[1])))
    if labels.ndim == 1:
        every = np.union1d(known, labels)
        places, labels = np.searchsorted(every, known), np.searchsorted(every, labels)
    elif len(known) == labels.shape[1]:
        return probs, labels
    elif known.dtype.kind in "iu" and known.min() >= 0 and known.max() < labels.shape[1]:
        every, places = np.arange(labels.shape[1]), known
    else:
        raise InputError(
            f"The estimator knows {len(known)} classes and the soft labels have {labels.shape[1]} columns. "
            "Its classes_ must be column numbers, or as many as there are columns."
        )
    full = np.zeros((len(probs), len(every)), dtype=probs.dtype)
    full[:, places] = probs
    return full, labels


def _pair(predictions: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return logits of shape (n, n_classes) and their labels, from what a trainer hands over."""
    logits, labels = predictions
    # A model that returns more than its logits gives them first.
    logits = np.asarray(logits[0] if isinstance(logits, tuple) else logits, dtype=np.float64)
    labels = np.asarray(labels)
    if logits.ndim < 2 or labels.shape not in (logits.shape, logits.shape[:-1]):
        raise InputError(
            "Labels must be of the shape of the logits, or of theirs without the classes. "
            f"Got logits of shape {logits.shape} and labels of shape {labels.shape}."
        )
    flat = logits.reshape(-1, logits.shape[-1])
    soft = labels.shape == logits.shape
    labels = labels.reshape(flat.shape if soft else -1)
    kept = (labels != _IGNORED).any(axis=1) if soft else labels != _IGNORED
    if not kept.any():
        raise InputError(f"All {len(labels)} labels are {_IGNORED}, which stands for no label.")
    return flat[kept], labels[kept]
