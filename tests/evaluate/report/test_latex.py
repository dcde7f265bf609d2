"""The LaTeX table: what stands in which cell, and names that LaTeX would trip over."""

from __future__ import annotations

from sfumato.core.origin import Origin
from sfumato.core.report import Number, Report
from sfumato.evaluate.report.latex import latex_table


def test_cells_dashes_intervals_and_escapes() -> None:
    numbers = [
        Number("a_score", 0.12345, n=5, of="A & B_1", low=0.1, high=0.2),
        Number("b_loss", 2.0, n=5, of="A & B_1"),
        Number("b_loss", 1.0, n=5, of=r"100 % \x{y}~^$#"),
    ]
    lines = latex_table(Report("T", numbers, Origin("evaluate")), digits=2).splitlines()
    assert lines[1] == r"\begin{tabular}{lrr}"
    assert lines[3] == r" & a score & b loss \\"
    assert lines[5] == r"A \& B\_1 & 0.12 {\scriptsize [0.10, 0.20]} & 2.00 \\"
    assert lines[6] == r"100 \% \textbackslash{}x\{y\}\textasciitilde{}\textasciicircum{}\$\# & -- & 1.00 \\"
    assert "scriptsize" not in latex_table(Report("T", numbers, Origin("evaluate")), intervals=False)
