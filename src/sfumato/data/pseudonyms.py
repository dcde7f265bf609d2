"""Short names in place of the ids that a crowdsourcing platform gave its workers.

Platform ids can be looked up, so they are personal data; a set is loaded without them. Numbers in the order of first
appearance say all that an analysis needs, and cannot be turned back as a hash of a known id can.
"""

from __future__ import annotations

__all__ = ["pseudonyms"]

from collections.abc import Iterable


def pseudonyms(ids: Iterable[str], *, prefix: str = "a") -> list[str]:
    """Return a pseudonym for each id, the same one for the same id, numbered by first appearance.

    >>> pseudonyms(["A2B4C6D8E0F2G4", "W77", "A2B4C6D8E0F2G4"])
    ['a001', 'a002', 'a001']
    """
    number: dict[str, int] = {}
    codes = [number.setdefault(name, len(number) + 1) for name in ids]
    width = max(3, len(str(len(number))))
    return [f"{prefix}{code:0{width}}" for code in codes]
