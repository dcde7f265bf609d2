"""What is refused, mode by mode; and that whatever is not refused has a soft label without a contradiction."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.collect.languages import language
from sfumato.collect.store import ResponseRow, response_of
from sfumato.collect.study import Study, StudyClass
from sfumato.collect.validation import ShapeError, check_shape, problems_of
from sfumato.core.responses import contradictions, distribution

NAMES = ("deer", "horse", "dog")
STUDY = Study(title="Animals", classes=tuple(StudyClass(name=name) for name in NAMES))
WORDS = language("en")


def codes(answer: dict, study: Study = STUDY) -> list[str]:
    return [each["code"] for each in problems_of(check_shape(answer, study), study, frozenset(NAMES), WORDS)]


def top2(top=None, p=None, second=None, q=None, impossible=()):
    return {
        "mode": "top2", "top": top, "top_percent": p, "second": second, "second_percent": q,
        "impossible": list(impossible),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (top2("deer", 70), []),
        (top2("deer", 100, impossible=["horse", "dog"]), []),
        (top2("deer", 33.3, "dog", 33.3), []),
        (top2("deer", 60, "dog", 40, ["horse"]), []),
        (top2(), ["top"]),
        (top2("ship", 70), ["unknown"]),
        (top2("deer"), ["top_percent"]),
        (top2("deer", 0), ["top_percent"]),
        (top2("deer", 100.5), ["top_percent"]),
        (top2("deer", "most"), ["top_percent"]),
        (top2("deer", True), ["top_percent"]),
        (top2("deer", 10**400), ["top_percent"]),
        (top2("deer", 70, "deer", 20), ["second"]),
        (top2("deer", 70, "ship", 20), ["unknown"]),
        (top2("deer", 70, "dog"), ["second_percent"]),
        (top2("deer", 70, None, 20), ["second_alone"]),
        (top2("deer", 40, "dog", 50), ["order"]),
        (top2("deer", 70, "dog", 40), ["over"]),
        (top2("deer", 70, "dog", 20, ["deer"]), ["impossible"]),
        (top2("deer", 70, "dog", 20, ["ship"]), ["unknown"]),
        (top2("deer", 70, "dog", 20, ["horse"]), ["nowhere"]),
        (top2("deer", 70, impossible=["horse", "dog"]), ["nowhere"]),
    ],
)
def test_two_classes(answer, expected):
    assert codes(answer) == expected


@pytest.mark.parametrize(
    ("mode", "answer", "expected"),
    [
        ("hard", {"top": "deer"}, []),
        ("hard", {"top": None}, ["top"]),
        ("hard", {"top": "ship"}, ["unknown"]),
        ("top1", {"top": "deer", "top_percent": 55.5}, []),
        ("top1", {"top": "deer", "top_percent": None}, ["top_percent"]),
        ("chips", {"chips": {"deer": 15, "dog": 5}}, []),
        ("chips", {"chips": {"deer": 20, "dog": 0}}, []),
        ("chips", {"chips": {"deer": 15}}, ["chips"]),
        ("chips", {"chips": {}}, ["chips"]),
        ("chips", {"chips": {"deer": 15, "dog": 6}}, ["chips_over"]),
        ("chips", {"chips": {"deer": 19.5, "dog": 0.5}}, ["amount_chips", "amount_chips"]),
        ("chips", {"chips": {"deer": 21, "dog": -1}}, ["amount_chips"]),
        ("chips", {"chips": {"ship": 20}}, ["unknown"]),
        ("sliders", {"percents": {"deer": 33.3, "dog": 33.3, "horse": 33.4}}, []),
        ("sliders", {"percents": {"deer": 33.333, "dog": 33.333, "horse": 33.333}}, []),
        ("sliders", {"percents": {"deer": 33.33, "dog": 33.33, "horse": 33.33}}, []),
        ("sliders", {"percents": {"deer": 33.34, "dog": 33.34, "horse": 33.34}}, ["sliders"]),
        ("sliders", {"percents": {"deer": 99}}, ["sliders"]),
        ("sliders", {"percents": {}}, ["top"]),
        ("sliders", {"percents": {"deer": 0}}, ["top"]),
        ("sliders", {"percents": {"deer": 101}}, ["amount"]),
        ("sliders", {"percents": {"deer": "x", "ship": 3}}, ["amount", "unknown"]),
    ],
)
def test_the_other_modes(mode, answer, expected):
    assert codes({"mode": mode, **answer}, replace(STUDY, mode=mode)) == expected


def test_a_sum_that_is_refused_is_never_said_to_be_100():
    study, names = replace(STUDY, mode="sliders"), frozenset(NAMES)
    for total in (99.9899, 100.0101, 100.02):
        answer = {"mode": "sliders", "percents": {"deer": total - 50, "dog": 50}}
        (problem,) = problems_of(answer, study, names, WORDS)
        assert "that is 100 %" not in problem["message"]


@pytest.mark.parametrize("percents", [(66.67, 33.33), (66.66, 33.33), (66.667, 33.333), (66.67, 33.34)])
def test_two_thirds_and_a_third_leave_nothing_open(percents):
    answer = top2("deer", percents[0], "dog", percents[1])
    assert codes(answer) == []
    response = response_of(ResponseRow(key="k", person="ann", place=1, item="i", answer=answer))
    assert sum(percent for _, percent in response.stated) == 100
    # As the page says: a whole answer that rules nothing out gives a tenth away.
    assert distribution(response, NAMES)[1] == pytest.approx(0.1)


def test_sliders_that_may_leave_something_open():
    study = replace(STUDY, mode="sliders", sliders_sum="at_most")
    assert codes({"mode": "sliders", "percents": {"deer": 60}}, study) == []
    assert codes({"mode": "sliders", "percents": {"deer": 60, "dog": 41}}, study) == ["over"]
    assert codes({"mode": "sliders", "percents": {"deer": 50, "dog": 20, "horse": 10}}, study) == ["nowhere"]
    assert codes({"mode": "sliders", "percents": {"deer": 50, "dog": 20, "horse": 0}}, study) == ["nowhere"]
    assert codes({"mode": "sliders", "percents": {"deer": 50, "horse": 0}}, study) == []


@pytest.mark.parametrize(
    "answer",
    [
        None, [], "deer", {}, {"mode": "hard", "top": "deer"}, {**top2("deer", 70), "more": 1}, top2(["deer"], 70),
        top2("deer", [70]), {**top2("deer", 70), "impossible": "dog"}, top2("deer", 70, impossible=["dog", "dog"]),
        {**top2("deer", 70), "impossible": [1]},
    ],
)  # fmt: skip
def test_what_no_page_sends(answer):
    with pytest.raises(ShapeError):
        check_shape(answer, STUDY)


names = st.sampled_from([*NAMES, "ship"]) | st.none()
numbers = st.none() | st.integers(-5, 120) | st.floats(allow_nan=False) | st.text(max_size=3)
amounts = st.dictionaries(names.filter(bool), numbers, max_size=4)
two = st.builds(top2, names, numbers, names, numbers, st.lists(names.filter(bool), unique=True, max_size=3))
sensible = st.builds(
    top2,
    st.sampled_from(NAMES),
    st.integers(1, 100),
    st.sampled_from(NAMES) | st.none(),
    st.integers(1, 60) | st.none(),
    st.lists(st.sampled_from(NAMES), unique=True, max_size=2),
)


@given(
    two
    | sensible
    | amounts.map(lambda a: {"mode": "chips", "chips": a})
    | amounts.map(lambda a: {"mode": "sliders", "percents": a})
)
def test_whatever_is_taken_is_a_distribution_without_a_contradiction(answer):
    study = replace(STUDY, mode=answer["mode"])
    if codes(answer, study):
        return
    response = response_of(ResponseRow(key="k", person="ann", place=1, item="i", answer=answer))
    if answer["mode"] == "top2":
        assert contradictions(response, NAMES) == []
    probs = distribution(response, NAMES, use="all", gamma=0.0)
    assert probs.sum() == pytest.approx(1)
    for name, percent in response.stated:
        assert probs[NAMES.index(name)] == pytest.approx(percent / 100, abs=1e-6)
    assert all(probs[NAMES.index(name)] == 0 for name in response.impossible)
