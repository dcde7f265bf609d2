"""Whether the items, annotators and labels of votes can be what they say that they are."""

from __future__ import annotations

__all__ = ["are_plain_labels", "check_names", "notes_on_names"]

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from decimal import Decimal
from difflib import get_close_matches
from typing import Any
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import InputError
from sfumato.tables.cells import Cells
from sfumato.tables.coded_votes import CodedVotes
from sfumato.tables.coding import Coder

# Texts that stand for "no value" in other programs; as labels they are possible, and suspicious.
_NOT_A_NUMBER = frozenset({"nan", "NaN", "NAN"})
_PERHAPS_MISSING = frozenset({"NA", "N/A", "n/a", "None", "none", "null", "NULL", "<NA>", "?", "-", "#N/A"})
# Commas and slashes stand in names of classes, too: only where all the parts are labels do they part them.
_SEPARATORS = re.compile(r"\s*[|;,/]\s*")
_LISTS = re.compile(r"\s*[|;]\s*")
_NUMBER = re.compile(r"\s*[+-]?[0-9]{1,30}(\.[0-9]{0,30})?\s*")


def check_names(votes: CodedVotes, classes: Sequence[str] | None) -> None:
    """Raise an `InputError` that says where the first name stands that cannot be one."""
    for what, codes, coder in (
        ("item", votes.item, votes.items),
        ("annotator", votes.annotator, votes.annotators),
        ("label", votes.label, votes.labels),
    ):
        blank = np.flatnonzero(coder.cells().blank())
        found = np.isin(codes, blank) if blank.size else np.zeros(0, dtype=np.bool_)
        if found.any():
            vote, n_more = int(np.argmax(found)), len(np.unique(votes.rows_of(np.flatnonzero(found)))) - 1
            more = f" ({n_more:,} more {'row is' if n_more == 1 else 'rows are'} like it)" if n_more else ""
            raise InputError(f"{_place(votes, vote, what)}: the {what} is blank. Fill it in, or drop the row{more}.")
    labels = votes.labels.names()
    known = set(labels if classes is None else classes)
    n_with = _counted_parts(labels)
    for code, label in enumerate(labels):
        if label not in known:
            raise InputError(
                f"{_of_label(votes, code)}: {label!r} is not one of the classes {_listed(classes or ())}"
                f"{_near(label, classes or ())}. Correct the label, or add it to the classes."
            )
        if classes is None:
            fault = _fault(label, known, n_with, wide=not votes.annotator_column)
            if fault:
                raise InputError(f"{_of_label(votes, code)}: {fault}")


def are_plain_labels(labels: Sequence[str]) -> bool:
    """Return whether the labels of a table would be believed without a list of classes.

    >>> are_plain_labels(["yes", "no"]), are_plain_labels(["NaN"]), are_plain_labels(["a", "b", "a|b"])
    (True, False, False)
    """
    known = set(labels)
    n_with = _counted_parts(labels)
    return not any(_fault(label, known, n_with, wide=False) for label in labels)


def notes_on_names(votes: CodedVotes, classes: Sequence[str] | None) -> list[str]:
    """Return sentences on names that are well-formed but look like slips; named *classes* are what they are."""
    notes = []
    for what, coder in (("labels", votes.labels), ("annotators", votes.annotators), ("items", votes.items)):
        first, second, n_more = _twins(coder.cells())
        if second >= 0:
            cells = coder.cells()
            more = f" (and {n_more:,} more)" if n_more else ""
            same = _folded(cells.text(first)) == _folded(cells.text(second))
            how = "case or white space" if same else "how Unicode writes the same letters"
            notes.append(
                f"The {what} {cells.quoted(first)} and {cells.quoted(second)}{more} differ only by {how}; "
                "they were kept apart."
            )
    labels = votes.labels.names()
    alike = _equal_numbers(labels)
    if alike:
        notes.append(f"The labels {_listed(alike)} are equal as numbers; they were kept apart.")
    suspicious = [label for label in labels if label in _PERHAPS_MISSING]
    if suspicious:
        notes.append(f"Taken for a label: {_listed(suspicious)}; drop those rows if it stands for a missing one.")
    lists = _like_lists(labels)
    if lists and classes is None:
        notes.append(f"Taken for one label each: {_listed(lists)}; give each vote one label if they are several.")
    if any(label.endswith(".0") for label in labels) and all(re.fullmatch(r"-?\d+\.0", label) for label in labels):
        notes.append(f"The labels are whole numbers with a point ({labels[0]!r}); they were kept as they are written.")
    last = votes.label[-1]
    if votes.table.ends_open and votes.rows is None and np.count_nonzero(votes.label == last) == 1:
        whole = next((label for label in labels if label.startswith(labels[last]) and label != labels[last]), None)
        if whole is not None:
            notes.append(f"The last line has no end, and its label {labels[last]!r} begins like {whole!r}: was it cut?")
    return notes


def _fault(label: str, labels: Set[str], n_with: Mapping[str, int], *, wide: bool) -> str | None:
    """Return why a text is no label of one vote, if it is none; *n_with* counts the labels in which a part stands."""
    if label in _NOT_A_NUMBER:
        remedy = "Leave the cell empty" if wide else "Drop the row"
        return (
            f"{label!r} stands for a missing label. {remedy}; if it is a class, name all with "
            "classes=… (on the command line --classes)."
        )
    several = _several(label, labels, n_with)
    if several:
        return (
            f"{label!r} holds several labels ({_listed(several)}). Decide for one, or give each a row with its "
            "weight; if it is one class, name all with classes=… (on the command line --classes)."
        )
    return None


def _counted_parts(labels: Sequence[str]) -> Counter[str]:
    return Counter(part for label in labels for part in set(_LISTS.split(label.strip())))


def _several(label: str, labels: Set[str], n_with: Mapping[str, int]) -> list[str]:
    """Return the labels in a text that is a list of them, or that parts labels which also stand elsewhere."""
    text = label.strip()
    if text[:1] == "[" and text[-1:] == "]":
        try:
            values: Any = json.loads(text if '"' in text else text.replace("'", '"'))
        except (ValueError, RecursionError):
            return []
        return [str(value) for value in values]
    parts = _LISTS.split(text)
    if len(parts) > 1 and any(n_with[part] > 1 for part in parts if part):
        return parts
    parts = _SEPARATORS.split(text)
    return parts if len(parts) > 1 and labels >= set(parts) else []


def _like_lists(labels: Sequence[str]) -> list[str]:
    """Return the labels that part something; by commas or slashes, those of which a part stands in another, too."""
    parts = {label: {part for part in _SEPARATORS.split(label.strip()) if part} for label in labels}
    n_with = Counter(part for found in parts.values() for part in found)
    return [
        label
        for label, found in parts.items()
        if len(list(filter(None, _LISTS.split(label)))) > 1
        or (len(found) > 1 and any(n_with[part] > 1 for part in found))
    ]


def _equal_numbers(labels: Sequence[str]) -> list[str]:
    """Return the first labels that are written differently and are the same number, as 1, 1.0 and 01."""
    same: dict[Decimal, list[str]] = {}
    for label in labels:
        if _NUMBER.fullmatch(label):
            same.setdefault(Decimal(label.strip()), []).append(label)
    return next((alike for alike in same.values() if len(alike) > 1), [])


def _folded(name: str) -> str:
    return "".join(name.split()).casefold()


def _twins(names: Cells) -> tuple[int, int, int]:
    """Return the first two names that a reader takes for one, and how many more; −1, −1 where there are none.

    They differ only by case, white space or the form in which Unicode writes them: é may be one character or two.
    """
    none = (-1, -1, 0)
    if not _may_differ(names.buffer):
        return none
    folded = Coder()
    codes = folded.add(Cells.of(normalize("NFC", _folded(name)) for name in names.texts()))
    first: NDArray[np.intp] = np.full(len(folded), len(codes))
    np.minimum.at(first, codes, np.arange(len(codes)))
    twins = np.flatnonzero(first[codes] != np.arange(len(codes)))
    return (int(first[codes[twins[0]]]), int(twins[0]), len(twins) - 1) if twins.size else none


def _may_differ(data: NDArray[np.uint8]) -> bool:
    """Return whether names made of these bytes could differ only by case or white space; ids by the million cannot."""
    upper = lower = False
    for first in range(0, len(data), 1 << 20):
        run = data[first : first + (1 << 20)]
        # Bytes wrap round, so that one comparison finds both ends of a range; zeros lie between names.
        if (run - 1 < 32).any() or (run >= 128).any():
            return True
        upper = upper or bool((run - ord("A") < 26).any())
        lower = lower or bool((run - ord("a") < 26).any())
    return upper and lower


def _place(votes: CodedVotes, vote: int, what: str) -> str:
    column = {"item": votes.item_column, "annotator": votes.annotator_column}.get(what) or votes.label_column(vote)
    return f"{votes.where(vote)}, column {column!r}"


def _of_label(votes: CodedVotes, code: int) -> str:
    return _place(votes, int(np.argmax(votes.label == code)), "label")


def _near(label: str, classes: Sequence[str]) -> str:
    close = get_close_matches(label, classes, n=1, cutoff=0.6)
    return f" (is it {close[0]!r}?)" if close else ""


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(map(repr, names[:8]))
    return shown if len(names) <= 8 else f"{shown}, … ({len(names)} in all)"
