"""The LaTeX tables: what stands in which cell, that they fit a page, and names that LaTeX would trip over."""

from __future__ import annotations

import re

import numpy as np

from sfumato import Predictions, SoftLabels
from sfumato.core.gold import Gold
from sfumato.core.origin import Origin
from sfumato.core.report import Number, Report
from sfumato.evaluate.compare_systems import evaluate
from sfumato.evaluate.report.latex import latex_table


def test_cells_dashes_intervals_and_escapes() -> None:
    numbers = [
        Number("a_score", -0.12345, n=5, of="A & B_1", low=-0.2, high=0.2),
        Number("b_loss", 2.0, n=5, of="A & B_1"),
        Number("b_loss", float("nan"), n=5, of=r"100 % \x{y}~^$#"),
    ]
    lines = latex_table(Report("T", numbers, Origin("evaluate")), digits=2).splitlines()
    assert lines[1] == r"\begin{tabular}{lrr}"
    assert lines[3] == r"metric & A \& B\_1 & 100 \% \textbackslash{}x\{y\}\textasciitilde{}\textasciicircum{}\$\# \\"
    assert lines[5] == r"a score & $-$0.12 & -- \\"
    assert lines[6] == r" & {\scriptsize [$-$0.20, 0.20]} &  \\"
    assert lines[7] == r"b loss & 2.00 & -- \\"
    assert "scriptsize" not in latex_table(Report("T", numbers, Origin("evaluate")), intervals=False)


def test_tests_best_and_remarks_stand_in_tables_that_fit_a_page() -> None:
    rng = np.random.default_rng(0)
    items, classes = tuple(map(str, range(90))), ("x", "y", "z")
    truth = rng.dirichlet(np.ones(3), 90)
    people = SoftLabels(truth, items=items, classes=classes)
    made = {
        f"system {k}": Predictions((1 - k / 8) * truth + k / 8 * rng.dirichlet(np.ones(3), 90), items=items,
                                   classes=classes)
        for k in range(6)
    }  # fmt: skip
    report = evaluate(
        made, labels=people, gold=Gold(items, truth.argmax(axis=1), classes), resamples=2000,
        metrics=["manhattan_error", "accuracy_score"],
    )  # fmt: skip
    text = latex_table(report)
    widths = [len(columns) for columns in re.findall(r"begin\{tabular\}\{(\w+)\}", text)]
    assert max(widths) <= 6
    assert all(line.count("&") == width - 1 for width, body in
               zip(widths, re.findall(r"\\midrule\n(.*?)\\bottomrule", text, re.DOTALL), strict=True)
               for line in body.replace(r"\&", "").splitlines())  # fmt: skip
    assert r"manhattan error $\downarrow$ & \textbf{0.000} & " in text
    assert re.search(r"& 0\.\d{3}\* &", text)
    assert r"\textbf{system 0 $-$ system 1}" in text
    assert "system 0 is better" in text
    assert "$d_z$" in text
    assert r"\item P-values are corrected for 30 comparisons (Holm 1979)." in text
    assert "nan" not in text
    assert text.count(r"\begin{tabular}") == text.count(r"\end{tabular}")
