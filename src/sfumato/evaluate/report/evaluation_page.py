"""The page of an evaluation: one file with the table, the tests and the pictures behind them."""

from __future__ import annotations

__all__ = ["evaluation_page", "evaluation_sections", "whole_page"]

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.core.annotations import Annotations
from sfumato.core.gold import Gold
from sfumato.core.report import Report
from sfumato.core.simplex import entropy
from sfumato.core.soft_labels import SoftLabels
from sfumato.core.vocabulary import counted
from sfumato.evaluate.expected_calibration import reliability
from sfumato.evaluate.report import cells, figures
from sfumato.evaluate.report.drawing import shortened
from sfumato.evaluate.report.errors_shown import furthest, in_whose_eyes, who_was_right
from sfumato.evaluate.report.figure import Figure
from sfumato.evaluate.report.figures import Point
from sfumato.evaluate.report.learning_curves import History, learning
from sfumato.evaluate.report.page import Section, html_notes, html_page, html_table
from sfumato.evaluate.report.tables import told_apart
from sfumato.evaluate.report.views_apart import views_apart
from sfumato.evaluate.systems import Systems

# Figures that tell systems apart by colour have no room for more.
_DRAWN = 6
# Letters of a system's name where it stands beside others; the table of the numbers has it whole.
_NAME = 30
# Confusion matrices of more classes are no longer read.
_CLASSES = 20


def evaluation_page(
    report: Report,
    systems: Systems,
    *,
    annotations: Annotations | None = None,
    texts: Mapping[str, str] | None = None,
    pictures: Mapping[str, str] | None = None,
    history: History | None = None,
    most: int = 8,
) -> str:
    """Return the report of `evaluate` as one HTML document that needs nothing beside itself.

    *systems* are those the report is about (`line_up`); pictures show the first run of each. *annotations* add how
    often each annotator agrees with each system. *texts* are what items say, *pictures* data addresses of how they
    look; both are shown with the *most* items on which the first system and people are furthest apart. *history* are
    the numbers of each epoch, by name of the training.

    >>> from sfumato.evaluate.compare_systems import evaluate
    >>> from sfumato.evaluate.systems import line_up
    >>> soft = SoftLabels([[0.9, 0.1], [0.2, 0.8]], items=["a", "b"], classes=["x", "y"])
    >>> page = evaluation_page(evaluate(soft, labels=soft, resamples=20), line_up(soft, labels=soft))
    >>> page.startswith("<!doctype html>"), "http" in page
    (True, False)
    """
    sections = evaluation_sections(
        report, systems, annotations=annotations, texts=texts, pictures=pictures, history=history, most=most
    )
    return whole_page(report, systems, sections)


def whole_page(report: Report, systems: Systems, sections: Sequence[Section]) -> str:
    """Return the page around parts that `evaluation_sections` made."""
    n_gold = report.details["n_gold"]
    with_gold = f", {n_gold:,} of them with gold" if n_gold else ""
    summary = (
        f"{counted(len(systems.runs), 'system')}, {counted(len(systems.items), 'item')}{with_gold}. {_of_runs(systems)}"
    ).strip()
    return html_page("Evaluation", summary, sections, origin=report.origin)


def evaluation_sections(
    report: Report,
    systems: Systems,
    *,
    annotations: Annotations | None = None,
    texts: Mapping[str, str] | None = None,
    pictures: Mapping[str, str] | None = None,
    history: History | None = None,
    most: int = 8,
) -> list[Section]:
    """Return the parts of the page of `evaluation_page`; their figures can be saved as files (`save_figures`)."""
    runs = {name: each[0] for name, each in systems.runs.items()}
    shown = dict(list(runs.items())[:_DRAWN])
    people = systems.labels
    sections = [_numbers(report, list(runs))]
    if report.details["comparisons"]:
        sections.append(_tests(report))
    if report.details.get("classes"):
        sections.append(_classes(report))
    sections.append(_calibration(shown, systems))
    if people is not None:
        sections.append(_entropies(shown, people))
        if len(systems.classes) <= _CLASSES:
            sections.append(_confusions(shown, people, systems.gold))
        if len(runs) > 1:
            sections += views_apart(
                {"people": people, **shown}, most=most, heading="How far people and systems are apart"
            )
        if systems.gold is not None and len(runs) > 1:
            sections.append(who_was_right(runs, people, systems.gold))
        sections.append(furthest(shown, people, texts or {}, pictures or {}, most))
    if annotations is not None:
        sections.append(in_whose_eyes(shown, annotations))
    if history:
        sections.append(learning(history))
    return sections


def _of_runs(systems: Systems) -> str:
    """Return how many runs each system has, and what of them the pictures show; nothing where each has one."""
    several = {name: len(each) for name, each in systems.runs.items() if len(each) > 1}
    if not several:
        return ""
    counts = ", ".join(f"{name} {n}" for name, n in several.items())
    return (
        f"Runs: {counts}. Numbers are the means of runs; pictures, and the tables of single items, show the first run."
    )


def _numbers(report: Report, systems: Sequence[str]) -> Section:
    rows = report.rows()
    # What people reach stands next to the systems, what needs no model behind it.
    beside = sorted((of for of in rows if of not in systems), key=lambda of: not of.startswith("people: "))
    higher = report.details["higher_is_better"]
    level = report.origin.options["level"]
    lines, best = [], []
    for r, name in enumerate(report.names()):
        numbers = [rows[system].get(name) for system in systems]
        leading = cells.leading(numbers, higher=higher[name])
        best += [(r, c + 1) for c in leading]
        worse = told_apart(report, name, systems[leading[0]]) if leading else set()
        made = [
            cells.cell(one, mark="*" if system in worse else "") for system, one in zip(systems, numbers, strict=True)
        ]
        others = [rows[of].get(name) for of in beside]
        plain = ["" if one is None else cells.number(one.value) for one in others]
        lines.append([f"{cells.words(name)} {cells.arrow(higher[name])}", *made, *plain])
    table = html_table(
        ["metric", *systems, *(of.partition(": ")[2] for of in beside)], lines, best=best, name="Numbers"
    )
    marked = (
        " The best system of each row is marked; *: told apart from it, corrected for all comparisons."
        if len(systems) > 1
        else ""
    )
    rest = " Beside the systems stands what needs no model at all, and what people reach." if beside else ""
    text = (
        f"Each number with its {cells.level_words(level)} interval over items (and runs, where there are several). "
        f"↑: higher is better, ↓: lower is.{marked}{rest}"
    )
    return Section("How good is it?", text, (table, html_notes(report.notes), _drawn(report, systems)))


def _drawn(report: Report, systems: Sequence[str]) -> tuple[Figure, ...]:
    """Return a number against gold and one against people as points with intervals, people and baselines among them."""
    names = report.names()
    against_gold = [name for name in ("accuracy_score", "f1_score") if name in names]
    # Not cross-entropy: the few who vote one class alone have one that dwarfs all others.
    against_people = [name for name in ("jensen_shannon_divergence", "soft_accuracy_score") if name in names]
    drawn = []
    for name in [*against_gold[:1], *against_people[:1]]:
        better = "higher" if report.details["higher_is_better"][name] else "lower"
        numbers = [one for one in report.numbers if one.name == name and not math.isnan(one.value)]
        numbers.sort(key=lambda one: 0 if one.of in systems else 1 if one.of.startswith("people: ") else 2)
        points = [
            Point(one.of.partition(": ")[2] or one.of, one.value, one.low, one.high, marked=one.of in systems)
            for one in numbers
        ]
        drawn.append(
            figures.intervals(
                points, x_name=cells.words(name), name=f"numbers-{name.replace('_', '-')}",
                title=cells.words(name).capitalize(),
                caption=f"Systems in bold, beside what people reach and what needs no model; {better} is better.",
            )
        )  # fmt: skip
    return tuple(drawn)


def _tests(report: Report) -> Section:
    level = report.origin.options["level"]
    rows = [
        [
            f"{cells.words(row['metric'])}: {shortened(row['a'], _NAME)} − {shortened(row['b'], _NAME)}",
            cells.difference(row), cells.p_value(row["p_value"]), cells.p_value(row["p_holm"]),
            cells.d_z(row["effect_size"]), cells.verdict(row, level),
        ]
        for row in report.details["comparisons"]
    ]  # fmt: skip
    head = ["metric and systems", "difference", "p", "p corrected", "effect d_z", "verdict"]
    few = any("permutation" in row["test"] for row in report.details["comparisons"])
    by = "tests (of means by exchange, else by bootstrap)" if few else "bootstrap"
    return Section(
        "Is the difference more than chance?",
        f"Paired {by} over the same items, two-sided; corrected for all rows of this table (Holm 1979).",
        (html_table(head, rows, name="Comparisons"),),
    )


def _classes(report: Report) -> Section:
    """Return precision, recall and F1 of each class, the systems beside each other."""
    found = report.details["classes"]
    systems = list(found)
    rows = [
        [
            same[0]["class"], f"{same[0]['support']:,}",
            *(cells.number(row[kind]) for row in same for kind in ("precision", "recall", "f1")),
        ]
        for same in zip(*found.values(), strict=True)
    ]  # fmt: skip
    kinds = ("precision", "recall", "F1")
    head = [f"{shortened(system, _NAME)}: {kind}" if len(systems) > 1 else kind for system in systems for kind in kinds]
    return Section(
        "Class by class",
        "Precision: how often right where the class is predicted; recall: how many of its items are found; F1: their "
        "harmonic mean. Items are those of which it is the gold class.",
        (html_table(["class", "items", *head], rows, name="Classes"),),
    )


def _calibration(shown: Mapping[str, SoftLabels], systems: Systems) -> Section:
    target: Gold | SoftLabels | None = systems.gold if systems.gold is not None else systems.labels
    against = "the gold class" if systems.gold is not None else "the share of people who say the same"
    lines = [] if target is None else [(name, reliability(table, target)) for name, table in shown.items()]
    drawn = figures.reliability_diagram(
        lines, name="reliability", title="Reliability",
        caption=f"How often right ({against}) at each confidence; on the dashed line it is deserved.",
    )  # fmt: skip
    sure = {name: table.probs.max(axis=1).astype(np.float64) for name, table in shown.items()}
    bars = figures.histogram(
        sure, x_name="confidence", name="confidence", title="Confidence",
        caption="The probability of the most probable class: how many items have how much of it.",
    )  # fmt: skip
    text = "Items in bins of equal confidence, larger dots for more items; beside it how many items are how sure."
    return Section("Does it know how sure to be?", text, ((drawn, bars),))


def _entropies(shown: Mapping[str, SoftLabels], labels: SoftLabels) -> Section:
    people = np.asarray(entropy(labels.probs, normalised=True))
    made = {name: np.asarray(entropy(table.probs, normalised=True)) for name, table in shown.items()}
    drawn = figures.scatter(
        [(name, people, each) for name, each in made.items()], x_name="people", y_name="model", name="entropy",
        title="Entropy of people and model",
        caption="0: all mass on one class; 1: all classes alike. A dot is an item; at most 400 of each system.",
    )  # fmt: skip
    bars = figures.histogram(
        {**made, "people": people}, x_name="normalised entropy", name="entropies", title="How unsure",
        caption="How many items have how much entropy, for each system and for people.", n_bins=12,
    )  # fmt: skip
    text = "The entropy of both distributions, item by item. On the dashed line the model is as unsure as people are."
    return Section("Is it unsure where people disagree?", text, ((drawn, bars),))


def _confusions(shown: Mapping[str, SoftLabels], labels: SoftLabels, gold: Gold | None) -> Section:
    if gold is not None:
        codes = gold.aligned(labels.items, labels.classes)
        what = "gold class"
    else:
        codes = labels.probs.argmax(axis=1).astype(np.int32)
        what = "class that most people say"
    tables = {
        name: _mean_by(codes, table.probs, labels.n_classes) for name, table in (("people", labels), *shown.items())
    }
    drawn = figures.confusions(
        tables, labels.classes, rows=what, name="confusion", title="Confusion",
        caption=f"In rows the {what}, in columns the mean probability of each class.",
    )  # fmt: skip
    return Section(
        "What is taken for what?",
        f"The mean distribution over the classes (columns) of the items of each {what} (rows). A model that takes for "
        "one another what people take for one another has the same table as they have.",
        (drawn,),
    )


def _mean_by(codes: NDArray[np.int32], probs: NDArray[np.floating[Any]], n_classes: int) -> NDArray[np.float64]:
    """Return the mean row of *probs* for each class of *codes*, NaN where a class has no item."""
    result = np.full((n_classes, probs.shape[1]), math.nan)
    for k in range(n_classes):
        rows = codes == k
        if rows.any():
            result[k] = probs[rows].mean(axis=0)
    return result
