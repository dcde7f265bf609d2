"""Answering in a browser: by keyboard alone, by touch, by mouse and slider, in every mode; and nothing is ever bent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from sfumato.collect.study import Batches

Serve = Callable[..., Any]
Look = Callable[..., Page]
# Two classes that contradict, on purpose: names that must not be taken for anything else.
_ANIMALS = ("deer", "horse", "a <b>bold</b> “ox” & {name}", "dog", "cat")


def _place(page: Page, text: str) -> None:
    expect(page.locator("#place")).to_have_text(text)
    page.wait_for_load_state()


def _problems(page: Page) -> Locator:
    return page.locator("#problems p")


def _row(page: Page, name: str) -> Locator:
    return page.locator(".class").filter(has=page.locator("bdi", has_text=name))


def _sent(page: Page) -> None:
    """Wait until nothing waits in the browser any more."""
    for _ in range(200):
        if not page.evaluate("Object.keys(localStorage).filter((name) => name.includes(' send ')).length"):
            return
        page.wait_for_timeout(20)
    pytest.fail("answers still wait in the browser")


def test_a_whole_study_is_done_by_keyboard_alone(serve: Serve, look: Look, whole: dict[str, Any]) -> None:
    study = serve(n_items=6, batches=Batches(size=3, checks_per_batch=1), **whole)
    page = look(quiet=False)
    page.goto(study.address)

    def press(*keys: str) -> None:
        for key in keys:
            page.keyboard.press(key)

    def tab_to(locator: Locator) -> None:
        for _ in range(40):
            press("Tab")
            if locator.evaluate("each => each === document.activeElement"):
                return
        pytest.fail(f"{locator} is not reached by the tab key")

    tab_to(page.get_by_role("button", name="I agree"))
    press("Enter")
    tab_to(page.get_by_role("radio", name="What is fashionable"))
    press("Space", "Enter")
    expect(page.get_by_text("Not quite").first).to_be_visible()
    tab_to(page.get_by_role("radio", name="What is fashionable"))
    press("ArrowDown", "Enter")
    # Practice: two keys, and what is to be learnt from it.
    expect(page.get_by_text("does not count")).to_be_visible()
    page.wait_for_load_state()
    first = page.locator("#classes bdi").all_text_contents().index("circle") + 1
    press(str(first), "KeyO", "Enter")
    expect(page.get_by_text("That is what we expected.")).to_be_visible()
    tab_to(page.get_by_role("button", name="Go on"))
    press("Enter")
    for n in range(1, 5):
        _place(page, f"{n} of 4")
        press("Digit1", "KeyU", "Shift+Digit2", "Shift+KeyQ", "KeyX" if n == 1 else "+", "Enter")
        if n == 1:
            # 70 and 10, and nothing else is possible: 20 have nowhere to go.
            expect(_problems(page)).to_contain_text("20 % are left, and everything else is ruled out.")
            press("KeyX", "Enter")
    expect(page.get_by_role("heading", name="That was the last one")).to_be_focused()
    tab_to(page.get_by_role("button", name="Hand in"))
    press("Enter")
    expect(page.get_by_role("heading", name="One last page")).to_be_visible()
    tab_to(page.get_by_role("radio", name="easy"))
    press("Space", "Enter")
    expect(page.locator("output")).to_have_text("THANKS-42")
    said = study.answers()
    top, second = said[0]["top"], said[0]["second"]
    assert said[0] == {
        "mode": "top2", "top": top, "top_percent": 70, "second": second, "second_percent": 10, "impossible": []
    }  # fmt: skip
    assert {top, second} < {"circle", "square", "triangle"}
    assert [each["second_percent"] for each in said] == [10, 11, 11, 11]


def test_a_whole_study_is_done_by_touch_on_a_phone(serve: Serve, look: Look, whole: dict[str, Any]) -> None:
    study = serve(n_items=6, batches=Batches(size=3), **whole)
    page = look(390, 844, has_touch=True, is_mobile=True, quiet=False)
    page.goto(study.address)

    def tap(locator: Locator) -> None:
        locator.scroll_into_view_if_needed()
        box = locator.bounding_box()
        assert box is not None
        # What a finger hits is what it was meant for, and large enough.
        assert min(box["width"], box["height"]) >= 24
        locator.tap()

    tap(page.get_by_role("button", name="I agree"))
    tap(page.locator("label", has_text="What I see"))
    tap(page.get_by_role("button", name="Go on"))
    for place in ("Practice", "1 of 3", "2 of 3", "3 of 3"):
        _place(page, place)
        assert page.evaluate("document.documentElement.scrollWidth") == 390
        rows = page.locator(".class")
        tap(rows.nth(0).locator("label.name"))
        tap(rows.nth(1).get_by_text("2nd"))
        tap(rows.nth(2).get_by_text("not"))
        for rank, share in (("top", 0.8), ("second", 0.2)):
            slider = page.locator(f"#{rank}-slider")
            box = slider.bounding_box()
            assert box is not None, rank
            page.touchscreen.tap(box["x"] + share * box["width"], box["y"] + box["height"] / 2)
            expect(page.locator(f"#{rank}-percent")).not_to_have_value("")
        top, second = (float(page.locator(f"#{rank}-percent").input_value()) for rank in ("top", "second"))
        # A slider moves nothing but itself; what is left over has nowhere to go, so the person gives it to the first.
        page.locator("#top-percent").fill(str(100 - second))
        assert abs(top - 80) < 8
        tap(page.get_by_role("button", name="Check" if place == "Practice" else "Next"))
        if place == "Practice":
            tap(page.get_by_role("button", name="Go on"))
    tap(page.get_by_role("button", name="Hand in"))
    tap(page.locator("label", has_text="so so"))
    tap(page.get_by_role("button", name="Finish"))
    expect(page.locator("output")).to_have_text("THANKS-42")
    assert len(study.answers()) == 3
    assert all(len(each["impossible"]) == 1 for each in study.answers())


def test_contradictions_are_explained_in_place_and_nothing_is_bent(serve: Serve, look: Look) -> None:
    study = serve(classes=_ANIMALS, shuffle_classes=False)
    page = look()
    page.goto(study.address)
    page.keyboard.press("Enter")
    expect(_problems(page)).to_have_text("Please choose a class.")
    page.keyboard.press("Digit1")
    expect(_problems(page)).to_contain_text("how likely deer is")
    page.locator("#top-percent").fill("150")
    expect(page.locator("#top-percent")).to_have_attribute("aria-invalid", "true")
    page.locator("#top-percent").fill("60")
    expect(_problems(page)).to_have_count(0)
    # The same class twice: both stay chosen, and the page says so.
    _row(page, "deer").get_by_text("2nd").click()
    expect(_problems(page).first).to_have_text(
        "The second choice is also the first. Please choose another one, or none."
    )
    expect(page.locator("[name=top][value=deer]")).to_be_checked()
    _row(page, "horse").get_by_text("2nd").click()
    page.locator("#second-percent").fill("50")
    expect(_problems(page)).to_have_text("Together that is 110 %, more than 100. Please take some away.")
    expect(page.locator("#top-slider")).to_have_js_property("value", "60")
    expect(page.locator("#second-slider")).to_have_js_property("value", "50")
    page.locator("#second-percent").fill("70")
    expect(_problems(page).first).to_have_text("The second choice has more than the first. Please change one of them.")
    page.locator("#second-percent").fill("20")
    _row(page, "horse").get_by_text("not", exact=True).click()
    expect(_problems(page)).to_have_text("horse is chosen and ruled out. It cannot be both.")
    page.locator("#next").click()
    _place(page, "1 of 4")
    assert study.answers() == []
    page.locator("#undo").click()
    expect(_problems(page)).to_have_count(0)
    expect(page.locator("#left")).to_have_text("20 % open: shared equally among what you have not ruled out (3)")
    page.locator("#next").click()
    _place(page, "2 of 4")
    # Unlike everything before, the next item begins with nothing said.
    expect(page.locator("#top-slider")).to_be_hidden()
    expect(page.locator(":checked:not(#keys-on, #second-none)")).to_have_count(0)
    _sent(page)
    assert study.answers() == [
        {"mode": "top2", "top": "deer", "top_percent": 60, "second": "horse", "second_percent": 20, "impossible": []}
    ]
    # Every input is recorded with its time, what was refused and taken back too.
    events = study.responses()[0].events
    assert [event["what"] for event in events if event["how"] != "page"] == [
        "top", "top_percent", "second", "second", "second_percent", "impossible", "undo"
    ]  # fmt: skip
    assert [event["at"] for event in events] == sorted(event["at"] for event in events)


def test_an_answer_can_be_looked_at_again_and_changed_until_it_is_handed_in(serve: Serve, look: Look) -> None:
    study = serve(n_items=3, mode="top1", shuffle_classes=False)
    page = look()
    page.goto(study.address)
    for n, keys in enumerate((("Digit1", "KeyP"), ("Digit2", "KeyU"), ("Digit3", "KeyT")), start=1):
        _place(page, f"{n} of 3")
        for key in (*keys, "Enter"):
            page.keyboard.press(key)
    page.locator("#look-again").click()
    _place(page, "3 of 3")
    expect(page.locator("#top-percent")).to_have_value("50")
    page.keyboard.press("KeyB")
    _place(page, "2 of 3")
    page.keyboard.press("Backspace")  # nothing to undo: an answer is not taken back by looking at it
    page.keyboard.press("+")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="That was the last one")).to_be_visible()
    page.get_by_role("button", name="Hand in").click()
    expect(page.get_by_role("heading", name="Thank you")).to_be_visible()
    assert [each["top_percent"] for each in study.answers()] == [100, 50, 71]
    # What was said first is kept too, and looking at an answer is no new one.
    assert [(row.place, row.revision) for row in study.responses(latest=False)] == [(1, 1), (2, 1), (3, 1), (2, 2)]


def _answer_all(page: Page, n_items: int) -> None:
    for n in range(1, n_items + 1):
        _place(page, f"{n} of {n_items}")
        page.keyboard.press("Digit1")
        page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="That was the last one")).to_be_visible()


@pytest.mark.parametrize("way", ["key", "history"])
def test_a_changed_answer_counts_whichever_way_one_leaves_it(serve: Serve, look: Look, way: str) -> None:
    study = serve(n_items=3, mode="hard", shuffle_classes=False)
    page = look()
    page.goto(study.address)
    _answer_all(page, 3)
    page.go_back()
    _place(page, "3 of 3")
    page.keyboard.press("Digit2")
    if way == "key":
        page.keyboard.press("KeyB")
    else:
        page.go_back()
    _place(page, "2 of 3")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Hand in").click()
    expect(page.get_by_role("heading", name="Thank you")).to_be_visible()
    assert [(row.place, row.revision, row.answer["top"]) for row in study.responses(latest=False)] == [
        (1, 1, "circle"), (2, 1, "circle"), (3, 1, "circle"), (3, 2, "square")
    ]  # fmt: skip


def test_a_change_that_is_not_confirmed_is_asked_about_before_all_is_handed_in(serve: Serve, look: Look) -> None:
    study = serve(n_items=2, mode="top1", shuffle_classes=False)
    page = look(quiet=False)
    page.goto(study.address)
    for n in (1, 2):
        _place(page, f"{n} of 2")
        for key in ("Digit1", "KeyT", "Enter"):
            page.keyboard.press(key)
    page.locator("#look-again").click()
    _place(page, "2 of 2")
    # Half an answer cannot be sent when one leaves it, and is neither sent nor lost by a reload.
    page.locator("#top-percent").fill("")
    page.keyboard.press("Escape")
    page.keyboard.press("KeyB")
    _place(page, "1 of 2")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Hand in").click()
    _place(page, "2 of 2")
    expect(_problems(page).first).to_contain_text("You have changed this answer.")
    expect(page.locator("#top-percent")).to_have_value("")
    page.locator("#undo").click()
    expect(page.locator("#top-percent")).to_have_value("50")
    expect(_problems(page)).to_have_count(0)
    page.keyboard.press("Digit2")
    page.reload()
    expect(_problems(page).first).to_contain_text("You have changed this answer.")
    page.goto(f"{study.address}/finish")
    page.get_by_role("button", name="Hand in").click()
    _place(page, "2 of 2")
    page.keyboard.press("Enter")
    # A reload of the last page stays there.
    expect(page.get_by_role("heading", name="That was the last one")).to_be_visible()
    _sent(page)
    page.reload()
    page.get_by_role("button", name="Hand in").click()
    expect(page.get_by_role("heading", name="Thank you")).to_be_visible()
    assert [each["top"] for each in study.answers()] == ["circle", "square"]
    assert len(study.responses(latest=False)) == 3


def test_whoever_is_quicker_than_the_page_stays_where_they_went(serve: Serve, look: Look) -> None:
    study = serve(n_items=1, mode="top1", shuffle_classes=False)
    page = look(quiet=False)
    held: list[Route] = []
    page.route("**/finish.js*", lambda route: held.append(route))  # a function, since Playwright marks it
    page.goto(study.address, wait_until="domcontentloaded")
    expect(page.locator("#place")).to_have_text("1 of 1")
    for key in ("Digit1", "KeyT", "Enter"):
        page.keyboard.press(key)
    expect(page.get_by_role("heading", name="That was the last one")).to_be_visible()
    assert held
    for route in held:
        route.continue_()
    page.unroute("**/finish.js*")
    _sent(page)
    page.wait_for_load_state("networkidle")
    assert page.url.endswith("/finish")
    page.reload()
    page.get_by_role("button", name="Hand in").click()
    expect(page.get_by_role("heading", name="Thank you")).to_be_visible()


def test_everything_else_follows_the_choice_and_waits_for_one(serve: Serve, look: Look) -> None:
    study = serve(classes=_ANIMALS, shuffle_classes=False, n_items=2)
    page = look()
    page.goto(study.address)
    expect(page.locator("#others")).to_be_disabled()
    page.keyboard.press("KeyX")
    expect(page.locator("[name=impossible]:checked")).to_have_count(0)
    for key in ("Digit1", "KeyX", "Digit2"):
        page.keyboard.press(key)
    expect(page.locator("#others")).to_be_checked()
    expect(page.locator("[name=impossible]:checked")).to_have_count(4)
    expect(page.locator("[name=impossible][value=horse]")).not_to_be_checked()
    page.keyboard.press("Shift+Digit4")
    expect(page.locator("[name=impossible]:checked")).to_have_count(3)
    for key in ("KeyO", "Shift+KeyQ"):
        page.keyboard.press(key)
    expect(_problems(page)).to_have_count(0)
    page.reload()
    expect(page.locator("#others")).to_be_checked()
    page.keyboard.press("Enter")
    _place(page, "2 of 2")
    # Of single classes that were ruled out nothing follows: the contradiction is told.
    page.keyboard.press("Digit1")
    _row(page, "horse").get_by_text("not", exact=True).click()
    page.keyboard.press("Digit2")
    page.keyboard.press("KeyP")
    expect(_problems(page)).to_have_text("horse is chosen and ruled out. It cannot be both.")
    page.keyboard.press("Backspace")
    _sent(page)
    assert [each["impossible"] for each in study.answers()] == [["deer", _ANIMALS[2], "cat"]]


def test_thirds_leave_nothing_open_and_can_be_submitted(serve: Serve, look: Look) -> None:
    study = serve(mode="sliders", shuffle_classes=False, n_items=2)
    page = look()
    page.goto(study.address)
    for n, third in enumerate(("33.333", "33.33"), start=1):
        _place(page, f"{n} of 2")
        for name in ("circle", "square", "triangle"):
            _row(page, name).locator(".amount").fill(third)
        expect(page.locator("#left")).to_have_text("Nothing is left open.")
        page.locator("#next").click()
    _sent(page)
    assert [set(each["percents"].values()) for each in study.answers()] == [{33.333}, {33.33}]


def test_chips_are_a_histogram_by_hand(serve: Serve, look: Look) -> None:
    study = serve(mode="chips", person="third", shuffle_classes=False)
    page = look()
    page.goto(study.address)
    expect(page.get_by_text("Imagine that 100 people")).to_be_visible()
    for _ in range(13):
        page.keyboard.press("Digit1")
    _row(page, "square").get_by_role("button", name="square: one more").click(click_count=5)
    _row(page, "triangle").locator("label").click()
    _row(page, "triangle").get_by_role("button", name="triangle: one less").click()
    page.keyboard.press("Shift+Digit2")
    expect(page.locator("#left")).to_have_text("Chips left: 3")
    page.locator("#next").click()
    expect(_problems(page)).to_have_text("Please place all chips. Left: 3.")
    _row(page, "circle").locator(".amount").fill("17")
    expect(_problems(page)).to_have_text("These are too many chips. Please take some back: 1.")
    # More chips than there are is too many chips, and no other fault.
    _row(page, "circle").locator(".amount").fill("25")
    expect(_problems(page)).to_have_text("These are too many chips. Please take some back: 9.")
    _row(page, "circle").locator(".amount").fill("16")
    page.locator("#next").click()
    _place(page, "2 of 4")
    _sent(page)
    assert study.answers() == [{"mode": "chips", "chips": {"circle": 16, "square": 4, "triangle": 0}}]


def test_sliders_move_alone_and_an_untouched_one_says_nothing(serve: Serve, look: Look) -> None:
    study = serve(mode="sliders", shuffle_classes=False, classes=("circle", "square", "triangle", "star"))
    page = look()
    page.goto(study.address)
    slider = _row(page, "circle").locator(".slide")
    expect(slider).to_have_attribute("aria-valuetext", "not said yet")
    # Staying at 0 is an input too, by key and by touch.
    slider.focus()
    page.keyboard.press("Home")
    expect(slider).to_have_attribute("aria-valuetext", "0 %")
    page.keyboard.press("Digit2")
    page.keyboard.press("KeyU")
    for _ in range(3):
        page.keyboard.press("+")
    page.keyboard.press("Enter")
    expect(_problems(page)).to_have_text("Together that is 73 %. It must make 100.")
    _row(page, "triangle").locator(".amount").fill("27")
    page.locator("#next").click()
    _place(page, "2 of 4")
    _sent(page)
    assert study.answers() == [{"mode": "sliders", "percents": {"circle": 0, "square": 73, "triangle": 27}}]


def test_of_a_thousand_classes_a_part_of_the_name_is_enough(serve: Serve, look: Look) -> None:
    names = [f"{kind} {n}" for n in range(250) for kind in ("red oak", "Ährenfisch", "house finch", "fin whale")]
    study = serve(classes=names, shuffle_classes=False)
    page = look()
    page.goto(study.address)
    page.keyboard.press("/")
    page.keyboard.type("fin")
    options = page.get_by_role("option")
    expect(options.first).to_have_text("fin whale 0")
    expect(page.locator("#found")).to_have_text("Found: 500")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.get_by_role("radio", name="fin whale 1", exact=True)).to_be_checked()
    page.keyboard.type("ahrenf")
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    expect(page.get_by_role("radio", name="Ährenfisch 0: 2nd")).to_be_checked()
    page.locator("#top-percent").fill("60")
    page.locator("#second-percent").fill("40")
    page.locator("#others").click()
    page.locator("#next").click()
    _place(page, "2 of 4")
    expect(page.locator(".class")).to_have_count(0)
    _sent(page)
    answer = study.answers()[0]
    assert (answer["top"], answer["second"], len(answer["impossible"])) == ("fin whale 1", "Ährenfisch 0", 998)
    # The very name comes first; a class is ruled out by search as well, before there is a second choice.
    page.keyboard.press("/")
    page.keyboard.type("house finch 2")
    expect(options.first).to_have_text("house finch 2")
    page.keyboard.press("Enter")
    page.locator("#search").fill("red oak 7")
    page.keyboard.press("Shift+Enter")
    expect(page.locator("[name=impossible][value='red oak 7']")).to_be_checked()
    page.locator("#search").fill("red oak 8")
    options.first.locator(".not").click()
    expect(page.locator("[name=impossible]:checked")).to_have_count(2)
    expect(page.locator("[name=second]:checked")).to_have_count(0)
