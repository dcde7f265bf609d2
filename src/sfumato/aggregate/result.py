"""What every aggregator returns: soft labels with the evidence for them."""

from __future__ import annotations

__all__ = ["AnnotatorSkills", "Latent", "Result"]

from dataclasses import dataclass, field
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.core import storage
from sfumato.core.soft_labels import SoftLabels
from sfumato.core.vocabulary import Vocabulary


@dataclass(frozen=True, eq=False)
class AnnotatorSkills:
    """What a method learnt about each annotator.

    ``competence``, shape (n_annotators,), is the probability of a right answer that the method gives the
    annotator; ``confusion``, shape (n_annotators, n_classes, n_classes), is p(label | class) with the true class
    in rows, where the method has one. A method that learns nothing of annotators leaves both out.
    """

    annotators: Vocabulary
    n_annotations: NDArray[np.int64]
    competence: NDArray[np.float64] | None = None
    confusion: NDArray[np.floating[Any]] | None = None


@dataclass(frozen=True, eq=False)
class Latent:
    """What a model with more states than classes knows: enough to foresee an annotation that it has not seen.

    ``states``, shape (n_items, n_states), are the posteriors of the items; ``labels``, shape (n_annotators, n_labels,
    n_states), is p(label | state) of each annotator.
    """

    states: NDArray[np.floating[Any]]
    labels: NDArray[np.floating[Any]]


@dataclass(frozen=True, eq=False)
class Result:
    """Soft labels, what was learnt about the annotators, and how the method got there.

    ``trace`` is the objective after each iteration (the log-likelihood or bound that the method raises, or the loss
    that it lowers; empty for methods without one). ``latent`` is there where the states of the model are not the
    classes themselves. ``notes`` are sentences that a reader of the result should see.
    """

    soft_labels: SoftLabels
    annotators: AnnotatorSkills
    converged: bool = True
    n_iter: int = 0
    trace: tuple[float, ...] = ()
    class_prior: NDArray[np.float64] | None = None
    latent: Latent | None = None
    notes: tuple[str, ...] = field(default=())

    def annotator_columns(self) -> dict[str, Any]:
        """Return what was learnt about the annotators as columns: one row each, p(label | class) where it is known."""
        skills, classes = self.annotators, self.soft_labels.classes
        columns: dict[str, Any] = {"annotator": list(skills.annotators), "n_annotations": skills.n_annotations}
        if skills.competence is not None:
            columns["competence"] = skills.competence
        if skills.confusion is not None:
            for c, true in enumerate(classes):
                for k, said in enumerate(classes):
                    columns[f"p({said} | {true})"] = skills.confusion[:, c, k]
        return columns

    def save_annotators(self, path: str | PathLike[str]) -> None:
        """Write what was learnt about the annotators to a CSV, TSV, JSONL, Parquet or Arrow file."""
        storage.save_columns(self.annotator_columns(), path)
