"""The Jensen–Shannon centroid of views."""

from __future__ import annotations

__all__ = ["centroid", "centroid_result"]

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from sfumato.aggregate.centroid_solver import Centroids, centroids
from sfumato.aggregate.joining import Aligned, JoinResult, ViewNames, Views, Weights, aligned, join_result
from sfumato.core.seeds import Seed
from sfumato.errors import ConvergenceWarning

# What is promised of every item; the solver aims a hundred times lower.
_RESIDUAL = 1e-9


def centroid(
    views: Views,
    *,
    names: ViewNames | None = None,
    weights: Weights | None = None,
    threads: int | None = None,
    seed: Seed = 0,
) -> JoinResult:
    """Return for each item the distribution that is nearest to all views, shape (n_items, n_classes).

    q = argmin_Q Σ_m w_m JSD(p_m‖Q), the unique minimiser (Nielsen 2020; Wright and Augenstein 2024, Equation 2), found
    to rounding: ``residuals`` bounds max_k |Σ_m w_m log(2 q_k/(q_k + p_mk)) − μ| of each item, over the classes that
    some view gives mass. A class without mass in any view gets exactly 0, and nothing is clipped; a share below the
    smallest normal float (2·10⁻³⁰⁸) has fewer digits or is 0. *views* are soft labels of the same items and classes,
    or annotations, of which the views *names* are then made.

    >>> from sfumato.core.soft_labels import SoftLabels
    >>> first = SoftLabels([[1.0, 0.0, 0.0]], items=["a"], classes=["cat", "dog", "bird"])
    >>> second = SoftLabels([[0.5, 0.5, 0.0]], items=["a"], classes=["cat", "dog", "bird"])
    >>> centroid([first, second]).soft_labels.probs.round(4).tolist()
    [[0.809, 0.191, 0.0]]
    """
    given = aligned(views, names=names, weights=weights, seed=seed)
    found = centroids(given.probs, given.weights, threads=threads)
    return centroid_result(given, found, "centroid", {}, seed)


def centroid_result(
    given: Aligned, found: Centroids, method: str, options: Mapping[str, Any], seed: Seed, **evidence: Any
) -> JoinResult:
    """Return the result of a join that ends with a centroid, with its residuals and steps."""
    converged = bool((found.residuals <= _RESIDUAL).all())
    if not converged:
        n_left = int(np.count_nonzero(~(found.residuals <= _RESIDUAL)))
        warnings.warn(f"The centroid of {n_left} items is not exact.", ConvergenceWarning, stacklevel=3)
    return join_result(
        given, found.probs, method, options, seed,
        converged=converged, n_iter=int(found.steps.max(initial=0)),
        residuals=found.residuals, steps=found.steps, **evidence,
    )  # fmt: skip
