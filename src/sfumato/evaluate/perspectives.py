"""Perspectives: predictions against each annotator, for whom no answer is the wrong one."""

from __future__ import annotations

__all__ = [
    "AnnotatorAccuracies",
    "annotator_accuracies",
    "perspectivist_distance_error",
    "perspectivist_distance_error_per_item",
    "perspectivist_error",
    "perspectivist_error_per_item",
]

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.core.annotations import Annotations
from sfumato.core.soft_labels import SoftLabels
from sfumato.core.vocabulary import Vocabulary
from sfumato.errors import InputError, OptionError

_Floats = NDArray[np.float64]
_Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class AnnotatorAccuracies:
    """How often each annotator says what the model says; ``accuracy`` and ``n`` (annotations) of shape (n_annotators,).

    An annotator without annotations of the predicted items has the accuracy nan.
    """

    annotators: Vocabulary
    accuracy: _Floats
    n: NDArray[np.int64]

    def __getitem__(self, annotator: str) -> float:
        """Return the accuracy for one annotator, by name."""
        return float(self.accuracy[self.annotators.index(annotator)])


def annotator_accuracies(predicted: SoftLabels, annotations: Annotations) -> AnnotatorAccuracies:
    """Return the accuracy of the most probable classes in the eyes of each annotator; between 0 and 1.

    Every annotation of an item that was not predicted is left out, and counted in no ``n``. An annotation that is a
    distribution counts by the mass it gives to the predicted class. Where classes are tied the first is predicted.

    >>> votes = Annotations.from_rows(["a", "a", "b"], ["ann", "bob", "ann"], ["yes", "no", "yes"])
    >>> predicted = SoftLabels([[0.2, 0.8], [0.3, 0.7]], items=["a", "b"], classes=["no", "yes"])
    >>> found = annotator_accuracies(predicted, votes)
    >>> found.accuracy.tolist(), found.n.tolist()
    ([1.0, 0.0], [2, 1])
    """
    item_of = {name: row for row, name in enumerate(predicted.items)}
    class_of = {name: code for code, name in enumerate(annotations.classes)}
    # A predicted class that no annotator could choose is never right.
    said = np.array([class_of.get(name, -1) for name in predicted.classes])[predicted.probs.argmax(axis=1)]
    row = np.array([item_of.get(name, -1) for name in annotations.items], dtype=np.int64)[annotations.item]
    known = row >= 0
    if not known.any():
        raise InputError(
            f"None of the {len(annotations.items)} annotated items is among the {predicted.n_items} predicted ones."
        )
    agreed = (annotations.label == said[row]) & known
    # In alphabetical order of the items the sums do not depend on the order of the rows.
    size = len(annotations.annotators)
    place = np.empty(len(annotations.items), dtype=np.int64)
    place[annotations.canonical_items] = np.arange(len(place))
    order = np.argsort(place[annotations.item], kind="stable")
    order = order[agreed[order]]
    right = np.bincount(annotations.annotator[order], weights=annotations.weight[order], minlength=size)
    first = annotations.starts[:-1]
    n = np.bincount(annotations.annotator[first][known[first]], minlength=size)
    accuracy = np.divide(right, n, out=np.full(size, np.nan), where=n > 0)
    return AnnotatorAccuracies(annotations.annotators, accuracy, n)


def perspectivist_error(predicted: Annotations, annotations: Annotations) -> float:
    """Return the mean over items of the share of annotators whose answer was not predicted; 0 to 1 (LeWiDi 2025).

    *predicted* holds a class for each annotator of each item, named as in *annotations*, one annotation each
    (Leonardelli et al. 2025, average error rate of task B).

    >>> votes = Annotations.from_rows(["a", "a", "b"], ["ann", "bob", "ann"], ["yes", "no", "yes"])
    >>> guess = Annotations.from_rows(["a", "a", "b"], ["ann", "bob", "ann"], ["yes", "yes", "yes"])
    >>> perspectivist_error(guess, votes)
    0.25
    """
    return float(perspectivist_error_per_item(predicted, annotations).mean())


def perspectivist_error_per_item(predicted: Annotations, annotations: Annotations) -> _Floats:
    """Return the share of annotators whose answer was not predicted for each item, in alphabetical order of items."""
    said, true, item, n_items = _matched(predicted, annotations)
    return np.bincount(item, weights=said != true, minlength=n_items) / np.bincount(item, minlength=n_items)


def perspectivist_distance_error(
    predicted: Annotations, annotations: Annotations, *, positions: Sequence[float] | None = None
) -> float:
    """Return the mean over items of the mean over annotators of |x_said − x_true| / (x_last − x_first); 0 to 1.

    As `perspectivist_error`, for ordered classes (of *annotations*): *positions* say where they lie on their scale,
    ascending; without them they are 1 apart (Leonardelli et al. 2025, average normalised absolute distance of task B).

    >>> votes = Annotations.from_rows(["a", "a"], ["ann", "bob"], ["1", "3"], classes=["1", "2", "3"])
    >>> guess = Annotations.from_rows(["a", "a"], ["ann", "bob"], ["2", "3"], classes=["1", "2", "3"])
    >>> perspectivist_distance_error(guess, votes)
    0.25
    """
    return float(perspectivist_distance_error_per_item(predicted, annotations, positions=positions).mean())


def perspectivist_distance_error_per_item(
    predicted: Annotations, annotations: Annotations, *, positions: Sequence[float] | None = None
) -> _Floats:
    """Return the mean normalised distance of each item, in alphabetical order of items."""
    n_classes = annotations.n_classes
    places = np.arange(n_classes) if positions is None else np.asarray(positions, dtype=np.float64)
    if places.shape != (n_classes,) or not np.isfinite(places).all() or (np.diff(places) <= 0).any():
        raise OptionError(
            f"The option 'positions' must be {n_classes} ascending numbers, one for each class. "
            f"Got {list(places)} instead."
        )
    said, true, item, n_items = _matched(predicted, annotations)
    if (said < 0).any():
        unknown = next(name for name in predicted.classes if name not in annotations.classes)
        raise InputError(
            f"The predicted class {unknown!r} has no place among the {n_classes} classes of the annotators."
        )
    scale = float(places[-1] - places[0]) if n_classes > 1 else 1.0
    distances = np.abs(places[said] - places[true]) / scale
    return np.bincount(item, weights=distances, minlength=n_items) / np.bincount(item, minlength=n_items)


def _matched(predicted: Annotations, annotations: Annotations) -> tuple[_Codes, _Codes, _Codes, int]:
    """Return what was predicted and said (−1: no such class), and of which item, of every annotation."""
    if not predicted.is_hard or not annotations.is_hard:
        raise InputError("Predictions for annotators and their annotations must be plain classes. Got distributions.")
    if not annotations.n_annotations:
        raise InputError("There are no annotations to compare with.")
    guesses, wanted = _keys(predicted, annotations), _keys(annotations, annotations)
    for keys, table, what in ((guesses, predicted, "predictions"), (wanted, annotations, "annotations")):
        _, counts = np.unique(keys, return_counts=True)
        if (counts > 1).any() and (keys >= 0).all():
            raise InputError(
                f"Of the {table.n_annotations} {what}, {int((counts - 1).sum())} are for an item and an annotator that "
                "already have one. Keep one for each."
            )
    order, other = np.argsort(wanted), np.argsort(guesses)
    if not np.array_equal(wanted[order], guesses[other]):
        shared = len(np.intersect1d(wanted, guesses))
        raise InputError(
            f"There are {predicted.n_annotations} predictions and {annotations.n_annotations} annotations, {shared} of "
            "them for the same item and annotator. Both need the same ones."
        )
    class_of = {name: code for code, name in enumerate(annotations.classes)}
    said = np.array([class_of.get(name, -1) for name in predicted.classes], dtype=np.int64)[predicted.label[other]]
    rank = np.full(len(annotations.items), -1, dtype=np.int64)
    judged = np.zeros(len(annotations.items), dtype=np.bool_)
    judged[annotations.item] = True
    names = annotations.canonical_items[judged[annotations.canonical_items]]
    rank[names] = np.arange(len(names))
    return said, annotations.label[order].astype(np.int64), rank[annotations.item[order]], len(names)


def _keys(table: Annotations, vocabulary: Annotations) -> _Codes:
    """Return a number for the item and annotator of each annotation, in the codes of *vocabulary*; −1: not in it."""
    items = {name: code for code, name in enumerate(vocabulary.items)}
    annotators = {name: code for code, name in enumerate(vocabulary.annotators)}
    item = np.array([items.get(name, -1) for name in table.items], dtype=np.int64)[table.item]
    annotator = np.array([annotators.get(name, -1) for name in table.annotators], dtype=np.int64)[table.annotator]
    return np.where((item < 0) | (annotator < 0), -1, item * len(annotators) + annotator)
