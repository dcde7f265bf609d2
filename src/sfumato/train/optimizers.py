"""Optimisers by name, as PyTorch has them."""

from __future__ import annotations

__all__ = ["build_optimizer"]

from torch import nn, optim

from sfumato.train.config import OptimizerConfig
from sfumato.train.row_optimizer import RowAdam, RowOptimizer, row_parameters


def build_optimizer(config: OptimizerConfig, model: nn.Module) -> optim.Optimizer:
    """Return the optimiser of all parameters that are trained.

    Tables of annotators are trained row by row, with the first and second moments of each row in the steps that it took
    part in, and without momentum or weight decay, which would move all of them in every step.
    """
    tables = row_parameters(model)
    others = {id(table) for table in tables}
    # All parameters in one call of a compiled kernel; the numbers are those of the plain loop over them to a rounding.
    parameters = [each for each in model.parameters() if each.requires_grad and id(each) not in others]
    first, second = config.betas
    dense: optim.Optimizer
    rows: optim.Optimizer
    if config.name == "sgd":
        dense = optim.SGD(
            parameters, lr=config.learning_rate, momentum=config.momentum, nesterov=config.nesterov,
            weight_decay=config.weight_decay, fused=True,
        )  # fmt: skip
    else:
        kind = optim.Adam if config.name == "adam" else optim.AdamW
        dense = kind(
            parameters, lr=config.learning_rate, betas=(first, second), weight_decay=config.weight_decay, fused=True
        )
    if not tables:
        return dense
    if config.name == "sgd":
        rows = optim.SGD(tables, lr=config.learning_rate)
    else:
        rows = RowAdam(tables, lr=config.learning_rate, betas=(first, second))
    return RowOptimizer(dense, rows)
