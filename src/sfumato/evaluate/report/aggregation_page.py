"""The page of an aggregation: what came in, what soft labels came out, and who said what."""

from __future__ import annotations

__all__ = ["aggregation_page"]

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sfumato.core.alphabetical import alphabetical
from sfumato.core.annotations import Annotations
from sfumato.core.simplex import entropy, normalise
from sfumato.core.soft_labels import SoftLabels
from sfumato.evaluate.report import figures
from sfumato.evaluate.report.figure import Panel
from sfumato.evaluate.report.page import Section, html_page, html_table
from sfumato.evaluate.report.views_apart import views_apart

# Annotators in the table: of more, those with the lowest competence.
_ANNOTATORS = 20


def aggregation_page(
    annotations: Annotations,
    soft: SoftLabels,
    *,
    annotators: Mapping[str, Any] | None = None,
    views: Mapping[str, SoftLabels] | None = None,
    trace: Sequence[float] = (),
    texts: Mapping[str, str] | None = None,
    pictures: Mapping[str, str] | None = None,
    notes: Sequence[str] = (),
    most: int = 8,
) -> str:
    """Return an aggregation as one HTML document that needs nothing beside itself.

    *soft* are the soft labels that were made of *annotations*. *annotators* are columns of what was learnt about each
    (`Result.annotator_columns`), *trace* the objective after each iteration, *views* the soft labels of several
    methods by name. *texts* are what items say, *pictures* data addresses of how they look; both are shown with the
    *most* items that are least certain.

    >>> votes = Annotations.from_rows(["a", "a", "b"], ["x", "y", "x"], ["cat", "dog", "cat"])
    >>> soft = SoftLabels([[0.5, 0.5], [1.0, 0.0]], items=["a", "b"], classes=["cat", "dog"])
    >>> page = aggregation_page(votes, soft)
    >>> page.startswith("<!doctype html>"), "least certain" in page
    (True, True)
    """
    votes = SoftLabels(normalise(annotations.counts()), items=annotations.items, classes=annotations.classes)
    sections = [_overview(annotations, soft, votes), _uncertain(soft, votes, texts or {}, pictures or {}, most)]
    if annotators is not None and len(annotators) > 2:
        sections.append(_annotators(annotators))
    if views and len(views) > 1:
        sections += views_apart(views, most=most)
    if len(trace) > 1:
        sections.append(_trace(trace))
    summary = (
        f"{annotations.n_annotations:,} annotations of {annotations.n_items:,} items by {annotations.n_annotators:,} "
        f"annotators, {annotations.n_classes:,} classes, made into soft labels by {soft.origin.method}."
    )
    return html_page("Soft labels", " ".join([summary, *notes]), sections, origin=soft.origin)


def _overview(annotations: Annotations, soft: SoftLabels, votes: SoftLabels) -> Section:
    per_item = annotations.per_item()
    judged = per_item[per_item > 0]
    agreed = float((votes.probs.max(axis=1) == 1)[per_item > 0].mean())
    facts = html_table(
        ["", "number"],
        [
            ["annotations per item, median", f"{np.median(judged):g}"],
            ["fewest and most", f"{judged.min():,} and {judged.max():,}"],
            ["items without a dissenting vote", f"{agreed:.1%}"],
            ["mean probability of the top class", f"{float(soft.probs.max(axis=1).mean()):.3f}"],
        ],
        name="What came in",
    )
    shares = html_table(
        ["class", "share of votes", "share in the soft labels"],
        [
            [cls, f"{float(before):.3f}", f"{float(after):.3f}"]
            for cls, before, after in zip(
                votes.classes,
                votes.probs[per_item > 0].mean(axis=0),
                soft.with_classes(votes.classes).probs.mean(axis=0),
                strict=True,
            )
        ],
        name="Classes",
    )
    unsure = {
        "votes": entropy(votes.probs, normalised=True),
        "soft labels": entropy(soft.probs, normalised=True),
    }
    drawn = figures.histogram(
        unsure, x_name="normalised entropy", name="uncertainty", title="How uncertain the items are",
        caption="0: all mass on one class; 1: all classes alike.",
    )  # fmt: skip
    text = "What the annotators said, and how sure the soft labels are that were made of it."
    return Section("What came in, what came out", text, ((drawn, f"{facts}{shares}"),))


def _uncertain(
    soft: SoftLabels, votes: SoftLabels, texts: Mapping[str, str], pictures: Mapping[str, str], most: int
) -> Section:
    names = alphabetical(soft.items)
    unsure = np.asarray(entropy(soft.probs, normalised=True))
    order = names[np.argsort(-unsure[names], kind="stable")][:most]
    voted = votes.with_classes(soft.classes)
    chosen = [soft.items[row] for row in order]
    panels = [Panel(name, [("votes", voted[name]), ("soft label", soft[name])], pictures.get(name)) for name in chosen]
    drawn = figures.distributions(
        panels, soft.classes, name="uncertain", title="The least certain items",
        caption="Above the shares of the votes, below the soft label.",
    )  # fmt: skip
    said = [[name, texts[name][:300]] for name in chosen if name in texts]
    table = html_table(["item", "text"], said, name="Texts of the items", text=[1]) if said else ""
    text = f"The {len(panels)} items whose soft label is least certain: worth a look, or another annotator."
    return Section("The items that are least certain", text, (drawn, table))


def _annotators(columns: Mapping[str, Any]) -> Section:
    names, counts = list(columns["annotator"]), np.asarray(columns["n_annotations"])
    competence = np.asarray(columns.get("competence", np.full(len(names), math.nan)), dtype=np.float64)
    # Those of whom nothing is known come last.
    order = np.argsort(np.where(np.isnan(competence), math.inf, competence), kind="stable")
    rows = [
        [str(names[j]), f"{int(counts[j]):,}", "" if math.isnan(competence[j]) else f"{competence[j]:.3f}"]
        for j in order[:_ANNOTATORS]
    ]
    table = html_table(["annotator", "annotations", "competence"], rows, name="Annotators")
    known = competence[~np.isnan(competence)]
    pieces: tuple[Any, ...] = (table,)
    if len(known):
        drawn = figures.histogram(
            {"annotators": known}, x_name="competence", y_name="annotators", name="competence",
            title="How competent the annotators are",
            caption="The probability of a right answer that the method gives each of them.",
        )  # fmt: skip
        pieces = ((drawn, table),)
    shown = f"the {_ANNOTATORS} of {len(names):,} with the lowest competence" if len(names) > _ANNOTATORS else "all"
    return Section("Who said it", f"What the method learnt about the annotators; the table shows {shown}.", pieces)


def _trace(trace: Sequence[float]) -> Section:
    steps = [float(step) for step in range(1, len(trace) + 1)]
    drawn = figures.curves(
        {"objective": (steps, [float(value) for value in trace])}, x_name="iteration", y_name="objective",
        name="trace", title="The objective", caption="After each iteration; flat at the end: converged.",
    )  # fmt: skip
    return Section("How the method got there", f"{len(trace)} iterations.", (drawn,))
