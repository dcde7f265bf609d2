"""Simulated annotators: a planted truth, planted confusion matrices, and the annotations that follow from them.

Let K be the number of classes. The defaults are the model of Dawid and Skene; every option adds one departure.

- item i: its class z_i ~ class_prior; its planted soft label t_i is one-hot at z_i, or with ``ambiguity`` = α > 0 a
  draw from Dirichlet(α, …, α) whose largest part is moved to z_i; its difficulty d_i ~ Beta(2δ, 2(1−δ)), mean δ;
- annotator j: ability a_j ~ Beta(κ·ability, κ·(1−ability)) with κ = ``ability_concentration``; the row of the
  confusion matrix for class c is π_j[c] ~ Dirichlet(λ·m_j[c]) with λ = ``confusion_concentration``, where m_j[c] is
  a_j on c and (1−a_j)/(K−1) elsewhere (λ = ∞: π_j[c] = m_j[c], the one-coin model);
- a spammer does not look: d_i does not touch it, and all rows of π_j are one strategy: uniform, always one class, or
  a distribution drawn evenly from the simplex;
- who judges: a panel is drawn without replacement, an annotator in proportion to rank^(−``activity``);
- an answer: a label ~ q_ij = Σ_c t_i[c] · ((1−d_i)·π_j[c] + d_i/K), so that difficulty shrinks everybody's ability
  towards chance, as the parameter of the items does in GLAD (Whitehill et al., 2009);
- a soft answer: a whole distribution ~ Dirichlet(ρ·q_ij) with ρ = ``precision``; its mean is q_ij, too;
- a copier repeats, with probability ``copy_rate``, what its one source answered, wherever both judge an item.
"""

from __future__ import annotations

__all__ = ["Simulation", "simulate"]

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.core.annotations import Annotations
from sfumato.core.arguments import checked_arguments
from sfumato.core.gold import Gold
from sfumato.core.origin import Origin
from sfumato.core.seeds import Seed, recorded, spawn
from sfumato.core.simplex import SUM_TOLERANCE
from sfumato.core.soft_labels import SoftLabels
from sfumato.data.simulation.annotators import Spam, draw_annotators
from sfumato.data.simulation.answers import copy_answers, draw_distributions, draw_labels
from sfumato.data.simulation.distributions import draw_beta, draw_dirichlet
from sfumato.data.simulation.panels import draw_panels, panel_sizes
from sfumato.errors import OptionError, TooLargeError, check_choice

Floats = NDArray[np.float64]

# Annotations drawn at a time: they stay in the cache, and NumPy's cost per call does not show.
_BLOCK = 1 << 17
# What the planted quantities and the answers may take; more is refused before anything is drawn.
_MOST_BYTES = 16 << 30


@dataclass(frozen=True, eq=False)
class Simulation:
    """Annotations, and everything about them that nobody would know in reality.

    ``gold`` holds z_i and ``truth`` t_i; ``confusion``, shape (n_annotators, n_classes, n_classes), is
    π = p(label | class) with the true class in rows, at difficulty 0; ``competence``, shape (n_annotators,), is the
    probability of a right answer under ``class_prior``; ``difficulty`` has shape (n_items,); ``spammers`` and
    ``copied`` have shape (n_annotators,): a mask, and the code of the annotator that is copied, −1 for nobody.
    """

    annotations: Annotations
    gold: Gold
    truth: SoftLabels
    class_prior: Floats
    confusion: Floats
    competence: Floats
    difficulty: Floats
    spammers: NDArray[np.bool_]
    copied: NDArray[np.int32]


@checked_arguments
def simulate(
    *,
    n_items: int | None = None,
    n_annotators: int = 20,
    n_classes: int | None = None,
    per_item: float | Literal["all"] = 5,
    seed: Seed = 0,
    truth: SoftLabels | None = None,
    class_prior: ArrayLike | None = None,
    ambiguity: float = 0.0,
    difficulty: float = 0.0,
    ability: float = 0.75,
    ability_concentration: float = 10.0,
    confusion_concentration: float = 20.0,
    spammers: float = 0.0,
    spam: Spam = "mixed",
    copiers: float = 0.0,
    copy_rate: float = 1.0,
    activity: float = 0.0,
    soft: bool = False,
    precision: float = 5.0,
) -> Simulation:
    """Return annotations drawn from planted quantities, with those quantities; the module says how.

    There are *n_items* (1,000) items of *n_classes* (3) classes with *class_prior* (even), or else those of *truth*:
    soft labels to plant, whose top class is the gold. *per_item* is the number of annotators of every item, a float
    for a mean (1 + a Poisson number, at most everybody), or "all". *spammers* and *copiers* are shares of the
    annotators, rounded to whole ones; *spam* "mixed" draws one of the three strategies for each spammer.

    >>> planted = simulate(n_items=200, n_annotators=10, n_classes=4, per_item=3, spammers=0.2, seed=1)
    >>> planted.annotations
    Annotations(200 items, 10 annotators, 4 classes, 600 annotations)
    >>> int(planted.spammers.sum()), planted.truth.probs.shape, planted.confusion.shape
    (2, (200, 4), (10, 4, 4))
    """
    check_choice(spam, ("uniform", "constant", "random", "mixed"), option="spam")
    _check_range(0, 1, ability=ability, difficulty=difficulty, spammers=spammers, copiers=copiers, copy_rate=copy_rate)
    _check_range(0, math.inf, ambiguity=ambiguity, activity=activity)
    _check_concentrations(
        ability_concentration=ability_concentration,
        confusion_concentration=confusion_concentration,
        precision=precision,
    )
    _check_count(n_annotators, 1, option="n_annotators")
    # One stream for each part, so that an option changes what it is about and nothing else.
    for_items, for_difficulty, for_abilities, for_roles, for_panels, for_answers, for_copies = spawn(seed, 7)

    if truth is None:
        truth, prior = _drawn_truth(for_items, n_items, n_classes, class_prior, ambiguity, recorded(seed))
    else:
        given = {"n_items": n_items, "n_classes": n_classes, "class_prior": class_prior, "ambiguity": ambiguity or None}
        for option, value in given.items():
            if value is not None:
                raise OptionError(f"With 'truth', the option {option!r} has nothing to say; leave it out.")
        prior = np.bincount(truth.probs.argmax(axis=1), minlength=truth.n_classes) / truth.n_items
        _check_count(truth.n_classes, 2, option="n_classes")
    probs = np.asarray(truth.probs, dtype=np.float64)
    n_items, n_classes = probs.shape
    hardness = draw_beta(for_difficulty, difficulty, 2.0, n_items)
    sizes = panel_sizes(for_panels, per_item, n_items, n_annotators)
    n_annotations = int(sizes.sum())
    # The largest moments: gamma variates of all confusion matrices; sorting the rows of soft annotations.
    _check_memory(n_annotators * n_classes**2 * 40 + n_annotations * (n_classes * 64 if soft else 36))
    people = draw_annotators(
        (for_abilities, for_roles), n_annotators, n_classes, ability=ability, spammers=spammers, spam=spam,
        ability_concentration=ability_concentration, confusion_concentration=confusion_concentration, copiers=copiers,
    )  # fmt: skip
    weights = for_panels.permutation(np.arange(1.0, n_annotators + 1) ** -activity)

    item = np.empty(n_annotations, dtype=np.int32)
    annotator = np.empty(n_annotations, dtype=np.int32)
    answers = np.empty((n_annotations, n_classes)) if soft else np.empty(n_annotations, dtype=np.int32)
    confusion = people.confusion if soft else _cumulative(people.confusion)
    end = 0
    for block in _blocks(sizes):
        i, j = draw_panels(for_panels, sizes[block], weights)
        guessing = np.where(people.spammers[j], 0, hardness[block][i])
        rows = slice(end, end := end + len(i))
        if soft:
            answers[rows] = draw_distributions(
                for_answers, i, j, truth=probs[block], confusion=confusion, guessing=guessing, precision=precision
            )
        else:
            answers[rows] = draw_labels(
                for_answers, i, j, truth=_cumulative(probs[block]), confusion=confusion, guessing=guessing
            )
        copy_answers(for_copies, i, j, answers[rows], copied=people.copied, copy_rate=copy_rate)
        item[rows], annotator[rows] = i + block.start, j

    if soft:
        item, annotator = np.repeat(item, n_classes), np.repeat(annotator, n_classes)
    annotations = Annotations.from_codes(
        item,
        annotator,
        np.tile(np.arange(n_classes, dtype=np.int32), n_annotations) if soft else answers,
        weight=answers.ravel() if soft else None,
        items=truth.items,
        annotators=_names("annotator", n_annotators),
        classes=truth.classes,
    )
    gold = probs.argmax(axis=1).astype(np.int32)
    competence = np.einsum("c,jcc->j", prior, people.confusion)
    for array in (gold, prior, people.confusion, people.spammers, people.copied, competence, hardness):
        array.flags.writeable = False
    return Simulation(
        annotations=annotations, gold=Gold(truth.items, gold, truth.classes), truth=truth, class_prior=prior,
        confusion=people.confusion, competence=competence, difficulty=hardness, spammers=people.spammers,
        copied=people.copied,
    )  # fmt: skip


def _drawn_truth(
    rng: np.random.Generator,
    n_items: int | None,
    n_classes: int | None,
    class_prior: ArrayLike | None,
    ambiguity: float,
    seed: int | None,
) -> tuple[SoftLabels, Floats]:
    """Return a soft label for each item, and the class prior that they were drawn from."""
    n_items = _check_count(1000 if n_items is None else n_items, 1, option="n_items")
    n_classes = _check_count(3 if n_classes is None else n_classes, 2, option="n_classes")
    _check_memory(n_items * n_classes * (40 if ambiguity else 8))
    try:
        prior = np.full(n_classes, 1 / n_classes) if class_prior is None else np.array(class_prior, dtype=np.float64)
    except (TypeError, ValueError):
        prior = np.zeros(0)
    if prior.shape != (n_classes,) or not (prior >= 0).all() or not abs(prior.sum() - 1) <= SUM_TOLERANCE:
        raise OptionError(
            f"The option 'class_prior' must be {n_classes} probabilities that sum to 1. Got {class_prior!r} instead."
        )
    prior /= prior.sum()
    gold = rng.choice(n_classes, size=n_items, p=prior)
    row = np.arange(n_items)
    if ambiguity:
        probs = draw_dirichlet(rng, np.full((n_items, n_classes), 1 / n_classes), ambiguity * n_classes)
        top = probs.argmax(axis=1)
        probs[row, top], probs[row, gold] = probs[row, gold], probs[row, top]
    else:
        probs = np.zeros((n_items, n_classes))
        probs[row, gold] = 1
    # Nobody can write to it any more, so the soft labels take it without a copy.
    probs.flags.writeable = False
    origin = Origin("simulate", {"class_prior": prior, "ambiguity": ambiguity}, seed)
    return SoftLabels(probs, _names("item", n_items), _names("class", n_classes), origin), prior


def _blocks(sizes: NDArray[np.int64]) -> Iterator[slice]:
    """Yield runs of items with about as many annotations as a block has, at least one item each."""
    ends = np.cumsum(sizes)
    start = 0
    while start < len(sizes):
        before = ends[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, before + _BLOCK, side="right")))
        yield slice(start, stop)
        start = stop


def _cumulative(probs: Floats) -> Floats:
    """Return the cumulative probabilities, of which the last is exactly 1, trailing classes without mass included."""
    result = np.cumsum(probs, axis=-1)
    result /= result[..., -1:]
    return result


def _names(what: str, count: int) -> tuple[str, ...]:
    """Return numbered names whose alphabetical order is that of the numbers."""
    width = len(str(count - 1))
    return tuple(f"{what}{number:0{width}}" for number in range(count))


def _check_count(value: int, least: int, *, option: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise OptionError(f"The option {option!r} must be a whole number of at least {least}. Got {value!r} instead.")
    return int(value)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def _check_range(least: float, most: float, **options: float) -> None:
    for option, value in options.items():
        if not (_is_number(value) and math.isfinite(value) and least <= value <= most):
            limits = f"between {least} and {most}" if math.isfinite(most) else f"of at least {least}"
            raise OptionError(f"The option {option!r} must be a number {limits}. Got {value!r} instead.")


def _check_concentrations(**options: float) -> None:
    for option, value in options.items():
        if not (_is_number(value) and value > 0):
            raise OptionError(
                f"The option {option!r} must be a number above 0 (infinity is allowed). Got {value!r} instead."
            )


def _check_memory(needed: int) -> None:
    if needed > _MOST_BYTES:
        raise TooLargeError(
            f"This simulation would need {needed / 2**30:,.0f} GiB, more than {_MOST_BYTES >> 30}. "
            "Take fewer items, annotators or classes, or simulate in parts with a seed each."
        )
