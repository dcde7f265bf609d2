"""Optimisers by name, as PyTorch has them."""

from __future__ import annotations

__all__ = ["build_optimizer"]

from torch import nn, optim

from sfumato.train.config import OptimizerConfig


def build_optimizer(config: OptimizerConfig, model: nn.Module) -> optim.Optimizer:
    """Return the optimiser of all parameters that are trained."""
    # All parameters in one call of a compiled kernel; the numbers are those of the plain loop over them to a rounding.
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    if config.name == "sgd":
        return optim.SGD(
            parameters, lr=config.learning_rate, momentum=config.momentum, nesterov=config.nesterov,
            weight_decay=config.weight_decay, fused=True,
        )  # fmt: skip
    kind = optim.Adam if config.name == "adam" else optim.AdamW
    first, second = config.betas
    return kind(
        parameters, lr=config.learning_rate, betas=(first, second), weight_decay=config.weight_decay, fused=True
    )
