"""What a plain form sends becomes what the scripts send; what is no number stays what it was, and is refused."""

from __future__ import annotations

import pytest

from sfumato.collect.forms import answer_from_form

CLASSES = ("deer", "horse", "dog", "ship")


def pairs(text: str) -> list[tuple[str, str]]:
    return [(name, value) for name, _, value in (pair.partition("=") for pair in text.split("&"))]


@pytest.mark.parametrize(
    ("form", "answer"),
    [
        ("mode=hard&top=deer", {"mode": "hard", "top": "deer"}),
        ("mode=hard", {"mode": "hard", "top": None}),
        ("mode=top1&top=deer&top_percent=70,5", {"mode": "top1", "top": "deer", "top_percent": 70.5}),
        ("mode=top1&top=deer&top_percent= 70 ", {"mode": "top1", "top": "deer", "top_percent": 70}),
        ("mode=top1&top=deer&top_percent=most", {"mode": "top1", "top": "deer", "top_percent": "most"}),
        (
            "mode=chips&class=deer&amount=15&class=dog&amount=&class=ship&amount=5",
            {"mode": "chips", "chips": {"deer": 15, "ship": 5}},
        ),
        (
            "mode=sliders&class=deer&amount=60&class=dog&amount=40",
            {"mode": "sliders", "percents": {"deer": 60, "dog": 40}},
        ),
        ("mode=sliders&class=deer&amount=60&class=deer&amount=40", {"mode": "sliders", "percents": {"deer": "60, 40"}}),
        (
            "mode=top2&top=deer&top_percent=70&second=&second_percent=&impossible=ship&others=impossible",
            {
                "mode": "top2",
                "top": "deer",
                "top_percent": 70,
                "second": None,
                "second_percent": None,
                "impossible": ["ship", "horse", "dog"],
            },
        ),
        ('answer={"mode": "hard", "top": "dog"}&top=deer', {"mode": "hard", "top": "dog"}),
        ("answer=[1]", {}),
        ("answer={", {}),
    ],
)
def test_a_form_is_read_as_it_was_filled_in(form, answer):
    assert answer_from_form(pairs(form), CLASSES) == answer


@pytest.mark.parametrize("number", ["inf", "nan", "1e999", "-inf"])
def test_what_is_no_number_of_json_is_refused_and_not_stored(opened, number):
    study = opened()
    browser = study.browser()
    browser.post("/api/answers", place="1", key=browser.field("key"), mode="top2", top="deer", top_percent=number)
    assert browser.status in (400, 422)
    assert list(study.store.responses()) == []
