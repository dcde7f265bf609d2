"""Training: soft labels, gold, or what each annotator said, become a model and its predictions.

Names are loaded when they are first used; most need the extra ``train`` (PyTorch).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sfumato.errors import MissingExtraError

if TYPE_CHECKING:
    from sfumato.train import losses
    from sfumato.train.config import Config, config_from, read_config, shipped_configs
    from sfumato.train.hugging_face import SoftLabelCollator, trainer_loss
    from sfumato.train.items_file import ItemsFile, read_items
    from sfumato.train.learner import needs_of
    from sfumato.train.loop import Run, fit
    from sfumato.train.models import MODELS
    from sfumato.train.objectives import OBJECTIVES
    from sfumato.train.predict import Predictor
    from sfumato.train.public_sets import examples_of
    from sfumato.train.soft_label_classifier import SoftLabelClassifier
    from sfumato.train.splits import draw_splits
    from sfumato.train.training_data import TrainingData, join

__all__ = [
    "MODELS",
    "OBJECTIVES",
    "Config",
    "ItemsFile",
    "Predictor",
    "Run",
    "SoftLabelClassifier",
    "SoftLabelCollator",
    "TrainingData",
    "config_from",
    "draw_splits",
    "examples_of",
    "fit",
    "join",
    "losses",
    "needs_of",
    "read_config",
    "read_items",
    "shipped_configs",
    "trainer_loss",
]

_HOMES = {
    "MODELS": "models",
    "OBJECTIVES": "objectives",
    "Config": "config",
    "ItemsFile": "items_file",
    "Predictor": "predict",
    "Run": "loop",
    "SoftLabelClassifier": "soft_label_classifier",
    "SoftLabelCollator": "hugging_face",
    "TrainingData": "training_data",
    "config_from": "config",
    "draw_splits": "splits",
    "examples_of": "public_sets",
    "fit": "loop",
    "join": "training_data",
    "needs_of": "learner",
    "read_config": "config",
    "read_items": "items_file",
    "shipped_configs": "config",
    "trainer_loss": "hugging_face",
}


def __getattr__(name: str) -> Any:
    try:
        if name == "losses":
            value: Any = import_module("sfumato.train.losses")
        elif name in _HOMES:
            value = getattr(import_module(f"sfumato.train.{_HOMES[name]}"), name)
        else:
            raise AttributeError(f"module 'sfumato.train' has no attribute {name!r}")
    except ImportError as error:
        if error.name in ("torch", "accelerate", "safetensors"):
            raise MissingExtraError("Training", "train") from None
        if error.name == "sklearn":
            raise MissingExtraError("SoftLabelClassifier", "sklearn") from None
        raise
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
