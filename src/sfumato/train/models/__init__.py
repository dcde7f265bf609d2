"""The models by name."""

from __future__ import annotations

__all__ = ["MODELS", "Architecture", "Collate"]

from collections.abc import Mapping

from sfumato.train.models import encoder, mlp, pos_tagger, resnet, stemming_cnn, vgg
from sfumato.train.models.architecture import Architecture, Collate

MODELS: Mapping[str, Architecture] = {
    "encoder": encoder.ARCHITECTURE,
    "mlp": mlp.ARCHITECTURE,
    "pos_tagger": pos_tagger.ARCHITECTURE,
    "stemming_cnn": stemming_cnn.ARCHITECTURE,
    **resnet.ARCHITECTURES,
    "vgg11": vgg.ARCHITECTURE,
}
