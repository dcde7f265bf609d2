"""What a person earns on top by agreeing with the panel, as the study declares it in ``[bonus]``."""

from __future__ import annotations

__all__ = ["Bonus", "Earned", "bonus_of", "bonuses"]

from dataclasses import dataclass

from sfumato.collect.declared import declared
from sfumato.collect.redistribution import redistribution_of
from sfumato.collect.store import Store
from sfumato.collect.study import Study
from sfumato.errors import OptionError


@dataclass(frozen=True, slots=True, kw_only=True)
class Bonus:
    """The bonus: nothing up to the agreement *from_agreement*, all of *amount* from *full_at* on, a line between.

    In the study of Collins et al. (2022), one person in twenty agrees by less than 0.86, and half of them by more than
    0.93. Items count where *least_others* other people judged them whose answers are used.
    """

    amount: float = 0.0
    currency: str = "USD"
    from_agreement: float = 0.8
    full_at: float = 0.95
    least_others: int = 2

    def __post_init__(self) -> None:
        if self.amount < 0:
            raise OptionError(f"bonus.amount must be 0 or more. Got {self.amount} instead.")
        if not 0 <= self.from_agreement < self.full_at <= 1:
            raise OptionError(
                "bonus.from_agreement must be less than bonus.full_at, both from 0 to 1. "
                f"Got {self.from_agreement} and {self.full_at} instead."
            )
        if self.least_others < 1:
            raise OptionError(f"bonus.least_others must be 1 or more. Got {self.least_others} instead.")
        if not (self.currency.isascii() and self.currency.isalpha() and len(self.currency) == 3):
            raise OptionError(f"bonus.currency is a code of three letters, such as USD. Got {self.currency!r} instead.")

    def earned(self, agreement: float) -> float:
        """Return what this agreement earns, to the cent.

        >>> Bonus(amount=0.40).earned(0.875)
        0.2
        """
        share = (agreement - self.from_agreement) / (self.full_at - self.from_agreement)
        return round(self.amount * min(max(share, 0.0), 1.0), 2)


@dataclass(frozen=True, slots=True)
class Earned:
    """How far a person agrees with the panel, over how many items, and the bonus for it."""

    agreement: float
    n_items: int
    amount: float


def bonus_of(study: Study) -> Bonus:
    """Return the bonus that the study declares."""
    return declared(Bonus(), study.bonus, table="bonus")


def bonuses(study: Study, store: Store) -> dict[str, Earned]:
    """Return what everybody has earned so far whose answers can be compared with those of others.

    Who is left out of the labels does not count for the others, and is compared with them all the same.
    """
    import numpy as np

    from sfumato.collect.labels import labels_of

    rule, left_out = bonus_of(study), store.left_out()
    rows = (row for row in store.responses() if row.kind == "main")
    labels = labels_of(rows, study.class_names, redistribution_of(study))
    of_counted = np.array([name not in left_out for name in labels.people], dtype=bool)
    agreement, n_items = labels.agreement_of_people(of_counted[labels.person], least_others=rule.least_others)
    return {
        person: Earned(float(value), int(n), rule.earned(float(value)))
        for person, value, n in zip(labels.people, agreement, n_items, strict=True)
        if n
    }
