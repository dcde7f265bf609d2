"""Items, annotators and classes of which nothing is known: every method says so."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato.aggregate import average
from sfumato.aggregate.methods import VIEWS
from sfumato.core.annotations import Annotations

VOTES = Annotations.from_codes(
    [0, 0, 1], [0, 1, 0], [0, 0, 1],
    items=["a", "b", "never"], annotators=["x", "y", "silent"], classes=["k", "l", "unseen"],
)  # fmt: skip


@pytest.mark.parametrize("name", VIEWS)
def test_every_view_tells_what_it_has_not_seen(name: str) -> None:
    result = VIEWS[name](VOTES)
    said = " ".join(result.notes)
    for what in ("1 of 3 items", "1 of 3 annotators", "1 of 3 classes"):
        assert what in said, name
    np.testing.assert_allclose(result.soft_labels["never"].sum(), 1)


def test_a_join_passes_on_what_its_views_say_and_says_it_once() -> None:
    notes = average(VOTES, names=["standard", "softmax"]).notes
    assert notes == VIEWS["standard"](VOTES).notes
    assert len(set(notes)) == len(notes) == 3
