"""Zero-based skill: loops over the rows, the schedule of the rate, and the figures of another program."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.aggregate.zero_based_skill import zero_based_skill
from sfumato.core.annotations import Annotations
from sfumato.errors import ConvergenceWarning, OptionError

_ROWS = st.lists(
    st.tuples(st.sampled_from("abcd"), st.sampled_from("uvwxyz"), st.sampled_from("KLM")), min_size=1, max_size=30
)


def _slow(
    rows: list[tuple[str, str, str]], classes: str, *, steps: int = 100, rate: float = 1.0, every: int = 20
) -> tuple[dict[str, float], dict[str, list[float]]]:
    """All steps of the definition by loops over the rows, without stopping early."""
    items = {item for item, _, _ in rows}
    skill = {who: 1 / len(classes) + 1e-5 for _, who, _ in rows}

    def weights(item: str) -> dict[str, float]:
        return {k: sum(skill[j] for i, j, label in rows if (i, label) == (item, k)) for k in classes}

    for step in range(1, steps + 1):
        if step % every == 0:
            rate *= 0.5
        top = {}
        for item in items:
            weight = weights(item)
            # Sums that differ in the last bits only are tied, and ties go to the first.
            top[item] = next(k for k in classes if weight[k] >= max(weight.values()) * (1 - 1e-9))
        for who in skill:
            own = [top[item] == label for item, annotator, label in rows if annotator == who]
            skill[who] += rate * (sum(own) / len(own) - skill[who])
    shares = {item: [w / sum(weights(item).values()) for w in weights(item).values()] for item in items}
    return skill, shares


@settings(max_examples=30, deadline=None)
@given(_ROWS)
@pytest.mark.filterwarnings("ignore::sfumato.errors.ConvergenceWarning")
def test_against_loops(rows: list[tuple[str, str, str]]) -> None:
    votes = Annotations.from_rows(*zip(*rows, strict=True), classes=["K", "L", "M"])
    result = zero_based_skill(votes)
    skill, shares = _slow(rows, "KLM")
    assert result.annotators.competence is not None
    np.testing.assert_allclose(result.annotators.competence, [skill[j] for j in votes.annotators], atol=1e-10)
    np.testing.assert_allclose(result.soft_labels.probs, [shares[i] for i in votes.items], atol=1e-10)


@pytest.mark.parametrize(("steps", "rate", "every"), [(1, 0.3, 20), (7, 0.3, 3), (4, 1.0, 1)])
def test_the_schedule_of_the_rate(steps: int, rate: float, every: int) -> None:
    rows = [(f"i{i}", f"j{j}", "KLM"[(i * j + j // 2) % 3]) for i in range(6) for j in range(5)]
    votes = Annotations.from_rows(*zip(*rows, strict=True), classes=["K", "L", "M"])
    with pytest.warns(ConvergenceWarning, match=f"still moved after {steps} steps"):
        result = zero_based_skill(votes, max_iter=steps, learning_rate=rate, reduce_every=every)
    skill, _ = _slow(rows, "KLM", steps=steps, rate=rate, every=every)
    assert result.annotators.competence is not None
    np.testing.assert_allclose(result.annotators.competence, [skill[j] for j in votes.annotators], atol=1e-12)
    assert (result.converged, result.n_iter, len(result.trace)) == (False, steps, steps)


def test_it_ends_when_no_skill_moves() -> None:
    votes = Annotations.from_rows("aaabbb", "uvwuvw", "KKLLLL")
    result = zero_based_skill(votes)
    assert result.converged
    assert result.n_iter == 2
    assert result.trace[-1] == 0
    assert result.annotators.competence is not None
    assert result.annotators.competence.tolist() == [1, 1, 0.5]


def test_who_said_nothing_keeps_the_skill_of_the_start() -> None:
    votes = Annotations.from_rows("iij", "uvw", "AAB").take_annotations(np.array([0, 1]))
    competence = zero_based_skill(votes).annotators.competence
    assert competence is not None
    assert competence.tolist() == [1, 1, 0.5 + 1e-5]


def test_the_figures_of_crowd_kit_on_textual_entailment(load_data: Callable[[str], sf.data.DataSet]) -> None:
    data = load_data("rte")
    assert data.annotations is not None
    assert data.gold is not None
    result = zero_based_skill(data.annotations)
    probs = result.soft_labels.probs
    assert result.annotators.competence is not None
    assert (probs.argmax(axis=1) == data.gold.aligned(result.soft_labels.items, ["0", "1"])).mean() == 0.92125
    # crowd-kit 1.4.2
    assert result.annotators.competence.sum() == pytest.approx(140.46799359509885, abs=1e-10)
    assert (probs[:, 1] ** 2).sum() == pytest.approx(315.90558160838276, abs=1e-9)
    assert result.soft_labels["266"].tolist() == pytest.approx([0.19334435299195318, 0.8066556470080467], abs=1e-13)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"ties": "last"}, "'ties' must be one of"),
        ({"max_iter": 0}, "'max_iter' and 'reduce_every' must be at least 1. Got 0 and 20"),
        ({"reduce_every": 0}, "Got 100 and 0"),
        ({"learning_rate": 0.0}, "'learning_rate' must be above 0 and at most 1. Got 0.0"),
        ({"learning_rate": 1.5}, "Got 1.5"),
        ({"reduce_by": 2.0}, "'reduce_by'"),
    ],
)
def test_options_out_of_range_are_refused(options: dict[str, object], told: str) -> None:
    with pytest.raises(OptionError, match=told):
        zero_based_skill(Annotations.from_rows("i", "u", "A"), **options)  # type: ignore[arg-type]
