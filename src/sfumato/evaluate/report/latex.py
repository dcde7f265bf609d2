"""A report as LaTeX tables, ready to be pasted into a paper."""

from __future__ import annotations

__all__ = ["latex_table"]

from sfumato.core.report import Report
from sfumato.evaluate.report.tables import Table, report_tables

_ESCAPED = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": "$<$", ">": "$>$", "−": "$-$", "∞": r"$\infty$",
    "↑": r"$\uparrow$", "↓": r"$\downarrow$", "–": "--", "±": r"$\pm$", "α": r"$\alpha$", "κ": r"$\kappa$",
}  # fmt: skip
# Columns of numbers that stand beside each other on a page of one column.
_COLUMNS = 4


def latex_table(report: Report, *, digits: int = 3, intervals: bool = True) -> str:
    """Return the tables of what `evaluate` found, with booktabs rules: a metric in each row, a system in each column.

    The best of each row is bold, * is what the test tells apart from it. Intervals stand small below the numbers, and
    more than four systems in tables below each other, so that each fits a page. The tests and the classes follow, then
    the remarks as a list.

    >>> from sfumato.core.soft_labels import SoftLabels
    >>> from sfumato.evaluate.compare_systems import evaluate
    >>> soft = SoftLabels([[0.9, 0.1], [0.2, 0.8]] * 20, items=[*map(str, range(40))], classes=["x", "y"])
    >>> found = evaluate({"A & B": soft}, labels=soft, metrics=["manhattan_error"], baselines=False, resamples=20)
    >>> print(latex_table(found, digits=2))
    % \\usepackage{booktabs}
    \\begin{tabular}{lr}
    \\toprule
    metric & A \\& B \\\\
    \\midrule
    manhattan error $\\downarrow$ & 0.00 \\\\
     & {\\scriptsize [0.00, 0.00]} \\\\
    \\bottomrule
    \\end{tabular}
    """
    parts = [r"% \usepackage{booktabs}"]
    for table in report_tables(report, digits=digits, intervals=intervals):
        if table.title:
            parts.append(rf"\par\medskip\noindent\textbf{{{_escaped(table.title)}}}\par\smallskip\noindent")
        pieces = [_tabular(table, columns) for columns in _columns(table)]
        parts.append("\n\\par\\medskip\\noindent\n".join(pieces))
    if report.notes:
        parts += [r"\begin{itemize}", *(rf"\item {_escaped(line)}" for line in report.notes), r"\end{itemize}"]
    return "\n".join(parts)


def _columns(table: Table) -> list[list[int]]:
    """Return which columns beside the first stand in which tabular."""
    every = list(range(1, len(table.head)))
    if table.head[0] != "metric" or "verdict" in table.head:
        return [every]
    return [every[start : start + _COLUMNS] for start in range(0, len(every), _COLUMNS)]


def _tabular(table: Table, columns: list[int]) -> str:
    text = "verdict" in table.head
    lines = [
        rf"\begin{{tabular}}{{l{'r' * (len(columns) - text)}{'l' * text}}}",
        r"\toprule",
        " & ".join(_escaped(table.head[c]) for c in (0, *columns)) + r" \\",
        r"\midrule",
    ]
    best = set(table.best)
    for r, row in enumerate(table.rows):
        shown, below = [], []
        for c in columns:
            value, bracket, interval = row[c].partition(" [")
            value = _escaped(value) or "--"
            shown.append(rf"\textbf{{{value}}}" if (r, c) in best else value)
            below.append(rf"{{\scriptsize [{_escaped(interval)}}}" if bracket else "")
        lines.append(" & ".join([_escaped(row[0]), *shown]) + r" \\")
        if any(below):
            lines.append(" & ".join(["", *below]) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"])


def _escaped(text: str) -> str:
    if text == "d_z":
        return "$d_z$"
    return "".join(_ESCAPED.get(letter, letter) for letter in text)
