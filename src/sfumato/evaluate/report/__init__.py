"""Reports one wants to look at: one HTML file, no network, pictures drawn as SVG."""

from __future__ import annotations

__all__ = [
    "Figure",
    "Panel",
    "Section",
    "aggregation_page",
    "comparison_page",
    "evaluation_page",
    "evaluation_sections",
    "figures",
    "html_page",
    "html_table",
    "png_uri",
    "save_figure",
    "save_figures",
]

from sfumato.evaluate.report import figures
from sfumato.evaluate.report.aggregation_page import aggregation_page
from sfumato.evaluate.report.comparison_page import comparison_page
from sfumato.evaluate.report.evaluation_page import evaluation_page, evaluation_sections
from sfumato.evaluate.report.figure import Figure, Panel
from sfumato.evaluate.report.figure_files import save_figure, save_figures
from sfumato.evaluate.report.page import Section, html_page, html_table
from sfumato.evaluate.report.thumbnails import png_uri
