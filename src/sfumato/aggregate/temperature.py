"""Temperature scaling of views."""

from __future__ import annotations

__all__ = ["Regulariser", "Tempering", "temperature", "temperatures_of"]

import warnings
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from sfumato.aggregate.joining import Aligned, JoinResult, ViewNames, Views, Weights, aligned, join_result
from sfumato.aggregate.published_schedule import follow_schedule
from sfumato.aggregate.temperature_fit import least
from sfumato.aggregate.temperature_loss import TemperatureLoss, tempered_mean
from sfumato.core.order_free import name_keys
from sfumato.core.seeds import Seed
from sfumato.errors import ConvergenceWarning, InputError, OptionError, check_choice

Regulariser = Literal["sum", "paper"]

# Where the authors cut the logarithm of a probability of 0.
_PUBLISHED_FLOOR = -15.0
_PUBLISHED_RATE = 1e-2


def temperature(
    views: Views,
    *,
    names: ViewNames | None = None,
    weights: Weights | None = None,
    regularisation: float = 1e-3,
    regulariser: Regulariser = "sum",
    min_temperature: float = 1.0,
    as_published: bool = False,
    learning_rate: float | None = None,
    threads: int | None = None,
    seed: Seed = 0,
) -> JoinResult:
    """Return the mean of the views after each is softened by a temperature of its own, shape (n_items, n_classes).

    q = Σ_m w_m p̃_m with p̃_m ∝ p_m^(1/T_m), where T minimises 1/Z Σ_{a<b} mean_i JSD(p̃_ia‖p̃_ib) + λ Σ_m r_m T_m²
    over T ≥ *min_temperature*; Z is the number of pairs, λ is *regularisation*, and r_m = 1 for the *regulariser*
    ``sum`` (the authors' code) or the number of views after m over Z for ``paper`` (their equation 6 as printed; Wright
    and Augenstein 2024). Below T = 1 the loss rewards views that become one-hot, which is why they only soften. The
    lowest of the minima found from several starts is taken; ``trace`` is the loss on the way. A class of probability
    0 keeps it. *weights* enter the mean, not the loss.

    *as_published* repeats the authors' schedule instead: 1,000 steps of limited-memory BFGS in single precision,
    *learning_rate* 0.01 (0.001 for their part-of-speech task) and no line search, on log-probabilities of at least −15,
    which ends far from a minimum. Their table needs it.

    >>> from sfumato.core.soft_labels import SoftLabels
    >>> soft = SoftLabels([[0.6, 0.4], [0.3, 0.7]], items=["a", "b"], classes=["cat", "dog"])
    >>> sharp = SoftLabels([[0.9, 0.1], [0.1, 0.9]], items=["a", "b"], classes=["cat", "dog"])
    >>> temperature([soft, sharp]).temperatures.round(2).tolist()
    [1.0, 2.48]
    """
    given = aligned(views, names=names, weights=weights, seed=seed)
    found = temperatures_of(
        given, regularisation=regularisation, regulariser=regulariser, min_temperature=min_temperature,
        as_published=as_published, learning_rate=learning_rate, threads=threads,
    )  # fmt: skip
    floor = _PUBLISHED_FLOOR if as_published else None
    probs = tempered_mean(given.probs, found.temperatures, given.weights, floor=floor, threads=threads)
    return join_result(
        given, probs, "temperature", found.options, seed,
        converged=found.converged, n_iter=len(found.trace) - 1, trace=found.trace, notes=found.notes,
        temperatures=found.temperatures,
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Tempering:
    """The temperatures of views, shape (n_views,), and how they were found."""

    temperatures: NDArray[np.float64]
    converged: bool
    trace: tuple[float, ...]
    notes: tuple[str, ...]
    options: dict[str, Any]


def temperatures_of(
    given: Aligned,
    *,
    regularisation: float,
    regulariser: Regulariser,
    min_temperature: float,
    as_published: bool,
    learning_rate: float | None,
    threads: int | None,
) -> Tempering:
    """Return the temperatures that `temperature` (and with it `hybrid`) gives the views."""
    check_choice(regulariser, get_args(Regulariser), option="regulariser")
    for option, value in (("regularisation", regularisation), ("min_temperature", min_temperature)):
        if not 0 < value < np.inf:
            raise OptionError(f"The option '{option}' must be above 0. Got {value} instead.")
    n_views = len(given.probs)
    if n_views < 2:
        raise InputError("Temperatures bring views closer to each other: give at least two. Got one.")
    after = np.ones(n_views) if regulariser == "sum" else np.arange(n_views)[::-1] / (n_views * (n_views - 1) / 2)
    options: dict[str, Any] = {"regularisation": regularisation, "regulariser": regulariser}
    if as_published:
        if min_temperature != 1.0:
            raise OptionError(
                "The published schedule has no bound: 'min_temperature' and 'as_published' exclude each other."
            )
        rate = _PUBLISHED_RATE if learning_rate is None else learning_rate
        divergence = TemperatureLoss(given.probs, np.zeros(n_views), floor=_PUBLISHED_FLOOR, threads=threads)
        published = follow_schedule(divergence.at, regularisation * after, learning_rate=rate)
        if not (np.isfinite(published.trace[-1]) and published.temperatures.min() > 0):
            raise OptionError(
                f"With the option 'learning_rate' at {rate} the published schedule leaves the temperatures above 0. "
                "Give a lower one."
            )
        note = (
            f"As published: {len(published.trace) - 1} steps, at whose end the slope of the loss is still "
            f"{np.abs(published.slope).max():.1e}."
        )
        options |= {"as_published": True, "learning_rate": rate}
        return Tempering(published.temperatures, published.converged, published.trace, (note,), options)
    if learning_rate is not None:
        raise OptionError("The option 'learning_rate' belongs to the published schedule; give 'as_published' with it.")
    loss = TemperatureLoss(given.probs, regularisation * after, threads=threads)
    found = least(loss, name_keys(given.items), coldest=min_temperature)
    if not found.converged:
        warnings.warn("The temperatures are not at a minimum of their loss.", ConvergenceWarning, stacklevel=3)
    options["min_temperature"] = min_temperature
    return Tempering(found.temperatures, found.converged, found.trace, (), options)
