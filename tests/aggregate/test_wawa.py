"""Wawa: a hand-worked case, loops over the rows, and the figures of another program on a real set."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.aggregate.wawa import wawa
from sfumato.core.annotations import Annotations
from sfumato.errors import OptionError

_ROWS = st.lists(
    st.tuples(st.sampled_from("abcd"), st.sampled_from("uvwxyz"), st.sampled_from("KLM")), min_size=1, max_size=30
)


def _slow(rows: list[tuple[str, str, str]], classes: str, *, share: bool) -> tuple[dict, dict]:
    """Skills and shares by loops over the rows, names as they are."""
    votes: dict[str, dict[str, float]] = defaultdict(lambda: dict.fromkeys(classes, 0.0))
    for item, _, label in rows:
        votes[item][label] += 1
    credit = {}
    for item, counts in votes.items():
        best = [k for k in classes if counts[k] == max(counts.values())]
        best = best if share else best[:1]
        credit[item] = {k: (k in best) / len(best) for k in classes}
    skill = {}
    for who in {annotator for _, annotator, _ in rows}:
        agreed = [credit[item][label] for item, annotator, label in rows if annotator == who]
        skill[who] = sum(agreed) / len(agreed)
    shares = {}
    for item in votes:
        weight = {k: sum(skill[j] for i, j, label in rows if (i, label) == (item, k)) for k in classes}
        total = sum(weight.values())
        shares[item] = [weight[k] / total for k in classes]
    return skill, shares


@settings(max_examples=60, deadline=None)
@given(_ROWS, st.booleans())
def test_against_loops(rows: list[tuple[str, str, str]], share: bool) -> None:
    votes = Annotations.from_rows(*zip(*rows, strict=True), classes=["K", "L", "M"])
    result = wawa(votes, ties="share" if share else "first")
    skill, shares = _slow(rows, "KLM", share=share)
    assert result.annotators.competence is not None
    np.testing.assert_allclose(result.annotators.competence, [skill[j] for j in votes.annotators], atol=1e-12)
    np.testing.assert_allclose(result.soft_labels.probs, [shares[i] for i in votes.items], atol=1e-12)


def test_by_hand_with_distributions() -> None:
    rows = [("i", "u", "A", 0.6), ("i", "u", "B", 0.4), ("i", "v", "A", 1.0), ("i", "w", "B", 1.0)]
    items, annotators, labels, weights = zip(*rows, strict=True)
    result = wawa(Annotations.from_rows(items, annotators, labels, weights=weights))
    # The majority is A (1.6 to 1.4): the skills are 0.6, 1 and 0; A gets 0.6·0.6 + 1, B 0.6·0.4.
    assert result.annotators.competence is not None
    assert result.annotators.competence.tolist() == pytest.approx([0.6, 1, 0], abs=1e-14)
    assert result.soft_labels.probs.tolist() == [pytest.approx([1.36 / 1.6, 0.24 / 1.6], abs=1e-14)]


def test_who_said_nothing_has_no_competence() -> None:
    votes = Annotations.from_rows("iij", "uvw", "AAB").take_annotations(np.array([0, 1]))
    result = wawa(votes)
    assert result.annotators.competence is not None
    np.testing.assert_array_equal(result.annotators.competence, [1, 1, np.nan])
    assert result.soft_labels.probs.tolist() == [[1, 0], [0.5, 0.5]]
    assert result.notes[0] == "Without an annotation: 1 of 2 items; the uniform distribution stands there."


def test_the_figures_of_crowd_kit_on_textual_entailment(load_data: Callable[[str], sf.data.DataSet]) -> None:
    data = load_data("rte")
    assert data.annotations is not None
    assert data.gold is not None
    result = wawa(data.annotations)
    probs = result.soft_labels.probs
    assert result.annotators.competence is not None
    assert (probs.argmax(axis=1) == data.gold.aligned(result.soft_labels.items, ["0", "1"])).mean() == 0.92125
    # crowd-kit 1.4.2
    assert result.annotators.competence.sum() == pytest.approx(140.26237050960736, abs=1e-10)
    assert (probs[:, 1] ** 2).sum() == pytest.approx(315.91932384497045, abs=1e-9)
    assert result.soft_labels["266"].tolist() == pytest.approx([0.19366177430827466, 0.8063382256917253], abs=1e-13)


def test_an_unknown_tie_rule_is_refused() -> None:
    with pytest.raises(OptionError, match="'ties'"):
        wawa(Annotations.from_rows("i", "u", "A"), ties="last")  # type: ignore[arg-type]
