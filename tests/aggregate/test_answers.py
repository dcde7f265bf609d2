"""What each annotator said of each item, against loops over the rows."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.aggregate.answers import Answers, in_canonical_order
from sfumato.core.annotations import Annotations

_ROWS = st.lists(
    st.tuples(st.sampled_from("dbca"), st.sampled_from("zxyw"), st.sampled_from("KLM")), min_size=1, max_size=25
)


@settings(max_examples=60, deadline=None)
@given(_ROWS)
def test_against_loops_with_repeated_judgements(rows: list[tuple[str, str, str]]) -> None:
    votes = Annotations.from_rows(*zip(*rows, strict=True), classes=list("KLM"))
    ordered = in_canonical_order(votes)
    answers = Answers.of(ordered)
    pairs = sorted({(item, annotator) for item, annotator, _ in rows})
    assert [
        (ordered.items[i], ordered.annotators[j]) for i, j in zip(answers.item, answers.annotator, strict=True)
    ] == pairs
    agreement = answers.agreement()
    for row, (item, annotator) in enumerate(pairs):
        own = [label for i, j, label in rows if (i, j) == (item, annotator)]
        others = [label for i, j, label in rows if i == item and j != annotator]
        np.testing.assert_allclose(
            answers.said[[row]].toarray()[0], [own.count(k) / len(own) for k in "KLM"], atol=1e-15
        )
        assert (answers.n[row], answers.n_others[row]) == (len(own), len(others))
        if others:
            share = np.mean([a == b for a in own for b in others])
            np.testing.assert_allclose(agreement[row], share, atol=1e-14)
        else:
            assert np.isnan(agreement[row])
    for j, name in enumerate(ordered.annotators):
        assert [ordered.items[i] for i in answers.item[answers.rows_of(j)]] == [i for i, who in pairs if who == name]


def test_distributions_are_averaged_over_repeats_and_agree_by_their_product() -> None:
    votes = Annotations.from_rows(
        ["i"] * 5,
        ["u", "u", "u", "v", "v"],
        list("KLKKL"),
        weights=[0.25, 0.75, 1, 0.5, 0.5],
        annotation=[0, 0, 1, 0, 0],
    )
    answers = Answers.of(in_canonical_order(votes))
    np.testing.assert_allclose(answers.said.toarray(), [[0.625, 0.375], [0.5, 0.5]], atol=1e-15)
    assert answers.n.tolist() == [2, 1]
    np.testing.assert_allclose(answers.agreement(), [0.5, 0.5], atol=1e-15)


def test_canonical_order_says_the_same() -> None:
    rng = np.random.default_rng(0)
    i, j = np.nonzero(rng.random((9, 6)) < 0.7)
    weight = rng.dirichlet(np.ones(3), size=len(i))
    names = {"items": list("heagbcdfi"), "annotators": list("zaybxc"), "classes": list("KLM")}
    votes = Annotations.from_codes(
        np.repeat(i, 3), np.repeat(j, 3), np.tile(np.arange(3), len(i)), weight=weight.ravel(), **names
    )
    ordered = in_canonical_order(votes)
    assert ordered.items == tuple("abcdefghi")
    assert ordered.annotators == tuple("abcxyz")
    assert ordered.fingerprint == votes.fingerprint
    assert in_canonical_order(ordered) is ordered
