"""A report as Markdown: the numbers, what stands beside them, the tests, the classes and the remarks."""

from __future__ import annotations

__all__ = ["markdown_report"]

from collections.abc import Sequence

from sfumato.core.report import Report
from sfumato.core.vocabulary import counted
from sfumato.evaluate.report import cells
from sfumato.evaluate.report.tables import Table, report_tables


def markdown_report(report: Report) -> str:
    """Return what `evaluate` found as Markdown, a metric in each row.

    The best of each row is bold; *: the test tells it apart from the best.

    >>> from sfumato.core.soft_labels import SoftLabels
    >>> from sfumato.evaluate.compare_systems import evaluate
    >>> soft = SoftLabels([[0.9, 0.1], [0.2, 0.8]] * 20, items=[*map(str, range(40))], classes=["x", "y"])
    >>> found = evaluate(soft, labels=soft, metrics=["manhattan_error"], resamples=20)
    >>> print(markdown_report(found).split("\\n\\n")[2])
    | metric | model |
    |---|---:|
    | manhattan error ↓ | 0.000 [0.000, 0.000] |
    """
    parts = [f"# {report.title}", _plain(_summary(report))]
    for table in report_tables(report):
        if table.title:
            parts.append(f"## {table.title}")
        parts.append(_table(table))
    if report.notes:
        parts.append("\n".join(f"- {_plain(line)}" for line in report.notes))
    return "\n\n".join(parts)


def _summary(report: Report) -> str:
    n_items, n_gold = report.details["n_items"], report.details["n_gold"]
    runs = [f"{name}: {n} runs" for name, n in report.details["runs"].items() if n > 1]
    with_gold = f", {n_gold:,} with gold" if n_gold else ""
    level = cells.level_words(report.origin.options["level"])
    marked = (
        " Bold: the best; *: told apart from it after Holm's correction." if len(report.details["runs"]) > 1 else ""
    )
    of_runs = f" {'; '.join(runs)}." if runs else ""
    return (
        f"{counted(n_items, 'item')}{with_gold}.{of_runs} ↑: higher is better, ↓: lower. {level} intervals from "
        f"{report.origin.options['resamples']:,} resamples, seed {report.origin.seed}.{marked}"
    )


def _table(table: Table) -> str:
    best = set(table.best)
    lines = [_row(table.head), "|---" + "|---:" * (len(table.head) - 1) + "|"]
    for r, row in enumerate(table.rows):
        shown = [_plain(text) for text in row]
        lines.append(_row([f"**{text}**" if (r, c) in best else text for c, text in enumerate(shown)], plain=True))
    return "\n".join(lines)


def _row(texts: Sequence[str], *, plain: bool = False) -> str:
    return "| " + " | ".join(texts if plain else map(_plain, texts)) + " |"


def _plain(text: str) -> str:
    """Return text that Markdown takes as it is."""
    for letter in "\\|<*_`":
        text = text.replace(letter, f"\\{letter}") if letter != "<" else text.replace("<", "&lt;")
    return " ".join(text.split())
