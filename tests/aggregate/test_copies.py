"""Copies: planted ones are found, nobody else is accused, and the sums agree with a direct computation."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import binom

import sfumato as sf
from sfumato.aggregate import annotator_pairs, copies
from sfumato.aggregate.answers import Answers, in_canonical_order
from sfumato.aggregate.copies import suspected_copies
from sfumato.core.annotations import Annotations
from sfumato.data.simulate import Simulation, simulate
from sfumato.errors import OptionError


def _planted_pairs(planted: Simulation) -> set[frozenset[str]]:
    """Copiers with their source, and copiers of one source with each other."""
    names = planted.annotations.annotators
    groups: dict[int, set[str]] = {}
    for j, source in enumerate(planted.copied):
        if source >= 0:
            groups.setdefault(int(source), {names[source]}).add(names[j])
    return {frozenset((a, b)) for group in groups.values() for a in group for b in group if a != b}


def _found(planted: Simulation) -> set[frozenset[str]]:
    found = suspected_copies(planted.annotations)
    return {frozenset(pair) for pair in zip(found.first, found.second, strict=True)}


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"n_classes": 2, "class_prior": [0.8, 0.2]},
        {"n_classes": 10},
        {"copy_rate": 0.7},
        {"soft": True},
        {"spammers": 0.2},
        {"difficulty": 0.2},
    ],
    ids=str,
)
def test_planted_copies_are_found_and_no_others(options: dict[str, object]) -> None:
    missed = extra = 0
    for seed in range(4):
        planted = simulate(n_items=400, n_annotators=12, per_item="all", copiers=0.17, seed=seed, **options)  # type: ignore[arg-type]
        found, wanted = _found(planted), _planted_pairs(planted)
        missed += len(wanted - found)
        extra += len(found - wanted)
    assert (missed, extra) == (0, 0)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"spammers": 0.4},
        {"n_classes": 2, "class_prior": [0.9, 0.1]},
        {"ambiguity": 0.5},
        {"soft": True},
        {"difficulty": 0.4},
    ],
    ids=str,
)
def test_nobody_is_accused_where_nobody_copies(options: dict[str, object]) -> None:
    # The promise is that in one of twenty such crowds anybody is accused at all.
    accused = 0
    for seed in range(3):
        planted = simulate(n_items=900, n_annotators=40, per_item=8, seed=seed, **options)  # type: ignore[arg-type]
        found = suspected_copies(planted.annotations)
        assert found.n_pairs == 780
        accused += len(found.first)
    assert accused <= 1


def test_two_with_one_voice_are_found_where_dawid_skene_would_believe_them() -> None:
    # Ten annotators of hard items: left alone, the model takes the two for the truth, and they agree as expected.
    planted = simulate(n_items=300, n_annotators=10, per_item="all", difficulty=0.4, copiers=0.1, seed=1)
    assert _found(planted) == _planted_pairs(planted)


def test_sums_against_a_direct_computation() -> None:
    votes = in_canonical_order(simulate(n_items=40, n_annotators=6, n_classes=3, per_item=4, seed=2).annotations)
    answers = Answers.of(votes)
    fit = copies._fitted(votes)
    model = annotator_pairs.PairModel.of(fit, votes, answers, np.zeros(0, dtype=np.int64))
    pairs = annotator_pairs.compared_pairs(model, answers, 3, hard=True)
    confusion, prior = fit.annotators.confusion, fit.class_prior
    assert confusion is not None
    assert prior is not None
    assert model.confusion is not None
    said = {(i, j): k for i, j, k in zip(votes.item, votes.annotator, votes.label, strict=True)}
    seen = 0
    for u in range(6):
        for v in range(u + 1, 6):
            shared = [i for i in range(40) if (i, u) in said and (i, v) in said]
            if len(shared) < 3:
                continue
            expected = 0.0
            for i in shared:
                posterior = prior.copy()
                for j in set(range(6)) - {u, v}:
                    if (i, j) in said:
                        posterior = posterior * confusion[j, :, said[i, j]]
                posterior /= posterior.sum()
                expected += sum(posterior[c] * (model.confusion[u, c] * model.confusion[v, c]).sum() for c in range(3))
            same = sum(said[i, u] == said[i, v] for i in shared)
            assert (pairs.first[seen], pairs.second[seen], pairs.n[seen]) == (u, v, len(shared))
            assert pairs.same[seen] == same
            assert pairs.expected[seen] == pytest.approx(expected, abs=1e-9)
            seen += 1
    assert seen == len(pairs.n) > 5


def test_residuals_of_distributions_against_a_direct_computation() -> None:
    votes = in_canonical_order(
        simulate(n_items=25, n_annotators=4, n_classes=3, per_item="all", seed=2, soft=True).annotations
    )
    answers = Answers.of(votes)
    model = annotator_pairs.PairModel.of(copies._fitted(votes), votes, answers, np.zeros(0, dtype=np.int64))
    assert model.confusion is not None
    pairs = annotator_pairs.compared_pairs(model, answers, 3, hard=False)
    said = answers.said.toarray().reshape(25, 4, 3)
    rows = np.arange(100).reshape(25, 4)
    for n, (u, v) in enumerate(zip(pairs.first, pairs.second, strict=True)):
        own = model.without_own(np.arange(25), rows[:, u])
        posterior = model.without_both(own, rows[:, v])
        mean_u, mean_v = posterior @ model.confusion[u], posterior @ model.confusion[v]
        covariance = np.einsum("ic,ck,ck->i", posterior, model.confusion[u], model.confusion[v]) - (
            mean_u * mean_v
        ).sum(axis=1)
        residual = ((said[:, u] - mean_u) * (said[:, v] - mean_v)).sum(axis=1) - covariance
        assert pairs.residual[n] == pytest.approx(residual.sum(), abs=1e-10)
        assert pairs.squares[n] == pytest.approx((residual**2).sum(), abs=1e-10)


def test_p_is_a_binomial_tail() -> None:
    # Few pairs: nothing is moved or divided, so p is the plain tail at the expected rate.
    votes = simulate(n_items=100, n_annotators=4, per_item="all", copiers=0.25, seed=8).annotations
    found = suspected_copies(votes)
    assert found.n_pairs == 6
    assert len(found.p) == 1
    tail = binom.sf(found.same - 1, found.n_shared, found.expected / found.n_shared)
    np.testing.assert_allclose(found.p, tail, rtol=1e-6)
    assert found.columns()["z"] == found.z.tolist()


def test_annotators_who_ignore_the_items_do_not_copy() -> None:
    # They agree on everything, as each always says the same.
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=200)
    said = np.where(rng.random((200, 8)) < 0.8, truth[:, None], 1 - truth[:, None])
    said[:, :2] = 1
    i, j = np.nonzero(said >= 0)
    votes = Annotations.from_codes(
        i, j, said[i, j], items=[f"i{n}" for n in range(200)], annotators=list("abcdefgh"), classes=["0", "1"]
    )
    assert suspected_copies(votes).first == ()


def test_items_are_left_out_where_there_is_too_much_to_compare() -> None:
    planted = simulate(n_items=600, n_annotators=10, per_item="all", copiers=0.1, seed=3)
    whole = suspected_copies(planted.annotations)
    part = suspected_copies(planted.annotations, most_comparisons=9000)
    assert (whole.n_items, part.n_items) == (600, 200)
    assert part.first == whole.first
    assert part.n_shared.tolist() == [200]


def test_one_accuracy_each_where_matrices_would_be_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    planted = simulate(n_items=300, n_annotators=10, n_classes=5, per_item="all", copiers=0.1, seed=5)
    for module in (copies, annotator_pairs):
        monkeypatch.setattr(module, "MOST_NUMBERS", 100)
    assert _found(planted) == _planted_pairs(planted)


def test_too_few_shared_items_are_no_test() -> None:
    votes = Annotations.from_rows(list("aabb"), list("xyxy"), list("1122"))
    found = suspected_copies(votes)
    assert (found.n_pairs, found.first) == (0, ())
    assert suspected_copies(votes, least_shared=2).n_pairs == 1


def test_the_order_of_the_rows_changes_nothing() -> None:
    votes = simulate(n_items=200, n_annotators=12, per_item=9, copiers=0.2, seed=6).annotations
    rows = [
        (votes.items[i], votes.annotators[j], votes.classes[k])
        for i, j, k in zip(votes.item, votes.annotator, votes.label, strict=True)
    ]
    shuffled = [rows[r] for r in np.random.default_rng(0).permutation(len(rows))]
    first, second = (
        suspected_copies(Annotations.from_rows(*zip(*order, strict=True), classes=votes.classes)).columns()
        for order in (rows, shuffled)
    )
    assert first == second
    assert first["annotator"]


def test_annotators_of_textual_entailment_do_not_copy(load_data: Callable[[str], sf.data.DataSet]) -> None:
    data = load_data("rte")
    assert data.annotations is not None
    found = suspected_copies(data.annotations)
    assert (found.n_pairs, found.first) == (1254, ())


def test_options_are_checked() -> None:
    votes = Annotations.from_rows(list("aabb"), list("xyxy"), list("1122"))
    with pytest.raises(OptionError, match="'false_discovery_rate' must be between 0 and 1"):
        suspected_copies(votes, false_discovery_rate=1)
    with pytest.raises(OptionError, match="'least_shared' must be at least 2"):
        suspected_copies(votes, least_shared=1)
