"""Every page and state: for everybody, by day and by night, from a small phone up, in any direction, and light."""

from __future__ import annotations

import re
import wave
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, Request, expect

from sfumato.collect import languages
from sfumato.collect.study import Batches, Instructions, Items, Platform, StudyClass

Serve = Callable[..., Any]
Look = Callable[..., Page]
_AXE = Axe()
_RULES = {"rules": {"target-size": {"enabled": True}}, "resultTypes": ["violations"]}
_CONTRAST = {"runOnly": ["color-contrast"], "resultTypes": ["violations"]}
_SIZES = {"runOnly": ["target-size", "scrollable-region-focusable"], "rules": {"target-size": {"enabled": True}}}


def _is_for_everybody(page: Page, state: str) -> None:
    """Hold a page to no violation by day and by night, on a desk and on the narrowest phone, and to no scrolling."""

    def found(options: dict[str, Any], how: str) -> None:
        wrong = _AXE.run(page, options=options).response["violations"]
        told = [(each["id"], [node["html"][:160] for node in each["nodes"]]) for each in wrong]
        assert told == [], f"{state}, {how}"

    size = page.viewport_size
    assert size is not None
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    found(_RULES, "light")
    page.emulate_media(color_scheme="dark")
    found(_CONTRAST, "dark")
    page.emulate_media(color_scheme="light")
    page.set_viewport_size({"width": 320, "height": 640})
    assert page.evaluate("document.documentElement.scrollWidth") == 320, f"{state} scrolls sideways"
    found(_SIZES, "on a phone")
    page.set_viewport_size(size)


def test_the_way_through_a_study_is_for_everybody(serve: Serve, look: Look, whole: dict[str, Any]) -> None:
    described = StudyClass(name="circle", description="round, without corners", example="shape-01.png")
    classes = (described, StudyClass(name="square"), StudyClass(name="triangle"))
    study = serve(
        classes=classes, n_items=6, batches=Batches(size=2, checks_per_batch=1), shuffle_classes=False, **whole
    )
    page = look(quiet=False)
    page.goto(study.address)
    _is_for_everybody(page, "consent")
    page.get_by_role("button", name="I agree").click()
    expect(page.get_by_text("round, without corners")).to_be_visible()
    _is_for_everybody(page, "instructions")
    page.get_by_role("radio", name="What is fashionable").check()
    page.get_by_role("button", name="Go on").click()
    expect(page.get_by_text("Not quite").first).to_be_visible()
    _is_for_everybody(page, "instructions, once more")
    page.get_by_role("radio", name="What I see").check()
    page.get_by_role("button", name="Go on").click()
    page.wait_for_load_state()
    page.keyboard.press("Digit2")
    page.keyboard.press("KeyP")
    _is_for_everybody(page, "practice")
    page.get_by_role("button", name="Check").click()
    expect(page.get_by_text("We expected something else.")).to_be_visible()
    _is_for_everybody(page, "feedback")
    page.get_by_role("button", name="Go on").click()
    _is_for_everybody(page, "item, nothing said")
    page.locator("#keys summary").click()
    page.locator("#item").focus()
    for n in range(3):
        for key in ("Digit1", "KeyU", "Shift+Digit2", "Shift+KeyW"):
            page.keyboard.press(key)
        if n == 0:
            _is_for_everybody(page, "item, with a second choice")
            page.keyboard.press("Shift+Digit1")
            page.keyboard.press("KeyX")
            page.keyboard.press("Enter")
            expect(page.locator("#problems p").first).to_be_visible()
            _is_for_everybody(page, "item, with contradictions")
            page.context.set_offline(True)
            for _ in range(4):
                page.keyboard.press("Backspace")
            for key in ("Shift+Digit2", "Shift+KeyW"):
                page.keyboard.press(key)
        page.keyboard.press("Enter")
        expect(page.locator("#place")).to_have_text(f"{min(n + 2, 3)} of 3")
        if n == 0:
            expect(page.locator("#saving")).to_contain_text("No connection")
            _is_for_everybody(page, "item, without network")
            page.context.set_offline(False)
    expect(page.get_by_role("heading", name="That was the last one")).to_be_visible()
    _is_for_everybody(page, "finish")
    page.get_by_role("button", name="Hand in").click()
    expect(page.get_by_role("heading", name="One last page")).to_be_visible()
    page.locator("form").evaluate("(form) => form.submit()")
    expect(page.get_by_text("Please answer this question.")).to_be_visible()
    _is_for_everybody(page, "exit")
    page.get_by_role("radio", name="easy").check()
    page.get_by_role("button", name="Finish").click()
    expect(page.locator("output")).to_be_visible()
    _is_for_everybody(page, "done")


@pytest.mark.parametrize("mode", ["hard", "top1", "chips", "sliders"])
def test_every_mode_is_for_everybody(serve: Serve, look: Look, mode: str) -> None:
    study = serve(mode=mode, person="third", classes=[f"class {n}" for n in range(12)])
    page = look()
    page.goto(study.address)
    _is_for_everybody(page, f"{mode}, nothing said")
    page.keyboard.press("Digit3")
    page.keyboard.press("KeyR")
    _is_for_everybody(page, f"{mode}, half said")
    page.keyboard.press("Enter")
    _is_for_everybody(page, f"{mode}, said or refused")


@pytest.mark.parametrize("mode", ["top2", "chips"])
def test_a_thousand_classes_are_for_everybody(serve: Serve, look: Look, mode: str) -> None:
    study = serve(mode=mode, classes=[f"class {n}" for n in range(1000)], shuffle_classes=False)
    page = look()
    page.goto(study.address)
    page.keyboard.press("/")
    page.keyboard.type("class 99")
    expect(page.get_by_role("option")).to_have_count(11)
    _is_for_everybody(page, f"{mode}, searching")
    page.keyboard.press("Enter")
    expect(page.locator(".class")).to_have_count(1)
    _is_for_everybody(page, f"{mode}, one row")


def test_the_pages_beside_the_way_are_for_everybody(serve: Serve, look: Look, whole: dict[str, Any]) -> None:
    study = serve(n_items=6, **whole)
    page = look(quiet=False)
    page.goto(study.address)
    page.get_by_role("button", name="I do not agree").click()
    expect(page.get_by_role("heading", name="Thank you for your time")).to_be_visible()
    _is_for_everybody(page, "not agreed")
    page.goto(f"{study.address}/nowhere")
    expect(page.get_by_role("heading", name="Nothing here")).to_be_visible()
    _is_for_everybody(page, "trouble")
    for state, heading in (("paused", "A short break"), ("closed", "This study has ended")):
        study.store.set_state(state).result()
        fresh = look(quiet=False)
        for _ in range(100):
            # The server looks into the file once a second.
            fresh.goto(study.address)
            if fresh.get_by_role("heading", name=heading).count():
                break
            fresh.wait_for_timeout(50)
        _is_for_everybody(fresh, state)
    framed = serve(platform=Platform(kind="mturk"))
    page.goto(f"{framed.address}/?assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE&hitId=H")
    expect(page.get_by_role("heading", name="A look ahead")).to_be_visible()
    _is_for_everybody(page, "preview")


def test_texts_and_another_direction(serve: Serve, look: Look, tmp_path: Path) -> None:
    english = (Path(languages.__file__).parent / "languages" / "en.toml").read_text()
    other = english.replace('code = "en"', 'code = "ar"').replace('direction = "ltr"', 'direction = "rtl"')
    (tmp_path / "ar.toml").write_text(other)
    (tmp_path / "texts.csv").write_text("id,text\n1,مرحبا بالعالم <b>& co</b>\n2," + "word " * 400 + "\n")
    study = serve(language=str(tmp_path / "ar.toml"), items=Items(source=str(tmp_path / "texts.csv")))
    page = look()
    page.goto(study.address)
    page.keyboard.press("Digit1")
    page.keyboard.press("KeyT")
    expect(page.locator("html")).to_have_attribute("dir", "rtl")
    # What is in an item is text, whatever it looks like.
    expect(page.locator("blockquote b")).to_have_count(0)
    item, answer = page.locator("#item").bounding_box(), page.locator("#answer").bounding_box()
    assert item is not None
    assert answer is not None
    assert item["x"] > answer["x"]
    parts = [page.locator(f".bar span >> nth={n}").bounding_box() for n in range(2)]
    assert parts[0] is not None
    assert parts[1] is not None
    assert parts[0]["x"] > parts[1]["x"]
    _is_for_everybody(page, "right to left")
    page.keyboard.press("Enter")
    expect(page.locator("#place")).to_have_text("2 of 2")
    _is_for_everybody(page, "a long text")


def test_all_of_a_study_works_without_scripts(serve: Serve, look: Look, whole: dict[str, Any]) -> None:
    study = serve(n_items=6, batches=Batches(size=2), shuffle_classes=False, **whole)
    page = look(390, 844, java_script_enabled=False, quiet=False)
    page.goto(study.address)
    page.get_by_role("button", name="I agree").click()
    page.get_by_label("What I see").check()
    page.get_by_role("button", name="Go on").click()
    for n in range(3):
        page.locator("label:has([name=top])").nth(0).click()
        page.locator("[name=top_percent]").fill("70")
        if n == 1:
            # The same class twice is refused by the server, with what was said still there.
            page.locator("label:has([name=second])").nth(0).click()
            page.locator("[name=second_percent]").fill("10")
            page.locator("#next").click()
            expect(page.locator("#problems p")).to_have_text(
                "The second choice is also the first. Please choose another one, or none."
            )
            expect(page.locator("[name=top_percent]")).to_have_value("70")
        page.locator("label:has([name=second])").nth(1).click()
        page.locator("[name=second_percent]").fill("30")
        page.locator("[name=others]").check()
        page.locator("#next").click()
        if n == 0:
            page.get_by_role("button", name="Go on").click()
    page.get_by_role("button", name="Hand in").click()
    page.get_by_label("easy").check()
    page.get_by_role("button", name="Finish").click()
    expect(page.locator("output")).to_have_text("THANKS-42")
    expected = {
        "mode": "top2", "top": "circle", "top_percent": 70, "second": "square", "second_percent": 30,
        "impossible": ["triangle"],
    }  # fmt: skip
    assert study.answers() == [expected, expected]


@pytest.mark.parametrize("mode", ["chips", "sliders"])
def test_amounts_work_without_scripts(serve: Serve, look: Look, mode: str) -> None:
    study = serve(n_items=1, mode=mode, shuffle_classes=False, instructions=Instructions())
    page = look(320, 640, java_script_enabled=False)
    page.goto(study.address)
    for n, share in enumerate((0.75, 0.25)):
        page.locator("[name=amount]").nth(n).fill(str(int(share * (20 if mode == "chips" else 100))))
    page.locator("#next").click()
    page.get_by_role("button", name="Hand in").click()
    expect(page.get_by_role("heading", name="Thank you")).to_be_visible()
    told = {"chips": {"chips": {"circle": 15, "square": 5}}, "sliders": {"percents": {"circle": 75, "square": 25}}}
    assert study.answers() == [{"mode": mode, **told[mode]}]


def test_many_classes_are_typed_without_scripts(serve: Serve, look: Look) -> None:
    names = [f"class {n}" for n in range(30)]
    study = serve(n_items=1, classes=names, shuffle_classes=False)
    page = look(320, 640, java_script_enabled=False, quiet=False)
    page.goto(study.address)
    page.locator("input[name=top]").fill("class 7")
    page.locator("input[name=second]").fill("clas 8")
    page.locator("input[name=impossible]").first.fill("class 9")
    page.locator("[name=top_percent]").fill("80")
    page.locator("[name=second_percent]").fill("15")
    page.locator("#next").click()
    expect(page.locator("#problems p")).to_have_text("“clas 8” is not one of the classes.")
    expect(page.locator("input[name=impossible]").first).to_have_value("class 9")
    page.locator("input[name=second]").fill("class 8")
    page.locator("#next").click()
    page.get_by_role("button", name="Hand in").click()
    expect(page.get_by_role("heading", name="Thank you")).to_be_visible()
    (answer,) = study.answers()
    assert (answer["top"], answer["second"], answer["impossible"]) == ("class 7", "class 8", ["class 9"])


def test_sounds_and_films_have_the_controls_of_the_browser(serve: Serve, look: Look, tmp_path: Path) -> None:
    folder = tmp_path / "sounds"
    folder.mkdir()
    for name in ("one.wav", "two.wav"):
        with wave.open(str(folder / name), "wb") as sound:
            sound.setparams((1, 1, 8000, 0, "NONE", ""))
            sound.writeframes(bytes(range(256)) * 32)
    study = serve(items=Items(source=str(folder)), mode="hard")
    page = look()
    page.goto(study.address)
    for n in (1, 2):
        expect(page.locator("#place")).to_have_text(f"{n} of 2")
        _is_for_everybody(page, f"sound {n}")
        # It can be played: the first was drawn by the server, the second by the script.
        assert page.locator("audio").evaluate("(sound) => sound.play().then(() => sound.duration)") == pytest.approx(
            1.024
        )
        page.keyboard.press("Digit1")
        page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="That was the last one")).to_be_visible()


def test_what_cannot_be_played_is_said(serve: Serve, look: Look, tmp_path: Path) -> None:
    folder = tmp_path / "sounds"
    folder.mkdir()
    for name in ("one.wav", "two.wav"):
        (folder / name).write_bytes(b"this is no sound")
    study = serve(items=Items(source=str(folder)), mode="hard")
    page = look(quiet=False)
    page.goto(study.address)
    for n in (1, 2):
        expect(page.locator("#place")).to_have_text(f"{n} of 2")
        # Once, drawn by the server as well as by the script.
        expect(page.locator("#item .problems")).to_have_text(re.compile("^This cannot be shown or played here"))
        page.keyboard.press("Digit1")
        page.keyboard.press("Enter")


@pytest.mark.parametrize(("width", "height"), [(390, 560), (320, 568), (320, 480)])
def test_the_item_stays_in_sight_on_a_short_phone(serve: Serve, look: Look, width: int, height: int) -> None:
    study = serve(classes=[f"class {n}" for n in range(12)])
    page = look(width, height)
    page.goto(study.address)
    page.locator(".class").last.scroll_into_view_if_needed()
    box = page.locator("#item img").bounding_box()
    assert box is not None
    assert box["y"] >= 0
    assert box["height"] > 60
    # And leaves most of the screen to the answer.
    assert box["y"] + box["height"] < 0.35 * height
    rows = page.locator(".class").last.bounding_box()
    assert rows is not None
    assert rows["y"] >= box["y"] + box["height"]


@pytest.mark.parametrize("mode", ["top2", "chips"])
def test_a_page_to_answer_on_is_light(serve: Serve, look: Look, mode: str) -> None:
    """The modes that need most, as many classes as have buttons, in the longer language: what is sent on the wire."""
    names = [f"Klasse Nummer {n}" for n in range(24)]
    study = serve(
        classes=names, n_items=27, batches=Batches(size=27), mode=mode, language="de", person="third", contact="a@b.de"
    )
    page = look()
    sent: list[Request] = []
    page.on("requestfinished", lambda each: sent.append(each) if re.search(r"/item|/static/", each.url) else None)
    page.goto(study.address)
    page.wait_for_load_state("networkidle")
    sizes = {each.url: each.sizes()["responseBodySize"] for each in sent}
    assert len(sizes) > 10
    assert 20 * 1024 < sum(sizes.values()) <= 50 * 1024, sizes
