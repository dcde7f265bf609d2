"""Reloads, closed tabs, two tabs and a network that fails: the half-filled item comes back, and answers arrive once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

Serve = Callable[..., Any]
Look = Callable[..., Page]


def _place(page: Page, text: str) -> None:
    expect(page.locator("#place")).to_have_text(text)


def _press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def _waiting(page: Page) -> int:
    count: int = page.evaluate("Object.keys(localStorage).filter((name) => name.includes(' send ')).length")
    return count


def _until(page: Page, holds: Callable[[], bool], what: str) -> None:
    for _ in range(400):
        if holds():
            return
        page.wait_for_timeout(20)
    pytest.fail(what)


def test_a_half_filled_item_comes_back_after_a_reload_and_in_a_new_tab(serve: Serve, look: Look) -> None:
    study = serve(shuffle_classes=False)
    page = look()
    page.goto(study.address)
    _press(page, "Digit2", "KeyY", "Shift+Digit3")
    page.locator("#second-percent").fill("12.5")
    page.reload()
    expect(page.locator("[name=top][value=square]")).to_be_checked()
    expect(page.locator("#top-percent")).to_have_value("60")
    expect(page.locator("#second-percent")).to_have_value("12.5")
    # The tab is closed; the same person opens the link again.
    again = page.context.new_page()
    page.close()
    again.goto(study.address)
    expect(again.locator("#second-percent")).to_have_value("12.5")
    expect(again.locator("#left")).to_contain_text("27.5 % open")
    _press(again, "Enter")
    _place(again, "2 of 4")
    _until(again, lambda: not _waiting(again), "the answer was not sent")
    row = study.responses()[0]
    assert row.answer["second_percent"] == 12.5
    # The inputs of all three visits, in one order of time.
    told = [event["what"] for event in row.events]
    assert [each for each in told if each not in ("hidden", "visible")] == [
        "shown", "top", "top_percent", "second", "second_percent", "resumed", "resumed"
    ]  # fmt: skip
    assert [event["at"] for event in row.events] == sorted(event["at"] for event in row.events)


def test_a_half_filled_item_comes_back_on_another_device(serve: Serve, look: Look) -> None:
    """The browser has lost everything, and the server has the draft."""
    study = serve(shuffle_classes=False)
    page = look()
    page.goto(study.address)
    with page.expect_response("**/api/drafts"):
        _press(page, "Digit3", "KeyW")
    page.evaluate("localStorage.clear()")
    page.reload()
    expect(page.locator("[name=top][value=triangle]")).to_be_checked()
    expect(page.locator("#top-percent")).to_have_value("20")


def test_without_network_one_goes_on_and_every_answer_arrives_once(serve: Serve, look: Look) -> None:
    study = serve(n_items=5, mode="top1", shuffle_classes=False)
    page = look(quiet=False)
    with page.expect_response("**/api/places/5"):
        page.goto(study.address)
    _press(page, "Digit1", "KeyQ", "Enter")
    _place(page, "2 of 5")
    _until(page, lambda: not _waiting(page), "the first answer was not sent")
    page.context.set_offline(True)
    for n in range(2, 6):
        _place(page, f"{n} of 5")
        # Every picture was there before the network went.
        page.locator("#item img").evaluate("(picture) => picture.decode()")
        _press(page, "Digit2", "KeyW", "Enter")
    expect(page.get_by_role("heading", name="That was the last one")).to_be_visible()
    expect(page.locator("#saving")).to_contain_text("Answers waiting here: 4")
    # Handing in waits for the last acknowledgement.
    page.get_by_role("button", name="Hand in").click()
    expect(page.locator("#hand-in .problems")).to_contain_text("Please keep this page open")
    assert len(study.responses(latest=False)) == 1
    page.context.set_offline(False)
    page.evaluate("dispatchEvent(new Event('online'))")
    expect(page.get_by_role("heading", name="Thank you")).to_be_visible()
    rows = study.responses(latest=False)
    assert [(row.place, row.revision) for row in rows] == [(1, 1), (2, 1), (3, 1), (4, 1), (5, 1)]
    assert page.evaluate("Object.keys(localStorage).filter((name) => / (send|draft) /.test(name))") == []


def test_ten_minutes_without_network_change_nothing(serve: Serve, look: Look) -> None:
    study = serve(n_items=3, mode="top1", shuffle_classes=False)
    page = look(quiet=False)
    page.clock.install()
    with page.expect_response("**/api/places/3"):
        page.goto(study.address)
    page.context.set_offline(True)
    # Nothing tells the page that the network is back: it has to try by itself.
    page.evaluate("addEventListener('online', (event) => event.stopImmediatePropagation(), true)")
    _press(page, "Digit1", "KeyI", "Enter")
    _place(page, "2 of 3")
    _press(page, "Digit3", "KeyR")
    for _ in range(20):
        page.clock.run_for(30_000)
    expect(page.locator("#saving")).to_contain_text("Answers waiting here: 1")
    assert study.responses() == []
    page.context.set_offline(False)

    def sent() -> bool:
        page.clock.run_for(5_000)
        return not _waiting(page)

    _until(page, sent, "the answer was not sent")
    assert study.answers() == [{"mode": "top1", "top": "circle", "top_percent": 80}]
    assert len(study.responses(latest=False)) == 1
    expect(page.locator("[name=top][value=triangle]")).to_be_checked()
    page.reload()
    expect(page.locator("[name=top][value=triangle]")).to_be_checked()
    expect(page.locator("#top-percent")).to_have_value("40")


def test_an_answer_whose_acknowledgement_was_lost_counts_once(serve: Serve, look: Look) -> None:
    study = serve(n_items=2, mode="hard", shuffle_classes=False)
    page = look(quiet=False)
    lost: list[str] = []

    def lose(route: Route) -> None:
        # The server takes it, and nobody hears of it: twice the connection breaks, once the proxy says 502.
        reply = route.fetch()
        if len(lost) < 3:
            lost.append(str(route.request.post_data_json["key"]))
            if len(lost) == 2:
                route.fulfill(status=502, body="")
            else:
                route.abort("connectionreset")
        else:
            route.fulfill(response=reply)

    page.route("**/api/answers", lose)
    page.goto(study.address)
    _press(page, "Digit2", "Enter")
    _place(page, "2 of 2")
    for n in range(1, 4):
        _until(page, lambda n=n: len(lost) >= n, "it was not sent again")
        page.evaluate("dispatchEvent(new Event('online'))")
    _until(page, lambda: not _waiting(page), "the answer was not acknowledged")
    assert len(set(lost)) == 1
    (row,) = study.responses(latest=False)
    assert row.key.endswith(lost[0])


def test_a_page_that_is_reloaded_without_having_sent_sends_then(serve: Serve, look: Look) -> None:
    study = serve(n_items=3, mode="hard", shuffle_classes=False)
    page = look(quiet=False)
    page.goto(study.address)
    page.route("**/api/answers", lambda route: route.abort())
    _press(page, "Digit1", "Enter")
    _place(page, "2 of 3")
    assert _waiting(page) == 1
    page.close()
    page = page.context.new_page()
    page.goto(study.address)
    # The server believes the first place to be open; the browser knows better, and goes on where the person was.
    _until(page, lambda: not _waiting(page), "the answer was not sent")
    assert study.answers() == [{"mode": "hard", "top": "circle"}]
    expect(page.locator("[name=top][value=circle]")).to_be_checked()
    _press(page, "Enter")
    _place(page, "2 of 3")
    assert len(study.responses(latest=False)) == 1


def test_two_tabs_show_the_same_and_answer_once(serve: Serve, look: Look) -> None:
    study = serve(n_items=3, mode="top1", shuffle_classes=False)
    one = look()
    one.goto(study.address)
    other = one.context.new_page()
    other.goto(study.address)
    _press(one, "Digit2", "KeyO")
    expect(other.locator("[name=top][value=square]")).to_be_checked()
    expect(other.locator("#top-percent")).to_have_value("90")
    _press(other, "KeyI")
    expect(one.locator("#top-percent")).to_have_value("80")
    _press(one, "Enter")
    _place(one, "2 of 3")
    expect(other.locator("#saving")).to_have_text("This item was answered in another tab.")
    _press(other, "Enter")
    _place(other, "2 of 3")
    _until(one, lambda: not _waiting(one), "the answer was not sent")
    rows = study.responses(latest=False)
    assert [(row.place, row.answer["top_percent"]) for row in rows] == [(1, 80)]


def test_what_the_server_refuses_comes_back_and_is_explained(serve: Serve, look: Look) -> None:
    study = serve(n_items=2, mode="hard", shuffle_classes=False)
    page = look(quiet=False)
    body = '{"error": {"code": "answer", "message": "No.", "details": [{"field": "top", "message": "Not this one."}]}}'
    page.route("**/api/answers", lambda route: route.fulfill(status=422, content_type="application/json", body=body))
    page.goto(study.address)
    _press(page, "Digit3", "Enter")
    expect(page.locator("#problems")).to_have_text("The server could not take this answer: Not this one.")
    _place(page, "1 of 2")
    expect(page.locator("[name=top][value=triangle]")).to_be_checked()
    page.unroute("**/api/answers")
    _press(page, "Digit1", "Enter")
    _place(page, "2 of 2")
    _until(page, lambda: not _waiting(page), "the answer was not sent")
    assert study.answers() == [{"mode": "hard", "top": "circle"}]


def test_a_browser_that_keeps_nothing_still_answers_and_says_so(serve: Serve, look: Look) -> None:
    study = serve(n_items=2, mode="hard", shuffle_classes=False)
    page = look(quiet=False)
    closed = (
        "Object.defineProperty(window, 'localStorage', {get() { throw new DOMException('closed', 'SecurityError'); }})"
    )
    page.add_init_script(closed)
    page.route("**/api/answers", lambda route: route.abort())
    page.goto(study.address)
    _press(page, "Digit1", "Enter")
    _place(page, "2 of 2")
    expect(page.locator("#saving")).to_contain_text("This browser keeps nothing when the page is closed.")
    page.unroute("**/api/answers")
    _press(page, "Digit2", "Enter")
    page.get_by_role("button", name="Hand in").click()
    expect(page.get_by_role("heading", name="Thank you")).to_be_visible()
    assert [each["top"] for each in study.answers()] == ["circle", "square"]
