"""Predictions against people: each metric is one file and one function.

``*_score``: higher is better. ``*_loss``, ``*_error``, ``*_divergence``: lower is better. `METRICS` is the list of them
all, `scores` works them out together, and `evaluate` gives each its interval, its baselines and its tests.
"""

from __future__ import annotations

__all__ = [
    "METRICS",
    "Comparison",
    "Interval",
    "Metric",
    "Sums",
    "accuracy_score",
    "accuracy_score_per_item",
    "adaptive_rms_calibration_error",
    "aligned",
    "annotator_accuracies",
    "attacked_logits",
    "best_constant",
    "bootstrap_interval",
    "bootstrap_samples",
    "brier_error",
    "brier_error_per_item",
    "by_correctness",
    "calibrated_log_loss",
    "class_prior",
    "classwise_calibration_error",
    "compute_metrics",
    "confusion_matrix",
    "entropy_calibration_error",
    "entropy_calibration_error_per_item",
    "entropy_correlation_score",
    "evaluate",
    "expected_calibration_error",
    "f1_score",
    "fgsm_accuracy_score",
    "fgsm_loss",
    "fit_temperature",
    "half_panel",
    "held_out_annotator",
    "holm",
    "human_distance_error",
    "human_distance_error_per_item",
    "inverse_kl_divergence",
    "inverse_kl_divergence_per_item",
    "jensen_shannon_divergence",
    "jensen_shannon_divergence_per_item",
    "kl_divergence",
    "kl_divergence_per_item",
    "largest_gaps",
    "lewidi_cross_entropy_loss",
    "lewidi_cross_entropy_loss_per_item",
    "lewidi_scores",
    "manhattan_error",
    "manhattan_error_per_item",
    "mcnemar_test",
    "mean_sums",
    "micro_f1_score",
    "paired_bootstrap_test",
    "paired_permutation_test",
    "perspectivist_distance_error",
    "perspectivist_distance_error_per_item",
    "perspectivist_error",
    "perspectivist_error_per_item",
    "pgd_accuracy_score",
    "pgd_loss",
    "precision_score",
    "recall_score",
    "reliability",
    "resampled_numbers",
    "resampled_rows",
    "scores",
    "smoothed_labels",
    "soft_accuracy_score",
    "soft_accuracy_score_per_item",
    "soft_cross_entropy_loss",
    "soft_cross_entropy_loss_per_item",
    "soft_f1_score",
    "soft_label_kurtosis",
    "soft_scorer",
    "torch_metric",
    "uniform",
    "values_wasserstein_error",
    "values_wasserstein_error_per_item",
    "wasserstein_error",
    "wasserstein_error_per_item",
    "weighted_f1_score",
]

from sfumato.evaluate.accuracy import accuracy_score, accuracy_score_per_item
from sfumato.evaluate.adaptive_calibration import adaptive_rms_calibration_error
from sfumato.evaluate.baselines import (
    best_constant,
    class_prior,
    half_panel,
    held_out_annotator,
    smoothed_labels,
    uniform,
)
from sfumato.evaluate.bootstrap import (
    Interval,
    bootstrap_interval,
    bootstrap_samples,
    resampled_numbers,
    resampled_rows,
)
from sfumato.evaluate.brier import brier_error, brier_error_per_item
from sfumato.evaluate.calibrated_log import calibrated_log_loss
from sfumato.evaluate.classwise_calibration import classwise_calibration_error
from sfumato.evaluate.compare_systems import evaluate
from sfumato.evaluate.confusion import confusion_matrix
from sfumato.evaluate.entropy_calibration import entropy_calibration_error, entropy_calibration_error_per_item
from sfumato.evaluate.entropy_correlation import entropy_correlation_score
from sfumato.evaluate.error_analysis import by_correctness, largest_gaps, soft_label_kurtosis
from sfumato.evaluate.expected_calibration import expected_calibration_error, reliability
from sfumato.evaluate.f1 import f1_score, micro_f1_score, precision_score, recall_score, weighted_f1_score
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
from sfumato.evaluate.robustness import (
    attacked_logits,
    fgsm_accuracy_score,
    fgsm_loss,
    pgd_accuracy_score,
    pgd_loss,
)
from sfumato.evaluate.scorers import compute_metrics, soft_scorer, torch_metric
from sfumato.evaluate.scores import scores
from sfumato.evaluate.significance import Comparison, holm, mcnemar_test, paired_bootstrap_test, paired_permutation_test
from sfumato.evaluate.soft_accuracy import soft_accuracy_score, soft_accuracy_score_per_item
from sfumato.evaluate.soft_cross_entropy import soft_cross_entropy_loss, soft_cross_entropy_loss_per_item
from sfumato.evaluate.soft_f1 import soft_f1_score
from sfumato.evaluate.sums import Sums, mean_sums
from sfumato.evaluate.temperature import fit_temperature
from sfumato.evaluate.values_wasserstein import values_wasserstein_error, values_wasserstein_error_per_item
from sfumato.evaluate.wasserstein import wasserstein_error, wasserstein_error_per_item
