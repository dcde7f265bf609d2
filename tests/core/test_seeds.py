from __future__ import annotations

import numpy as np
import pytest

from sfumato.core.seeds import generator, recorded, spawn
from sfumato.errors import OptionError


def test_a_number_gives_the_same_stream_every_time() -> None:
    assert generator(7).random(5).tolist() == np.random.default_rng(7).random(5).tolist()
    assert generator(7).random(5).tolist() != generator(8).random(5).tolist()


def test_a_generator_is_used_as_it_is_and_moves_on() -> None:
    given = np.random.default_rng(7)
    assert generator(given) is given
    first = generator(given).random()
    assert generator(given).random() != first


def test_children_are_independent_of_how_many_are_asked_for_and_of_who_runs_first() -> None:
    few, many = spawn(3, 2), spawn(3, 5)
    late = [child.random(4).tolist() for child in reversed(many)][::-1]
    assert [child.random(4).tolist() for child in few] == late[:2]
    assert len({tuple(values) for values in late}) == 5


def test_children_of_a_generator_differ_from_call_to_call() -> None:
    given = np.random.default_rng(3)
    assert spawn(given, 1)[0].random() != spawn(given, 1)[0].random()


def test_what_an_origin_records() -> None:
    assert recorded(5) == 5
    assert type(recorded(np.int64(5))) is int  # type: ignore[arg-type]
    assert recorded(np.random.default_rng(5)) is None


@pytest.mark.parametrize("seed", [-1, 0.5, "7", None])
def test_what_is_no_seed_is_refused(seed: object) -> None:
    with pytest.raises(OptionError, match="seed"):
        generator(seed)  # type: ignore[arg-type]
