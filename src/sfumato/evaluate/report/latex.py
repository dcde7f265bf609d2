"""A report as a LaTeX table, ready to be pasted into a paper."""

from __future__ import annotations

__all__ = ["latex_table"]

from sfumato.core.report import Number, Report

_ESCAPED = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
}  # fmt: skip


def latex_table(report: Report, *, digits: int = 3, intervals: bool = True) -> str:
    """Return what the report describes as rows and its numbers as columns, with booktabs rules.

    Intervals stand small beside the numbers; a number without one stands alone, and a missing number is a dash.

    >>> from sfumato.core.origin import Origin
    >>> report = Report("R", [Number("f1_score", 0.5, n=9, of="A & B", low=0.4, high=0.6)], Origin("evaluate"))
    >>> print(latex_table(report, digits=2))
    % \\usepackage{booktabs}
    \\begin{tabular}{lr}
    \\toprule
     & f1 score \\\\
    \\midrule
    A \\& B & 0.50 {\\scriptsize [0.40, 0.60]} \\\\
    \\bottomrule
    \\end{tabular}
    """
    names = report.names()

    def cell(number: Number | None) -> str:
        if number is None:
            return "--"
        shown = f"{number.value:.{digits}f}"
        if intervals and number.low is not None and number.high is not None:
            shown += rf" {{\scriptsize [{number.low:.{digits}f}, {number.high:.{digits}f}]}}"
        return shown

    lines = [
        r"% \usepackage{booktabs}",
        rf"\begin{{tabular}}{{l{'r' * len(names)}}}",
        r"\toprule",
        " & ".join(["", *(_escaped(name.replace("_", " ")) for name in names)]) + r" \\",
        r"\midrule",
    ]
    lines += [
        " & ".join([_escaped(of or report.title), *(cell(numbers.get(name)) for name in names)]) + r" \\"
        for of, numbers in report.rows().items()
    ]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"])


def _escaped(text: str) -> str:
    return "".join(_ESCAPED.get(letter, letter) for letter in text)
