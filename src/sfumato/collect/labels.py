"""The answers of a study as soft labels, row by row, by the rule that the study declares for what they leave open."""

from __future__ import annotations

__all__ = ["Labels", "labels_of"]

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sfumato.collect.redistribution import Redistribution
from sfumato.collect.store import ResponseRow, response_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Labels:
    """Soft labels of answers: *probs* of shape (n_answers, n_classes), and who gave each for which item."""

    items: tuple[str, ...]
    people: tuple[str, ...]
    probs: Floats

    def panels(self) -> dict[str, Floats]:
        """Return the mean soft label of each item, in order of appearance."""
        return {item: self.probs[rows].mean(axis=0) for item, rows in self._rows(self.items).items()}

    def agreements(
        self, *, left_out: frozenset[str] = frozenset(), least_others: int = 1
    ) -> dict[str, tuple[float, int]]:
        """Return how far each person agrees with the rest of the panel, and over how many items.

        For each of their items 1 − ½ Σ_k (p_k − q_k)², where q is the mean of the others who are not *left_out* and
        are *least_others* or more; then the mean over items. It is 1 where all say the same and 0 where two are sure of
        different classes. As a quadratic score, it is highest in expectation for who says what they expect
        of the others: hedging and exaggerating both cost.
        """
        import numpy as np

        counted = np.array([person not in left_out for person in self.people], dtype=bool)
        scores: dict[str, list[float]] = {}
        for rows in self._rows(self.items).values():
            inside = [row for row in rows if counted[row]]
            total = self.probs[inside].sum(axis=0)
            for row in rows:
                own = self.probs[row]
                others = len(inside) - int(counted[row])
                if others >= least_others and others > 0:
                    rest = (total - own if counted[row] else total) / others
                    scores.setdefault(self.people[row], []).append(1 - float(((own - rest) ** 2).sum()) / 2)
        return {person: (sum(each) / len(each), len(each)) for person, each in scores.items()}

    @staticmethod
    def _rows(names: tuple[str, ...]) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for row, name in enumerate(names):
            found.setdefault(name, []).append(row)
        return found


def labels_of(
    rows: Iterable[ResponseRow], classes: tuple[str, ...], rule: Redistribution, *, as_published: bool = False
) -> Labels:
    """Return the soft label of each answer, in their order."""
    import numpy as np

    kept = list(rows)
    probs = np.zeros((len(kept), len(classes)))
    for number, row in enumerate(kept):
        probs[number] = rule.label(response_of(row), classes, as_published=as_published)
    return Labels(tuple(row.item for row in kept), tuple(row.person for row in kept), probs)
