"""Laws that every registered aggregator obeys, and a planted fault that shows of each law that it can fail.

A law is a function of an aggregator, ``aggregate(annotations, seed) -> Result``, that raises AssertionError.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from sfumato.aggregate.methods import METHODS
from sfumato.aggregate.result import AnnotatorSkills, Result
from sfumato.aggregate.votes import majority, standard
from sfumato.core.annotations import Annotations
from sfumato.core.origin import Origin
from sfumato.core.soft_labels import SoftLabels

Aggregate = Callable[[Annotations, int], Result]
Row = tuple[str, str, str, float]

# What a method that stops at its limit of steps says is true, and beside the point here.
pytestmark = pytest.mark.filterwarnings("ignore::sfumato.errors.ConvergenceWarning")

_CLASSES = ("X", "Y", "Z")


def _rows(*, soft: bool, seed: int = 0) -> list[Row]:
    """Fifteen items judged by seven annotators of different skill, with gaps; no majority is tied."""
    rng = np.random.default_rng(seed)
    rows: list[Row] = []
    for i in range(15):
        for j in range(7):
            if i == 14 and j > 0:
                continue  # an item with one annotation
            if j == 6 and i not in (2, 14):
                continue  # an annotator with one
            if (i + j) % 6 == 5 and i != 14:
                continue
            right = rng.random() < (0.9, 0.9, 0.8, 0.8, 0.7, 0.4, 1.0)[j]
            label = _CLASSES[i % 3] if right else _CLASSES[rng.integers(3)]
            if soft:
                sure = 0.55 + 0.4 * rng.random()
                rows += [(f"i{i}", f"j{j}", name, sure if name == label else (1 - sure) / 2) for name in _CLASSES]
            else:
                rows.append((f"i{i}", f"j{j}", label, 1.0))
    return rows


def _annotations(rows: list[Row], classes: tuple[str, ...] = _CLASSES) -> Annotations:
    items, annotators, labels, weights = zip(*rows, strict=True)
    soft = any(weight != 1 for weight in weights)
    return Annotations.from_rows(items, annotators, labels, weights=weights if soft else None, classes=classes)


_DATA = {"hard": _rows(soft=False), "soft": _rows(soft=True)}


def _aligned(result: Result, like: Annotations, rename: Callable[[str], str] = str) -> SoftLabels:
    """The soft labels of *result* in the order of *like*; *rename* gives the name that a class has in the result."""
    return result.soft_labels.take(like.items).with_classes([rename(name) for name in like.classes])


def _competence(result: Result, annotators: list[str]) -> np.ndarray:
    skills = result.annotators
    if skills.competence is None:
        return np.zeros(len(annotators))
    return np.array([skills.competence[skills.annotators.index(name)] for name in annotators])


def rows_are_distributions(aggregate: Aggregate) -> None:
    for rows in _DATA.values():
        votes = _annotations(rows)
        soft = aggregate(votes, 0).soft_labels
        assert (soft.items, soft.classes) == (votes.items, votes.classes)
        assert soft.probs.shape == (votes.n_items, votes.n_classes)
        assert (soft.probs >= 0).all()
        np.testing.assert_allclose(soft.probs.sum(axis=1), 1, rtol=0, atol=1e-9)


def the_order_of_rows_changes_no_bit(aggregate: Aggregate) -> None:
    for rows in _DATA.values():
        votes = _annotations(rows)
        first = aggregate(votes, 0)
        for seed in range(3):
            other = aggregate(_annotations([rows[k] for k in np.random.default_rng(seed).permutation(len(rows))]), 0)
            assert np.array_equal(_aligned(other, votes).probs, first.soft_labels.probs)
            names = list(votes.annotators)
            if first.annotators.annotators:
                assert np.array_equal(_competence(other, names), _competence(first, names), equal_nan=True)


def annotators_are_treated_alike(aggregate: Aggregate) -> None:
    """Other names, in another alphabetical order, change what is random or rounded, and nothing else."""
    for rows in _DATA.values():
        votes = _annotations(rows)
        names = dict(zip(votes.annotators, np.random.default_rng(1).permutation(votes.annotators), strict=True))
        other = aggregate(_annotations([(i, names[j], k, w) for i, j, k, w in rows]), 0)
        first = aggregate(votes, 0)
        np.testing.assert_allclose(_aligned(other, votes).probs, first.soft_labels.probs, rtol=0, atol=1e-3)
        if first.annotators.annotators:
            there = _competence(other, [names[name] for name in votes.annotators])
            np.testing.assert_allclose(there, _competence(first, list(votes.annotators)), rtol=0, atol=1e-3)


def classes_are_treated_alike(aggregate: Aggregate) -> None:
    """Other names, in another order, move the columns, and nothing else."""
    names = {"X": "c", "Y": "a", "Z": "b"}
    for rows in _DATA.values():
        votes = _annotations(rows)
        other = aggregate(_annotations([(i, j, names[k], w) for i, j, k, w in rows], ("a", "b", "c")), 0)
        probs = _aligned(other, votes, names.__getitem__).probs
        np.testing.assert_allclose(probs, aggregate(votes, 0).soft_labels.probs, rtol=0, atol=1e-3)


def the_input_is_untouched(aggregate: Aggregate) -> None:
    for rows in _DATA.values():
        votes = _annotations(rows)
        aggregate(votes, 0)
        assert votes == _annotations(rows)
        assert not any(array.flags.writeable for array in (votes.item, votes.annotator, votes.label, votes.weight))


def the_same_seed_gives_the_same_bits(aggregate: Aggregate) -> None:
    votes = _annotations(_DATA["soft"])
    for seed in (0, 7):
        first, again = aggregate(votes, seed), aggregate(votes, seed)
        assert np.array_equal(first.soft_labels.probs, again.soft_labels.probs)
        assert first.trace == again.trace


def certain_distributions_are_votes(aggregate: Aggregate) -> None:
    """A distribution with all weight on a class is that vote, and one with nearly all is nearly that vote."""
    hard = _DATA["hard"]
    expected = aggregate(_annotations(hard), 0).soft_labels.probs
    items, annotators, labels, weights = zip(*hard, strict=True)
    certain = Annotations.from_rows(items, annotators, labels, weights=weights, classes=_CLASSES)
    assert np.array_equal(aggregate(certain, 0).soft_labels.probs, expected)
    tiny = 1e-9
    nearly = [(i, j, name, 1 - 2 * tiny if name == k else tiny) for i, j, k, _ in hard for name in _CLASSES]
    np.testing.assert_allclose(aggregate(_annotations(nearly), 0).soft_labels.probs, expected, rtol=0, atol=1e-3)


def little_is_enough(aggregate: Aggregate) -> None:
    """One item, one annotator, one class, one annotation, and items that nobody judged."""
    one_item = [("i", f"j{j}", label, 1.0) for j, label in enumerate("XXY")]
    one_annotator = [(f"i{i}", "j", label, 1.0) for i, label in enumerate("XXY")]
    cases = [_annotations(rows) for rows in (one_item, one_annotator, one_item[:1])]
    cases.append(_annotations([(i, j, "X", 1.0) for i, j, _, _ in _DATA["hard"]], ("X",)))
    cases.append(_annotations(_DATA["hard"]).take_annotations(np.arange(3)))
    for votes in cases:
        soft = aggregate(votes, 0).soft_labels
        assert soft.items == votes.items
        assert (soft.probs >= 0).all()
        np.testing.assert_allclose(soft.probs.sum(axis=1), 1, rtol=0, atol=1e-9)
    np.testing.assert_allclose(aggregate(cases[3], 0).soft_labels.probs, 1, rtol=0, atol=1e-12)
    assert aggregate(cases[0], 0).soft_labels.top() == ("X",)


def the_evidence_is_there(aggregate: Aggregate) -> None:
    votes = _annotations(_DATA["hard"])
    result = aggregate(votes, 5)
    assert result.soft_labels.origin.method in METHODS
    assert result.soft_labels.origin.seed == 5
    assert result.soft_labels.origin.fingerprint == votes.fingerprint
    assert result.annotators.annotators == votes.annotators
    assert result.annotators.n_annotations.tolist() == votes.per_annotator().tolist()
    competence = result.annotators.competence
    assert competence is None or competence.shape == (votes.n_annotators,)
    assert len(result.trace) in (0, result.n_iter, result.n_iter + 1)


_LAWS = (
    rows_are_distributions,
    the_order_of_rows_changes_no_bit,
    annotators_are_treated_alike,
    classes_are_treated_alike,
    the_input_is_untouched,
    the_same_seed_gives_the_same_bits,
    certain_distributions_are_votes,
    little_is_enough,
    the_evidence_is_there,
)


def _called(name: str) -> Aggregate:
    """A registered method as a function of annotations: a join with three views, a model with the shares of votes."""

    def aggregate(annotations: Annotations, seed: int) -> Result:
        method = METHODS[name]
        if method.needs == "views":
            return method(annotations, names=["standard", "softmax", "wawa"], seed=seed)
        if method.needs == "annotations and model":
            return method(annotations, model=standard(annotations).soft_labels, seed=seed)
        return method(annotations, seed=seed)

    return aggregate


@pytest.mark.parametrize("law", _LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize("name", METHODS)
def test_a_method_obeys(name: str, law: Callable[[Aggregate], None]) -> None:
    law(_called(name))


def _with(result: Result, probs: np.ndarray) -> Result:
    soft = result.soft_labels
    return replace(result, soft_labels=SoftLabels.trusted(probs, soft.items, soft.classes, soft.origin))


def _unnormalised(annotations: Annotations, seed: int) -> Result:
    return _with(standard(annotations, seed=seed), annotations.counts())


def _in_order_of_appearance(annotations: Annotations, seed: int) -> Result:
    # Rounding that depends on which annotator came first.
    weights = np.ones(annotations.n_annotators)
    weights[0] += 1e-12
    return _weighted(annotations, seed, weights)


def _by_alphabet(annotations: Annotations, seed: int) -> Result:
    weights = np.ones(annotations.n_annotators)
    weights[annotations.canonical_annotators[0]] = 0.5
    return _weighted(annotations, seed, weights)


def _weighted(annotations: Annotations, seed: int, weights: np.ndarray) -> Result:
    counts = np.zeros((annotations.n_items, annotations.n_classes))
    np.add.at(counts, (annotations.item, annotations.label), annotations.weight * weights[annotations.annotator])
    return _with(standard(annotations, seed=seed), counts / counts.sum(axis=1, keepdims=True))


def _first_class_favoured(annotations: Annotations, seed: int) -> Result:
    counts = annotations.counts() + np.eye(1, annotations.n_classes)
    return _with(standard(annotations, seed=seed), counts / counts.sum(axis=1, keepdims=True))


def _writing_into_the_input(annotations: Annotations, seed: int) -> Result:
    result = standard(annotations, seed=seed)
    annotations.label.flags.writeable = True
    annotations.label[0] = (annotations.label[0] + 1) % annotations.n_classes
    return result


def _unseeded(annotations: Annotations, seed: int) -> Result:
    return majority(annotations, ties="random") if seed else _with_noise(annotations)


def _with_noise(annotations: Annotations) -> Result:
    counts = annotations.counts() + np.random.default_rng().random(annotations.n_classes)
    return _with(standard(annotations), counts / counts.sum(axis=1, keepdims=True))


def _blind_to_weights(annotations: Annotations, seed: int) -> Result:
    counts = np.zeros((annotations.n_items, annotations.n_classes))
    np.add.at(counts, (annotations.item, annotations.label), 1)
    return _with(standard(annotations, seed=seed), counts / counts.sum(axis=1, keepdims=True))


def _needing_two(annotations: Annotations, seed: int) -> Result:
    counts = annotations.counts()
    with np.errstate(all="ignore"):
        rest = (counts - counts.max(axis=1, keepdims=True) / 2) / (annotations.n_annotators - 1)
        return _with(standard(annotations, seed=seed), np.abs(rest) / np.abs(rest).sum(axis=1, keepdims=True))


def _without_evidence(annotations: Annotations, seed: int) -> Result:
    result = standard(annotations, seed=seed)
    skills = AnnotatorSkills(annotations.annotators, np.zeros(annotations.n_annotators, dtype=np.int64))
    return replace(result, annotators=skills)


def _without_origin(annotations: Annotations, seed: int) -> Result:
    result = standard(annotations, seed=seed)
    return replace(result, soft_labels=replace(result.soft_labels, origin=Origin("standard", seed=seed)))


@pytest.mark.parametrize(
    ("law", "faulty"),
    [
        (rows_are_distributions, _unnormalised),
        (the_order_of_rows_changes_no_bit, _in_order_of_appearance),
        (annotators_are_treated_alike, _by_alphabet),
        (classes_are_treated_alike, _first_class_favoured),
        (the_input_is_untouched, _writing_into_the_input),
        (the_same_seed_gives_the_same_bits, _unseeded),
        (certain_distributions_are_votes, _blind_to_weights),
        (little_is_enough, _needing_two),
        (the_evidence_is_there, _without_evidence),
        (the_evidence_is_there, _without_origin),
    ],
    ids=lambda function: function.__name__.strip("_"),
)
def test_a_law_catches_a_planted_fault(law: Callable[[Aggregate], None], faulty: Aggregate) -> None:
    with pytest.raises(AssertionError):
        law(faulty)


def test_every_law_has_a_planted_fault() -> None:
    (marker,) = [m for m in test_a_law_catches_a_planted_fault.pytestmark if m.name == "parametrize"]  # type: ignore[attr-defined]
    assert {law for law, _ in marker.args[1]} == set(_LAWS)


def test_the_data_of_the_laws_has_no_tied_majority() -> None:
    for rows in _DATA.values():
        counts = np.sort(_annotations(rows).counts(), axis=1)
        assert (counts[:, -1] - counts[:, -2]).min() > 1e-6
