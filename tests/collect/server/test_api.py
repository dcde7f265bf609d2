"""What the scripts send and are told: exactly once, half-filled items, two tabs, and refusals in one envelope."""

from __future__ import annotations

import pytest

from sfumato.collect.study import Batches, Check

TOP2 = {"mode": "top2", "top": "deer", "top_percent": 70, "second": "dog", "second_percent": 20, "impossible": ["ship"]}


def test_what_was_said_is_stored_as_it_was_said(opened):
    study = opened()
    browser = study.browser()
    events = [
        {"at": 1200, "what": "top", "value": "deer", "how": "key"},
        {"at": 2500.5, "what": "top_percent", "value": 70},
    ]
    reply = browser.answer(
        1, TOP2, seconds=8.25, events=events, shown_at="2026-11-19T05:00:00.000Z", sent_at="2026-11-19T05:00:08.250Z"
    )
    assert reply.status_code == 200
    told = reply.json()
    assert {name: told[name] for name in ("stored", "new", "place", "revision", "answered", "of", "next")} == {
        "stored": True, "new": True, "place": 1, "revision": 1, "answered": 1, "of": 4, "next": "/item",
    }  # fmt: skip
    (row,) = study.store.responses()
    assert row.answer == TOP2
    assert row.events == events
    assert (row.seconds, row.shown_at, row.sent_at) == (8.25, "2026-11-19T05:00:00.000Z", "2026-11-19T05:00:08.250Z")
    assert row.received_at == study.clock.now


def test_the_same_key_counts_once_even_after_handing_in(opened):
    study = opened()
    browser = study.browser()
    assert [browser.answer(1, key="one-key-0001").json()["new"] for _ in range(3)] == [True, False, False]
    for place in (2, 3, 4):
        browser.answer(place)
    assert browser.api("POST", "/api/finish", {}).json() == {"next": "/done"}
    again = browser.answer(1, key="one-key-0001")
    assert (again.status_code, again.json()["new"], again.json()["next"]) == (200, False, "/done")
    late = browser.answer(1, key="another-key")
    assert (late.status_code, late.json()["error"]["code"], late.json()["error"]["next"]) == (409, "handed_in", "/done")
    assert len(list(study.store.responses(latest=False))) == 4


def test_the_key_of_one_person_says_nothing_about_another(opened):
    study = opened()
    first, second = study.browser(), study.browser()
    assert first.answer(1, key="the-same-key").json()["new"] is True
    assert second.answer(1, key="the-same-key").json()["new"] is True


def test_another_key_is_a_changed_answer_that_a_second_tab_can_see(opened):
    study = opened()
    browser = study.browser()
    browser.answer(1, key="first-tab")
    browser.answer(1, {**TOP2, "top_percent": 75}, key="second-tab")
    state = browser.client.get("/api/state").json()
    assert state["places"][0] == {"place": 1, "position": 1, "answered": True, "revision": 2}
    place = browser.client.get("/api/places/1").json()
    assert (place["revision"], place["answer"]["top_percent"]) == (2, 75)
    assert [row.answer["top_percent"] for row in study.store.responses(latest=False)] == [70, 75]


def test_a_half_filled_item_comes_back_and_the_latest_stays(opened):
    study = opened()
    browser = study.browser()
    half = {
        "mode": "top2",
        "top": "deer",
        "top_percent": None,
        "second": None,
        "second_percent": None,
        "impossible": [],
    }
    draft = {"place": 1, "answer": {**half, "top_percent": 60}, "events": [{"at": 1}], "sequence": 20}
    for method in ("POST", "PUT"):
        assert browser.api(method, "/api/drafts", draft).json() == {"saved": True}
    assert browser.api("POST", "/api/drafts", {**draft, "answer": half, "sequence": 10}).status_code == 200
    place = browser.client.get("/api/places/1").json()
    assert (place["draft"]["top_percent"], place["draft_events"], place["draft_sequence"]) == (60, [{"at": 1}], 20)
    assert 'value="60"' in browser.get("/item").page
    browser.answer(1)
    assert browser.client.get("/api/places/1").json()["draft"] is None


def test_handing_in_waits_for_a_change_that_is_not_confirmed(opened):
    study = opened()
    browser = study.browser()
    for place in browser.places():
        browser.answer(place)
    draft = {"place": 3, "sequence": 5, "revision": 1}
    same = {**TOP2, "impossible": list(TOP2["impossible"]), "others": True}
    browser.api("POST", "/api/drafts", {**draft, "answer": {**same, "top_percent": 75}})
    reply = browser.api("POST", "/api/finish", {})
    assert (reply.status_code, reply.json()["error"]["code"]) == (409, "unkept")
    assert [(each["place"], each["position"]) for each in reply.json()["error"]["details"]] == [(3, 3)]
    # Without scripts, the page of that item says so.
    browser.get("/finish").post("/api/finish")
    assert "You have changed this answer." in browser.page
    assert browser.field("place") == "3"
    # The same answer in another order is no change.
    browser.api("POST", "/api/drafts", {**draft, "sequence": 6, "answer": dict(reversed(same.items()))})
    assert "You have changed this answer." not in browser.get("/item?place=3").page.partition("data-page")[0]
    assert browser.api("POST", "/api/finish", {}).json() == {"next": "/done"}


def test_a_contradiction_is_refused_with_422_and_named(opened):
    study = opened()
    browser = study.browser()
    reply = browser.answer(1, {**TOP2, "second": "deer"})
    assert reply.status_code == 422
    error = reply.json()["error"]
    assert error["code"] == "answer"
    assert error["details"] == [
        {
            "code": "second",
            "field": "second",
            "message": "The second choice is also the first. Please choose another one, or none.",
        }
    ]
    assert list(study.store.responses()) == []


@pytest.mark.parametrize(
    ("change", "status", "code"),
    [
        ({"place": 99}, 404, "missing"),
        ({"place": -1}, 400, "shape"),
        ({"place": "x"}, 400, "shape"),
        ({"place": True}, 400, "shape"),
        ({"key": "short"}, 400, "shape"),
        ({"key": "no spaces here"}, 400, "shape"),
        ({"key": 12345678}, 400, "shape"),
        ({"answer": None}, 400, "shape"),
        ({"answer": {"mode": "hard", "top": "deer"}}, 400, "shape"),
        ({"seconds": -1}, 400, "shape"),
        ({"seconds": "8"}, 400, "shape"),
        ({"events": {}}, 400, "shape"),
        ({"events": [1]}, 400, "shape"),
        ({"shown_at": 5}, 400, "shape"),
        ({"sent_at": "x" * 100}, 400, "shape"),
    ],
)
def test_what_no_page_sends_is_refused(opened, change, status, code):
    study = opened()
    browser = study.browser()
    reply = browser.api("POST", "/api/answers", {"place": 1, "key": "a-good-key", "answer": TOP2, **change})
    assert (reply.status_code, reply.json()["error"]["code"]) == (status, code)
    assert list(study.store.responses()) == []


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"\xff\xfe", b'{"a": NaN}', b'{"a": 1e999}', b'{"a": "\\ud800"}', b"[" * 50_000]
)
def test_a_body_that_is_not_json(opened, body):
    browser = opened().browser()
    headers = {"x-csrf": browser.csrf, "content-type": "application/json"}
    reply = browser.client.post("/api/answers", content=body, headers=headers)
    assert (reply.status_code, reply.json()["error"]["code"]) == (400, "shape")


def test_a_check_does_not_show_itself(opened):
    study = opened(
        batches=Batches(size=4, panel=2, checks_per_batch=1), checks=(Check(item="Choose ship.", answer="ship"),)
    )
    browser = study.browser()
    assert len(browser.places()) == 5
    told = [browser.client.get(f"/api/places/{place}").json() for place in browser.places()]
    assert {each["kind"] for each in told} == {"main"}
    assert not any("ship" in str(each["note"]) for each in told)
    assert [each.kind for each in study.store.places()].count("check") == 1


def test_classes_are_told_once_where_there_are_many(opened):
    browser = opened().browser()
    assert len(browser.client.get("/api/places/1").json()["classes"]) == 4
    assert "classes" not in browser.client.get("/api/places/1?classes=0").json()


def test_somebody_without_a_cookie(opened):
    study = opened()
    client = study.browser().client
    client.cookies.clear()
    for method, path in [
        ("GET", "/api/state"),
        ("POST", "/api/answers"),
        ("POST", "/api/finish"),
        ("GET", "/api/places/1"),
    ]:
        reply = client.request(method, path, json={})
        assert (reply.status_code, reply.json()["error"]["code"]) == (401, "session")
    page = client.get("/item")
    assert page.status_code == 401
    assert "Your visit has ended" in page.text


def test_before_the_items_there_is_nothing_to_answer(opened, study):
    from dataclasses import replace

    from sfumato.collect.study import Instructions

    browser = opened(replace(study, instructions=Instructions(text="Read this."))).browser()
    assert browser.path == "/instructions"
    reply = browser.answer(1)
    assert (reply.status_code, reply.json()["error"]["next"]) == (409, "/instructions")
    reply = browser.api("POST", "/api/finish", {})
    assert reply.json() == {"next": "/instructions"}
