from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.core.responses import Response, annotations_of, contradictions, distribution
from sfumato.errors import InputError, OptionError

CLASSES = ["deer", "horse", "ship", "dog"]


def answer(*stated: tuple[str, float], impossible: set[str] = frozenset(), **more: Any) -> Response:  # type: ignore[assignment]
    return Response("img", "ann", stated=stated, impossible=frozenset(impossible), **more)


def given_by(response: Response, **options: Any) -> list[float]:
    return [float(round(p, 12)) for p in distribution(response, CLASSES, **options)]


# Worked by hand from section 4.2 of Collins, Bhatt and Weller (2022).
@pytest.mark.parametrize(
    ("response", "options", "expected"),
    [
        (answer(("deer", 70)), {"use": "T1", "redistribute": "uniform"}, [0.7, 0.1, 0.1, 0.1]),
        (answer(("deer", 70), ("horse", 20)), {"use": "T1", "redistribute": "uniform"}, [0.7, 0.1, 0.1, 0.1]),
        (answer(("deer", 70), ("horse", 20)), {"redistribute": "uniform"}, [0.7, 0.2, 0.05, 0.05]),
        (answer(("deer", 70), ("horse", 20), impossible={"ship"}), {"redistribute": "uniform"}, [0.7, 0.2, 0.05, 0.05]),
        (answer(("deer", 70), ("horse", 20), impossible={"ship"}), {}, [0.7, 0.2, 0, 0.1]),
        (answer(("deer", 40), ("horse", 30), ("dog", 10)), {}, [0.4, 0.3, 0.15, 0.15]),
        (answer(("deer", 40), ("horse", 30), ("dog", 10)), {"use": "all"}, [0.4, 0.3, 0.2, 0.1]),
        # Nothing is left open: clamp keeps a share gamma for what is possible, uniform gives nothing away.
        (answer(("deer", 100), impossible={"ship", "horse"}), {}, [0.9, 0, 0, 0.1]),
        (answer(("deer", 100), impossible={"ship", "horse"}), {"gamma": 0.0}, [1, 0, 0, 0]),
        (answer(("deer", 60), ("horse", 60)), {"gamma": 0.2}, [0.4, 0.4, 0.1, 0.1]),
        (answer(("deer", 60), ("horse", 60)), {"redistribute": "uniform"}, [0.5, 0.5, 0, 0]),
        # Nothing is left that is possible: what was stated is scaled.
        (answer(("deer", 30), ("horse", 10), impossible={"ship", "dog"}), {}, [0.75, 0.25, 0, 0]),
        (answer(("deer", 100), impossible={"ship", "dog", "horse"}), {}, [1, 0, 0, 0]),
        # No mass at all was stated: the top class stands for itself.
        (answer(("deer", 0)), {"redistribute": "uniform"}, [1, 0, 0, 0]),
        (answer(("horse", 0), ("deer", 0), impossible={"ship", "dog", "deer"}), {}, [0, 1, 0, 0]),
    ],
)
def test_worked_by_hand(response: Response, options: dict[str, Any], expected: list[float]) -> None:
    assert given_by(response, **options) == expected


def test_a_second_statement_about_the_top_class_is_left_aside_and_overwrites_as_published() -> None:
    response = answer(("deer", 70), ("deer", 10))
    assert given_by(response, redistribute="uniform") == [0.7, 0.1, 0.1, 0.1]
    assert given_by(response, redistribute="uniform", as_published=True) == [0.1, 0.3, 0.3, 0.3]


def test_a_stated_class_that_is_marked_impossible_keeps_its_number() -> None:
    response = answer(("deer", 70), ("horse", 20), impossible={"horse"})
    assert given_by(response) == [0.7, 0.2, 0.05, 0.05]
    # The published code shares 10 % among one class too few, and scales afterwards: 70, 20, 10, 10 of 110.
    np.testing.assert_allclose(
        distribution(response, CLASSES, as_published=True), np.array([70, 20, 10, 10]) / 110, rtol=1e-14
    )


percentages = st.floats(0, 100, allow_nan=False)


@given(
    stated=st.lists(st.tuples(st.sampled_from(CLASSES), percentages), min_size=1, max_size=4),
    impossible=st.sets(st.sampled_from(CLASSES)),
    use=st.sampled_from(["T1", "T2", "all"]),
    redistribute=st.sampled_from(["clamp", "uniform"]),
    gamma=st.floats(0, 0.9),
    as_published=st.booleans(),
)
@settings(max_examples=150, deadline=None)
def test_every_response_gives_a_distribution(
    stated: list[tuple[str, float]], impossible: set[str], **options: Any
) -> None:
    response = answer(*stated, impossible=impossible)
    p = distribution(response, CLASSES, **options)
    assert p.shape == (4,)
    assert (p >= 0).all()
    assert abs(p.sum() - 1) < 1e-12
    names = [name for name, _ in stated]
    if options["redistribute"] == "clamp":
        for name in impossible - set(names):
            assert p[CLASSES.index(name)] == 0
    used = stated[: {"T1": 1, "T2": 2, "all": 4}[options["use"]]]
    if not contradictions(response, CLASSES) and 0 < sum(percent for _, percent in used) < 100:
        # Those who contradict themselves nowhere keep what they said, to the percent.
        for name, percent in used:
            if percent > 0:
                assert p[CLASSES.index(name)] == pytest.approx(percent / 100, abs=1e-12)


@pytest.mark.parametrize(
    ("response", "said"),
    [
        (answer(("deer", 70), ("horse", 20), impossible={"ship"}), []),
        (answer(("deer", 100)), []),
        (answer(("cat", 70)), ["'cat' is not one of the classes"]),
        (answer(("deer", 70), ("deer", 20)), ["'deer' is stated twice"]),
        (answer(("deer", 70), impossible={"deer"}), ["'deer' is stated and marked impossible"]),
        (answer(("deer", 120)), ["'deer' has 120 %, more than 100"]),
        (answer(("deer", 70), ("horse", 40)), ["the stated classes have 110 % together, more than 100"]),
        (
            answer(("deer", 70), ("horse", 20), impossible={"ship", "dog"}),
            ["10 % are left, and no possible class to give them to"],
        ),
        (
            answer(("deer", 70), ("deer", 140), impossible={"deer"}),
            [
                "'deer' is stated twice",
                "'deer' is stated and marked impossible",
                "'deer' is stated and marked impossible",
                "'deer' has 140 %, more than 100",
                "the stated classes have 210 % together, more than 100",
            ],
        ),
    ],
)
def test_contradictions_are_told(response: Response, said: list[str]) -> None:
    assert contradictions(response, CLASSES) == said


def test_a_response_states_a_class_and_percentages_are_numbers() -> None:
    with pytest.raises(InputError, match="The response to item 'img' by annotator 'ann' states no class"):
        answer()
    for bad in (-1.0, float("nan"), float("inf")):
        with pytest.raises(InputError, match=f"gives 'deer' {bad} %; a percentage is a number from 0 on"):
            answer(("deer", bad))
    kept = answer(("deer", 120.0), mode="top1", seconds=3.5)
    assert (kept.stated, kept.mode, kept.seconds) == ((("deer", 120.0),), "top1", 3.5)


def test_options_are_checked() -> None:
    response = answer(("deer", 70))
    with pytest.raises(OptionError, match=r"The option 'use' must be one of T1, T2, all. Got 'T3' instead"):
        distribution(response, CLASSES, use="T3")  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="The option 'redistribute' must be one of clamp, uniform"):
        distribution(response, CLASSES, redistribute="spread")  # type: ignore[arg-type]
    for gamma in (-0.1, 1.0, float("nan")):
        with pytest.raises(OptionError, match="The option 'gamma' must be at least 0 and below 1"):
            distribution(response, CLASSES, gamma=gamma)
    with pytest.raises(InputError, match="The response to item 'img' states 'cat', not one of the classes"):
        distribution(answer(("cat", 70)), CLASSES)


def test_responses_become_soft_annotations() -> None:
    responses = [
        Response("b", "ann", (("deer", 70.0), ("horse", 20.0)), frozenset({"ship"})),
        Response("a", "bob", (("ship", 100.0),), frozenset({"deer", "horse", "dog"})),
        Response("b", "ann", (("dog", 100.0),), frozenset({"deer", "horse", "ship"})),
    ]
    votes = annotations_of(responses, CLASSES)
    assert (votes.items, votes.annotators, votes.classes) == (("b", "a"), ("ann", "bob"), tuple(CLASSES))
    assert votes.n_annotations == 3
    assert votes.starts.tolist() == [0, 3, 4, 5]
    assert votes.label.tolist() == [0, 1, 3, 3, 2]
    np.testing.assert_allclose(votes.weight, [0.7, 0.2, 0.1, 1, 1], rtol=1e-14)
    first = annotations_of(responses, CLASSES, use="T1", redistribute="uniform")
    np.testing.assert_allclose(first.weight[:4], [0.7, 0.1, 0.1, 0.1], rtol=1e-14)
    with pytest.raises(InputError, match="There are no responses to make annotations of"):
        annotations_of([], CLASSES)
