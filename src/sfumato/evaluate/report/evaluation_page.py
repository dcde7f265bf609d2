"""The page of an evaluation: one file with the table, the tests and the pictures behind them."""

from __future__ import annotations

__all__ = ["evaluation_page"]

import html
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.core.gold import Gold
from sfumato.core.report import Number, Report
from sfumato.core.simplex import entropy
from sfumato.core.soft_labels import SoftLabels
from sfumato.evaluate.error_analysis import by_correctness, largest_gaps
from sfumato.evaluate.expected_calibration import reliability
from sfumato.evaluate.report import figures
from sfumato.evaluate.report.page import Section, html_page, html_table
from sfumato.evaluate.significance import holm
from sfumato.evaluate.systems import Systems

# Figures that tell systems apart by colour have no room for more.
_DRAWN = 6
# Confusion matrices of more classes are no longer read.
_CLASSES = 20


def evaluation_page(report: Report, systems: Systems, *, texts: Mapping[str, str] | None = None, most: int = 8) -> str:
    """Return the report of `evaluate` as one HTML document that needs nothing beside itself.

    *systems* are those the report is about (`line_up`); pictures show the first run of each. *texts* are what the
    items say, shown with the *most* items on which the first system and people are furthest apart.

    >>> from sfumato.evaluate.compare_systems import evaluate
    >>> from sfumato.evaluate.systems import line_up
    >>> soft = SoftLabels([[0.9, 0.1], [0.2, 0.8]], items=["a", "b"], classes=["x", "y"])
    >>> page = evaluation_page(evaluate(soft, labels=soft, resamples=20), line_up(soft, labels=soft))
    >>> page.startswith("<!doctype html>"), "http" in page
    (True, False)
    """
    runs = {name: each[0] for name, each in systems.runs.items()}
    shown = dict(list(runs.items())[:_DRAWN])
    sections = [_numbers(report, list(runs))]
    if report.details["comparisons"]:
        sections.append(_tests(report))
    sections.append(_calibration(shown, systems))
    if systems.labels is not None:
        sections.append(_entropies(shown, systems.labels))
        if len(systems.classes) <= _CLASSES:
            sections.append(_confusions(runs, systems.labels, systems.gold))
        if systems.gold is not None and len(runs) > 1:
            sections.append(_who_was_right(runs, systems.labels, systems.gold))
        sections.append(_furthest(shown, systems.labels, texts or {}, most))
    n_gold = f", {report.details['n_gold']:,} of them with gold" if report.details["n_gold"] else ""
    summary = f"{len(runs)} {'system' if len(runs) == 1 else 'systems'}, {len(systems.items):,} items{n_gold}."
    return html_page("Evaluation", summary, sections, origin=report.origin)


def _numbers(report: Report, systems: Sequence[str]) -> Section:
    rows = report.rows()
    beside = [of for of in rows if of not in systems]
    higher = report.details["higher_is_better"]
    lines, best = [], []
    for r, name in enumerate(report.names()):
        numbers = [rows[system].get(name) for system in systems]
        known = [one.value for one in numbers if one is not None and not math.isnan(one.value)]
        if len(systems) > 1 and known:
            top = max(known) if higher[name] else min(known)
            best += [(r, c) for c, one in enumerate(numbers, start=1) if one is not None and one.value == top]
        others = [rows[of].get(name) for of in beside]
        plain = ["" if one is None else f"{one.value:.3f}" for one in others]
        lines.append([f"{_words(name)} {'↑' if higher[name] else '↓'}", *map(_cell, numbers), *plain])
    table = html_table(
        ["metric", *systems, *(of.partition(": ")[2] for of in beside)], lines, best=best, name="Numbers"
    )
    level = report.origin.options["level"]
    marked = " The best system of each row is marked." if len(systems) > 1 else ""
    rest = " Beside the systems stands what needs no model at all, and what people reach." if beside else ""
    text = (
        f"Each number with its {level:.0%} interval over items (and runs, where there are several). ↑: higher is "
        f"better, ↓: lower is.{marked}{rest}"
    )
    return Section("How good", " ".join([text, *report.notes]), table)


def _tests(report: Report) -> Section:
    rows = []
    for row in report.details["comparisons"]:
        effect = "" if math.isnan(row["effect_size"]) else f"{row['effect_size']:+.2f}"
        significant = row["p_holm"] <= 1 - report.origin.options["level"]
        rows.append(
            [
                f"{_words(row['metric'])}: {row['a']} − {row['b']}",
                f"{row['difference']:+.4f} [{row['low']:+.4f}, {row['high']:+.4f}]",
                _p(row["p_value"]),
                _p(row["p_holm"]),
                effect,
                f"{row['better']} is better" if significant and row["better"] else "not told apart",
            ]
        )
    head = ["metric and systems", "difference", "p", "p corrected", "effect d_z", "so"]
    return Section(
        "Is the difference more than chance",
        "Paired bootstrap over the same items, two-sided; corrected for all rows of this table (Holm 1979).",
        html_table(head, rows, name="Comparisons"),
    )


def _calibration(shown: Mapping[str, SoftLabels], systems: Systems) -> Section:
    target: Gold | SoftLabels | None = systems.gold if systems.gold is not None else systems.labels
    against = "the gold class" if systems.gold is not None else "the share of people who say the same"
    lines = [] if target is None else [(name, reliability(table, target)) for name, table in shown.items()]
    drawn = figures.reliability_diagram(
        lines, title="Reliability",
        caption=f"How often right ({against}) at each confidence; on the dashed line it is deserved.",
    )  # fmt: skip
    return Section(
        "Does it know how sure to be", "Items in bins of equal confidence, larger dots for more items.", drawn
    )


def _entropies(shown: Mapping[str, SoftLabels], labels: SoftLabels) -> Section:
    people = entropy(labels.probs, normalised=True)
    points = [(name, people, entropy(table.probs, normalised=True)) for name, table in shown.items()]
    drawn = figures.scatter(
        points, x_name="people", y_name="model", title="Entropy of people and model",
        caption="0: all mass on one class; 1: all classes alike. One dot per item, at most 400 of each system.",
    )  # fmt: skip
    return Section("Is it unsure where people disagree", "The entropy of both distributions, item by item.", drawn)


def _confusions(runs: Mapping[str, SoftLabels], labels: SoftLabels, gold: Gold | None) -> Section:
    if gold is not None:
        codes = gold.aligned(labels.items, labels.classes)
        what = "gold class"
    else:
        codes = labels.probs.argmax(axis=1).astype(np.int32)
        what = "class that most people say"
    tables = []
    for name, table in (("people", labels), *runs.items()):
        shares = _mean_by(codes, table.probs, labels.n_classes)
        rows = [
            [cls, *("" if math.isnan(value) else f"{value:.2f}" for value in shares[k])]
            for k, cls in enumerate(labels.classes)
        ]
        diagonal = [(k, k + 1) for k in range(labels.n_classes)]
        body = html_table([what, *labels.classes], rows, best=diagonal, name=f"Confusion of {name}")
        tables.append(f"<figure>{body}<figcaption>{html.escape(name)}</figcaption></figure>")
    return Section(
        "What is taken for what",
        f"The mean distribution over the classes (columns) of the items of each {what} (rows). A model that takes for "
        "one another what people take for one another has the same table as they have.",
        f'<div class="pair">{"".join(tables)}</div>',
    )


def _who_was_right(runs: Mapping[str, SoftLabels], labels: SoftLabels, gold: Gold) -> Section:
    (name_a, a), (name_b, b) = list(runs.items())[:2]
    kept = labels if gold.n_items == labels.n_items else labels.take(gold.items)
    codes = gold.aligned(kept.items, kept.classes)
    right = [table.take(kept.items).probs.argmax(axis=1) == codes for table in (a, b)]
    groups, tests = by_correctness(kept, *right)
    names = {"both": "both", "only A": f"only {name_a}", "only B": f"only {name_b}", "none": "neither"}
    table = html_table(
        ["right", "items", "kurtosis", "entropy"],
        [[names[g.name], f"{g.n:,}", _plain(g.kurtosis), _plain(g.entropy)] for g in groups],
        name="Soft labels by who was right",
    )
    corrected = holm([test.p_value for test in tests])
    found = html_table(
        ["groups", "of", "first above second", "p corrected"],
        [
            [f"{names[test.first]} / {names[test.second]}", test.measure, f"{test.share:.2f}", _p(float(p))]
            for test, p in zip(tests, corrected, strict=True)
            if not math.isnan(test.p_value)
        ],
        name="Tests between the groups",
    )
    return Section(
        "Who was right where people disagree",
        f"Kurtosis and entropy of the soft labels by which of {name_a} and {name_b} had the item right "
        "(Fornaciari et al. 2021, table 3), and Mann–Whitney tests between the groups. High kurtosis and low entropy: "
        "people agree.",
        f'<div class="pair">{table}{found}</div>',
    )


def _furthest(shown: Mapping[str, SoftLabels], labels: SoftLabels, texts: Mapping[str, str], most: int) -> Section:
    name, table = next(iter(shown.items()))
    gaps = largest_gaps(table, labels, most=most)
    panels = [
        figures.Panel(
            f"{gap.item} · {gap.value:.3f}",
            [("people", gap.people), *((other[:14], each[gap.item]) for other, each in shown.items())],
        )
        for gap in gaps
    ]
    said = html_table(
        ["item", "text"],
        [[gap.item, texts[gap.item][:300]] for gap in gaps if gap.item in texts],
        name="Texts of the items",
    )
    drawn = figures.distributions(
        panels, labels.classes, title="Largest gaps", caption="The item, and the Jensen–Shannon divergence in nats."
    )
    return Section(
        "Where people and model are furthest apart",
        f"The {len(panels)} items with the largest divergence between people and {name}, the largest first.",
        drawn + (said if texts else ""),
    )


def _mean_by(codes: NDArray[np.int32], probs: NDArray[np.floating[Any]], n_classes: int) -> NDArray[np.float64]:
    """Return the mean row of *probs* for each class of *codes*, NaN where a class has no item."""
    result = np.full((n_classes, probs.shape[1]), math.nan)
    for k in range(n_classes):
        rows = codes == k
        if rows.any():
            result[k] = probs[rows].mean(axis=0)
    return result


def _words(name: str) -> str:
    return name.replace("_", " ")


def _cell(number: Number | None) -> str:
    if number is None:
        return ""
    interval = "" if number.low is None or number.high is None else f" [{number.low:.3f}, {number.high:.3f}]"
    return f"{number.value:.3f}{interval}"


def _plain(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.3f}"


def _p(value: float) -> str:
    return "" if math.isnan(value) else "<0.001" if value < 0.001 else f"{value:.3f}"
