"""CIFAR-10S: soft labels that single people gave to 1,000 images of the CIFAR-10 test set (Collins et al., 2022)."""

from __future__ import annotations

__all__ = ["ENTRY", "load"]

import json
import re
from pathlib import Path

import polars as pl

from sfumato.core.gold import Gold
from sfumato.core.responses import Response, annotations_of
from sfumato.data.cifar10 import CLASSES
from sfumato.data.dataset import DataFile, DataSet, Entry
from sfumato.data.pseudonyms import pseudonyms
from sfumato.data.strings import read_strings
from sfumato.errors import FormatError

_REPOSITORY = "cambridge-mlg/cifar-10s"
_COLUMNS = ("subject", "trial_index", "task", "img_id", "label", "rt", "response")
_TASKS = ("spec_conf", "rerun_spec_conf")


def load(folder: Path, *, as_released: bool = False) -> DataSet:
    """Load what people filled in, as responses, and the soft annotations that follow from it.

    The page asked for the most probable class with a percentage, the second most probable one with a percentage if it
    was known, and the classes that are impossible. 6,200 responses stand in ``responses`` and ``annotations``; the 496
    with which the same people answered a page again stand in ``repeats``. Numbers are read as their writers meant
    them: "8p" is 80, a percentage of 0 for the most probable class is 100, and a second class without a percentage
    says nothing. Annotations are made of the first two statements, clamped, with γ = 0.1 (`core.responses`).

    ``as_released`` gives what the authors' label file was made of, by their rules: 6,723 annotations, 27 of which a
    person who is stored twice did not give, with the repeats among them.
    """
    rows = read_strings(folder / "raw_human_data.csv", separator=",", quote='"', columns=_COLUMNS)
    rows = rows.filter(pl.col("task").is_in(_TASKS)).with_columns(pl.col("img_id").str.replace(r"\.0$", ""))
    if not as_released:
        rows = rows.unique(maintain_order=True, keep="first")
    rows = rows.with_columns(pl.Series("subject", pseudonyms(rows["subject"])))
    told = [_response(row) for row in rows.iter_rows(named=True)]
    is_repeat = (rows["task"] == _TASKS[1]).to_list()
    responses = tuple(r for r, again in zip(told, is_repeat, strict=True) if as_released or not again)
    repeats = tuple(r for r, again in zip(told, is_repeat, strict=True) if again and not as_released)
    gold = rows.unique("img_id", maintain_order=True, keep="first")
    items = tuple(gold["img_id"])
    return DataSet(
        name=ENTRY.name,
        items=items,
        classes=CLASSES,
        annotations=annotations_of(responses, CLASSES, as_published=as_released),
        gold=Gold.from_names(items, gold["label"].str.to_lowercase(), classes=CLASSES),
        responses=responses,
        repeats=repeats,
        notes=ENTRY.notes,
    )


def _response(row: dict[str, str]) -> Response:
    """Read one filled-in page."""
    try:
        form = json.loads(row["response"])
        top, top_percent = _class(form["classSelect"], "mostProb"), _percent(form["prob"])
        second, percent = _class(form["classSelect2"], "secondProb"), _percent(form["prob2"])
        seconds = float(row["rt"]) / 1000
        if top == "no" or top_percent is None:
            raise ValueError(top)
    except (KeyError, TypeError, ValueError):
        raise FormatError(
            f"raw_human_data.csv: the response to image {row['img_id']} at trial {row['trial_index']} cannot be read: "
            f"{row['response']!r}."
        ) from None
    marked = (name.removeprefix("improbClassSelect") for name, value in form.items() if value == "1")
    stated = [(top, top_percent or 100.0)]
    if second != "no" and percent is not None:
        stated.append((second, percent))
    return Response(
        item=row["img_id"],
        annotator=row["subject"],
        stated=tuple(stated),
        impossible=frozenset(name.lower() for name in marked if name.lower() in CLASSES),
        mode="top2",
        seconds=seconds,
    )


def _class(answer: str, prefix: str) -> str:
    name = answer.removeprefix(prefix).lower()
    if name not in CLASSES and name != "no":
        raise ValueError(name)
    return name


def _percent(cell: str) -> float | None:
    """Return the percentage that was typed, None where nothing was, or nothing that is a number."""
    typed = cell.strip()
    if typed == "8p":  # p is the key beside 0
        return 80.0
    return float(typed) if re.fullmatch(r"\d+(\.\d+)?", typed) else None


ENTRY = Entry(
    name="cifar10s",
    title="CIFAR-10S",
    summary="How probable is which of ten things on the photograph? 1,000 images, 248 annotators, 6,200 soft labels.",
    citation="Collins, Bhatt, Weller (2022). Eliciting and learning with soft labels from every annotator. HCOMP.",
    licence="not stated; the authors ask for citation",
    homepage=f"https://github.com/{_REPOSITORY}",
    files=(
        DataFile(
            path="raw_human_data.csv",
            address=None,
            size=3_407_051,
            sha256="7ea96d03c18180097ca4ea7ef36c21a1d7380e3e5b96dd2441169e15b6944801",
        ),
    ),
    gives=("annotations", "gold", "responses", "repeats"),
    load=load,
    notes=("raw_human_data.csv is upstream's cifar10s_data/raw_human_data.csv without the rows of free text.",),
)
