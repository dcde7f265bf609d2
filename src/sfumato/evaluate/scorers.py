"""Metrics where people already are: as a scikit-learn scorer, and as the compute_metrics of a Hugging Face trainer.

Neither package is imported: a scorer is any function of an estimator and data, and a trainer hands over plain arrays.
"""

from __future__ import annotations

__all__ = ["compute_metrics", "soft_scorer"]

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.core.simplex import softmax
from sfumato.core.soft_labels import SoftLabels
from sfumato.errors import InputError, OptionError
from sfumato.evaluate.metrics import METRICS, Metric, metric
from sfumato.evaluate.scores import scores

# Positions that a Hugging Face model is told to ignore.
_IGNORED = -100


def soft_scorer(name: str = "soft_cross_entropy_loss", **options: Any) -> Callable[[Any, Any, Any], float]:
    """Return a scikit-learn scorer: f(estimator, X, y), the higher the better, of the metric of that name.

    *y* are soft labels of shape (n_items, n_classes) or class numbers of shape (n_items,), whichever the metric needs.
    Losses, errors and divergences come out negative, as scikit-learn's own do. It goes wherever ``scoring`` does
    (cross_val_score, GridSearchCV). The columns of *y* are the classes 0 to K − 1; an estimator that saw only some of
    them says which in ``classes_``, and gives the others no mass.

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
        labels = y.probs if isinstance(y, SoftLabels) else np.asarray(y)
        n_classes = labels.shape[1] if labels.ndim == 2 else None
        value = chosen(_probabilities(estimator, X, n_classes), labels, **options)
        return value if chosen.higher_is_better else -value

    return score


def compute_metrics(metrics: Sequence[str] | None = None) -> Callable[[Any], dict[str, float]]:
    """Return a function for the ``compute_metrics`` of a Hugging Face trainer: (logits, labels) → numbers by name.

    Labels are class numbers, one for each item (or each token; those of −100 are left out), or soft labels of the shape
    of the logits. Without *metrics* all that such labels allow are worked out; the calibrated log loss only where it is
    named.

    >>> compute_metrics(["accuracy_score"])(([[2.0, 0.0], [0.0, 1.0]], [0, 0]))
    {'accuracy_score': 0.5}
    """
    chosen = [metric(name) for name in metrics] if metrics is not None else None

    def compute(predictions: Any) -> dict[str, float]:
        logits, labels = _pair(predictions)
        side = "people" if labels.ndim == 2 else "gold"
        wanted = chosen if chosen is not None else [one for one in METRICS.values() if _fits(one, side)]
        probs = softmax(logits)
        found = scores(
            probs, people=labels if side == "people" else None, gold=labels if side == "gold" else None,
            metrics=[one.name for one in wanted if one.needs != "logits"],
        ) if any(one.needs != "logits" for one in wanted) else {}  # fmt: skip
        found |= {one.name: one(logits, labels) for one in wanted if one.needs == "logits"}
        return {one.name: found[one.name] for one in wanted}

    return compute


def _fits(one: Metric, side: str) -> bool:
    return one.needs == side or (side == "people" and one.needs == "gold" and one.also_people)


def _probabilities(estimator: Any, X: Any, n_classes: int | None) -> NDArray[Any]:
    probs = np.asarray(estimator.predict_proba(X))
    known = np.asarray(getattr(estimator, "classes_", np.arange(probs.shape[1])))
    if n_classes is None or len(known) == n_classes:
        return probs
    if known.dtype.kind not in "iu" or known.min() < 0 or known.max() >= n_classes:
        raise InputError(
            f"The estimator knows {len(known)} classes and the soft labels have {n_classes} columns. "
            "Its classes_ must be column numbers, or as many as there are columns."
        )
    full = np.zeros((len(probs), n_classes), dtype=probs.dtype)
    full[:, known] = probs
    return full


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
    if labels.shape == logits.shape:
        return flat, labels.reshape(flat.shape)
    labels = labels.reshape(-1)
    kept = labels != _IGNORED
    if not kept.any():
        raise InputError(f"All {labels.size} labels are {_IGNORED}, which stands for no label.")
    return flat[kept], labels[kept]
