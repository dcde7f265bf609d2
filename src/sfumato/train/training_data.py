"""Items joined with their labels: what the model sees, what people said of it, and which split it is in.

Nothing is lost in silence. The join counts what it found on either side; it stops where one side lacks the other, or
leaves out what does not match and says how much, whichever was asked for.
"""

from __future__ import annotations

__all__ = ["KIND_WORDS", "SPLITS", "Example", "Kind", "TrainingData", "join", "kind_of", "lengths_of"]

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.core.annotations import Annotations
from sfumato.core.gold import Gold
from sfumato.core.soft_labels import SoftLabels
from sfumato.core.vocabulary import Vocabulary, check_vocabulary, counted
from sfumato.errors import InputError, OptionError, check_choice

# What a model sees at once: a text, a pair, a feature vector, an image, or the tokens of a sequence. The key "item"
# holds the row of its item, or of each token's item (−1: nobody is asked about that token).
Example = Mapping[str, Any]
Kind = Literal["text", "text pair", "image", "features", "tokens"]
KIND_WORDS: Mapping[Kind, str] = {
    "text": "texts", "text pair": "pairs of texts", "image": "images", "features": "features", "tokens": "tokens"
}  # fmt: skip
SPLITS = ("train", "dev", "test")


def kind_of(example: Example) -> Kind:
    """Return what an example is.

    >>> kind_of({"text": "Rain.", "text_pair": "Sun.", "item": 0})
    'text pair'
    """
    for key, kind in _KINDS.items():
        if key in example:
            return kind
    raise InputError(f"An example holds one of {', '.join(_KINDS)}. Got {', '.join(example) or 'nothing'}.")


# In this order: a pair has a text, too.
_KINDS: Mapping[str, Kind] = {
    "text_pair": "text pair", "text": "text", "image": "image", "features": "features", "tokens": "tokens"
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class TrainingData:
    """Examples, the items in them, and their labels in one order of items and classes.

    ``soft`` has shape (n_items, n_classes), float32, rows of nan where an item has no soft label; ``gold`` has shape
    (n_items,), class codes, −100 where an item has none. ``annotations`` has its items coded as rows of ``items``.
    ``splits`` gives the numbers of the examples of each split. ``notes`` are the counts of the join, in sentences.
    ``features`` names the features, where they have names.
    """

    examples: Sequence[Example]
    items: Vocabulary
    classes: Vocabulary
    splits: Mapping[str, NDArray[np.int64]]
    soft: NDArray[np.float32] | None = None
    gold: NDArray[np.int64] | None = None
    annotations: Annotations | None = None
    notes: tuple[str, ...] = field(default=())
    features: Vocabulary | None = None

    @property
    def n_items(self) -> int:
        return len(self.items)

    @property
    def n_classes(self) -> int:
        return len(self.classes)

    @property
    def kind(self) -> Kind:
        """What the examples are."""
        return kind_of(self.examples[0])

    def has_gold(self) -> NDArray[np.bool_]:
        """Return for each item whether it has gold."""
        return np.zeros(self.n_items, dtype=np.bool_) if self.gold is None else self.gold >= 0

    def has_soft(self) -> NDArray[np.bool_]:
        """Return for each item whether it has a soft label."""
        return np.zeros(self.n_items, dtype=np.bool_) if self.soft is None else ~np.isnan(self.soft[:, 0])

    def has_annotations(self) -> NDArray[np.bool_]:
        """Return for each item whether anybody judged it."""
        if self.annotations is None:
            return np.zeros(self.n_items, dtype=np.bool_)
        return np.diff(self.annotations.offsets) > 0

    def rows(self, split: str) -> NDArray[np.int64]:
        """Return the rows of the items that stand in the examples of a split, in the order of the examples."""
        rows = [np.atleast_1d(self.examples[number]["item"]) for number in self.splits[split]]
        found = np.concatenate(rows).astype(np.int64) if rows else np.zeros(0, dtype=np.int64)
        return found[found >= 0]

    def lengths(self) -> NDArray[np.int64] | None:
        """Return a length for each example where they are sequences of differing length, else None."""
        return lengths_of(self.examples)


def lengths_of(examples: Sequence[Example]) -> NDArray[np.int64] | None:
    """Return a length for each example where they are sequences of differing length, else None.

    >>> lengths_of([{"tokens": ["so", "it", "is"], "item": [0, 1, 2]}]).tolist()
    [3]
    """
    if "tokens" in examples[0]:
        return np.array([len(example["tokens"]) for example in examples], dtype=np.int64)
    if "text" in examples[0]:
        sizes = [len(example["text"]) + len(example.get("text_pair", "")) for example in examples]
        return np.array(sizes, dtype=np.int64)
    return None


def join(
    examples: Sequence[Example],
    *,
    items: Sequence[str],
    splits: Mapping[str, Sequence[int] | NDArray[np.int64]],
    needs: Collection[str],
    soft: SoftLabels | None = None,
    gold: Gold | None = None,
    annotations: Annotations | None = None,
    classes: Sequence[str] | None = None,
    missing: str = "error",
    features: Sequence[str] | None = None,
) -> TrainingData:
    """Return examples with the labels of their items.

    *needs* names the labels without which an item of the train split cannot be used: "soft", "gold", "annotations".
    *classes* gives the classes and their order; without it the soft labels do, else the annotations, else the gold;
    the other labels are brought into that order by name. *missing* is "error", or "drop": leave such items out.
    *features* names the features, so that a model finds them again in a file with its columns in another order.

    >>> soft = SoftLabels([[0.2, 0.8]], items=["a"], classes=["no", "yes"])
    >>> data = join([{"text": "Yes!", "item": 0}], items=["a"], splits={"train": [0]}, needs=["soft"], soft=soft)
    >>> data.classes, data.soft.tolist(), data.notes[0]
    (('no', 'yes'), [[0.20000000298023224, 0.800000011920929]], 'train: 1 example, 1 item; 1 with soft label.')
    """
    check_choice(missing, ("error", "drop"), option="missing")
    check_vocabulary(items, what="item")
    labels = {"soft label": soft, "gold": gold, "annotation": annotations}
    _refuse_what_is_missing(labels, needs)
    order = _class_order(classes, soft, annotations, gold)
    place = {name: row for row, name in enumerate(items)}
    data = TrainingData(
        examples=examples,
        items=tuple(items),
        classes=order,
        splits={name: np.asarray(splits.get(name, ()), dtype=np.int64) for name in SPLITS},
        soft=None if soft is None else _soft_rows(soft, order, place),
        gold=None if gold is None else _gold_rows(gold, order, items),
        annotations=None if annotations is None else _coded(annotations, order, items, place),
        features=None if features is None else tuple(features),
    )
    notes = []
    for what, table in labels.items():
        # A gold or a vote without its item is a smaller loss than it looks: nobody trains on it. It is still said.
        notes += _without_item(table, what, place, missing)
    data, more = _left_out(data, needs, missing)
    notes += more
    for split in SPLITS:
        if not len(data.splits[split]) and (split == "train" or len(splits.get(split, ()))):
            raise InputError(f"The split '{split}' is empty: no example is left in it. {' '.join(notes)}".rstrip())
    return replace(data, notes=(*_counts(data), *notes))


def _class_order(
    classes: Sequence[str] | None, soft: SoftLabels | None, annotations: Annotations | None, gold: Gold | None
) -> Vocabulary:
    if classes is not None:
        check_vocabulary(classes, what="class")
        order = tuple(classes)
    else:
        first = next((table for table in (soft, annotations, gold) if table is not None), None)
        if first is None:
            raise InputError("There are no labels: give soft labels, gold or votes.")
        order = first.classes
    if len(order) < 2:
        raise InputError(f"A model needs two classes or more to choose from. Got {list(order)}.")
    for table, what in ((soft, "soft labels"), (annotations, "annotations"), (gold, "gold")):
        odd = [] if table is None else [name for name in _used_classes(table) if name not in order]
        if odd:
            raise InputError(
                f"The class {odd[0]!r} of the {what} is not among the {len(order)} classes of the model "
                f"({', '.join(order[:12])}). Correct the name, or give all classes with data.classes."
            )
    if soft is not None and len(soft.classes) != len(order):
        lacking = next(name for name in order if name not in soft.classes)
        raise InputError(
            f"The soft labels have no column for the class {lacking!r}, one of the {len(order)} classes of the model. "
            "Make them anew with all classes, or correct data.classes."
        )
    return order


def _used_classes(table: SoftLabels | Annotations | Gold) -> Vocabulary:
    return tuple(table.classes[code] for code in np.unique(table.labels)) if isinstance(table, Gold) else table.classes


def _refuse_what_is_missing(labels: Mapping[str, Any], needs: Collection[str]) -> None:
    given = {"soft": labels["soft label"], "gold": labels["gold"], "annotations": labels["annotation"]}
    ways = {"soft": "data.soft (--soft)", "gold": "data.gold (--gold)", "annotations": "data.votes (--votes)"}
    other = "choose another loss"
    if set(needs) == {"gold"} and given["soft"] is not None:
        other = "teach the top of the soft labels with the target silver (--target silver)"
    elif set(needs) == {"soft"} and given["gold"] is not None:
        other = "teach the gold with the loss hard (--loss hard)"
    for need in needs:
        if given[need] is None:
            words = {"soft": "soft labels", "gold": "gold labels", "annotations": "annotations"}[need]
            raise OptionError(f"This loss and target need {words}. Give them with {ways[need]}, or {other}.")


def _soft_rows(soft: SoftLabels, order: Vocabulary, place: Mapping[str, int]) -> NDArray[np.float32]:
    rows = np.full((len(place), len(order)), np.nan, dtype=np.float32)
    probs = soft.probs if soft.classes == order else soft.with_classes(order).probs
    known = [(row, place[name]) for row, name in enumerate(soft.items) if name in place]
    if known:
        taken, to = np.array(known).T
        rows[to] = probs[taken]
    return rows


def _gold_rows(gold: Gold, order: Vocabulary, items: Sequence[str]) -> NDArray[np.int64]:
    rows = gold.aligned(items, order).astype(np.int64)
    rows[rows < 0] = -100
    return rows


def _coded(annotations: Annotations, order: Vocabulary, items: Sequence[str], place: Mapping[str, int]) -> Annotations:
    """Return the annotations of *items*, with the rows of *items* as codes of items."""
    to_row = np.array([place.get(name, -1) for name in annotations.items], dtype=np.int64)
    rows = to_row[annotations.item]
    to_class = np.array([order.index(name) for name in annotations.classes], dtype=np.int64)
    known = rows >= 0
    number = np.repeat(np.arange(annotations.n_annotations), np.diff(annotations.starts))
    return Annotations.from_codes(
        rows[known], annotations.annotator[known], to_class[annotations.label[known]],
        weight=None if annotations.is_hard else annotations.weight[known],
        annotation=None if annotations.is_hard else number[known],
        items=items, annotators=annotations.annotators, classes=order,
    )  # fmt: skip


def _without_item(table: Any, what: str, place: Mapping[str, int], missing: str) -> list[str]:
    odd = [] if table is None else [name for name in table.items if name not in place]
    if not odd:
        return []
    shown = ", ".join(map(repr, odd[:3])) + (", …" if len(odd) > 3 else "")
    one = len(odd) == 1
    sentence = (
        f"{len(odd):,} item{'' if one else 's'} with a {what} {'is' if one else 'are'} not in the items ({shown})"
    )
    if missing == "error" and len(odd) == len(table.items):
        raise InputError(
            f"None of the {len(odd):,} items with a {what} is in the items ({shown}). Are the names the same?"
        )
    if missing == "error" and what == "soft label":
        raise InputError(f"{sentence}. Add the items, or leave these out with data.missing = 'drop' (--missing drop).")
    return [f"Left out: {sentence}."]


def _left_out(data: TrainingData, needs: Collection[str], missing: str) -> tuple[TrainingData, list[str]]:
    """Return the data without the train items that lack a label that is needed, or refuse them."""
    ways = {"soft": data.has_soft, "gold": data.has_gold, "annotations": data.has_annotations}
    words = {"soft": "soft label", "gold": "gold label", "annotations": "annotation"}
    rows, notes = data.rows("train"), []
    lacking = np.zeros(data.n_items, dtype=np.bool_)
    for need in needs:
        odd = rows[~ways[need]()[rows]]
        if not len(odd):
            continue
        shown = ", ".join(repr(data.items[row]) for row in odd[:3]) + (", …" if len(odd) > 3 else "")
        counted = (
            f"{len(odd):,} of {len(rows):,} train items {'has' if len(odd) == 1 else 'have'} no {words[need]} ({shown})"
        )
        if missing == "error":
            raise InputError(f"{counted}. Add it, or leave them out with data.missing = 'drop' (--missing drop).")
        notes.append(f"Left out: {counted}.")
        lacking[odd] = True
    if not lacking.any():
        return data, notes
    # A token without a label stays in its sequence as context; an example of which nothing is left goes.
    examples = list(data.examples)
    for number in data.splits["train"]:
        item = np.asarray(examples[number]["item"])
        kept = np.where((item >= 0) & ~lacking[item], item, -1)
        examples[number] = {**examples[number], "item": kept.tolist()}
    train = np.array(
        [number for number in data.splits["train"] if np.max(examples[number]["item"]) >= 0], dtype=np.int64
    )
    return replace(data, examples=examples, splits={**data.splits, "train": train}), notes


def _counts(data: TrainingData) -> list[str]:
    sentences = []
    for split in SPLITS:
        rows = data.rows(split)
        if not len(rows):
            continue
        given = [
            f"{int(has()[rows].sum()):,} with {what}"
            for table, has, what in (
                (data.soft, data.has_soft, "soft label"),
                (data.gold, data.has_gold, "gold"),
                (data.annotations, data.has_annotations, "annotations"),
            )
            if table is not None
        ]
        n = len(data.splits[split])
        sentences.append(f"{split}: {counted(n, 'example')}, {counted(len(rows), 'item')}; {', '.join(given)}.")
    return sentences
