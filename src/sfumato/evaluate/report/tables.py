"""The tables of an evaluation, as text in cells: what Markdown and LaTeX write, each in its own way."""

from __future__ import annotations

__all__ = ["Table", "class_tables", "report_tables", "told_apart"]

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sfumato.core.report import Report
from sfumato.evaluate.report import cells


@dataclass(frozen=True, slots=True)
class Table:
    """Cells under heads, the first column naming the rows; ``best`` are the cells to be set off, as (row, column)."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    best: tuple[tuple[int, int], ...] = ()


def report_tables(report: Report, *, digits: int = 3, intervals: bool = True) -> list[Table]:
    """Return the numbers of the systems, of what stands beside them, the tests of each pair, and the classes."""
    rows = report.rows()
    # A report of something else has no systems and no tests: then all its rows are alike.
    systems = [of for of in report.details.get("runs", rows) if of in rows]
    higher = report.details.get("higher_is_better", {})
    names = {
        name: f"{cells.words(name)} {cells.arrow(higher[name])}" if name in higher else cells.words(name)
        for name in report.names()
    }
    lines, best = [], []
    for r, (name, shown) in enumerate(names.items()):
        numbers = [rows[system].get(name) for system in systems]
        leading = cells.leading(numbers, higher=higher[name]) if name in higher else []
        best += [(r, c + 1) for c in leading]
        worse = told_apart(report, name, systems[leading[0]]) if leading else set()
        made = [
            cells.cell(one, digits, mark="*" if system in worse else "")
            if intervals
            else ("" if one is None else cells.number(one.value, digits) + ("*" if system in worse else ""))
            for system, one in zip(systems, numbers, strict=True)
        ]
        lines.append((shown, *made))
    found = [Table("", ("metric", *systems), tuple(lines), tuple(best))]
    beside = [of for of in rows if of not in systems]
    if beside:
        head = ("metric", *(of.partition(": ")[2] for of in beside))
        found.append(
            Table(
                "For comparison", head,
                tuple(
                    (shown, *("" if (one := rows[of].get(name)) is None else cells.number(one.value, digits)
                              for of in beside))
                    for name, shown in names.items()
                ),
            )
        )  # fmt: skip
    tests = report.details.get("comparisons", ())
    level = report.origin.options.get("level", 0.95)
    for a, b in dict.fromkeys((row["a"], row["b"]) for row in tests):
        found.append(
            Table(
                f"{a} − {b}", ("metric", "difference", "p", "p (Holm)", "d_z", "verdict"),
                tuple(
                    (names[row["metric"]], cells.difference(row, digits), cells.p_value(row["p_value"]),
                     cells.p_value(row["p_holm"]), cells.d_z(row["effect_size"]), cells.verdict(row, level))
                    for row in tests
                    if (row["a"], row["b"]) == (a, b)
                ),
            )
        )  # fmt: skip
    return found + class_tables(report.details.get("classes", {}), digits=digits)


def class_tables(classes: Mapping[str, Sequence[Mapping[str, Any]]], *, digits: int = 3) -> list[Table]:
    """Return precision, recall and F1 of each class, a table for each system."""
    return [
        Table(
            f"Classes: {system}", ("class", "precision", "recall", "F1", "items"),
            tuple(
                (row["class"], *(cells.number(row[kind], digits) for kind in ("precision", "recall", "f1")),
                 f"{row['support']:,}")
                for row in rows
            ),
        )
        for system, rows in classes.items()
    ]  # fmt: skip


def told_apart(report: Report, metric: str, best: str) -> set[str]:
    """Return the systems that differ from the best one in a metric by more than chance."""
    return {
        row["b"] if row["a"] == best else row["a"]
        for row in report.details["comparisons"]
        if row["metric"] == metric and best in (row["a"], row["b"])
        and row["p_holm"] <= 1 - report.origin.options["level"]
    }  # fmt: skip
