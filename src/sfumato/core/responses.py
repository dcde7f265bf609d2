"""Responses: what an annotator filled in, and the rule that makes a distribution of it.

What was stated is kept as it was stated, contradictions included; `distribution` derives a soft label from it by
the construction of Collins, Bhatt & Weller (2022, section 4.2), corrected where their code answers by accident:

- *the second class is the top class*: the second statement is left aside (their code lets it overwrite the first);
- *a stated class is also marked impossible*: the number counts, the mark does not (their code takes the mark off
  the number of classes that share what is open, and normalises afterwards);
- *nothing is left that is possible*: the stated values are scaled to sum to 1 (their code divides 0 by 0);
- *no mass at all was stated*: the top class stands for itself, as a plain class.

``as_published`` follows their code in the first two instead.
"""

from __future__ import annotations

__all__ = ["Response", "annotations_of", "contradictions", "distribution"]

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.core.annotations import Annotations
from sfumato.core.vocabulary import code_names
from sfumato.errors import InputError, OptionError, check_choice

Use = Literal["T1", "T2", "all"]
Redistribute = Literal["clamp", "uniform"]
# Percentages with decimals, such as 33.3, 33.3 and 33.4, miss 100 by a little when they are added up.
_ROUNDING = 1e-6


@dataclass(frozen=True, slots=True)
class Response:
    """One annotator's answer for one item: classes with percentages in the order stated, and what is impossible.

    >>> answer = Response("img-7", "ann", stated=(("deer", 70.0), ("horse", 20.0)), impossible=frozenset({"ship"}))
    >>> distribution(answer, ["deer", "horse", "ship", "dog"]).tolist()
    [0.7, 0.2, 0.0, 0.1]
    """

    item: str
    annotator: str
    stated: tuple[tuple[str, float], ...]
    impossible: frozenset[str] = frozenset()
    mode: str = "top2"
    seconds: float | None = None

    def __post_init__(self) -> None:
        where = f"The response to item {self.item!r} by annotator {self.annotator!r}"
        if not self.stated:
            raise InputError(f"{where} states no class.")
        for name, percent in self.stated:
            if not (math.isfinite(percent) and percent >= 0):
                raise InputError(f"{where} gives {name!r} {percent} %; a percentage is a number from 0 on.")


def contradictions(response: Response, classes: Sequence[str]) -> list[str]:
    """Return, as sentences, where a response contradicts itself or the classes; an empty list if nowhere."""
    names = [name for name, _ in response.stated]
    found = [f"{name!r} is not one of the classes" for name in names if name not in classes]
    found += [f"{name!r} is stated twice" for name in dict.fromkeys(names) if names.count(name) > 1]
    found += [f"{name!r} is stated and marked impossible" for name in names if name in response.impossible]
    found += [f"{name!r} has {percent:g} %, more than 100" for name, percent in response.stated if percent > 100]
    total = sum(percent for _, percent in response.stated)
    if total > 100 + _ROUNDING and len(names) > 1:
        found.append(f"the stated classes have {total:g} % together, more than 100")
    if total < 100 - _ROUNDING and all(name in response.impossible or name in names for name in classes):
        found.append(f"{100 - total:g} % are left, and no possible class to give them to")
    return found


def distribution(
    response: Response,
    classes: Sequence[str],
    *,
    use: Use = "T2",
    redistribute: Redistribute = "clamp",
    gamma: float = 0.1,
    as_published: bool = False,
) -> NDArray[np.float64]:
    """Return the soft label that a response stands for, shape (n_classes,).

    *use* says how much of it: the top class alone (T1), the first two statements (T2), or all. What the stated
    percentages leave open goes in equal parts to the other classes, without those marked impossible (clamp) or
    with them (uniform). Where they leave nothing open, clamp gives the share *gamma* to the classes that were
    not marked impossible.
    """
    check_choice(use, ("T1", "T2", "all"), option="use")
    check_choice(redistribute, ("clamp", "uniform"), option="redistribute")
    if not 0 <= gamma < 1:
        raise OptionError(f"The option 'gamma' must be at least 0 and below 1. Got {gamma} instead.")
    place = {name: k for k, name in enumerate(classes)}
    stated = response.stated[: {"T1": 1, "T2": 2, "all": len(response.stated)}[use]]
    percent = np.zeros(len(classes))
    for name, value in stated:
        if name not in place:
            raise InputError(f"The response to item {response.item!r} states {name!r}, not one of the classes.")
        if as_published or percent[place[name]] == 0:
            percent[place[name]] = value
    if percent.sum() == 0:
        percent[place[stated[0][0]]] = 100
    # A person who marked a class impossible and gave it a number gave it a number: mass decides what is open.
    open_classes = percent == 0
    if redistribute == "clamp":
        open_classes &= np.array([name not in response.impossible for name in classes])
    total, n_open = percent.sum(), open_classes.sum()
    if as_published and redistribute == "clamp":
        n_open = (percent == 0).sum() - sum(name in response.impossible for name in classes)
    if total < 100:
        if n_open > 0:
            percent[open_classes] = (100 - total) / n_open
    elif redistribute == "clamp" and n_open > 0:
        percent *= (1 - gamma) / total
        percent[open_classes] = gamma / n_open
    result: NDArray[np.float64] = percent / percent.sum()
    return result


def annotations_of(
    responses: Sequence[Response],
    classes: Sequence[str],
    *,
    use: Use = "T2",
    redistribute: Redistribute = "clamp",
    gamma: float = 0.1,
    as_published: bool = False,
) -> Annotations:
    """Return the responses as soft annotations; each response is one, repeats of a person included."""
    if not responses:
        raise InputError("There are no responses to make annotations of.")
    probs = np.array(
        [
            distribution(response, classes, use=use, redistribute=redistribute, gamma=gamma, as_published=as_published)
            for response in responses
        ]
    )
    row, label = np.nonzero(probs)
    item, items = code_names(response.item for response in responses)
    annotator, annotators = code_names(response.annotator for response in responses)
    return Annotations.from_codes(
        item[row], annotator[row], label, weight=probs[row, label], annotation=row,
        items=items, annotators=annotators, classes=tuple(classes),
    )  # fmt: skip
