"""What is wrong with an answer, in words for the person; an answer that contradicts itself is refused, never mended."""

from __future__ import annotations

__all__ = ["Problem", "ShapeError", "check_shape", "problems_of"]

import math
from collections.abc import Mapping
from typing import Any, TypedDict

from sfumato.collect.answers import ROUNDING
from sfumato.collect.languages import Language
from sfumato.collect.study import Mode, Study
from sfumato.errors import InputError

_KEYS: dict[Mode, frozenset[str]] = {
    "hard": frozenset({"mode", "top"}),
    "top1": frozenset({"mode", "top", "top_percent"}),
    "top2": frozenset({"mode", "top", "top_percent", "second", "second_percent", "impossible"}),
    "chips": frozenset({"mode", "chips"}),
    "sliders": frozenset({"mode", "percents"}),
}


class Problem(TypedDict):
    """One thing that is wrong: its code (a key of ``problems`` in the language), where, and the sentence for it."""

    code: str
    field: str
    message: str


class ShapeError(InputError):
    """The answer is not of the shape that the pages send; no person can have caused this by what they chose."""


def check_shape(answer: object, study: Study) -> dict[str, Any]:
    """Return the answer if it has the fields of the study's mode, each of a type that can be told what is wrong."""
    if not isinstance(answer, dict):
        raise ShapeError("The answer must be an object.")
    if answer.get("mode") != study.mode:
        raise ShapeError(f"The mode of the answer must be {study.mode!r}.")
    wanted = _KEYS[study.mode]
    if not answer.keys() <= wanted:
        raise ShapeError(f"The answer has fields that the mode does not take. It takes: {', '.join(sorted(wanted))}.")
    for name in ("top", "second"):
        if not (answer.get(name) is None or isinstance(answer[name], str)):
            raise ShapeError(f"{name} must be the name of a class.")
    for name in ("top_percent", "second_percent"):
        if not (answer.get(name) is None or isinstance(answer[name], (int, float, str))):
            raise ShapeError(f"{name} must be a number.")
    impossible = answer.get("impossible", [])
    if not isinstance(impossible, list) or not all(isinstance(each, str) for each in impossible):
        raise ShapeError("impossible must be a list of names.")
    if len(set(impossible)) < len(impossible):
        raise ShapeError("impossible must name a class once.")
    for name in ("chips", "percents"):
        amounts = answer.get(name, {})
        if not isinstance(amounts, dict) or not all(
            isinstance(each, (int, float, str)) or each is None for each in amounts.values()
        ):
            raise ShapeError(f"{name} must be an object of numbers.")
    return answer


def problems_of(answer: Mapping[str, Any], study: Study, classes: frozenset[str], words: Language) -> list[Problem]:
    """Return what is wrong with an answer of the right shape; nothing, where it can be stored as it is.

    *classes* are the names of the study's classes, as a set. The rules are those of the page itself (``answer.js``).

    >>> from sfumato.collect.languages import language
    >>> from sfumato.collect.study import StudyClass
    >>> study = Study(title="Animals", classes=(StudyClass(name="deer"), StudyClass(name="horse")))
    >>> answer = {"mode": "top2", "top": "deer", "top_percent": 70, "second": "deer", "second_percent": 20}
    >>> [each["message"] for each in problems_of(answer, study, frozenset(study.class_names), language("en"))]
    ['The second choice is also the first. Please choose another one, or none.']
    """
    found: list[Problem] = []

    def problem(code: str, field: str, **holes: object) -> None:
        found.append({"code": code, "field": field, "message": words(f"problems.{code}", **holes)})

    if study.mode == "chips":
        _chips(answer.get("chips", {}), study, classes, problem)
    elif study.mode == "sliders":
        _sliders(answer.get("percents", {}), study, classes, problem)
    else:
        _named(answer, study, classes, problem)
    return found


def _named(answer: Mapping[str, Any], study: Study, classes: frozenset[str], problem: Any) -> None:
    top, second = answer.get("top"), answer.get("second")
    impossible = answer.get("impossible", [])
    if top is None:
        problem("top", "top")
    elif top not in classes:
        problem("unknown", "top", name=top)
    if study.mode == "hard":
        return
    p, q = _percent(answer.get("top_percent")), _percent(answer.get("second_percent"))
    if p is None and top is not None:
        problem("top_percent", "top_percent", name=top)
    if study.mode == "top1":
        return
    if second is None:
        if answer.get("second_percent") is not None:
            problem("second_alone", "second_percent")
            return
    elif second not in classes:
        problem("unknown", "second", name=second)
    elif second == top:
        problem("second", "second")
        return
    if second is not None and q is None:
        problem("second_percent", "second_percent", name=second)
    for name in impossible:
        if name not in classes:
            problem("unknown", "impossible", name=name)
        elif name in (top, second):
            problem("impossible", "impossible", name=name)
    if top is None or p is None or (second is not None and q is None):
        return
    total = p + (q or 0.0)
    if q is not None and q > p:
        problem("order", "second_percent")
    if total - 100 >= ROUNDING:
        problem("over", "second_percent", total=_shown(total))
    elif 100 - total >= ROUNDING and len({top, second, *impossible} & classes) == len(classes):
        problem("nowhere", "impossible", open=_shown(100 - total))


def _chips(chips: Mapping[str, Any], study: Study, classes: frozenset[str], problem: Any) -> None:
    right = True
    for name, count in chips.items():
        if name not in classes:
            problem("unknown", "chips", name=name)
            right = False
        elif not (isinstance(count, int) and not isinstance(count, bool) and count >= 0):
            problem("amount_chips", "chips", name=name)
            right = False
    if right:
        left = study.chips - sum(chips.values())
        if left > 0:
            problem("chips", "chips", open=left)
        elif left < 0:
            problem("chips_over", "chips", over=-left)


def _sliders(percents: Mapping[str, Any], study: Study, classes: frozenset[str], problem: Any) -> None:
    right = True
    for name, told in percents.items():
        if name not in classes:
            problem("unknown", "percents", name=name)
            right = False
        elif not (_is_number(told) and 0 <= told <= 100):
            problem("amount", "percents", name=name)
            right = False
    if not right:
        return
    total = math.fsum(percents.values())
    if total == 0:
        problem("top", "percents")
    elif study.sliders_sum == "exact" and abs(total - 100) >= ROUNDING:
        problem("sliders", "percents", total=_shown(total))
    elif total - 100 >= ROUNDING:
        problem("over", "percents", total=_shown(total))
    elif 100 - total >= ROUNDING and len(percents) == len(classes):
        problem("nowhere", "percents", open=_shown(100 - total))


def _percent(told: object) -> float | None:
    """Return a number above 0 and up to 100, else None."""
    return float(told) if _is_number(told) and 0 < told <= 100 else None  # type: ignore[arg-type, operator]


def _is_number(told: object) -> bool:
    return isinstance(told, (int, float)) and not isinstance(told, bool) and abs(told) < math.inf


def _shown(number: float) -> str:
    return f"{round(number, 3):.12g}"
