"""The answer that a plain form sends, where the browser runs no scripts, as the answer that the scripts would send."""

from __future__ import annotations

__all__ = ["answer_from_form", "shown_again"]

import json
from collections.abc import Sequence
from typing import Any


def answer_from_form(pairs: Sequence[tuple[str, str]], classes: Sequence[str]) -> dict[str, Any]:
    """Return the answer in the form of the JSON API.

    *pairs* are the fields of the form in their order. What is not a number stays the text it was, so that the check
    of the answer can say what is wrong with it. "Everything else is impossible" is spelt out, class by class, once
    there is a first choice that the rest is other than.

    >>> answer_from_form([("mode", "top1"), ("top", "deer"), ("top_percent", "70")], ["deer", "horse"])
    {'mode': 'top1', 'top': 'deer', 'top_percent': 70}
    """
    fields = dict(pairs)
    if "answer" in fields:
        try:
            told = json.loads(fields["answer"])
        except ValueError:
            told = None
        return told if isinstance(told, dict) else {}
    mode = fields.get("mode", "")
    if mode in ("chips", "sliders"):
        names = [value for name, value in pairs if name == "class"]
        amounts = [value for name, value in pairs if name == "amount"]
        given: dict[str, Any] = {}
        for name, amount in zip(names, amounts, strict=False):
            if amount.strip():
                # Two amounts for one class are no number, and the check of the answer says so.
                given[name] = f"{given[name]}, {amount}" if name in given else _number(amount)
        return {"mode": mode, "chips" if mode == "chips" else "percents": given}
    answer: dict[str, Any] = {"mode": mode, "top": fields.get("top") or None}
    if mode in ("top1", "top2"):
        answer["top_percent"] = _number(fields.get("top_percent", ""))
    if mode == "top2":
        answer["second"] = fields.get("second") or None
        answer["second_percent"] = _number(fields.get("second_percent", ""))
        chosen = (answer["top"], answer["second"])
        impossible = [value for name, value in pairs if name == "impossible" and value]
        if fields.get("others") == "impossible" and answer["top"]:
            known = frozenset((*chosen, *impossible))
            impossible += [name for name in classes if name not in known]
        answer["impossible"] = impossible
    return answer


def shown_again(answer: dict[str, Any], pairs: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Return an answer that was refused, as the page is to show it: with a tick that it has no classes for yet."""
    return answer | {"others": True} if dict(pairs).get("others") == "impossible" else answer


def _number(text: str) -> float | int | str | None:
    """Return a number where the text is one, with a point or a comma; None where it is empty; else the text."""
    text = text.strip()
    if not text:
        return None
    try:
        number = float(text.replace(",", "."))
    except ValueError:
        return text
    return int(number) if number.is_integer() else number
