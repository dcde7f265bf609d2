"""An optimiser for models of which some tables are trained row by row, and clipping that knows of them.

The gradient of a table of annotators (`sfumato.train.crowd_layers`) holds the rows of the batch alone. PyTorch has the
kernels, one optimiser for each kind of gradient; here the two are one for the loop.
"""

from __future__ import annotations

__all__ = ["RowOptimizer", "clip_gradients", "row_parameters"]

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor, nn, optim


def row_parameters(model: nn.Module) -> list[Tensor]:
    """Return the tables of which a step changes only some rows: the embeddings that were made with ``sparse=True``."""
    tables = [part for part in model.modules() if isinstance(part, nn.Embedding) and part.sparse]
    return [table.weight for table in tables if table.weight.requires_grad]


class RowOptimizer(optim.Optimizer):
    """Two optimisers that step together: *dense* for whole parameters, *rows* for tables with sparse gradients."""

    def __init__(self, dense: optim.Optimizer, rows: optim.Optimizer) -> None:
        self.dense, self.rows = dense, rows
        super().__init__([*dense.param_groups, *rows.param_groups], {})
        self.param_groups = [*dense.param_groups, *rows.param_groups]

    def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override]
        self.dense.step(closure)
        self.rows.step()

    def state_dict(self) -> dict[str, Any]:
        return {"dense": self.dense.state_dict(), "rows": self.rows.state_dict()}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self.dense.load_state_dict(state_dict["dense"])
        self.rows.load_state_dict(state_dict["rows"])
        self.param_groups = [*self.dense.param_groups, *self.rows.param_groups]


def clip_gradients(parameters: Iterable[Tensor], limit: float) -> Tensor:
    """Scale all gradients so that their norm together is *limit* at most, and return what it was.

    As `torch.nn.utils.clip_grad_norm_`, which does not take sparse gradients.

    >>> weight = nn.Parameter(torch.zeros(2))
    >>> weight.grad = torch.tensor([3.0, 4.0])
    >>> float(clip_gradients([weight], 1.0)), round(float(weight.grad.norm()), 4)
    (5.0, 1.0)
    """
    gradients = []
    for parameter in parameters:
        if parameter.grad is None:
            continue
        if parameter.grad.is_sparse:
            # Rows that are there twice are one row of the gradient.
            parameter.grad = parameter.grad.coalesce()
            gradients.append(parameter.grad._values())
        else:
            gradients.append(parameter.grad)
    total = nn.utils.get_total_norm(gradients)
    if gradients:
        torch._foreach_mul_(gradients, torch.clamp(limit / (total + 1e-6), max=1.0))
    return total
