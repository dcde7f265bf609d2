"""What annotators answer: labels, distributions, and copies of each other."""

from __future__ import annotations

__all__ = ["copy_answers", "draw_distributions", "draw_labels"]

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.data.simulation.distributions import draw_dirichlet

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]


def draw_labels(
    rng: np.random.Generator,
    item: Codes,
    annotator: Codes,
    *,
    truth: Floats,
    confusion: Floats,
    guessing: Floats,
) -> Codes:
    """Return a label for each annotation: the class that is seen in the item, then what the annotator makes of it.

    ``truth`` and ``confusion`` are cumulative over their last axes; ``guessing``, shape (n_annotations,), is the
    probability that the answer is a guess.
    """
    n, n_classes = len(item), truth.shape[-1]
    seen = _pick(truth, item, rng.random(n))
    label = _pick(confusion.reshape(-1, n_classes), annotator * n_classes + seen, rng.random(n))
    guessed = np.flatnonzero(rng.random(n) < guessing)
    label[guessed] = rng.integers(n_classes, size=len(guessed))
    return label


def draw_distributions(
    rng: np.random.Generator,
    item: Codes,
    annotator: Codes,
    *,
    truth: Floats,
    confusion: Floats,
    guessing: Floats,
    precision: float,
) -> Floats:
    """Return a distribution for each annotation, shape (n_annotations, n_classes), around what `draw_labels` draws."""
    n_classes = truth.shape[-1]
    expected = np.empty((len(item), n_classes))
    step = max(1, (1 << 20) // n_classes**2)
    for k in range(0, len(item), step):
        part = slice(k, k + step)
        np.einsum("nc,nck->nk", truth[item[part]], confusion[annotator[part]], out=expected[part])
    expected += guessing[:, None] * (1 / n_classes - expected)
    return draw_dirichlet(rng, expected, precision)


def copy_answers(
    rng: np.random.Generator,
    item: Codes,
    annotator: Codes,
    answers: NDArray[Any],
    *,
    copied: NDArray[np.int32],
    copy_rate: float,
) -> None:
    """Overwrite, in place, the answers of copiers by those of their sources, where both judged the item.

    Item and annotator are sorted; nobody copies a copier.
    """
    key = item * len(copied) + annotator
    source = copied[annotator]
    here = np.flatnonzero(source >= 0)
    wanted = item[here] * len(copied) + source[here]
    there = np.minimum(np.searchsorted(key, wanted), len(key) - 1)
    hit = (key[there] == wanted) & (rng.random(len(here)) < copy_rate)
    answers[here[hit]] = answers[there[hit]]


def _pick(cumulative: Floats, row: Codes, at: Floats) -> Codes:
    """Return where *at* falls in the given rows of *cumulative*, by bisection of all at once.

    The last entry of each row is 1 and *at* is below it, so the result is always one of the classes.
    """
    n_classes = cumulative.shape[-1]
    flat, base = cumulative.ravel(), row * n_classes
    result = np.zeros(len(row), dtype=np.int64)
    step = 1 << (n_classes - 1).bit_length() - 1
    while step:
        further = np.minimum(result + step, n_classes - 1)
        # Below `further` classes lie all whose cumulative probability is at most `at`.
        beyond = flat[base + further - 1] <= at
        np.copyto(result, further, where=beyond)
        step >>= 1
    return result
