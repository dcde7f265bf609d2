"""What a plain form sends becomes what the scripts send; what is no number stays what it was, and is refused."""

from __future__ import annotations

import re
from dataclasses import replace
from urllib.parse import urlencode

import pytest

from sfumato.collect.answers import spelt
from sfumato.collect.forms import answer_from_form
from sfumato.collect.study import StudyClass

_FORM = {"content-type": "application/x-www-form-urlencoded"}

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
        (
            "mode=top2&top_percent=&second=&second_percent=&others=impossible",
            {
                "mode": "top2",
                "top": None,
                "top_percent": None,
                "second": None,
                "second_percent": None,
                "impossible": [],
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


def test_everything_else_is_no_class_before_there_is_a_choice_and_stays_ticked(opened):
    browser = opened().browser()
    told = {"place": "1", "key": browser.field("key"), "mode": "top2", "others": "impossible"}
    browser.post("/api/answers", **told)
    assert browser.status == 422
    assert not re.search(r'name="impossible"[^>]* checked', browser.page)
    assert re.search(r'name="others"[^>]* checked', browser.page)


def _fields(page: str) -> list[tuple[str, str]]:
    """Return what a browser without scripts would send, were the form of the page sent as it stands."""
    form = page.partition('<form class="answer')[2].partition("</form>")[0]
    form = re.sub(r"<template.*?</template>", "", form, flags=re.DOTALL)
    sent = []
    for field in re.findall(r"<input [^>]*>", form):
        told = dict(re.findall(r'([\w-]+)="([^"]*)"', field))
        if "name" in told and (told.get("type") not in ("radio", "checkbox") or " checked" in field):
            sent.append((told["name"], told.get("value", "")))
    return sent


def _many(opened, study, mode):
    names = tuple(StudyClass(name=f"class {n}") for n in range(100))
    return opened(replace(study, classes=names, mode=mode, shuffle_classes=False))


@pytest.mark.parametrize("n_impossible", [0, 2, 3, 40, 98])
def test_many_classes_that_are_ruled_out_come_back_as_they_were(opened, study, n_impossible):
    this = _many(opened, study, "top2")
    browser = this.browser()
    answer = {
        "mode": "top2", "top": "class 0", "top_percent": 60, "second": "class 1", "second_percent": 40,
        "impossible": [f"class {n}" for n in range(2, 2 + n_impossible)],
    }  # fmt: skip
    browser.answer(1, answer)
    sent = dict(_fields(browser.get("/item?place=1").page))
    assert sent["top"] == "class 0"
    assert (sent.get("others") == "impossible") == (n_impossible == 98)
    browser.client.post("/api/answers", content=urlencode(_fields(browser.page)), headers=_FORM)
    first, again = (row.answer for row in this.store.responses(latest=False))
    assert spelt(again) == spelt(first)


@pytest.mark.parametrize("mode", ["chips", "sliders"])
def test_amounts_of_many_classes_come_back_after_an_error_and_when_looked_at_again(opened, study, mode):
    this = _many(opened, study, mode)
    browser = this.browser()
    pairs = [(name, value) for name, value in _fields(browser.page) if name not in ("class", "amount")]
    given = [(f"class {n}", "2") for n in range(9)] + [("class x", "2")]
    for name, amount in given:
        pairs += [("class", name), ("amount", amount)]
    reply = browser.client.post("/api/answers", content=urlencode(pairs), headers=_FORM)
    assert reply.status_code == 422
    sent = _fields(reply.text)
    names, amounts = ([value for name, value in sent if name == each] for each in ("class", "amount"))
    assert list(zip(names, amounts, strict=True)) == given + [("", "")] * 6
    whole = {"mode": mode, "chips" if mode == "chips" else "percents": {f"class {n}": 2 for n in range(10)}}
    if mode == "sliders":
        whole["percents"]["class 0"] = 82
    browser.answer(1, whole)
    sent = _fields(browser.get("/item?place=1").page)
    assert answer_from_form(sent, this.study.class_names) == whole
