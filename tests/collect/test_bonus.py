"""Agreement with the panel, and what it earns."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from sfumato.collect.bonus import Bonus, bonuses
from sfumato.collect.exclusions import run_exclusions
from sfumato.collect.labels import Labels
from sfumato.collect.payments import payment_list
from sfumato.core.agreement import observed_agreement_per_item
from sfumato.core.annotations import Annotations

BONUS = "[bonus]\namount = 2.0\nfrom_agreement = 0.5\nfull_at = 1.0\nleast_others = 1\n"


def test_a_worked_example(make_field: Callable) -> None:
    """Ann says (1, 0, 0); the others together (0.5, 0.5, 0): 1 − ½ (0.25 + 0.25) = 0.75, half of the way to all."""
    field = make_field(BONUS, mode="hard")
    for name, top in (("ann", "deer"), ("bob", "deer"), ("cem", "horse")):
        field.says(name, "a", {"mode": "hard", "top": top})
    earned = bonuses(field.study, field.store)
    # For cem the others say (1, 0, 0) and he (0, 1, 0): 1 − ½ · 2 = 0.
    assert {name: (each.agreement, each.n_items, each.amount) for name, each in earned.items()} == {
        "ann": (0.75, 1, 1.0), "bob": (0.75, 1, 1.0), "cem": (0.0, 1, 0.0),
    }  # fmt: skip


def test_items_without_enough_others_do_not_count(make_field: Callable) -> None:
    field = make_field(BONUS.replace("least_others = 1", "least_others = 2"), mode="hard")
    for name in ("ann", "bob"):
        field.says(name, "a", {"mode": "hard", "top": "deer"})
    assert bonuses(field.study, field.store) == {}
    field.says("cem", "a", {"mode": "hard", "top": "deer"})
    field.says("cem", "b", {"mode": "hard", "top": "ship"})
    assert {name: each.n_items for name, each in bonuses(field.study, field.store).items()} == {
        "ann": 1, "bob": 1, "cem": 1,
    }  # fmt: skip


def test_who_is_left_out_is_compared_but_does_not_count_for_others(make_field: Callable) -> None:
    field = make_field(f'{BONUS}[exclusions]\npeople = ["eve"]\n', mode="hard")
    for name, top in (("ann", "deer"), ("bob", "deer"), ("eve", "ship")):
        field.says(name, "a", {"mode": "hard", "top": top})
    run_exclusions(field.study, field.store, at=1)
    agreement = {name: each.agreement for name, each in bonuses(field.study, field.store).items()}
    assert agreement == {"ann": 1.0, "bob": 1.0, "eve": 0.0}


def test_repeats_checks_and_what_was_changed_do_not_count(make_field: Callable) -> None:
    field = make_field(BONUS, mode="hard")
    row = field.says("ann", "a", {"mode": "hard", "top": "ship"})
    field.says("ann", "a", {"mode": "hard", "top": "deer"}, place=row.place)
    field.says("ann", "a", {"mode": "hard", "top": "ship"}, kind="repeat")
    field.says("ann", "a", {"mode": "hard", "top": "ship"}, kind="check")
    field.says("bob", "a", {"mode": "hard", "top": "deer"})
    assert bonuses(field.study, field.store)["ann"].agreement == 1.0


def test_saying_what_one_expects_of_the_others_earns_most() -> None:
    """The score is proper: against a panel that is drawn from q, no other p has a higher mean than p = q."""
    rng = np.random.default_rng(0)
    panel = rng.dirichlet([2.0, 1.0, 0.5], size=400)

    def mean_score(own: np.ndarray) -> float:
        probs = np.concatenate([np.tile(own, (len(panel), 1)), panel])
        codes = np.arange(len(panel))
        labels = Labels(
            items=tuple(map(str, codes)), people=("me", "others"),
            item=np.concatenate([codes, codes]), person=np.repeat([0, 1], len(panel)), probs=probs,
        )  # fmt: skip
        return float(labels.agreement_of_people(np.ones(len(probs), dtype=bool))[0][0])

    best = mean_score(panel.mean(axis=0))
    for other in (*rng.dirichlet([1.0, 1.0, 1.0], size=30), np.eye(3)[0], np.full(3, 1 / 3)):
        assert mean_score(other) < best


@pytest.mark.parametrize("step", [1, 7, 1 << 20])
def test_agreement_is_that_of_a_slow_reading(monkeypatch: pytest.MonkeyPatch, step: int) -> None:
    monkeypatch.setattr("sfumato.collect.labels._AT_A_TIME", step)
    rng = np.random.default_rng(1)
    item, person = rng.integers(0, 6, 60), rng.integers(0, 9, 60)
    probs = rng.dirichlet([1.0, 1.0, 1.0, 1.0], size=60)
    counted = rng.random(60) < 0.8
    labels = Labels(tuple("abcdef"), tuple("123456789"), item, person, probs)
    agreement, n_items = labels.agreement_of_people(counted, least_others=2)
    for who in range(9):
        scores = []
        for row in np.flatnonzero(person == who):
            others = [probs[k] for k in range(60) if item[k] == item[row] and counted[k] and k != row]
            if len(others) >= 2:
                scores.append(1 - ((probs[row] - np.mean(others, axis=0)) ** 2).sum() / 2)
        assert n_items[who] == len(scores)
        assert agreement[who] == pytest.approx(np.mean(scores))
    # The agreement of items is that of the core, on the rows that count.
    rows = np.flatnonzero(counted)
    votes = Annotations.from_codes(
        np.repeat(item[rows], 4), np.repeat(person[rows], 4), np.tile(np.arange(4), len(rows)),
        weight=probs[rows].ravel(), annotation=np.repeat(rows, 4),
        items=labels.items, annotators=labels.people, classes=tuple("wxyz"),
    )  # fmt: skip
    np.testing.assert_allclose(labels.agreement_of_items(counted), observed_agreement_per_item(votes))


def test_the_bonus_is_a_line_between_its_ends() -> None:
    rule = Bonus(amount=1.0, from_agreement=0.5, full_at=0.9)
    assert [rule.earned(value) for value in (0.0, 0.5, 0.6, 0.7, 0.9, 1.0)] == [0.0, 0.0, 0.25, 0.5, 1.0, 1.0]


def test_the_list_of_payments(make_field: Callable) -> None:
    rules = '[exclusions]\npeople = ["ann"]\n[exclusions.do_not_pay]\npeople = ["eve"]\n'
    field = make_field(f'{BONUS}{rules}[platform]\nkind = "prolific"\n', mode="hard")
    for name in ("ann", "bob", "eve", "new"):
        field.person(name, handed_in=name != "new", contact=f"pid-{name}", platform="prolific")
        field.says(name, "a", {"mode": "hard", "top": "deer"})
    run_exclusions(field.study, field.store, at=1)
    told = {each.annotator: each for each in payment_list(field.study, field.store)}
    paid = {name: (each.platform_id, each.complete, each.pay, each.bonus) for name, each in told.items()}
    # Ann is left out of the labels and paid all the same; eve agrees as well, and is not paid.
    assert paid == {
        "ann": ("pid-ann", True, True, 2.0), "bob": ("pid-bob", True, True, 2.0),
        "eve": ("pid-eve", True, False, 0.0), "new": ("pid-new", False, False, 0.0),
    }  # fmt: skip
    assert (told["eve"].reason, told["new"].reason) == ("named in study.toml", "not handed in (working)")
    assert (told["bob"].submission, told["bob"].minutes, told["bob"].currency) == ("session of pid-bob", 10.0, "USD")
