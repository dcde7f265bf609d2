"""The pages for the person who runs the study: what they show, live, and what can be done there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from sfumato.collect.study import Batches

_RULES = {"rules": {"target-size": {"enabled": True}}, "resultTypes": ["violations"]}


def _is_for_everybody(page: Page, state: str) -> None:
    size = page.viewport_size
    assert size is not None
    for scheme, options in (("dark", {"runOnly": ["color-contrast"]}), ("light", _RULES)):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]
        wrong = Axe().run(page, options=options).response["violations"]
        assert [(each["id"], [node["html"][:160] for node in each["nodes"]]) for each in wrong] == [], (
            f"{state}, {scheme}"
        )
    page.set_viewport_size({"width": 320, "height": 640})
    assert page.evaluate("document.documentElement.scrollWidth") == 320, f"{state} scrolls sideways"
    page.set_viewport_size(size)


def test_the_admin_sees_what_is_said_and_steers_the_study(serve: Callable[..., Any], look: Callable[..., Page]) -> None:
    study = serve(n_items=4, mode="hard", shuffle_classes=False, batches=Batches(size=4, panel=2))
    admin = look(quiet=False)
    admin.goto(f"{study.address}/admin")
    admin.get_by_label("Admin secret").fill("wrong")
    admin.get_by_role("button", name="Enter").click()
    expect(admin.get_by_text("That is not the admin secret.")).to_be_visible()
    _is_for_everybody(admin, "enter")
    admin.clock.install()
    admin.goto(f"{study.address}/admin/enter?secret={study.secret}")
    expect(admin.get_by_role("heading", level=1)).to_contain_text("0 of 8 answers")
    _is_for_everybody(admin, "overview, nothing said")
    # Two people, each with an order of items of their own, say the same of all items but one.
    for person, keys in enumerate(("1111", "1112")):
        page = look()
        page.goto(study.address)
        for n, key in enumerate(keys, start=1):
            expect(page.locator("#place")).to_have_text(f"{n} of 4")
            page.keyboard.press(f"Digit{key}")
            page.keyboard.press("Enter")
        page.get_by_role("button", name="Hand in").click()
        expect(page.get_by_role("heading", name="Thank you")).to_be_visible()
        # Without a reload.
        admin.clock.run_for(6000)
        expect(admin.get_by_role("heading", level=1)).to_contain_text(f"{4 * (person + 1)} of 8 answers")
    expect(admin.locator(".tile", has_text="Agreement")).to_contain_text("75 %")
    _is_for_everybody(admin, "overview")
    admin.get_by_role("link", name="Items").click()
    first = admin.locator("article").first
    expect(first).to_contain_text("agreement 0 %")
    expect(first.get_by_role("row").first).to_contain_text("50 %")
    first.locator("img").evaluate("(picture) => picture.decode()")
    _is_for_everybody(admin, "items")
    admin.get_by_role("link", name="People").click()
    expect(admin.locator("tbody tr")).to_have_count(2)
    expect(admin.locator("tbody tr").first).to_contain_text("4 of 4")
    _is_for_everybody(admin, "people")
    admin.get_by_role("button", name="Seen").click()
    expect(admin.locator("th[aria-sort]")).to_have_text("Seen")
    admin.get_by_role("link", name="Overview").click()
    admin.get_by_label("People per item").fill("3")
    admin.get_by_role("button", name="Set").click()
    expect(admin.get_by_role("heading", level=1)).to_contain_text("8 of 12 answers")
    admin.get_by_role("button", name="Pause").click()
    expect(admin.locator(".state")).to_have_text("Paused")
    fresh = look(quiet=False)
    fresh.goto(study.address)
    expect(fresh.get_by_role("heading", name="A short break")).to_be_visible()
    admin.get_by_role("button", name="Open again").click()
    fresh.goto(study.address)
    expect(fresh.locator("#place")).to_have_text("1 of 4")
    admin.get_by_role("button", name="Leave").click()
    expect(admin.get_by_label("Admin secret")).to_be_visible()
    admin.goto(f"{study.address}/admin/people")
    expect(admin.get_by_label("Admin secret")).to_be_visible()
