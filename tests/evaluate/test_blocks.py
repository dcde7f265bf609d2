"""Blocks: the same bits for any number of threads, and memory that does not grow with the items."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from sfumato import evaluate
from sfumato.core import row_blocks
from sfumato.evaluate import blocks

RNG = np.random.default_rng(0)
Q, P = RNG.dirichlet(np.ones(5), 60_000), RNG.dirichlet(np.ones(5), 60_000)


def test_the_number_of_threads_changes_no_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for threads in (1, 2, 7):
        monkeypatch.setattr(row_blocks, "n_processors", lambda threads=threads: threads)
        found.append(evaluate.scores(Q, people=P, gold=P.argmax(axis=1)))
    assert found[0] == found[1] == found[2]


def test_the_size_of_the_blocks_changes_nothing_but_rounding(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = evaluate.scores(Q, people=P, gold=P.argmax(axis=1))
    monkeypatch.setattr(blocks, "_NUMBERS", 700)
    small = evaluate.scores(Q[:3000], people=P[:3000], gold=P[:3000].argmax(axis=1))
    monkeypatch.undo()
    assert small == pytest.approx(evaluate.scores(Q[:3000], people=P[:3000], gold=P[:3000].argmax(axis=1)), rel=1e-12)
    assert whole != small


def test_items_stay_in_their_order() -> None:
    np.testing.assert_allclose(evaluate.brier_error_per_item(Q, P), np.square(Q - P).sum(axis=1), rtol=1e-13)


def test_memory_is_a_few_blocks() -> None:
    evaluate.scores(Q, people=P)
    tracemalloc.start()
    evaluate.jensen_shannon_divergence(Q, P)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40 * 8 * blocks._NUMBERS  # a pair of threads, a dozen arrays each; Q alone is 300,000 numbers


def test_more_classes_than_a_block_has_numbers() -> None:
    rng = np.random.default_rng(1)
    q, p = rng.dirichlet(np.ones(9000), 20), rng.dirichlet(np.ones(9000), 20)
    assert evaluate.manhattan_error(q, p) == pytest.approx(np.abs(q - p).sum(axis=1).mean(), rel=1e-12)


def test_an_error_within_a_block_comes_out() -> None:
    def fails(block: blocks.Block) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        blocks.over_blocks(fails, Q, P)
