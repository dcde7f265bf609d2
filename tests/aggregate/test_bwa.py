"""BWA against its updates written as loops, a quadrature of its density, and the accuracies its authors printed."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import gamma, norm

import sfumato as sf
from sfumato.aggregate.bwa import bwa
from sfumato.core.annotations import Annotations
from sfumato.errors import ConvergenceWarning, OptionError


def small_votes(n_items: int = 15, n_annotators: int = 6, n_classes: int = 3, seed: int = 0) -> Annotations:
    rng = np.random.default_rng(seed)
    truth = rng.integers(n_classes, size=n_items)
    rows = [(i, j) for i in range(n_items) for j in range(n_annotators) if rng.random() < 0.8]
    labels = [truth[i] if rng.random() < 0.9 - 0.1 * j else rng.integers(n_classes) for i, j in rows]
    return Annotations.from_rows(
        [f"i{i:02}" for i, _ in rows], [f"a{j}" for _, j in rows], [str(k) for k in labels],
        classes=[str(k) for k in range(n_classes)],
    )  # fmt: skip


def soft_votes() -> Annotations:
    rng = np.random.default_rng(3)
    panel = [(i, j) for i in range(10) for j in range(5) if rng.random() < 0.8]
    spread = rng.dirichlet([0.5, 0.5, 0.5], len(panel))
    item, annotator = (np.repeat([pair[side] for pair in panel], 3) for side in (0, 1))
    return Annotations.from_codes(
        item, annotator, np.tile(np.arange(3), len(panel)), weight=spread.ravel(),
        items=[f"i{i}" for i in range(10)], annotators=[f"a{j}" for j in range(5)], classes=["0", "1", "2"],
    )  # fmt: skip


def measurements(votes: Annotations, k: int) -> list[tuple[int, int, float]]:
    """(item, annotator, y) of every annotation for the class *k*."""
    found = []
    for start, stop in zip(votes.starts[:-1], votes.starts[1:], strict=True):
        y = sum(votes.weight[row] for row in range(start, stop) if votes.label[row] == k)
        found.append((int(votes.item[start]), int(votes.annotator[start]), float(y)))
    return found


def slow_bwa(votes: Annotations, a: float = 15.0, lam: float = 1.0, steps: int = 400) -> np.ndarray:
    """The averages z after many rounds of the published updates, one class at a time."""
    z = np.zeros((votes.n_items, votes.n_classes))
    for k in range(votes.n_classes):
        said = measurements(votes, k)
        share = [np.mean([y for i, _, y in said if i == item]) for item in range(votes.n_items)]
        spread = sum((y - share[i]) ** 2 for i, _, y in said) / len(said)
        b = a * 4 * (1 - 1 / votes.n_classes) * spread
        zk = list(share)
        for _ in range(steps):
            mu = sum(zk) / len(zk)
            v = [
                (a + sum(1 for _, j, _ in said if j == who))
                / (b + sum((y - zk[i]) ** 2 for i, j, y in said if j == who))
                for who in range(votes.n_annotators)
            ]
            zk = [
                (lam * mu + sum(v[j] * y for i, j, y in said if i == item))
                / (lam + sum(v[j] for i, j, _ in said if i == item))
                for item in range(votes.n_items)
            ]
        z[:, k] = zk
    return z


@pytest.mark.parametrize("votes", [small_votes(), small_votes(20, 5, 2, seed=4), soft_votes()])
@pytest.mark.parametrize(("a", "lam"), [(15.0, 1.0), (3.0, 0.2)])
def test_the_loops_give_the_same(votes: Annotations, a: float, lam: float) -> None:
    z = slow_bwa(votes, a, lam, steps=200)
    result = bwa(votes, shape=a, shrinkage=lam, tolerance=1e-13, max_iter=5000)
    np.testing.assert_allclose(result.soft_labels.probs, z / z.sum(axis=1, keepdims=True), atol=1e-9)
    agreed = np.zeros(votes.n_annotators)
    for k in range(votes.n_classes):
        for i, j, y in measurements(votes, k):
            agreed[j] += y * result.soft_labels.probs[i, k]
    np.testing.assert_allclose(result.annotators.competence, agreed / votes.per_annotator(), atol=1e-12)


def test_the_objective_is_the_density_with_the_precisions_integrated_out() -> None:
    votes = small_votes(6, 3, 2, seed=2)
    a, lam = 4.0, 0.7
    result = bwa(votes, shape=a, shrinkage=lam, tolerance=1e-12, max_iter=5000)
    z = slow_bwa(votes, a, lam)
    total = 0.0
    for k in range(2):
        said = measurements(votes, k)
        share = [np.mean([y for i, _, y in said if i == item]) for item in range(6)]
        b = a * 2 * sum((y - share[i]) ** 2 for i, _, y in said) / len(said)
        for who in range(3):

            def density(v: float, k: int = k, who: int = who, b: float = b) -> float:
                votes_of = [norm.pdf(y, z[i, k], v**-0.5) for i, j, y in measurements(votes, k) if j == who]
                return float(math.prod(votes_of) * gamma.pdf(v, a / 2, scale=2 / b))

            total += math.log(quad(density, 0, np.inf, epsabs=1e-12, limit=200)[0])
        total += norm.logpdf(z[:, k], z[:, k].mean(), lam**-0.5).sum()
    assert result.trace[-1] == pytest.approx(total, abs=1e-6)


@pytest.mark.parametrize("votes", [small_votes(40, 8, 4, seed=6), soft_votes()])
def test_the_objective_never_falls(votes: Annotations) -> None:
    trace = np.array(bwa(votes, tolerance=1e-12, max_iter=5000).trace)
    assert np.diff(trace).min() > -1e-9 * abs(trace[-1])
    assert trace[-1] > trace[0]


def test_one_item_by_hand() -> None:
    # One item: μ = z, so z = Σ v y / Σ v; by symmetry all annotators who say "1" have one precision and the others
    # another, v = 16 / (b + (y − z)²), with b = 15·2·(2/3)(1/3).
    votes = Annotations.from_rows("aaa", "xyz", "110")
    z, b = 2 / 3, 15 * 2 * 2 / 9
    for _ in range(200):
        yes, no = 16 / (b + (1 - z) ** 2), 16 / (b + z**2)
        z = (z + 2 * yes) / (1 + 2 * yes + no)
    result = bwa(votes, tolerance=1e-14, max_iter=5000)
    np.testing.assert_allclose(result.soft_labels.probs, [[1 - z, z]], atol=1e-9)


def test_votes_without_any_dissent_stay_finite_and_clear() -> None:
    result = bwa(Annotations.from_rows("aabbcc", "xyxyxy", "001100", classes=["0", "1", "never"]))
    assert result.soft_labels.top() == ("0", "1", "0")
    assert np.isfinite(result.trace).all()
    assert result.soft_labels.probs.max(axis=1).min() > 0.85
    np.testing.assert_array_equal(result.soft_labels.probs[:, 2], 0)


def test_the_better_annotator_outweighs_two_poor_ones() -> None:
    rng = np.random.default_rng(0)
    rows = [(f"{i:03}", who, str(i % 2)) for i in range(100) for who in ("x", "y", "z")]
    rows += [(f"{i:03}", who, str(rng.integers(2))) for i in range(100) for who in ("p", "q")]
    rows += [("new", "x", "1"), ("new", "p", "0"), ("new", "q", "0")]
    result = bwa(Annotations.from_rows(*zip(*rows, strict=True)))
    assert result.soft_labels["new"].argmax() == 1
    assert result.annotators.competence is not None
    assert result.annotators.competence[0] > result.annotators.competence[3]


def test_certain_distributions_are_votes() -> None:
    votes = small_votes()
    certain = Annotations.from_codes(
        votes.item, votes.annotator, votes.label, weight=np.ones(len(votes.item)), items=votes.items,
        annotators=votes.annotators, classes=votes.classes,
    )  # fmt: skip
    np.testing.assert_array_equal(bwa(certain).soft_labels.probs, bwa(votes).soft_labels.probs)


def test_bits_do_not_depend_on_the_order_of_rows_and_classes_can_be_permuted() -> None:
    votes = small_votes(60, 7, 4, seed=8)
    codes = zip(votes.item, votes.annotator, votes.label, strict=True)
    names = [(votes.items[i], votes.annotators[j], votes.classes[k]) for i, j, k in codes]
    order = np.random.default_rng(0).permutation(len(names))
    shuffled = bwa(Annotations.from_rows(*zip(*(names[o] for o in order), strict=True), classes=votes.classes))
    straight = bwa(votes)
    np.testing.assert_array_equal(shuffled.soft_labels.take(votes.items).probs, straight.soft_labels.probs)
    assert shuffled.trace == straight.trace
    permuted = bwa(Annotations.from_rows(*zip(*names, strict=True), classes=["2", "0", "3", "1"]))
    np.testing.assert_allclose(
        permuted.soft_labels.with_classes(votes.classes).probs, straight.soft_labels.probs, atol=1e-12
    )


def test_a_hundred_thousand_annotators_of_one_item() -> None:
    n = 100_000
    votes = Annotations.from_codes(
        np.zeros(n, dtype=int), np.arange(n), (np.arange(n) % 5 == 0).astype(int), items=["a"],
        annotators=[f"{j:06}" for j in range(n)], classes=["no", "yes"],
    )  # fmt: skip
    z, b = 0.2, 15 * 2 * 0.2 * 0.8
    for _ in range(100):
        yes, no = 0.2 / (b + (1 - z) ** 2), 0.8 / (b + z**2)
        z = yes / (yes + no)
    np.testing.assert_allclose(bwa(votes, tolerance=1e-12).soft_labels.probs, [[1 - z, z]], atol=1e-5)


def test_what_was_never_seen_gets_the_mean_and_is_said() -> None:
    votes = Annotations.from_codes(
        [0, 0, 2, 3], [0, 1, 1, 0], [0, 0, 1, 0], items=["a", "silent", "c", "d"], annotators=["x", "y", "mute"],
        classes=["0", "1"],
    )  # fmt: skip
    result = bwa(votes, tolerance=1e-12, max_iter=2000)
    np.testing.assert_allclose(result.soft_labels.probs[1], result.soft_labels.probs[[0, 2, 3]].mean(axis=0), atol=1e-6)
    assert result.annotators.competence is not None
    assert np.isnan(result.annotators.competence[2])
    assert result.notes[0] == "Without an annotation: 1 of 4 items; the mean of the others stands there."
    empty = Annotations.from_codes(
        np.zeros(0, int), np.zeros(0, int), np.zeros(0, int), items=["a"], annotators=["x"], classes=["0", "1"]
    )
    np.testing.assert_array_equal(bwa(empty).soft_labels.probs, [[0.5, 0.5]])


def test_the_limit_warns_and_bad_options_are_refused() -> None:
    with pytest.warns(ConvergenceWarning, match="limit of 2 iterations"):
        result = bwa(small_votes(), max_iter=2)
    assert (result.converged, result.n_iter, len(result.trace)) == (False, 2, 2)
    for options in ({"max_iter": 0}, {"tolerance": -1.0}, {"shape": 0.0}, {"shrinkage": math.inf}):
        with pytest.raises(OptionError, match=next(iter(options))):
            bwa(small_votes(), **options)


# Li, Rubinstein & Cohn print these in the notebook beside their program (ties shared); the sets with repeated rows,
# of which they drop some, are left out.
@pytest.mark.parametrize(
    ("name", "accuracy"),
    [("CF", 0.893333), ("MS", 0.785714), ("SP", 0.916983), ("SP_amt", 0.946), ("product", 0.919423), ("rte", 0.9275)],
)
def test_published_accuracies(load_data: Callable[[str], sf.data.DataSet], name: str, accuracy: float) -> None:
    data = load_data(f"truth_inference/{name}")
    assert data.annotations is not None
    assert data.gold is not None
    result = bwa(data.annotations)
    top = dict(zip(result.soft_labels.items, result.soft_labels.top(), strict=True))
    right = [top[item] == data.gold.classes[k] for item, k in zip(data.gold.items, data.gold.labels, strict=True)]
    assert np.mean(right) == pytest.approx(accuracy, abs=5e-7)
