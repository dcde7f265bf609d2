"""What a study of one's own said, with the time of every input, from the file that `sfumato collect export` writes."""

from __future__ import annotations

__all__ = ["TimedAnswer", "own_answers"]

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from sfumato.collect.store import ResponseRow, response_of
from sfumato.core.responses import Response
from sfumato.errors import FormatError, InputError

# The inputs of each part of an answer, as the page names them.
_PARTS = {
    "top": "top", "top_percent": "top", "second": "second", "second_percent": "second", "none": "second",
    "impossible": "impossible", "others": "impossible",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class TimedAnswer:
    """An answer, and the seconds that each part of it took: ``top``, ``second``, ``impossible``."""

    response: Response
    seconds: Mapping[str, float]


@lru_cache(maxsize=4)
def own_answers(path: str) -> tuple[TimedAnswer, ...]:
    """Return the answers that count: the last to each place, of nobody who is left out, without practice and checks."""
    latest: dict[tuple[str, int], dict[str, Any]] = {}
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from None
    for number, line in enumerate(lines, start=1):
        try:
            told = json.loads(line)
            who, counts = (told["annotator"], told["place"]), told["kind"] == "main" and not told["left_out"]
            better = who not in latest or told["revision"] > latest[who]["revision"]
        except (ValueError, KeyError, TypeError):
            raise FormatError(
                f"{path}, line {number}, is no answer of a study. Write the file with: "
                "sfumato collect export STUDY -o responses.jsonl"
            ) from None
        if counts and better:
            latest[who] = told
    if not latest:
        raise InputError(f"{path} holds no answer that counts.")
    return tuple(_timed(told) for told in latest.values())


def _timed(told: Mapping[str, Any]) -> TimedAnswer:
    row = ResponseRow(
        key=told["key"], person=told["annotator"], place=told["place"], item=told["item"], answer=told["answer"],
        seconds=told["seconds"],
    )  # fmt: skip
    return TimedAnswer(response_of(row), _seconds_by_part(told["events"]))


def _seconds_by_part(events: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Return the seconds of each part: an input lasts from the one before it to its own end.

    >>> _seconds_by_part([{"at": 2000, "what": "top"}, {"at": 3000, "until": 3500, "what": "top_percent"}])
    {'top': 3.5}
    """
    seconds: dict[str, float] = {}
    before = 0.0
    for event in events:
        end = float(event.get("until", event["at"]))
        part = _PARTS.get(str(event["what"]))
        if part is not None:
            seconds[part] = seconds.get(part, 0.0) + (end - before) / 1000
        before = end
    return seconds
