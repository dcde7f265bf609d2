"""The page of an evaluation: what stands on it for which input, and that names cannot break out of it."""

from __future__ import annotations

import re

import numpy as np

from sfumato import Predictions, SoftLabels
from sfumato.core.gold import Gold
from sfumato.evaluate.compare_systems import evaluate
from sfumato.evaluate.report.drawing import Box, Words
from sfumato.evaluate.report.evaluation_page import evaluation_page
from sfumato.evaluate.report.figure import Panel
from sfumato.evaluate.report.figures import distributions, heat_map
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


def test_runs_levels_and_classes_are_told() -> None:
    people, gold, made = study(60, 4)
    systems = {"several": [made["A"]] * 3, "one": made["A"]}
    report = evaluate(systems, labels=people, gold=gold, resamples=20, level=0.995)
    page = evaluation_page(report, line_up(systems, labels=people, gold=gold))
    assert "Runs: several 3." in page
    assert "show the first run" in page
    assert "99.5% interval" in page
    assert "Class by class" in page
    # All are equally good: none is the best, and no difference has a sign.
    assert 'class="best"' not in page
    assert "<td>0.0000</td>" in page
    assert "+0.0000" not in page


def test_one_item_is_one_item_without_tests() -> None:
    people, gold, made = study(1, 3)
    systems = {"one": made["A"], "two": people}
    page = evaluation_page(
        evaluate(systems, labels=people, gold=gold, resamples=9), line_up(systems, labels=people, gold=gold)
    )
    assert "2 systems, 1 item, 1 of them with gold." in page
    assert "not tested" in page
    assert "Tests between the groups" not in page  # there would be heads without rows
    assert "nan" not in re.sub(r"<style>.*?</style>", "", page, flags=re.DOTALL)


def test_many_classes_keep_to_the_frame_and_each_colour_means_one_class_of_its_panel() -> None:
    panels = [Panel("item", [("people", np.full(60, 1 / 60)), ("model", np.eye(60)[7])])]
    classes = [f"class number {k}" for k in range(60)]
    (drawn,) = distributions(panels, classes, name="n", title="t", caption="c").drawings
    boxes = [mark for mark in drawn.marks if isinstance(mark, Box)]
    assert all(box.at[0] + box.width <= drawn.width and box.at[1] + box.height <= drawn.height for box in boxes)
    legend = [box for box in boxes if box.radius]
    assert len({box.colour for box in legend}) == len(legend) == 8
    words = [mark.text for mark in drawn.marks if isinstance(mark, Words)]
    assert "class number 7" in words
    assert "others" in words


def test_wide_heat_maps_scroll_and_long_names_keep_their_ends() -> None:
    names = [f"a method that has a long name, number {k}" for k in range(12)]
    figure = heat_map(np.ones((12, 12)), names, name="n", title="Divergence", caption="c")
    (drawn,) = figure.drawings
    assert 'class="scroll" role="region" aria-label="Divergence, drawn" tabindex="0"' in figure.html
    # Twelve units to a letter's height: at this width they are ten pixels or so on any screen.
    assert f"min-width:{drawn.width * 0.8:g}px" in figure.html
    heads = [mark for mark in drawn.marks if isinstance(mark, Words) and mark.anchor == "middle" and mark.at[1] < 26]
    assert len({mark.text for mark in heads}) == 12
    steps = np.diff([mark.at[0] for mark in heads])
    assert all(step >= 7.2 * len(mark.text) for step, mark in zip(steps, heads, strict=False))
    small = heat_map(np.ones((2, 2)), ["a", "b"], name="n", title="t", caption="c")
    assert "scroll" not in small.html
