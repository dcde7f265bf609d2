"""What a stored answer shows before any soft label is made of it: its first classes, and its contradictions."""

from __future__ import annotations

__all__ = ["contradicts_itself", "first_classes"]

from collections.abc import Mapping
from typing import Any


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
