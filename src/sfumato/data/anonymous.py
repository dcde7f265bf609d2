"""Votes of which only the counts were published."""

from __future__ import annotations

__all__ = ["ANONYMOUS", "anonymous_votes"]

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sfumato.core.annotations import Annotations

# The one annotator to whom votes without a name are given.
ANONYMOUS = "anonymous"


def anonymous_votes(counts: NDArray[np.int64], *, items: Sequence[str], classes: Sequence[str]) -> Annotations:
    """Return each of the counted votes as an annotation by the annotator "anonymous".

    Views that count votes need no more. A view that learns of annotators sees one annotator with many votes per item,
    so it learns how the crowd as a whole errs.

    >>> votes = anonymous_votes(np.array([[2, 1]]), items=["a"], classes=["no", "yes"])
    >>> votes.n_annotations, votes.annotators, votes.counts().tolist()
    (3, ('anonymous',), [[2.0, 1.0]])
    """
    item, label = np.divmod(np.repeat(np.arange(counts.size), counts.ravel()), counts.shape[1])
    return Annotations.from_codes(
        item, np.zeros(len(item), dtype=np.int32), label, items=items, annotators=(ANONYMOUS,), classes=classes
    )
