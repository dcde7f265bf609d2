"""The pages of the elicitation study of Collins et al. (2022), as jsPsych wrote them to a CSV file.

The page asked for the most probable class with a percentage, the second most probable one with a percentage if it was
known, and the classes that are impossible. jsPsych stores the form as JSON: ``classSelect`` is "mostProb" + class,
``prob`` what was typed beside it, ``classSelect2`` "secondProb" + class or "secondProbNo", ``prob2`` what was typed,
and "improbClassSelect" + class is "1" where a class was ticked.
"""

from __future__ import annotations

__all__ = ["Page", "classes_in", "read_pages"]

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from sfumato.core.responses import Response
from sfumato.data.pseudonyms import pseudonyms
from sfumato.data.strings import read_strings
from sfumato.errors import FormatError

_COLUMNS = ("subject", "condition", "trial_index", "time_elapsed", "task", "img_id", "label", "rt", "response")
_TASK, _TASK_AGAIN = "spec_conf", "rerun_spec_conf"
_TOP, _SECOND, _IMPOSSIBLE, _NONE = "mostProb", "secondProb", "improbClassSelect", "no"


@dataclass(frozen=True, slots=True)
class Page:
    """One page that a person filled in: the form as it was sent, and the response that it says.

    ``elapsed`` is the time in seconds since the person began, at which the page was sent; ``gold`` is the reference
    class of the item, in lower case as all classes are.
    """

    batch: str
    trial: int
    is_repeat: bool
    elapsed: float
    gold: str
    form: Mapping[str, str]
    response: Response


def read_pages(path: Path, *, classes: Sequence[str] | None = None, keep_copies: bool = False) -> list[Page]:
    """Read the filled-in pages, in the order of the file, under pseudonyms of the people.

    *classes* are those that the page offered, in lower case; without them, those that occur. Numbers are read as their
    writers meant them: "8p" is 80, a percentage of 0 for the most probable class is 100, and a second class without a
    percentage says nothing. Rows that are there twice are read once, unless *keep_copies* asks for all of them.
    """
    rows = read_strings(path, separator=",", quote='"', columns=_COLUMNS)
    rows = rows.filter(pl.col("task").is_in((_TASK, _TASK_AGAIN))).with_columns(
        pl.col("img_id").str.replace(r"\.0$", "")
    )
    if not keep_copies:
        rows = rows.unique(maintain_order=True, keep="first")
    rows = rows.with_columns(pl.Series("subject", pseudonyms(rows["subject"])))
    forms = [_form(row, path) for row in rows.iter_rows(named=True)]
    classes = classes_in(forms) if classes is None else classes
    return [_page(row, form, classes, path) for row, form in zip(rows.iter_rows(named=True), forms, strict=True)]


def classes_in(forms: Sequence[Mapping[str, str]]) -> tuple[str, ...]:
    """Return the classes that are ticked as impossible or chosen anywhere, in lower case and sorted.

    >>> classes_in([{"classSelect": "mostProbDeer", "classSelect2": "secondProbNo", "improbClassSelectShip": "1"}])
    ('deer', 'ship')
    """
    said = [str(form.get("classSelect", "")).removeprefix(_TOP) for form in forms]
    said += [str(form.get("classSelect2", "")).removeprefix(_SECOND) for form in forms]
    said += [name.removeprefix(_IMPOSSIBLE) for form in forms for name in form if name.startswith(_IMPOSSIBLE)]
    return tuple(sorted({name.lower() for name in said} - {"", _NONE}))


def _form(row: Mapping[str, str], path: Path) -> dict[str, str]:
    try:
        form = json.loads(row["response"])
        if isinstance(form, dict):
            return form
    except ValueError:
        pass
    raise _unreadable(row, path)


def _page(row: Mapping[str, str], form: Mapping[str, str], classes: Sequence[str], path: Path) -> Page:
    """Read one filled-in page."""
    try:
        top, top_percent = _class(form["classSelect"], _TOP, classes), _percent(form["prob"])
        second, percent = _class(form["classSelect2"], _SECOND, classes), _percent(form["prob2"])
        seconds, elapsed, trial = float(row["rt"]) / 1000, float(row["time_elapsed"]) / 1000, int(row["trial_index"])
        if top == _NONE or top_percent is None:
            raise ValueError(top)
    except (KeyError, TypeError, ValueError, AttributeError):
        raise _unreadable(row, path) from None
    marked = (name.removeprefix(_IMPOSSIBLE).lower() for name, value in form.items() if value == "1")
    stated = [(top, top_percent or 100.0)]
    if second != _NONE and percent is not None:
        stated.append((second, percent))
    return Page(
        batch=row["condition"],
        trial=trial,
        is_repeat=row["task"] == _TASK_AGAIN,
        elapsed=elapsed,
        gold=row["label"].lower(),
        form=form,
        response=Response(
            item=row["img_id"],
            annotator=row["subject"],
            stated=tuple(stated),
            impossible=frozenset(name for name in marked if name in classes),
            mode="top2",
            seconds=seconds,
        ),
    )


def _class(answer: str, prefix: str, classes: Sequence[str]) -> str:
    name = answer.removeprefix(prefix).lower()
    if name not in classes and name != _NONE:
        raise ValueError(name)
    return name


def _percent(cell: str) -> float | None:
    """Return the percentage that was typed, None where nothing was, or nothing that is a number."""
    typed = cell.strip()
    if typed == "8p":  # p is the key beside 0
        return 80.0
    return float(typed) if re.fullmatch(r"\d+(\.\d+)?", typed) else None


def _unreadable(row: Mapping[str, str], path: Path) -> FormatError:
    return FormatError(
        f"{path.name}: the response to image {row['img_id']} at trial {row['trial_index']} cannot be read: "
        f"{row['response']!r}."
    )
