"""EBCC against its mean-field updates written as loops, its bound term by term, and its authors' accuracies."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

import numpy as np
import pytest
from scipy.special import digamma, gammaln
from scipy.stats import dirichlet

import sfumato as sf
from sfumato.aggregate.ebcc import ebcc
from sfumato.core.annotations import Annotations
from sfumato.errors import ConvergenceWarning, OptionError, TooLargeError


def small_votes(n_items: int = 20, n_annotators: int = 5, n_classes: int = 3, seed: int = 0) -> Annotations:
    rng = np.random.default_rng(seed)
    truth = rng.integers(n_classes, size=n_items)
    rows = [(i, j) for i in range(n_items) for j in range(n_annotators) if rng.random() < 0.8]
    labels = [truth[i] if rng.random() < 0.9 - 0.1 * j else rng.integers(n_classes) for i, j in rows]
    return Annotations.from_rows(
        [f"i{i:02}" for i, _ in rows], [f"a{j}" for _, j in rows], [str(k) for k in labels],
        classes=[str(k) for k in range(n_classes)],
    )  # fmt: skip


def two_kinds_of_items(seed: int = 0, n_items: int = 300) -> tuple[Annotations, np.ndarray]:
    """A quarter of the items is misleading: there four of six annotators agree on the wrong class, and nobody knows."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(2, size=n_items)
    misleading = (rng.random(n_items) < 0.4) & (truth == 1)
    rows = []
    for i in range(n_items):
        for j in range(6):
            right = 0.9 if j < 2 or not misleading[i] else 0.1
            rows.append((f"{i:03}", f"a{j}", str(truth[i] if rng.random() < right else 1 - truth[i])))
    return Annotations.from_rows(*zip(*rows, strict=True), classes=["0", "1"]), truth


def soft_votes() -> Annotations:
    rng = np.random.default_rng(3)
    panel = [(i, j) for i in range(12) for j in range(4) if rng.random() < 0.8]
    spread = rng.dirichlet([0.4, 0.4, 0.4], len(panel))
    item, annotator = (np.repeat([pair[side] for pair in panel], 3) for side in (0, 1))
    return Annotations.from_codes(
        item, annotator, np.tile(np.arange(3), len(panel)), weight=spread.ravel(),
        items=[f"i{i:02}" for i in range(12)], annotators=[f"a{j}" for j in range(4)], classes=["0", "1", "2"],
    )  # fmt: skip


def log_density(values: np.ndarray, prior: np.ndarray) -> float:
    """E log Dir(x; prior) where *values* are E log x."""
    return float(gammaln(prior.sum()) - gammaln(prior).sum() + ((prior - 1) * values).sum())


def slow_ebcc(
    votes: Annotations, subtypes: int, rng: np.random.Generator, steps: int, concentration: float = 0.1
) -> tuple[list[float], np.ndarray]:
    """The bound after each step and the final q(z, g), by the formulas of the paper and nothing cleverer."""
    n, n_annotators, n_classes = votes.n_items, votes.n_annotators, votes.n_classes
    share = votes.counts() / votes.counts().sum(axis=1, keepdims=True)
    alpha = np.maximum(1, share.sum(axis=0))
    beta = np.ones((n_classes, n_classes)) + 3 * np.eye(n_classes)
    a_pi = np.full(subtypes, concentration / subtypes)
    q = share[:, :, None] * rng.dirichlet(np.ones(subtypes), (n, n_classes))
    bounds = []
    for _ in range(steps):
        nu, eta = alpha + q.sum(axis=(0, 2)), a_pi + q.sum(axis=0)
        mu = np.zeros((n_annotators, n_classes, subtypes, n_classes)) + beta[None, :, None, :]
        for i, j, label, w in zip(votes.item, votes.annotator, votes.label, votes.weight, strict=True):
            mu[j, :, :, label] += w * q[i]
        log_tau, log_pi = digamma(nu) - digamma(nu.sum()), digamma(eta) - digamma(eta.sum(axis=1, keepdims=True))
        log_v = digamma(mu) - digamma(mu.sum(axis=3, keepdims=True))
        scores = np.tile(log_tau[:, None] + log_pi, (n, 1, 1))
        for i, j, label, w in zip(votes.item, votes.annotator, votes.label, votes.weight, strict=True):
            scores[i] += w * log_v[j, :, :, label]
        q = np.exp(scores - scores.max(axis=(1, 2), keepdims=True))
        q /= q.sum(axis=(1, 2), keepdims=True)
        bound = (q * scores).sum() - (q * np.log(np.maximum(q, 1e-300))).sum()
        bound += log_density(log_tau, alpha) + dirichlet.entropy(nu)
        for k in range(n_classes):
            bound += log_density(log_pi[k], a_pi) + dirichlet.entropy(eta[k])
            for j in range(n_annotators):
                for m in range(subtypes):
                    bound += log_density(log_v[j, k, m], beta[k]) + dirichlet.entropy(mu[j, k, m])
        bounds.append(float(bound))
    return bounds, q


@pytest.mark.parametrize("votes", [small_votes(), soft_votes()])
def test_with_one_subtype_every_step_is_that_of_the_loops(votes: Annotations) -> None:
    bounds, q = slow_ebcc(votes, 1, np.random.default_rng(0), 12)
    with pytest.warns(ConvergenceWarning):
        result = ebcc(votes, subtypes=1, restarts=1, tolerance=0, max_iter=12)
    np.testing.assert_allclose(result.trace, bounds, rtol=1e-12)
    np.testing.assert_allclose(result.soft_labels.probs, q.sum(axis=2), atol=1e-10)


@pytest.mark.parametrize("concentration", [0.1, 4.0])
def test_the_best_of_many_starts_is_that_of_the_loops(concentration: float) -> None:
    votes, _ = two_kinds_of_items(n_items=25)
    rng = np.random.default_rng(1)
    best, q = max((slow_ebcc(votes, 2, rng, 60, concentration) for _ in range(4)), key=lambda found: found[0][-1])
    result = ebcc(votes, subtypes=2, restarts=8, concentration=concentration, tolerance=1e-9, threads=1)
    assert result.trace[-1] == pytest.approx(best[-1], abs=1e-3)
    np.testing.assert_allclose(result.soft_labels.probs, q.sum(axis=2), atol=5e-3)


@pytest.mark.parametrize("votes", [small_votes(60, 8, 4, seed=2), soft_votes(), two_kinds_of_items()[0]])
def test_the_bound_never_falls(votes: Annotations) -> None:
    trace = np.array(ebcc(votes, tolerance=1e-11, max_iter=3000, restarts=2).trace)
    assert np.diff(trace).min() > -1e-9 * abs(trace[-1])
    assert trace[-1] > trace[0]


def test_the_bound_is_the_evidence_where_that_can_be_counted() -> None:
    # One item, one annotator, one subtype: p(label) = Σ_k E τ_k E v_kl = ½·4/5 + ½·1/5, and the bound lies below.
    votes = Annotations.from_rows(["a"], ["x"], ["0"], classes=["0", "1"])
    result = ebcc(votes, subtypes=1, class_prior="flat", tolerance=1e-12)
    assert np.log(0.5) - 0.2 < result.trace[-1] < np.log(0.5)


def test_the_evidence_asks_for_subtypes_only_where_mistakes_are_shared() -> None:
    rng = np.random.default_rng(0)
    independent, copied = [], []
    for i in range(300):
        truth, source = i % 2, i % 2 if rng.random() < 0.7 else 1 - i % 2
        for j in range(9):
            independent.append((f"{i:03}", f"a{j}", str(truth if rng.random() < 0.85 else 1 - truth)))
            # The last four repeat what one source says, which is not always the truth.
            copied.append(independent[-1] if j < 5 else (f"{i:03}", f"a{j}", str(source)))
    alone = Annotations.from_rows(*zip(*independent, strict=True))
    together = Annotations.from_rows(*zip(*copied, strict=True))
    assert ebcc(alone).trace[-1] < ebcc(alone, subtypes=1).trace[-1] + 5
    assert ebcc(together).trace[-1] > ebcc(together, subtypes=1).trace[-1] + 50


def test_confusion_and_competence_are_means_over_the_posterior() -> None:
    votes = small_votes(80, 5, 3, seed=4)
    result = ebcc(votes, subtypes=1, tolerance=1e-10)
    counts = np.zeros((5, 3, 3))
    for i, j, label in zip(votes.item, votes.annotator, votes.label, strict=True):
        counts[j, :, label] += result.soft_labels.probs[i]
    counts += np.ones((3, 3)) + 3 * np.eye(3)
    confusion = counts / counts.sum(axis=2, keepdims=True)
    assert result.annotators.confusion is not None
    np.testing.assert_allclose(result.annotators.confusion, confusion, atol=1e-4)
    share = votes.counts() / votes.counts().sum(axis=1, keepdims=True)
    tau = share.sum(axis=0) + result.soft_labels.probs.sum(axis=0)
    np.testing.assert_allclose(
        result.annotators.competence, np.einsum("jkk,k->j", confusion, tau / tau.sum()), atol=1e-4
    )


def test_leaving_out_empty_states_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    votes, _ = two_kinds_of_items()
    pruned = ebcc(votes, restarts=3)
    monkeypatch.setattr(import_module("sfumato.aggregate.ebcc"), "_EMPTY", 0.0)
    whole = ebcc(votes, restarts=3)
    assert pruned.n_iter == whole.n_iter
    np.testing.assert_allclose(pruned.trace, whole.trace, rtol=1e-12)
    np.testing.assert_allclose(pruned.soft_labels.probs, whole.soft_labels.probs, atol=1e-9)
    np.testing.assert_allclose(pruned.annotators.confusion, whole.annotators.confusion, atol=1e-9)


def test_a_state_that_was_left_out_wrongly_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    votes, _ = two_kinds_of_items(n_items=60)
    monkeypatch.setattr(import_module("sfumato.aggregate.ebcc"), "_EMPTY", 0.0)
    whole = ebcc(votes, restarts=2, concentration=20)
    monkeypatch.setattr(import_module("sfumato.aggregate.ebcc"), "_EMPTY", 4.0)
    np.testing.assert_array_equal(ebcc(votes, restarts=2, concentration=20).soft_labels.probs, whole.soft_labels.probs)


def test_same_seed_same_bits_whatever_the_threads_and_the_order_of_rows() -> None:
    votes = small_votes(300, 12, 4, seed=7)
    one, two = ebcc(votes, restarts=2, threads=1), ebcc(votes, restarts=2, threads=2)
    np.testing.assert_array_equal(one.soft_labels.probs, two.soft_labels.probs)
    codes = zip(votes.item, votes.annotator, votes.label, strict=True)
    names = [(votes.items[i], votes.annotators[j], votes.classes[k]) for i, j, k in codes]
    order = np.random.default_rng(0).permutation(len(names))
    shuffled = ebcc(Annotations.from_rows(*zip(*(names[o] for o in order), strict=True)), restarts=2)
    np.testing.assert_array_equal(shuffled.soft_labels.take(votes.items).probs, one.soft_labels.probs)
    assert shuffled.trace == one.trace
    permuted = ebcc(Annotations.from_rows(*zip(*names, strict=True), classes=["2", "0", "3", "1"]), restarts=2)
    np.testing.assert_allclose(permuted.soft_labels.with_classes(votes.classes).probs, one.soft_labels.probs, atol=1e-8)


def test_restarts_start_in_different_places_and_the_best_is_kept() -> None:
    votes, _ = two_kinds_of_items(seed=3, n_items=80)
    ends = {ebcc(votes, restarts=1, seed=seed).trace[0] for seed in range(4)}
    assert len(ends) == 4
    told: dict[int, float] = {}
    result = ebcc(votes, restarts=5, progress=lambda step: told.__setitem__(step.restart, step.objective))
    assert sorted(told) == [0, 1, 2, 3, 4]
    assert result.trace[-1] == max(told.values())


def test_a_hundred_thousand_annotators_of_one_item() -> None:
    n = 100_000
    votes = Annotations.from_codes(
        np.zeros(n, dtype=int), np.arange(n), (np.arange(n) % 5 == 0).astype(int), items=["a"],
        annotators=[f"{j:06}" for j in range(n)], classes=["no", "yes"],
    )  # fmt: skip
    result = ebcc(votes, subtypes=2, restarts=1)
    np.testing.assert_allclose(result.soft_labels.probs, [[1, 0]], atol=1e-9)
    assert np.isfinite(result.trace).all()


def test_what_was_never_seen_has_the_prior() -> None:
    votes = Annotations.from_codes(
        [0, 0, 2, 3], [0, 1, 1, 0], [0, 0, 1, 0], items=["a", "silent", "c", "d"], annotators=["x", "y", "mute"],
        classes=["0", "1", "never"],
    )  # fmt: skip
    result = ebcc(votes, subtypes=3)
    assert result.class_prior is not None
    np.testing.assert_allclose(result.soft_labels.probs[1], result.class_prior)
    assert result.annotators.confusion is not None
    np.testing.assert_allclose(result.annotators.confusion[2], (np.ones((3, 3)) + 3 * np.eye(3)) / 6)
    assert len(result.notes) == 4
    empty = Annotations.from_codes(
        np.zeros(0, int), np.zeros(0, int), np.zeros(0, int), items=["a"], annotators=["x"], classes=["0", "1"]
    )
    np.testing.assert_allclose(ebcc(empty).soft_labels.probs, [[0.5, 0.5]])
    np.testing.assert_allclose(ebcc(Annotations.from_rows("aab", "xyx", "000")).soft_labels.probs, [[1.0], [1.0]])


def test_float32_gives_the_same_labels() -> None:
    votes = small_votes(100, 8, 4, seed=5)
    double, single = ebcc(votes, subtypes=1), ebcc(votes, subtypes=1, dtype="float32")
    assert single.soft_labels.probs.dtype == np.float32
    np.testing.assert_allclose(single.soft_labels.probs, double.soft_labels.probs, atol=1e-4)


def test_the_limit_warns_and_bad_options_are_refused() -> None:
    votes = small_votes()
    with pytest.warns(ConvergenceWarning, match="limit of 2 iterations"):
        result = ebcc(votes, max_iter=2)
    assert (result.converged, result.n_iter, len(result.trace)) == (False, 2, 2)
    for options in (
        {"max_iter": 0}, {"restarts": 0}, {"tolerance": -1.0}, {"subtypes": 0}, {"right": 0.0}, {"wrong": np.inf},
        {"concentration": 0.0}, {"class_prior": "vote"}, {"engine": "thread"}, {"dtype": "float16"},
    ):  # fmt: skip
        with pytest.raises(OptionError, match=next(iter(options))):
            ebcc(votes, **options)


def test_what_would_not_fit_is_refused_with_the_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sfumato.aggregate.memory.available_memory", lambda: 1 << 30)
    names = [f"{k:05}" for k in range(2000)]
    votes = Annotations.from_codes([0, 1], [0, 1], [0, 1], items=["a", "b"], annotators=["x", "y"], classes=names)
    with pytest.raises(TooLargeError, match=r"2 annotators with 2,000 × 10 subtypes needs .* GiB"):
        ebcc(votes)


# Li, Rubinstein & Cohn print these in the notebook beside their program, of the best of forty starts (ties shared).
@pytest.mark.parametrize(("name", "accuracy"), [("rte", 0.93125), ("product", 0.934937)])
def test_published_accuracies(load_data: Callable[[str], sf.data.DataSet], name: str, accuracy: float) -> None:
    data = load_data(f"truth_inference/{name}")
    assert data.annotations is not None
    assert data.gold is not None
    result = ebcc(data.annotations)
    top = dict(zip(result.soft_labels.items, result.soft_labels.top(), strict=True))
    right = [top[item] == data.gold.classes[k] for item, k in zip(data.gold.items, data.gold.labels, strict=True)]
    assert np.mean(right) == pytest.approx(accuracy, abs=5e-7)
