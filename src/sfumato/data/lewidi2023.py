"""Learning with disagreement (SemEval-2023 task 11): four sets of texts whose annotators disagree for good reasons."""

from __future__ import annotations

__all__ = ["ENTRY", "load"]

import json
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from sfumato.core.annotations import Annotations
from sfumato.core.gold import Gold
from sfumato.core.soft_labels import SoftLabels
from sfumato.data import places
from sfumato.data.dataset import DataFile, DataSet, Entry, github
from sfumato.errors import FormatError

_REPOSITORY = "Le-Wi-Di/le-wi-di.github.io"
_COMMIT = "45d7b06e4c36b59472d6bdf9281f7f1e395eb0e0"
_NAMES = {"hs_brexit": "HS-Brexit", "convabuse": "ConvAbuse", "md_agreement": "MD-Agreement", "armis": "ArMIS"}
_SPLITS = ("train", "dev", "test")
_BINARY = ("0", "1")
_SEVERITY = ("-3", "-2", "-1", "0", "1")
_TURNS = ("prev_agent", "prev_user", "agent", "user")
_MEANINGS = {
    "hs_brexit": {"0": "no hate speech", "1": "hate speech"},
    "convabuse": {
        "-3": "very strongly abusive", "-2": "strongly abusive", "-1": "mildly abusive", "0": "ambivalent",
        "1": "not abusive",
    },
    "md_agreement": {"0": "not offensive", "1": "offensive"},
    "armis": {"0": "not misogynistic or sexist", "1": "misogynistic or sexist"},
}  # fmt: skip


def load(folder: Path, *, part: str, binary: bool = False) -> DataSet:
    """Load the annotations, texts, splits, and the soft and hard labels that the task was scored with.

    The numbers of the texts begin anew in each split, so an item is named "train-1". Every annotation is kept, also the
    two that an annotator of md_agreement gave to one text. ConvAbuse asked for a severity (−3 to 1), the soft and hard
    labels of the task say whether it is below 0; ``binary=True`` reads the annotations so, too: "1" is abusive.
    ``gold`` is the hard label: what most annotators said, where they were even a class that was drawn. HTML entities
    in the tweets are resolved.
    """
    rows = [
        (f"{split}-{number}", record)
        for split in _SPLITS
        for number, record in _records(folder, _NAMES[part], split).items()
    ]
    items = tuple(item for item, _ in rows)
    votes = [
        (item, annotator, label)
        for item, record in rows
        for annotator, label in zip(_cells(record["annotators"]), _cells(record["annotations"]), strict=True)
    ]
    classes: tuple[str, ...] = _BINARY
    meanings = _MEANINGS[part]
    if part == "convabuse" and binary:
        votes = [(item, annotator, str(int(int(label) < 0))) for item, annotator, label in votes]
        meanings = {"0": "not abusive", "1": "abusive"}
    elif part == "convabuse":
        classes = _SEVERITY
    name = f"{ENTRY.name}/{part}"
    soft = np.array([[record["soft_label"][label] for label in _BINARY] for _, record in rows])
    return DataSet(
        name=name,
        items=items,
        classes=classes,
        annotations=Annotations.from_rows(*zip(*votes, strict=True), classes=classes),
        gold=Gold.from_names(items, [str(record["hard_label"]) for _, record in rows], classes=_BINARY),
        soft_labels=SoftLabels(soft, items=items, classes=_BINARY),
        texts=_texts(rows, part),
        splits={split: tuple(item for item in items if item.startswith(f"{split}-")) for split in _SPLITS},
        meanings=meanings,
        notes=ENTRY.notes,
    )


def _records(folder: Path, name: str, split: str) -> dict[str, dict[str, Any]]:
    path = folder / f"{name}_dataset/{name}_{split}.json"
    try:
        result: dict[str, dict[str, Any]] = json.loads(places.read_bytes(path))
    except ValueError as error:
        raise FormatError(f"The file {path} is not JSON: {error}.") from None
    return result


def _cells(joined: str) -> list[str]:
    return [cell.strip() for cell in joined.split(",")]


def _texts(rows: list[tuple[str, dict[str, Any]]], part: str) -> pl.DataFrame:
    """Return the texts: of ConvAbuse the last turns of a conversation, of which the user's last one is judged."""
    items = [item for item, _ in rows]
    if part != "convabuse":
        return pl.DataFrame({"item": items, "text": [unescape(record["text"]) for _, record in rows]})
    turns = [json.loads(record["text"]) for _, record in rows]
    return pl.DataFrame({"item": items, **{name: [turn[name] for turn in turns] for name in _TURNS}})


_FILES = (
    ("hs_brexit", "train", 667_673, "d204d83c7b1a73f037b3aff36aac61357c08a96f96292a37ac7655eb562d81fb"),
    ("hs_brexit", "dev", 142_353, "77c17f95985cbb6db47ffcda637e717a9074f2660e15b5c0c1f9006f50da60a7"),
    ("hs_brexit", "test", 142_747, "24e5e1615818ff6e3b96e50245cfe10636ef8ec0ea51f2c2a60acb68858fd195"),
    ("convabuse", "train", 2_846_714, "f68d9c1e234afaf7e582103daac4e0f362da6418be3ff38e6cce76cfa3b674fc"),
    ("convabuse", "dev", 966_416, "d95f9e740b07076e070ed47a8e010894d7cdbacb3246c89a000c26a17c61a04e"),
    ("convabuse", "test", 1_005_523, "4a88c6cf2530eb3610bd1e9e7291916ad7fdaedc01dca4e68bcc3e846310afd9"),
    ("md_agreement", "train", 3_848_592, "0b100595f7d10fd9b4624c647af2888597472b2dea90643dc788278714f57a6d"),
    ("md_agreement", "dev", 645_218, "b42b6b54015589504de259241e14c17ff605baab4eb146effcb17a95fbfd69f5"),
    ("md_agreement", "test", 1_783_089, "a30f185ece8bc99a45ce50e0311593ee1a6882a816c93f6915cabd368f3fad53"),
    ("armis", "train", 746_259, "549dcd92484fa916e4b8076476fba451cda09b8dca0ba501e70cf5a72c1397f7"),
    ("armis", "dev", 159_657, "482112222496c64a704ea22f710bf184196beee848f5109406e3ca6196502526"),
    ("armis", "test", 165_545, "95498bb854fe476ee33a88cfecb3b05f26e0e1baef6c1083072a56b61586c06a"),
)

ENTRY = Entry(
    name="lewidi2023",
    title="Learning with disagreements, 2023",
    summary="Is the text hateful, abusive, offensive or misogynistic? Four sets, 16,866 texts, 75,482 annotations.",
    citation="Leonardelli, Uma, Abercrombie, Almanea, Basile, Fornaciari, Plank, Rieser, Poesio (2023). SemEval-2023 "
    "task 11: learning with disagreements. Sets: Akhtar, Basile, Patti (2021); Cercas Curry, Abercrombie, Rieser "
    "(2021); Leonardelli, Menini, Palmero Aprosio, Guerini, Tonelli (2021); Almanea, Poesio (2022).",
    licence="not stated; each of the four sets has its own",
    homepage="https://le-wi-di.github.io",
    files=tuple(
        DataFile(
            path=f"{_NAMES[part]}_dataset/{_NAMES[part]}_{split}.json",
            address=github(_REPOSITORY, _COMMIT, f"LeWiDi_2-2023/{_NAMES[part]}_dataset/{_NAMES[part]}_{split}.json"),
            size=size,
            sha256=sha256,
            parts=(part,),
        )
        for part, split, size, sha256 in _FILES
    ),
    gives=("annotations", "gold", "soft_labels", "texts", "splits"),
    load=load,
    parts={
        "hs_brexit": "hate speech in tweets on Brexit, six annotators of two groups",
        "convabuse": "abuse of conversational agents, eight experts",
        "md_agreement": "offensive tweets of three domains, five of many annotators each",
        "armis": "misogyny in Arabic tweets, three annotators of different views",
    },
    notes=(
        "The gold is no reference but the most frequent class; where the annotators were even it was drawn.",
        "The soft labels are the shares of the annotators, rounded upstream to two to four digits.",
    ),
)
