"""Predictions against people: each metric is one file and one function.

``*_score``: higher is better. ``*_loss``, ``*_error``, ``*_divergence``: lower is better.
"""

from __future__ import annotations

__all__ = [
    "accuracy_score",
    "entropy_correlation_score",
    "expected_calibration_error",
    "jensen_shannon_divergence",
    "soft_cross_entropy_loss",
]

from sfumato.evaluate.accuracy import accuracy_score
from sfumato.evaluate.entropy_correlation import entropy_correlation_score
from sfumato.evaluate.expected_calibration import expected_calibration_error
from sfumato.evaluate.jensen_shannon import jensen_shannon_divergence
from sfumato.evaluate.soft_cross_entropy import soft_cross_entropy_loss
