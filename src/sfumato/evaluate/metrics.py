"""The registry of metrics: which there are, what each needs, which way is better, and where it comes from."""

from __future__ import annotations

__all__ = ["METRICS", "Metric", "metric"]

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import check_choice
from sfumato.evaluate import (
    accuracy,
    adaptive_calibration,
    brier,
    calibrated_log,
    classwise_calibration,
    confidence,
    confusion,
    entropy_calibration,
    entropy_correlation,
    expected_calibration,
    f1,
    human_distance,
    jensen_shannon,
    kl,
    lewidi,
    manhattan,
    perspectives,
    soft_accuracy,
    soft_cross_entropy,
    soft_f1,
    values_wasserstein,
    wasserstein,
)
from sfumato.evaluate.blocks import Part

_Whole = Callable[[Sequence[NDArray[np.float64]], int], float]


@dataclass(frozen=True)
class Metric:
    """A metric by name.

    ``needs`` says what the function takes after the predictions: "people" (soft labels), "gold" (a class for each
    item), "logits" (logits in the place of the predictions, then gold), or "annotations" (a class from each annotator,
    and such a table in the place of the predictions). ``per_item`` gives the number of each item, of which the metric
    is the mean; None where it is no mean over items. ``also_people``: the labels may be people's distributions too.
    ``low`` and ``high`` bound the value; None is without bound or set by the number of classes.

    >>> METRICS["manhattan_error"].needs, METRICS["manhattan_error"].higher_is_better
    ('people', False)
    >>> METRICS["manhattan_error"]([[1.0, 0.0]], [[0.5, 0.5]])
    1.0
    """

    name: str
    function: Callable[..., float]
    needs: Literal["people", "gold", "logits", "annotations"]
    source: str
    higher_is_better: bool = False
    per_item: Callable[..., NDArray[np.float64]] | None = None
    also_people: bool = False
    low: float | None = 0.0
    high: float | None = None
    # How the whole room is worked out in one pass over the items (`scores`): what one block of them says, and how the
    # number comes out of that and the number of items. Where there is no second, the number is the mean of the first.
    part: Part | None = None
    whole: _Whole | None = None

    @property
    def summary(self) -> str:
        """The first sentence of the function's documentation."""
        return " ".join((inspect.getdoc(self.function) or "").partition("\n\n")[0].split())

    def __call__(self, predicted: Any, labels: Any, **options: Any) -> float:
        return self.function(predicted, labels, **options)


def metric(name: str) -> Metric:
    """Return the metric of that name; an unknown one is refused with a list of the known.

    >>> metric("brier_error").source
    'Brier 1950, equation 2'
    """
    return METRICS[check_choice(name, METRICS, option="metric")]


def _columns(number: Callable[[NDArray[np.float64]], float]) -> _Whole:
    return lambda parts, n_items: number(np.concatenate(parts, axis=-1))


def _confusion(number: Callable[[NDArray[np.float64]], Any]) -> _Whole:
    return lambda parts, n_items: float(number(confusion.total_confusion(parts)))


def _soft_f1(parts: Sequence[NDArray[np.float64]], n_items: int) -> float:
    return float(soft_f1.soft_f1(np.sum(parts, axis=0)))


def _classwise(parts: Sequence[NDArray[np.float64]], n_items: int) -> float:
    return classwise_calibration.classwise_calibration(np.sum(parts, axis=0), n_items)


_ALL = (
    Metric(
        "accuracy_score", accuracy.accuracy_score, "gold", "the share of right items", True,
        accuracy.accuracy_score_per_item, high=1, part=accuracy.accuracy_part,
    ),
    Metric(
        "f1_score", f1.f1_score, "gold", "van Rijsbergen 1979, chapter 7; Wright et al. 2024, appendix C", True,
        high=1, part=confusion.confusion_part, whole=_confusion(f1.f1),
    ),
    Metric(
        "micro_f1_score", f1.micro_f1_score, "gold", "van Rijsbergen 1979, chapter 7", True,
        high=1, part=confusion.confusion_part, whole=_confusion(partial(f1.f1, average="micro")),
    ),
    Metric(
        "weighted_f1_score", f1.weighted_f1_score, "gold", "van Rijsbergen 1979, chapter 7", True,
        high=1, part=confusion.confusion_part, whole=_confusion(partial(f1.f1, average="weighted")),
    ),
    Metric(
        "precision_score", f1.precision_score, "gold", "van Rijsbergen 1979, chapter 7", True,
        high=1, part=confusion.confusion_part, whole=_confusion(f1.precision),
    ),
    Metric(
        "recall_score", f1.recall_score, "gold", "van Rijsbergen 1979, chapter 7", True,
        high=1, part=confusion.confusion_part, whole=_confusion(f1.recall),
    ),
    Metric(
        "soft_cross_entropy_loss", soft_cross_entropy.soft_cross_entropy_loss, "people",
        "Uma et al. 2020, equation 1", per_item=soft_cross_entropy.soft_cross_entropy_loss_per_item,
        part=soft_cross_entropy.soft_cross_entropy_part,
    ),
    Metric(
        "kl_divergence", kl.kl_divergence, "people", "Kullback and Leibler 1951; Fornaciari et al. 2021, section 2",
        per_item=kl.kl_divergence_per_item, part=kl.kl_part,
    ),
    Metric(
        "inverse_kl_divergence", kl.inverse_kl_divergence, "people",
        "Kullback and Leibler 1951; Fornaciari et al. 2021, section 2", per_item=kl.inverse_kl_divergence_per_item,
        part=kl.inverse_kl_part,
    ),
    Metric(
        "jensen_shannon_divergence", jensen_shannon.jensen_shannon_divergence, "people",
        "Lin 1991, equation 4.1; Uma et al. 2021, section 5",
        per_item=jensen_shannon.jensen_shannon_divergence_per_item, high=math.log(2),
        part=jensen_shannon.jensen_shannon_part,
    ),
    Metric(
        "manhattan_error", manhattan.manhattan_error, "people", "Leonardelli et al. 2025 (LeWiDi 2025)",
        per_item=manhattan.manhattan_error_per_item, high=2, part=manhattan.manhattan_part,
    ),
    Metric(
        "wasserstein_error", wasserstein.wasserstein_error, "people",
        "Vallender 1974; Leonardelli et al. 2025 (LeWiDi 2025)", per_item=wasserstein.wasserstein_error_per_item,
        part=wasserstein.wasserstein_part,
    ),
    Metric(
        "values_wasserstein_error", values_wasserstein.values_wasserstein_error, "people",
        "Collins et al. 2022, section 4, as the released program computes it",
        per_item=values_wasserstein.values_wasserstein_error_per_item, high=1,
        part=values_wasserstein.values_wasserstein_part,
    ),
    Metric(
        "entropy_correlation_score", entropy_correlation.entropy_correlation_score, "people",
        "Uma et al. 2020, section 4", True, low=-1, high=1, part=entropy_correlation.entropies,
        whole=_columns(entropy_correlation.entropy_correlation),
    ),
    Metric(
        "soft_accuracy_score", soft_accuracy.soft_accuracy_score, "people", "Kurniawan et al. 2025", True,
        soft_accuracy.soft_accuracy_score_per_item, high=1, part=soft_accuracy.soft_accuracy_part,
    ),
    Metric(
        "soft_f1_score", soft_f1.soft_f1_score, "people", "Kurniawan et al. 2025", True, high=1,
        part=soft_f1.class_masses, whole=_soft_f1,
    ),
    Metric(
        "brier_error", brier.brier_error, "people", "Brier 1950, equation 2",
        per_item=brier.brier_error_per_item, high=2, part=brier.brier_part,
    ),
    Metric(
        "human_distance_error", human_distance.human_distance_error, "people", "DistCE, Baan et al. 2022, section 4",
        per_item=human_distance.human_distance_error_per_item, high=1, part=human_distance.human_distance_part,
    ),
    Metric(
        "entropy_calibration_error", entropy_calibration.entropy_calibration_error, "people",
        "EntCE, Baan et al. 2022, section 4", per_item=entropy_calibration.entropy_calibration_error_per_item,
        part=entropy_calibration.entropy_calibration_part,
    ),
    Metric(
        "lewidi_cross_entropy_loss", lewidi.lewidi_cross_entropy_loss, "people",
        "the starting kits of LeWiDi 2021 (Uma et al. 2021) and 2023 (Leonardelli et al. 2023)", low=-1e-8,
        per_item=lewidi.lewidi_cross_entropy_loss_per_item, part=lewidi.lewidi_cross_entropy_part,
    ),
    Metric(
        "expected_calibration_error", expected_calibration.expected_calibration_error, "gold",
        "Guo et al. 2017, equation 3", also_people=True, high=1, part=confidence.outcomes,
        whole=_columns(expected_calibration.expected_calibration),
    ),
    Metric(
        "adaptive_rms_calibration_error", adaptive_calibration.adaptive_rms_calibration_error, "gold",
        "Hendrycks et al. 2019, section 4, and 2022", also_people=True, high=1, part=confidence.outcomes,
        whole=_columns(adaptive_calibration.adaptive_rms_calibration),
    ),
    Metric(
        "classwise_calibration_error", classwise_calibration.classwise_calibration_error, "gold",
        "Kull et al. 2019, equation 5", also_people=True, high=1, part=classwise_calibration.classwise_bins,
        whole=_classwise,
    ),
    Metric(
        "calibrated_log_loss", calibrated_log.calibrated_log_loss, "logits",
        "Ashukha et al. 2020, section 4; Wright et al. 2024, appendix C", also_people=True,
    ),
    Metric(
        "perspectivist_error", perspectives.perspectivist_error, "annotations",
        "Leonardelli et al. 2025 (LeWiDi 2025, task B)", per_item=perspectives.perspectivist_error_per_item, high=1,
    ),
    Metric(
        "perspectivist_distance_error", perspectives.perspectivist_distance_error, "annotations",
        "Leonardelli et al. 2025 (LeWiDi 2025, task B)",
        per_item=perspectives.perspectivist_distance_error_per_item, high=1,
    ),
)  # fmt: skip

METRICS: Mapping[str, Metric] = {one.name: one for one in _ALL}
