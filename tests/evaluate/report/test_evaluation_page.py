"""The page of an evaluation: what stands on it for which input, and that names cannot break out of it."""

from __future__ import annotations

import re

import numpy as np

from sfumato import Predictions, SoftLabels
from sfumato.core.gold import Gold
from sfumato.evaluate.compare_systems import evaluate
from sfumato.evaluate.report.evaluation_page import evaluation_page
from sfumato.evaluate.systems import line_up


def study(n_items: int, n_classes: int) -> tuple[SoftLabels, Gold, dict[str, Predictions]]:
    rng = np.random.default_rng(0)
    truth = rng.dirichlet(np.full(n_classes, 0.5), n_items)
    items, classes = tuple(f"i{k}" for k in range(n_items)), tuple(f"c{k}" for k in range(n_classes))
    made = {
        name: Predictions(0.5 * truth + 0.5 * rng.dirichlet(np.ones(n_classes), n_items), items=items, classes=classes)
        for name in ("A", "<script>alert(1)</script>")
    }
    people = SoftLabels(rng.multinomial(9, truth) / 9, items=items, classes=classes)
    return people, Gold(items, truth.argmax(axis=1), classes), made


def test_names_are_text_and_the_page_is_small() -> None:
    people, gold, made = study(3000, 10)
    page = evaluation_page(
        evaluate(made, labels=people, gold=gold, resamples=20),
        line_up(made, labels=people, gold=gold),
        texts=dict.fromkeys(people.items, "<b>bold</b>"),
    )
    assert "<script" not in page
    assert "<b>" not in page
    assert "&lt;b&gt;bold" in page
    assert len(page) < 1_000_000


def test_gold_alone_labels_alone_and_many_classes() -> None:
    people, gold, made = study(200, 30)
    for options in ({"gold": gold}, {"labels": people}, {"labels": people, "gold": gold}):
        report = evaluate(made, resamples=20, **options)  # type: ignore[arg-type]
        page = evaluation_page(report, line_up(made, **options))  # type: ignore[arg-type]
        assert ("Is it unsure where people disagree" in page) is ("labels" in options)
        assert ("Who was right" in page) is (len(options) == 2)
        assert "What is taken for what" not in page


def test_confusions_are_the_mean_distributions_of_each_class() -> None:
    people = SoftLabels([[0.8, 0.2], [0.6, 0.4], [0.0, 1.0]], items=["a", "b", "c"], classes=["x", "y"])
    gold = Gold.from_names(["a", "b", "c"], ["x", "x", "y"])
    page = evaluation_page(
        evaluate(people, labels=people, gold=gold, resamples=9), line_up(people, labels=people, gold=gold)
    )
    drawn = page[page.index(">Confusion of people</title>") :]
    drawn = drawn[: drawn.index("</svg>")]
    assert "gold class x: x 70%, y 30%; gold class y: y 100%" in drawn
    assert re.findall(r">([01]\.\d\d)</text>", drawn) == ["0.70", "0.30", "0.00", "1.00"]
