from __future__ import annotations

import numpy as np

from sfumato.data.anonymous import anonymous_votes


def test_every_counted_vote_is_an_annotation():
    counts = np.array([[0, 3, 1], [2, 0, 0], [0, 0, 0]])
    votes = anonymous_votes(counts, items=["x", "y", "z"], classes=["a", "b", "c"])
    assert votes.n_annotations == 6
    assert votes.is_hard
    assert votes.items == ("x", "y", "z")
    np.testing.assert_array_equal(votes.counts(), counts)
