"""Dirichlet posteriors of the variational fits: expected logarithms and the divergence from the prior."""

from __future__ import annotations

__all__ = ["dirichlet_divergence", "expected_logs"]

import numpy as np
from numpy.typing import NDArray


def expected_logs(alpha: NDArray[np.float64], *, axis: int = -1) -> NDArray[np.float64]:
    """Return E[log p] under Dirichlet(alpha): ψ(α_l) − ψ(Σ α).

    >>> expected_logs(np.array([1.0, 1.0])).tolist()
    [-1.0, -1.0]
    """
    from scipy.special import psi

    result: NDArray[np.float64] = psi(alpha) - psi(alpha.sum(axis=axis, keepdims=True))
    return result


def dirichlet_divergence(
    alpha: NDArray[np.float64],
    prior: NDArray[np.float64],
    *,
    axis: int = -1,
    logs: NDArray[np.float64] | None = None,
) -> float:
    """Return Σ KL(Dirichlet(alpha) ‖ Dirichlet(prior)) over all rows; *axis* counts from the end.

    *prior* is broadcast against *alpha*. *logs* are the `expected_logs` of *alpha* where they are known already: they
    are half the work.

    >>> dirichlet_divergence(np.array([[2.0, 3.0], [1.0, 1.0]]), np.array([2.0, 3.0])) > 0
    True
    """
    from scipy.special import gammaln

    rows = gammaln(alpha.sum(axis=axis)) - gammaln(prior.sum(axis=axis))
    if logs is None:
        logs = expected_logs(alpha, axis=axis)
    cells = gammaln(alpha) - gammaln(prior) - (alpha - prior) * logs
    return float(rows.sum() - cells.sum())
