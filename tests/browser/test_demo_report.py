"""The demo's report in a real browser: on a desk and on a phone, by day and by night, for everybody."""

from __future__ import annotations

from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser

from sfumato.cli.app import run


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo")
    assert run(["demo", "--out", str(folder)]) == 0
    return folder / "report.html"


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (1280, "dark"), (390, "light"), (320, "dark")])
def test_the_report_is_seen_whole_by_everybody(browser: Browser, report: Path, width: int, scheme: str) -> None:
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)  # type: ignore[arg-type]
    page = context.new_page()
    said: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(report.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("svg[role=img]").count() == 11
    assert all(text.strip() for text in page.locator("svg desc").all_text_contents())
    found = Axe().run(page).response["violations"]
    assert [(one["id"], [node["html"][:120] for node in one["nodes"]]) for one in found] == []
    assert said == []
    # One file and nothing beside it: all else are addresses that hold their data.
    assert [url for url in asked if not url.startswith(("data:", report.as_uri()))] == []
    context.close()


def test_the_report_is_small_and_names_its_origin(report: Path) -> None:
    text = report.read_text()
    assert len(text) < 1_000_000
    assert "seed 0" in text
    assert "data " in text
