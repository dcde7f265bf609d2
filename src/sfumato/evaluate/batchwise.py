"""Any metric of this room batch by batch, as a `torchmetrics.Metric`; made by `sfumato.evaluate.torch_metric`."""

from __future__ import annotations

__all__ = ["TorchMetric"]

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torchmetrics import Metric

from sfumato.errors import InputError, OptionError
from sfumato.evaluate.metrics import metric

# What stands where there is no label, as in `torch.nn.functional.cross_entropy`.
_IGNORED = -100


class TorchMetric(Metric):
    """The metric *name* over everything that `update` was given; see `sfumato.evaluate.torch_metric`."""

    is_differentiable = False
    full_state_update = False
    # What add_state makes: a mean needs the first two, any other metric the rest.
    total: Tensor
    n_items: Tensor
    preds: list[Tensor]
    target: list[Tensor]

    def __init__(self, name: str, *, logits: bool = True, **options: Any) -> None:
        super().__init__()
        # The name alone: what is pickled must not hold functions.
        self.name, self._logits, self._options = name, logits, options
        needs = metric(name).needs
        if needs == "annotations":
            raise OptionError(f"The metric '{name}' needs annotations, which a training loop does not have.")
        if needs == "logits" and not logits:
            raise OptionError(f"The metric '{name}' needs logits. Leave logits=True and give them.")
        if metric(name).per_item is not None:
            self.add_state("total", torch.zeros((), dtype=torch.float64), dist_reduce_fx="sum")
            self.add_state("n_items", torch.zeros((), dtype=torch.int64), dist_reduce_fx="sum")
        else:
            self.add_state("preds", [], dist_reduce_fx="cat")
            self.add_state("target", [], dist_reduce_fx="cat")

    @property
    def higher_is_better(self) -> bool:  # type: ignore[override]  # a plain attribute there, the same for all instances
        return metric(self.name).higher_is_better

    def update(self, preds: Tensor, target: Tensor) -> None:
        """Take in a batch."""
        preds, target = self._rows(preds, target)
        if not len(preds):
            return
        per_item = metric(self.name).per_item
        if per_item is not None:
            values = per_item(*self._arrays(preds, target), **self._options)
            self.total += float(values.sum())
            self.n_items += len(values)
        else:
            self.preds.append(preds)
            self.target.append(target)

    def compute(self) -> Tensor:
        """Return the value over all batches, shape (), float64."""
        if metric(self.name).per_item is not None:
            if not self.n_items:
                raise InputError("There is nothing to compute: no batch had an item with a label.")
            return self.total / self.n_items
        preds, target = _joined(self.preds), _joined(self.target)
        if preds is None or target is None:
            raise InputError("There is nothing to compute: no batch had an item with a label.")
        return torch.tensor(metric(self.name)(*self._arrays(preds, target), **self._options), dtype=torch.float64)

    def _rows(self, preds: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
        """Return what counts, one row for each item."""
        soft = target.is_floating_point()
        if preds.ndim < 2 or target.shape != (preds.shape if soft else preds.shape[:-1]):
            raise InputError(
                "'target' must be soft labels of the shape of 'preds', or class numbers of theirs without the classes. "
                f"Got {tuple(preds.shape)} and {target.dtype} of shape {tuple(target.shape)}."
            )
        one = metric(self.name)
        if soft != (one.needs == "people") and not (soft and one.also_people):
            kind = "soft labels" if one.needs == "people" else "class numbers"
            raise InputError(f"The metric '{self.name}' needs {kind} as 'target'. Got {target.dtype}.")
        preds = preds.detach().flatten(end_dim=-2)
        target = target.detach().flatten(end_dim=-2) if soft else target.detach().flatten()
        kept = (target != _IGNORED).any(dim=-1) if soft else target != _IGNORED
        return preds[kept], target[kept]

    def _arrays(self, preds: Tensor, target: Tensor) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        # Summed in double precision: the probabilities of half precision sum to one only roughly.
        rows = preds.cpu().double()
        if metric(self.name).needs != "logits" and self._logits:
            rows = rows.softmax(dim=-1)
        labels = target.cpu()
        return rows.numpy(), labels.double().numpy() if labels.is_floating_point() else labels.numpy()


def _joined(state: Any) -> Tensor | None:
    """Return a list of batches as one; where processes were joined it is one already."""
    if isinstance(state, Tensor):
        return state
    return torch.cat(state) if state else None
