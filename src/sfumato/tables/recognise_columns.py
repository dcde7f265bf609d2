"""Which column of a plain table is what, judged by its name.

Names are compared in lower case and by their letters and digits alone, so that ``Item ID``, ``item_id`` and
``!item-ids`` are near enough. What is not clear is asked, not guessed.
"""

from __future__ import annotations

__all__ = ["Columns", "Shape", "recognise_columns"]

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal

from sfumato.errors import InputError, OptionError

Shape = Literal["long", "wide", "soft"]
Role = Literal["item", "annotator", "label", "weight"]

# For each role its own names, then those that other people use, then what will do where there is nothing better.
# "task" stands for "Task", "task_id" and "tasks" too.
_USUAL: Mapping[Role, tuple[tuple[str, ...], ...]] = {
    "item": (
        ("item",),
        ("task", "question", "example", "instance", "sample", "unit", "document", "doc", "image", "img", "sentence",
         "pair", "tweet", "post", "orig", "original", "hit", "id", "uid"),
        ("text",),
    ),
    "annotator": (
        ("annotator",),
        ("worker", "amtworker", "performer", "rater", "user", "username", "coder", "judge", "assessor", "labeler",
         "labeller", "participant", "workername", "annotatorname"),
    ),
    "label": (
        ("label",),
        ("response", "answer", "annotation", "class", "category", "judgement", "judgment", "rating", "value", "vote",
         "choice", "verdict"),
    ),
    "weight": (("weight",),),
}  # fmt: skip
# In a wide table these stand beside the annotators, and are none.
_BESIDE = frozenset({
    "gold", "goldlabel", "truth", "groundtruth", "truelabel", "trueclass", "majority", "majoritylabel", "majorityvote",
    "consensus", "reference", "adjudicated", "split", "comment", "comments", "finallabel", "final", "aggregated",
    "aggregatedlabel", "nvotes", "nannotators", "age",
})  # fmt: skip
# What a saved table of annotations may hold after its first three columns.
_OURS = frozenset({"weight", "annotation", "sequence", "position"})


@dataclass(frozen=True)
class Columns:
    """Where in a header everything stands, as places from 0; -1 where there is no such column.

    ``many`` are the columns of the annotators of a wide table, or of the classes of a soft one. ``left_out`` are
    columns of such a table that were passed over.
    """

    shape: Shape
    item: int
    annotator: int = -1
    label: int = -1
    weight: int = -1
    many: tuple[int, ...] = ()
    left_out: tuple[int, ...] = ()
    # Only in a table that `Annotations.save` wrote.
    annotation: int = -1
    sequence: int = -1
    position: int = -1


def recognise_columns(
    header: Sequence[str],
    *,
    name: str = "The table",
    shape: Shape | None = None,
    item: str | None = None,
    annotator: str | Sequence[str] | None = None,
    label: str | None = None,
    weight: str | None = None,
    classes: Sequence[str] | None = None,
    is_numeric: Callable[[int], bool] = lambda place: False,
    parted: str = ", parted by commas, tabs, semicolons or pipes",
) -> Columns:
    """Return what the columns of a table are; *shape*, *item*, … say what the names do not.

    *annotator* may name several columns, those of a wide table. *is_numeric* says whether the
    column at a place holds numbers: a table with an item, an annotator and besides only such columns is a soft one.
    *parted* says how columns are told apart where there is only one.

    >>> columns = recognise_columns(["Task ID", "worker", "seconds", "answer"])
    >>> columns.shape, columns.item, columns.annotator, columns.label
    ('long', 0, 1, 3)
    """
    table = _Header(header, name, parted)
    if not isinstance(annotator, str | None):
        if shape not in (None, "wide"):
            raise OptionError(
                f"The option 'annotator' names several columns, which only a wide table has. Name one, or leave "
                f"the format {shape!r} out."
            )
        return _wide(table, item, label, weight, annotator)
    if shape == "wide":
        return _wide(table, item, label, weight, None if annotator is None else [annotator])
    who = table.find("annotator", annotator)
    said = -1 if shape == "soft" else table.find("label", label, taken=(who,))
    if shape is None and who < 0 and said < 0:
        return _wide(table, item, label, weight, None)
    what = table.find("item", item, taken=(who, said))
    if what < 0:
        raise table.missing("item")
    if who < 0:
        raise table.missing("annotator")
    if what in (who, said) or who == said:
        raise InputError(f"{name}: item, annotator and label must be three different columns. One was named twice.")
    if said < 0:
        many, left_out = _class_columns(table, what, who, shape, classes, is_numeric)
        if not many:
            raise table.missing("label")
        return Columns("soft", what, who, many=many, left_out=left_out)
    share = table.find("weight", weight, taken=(what, who, said))
    ours = tuple(header[:3]) == ("item", "annotator", "label") and _OURS.issuperset(header[3:])
    number, sequence, position = (
        header.index(column) if ours and column in header else -1 for column in ("annotation", "sequence", "position")
    )
    return Columns("long", what, who, said, share, annotation=number, sequence=sequence, position=position)


class _Header:
    """The columns of a table, and the search for one of them."""

    def __init__(self, names: Sequence[str], table: str, parted: str) -> None:
        self.names = list(names)
        self.table = table
        self.keys = [_key(name) for name in names]
        twice = next((name for name in names if name.strip() and self.names.count(name) > 1), None)
        if twice is not None:
            raise InputError(
                f"{table}, line 1: the column {twice!r} stands more than once in the header. Rename one of them; "
                "if the first line is no header, add one (item,annotator,label)."
            )
        if len(self.names) < 2:
            raise InputError(
                f"{table} has {f'only one column ({self.listed()})' if names else 'no column'}. Give item, annotator "
                f"and label in columns of their own{parted}."
            )

    def find(self, role: Role, wanted: str | None, *, taken: Collection[int] = ()) -> int:
        """Return the place of the column that *wanted* names, else of the one with a usual name; -1 for none."""
        if wanted is not None:
            return self.named(role, wanted)
        for usual in _USUAL[role]:
            found = [i for i, key in enumerate(self.keys) if i not in taken and _stem(key) in usual]
            # Beside "question_id", "question" holds the text; of labels it is the name that people mean.
            ids = [i for i in found if self.keys[i].endswith(("id", "ids")) is (role != "label")]
            if len(ids) == 1 and all(_stem(self.keys[i]) == _stem(self.keys[ids[0]]) for i in found):
                found = ids
            if len(found) > 1:
                several = ", ".join(repr(self.names[i]) for i in found)
                raise InputError(
                    f"{self.table} has several columns that may hold the {role}: {several}. "
                    f"Name one of them with {role}=… (on the command line --{role})."
                )
            if found:
                return found[0]
        return -1

    def named(self, role: str, wanted: str) -> int:
        """Return the place of the column that a person named."""
        if wanted in self.names:
            return self.names.index(wanted)
        near = [i for i, key in enumerate(self.keys) if key and key == _key(wanted)]
        if len(near) == 1:
            return near[0]
        close = get_close_matches(wanted, self.names, n=2, cutoff=0.6)
        hint = f"Did you mean {' or '.join(map(repr, close))}?" if close else "Name one of these."
        raise InputError(
            f"{self.table} has no column {wanted!r}, which was named as the {role}; it has {self.listed()}. {hint}"
        )

    def like(self, *roles: Role) -> list[str]:
        """Return the columns whose names look like slips of the pen for one of the roles."""
        words = [word for role in roles for words in _USUAL[role] for word in words]
        return [
            column
            for column, key in zip(self.names, self.keys, strict=True)
            if key not in _STEMS and get_close_matches(key, words, n=1, cutoff=0.75)
        ]

    def missing(self, role: Role) -> InputError:
        """Return the error that says that the column of a role is not there."""
        close = self.like(role)
        hint = f" (is it {' or '.join(map(repr, close[:2]))}?)" if close else ""
        return InputError(
            f"{self.table} has no column that clearly holds the {role}; it has {self.listed()}{hint}. "
            f"Name it with {role}=… (on the command line --{role})."
        )

    def listed(self) -> str:
        """Return the columns as they stand, in quotes."""
        shown = ", ".join(map(repr, self.names[:12]))
        return shown if len(self.names) <= 12 else f"{shown}, … ({len(self.names)} in all)"


def _wide(
    table: _Header, item: str | None, label: str | None, weight: str | None, annotators: Sequence[str] | None
) -> Columns:
    for option, value in (("label", label), ("weight", weight)):
        if value is not None:
            raise InputError(
                f"{table.table} was taken for a wide table (a column per annotator), which has no column for "
                f"{option}={value!r}. Name the annotator column, too, if it is a long one."
            )
    chosen = None if annotators is None else tuple(table.named("annotator", name) for name in annotators)
    what = table.find("item", item, taken=chosen or ())
    if what < 0:
        what = next(i for i in range(len(table.names)) if i not in (chosen or ()))
    rest = [i for i in range(len(table.names)) if i != what]
    if chosen is None:
        beside = _BESIDE.union(*_USUAL["item"])
        chosen = tuple(i for i in rest if table.names[i].strip() and _stem(table.keys[i]) not in beside)
        # One annotator alone is possible, but a long table with a column misnamed is more likely.
        if len(chosen) == 1 and table.names[chosen[0]] in table.like("annotator", "label"):
            raise table.missing("annotator")
    if not chosen or what in chosen:
        raise table.missing("annotator")
    return Columns("wide", what, many=chosen, left_out=tuple(i for i in rest if i not in chosen))


def _class_columns(
    table: _Header,
    item: int,
    annotator: int,
    shape: Shape | None,
    classes: Sequence[str] | None,
    is_numeric: Callable[[int], bool],
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the columns that hold the probability of a class each, and those that do not."""
    rest = [i for i in range(len(table.names)) if i not in (item, annotator) and table.names[i].strip()]
    if shape == "long":
        return (), ()
    if classes is not None and (shape == "soft" or set(classes) <= {table.names[i] for i in rest}):
        many = tuple(table.named("class", name) for name in classes)
        return many, tuple(i for i in rest if i not in many)
    if shape == "soft" or (len(rest) > 1 and all(map(is_numeric, rest))):
        return tuple(rest), ()
    return (), ()


def _key(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter.isalnum())


def _stem(key: str) -> str:
    """Return a usual name without the ending that says that it is an id, or several; any other key as it is."""
    return _STEMS.get(key, key)


_STEMS = {
    word + ending: word
    for usual in _USUAL.values()
    for words in usual
    for word in words
    for ending in ("s", "id", "ids", "")
}
