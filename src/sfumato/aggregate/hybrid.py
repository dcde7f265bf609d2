"""Temperature scaling of views, then their Jensen–Shannon centroid."""

from __future__ import annotations

__all__ = ["hybrid"]

from dataclasses import replace

from sfumato.aggregate.centroid import centroid_result
from sfumato.aggregate.centroid_solver import centroids
from sfumato.aggregate.joining import JoinResult, ViewNames, Views, Weights, aligned
from sfumato.aggregate.temperature import Regulariser, temperatures_of
from sfumato.aggregate.temperature_loss import tempered
from sfumato.core.seeds import Seed


def hybrid(
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
    """Return the Jensen–Shannon centroid of the views after each is softened, shape (n_items, n_classes).

    q = argmin_Q Σ_m w_m JSD(p̃_m‖Q) with p̃_m ∝ p_m^(1/T_m) and the temperatures that `temperature` finds, whose options
    these are (Wright and Augenstein 2024, Equation 8). ``n_iter`` and ``trace`` are those of the temperatures'
    loss; ``residuals`` and ``steps`` those of the centroid, as in `centroid`.

    >>> from sfumato.core.soft_labels import SoftLabels
    >>> soft = SoftLabels([[0.6, 0.4], [0.3, 0.7]], items=["a", "b"], classes=["cat", "dog"])
    >>> sharp = SoftLabels([[0.9, 0.1], [0.1, 0.9]], items=["a", "b"], classes=["cat", "dog"])
    >>> hybrid([soft, sharp]).soft_labels["b"].round(3).tolist()
    [0.296, 0.704]
    """
    given = aligned(views, names=names, weights=weights, seed=seed)
    found = temperatures_of(
        given, regularisation=regularisation, regulariser=regulariser, min_temperature=min_temperature,
        as_published=as_published, learning_rate=learning_rate, threads=threads,
    )  # fmt: skip
    # As in the authors' program, the floor under the logarithms is for finding the temperatures only.
    softened = [
        tempered(view, heat, threads=threads) for view, heat in zip(given.probs, found.temperatures, strict=True)
    ]
    made = centroids(softened, given.weights, threads=threads)
    result = centroid_result(
        given, made, "hybrid", found.options, seed,
        trace=found.trace, notes=found.notes, temperatures=found.temperatures,
    )  # fmt: skip
    return replace(result, converged=result.converged and found.converged, n_iter=len(found.trace) - 1)
