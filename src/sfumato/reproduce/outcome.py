"""What a run gives: numbers with their names, and predictions where somebody asked to keep them."""

from __future__ import annotations

__all__ = ["Measured", "Outcome"]

from collections.abc import Mapping
from dataclasses import dataclass, field

from sfumato.core.predictions import Predictions


@dataclass(frozen=True, slots=True)
class Measured:
    """One number. ``on`` says on which data, ``row`` which row of the table it is where a run fills several.

    ``low`` and ``high`` are the bounds of a 95 % interval over items, where the run has one.
    """

    metric: str
    value: float
    on: str = ""
    row: str = ""
    low: float | None = None
    high: float | None = None
    n: int | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """The numbers of a run; ``made_with`` says what one must know (which encoder), ``predictions`` are by ``on``."""

    numbers: tuple[Measured, ...]
    made_with: str = ""
    predictions: Mapping[str, Predictions] = field(default_factory=dict)
