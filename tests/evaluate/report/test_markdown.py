"""The Markdown report: tests, marks and remarks are in it, and names cannot break its tables."""

from __future__ import annotations

import math

import numpy as np

from sfumato import Predictions, SoftLabels
from sfumato.core.gold import Gold
from sfumato.evaluate.compare_systems import evaluate
from sfumato.evaluate.report.markdown import markdown_report


def test_everything_the_page_says_in_numbers_is_there() -> None:
    rng = np.random.default_rng(0)
    items, classes = tuple(map(str, range(120))), ("x|y", "<b>", "z")
    truth = rng.dirichlet(np.ones(3), 120)
    people = SoftLabels(truth, items=items, classes=classes)
    flat = Predictions(np.full((120, 3), 1 / 3), items=items, classes=classes)
    near = Predictions(0.9 * truth + 0.1 / 3, items=items, classes=classes)
    report = evaluate(
        {"near": [near, near], "flat": flat, "flat too": flat}, labels=people,
        gold=Gold(items, truth.argmax(axis=1), classes), resamples=200,
        metrics=["manhattan_error", "entropy_correlation_score"],
    )  # fmt: skip
    text = markdown_report(report)
    assert "near: 2 runs" in text
    assert "| metric | near | flat | flat too |" in text
    assert "| manhattan error ↓ | **" in text
    assert "## near − flat" in text
    assert "near is better" in text
    assert "not tested" in text
    assert "| manhattan error ↓ | 0.000 | 1.000 | 1.000 | 0.00 | not told apart |" in text
    assert "−" in text.split("## near − flat\n")[1].split("##")[0]
    assert "nan" not in text
    assert math.isnan(report["entropy_correlation_score", "flat"].value)
    assert "## Classes: flat" in text
    assert "| x\\|y | " in text
    assert "| &lt;b> | " in text
    assert all(f"- {line.replace('_', chr(92) + '_').replace('*', chr(92) + '*')}" in text for line in report.notes)
