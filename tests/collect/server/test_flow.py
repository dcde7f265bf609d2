"""A whole study without scripts, page by page, and what happens to who comes too early, too late or back."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from sfumato.collect.study import (
    Batches,
    Check,
    Consent,
    Exit,
    ExitQuestion,
    Instructions,
    Platform,
    Practice,
    QuizQuestion,
    Study,
)
from sfumato.errors import InputError


@pytest.fixture
def full(study: Study) -> Study:
    """A study with everything around the items."""
    return replace(
        study,
        consent=Consent(text="Do you agree?"),
        instructions=Instructions(
            text="Say what you see.",
            quiz=(QuizQuestion(question="What do you say?", options=("What I see", "Nothing"), answer="What I see"),),
            attempts=3,
        ),
        practice=(Practice(item="item-0", feedback="A deer indeed.", expected="deer"),),
        exit=Exit(questions=(ExitQuestion(text="Anything unclear?", required=True),)),
        batches=Batches(size=4, panel=2, repeats=1, checks_per_batch=1),
        checks=(Check(item="Choose ship.", answer="ship", text="Please read closely."),),
        platform=Platform(completion_code="THANKS"),
    )


def take_part(browser, top="deer"):
    """Answer every item with the plain form, as it is shown."""
    seen = []
    while browser.path == "/item":
        seen.append(browser.page)
        browser.post(
            "/api/answers",
            place=browser.field("place"),
            key=browser.field("key"),
            mode="top2",
            top=top,
            top_percent="70",
            second="dog",
            second_percent="20",
        )
    return seen


def test_a_whole_study_without_scripts(opened, full):
    study = opened(full)
    browser = study.browser()
    assert browser.path == "/consent"
    assert study.store.people() == []  # nothing is stored of who has not agreed
    assert browser.post("/consent", agree="yes").path == "/instructions"
    assert browser.post("/instructions", **{"quiz-0": "1"}).status == 422
    assert browser.post("/instructions", **{"quiz-0": "0"}).path == "/practice"
    browser.post("/practice", place="1", key=browser.field("key"), mode="top2", top="deer", top_percent="90")
    assert "A deer indeed." in browser.page
    assert browser.post("/practice", seen="1").path == "/item"
    seen = take_part(browser)
    assert len(seen) == 6
    assert sum("Please read closely." in page for page in seen) == 1
    assert browser.path == "/finish"
    assert browser.post("/api/finish").path == "/exit"
    assert browser.post("/exit", **{"exit-0": ""}).status == 422
    assert browser.post("/exit", **{"exit-0": "No."}).path == "/done"
    assert "THANKS" in browser.page
    (person,) = study.store.people()
    assert person.state == "done"
    assert person.tries == 1
    rows = list(study.store.responses())
    assert [row.kind for row in rows].count("main") == 4
    assert {row.kind for row in rows} == {"main", "repeat", "check", "practice"}
    main = next(row for row in rows if row.kind == "main")
    assert main.answer == {
        "mode": "top2", "top": "deer", "top_percent": 70, "second": "dog", "second_percent": 20, "impossible": [],
    }  # fmt: skip
    assert [row.answer for row in study.store.exit_answers()] == ["No."]


def test_who_does_not_agree_is_thanked_and_not_stored(opened, full):
    study = opened(full)
    browser = study.browser().post("/consent", agree="no")
    assert "You have not agreed to take part" in browser.page
    assert study.store.people() == []


@pytest.mark.parametrize(
    ("kind", "link", "words"),
    [
        ("prolific", "/?PROLIFIC_PID=abc&STUDY_ID=s&SESSION_ID=x", "return your submission on Prolific"),
        (
            "mturk",
            "/?assignmentId=a&hitId=h&workerId=w&turkSubmitTo=https://www.mturk.com",
            "return the HIT",
        ),
    ],
)
def test_who_does_not_agree_is_told_what_the_platform_wants_and_given_no_code(opened, full, kind, link, words):
    platform = Platform(kind=kind, completion_code="C1", screen_out_code="S1")
    browser = opened(replace(full, platform=platform)).browser(link).post("/consent", agree="no")
    assert words in browser.page
    assert "S1" not in browser.page
    assert "C1" not in browser.page
    assert "refresh" not in browser.headers


def test_too_many_wrong_tries_screen_a_person_out(opened, full):
    study = opened(full)
    browser = study.browser().post("/consent", agree="yes")
    for _ in range(3):
        browser.post("/instructions", **{"quiz-0": "1"})
    assert browser.path == "/screened"
    assert browser.get("/item").path == "/screened"
    assert study.store.people()[0].state == "screened"


@pytest.mark.parametrize("page", ["/instructions", "/practice", "/item", "/finish", "/exit", "/done", "/screened"])
def test_a_page_asked_for_too_early_leads_to_where_one_is(opened, full, page):
    browser = opened(full).browser()
    assert browser.get(page).path == "/consent"
    browser.post("/consent", agree="yes")
    assert browser.get(page).path == "/instructions"


def test_who_agreed_is_known_to_have(opened, full):
    study = opened(full)
    study.browser().post("/consent", agree="yes")
    assert study.store.people()[0].state == "consented"


def test_nobody_is_said_to_have_agreed_who_was_not_asked(opened):
    study = opened()
    study.browser()
    assert study.store.people()[0].consented_at is None


def test_two_clicks_on_i_agree_are_one_person(opened, full):
    study = opened(full)
    browser = study.browser()
    token = browser.field("csrf")
    for _ in range(2):
        browser.client.post("/consent", data={"csrf": token, "agree": "yes"})
    assert len(study.store.people()) == 1


def test_a_reload_brings_the_same_item_and_the_same_order_of_classes(opened):
    study = opened()
    first = study.browser()
    place, order = first.field("place"), re.findall(r'name="top"[^>]* value="(\w+)"', first.page)
    assert sorted(order) == sorted(study.study.class_names)
    again = first.get("/item")
    assert again.field("place") == place
    assert re.findall(r'name="top"[^>]* value="(\w+)"', again.page) == order
    orders = {tuple(re.findall(r'name="top"[^>]* value="(\w+)"', study.browser().page)) for _ in range(5)}
    assert len(orders) > 1


def test_an_answer_can_be_changed_until_the_study_is_handed_in(opened):
    study = opened()
    browser = study.browser()
    take_part(browser)
    assert browser.path == "/finish"
    browser.get("/item?place=2")
    assert browser.path == "/item"
    browser.post("/api/answers", place="2", key=browser.field("key"), mode="top2", top="ship", top_percent="55")
    rows = [row for row in study.store.responses(latest=False) if row.place == 2]
    assert [(row.revision, row.answer["top"]) for row in rows] == [(1, "deer"), (2, "ship")]
    browser.get("/finish").post("/api/finish")
    assert browser.path == "/done"
    assert browser.get("/item?place=2").path == "/done"


def test_a_contradiction_comes_back_with_what_was_filled_in(opened):
    browser = opened().browser()
    place = browser.field("place")
    browser.post(
        "/api/answers", place=place, key=browser.field("key"), mode="top2", top="deer", top_percent="80",
        second="dog", second_percent="30",
    )  # fmt: skip
    assert browser.status == 422
    assert "Together that is 110 %" in browser.page
    assert 'value="80"' in browser.page


def test_handing_in_waits_for_every_answer(opened):
    study = opened()
    browser = study.browser()
    assert browser.post("/api/finish").path == "/item"
    reply = browser.api("POST", "/api/finish", {})
    assert reply.status_code == 409
    assert reply.json()["error"]["code"] == "unanswered"
    assert [each["position"] for each in reply.json()["error"]["details"]] == [1, 2, 3, 4]
    assert study.store.people()[0].state == "working"


def test_no_places_left_is_said(opened):
    study = opened(batches=Batches(size=12, panel=1))
    assert study.browser().path == "/item"
    late = study.browser()
    assert "All places are taken" in late.page
    assert late.status == 200
    assert len(study.store.people()) == 1


def test_who_comes_when_nothing_is_left_is_told_at_the_door(opened, full):
    study = opened(replace(full, batches=Batches(size=12, panel=1)))
    first, second = study.browser(), study.browser()
    assert (first.path, second.path) == ("/consent", "/consent")
    first.post("/consent", agree="yes").post("/instructions", **{"quiz-0": "0"})
    first.post("/practice", place="1", key=first.field("key"), mode="top2", top="deer", top_percent="90")
    assert first.post("/practice", seen="1").path == "/item"
    assert "All places are taken" in second.post("/consent", agree="yes").page
    assert "All places are taken" in study.browser().page
    assert len(study.store.people()) == 1


@pytest.mark.parametrize(("state", "words"), [("paused", "A short break"), ("closed", "This study has ended")])
def test_a_study_that_is_paused_or_closed_lets_nobody_in(opened, state, words):
    study = opened()
    study.store.set_state(state).result()
    study.desk.look()
    assert words in study.browser().page
    assert study.store.people() == []


def test_who_is_at_work_may_end_when_the_study_is_closed_and_is_heard_while_it_is_paused(opened):
    study = opened()
    browser = study.browser()
    token = browser.csrf
    study.store.set_state("paused").result()
    study.desk.look()
    assert "A short break" in browser.get("/item").page
    reply = browser.api("POST", "/api/answers", {"place": 1, "key": "key-00001", "answer": {
        "mode": "top2", "top": "deer", "top_percent": 100, "second": None, "second_percent": None, "impossible": [],
    }}, csrf=token)  # fmt: skip
    assert reply.status_code == 200
    study.store.set_state("closed").result()
    study.desk.look()
    take_part(browser.get("/item"))
    assert browser.post("/api/finish").path == "/done"


def test_people_go_back_to_the_platform_only_after_everything_has_arrived(opened, study):
    platform = Platform(kind="prolific", completion_code="C1", screen_out_code="S1")
    study = opened(replace(study, platform=platform))
    browser = study.browser("/?PROLIFIC_PID=abc&STUDY_ID=s&SESSION_ID=x")
    link = "https://app.prolific.com/submissions/complete?cc=C1"
    assert link not in browser.page
    assert "refresh" not in browser.headers
    assert browser.get("/done").path == "/item"
    take_part(browser)
    assert link not in browser.page
    browser.post("/api/finish")
    assert f'href="{link}"' in browser.page
    assert browser.headers["refresh"] == f"5; url={link}"
    assert len(list(study.store.responses())) == 4


def test_who_is_screened_out_goes_back_with_the_other_code(opened, full):
    platform = Platform(kind="prolific", completion_code="C1", screen_out_code="S1")
    browser = opened(replace(full, platform=platform)).browser("/?PROLIFIC_PID=abc&STUDY_ID=s&SESSION_ID=x")
    browser.post("/consent", agree="yes")
    for _ in range(3):
        browser.post("/instructions", **{"quiz-0": "1"})
    assert "cc=S1" in browser.page
    assert "cc=S1" in browser.headers["refresh"]
    assert "C1" not in browser.page


def test_what_was_practised_or_checked_is_never_an_item_to_judge(opened, full):
    checks = (Check(item="item-1", answer="ship"),)
    study = opened(replace(full, checks=checks, batches=Batches(size=12, panel=1, checks_per_batch=1)))
    browser = study.browser().post("/consent", agree="yes").post("/instructions", **{"quiz-0": "0"})
    browser.post("/practice", place="1", key=browser.field("key"), mode="top2", top="deer", top_percent="90")
    assert browser.post("/practice", seen="1").path == "/item"
    asked = {place.item for place in study.store.places() if place.kind == "main"}
    assert asked == {f"item-{n}" for n in range(2, 12)}


def test_a_batch_may_not_hold_what_is_practised(opened, full):
    (full.folder / "batches.json").write_text('[["item-0", "item-1"]]', encoding="utf-8")
    with pytest.raises(InputError, match="item 'item-0' of the batch '1' is practised"):
        opened(replace(full, batches=Batches(panel=1, allocation="batches.json")))
