"""ChaosNLI: a hundred judgements for each of 4,645 pairs of sentences and stories (Nie, Zhou & Bansal, 2020)."""

from __future__ import annotations

__all__ = ["ENTRY", "load"]

import json
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl

from sfumato.core.gold import Gold
from sfumato.data import places
from sfumato.data.anonymous import ANONYMOUS, anonymous_votes
from sfumato.data.dataset import DataFile, DataSet, Entry, github
from sfumato.errors import FormatError, OptionError, check_choice

_REPOSITORY = "jsbaan/calibration-on-disagreement-data"
_COMMIT = "990e81cacadac5d0268160d1c02bad19d4ddb9a3"
_NLI = {"e": "entailment", "n": "neutral", "c": "contradiction"}
# How the files write a class, in the order of their counts, and what sfumato calls it.
_CLASSES = {"snli": _NLI, "mnli": _NLI, "alphanli": {"1": "1", "2": "2"}}
_TEXTS = {
    "snli": ("premise", "hypothesis"),
    "mnli": ("premise", "hypothesis"),
    "alphanli": ("obs1", "obs2", "hyp1", "hyp2"),
}
_MEANINGS = {"1": "the first hypothesis explains better", "2": "the second hypothesis explains better"}


def load(folder: Path, *, part: str, panel: Literal["chaos", "original"] = "chaos") -> DataSet:
    """Load the votes and their counts, the old label as gold, and the texts.

    *panel* "chaos" is the hundred annotators of ChaosNLI; "original" the four or five of the first publication, whose
    most frequent class the gold is (alphanli has no such panel).
    """
    check_choice(panel, ("chaos", "original"), option="panel")
    if panel == "original" and part == "alphanli":
        raise OptionError("The part 'alphanli' does not say what its original panel answered; use panel='chaos'.")
    name = {"mnli": "mnli_m"}.get(part, part)
    rows = _records(folder / f"chaosNLI_{name}.jsonl")
    known, classes = _CLASSES[part], tuple(_CLASSES[part].values())
    items = tuple(row["uid"] for row in rows)
    if panel == "chaos":
        counts = np.array([row["label_count"] for row in rows], dtype=np.int64)
    else:
        counts = np.array([[row["old_labels"].count(name) for name in classes] for row in rows], dtype=np.int64)
    texts = {column: [row["example"][column] for row in rows] for column in _TEXTS[part]}
    return DataSet(
        name=f"{ENTRY.name}/{part}",
        items=items,
        classes=classes,
        annotations=anonymous_votes(counts, items=items, classes=classes),
        gold=Gold.from_names(items, [known[str(row["old_label"])] for row in rows], classes=classes),
        counts=counts,
        texts=pl.DataFrame({"item": items, **texts}),
        meanings=_MEANINGS if part == "alphanli" else {},
        notes=ENTRY.notes,
    )


def _records(path: Path) -> list[dict[str, Any]]:
    try:
        return [json.loads(line) for line in places.read_bytes(path).decode().splitlines() if line]
    except ValueError as error:
        raise FormatError(f"The file {path} is not one JSON record per line: {error}.") from None


_FILES = (
    ("snli", "chaosNLI_snli.jsonl", 768_107, "99f9015ddda7d85f66a087452bc30d53974314fe27e7d589e2f41ad44bd509c1"),
    ("mnli", "chaosNLI_mnli_m.jsonl", 871_731, "8eb49b589488e7b1a9ec95fb8a864bd50f0509b4f808eed0aed3f8167617664d"),
    (
        "alphanli",
        "chaosNLI_alphanli.jsonl",
        793_550,
        "f55817ecc11a02ba3030cd7d2c567d23843456809020723abad53f4fde024c9e",
    ),
)

ENTRY = Entry(
    name="chaosnli",
    title="ChaosNLI",
    summary="Does the first sentence entail the second, contradict it, or neither? 100 judgements for each of 3,113 "
    "pairs of sentences; and which of two explanations is better? 100 judgements for each of 1,532 stories.",
    citation="Nie, Zhou, Bansal (2020). What can we learn from collective human opinions on natural language "
    "inference data? EMNLP.",
    licence="CC BY-NC 4.0",
    homepage="https://github.com/easonnie/ChaosNLI",
    files=tuple(
        DataFile(
            path=path,
            address=github(_REPOSITORY, _COMMIT, f"data/chaosNLI_v1.0/{path}"),
            size=size,
            sha256=sha256,
            parts=(part,),
        )
        for part, path, size, sha256 in _FILES
    ),
    gives=("annotations", "gold", "counts", "texts"),
    load=load,
    parts={
        "snli": "1,514 pairs of SNLI",
        "mnli": "1,599 pairs of MNLI (matched)",
        "alphanli": "1,532 stories of αNLI, two explanations each",
    },
    notes=(f"Who voted is not in the files: every vote is one by the annotator {ANONYMOUS!r}.",),
)
