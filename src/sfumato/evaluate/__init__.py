"""Predictions against people: each metric is one file and one function.

``*_score``: higher is better. ``*_loss``, ``*_error``, ``*_divergence``: lower is better. `METRICS` is the list of them
all, and `scores` works them out together.
"""

from __future__ import annotations

__all__ = [
    "METRICS",
    "Metric",
    "accuracy_score",
    "accuracy_score_per_item",
    "adaptive_rms_calibration_error",
    "aligned",
    "annotator_accuracies",
    "brier_error",
    "brier_error_per_item",
    "calibrated_log_loss",
    "classwise_calibration_error",
    "compute_metrics",
    "confusion_matrix",
    "entropy_calibration_error",
    "entropy_calibration_error_per_item",
    "entropy_correlation_score",
    "expected_calibration_error",
    "f1_score",
    "fit_temperature",
    "human_distance_error",
    "human_distance_error_per_item",
    "inverse_kl_divergence",
    "inverse_kl_divergence_per_item",
    "jensen_shannon_divergence",
    "jensen_shannon_divergence_per_item",
    "kl_divergence",
    "kl_divergence_per_item",
    "lewidi_cross_entropy_loss",
    "lewidi_cross_entropy_loss_per_item",
    "lewidi_scores",
    "manhattan_error",
    "manhattan_error_per_item",
    "perspectivist_distance_error",
    "perspectivist_distance_error_per_item",
    "perspectivist_error",
    "perspectivist_error_per_item",
    "precision_score",
    "recall_score",
    "reliability",
    "scores",
    "soft_accuracy_score",
    "soft_accuracy_score_per_item",
    "soft_cross_entropy_loss",
    "soft_cross_entropy_loss_per_item",
    "soft_f1_score",
    "soft_scorer",
    "values_wasserstein_error",
    "values_wasserstein_error_per_item",
    "wasserstein_error",
    "wasserstein_error_per_item",
]

from sfumato.evaluate.accuracy import accuracy_score, accuracy_score_per_item
from sfumato.evaluate.adaptive_calibration import adaptive_rms_calibration_error
from sfumato.evaluate.brier import brier_error, brier_error_per_item
from sfumato.evaluate.calibrated_log import calibrated_log_loss
from sfumato.evaluate.classwise_calibration import classwise_calibration_error
from sfumato.evaluate.confusion import confusion_matrix
from sfumato.evaluate.entropy_calibration import entropy_calibration_error, entropy_calibration_error_per_item
from sfumato.evaluate.entropy_correlation import entropy_correlation_score
from sfumato.evaluate.expected_calibration import expected_calibration_error, reliability
from sfumato.evaluate.f1 import f1_score, precision_score, recall_score
from sfumato.evaluate.human_distance import human_distance_error, human_distance_error_per_item
from sfumato.evaluate.jensen_shannon import jensen_shannon_divergence, jensen_shannon_divergence_per_item
from sfumato.evaluate.kl import (
    inverse_kl_divergence,
    inverse_kl_divergence_per_item,
    kl_divergence,
    kl_divergence_per_item,
)
from sfumato.evaluate.lewidi import lewidi_cross_entropy_loss, lewidi_cross_entropy_loss_per_item, lewidi_scores
from sfumato.evaluate.manhattan import manhattan_error, manhattan_error_per_item
from sfumato.evaluate.metrics import METRICS, Metric
from sfumato.evaluate.pairing import aligned
from sfumato.evaluate.perspectives import (
    annotator_accuracies,
    perspectivist_distance_error,
    perspectivist_distance_error_per_item,
    perspectivist_error,
    perspectivist_error_per_item,
)
from sfumato.evaluate.scorers import compute_metrics, soft_scorer
from sfumato.evaluate.scores import scores
from sfumato.evaluate.soft_accuracy import soft_accuracy_score, soft_accuracy_score_per_item
from sfumato.evaluate.soft_cross_entropy import soft_cross_entropy_loss, soft_cross_entropy_loss_per_item
from sfumato.evaluate.soft_f1 import soft_f1_score
from sfumato.evaluate.temperature import fit_temperature
from sfumato.evaluate.values_wasserstein import values_wasserstein_error, values_wasserstein_error_per_item
from sfumato.evaluate.wasserstein import wasserstein_error, wasserstein_error_per_item
