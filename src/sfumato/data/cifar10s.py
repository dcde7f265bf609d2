"""CIFAR-10S: soft labels that single people gave to 1,000 images of the CIFAR-10 test set (Collins et al., 2022)."""

from __future__ import annotations

__all__ = ["ENTRY", "load"]

from pathlib import Path

from sfumato.core.gold import Gold
from sfumato.core.responses import annotations_of
from sfumato.data.cifar10 import CLASSES
from sfumato.data.dataset import DataFile, DataSet, Entry
from sfumato.data.jspsych import read_pages

_REPOSITORY = "cambridge-mlg/cifar-10s"


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
    pages = read_pages(folder / "raw_human_data.csv", classes=CLASSES, keep_copies=as_released)
    responses = tuple(page.response for page in pages if as_released or not page.is_repeat)
    repeats = tuple(page.response for page in pages if page.is_repeat and not as_released)
    gold = {page.response.item: page.gold for page in pages}
    items = tuple(gold)
    return DataSet(
        name=ENTRY.name,
        items=items,
        classes=CLASSES,
        annotations=annotations_of(responses, CLASSES, as_published=as_released),
        gold=Gold.from_names(items, gold.values(), classes=CLASSES),
        responses=responses,
        repeats=repeats,
        notes=ENTRY.notes,
    )


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
