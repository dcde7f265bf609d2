"""Reports one wants to look at: one HTML file, no network, pictures drawn as SVG."""

from __future__ import annotations

__all__ = ["Section", "figures", "html_page", "html_table"]

from sfumato.evaluate.report import figures
from sfumato.evaluate.report.page import Section, html_page, html_table
