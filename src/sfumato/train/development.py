"""Numbers on a split that choose the best epoch: a few, quick, and each as `sfumato.evaluate` would give it."""

from __future__ import annotations

__all__ = ["METRICS", "choose_metric", "is_better", "scores"]

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from sfumato.core.simplex import cross_entropy, entropy, jensen_shannon_divergence
from sfumato.errors import OptionError

# What each needs beside the predictions, gold or soft labels. A `*_score` is better when higher, the others when lower.
METRICS: Mapping[str, str] = {
    "accuracy_score": "gold",
    "f1_score": "gold",
    "soft_cross_entropy_loss": "soft",
    "jensen_shannon_divergence": "soft",
    "entropy_correlation_score": "soft",
}
# As in `sfumato.evaluate`, so that both give the same number.
_FLOOR = 1e-12


def scores(
    probs: NDArray[np.floating], *, soft: NDArray[np.floating] | None = None, gold: NDArray[np.integer] | None = None
) -> dict[str, float]:
    """Return every metric of `METRICS` that the labels allow, by name.

    *probs* and *soft* of shape (n_items, n_classes), *gold* of shape (n_items,). Items of which gold (below 0) or soft
    label (a row of nan) is missing are left out of what needs it.

    >>> found = scores(np.array([[0.9, 0.1], [0.4, 0.6]]), gold=np.array([0, 0]))
    >>> {name: round(value, 3) for name, value in found.items()}
    {'accuracy_score': 0.5, 'f1_score': 0.333}
    """
    found: dict[str, float] = {}
    if gold is not None and (gold >= 0).any():
        known = gold >= 0
        found["accuracy_score"], found["f1_score"] = _hard(probs[known].argmax(axis=1), gold[known], probs.shape[1])
    if soft is not None and not np.isnan(soft[:, 0]).all():
        known = ~np.isnan(soft[:, 0])
        q = probs[known].astype(np.float64)
        # Soft labels are held in single precision; their rows sum to one only roughly.
        p = soft[known].astype(np.float64)
        p /= p.sum(axis=1, keepdims=True)
        found["soft_cross_entropy_loss"] = float(cross_entropy(p, q, floor=_FLOOR).mean())
        found["jensen_shannon_divergence"] = float(jensen_shannon_divergence(q, p).mean())
        found["entropy_correlation_score"] = _correlation(entropy(q), entropy(p))
    return found


def choose_metric(wanted: str, *, target: str, has_soft: bool, has_gold: bool) -> str | None:
    """Return the metric that chooses the best epoch, or None where the dev split has no label.

    "auto" is the metric of what is learned: soft cross-entropy for soft targets, macro-F1 for gold (*target* "hard").
    """
    given = {"gold": has_gold, "soft": has_soft}
    if wanted != "auto":
        if not given[METRICS[wanted]]:
            words = {"gold": "gold labels", "soft": "soft labels"}[METRICS[wanted]]
            raise OptionError(f"The metric '{wanted}' needs {words} on the dev split, and it has none. Choose another.")
        return wanted
    first, second = (
        ("f1_score", "soft_cross_entropy_loss") if target == "hard" else ("soft_cross_entropy_loss", "f1_score")
    )
    return next((name for name in (first, second) if given[METRICS[name]]), None)


def is_better(metric: str, value: float, best: float | None) -> bool:
    """Return whether *value* is better than *best*; the first number is, one that is not a number never is.

    >>> is_better("accuracy_score", 0.9, 0.8), is_better("soft_cross_entropy_loss", 0.9, 0.8)
    (True, False)
    """
    if np.isnan(value):
        return False
    return best is None or (value > best if metric.endswith("_score") else value < best)


def _hard(chosen: NDArray[np.integer], gold: NDArray[np.integer], n_classes: int) -> tuple[float, float]:
    """Return accuracy and macro-F1; a gold class that the model does not know (code n_classes) counts as missed."""
    size = n_classes + 1
    confusion = np.bincount(gold * size + chosen, minlength=size * size).reshape(size, size).astype(np.float64)
    right, said, true = np.diagonal(confusion), confusion.sum(axis=0), confusion.sum(axis=1)
    seen = (said + true) > 0
    return float(right.sum() / confusion.sum()), float((2 * right[seen] / (said + true)[seen]).mean())


def _correlation(left: NDArray[np.floating], right: NDArray[np.floating]) -> float:
    left, right = left - left.mean(), right - right.mean()
    size = float(np.sqrt((left**2).sum() * (right**2).sum()))
    # Entropies that differ by rounding alone say nothing.
    return float((left * right).sum() / size) if size > 1e-12 * len(left) else float("nan")
