"""The answers of a study as soft labels, row by row, by the rule that the study declares for what they leave open."""

from __future__ import annotations

__all__ = ["Labels", "labels_of"]

from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sfumato.collect.redistribution import Redistribution
from sfumato.collect.store import ResponseRow, response_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Codes = NDArray[np.int64]

# Numbers worked on at a time where every answer needs a row of its own.
_AT_A_TIME = 1 << 20


@dataclass(frozen=True, slots=True)
class Labels:
    """Soft labels of answers: *probs* of shape (n_answers, n_classes), and who gave each for which item.

    *item* and *person* are codes into ``items`` and ``people``, of shape (n_answers,).
    """

    items: tuple[str, ...]
    people: tuple[str, ...]
    item: Codes
    person: Codes
    probs: NDArray[np.floating]

    def panel_sums(self, counted: NDArray[np.bool_]) -> tuple[Floats, Codes]:
        """Return the sum of the *counted* labels of each item, shape (n_items, n_classes), and how many they are."""
        import numpy as np

        sums = np.zeros((len(self.items), self.probs.shape[1]))
        np.add.at(sums, self.item[counted], self.probs[counted])
        return sums, np.bincount(self.item[counted], minlength=len(self.items))

    def agreement_of_items(self, counted: NDArray[np.bool_]) -> Floats:
        """Return for each item the mean of Σ_k p_k q_k over pairs of its *counted* labels; nan where no pair is."""
        import numpy as np

        sums, n = self.panel_sums(counted)
        squares = np.bincount(
            self.item[counted], weights=(self.probs[counted] ** 2).sum(axis=1), minlength=len(self.items)
        )
        pairs = n * (n - 1)
        return np.where(pairs > 0, ((sums**2).sum(axis=1) - squares) / np.maximum(pairs, 1), np.nan)

    def agreement_of_people(self, counted: NDArray[np.bool_], *, least_others: int = 1) -> tuple[Floats, Codes]:
        """Return how far each person agrees with the rest of the panel, and over how many items; nan over none.

        For each of their items 1 − ½ Σ_k (p_k − q_k)², where q is the mean of the others' *counted* labels where these
        are *least_others* or more; then the mean over items. It is 1 where all say the same and 0 where two are sure of
        different classes. As a quadratic score, it is highest in expectation for who says what they expect
        of the others: hedging and exaggerating both cost.
        """
        import numpy as np

        sums, n = self.panel_sums(counted)
        total, number = np.zeros(len(self.people)), np.zeros(len(self.people), dtype=np.int64)
        step = max(1, _AT_A_TIME // self.probs.shape[1])
        for start in range(0, len(self.item), step):
            rows = slice(start, start + step)
            item, person, own, inside = self.item[rows], self.person[rows], self.probs[rows], counted[rows]
            others = n[item] - inside
            rest = (sums[item] - own * inside[:, None]) / np.maximum(others, 1)[:, None]
            score = 1 - ((own - rest) ** 2).sum(axis=1) / 2
            used = others >= least_others
            total += np.bincount(person[used], weights=score[used], minlength=len(self.people))
            number += np.bincount(person[used], minlength=len(self.people))
        return np.where(number > 0, total / np.maximum(number, 1), np.nan), number


def labels_of(
    rows: Iterable[ResponseRow], classes: tuple[str, ...], rule: Redistribution, *, as_published: bool = False
) -> Labels:
    """Return the soft label of each answer, in their order."""
    import numpy as np

    items: dict[str, int] = {}
    people: dict[str, int] = {}
    item, person, probs = array("q"), array("q"), array("d")
    for row in rows:
        item.append(items.setdefault(row.item, len(items)))
        person.append(people.setdefault(row.person, len(people)))
        probs.frombytes(rule.label(response_of(row), classes, as_published=as_published).tobytes())
    return Labels(
        items=tuple(items),
        people=tuple(people),
        item=np.array(item, dtype=np.int64),
        person=np.array(person, dtype=np.int64),
        probs=np.array(probs).reshape(-1, len(classes)),
    )
