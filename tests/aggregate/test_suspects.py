"""Spammers: planted ones are found, nobody else is accused, and the parts agree with loops and enumeration."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import permutations

import numpy as np
import pytest

import sfumato as sf
from sfumato.aggregate.answers import Answers, in_canonical_order
from sfumato.aggregate.suspects import _product_of_scatters, suspected_spammers
from sfumato.core.annotations import Annotations
from sfumato.data.simulate import Simulation, simulate
from sfumato.errors import OptionError

_ACCUSED = ("spammer", "always the same class")


def _verdicts(planted: Simulation) -> Counter[tuple[bool, str]]:
    found = suspected_spammers(planted.annotations)
    return Counter(zip(planted.spammers.tolist(), found.verdicts, strict=True))


@pytest.mark.parametrize("soft", [False, True])
@pytest.mark.parametrize("spam", ["uniform", "constant", "random"])
def test_planted_spammers_are_found(spam: str, soft: bool) -> None:
    count = Counter[tuple[bool, str]]()
    for seed in range(4):
        count += _verdicts(
            simulate(n_items=1500, n_annotators=25, n_classes=4, spammers=0.2, spam=spam, seed=seed, soft=soft)
        )
    found = sum(count[True, verdict] for verdict in _ACCUSED)
    assert found >= 18, count  # of 20: one in a hundred looks informed by luck, one in a hundred contrary
    assert sum(count[False, verdict] for verdict in (*_ACCUSED, "contrary")) <= 1, count
    if spam == "constant" and not soft:
        assert count[True, "always the same class"] == found


@pytest.mark.parametrize("n_classes", [2, 5])
@pytest.mark.parametrize("soft", [False, True])
def test_nobody_is_accused_where_all_know_the_same(n_classes: int, soft: bool) -> None:
    # The share of false accusations among all annotators; the procedure promises it for accusations alone.
    accused = 0
    for seed in range(5):
        planted = simulate(
            n_items=600, n_annotators=60, n_classes=n_classes, ability_concentration=1e9, seed=seed, soft=soft,
            confusion_concentration=np.inf, class_prior=[0.8] + [0.2 / (n_classes - 1)] * (n_classes - 1),
        )  # fmt: skip
        accused += sum(
            verdict in (*_ACCUSED, "contrary") for verdict in suspected_spammers(planted.annotations).verdicts
        )
    assert accused <= 3  # of 300


def test_weak_but_informed_annotators_are_not_accused() -> None:
    # Half the information of the others, and enough answers to tell it from none.
    rng = np.random.default_rng(5)
    truth = rng.integers(3, size=2000)
    right = np.array([0.8] * 8 + [0.5] * 2)
    said = np.where(rng.random((2000, 10)) < right, truth[:, None], rng.integers(3, size=(2000, 10)))
    found = suspected_spammers(_crowd(said))
    assert found.verdicts == ("",) * 10
    assert (found.information[8:] < 0.75).all()


def test_contrarians_are_not_called_spammers() -> None:
    rng = np.random.default_rng(1)
    truth = rng.integers(3, size=400)
    said = np.where(rng.random((400, 8)) < 0.8, truth[:, None], rng.integers(3, size=(400, 8)))
    said[:, 0] = (said[:, 0] + 1) % 3  # always the next class
    said[:, 1] = np.where(said[:, 1] == 2, 2, 1 - said[:, 1])  # two classes exchanged
    said[:, 2] = rng.integers(3, size=400)
    # Who exchanges two of three classes agrees on the third, about as often as chance: no spammer for that.
    assert suspected_spammers(_crowd(said)).verdicts == ("contrary", "contrary", "spammer", *[""] * 5)


def test_few_answers_do_not_tell() -> None:
    rng = np.random.default_rng(2)
    truth = rng.integers(2, size=300)
    said = np.where(rng.random((300, 6)) < 0.8, truth[:, None], rng.integers(2, size=(300, 6)))
    said[:, 5] = rng.integers(2, size=300)
    said[6:, 5] = -1
    found = suspected_spammers(_crowd(said))
    assert found.verdicts[5] == "unclear"
    assert found.n_compared.tolist() == [300] * 5 + [6]
    assert np.isnan(found.p[5])


def test_where_nobody_agrees_nobody_can_be_told() -> None:
    said = np.random.default_rng(0).integers(3, size=(200, 5))
    found = suspected_spammers(_crowd(said))
    assert not set(found.verdicts) & set(_ACCUSED)
    lone = Annotations.from_rows(["a", "b"], ["x", "y"], ["1", "2"])
    assert suspected_spammers(lone).verdicts == ("unclear",) * 2
    one_class = Annotations.from_rows(["a", "a"], ["x", "y"], ["1", "1"])
    assert suspected_spammers(one_class).verdicts == ("unclear",) * 2


def test_two_who_copy_do_not_vouch_for_one_another() -> None:
    rng = np.random.default_rng(3)
    truth = rng.integers(3, size=500)
    said = np.where(rng.random((500, 5)) < 0.8, truth[:, None], rng.integers(3, size=(500, 5)))
    said[:, 3] = rng.integers(3, size=500)
    said[:, 4] = said[:, 3]
    votes = _crowd(said)
    assert suspected_spammers(votes).verdicts[3:] == ("", "")
    assert suspected_spammers(votes, apart=[("j3", "j4")]).verdicts == ("", "", "", "spammer", "spammer")


def test_information_against_loops() -> None:
    planted = simulate(n_items=60, n_annotators=6, n_classes=3, per_item=3.5, seed=4).annotations
    found = suspected_spammers(planted)
    rows = [(planted.item[r], planted.annotator[r], planted.label[r]) for r in range(len(planted.item))]
    eye = np.eye(3)
    overall = np.mean([eye[k] for _, _, k in rows], axis=0)
    pairs = [
        np.mean([a == b for m, a in enumerate(labels) for n, b in enumerate(labels) if m != n])
        for labels in ([k for i, _, k in rows if i == item] for item in range(60))
        if len(labels) > 1
        for _ in labels
    ]
    kappa = (np.mean(pairs) - (overall**2).sum()) / (1 - (overall**2).sum())
    for j in range(6):
        own, expected = [], []
        for item, who, label in rows:
            others = [eye[k] for i, other, k in rows if i == item and other != j]
            if who == j and others:
                weight = len(others) / (len(others) + (1 - kappa) / kappa)
                own.append(eye[label])
                expected.append(overall + weight * (np.mean(others, axis=0) - overall))
        centred = np.array(expected) - np.mean(expected, axis=0)
        assert found.n_compared[j] == len(own)
        assert found.information[j] == pytest.approx((np.array(own) * centred).sum() / (centred**2).sum(), abs=1e-12)


def test_the_usual_information_is_one() -> None:
    means = [
        np.nanmean(suspected_spammers(simulate(n_items=800, per_item=per, seed=7).annotations).information)
        for per in (2, 5)
    ]
    assert means == pytest.approx([1, 1], abs=0.1)


@pytest.mark.parametrize("n_classes", [3, 9])
def test_variance_under_permutation_by_all_permutations(n_classes: int) -> None:
    rng = np.random.default_rng(n_classes)
    own, others = rng.dirichlet(np.ones(n_classes), size=(2, 6))
    own, others = own - own.mean(axis=0), others - others.mean(axis=0)
    sums = [(own[list(order)] * others).sum() for order in permutations(range(6))]
    assert np.mean(sums) == pytest.approx(0, abs=1e-12)
    assert _product_of_scatters(own, others) / 5 == pytest.approx(np.var(sums), rel=1e-10)


def test_the_order_of_the_rows_changes_nothing() -> None:
    votes = simulate(n_items=150, n_annotators=12, spammers=0.25, seed=6).annotations
    rows = [
        (votes.items[i], votes.annotators[j], votes.classes[k])
        for i, j, k in zip(votes.item, votes.annotator, votes.label, strict=True)
    ]
    shuffled = [rows[r] for r in np.random.default_rng(0).permutation(len(rows))]
    first, second = (
        suspected_spammers(Annotations.from_rows(*zip(*order, strict=True), classes=votes.classes))
        for order in (rows, shuffled)
    )
    here, there = (
        {name: (n, i, p, q, v) for name, n, i, p, q, v in zip(
            found.annotators, found.n_compared, found.information.tolist(), found.p.tolist(),
            found.p_adjusted.tolist(), found.verdicts, strict=True,
        )}
        for found in (first, second)
    )  # fmt: skip
    assert here == there
    assert first.annotators != second.annotators


def test_on_textual_entailment_the_suspects_are_at_chance(load_data: Callable[[str], sf.data.DataSet]) -> None:
    data = load_data("rte")
    assert data.annotations is not None
    assert data.gold is not None
    found = suspected_spammers(data.annotations)
    ordered = in_canonical_order(data.annotations)
    answers = Answers.of(ordered)
    gold = data.gold.aligned(ordered.items, ordered.classes)
    accuracy = {}
    for j, name in enumerate(ordered.annotators):
        rows = answers.rows_of(j)
        accuracy[name] = (answers.said[rows].toarray().argmax(axis=1) == gold[answers.item[rows]]).mean()
    accused = [name for name, verdict in zip(found.annotators, found.verdicts, strict=True) if verdict in _ACCUSED]
    assert len(accused) == 4
    assert all(0.49 < accuracy[name] < 0.51 for name in accused)


def test_options_are_checked() -> None:
    with pytest.raises(OptionError, match="'false_discovery_rate' must be between 0 and 1"):
        suspected_spammers(_crowd(np.zeros((3, 2), dtype=int)), false_discovery_rate=0)


def _crowd(said: np.ndarray) -> Annotations:
    """Annotations of items i by annotators j from a table of labels; −1 is no answer."""
    i, j = np.nonzero(said >= 0)
    return Annotations.from_codes(
        i, j, said[i, j], items=[f"i{n:04}" for n in range(said.shape[0])],
        annotators=[f"j{n}" for n in range(said.shape[1])], classes=[str(k) for k in range(max(2, said.max() + 1))],
    )  # fmt: skip
