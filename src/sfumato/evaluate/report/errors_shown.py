"""The parts of an evaluation that show single items and people: who was right, where it went wrong, in whose eyes."""

from __future__ import annotations

__all__ = ["furthest", "in_whose_eyes", "who_was_right"]

import math
from collections.abc import Mapping

import numpy as np

from sfumato.core.annotations import Annotations
from sfumato.core.gold import Gold
from sfumato.core.soft_labels import SoftLabels
from sfumato.evaluate.error_analysis import by_correctness, largest_gaps
from sfumato.evaluate.perspectives import annotator_accuracies
from sfumato.evaluate.report import cells, figures
from sfumato.evaluate.report.figure import Panel
from sfumato.evaluate.report.page import Piece, Section, html_table
from sfumato.evaluate.significance import holm

_TEXT = 300
_ANNOTATORS = 10


def who_was_right(runs: Mapping[str, SoftLabels], labels: SoftLabels, gold: Gold) -> Section:
    """Return how sure people were of what the first two systems got right (Fornaciari et al. 2021, table 3)."""
    (name_a, a), (name_b, b) = list(runs.items())[:2]
    kept = labels if gold.n_items == labels.n_items else labels.take(gold.items)
    codes = gold.aligned(kept.items, kept.classes)
    right = [table.take(kept.items).probs.argmax(axis=1) == codes for table in (a, b)]
    groups, tests = by_correctness(kept, *right)
    # Of two or three numbers the kurtosis is always the same.
    measures = ("kurtosis", "entropy") if kept.n_classes > 3 else ("entropy",)
    names = {"both": "both", "only A": f"only {name_a}", "only B": f"only {name_b}", "none": "neither"}
    table = html_table(
        ["right", "items", *measures],
        [[names[g.name], f"{g.n:,}", *(_plain(getattr(g, measure)) for measure in measures)] for g in groups],
        name="Soft labels by who was right",
    )
    tests = tuple(test for test in tests if test.measure in measures)
    corrected = holm([test.p_value for test in tests])
    rows = [
        [f"{names[test.first]} / {names[test.second]}", test.measure, f"{test.share:.2f}", cells.p_value(p)]
        for test, p in zip(tests, corrected.tolist(), strict=True)
        if not math.isnan(test.p_value)
    ]
    # Where one group holds all items there is nothing to test.
    head = ["groups", "of", "first above second", "p corrected"]
    found = [html_table(head, rows, name="Tests between the groups")] if rows else []
    return Section(
        "Who was right where people disagree?",
        f"{' and '.join(measures).capitalize()} of the soft labels by which of {name_a} and {name_b} had the item "
        "right (Fornaciari et al. 2021, table 3), and Mann–Whitney tests between the groups. "
        f"{'High kurtosis and low' if len(measures) > 1 else 'Low'} entropy: people agree.",
        (table, *found),
    )


def furthest(
    shown: Mapping[str, SoftLabels],
    labels: SoftLabels,
    texts: Mapping[str, str],
    pictures: Mapping[str, str],
    most: int,
) -> Section:
    """Return the items on which people and the first system are furthest apart, with what they say or show."""
    name, table = next(iter(shown.items()))
    gaps = largest_gaps(table, labels, most=most)
    panels = [
        Panel(
            f"{gap.item} · {gap.value:.3f}",
            [("people", gap.people), *((other, each[gap.item]) for other, each in shown.items())],
            pictures.get(gap.item),
        )
        for gap in gaps
    ]
    drawn = figures.distributions(
        panels, labels.classes, name="furthest", title="Largest gaps",
        caption="The item, and the Jensen–Shannon divergence in nats.",
    )  # fmt: skip
    said = [[gap.item, _shortened(texts[gap.item])] for gap in gaps if gap.item in texts]
    pieces: list[Piece] = [drawn]
    if said:
        pieces.append(html_table(["item", "text"], said, name="Texts of the items", text=[1]))
    return Section(
        "Where people and model are furthest apart",
        f"The {len(panels)} items with the largest divergence between people and {name}, the largest first.",
        tuple(pieces),
    )


def in_whose_eyes(shown: Mapping[str, SoftLabels], annotations: Annotations) -> Section:
    """Return how often each annotator says what each system says: nobody's answer is the wrong one."""
    found = {name: annotator_accuracies(table, annotations) for name, table in shown.items()}
    first = next(iter(found.values()))
    judged = first.n > 0
    drawn = figures.histogram(
        {name: each.accuracy[judged] for name, each in found.items()},
        x_name="accuracy in the eyes of an annotator", y_name="annotators", name="annotators", n_bins=12,
        title="In how many eyes it is how good",
        caption="The share of an annotator's answers that are the system's most probable class.",
    )  # fmt: skip
    order = np.flatnonzero(judged)[np.argsort(first.accuracy[judged], kind="stable")][:_ANNOTATORS]
    table = html_table(
        ["annotator", "items", *found],
        [
            [first.annotators[j], f"{int(first.n[j]):,}", *(f"{each.accuracy[j]:.3f}" for each in found.values())]
            for j in order
        ],
        name="Annotators who agree least",
    )
    text = (
        f"How often each of {int(judged.sum()):,} annotators says what the systems say. The table shows those who "
        "agree least with the first system: they may be careless, or see something that the others do not."
    )
    return Section("In whose eyes", text, ((drawn, table),))


def _shortened(text: str) -> str:
    return text if len(text) <= _TEXT else f"{text[:_TEXT]}…"


def _plain(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.3f}"
