"""Whatever the server accepts becomes a soft label by every rule, and nothing that was stated is bent in it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sfumato.collect.answers import contradicts_itself, first_classes
from sfumato.collect.languages import language
from sfumato.collect.redistribution import Redistribution
from sfumato.collect.store import ResponseRow, response_of
from sfumato.collect.study import Study, StudyClass
from sfumato.collect.validation import check_shape, problems_of
from sfumato.core.responses import contradictions

NAMES = ("deer", "horse", "ship", "dog")
WORDS = language("en")

percents = st.one_of(st.integers(0, 101), st.floats(0, 100), st.sampled_from([33.3, 66.7, 1e-9, 99.999]))
classes = st.sampled_from(NAMES)
ANSWERS = {
    "hard": st.fixed_dictionaries({"top": classes}),
    "top1": st.fixed_dictionaries({"top": classes, "top_percent": percents}),
    "top2": st.one_of(
        st.fixed_dictionaries(
            {
                "top": classes, "top_percent": percents, "second": classes, "second_percent": percents,
                "impossible": st.lists(classes, unique=True),
            }
        ),
        st.fixed_dictionaries(
            {
                "top": classes, "top_percent": percents, "second": st.none(), "second_percent": st.none(),
                "impossible": st.lists(classes, unique=True),
            }
        ),
    ),
    "chips": st.lists(classes, min_size=20, max_size=20).map(
        lambda placed: {"chips": {name: placed.count(name) for name in placed}}
    ),
    "sliders": st.dictionaries(classes, percents, min_size=1).map(lambda told: {"percents": told}),
}  # fmt: skip


@pytest.mark.parametrize("mode", ANSWERS)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_what_is_accepted_becomes_a_label_by_every_rule(mode: Any, data: st.DataObject) -> None:
    study = Study(
        title="T", classes=tuple(StudyClass(name=name) for name in NAMES), mode=mode, sliders_sum="at_most"
    )  # fmt: skip
    answer = check_shape({"mode": mode, **data.draw(ANSWERS[mode])}, study)
    assume(not problems_of(answer, study, frozenset(NAMES), WORDS))
    response = response_of(ResponseRow(key="k", person="ann", place=1, item="a", answer=answer))
    stated = dict(response.stated)
    # The server's own check is as strict as that of the core, and the paper's rules find nothing either.
    assert contradictions(response, NAMES) == []
    assert not contradicts_itself(answer)
    assert first_classes(answer)
    for use in ("T1", "T2", "top1", "top2"):
        for rule in ("clamp", "uniform"):
            for gamma in (0.0, 0.3):
                label = Redistribution(use=use, rule=rule, gamma=gamma).label(response, NAMES)
                assert label.shape == (4,)
                assert (label >= 0).all()
                assert label.sum() == pytest.approx(1)
                for name in response.impossible if rule == "clamp" and use != "T1" else ():
                    assert label[NAMES.index(name)] == 0
    # What was stated stands in the label as it was stated, unless γ takes a share of what leaves nothing open.
    label = Redistribution(gamma=0.0).label(response, NAMES)
    for name, percent in stated.items():
        np.testing.assert_allclose(label[NAMES.index(name)], percent / 100, atol=1e-8)
    # What makes 100 but for rounding, such as thirds of 33.33, makes 100.
    for name, percent in answer.get("percents", {}).items():
        np.testing.assert_allclose(label[NAMES.index(name)], percent / 100, atol=1.01e-4)
