"""What a stored answer shows before any soft label is made of it: its first classes, and its contradictions."""

from __future__ import annotations

__all__ = ["ROUNDING", "contradicts_itself", "first_classes", "spelt"]

from collections.abc import Mapping
from typing import Any

# Percentages that come as near to 100 as this make 100: thirds are 33.33, or 33.333. A little above one hundredth, for
# sums of decimals miss by the dust of floating point. The same number stands in answer.js.
ROUNDING = 0.010001


def first_classes(answer: Mapping[str, Any]) -> frozenset[str]:
    """Return the class that an answer puts first; several where they share the first place, none where nothing is said.

    >>> sorted(first_classes({"mode": "chips", "chips": {"deer": 8, "horse": 8, "dog": 4}}))
    ['deer', 'horse']
    """
    if answer["mode"] in ("chips", "sliders"):
        given: Mapping[str, float] = answer["chips" if answer["mode"] == "chips" else "percents"]
        most = max(given.values(), default=0)
        return frozenset(name for name, amount in given.items() if amount == most and most > 0)
    return frozenset([answer["top"]]) if answer.get("top") else frozenset()


def spelt(answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return an answer in the one spelling that answers which say the same share.

    >>> spelt({"mode": "top2", "top": "deer", "second": None, "impossible": ["ship", "dog"], "others": True})
    {'mode': 'top2', 'top': 'deer', 'impossible': ['dog', 'ship']}
    """
    told = {key: value for key, value in answer.items() if value is not None and key != "others"}
    if isinstance(told.get("impossible"), list):
        told["impossible"] = sorted(map(str, told["impossible"]))
    return told


def contradicts_itself(answer: Mapping[str, Any]) -> bool:
    """Return whether an answer does one of the three things for which Collins et al. (2022) leave people out.

    A probability outside 0 to 100, a first or second class that is also impossible, or a first class without a
    probability. Our own pages cannot send any of them; files from elsewhere hold all three.

    >>> contradicts_itself({"mode": "top2", "top": "deer", "top_percent": 70, "impossible": ["deer", "ship"]})
    True
    """
    mode = answer["mode"]
    if mode == "sliders":
        return not all(0 <= percent <= 100 for percent in answer["percents"].values())
    if mode in ("hard", "chips"):
        return False
    first, second = answer.get("top_percent"), answer.get("second_percent")
    chosen = {answer["top"], answer.get("second")} if second is not None else {answer["top"]}
    said = [percent for percent in (first, second) if percent is not None]
    return (
        first is None
        or not all(0 <= percent <= 100 for percent in said)
        or not chosen.isdisjoint(answer.get("impossible") or ())
    )
