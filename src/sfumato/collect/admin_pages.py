"""The pages for the person who runs the study, as whole HTML documents of what the JSON of the same name says."""

from __future__ import annotations

__all__ = ["AdminPages"]

import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from sfumato.collect.assets import Assets
from sfumato.collect.study import Study

_DOWNLOADS = (
    ("responses.jsonl", "Every answer as it was said, with the time of each input"),
    ("votes.csv", "One row per annotator and item, for sfumato aggregate"),
    ("soft.csv", "Soft labels, one row per item"),
    ("soft.parquet", "The same soft labels, with where they come from"),
    ("people.csv", "Who came, how far, and what the rules say of them; no platform ids"),
    ("exit.csv", "Answers to the questions at the end; look before you share them"),
    ("payments.csv", "Who is to be paid, with the bonus; with platform ids, so keep it apart"),
)
_ORDERS = (("entropy", "Most divided"), ("least", "Fewest answers"), ("id", "As they stand"))
_STATES = {"open": "Open", "paused": "Paused", "closed": "Closed"}
_PER_PAGE = 50
# Times before 2000, in milliseconds, are no dates: imported answers count from each person's own start.
_FIRST_DATE = 946_684_800_000


class AdminPages:
    """Renders the admin pages of one study, in English."""

    def __init__(self, study: Study) -> None:
        self._environment = Environment(
            loader=FileSystemLoader(Path(__file__).parent / "templates"), autoescape=True, undefined=StrictUndefined,
            trim_blocks=True, lstrip_blocks=True,
        )  # fmt: skip
        self._environment.filters |= {
            "percent": _percent, "number": _number, "ago": _ago, "moment": _moment, "count": lambda n: f"{n:,}",
        }  # fmt: skip
        self._environment.globals.update(
            study=study, static=f"/static/{Assets().version}", downloads=_DOWNLOADS, states=_STATES
        )

    def enter(self, *, csrf: str, wrong: bool = False) -> str:
        """Return the page that asks for the admin secret."""
        return self._page("enter", csrf=csrf, wrong=wrong)

    def overview(self, data: Mapping[str, Any], *, csrf: str) -> str:
        """Return the first page: how far the study is, its numbers so far, and what can be done about it."""
        counts = {int(n): count for n, count in data["per_item"]["counts"].items()}
        bars = [(n, counts.get(n, 0)) for n in range(max([data["panel"], *counts]) + 1)]
        return self._page(
            "overview", csrf=csrf, data=data, bars=bars, tallest=max((n for _, n in bars), default=0) or 1
        )

    def people(self, data: Mapping[str, Any], *, csrf: str) -> str:
        """Return everybody: how far they are, their times, consistency, checks, and what the rules say of them."""
        people = data["people"]
        bonus = sum(each["bonus"] or 0 for each in people if not each["do_not_pay"])
        return self._page("people", csrf=csrf, people=people, bonus=bonus)

    def items(self, data: Mapping[str, Any], *, csrf: str) -> str:
        """Return items beside the distribution of what was said of them, those that split people first."""
        offset, total = data["offset"], data["total"]
        pages = {
            "before": max(0, offset - _PER_PAGE) if offset else None,
            "after": offset + len(data["items"]) if offset + len(data["items"]) < total else None,
        }
        return self._page("items", csrf=csrf, data=data, orders=_ORDERS, pages=pages)

    def _page(self, name: str, **context: Any) -> str:
        return self._environment.get_template(f"admin_{name}.html").render(page=name, **context)


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.0f} %"


def _number(value: float | None, digits: int = 1) -> str:
    return "–" if value is None else f"{value:,.{digits}f}"


def _ago(at: int) -> str:
    """Return how long ago a time in milliseconds was, as people say it; imported people have no date."""
    if at < _FIRST_DATE:
        return "–"
    seconds = max(0, time.time() - at / 1000)
    if seconds < 60:
        return "now"
    unit, length = ("min", 60) if seconds < 6000 else ("h", 3600) if seconds < 172_800 else ("d", 86_400)
    return f"{seconds / length:.0f} {unit} ago"


def _moment(at: int) -> str:
    if at < _FIRST_DATE:
        return "no date: times count from their own start"
    return datetime.fromtimestamp(at / 1000, UTC).strftime("%Y-%m-%d %H:%M UTC")
