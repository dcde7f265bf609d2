"""Hashes and sums that do not depend on the order of the rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from sfumato.core.annotations import Annotations
from sfumato.core.order_free import name_keys, on_grid, scrambled

_NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


def _slow_key(name: str) -> int:
    total, power = 0, 1
    for byte in [*name.encode(), 0]:
        power = power * 0x9E3779B97F4A7C15 % 2**64
        total = (total + (byte + 1) * power) % 2**64
    total ^= total >> 30
    total = total * 0xBF58476D1CE4E5B9 % 2**64
    total ^= total >> 27
    total = total * 0x94D049BB133111EB % 2**64
    return total ^ (total >> 31)


@settings(max_examples=50, deadline=None)
@given(st.lists(_NAMES, max_size=6))
def test_keys_are_those_of_integer_arithmetic(names: list[str]) -> None:
    assert name_keys(names).tolist() == [_slow_key(name) for name in names]


def test_keys_of_many_names_are_distinct_and_independent_of_the_chunks() -> None:
    names = [f"item-{number}" for number in range(70_000)]
    keys = name_keys(names)
    assert len(np.unique(keys)) == len(names)
    assert keys[40_000] == name_keys([names[40_000]])[0]


def test_scrambling_is_a_bijection_on_small_numbers() -> None:
    assert len(np.unique(scrambled(np.arange(1 << 16, dtype=np.uint64)))) == 1 << 16


@settings(max_examples=100, deadline=None)
@given(
    hnp.arrays(np.float64, st.integers(1, 40), elements=st.floats(-1e6, 1e6)),
    st.randoms(use_true_random=False),
)
def test_values_on_a_grid_add_up_to_the_same_bits_in_any_order(values: np.ndarray, random: object) -> None:
    order = list(range(len(values)))
    random.shuffle(order)  # type: ignore[attr-defined]
    grid = on_grid(values, len(values))
    one_by_one = 0.0
    for place in order:
        one_by_one += grid[place]
    assert one_by_one == grid.sum()
    np.testing.assert_allclose(
        grid, values, rtol=0, atol=max(np.abs(values).max() * len(values) * 2.0**-50, 2.0**-1020)
    )


@pytest.mark.parametrize("largest", [1e-320, 1e-300, 1.0, 1e300])
def test_the_grid_is_finite_for_any_size_of_values(largest: float) -> None:
    values = np.array([largest, largest / 3, -largest / 7])
    np.testing.assert_allclose(on_grid(values, 3), values, rtol=1e-14, atol=1e-307)


def _votes(rows: list[tuple[str, str, str, float]]) -> Annotations:
    items, annotators, labels, weights = zip(*rows, strict=True)
    return Annotations.from_rows(items, annotators, labels, weights=weights, classes=["x", "y", "z"])


_SOFT = [
    ("a", "ann", "x", 0.1), ("a", "ann", "y", 0.9), ("a", "bob", "x", 0.2), ("a", "bob", "z", 0.8),
    ("a", "cat", "x", 0.3), ("a", "cat", "y", 0.7), ("b", "bob", "z", 1.0),
]  # fmt: skip


def test_soft_counts_have_the_same_bits_in_any_order_of_rows() -> None:
    rng = np.random.default_rng(0)
    first = _votes(_SOFT)
    for _ in range(20):
        other = _votes([_SOFT[k] for k in rng.permutation(len(_SOFT))])
        place = [other.items.index(name) for name in first.items]
        assert np.array_equal(first.counts(), other.counts()[place])
        assert first.fingerprint == other.fingerprint
    np.testing.assert_allclose(first.counts(), [[0.6, 1.6, 0.8], [0, 0, 1]], atol=1e-14)


@pytest.mark.parametrize("row", range(len(_SOFT) - 1))
@pytest.mark.parametrize("column", range(2))
def test_the_fingerprint_sees_each_name(row: int, column: int) -> None:
    changed = [list(values) for values in _SOFT]
    for values in changed:
        # The other row of the distribution moves along, so that the weights still sum to 1.
        if values[:2] == list(_SOFT[row][:2]):
            values[column] = "new"
    assert _votes([tuple(values) for values in changed]).fingerprint != _votes(_SOFT).fingerprint


def test_the_fingerprint_sees_weights_labels_and_who_said_what() -> None:
    given = _votes(_SOFT).fingerprint
    weights = [*_SOFT[:4], ("a", "cat", "x", 0.7), ("a", "cat", "y", 0.3), _SOFT[-1]]
    labels = [*_SOFT[:-1], ("b", "bob", "y", 1.0)]
    exchanged = [(item, {"ann": "bob", "bob": "ann"}.get(who, who), *rest) for item, who, *rest in _SOFT[:-1]]
    twice = [("b", "ann", "x", 1.0), ("b", "bob", "x", 1.0)]
    prints = [_votes(rows).fingerprint for rows in (weights, labels, [*exchanged, _SOFT[-1]], twice, twice[:1])]
    assert len({given, *prints}) == 6


def test_a_distribution_is_not_two_votes() -> None:
    soft = _votes([("a", "ann", "x", 0.5), ("a", "ann", "y", 0.5)])
    hard = _votes([("a", "ann", "x", 1.0), ("b", "ann", "y", 1.0)])
    assert soft.fingerprint != hard.fingerprint


def test_an_item_that_nobody_judged_is_part_of_the_fingerprint() -> None:
    def made(items: list[str]) -> Annotations:
        return Annotations.from_codes([0], [0], [0], items=items, annotators=["ann"], classes=["x"])

    assert made(["a"]).fingerprint != made(["a", "b"]).fingerprint
