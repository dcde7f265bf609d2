"""What every aggregator returns: soft labels with the evidence for them."""

from __future__ import annotations

__all__ = ["AnnotatorSkills", "Result"]

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
class Result:
    """Soft labels, what was learnt about the annotators, and how the method got there.

    ``trace`` is the objective after each iteration (the log-likelihood or bound that the method raises, or the loss
    that it lowers; empty for methods without one). ``notes`` are sentences that a reader of the result should see.
    """

    soft_labels: SoftLabels
    annotators: AnnotatorSkills
    converged: bool = True
    n_iter: int = 0
    trace: tuple[float, ...] = ()
    class_prior: NDArray[np.float64] | None = None
    notes: tuple[str, ...] = field(default=())
