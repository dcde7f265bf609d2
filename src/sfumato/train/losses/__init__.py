"""Losses: functions of logits and of what people said, in nats unless a base is given.

All take the same options. *reduction* is ``mean``, ``sum`` or ``none``; *base* is the base of the logarithm; *weight*,
shape (n_classes,), weighs the classes and *item_weight*, shape (…), the items; where it is 0, or *mask*, shape (…), is
false, an item counts for nothing, whatever its logits and labels are. An item whose label is *ignore_index* is left out
too: of soft labels, a row that is filled with it (as a collator pads) or that puts all mass on the class of that
number. The mean is Σ item_weight·loss / Σ item_weight over the items that count, and 0 where none does; weights of
classes do not enter its denominator, so that a one-hot soft label and its class give the same loss. float16 and
bfloat16 are computed and returned in float32.
"""

from __future__ import annotations

__all__ = [
    "LOSSES",
    "crowd_layer_loss",
    "gold_plus_soft_loss",
    "hard_cross_entropy_loss",
    "jensen_shannon_loss",
    "kl_loss",
    "label_smoothing_loss",
    "soft_cross_entropy_loss",
]

from collections.abc import Callable, Mapping

from torch import Tensor

from sfumato.train.losses.cross_entropy import hard_cross_entropy_loss, label_smoothing_loss, soft_cross_entropy_loss
from sfumato.train.losses.crowd_layer import crowd_layer_loss
from sfumato.train.losses.gold_plus_soft import gold_plus_soft_loss
from sfumato.train.losses.jensen_shannon import jensen_shannon_loss
from sfumato.train.losses.kl import kl_loss

LOSSES: Mapping[str, Callable[..., Tensor]] = {
    "hard_cross_entropy": hard_cross_entropy_loss,
    "soft_cross_entropy": soft_cross_entropy_loss,
    "label_smoothing": label_smoothing_loss,
    "kl": kl_loss,
    "jensen_shannon": jensen_shannon_loss,
    "gold_plus_soft": gold_plus_soft_loss,
    "crowd_layer": crowd_layer_loss,
}
