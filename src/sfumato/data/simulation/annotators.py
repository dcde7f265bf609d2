"""The annotators of a simulation: who is able, who spams, who copies whom."""

from __future__ import annotations

__all__ = ["Annotators", "Spam", "draw_annotators"]

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.data.simulation.distributions import draw_beta, draw_dirichlet
from sfumato.errors import OptionError

Spam = Literal["uniform", "constant", "random", "mixed"]


@dataclass(frozen=True, eq=False)
class Annotators:
    """Confusion matrices (n_annotators, n_classes, n_classes), a mask of spammers, and the code of who is copied."""

    confusion: NDArray[np.float64]
    spammers: NDArray[np.bool_]
    copied: NDArray[np.int32]


def draw_annotators(
    seeds: tuple[np.random.Generator, np.random.Generator],
    n_annotators: int,
    n_classes: int,
    *,
    ability: float,
    ability_concentration: float,
    confusion_concentration: float,
    spammers: float,
    spam: Spam,
    copiers: float,
) -> Annotators:
    """Draw the confusion matrices from the first generator and the roles from the second.

    So the roles do not touch the abilities: with the same seed, an annotator who neither spams nor copies stays
    the same person whatever the shares of spammers and copiers are.
    """
    for_abilities, for_roles = seeds
    right = draw_beta(for_abilities, ability, ability_concentration, n_annotators)
    mean = np.empty((n_annotators, n_classes, n_classes))
    mean[:] = ((1 - right) / (n_classes - 1))[:, None, None]
    mean[:, np.arange(n_classes), np.arange(n_classes)] = right[:, None]
    confusion = draw_dirichlet(for_abilities, mean, confusion_concentration)

    n_spammers, n_copiers = round(spammers * n_annotators), round(copiers * n_annotators)
    n_others = n_annotators - n_spammers - n_copiers
    if n_others < (n_copiers > 0):
        raise OptionError(
            f"The options 'spammers' = {spammers:g} and 'copiers' = {copiers:g} leave {max(n_others, 0)} of "
            f"{n_annotators} annotators to copy from. Lower one of them."
        )
    roles = for_roles.permutation(n_annotators)
    is_spammer = np.zeros(n_annotators, dtype=np.bool_)
    is_spammer[roles[:n_spammers]] = True
    confusion[is_spammer] = _strategies(for_roles, n_spammers, n_classes, spam)[:, None, :]
    copied = np.full(n_annotators, -1, dtype=np.int32)
    if n_copiers:
        sources = roles[n_spammers + n_copiers :]
        copied[roles[n_spammers : n_spammers + n_copiers]] = for_roles.choice(sources, n_copiers)
    return Annotators(confusion, is_spammer, copied)


def _strategies(rng: np.random.Generator, count: int, n_classes: int, spam: Spam) -> NDArray[np.float64]:
    """Return what each spammer answers, whatever is asked, shape (count, n_classes)."""
    uniform = np.full((count, n_classes), 1 / n_classes)
    constant = np.eye(n_classes)[rng.integers(n_classes, size=count)]
    random = draw_dirichlet(rng, uniform, n_classes)
    kinds = np.stack([uniform, constant, random])
    which = rng.integers(3, size=count) if spam == "mixed" else ("uniform", "constant", "random").index(spam)
    return np.asarray(kinds[which, np.arange(count)])
