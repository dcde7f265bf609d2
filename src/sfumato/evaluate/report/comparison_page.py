"""The page of a comparison of methods: which foresees what it has not seen, and how far their soft labels are apart."""

from __future__ import annotations

__all__ = ["comparison_page"]

import math
from collections.abc import Mapping, Sequence
from typing import Any

from sfumato.core.report import Number, Report
from sfumato.core.soft_labels import SoftLabels
from sfumato.evaluate.report import cells, figures
from sfumato.evaluate.report.figures import Point
from sfumato.evaluate.report.page import Section, html_page, html_table
from sfumato.evaluate.report.views_apart import views_apart


def comparison_page(report: Report, *, views: Mapping[str, SoftLabels] | None = None, most: int = 8) -> str:
    """Return a comparison of methods, or of panel sizes, as one HTML document that needs nothing beside itself.

    *report* is what `sfumato.compare` or `sfumato.panel_size` returns. *views* are the soft labels of the methods by
    name: with them the page shows how far each two are apart, and the *most* items on which they differ most.

    >>> from sfumato.core.origin import Origin
    >>> found = [Number("held_out_log_likelihood_score", -0.5, n=9, of="standard", low=-0.6, high=-0.4)]
    >>> page = comparison_page(Report("Views", found, Origin("compare")))
    >>> page.startswith("<!doctype html>"), "standard" in page
    (True, True)
    """
    sections = [_numbers(report)]
    curve = report.details.get("curve")
    if curve:
        sections += _panel_sizes(report, curve)
    else:
        sections += _scores(report)
    if views and len(views) > 1:
        sections += views_apart(views, most=most)
    return html_page(report.title, " ".join(report.notes), sections, origin=report.origin)


def _numbers(report: Report) -> Section:
    names = report.names()
    rows = [[of, *(_cell(numbers.get(name)) for name in names)] for of, numbers in report.rows().items()]
    level = next((one.level for one in report.numbers if one.level is not None), None)
    text = (
        "Each number as it was measured."
        if level is None
        else f"Each number with its {cells.level_words(level)} interval."
    )
    table = html_table(
        ["panel" if "curve" in report.details else "view", *(name.replace("_", " ") for name in names)],
        rows,
        name="Numbers",
    )
    return Section("Side by side", text, (table,))


def _scores(report: Report) -> list[Section]:
    """Return the two numbers that decide, drawn: the score on what was left out, and the distance from the best."""
    drawn = []
    for name, title, caption in (
        (
            "held_out_log_likelihood_score",
            "Foreseeing what was left out",
            "Mean log-likelihood of an annotation that the method has not seen, in nats; further right is better.",
        ),
        (
            "behind",
            "Behind the best",
            "How much less likely the method finds such an annotation than the best one does, in nats. An interval "
            "that reaches 0 says that the two are not told apart.",
        ),
    ):
        found = [one for one in report.numbers if one.name == name]
        if found:
            points = [Point(one.of, one.value, one.low, one.high, marked=k == 0) for k, one in enumerate(found)]
            x_name = "nats per annotation"
            drawn.append(figures.intervals(points, x_name=x_name, name=name, title=title, caption=caption))
    if not drawn:
        return []
    text = "Every method is scored by annotations that were hidden from it, so no gold labels are needed."
    return [Section("Which method to trust", text, (tuple(drawn),))]


def _panel_sizes(report: Report, curve: Mapping[str, Sequence[Any]]) -> list[Section]:
    drawn = []
    for name in report.names():
        if f"{name} low" not in curve:
            continue
        # A size at which the number is not defined has no place in the figure.
        columns = (curve["size"], curve[name], curve[f"{name} low"], curve[f"{name} high"])
        known = [row for row in zip(*columns, strict=True) if _finite(row)]
        if not known:
            continue
        sizes, values, low, high = ([float(row[place]) for row in known] for place in range(4))
        words = name.replace("_", " ")
        better = "higher is better" if name.endswith("_score") else "lower is better"
        drawn.append(
            figures.curves(
                {words: (sizes, values)}, bands={words: (low, high)}, x_name="annotations per item", y_name=better,
                name=name, title=words[:1].upper() + words[1:],
                caption="The band is where one study with so many annotations would come out.",
            )
        )  # fmt: skip
    text = "How close soft labels from few annotations come to those of more people."
    return [Section("What one more annotator adds", text, (tuple(drawn),))] if drawn else []


def _finite(values: Sequence[Any]) -> bool:
    return all(value is not None and math.isfinite(value) for value in values)


def _cell(number: Number | None) -> str:
    if number is None or math.isnan(number.value):
        return ""
    interval = "" if number.low is None or number.high is None else f" [{number.low:.4f}, {number.high:.4f}]"
    return f"{number.value:.4f}{interval}"
