"""The report of an evaluation in a real browser: on a desk and on a phone, by day and by night, for everybody."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser

from sfumato import Annotations, Predictions, SoftLabels
from sfumato.core.gold import Gold
from sfumato.evaluate.compare_systems import evaluate
from sfumato.evaluate.report.evaluation_page import evaluation_page
from sfumato.evaluate.systems import line_up


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(0)
    n, classes = 400, ("cat", "deer", "dog", "ship")
    truth = rng.dirichlet(np.full(4, 0.6), n)
    items = tuple(f"image-{k}" for k in range(n))
    said = rng.multinomial(9, truth)
    people = SoftLabels(said / 9, items=items, classes=classes)
    rows = [
        (items[i], f"annotator {a}", classes[k])
        for i, counts in enumerate(said)
        for a, k in enumerate(np.repeat(np.arange(4), counts).tolist())
    ]
    votes = Annotations.from_rows(*zip(*rows, strict=True))
    gold = Gold(items, truth.argmax(axis=1), classes)
    made = {
        name: Predictions((1 - far) * truth + far * rng.dirichlet(np.ones(4), n), items=items, classes=classes)
        for name, far in (("soft labels", 0.2), ("hard labels", 0.6))
    }
    page = evaluation_page(
        evaluate(made, labels=people, gold=gold, annotations=votes, resamples=50),
        line_up(made, labels=people, gold=gold),
        annotations=votes,
        texts={name: f"What {name} says" for name in items},
        history={"soft labels": [{"epoch": k, "train_loss": 1 / k, "dev_loss": 1.2 / k} for k in range(1, 5)]},
    )
    path = tmp_path_factory.mktemp("evaluation") / "report.html"
    path.write_text(page)
    return path


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
    drawings = page.locator("svg")
    assert drawings.count() == page.locator("svg[role=img]").count() >= 10
    assert all(text.strip() for text in page.locator("svg desc").all_text_contents())
    assert page.locator("svg desc").count() == drawings.count()
    found = Axe().run(page).response["violations"]
    assert [(one["id"], [node["html"][:120] for node in one["nodes"]]) for one in found] == []
    assert said == []
    assert [url for url in asked if not url.startswith(("data:", report.as_uri()))] == []
    context.close()
