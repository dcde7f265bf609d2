from __future__ import annotations

import numpy as np
import pytest

from sfumato.core.row_blocks import block_size, columns, over_blocks, pair
from sfumato.errors import OptionError


@pytest.mark.parametrize("threads", [None, 1, 3])
def test_blocks_come_back_in_their_order_however_many_threads(threads: int | None) -> None:
    blocks = over_blocks(lambda start, stop: (start, stop), 10, 3, threads=threads)
    assert blocks == [(0, 3), (3, 6), (6, 9), (9, 10)]
    assert over_blocks(lambda start, stop: (start, stop), 0, 3, threads=threads) == []


@pytest.mark.parametrize("threads", [1, 2])
def test_a_block_that_fails_is_told(threads: int) -> None:
    def work(start: int, _: int) -> int:
        if start == 4:
            raise KeyboardInterrupt
        return start

    with pytest.raises(KeyboardInterrupt):
        over_blocks(work, 100, 2, threads=threads)


def test_no_threads_are_refused() -> None:
    with pytest.raises(OptionError, match=r"'threads' must be at least 1\. Got 0"):
        over_blocks(lambda start, stop: start, 1, 1, threads=0)


def test_many_classes_and_arrays_make_small_blocks() -> None:
    assert block_size(10, 2) == (1 << 19) // 20
    assert block_size(1 << 19, 4) == 16


def test_a_single_item_is_taken_twice() -> None:
    assert pair(3, 6).tolist() == [3, 4, 5]
    assert pair(3, 4).tolist() == [3, 3]


def test_distributions_become_columns_of_doubles() -> None:
    made = columns(np.array([[0.25, 0.75], [1, 0]], dtype=np.float32), slice(None))
    assert made.tolist() == [[0.25, 1], [0.75, 0]]
    assert made.dtype == np.float64
    assert made.flags.c_contiguous
