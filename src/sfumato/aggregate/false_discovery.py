"""Many tests at once: what share of the findings may be false."""

from __future__ import annotations

__all__ = ["adjusted_p"]

import numpy as np
from numpy.typing import ArrayLike, NDArray


def adjusted_p(p: ArrayLike) -> NDArray[np.float64]:
    """Return Benjamini and Hochberg's adjusted p-values (1995); nan stays nan and does not count as a test.

    Findings with an adjusted p of at most q are false in a share of q at most, in the mean.

    >>> adjusted_p([0.01, 0.04, 0.03, np.nan]).round(3).tolist()
    [0.03, 0.04, 0.04, nan]
    """
    p = np.asarray(p, dtype=np.float64)
    result = np.full(p.shape, np.nan)
    tested = np.flatnonzero(~np.isnan(p))
    order = tested[np.argsort(p[tested], kind="stable")]
    scaled = p[order] * len(order) / np.arange(1, len(order) + 1)
    result[order] = np.minimum(np.minimum.accumulate(scaled[::-1])[::-1], 1)
    return result
