"""An optimiser for models of which some tables are trained row by row, and clipping that knows of them.

The gradient of a table of annotators (`sfumato.train.crowd_layers`) holds the rows of the batch alone. Those rows are
taken out, given to PyTorch's own Adam, and put back, so that a step costs what its rows cost. (`torch.optim.SparseAdam`
does the same in sparse arithmetic, and takes six times as long for rows of 10,000 numbers.)
"""

from __future__ import annotations

__all__ = ["RowAdam", "RowOptimizer", "clip_gradients", "row_parameters"]

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor, nn, optim
from torch.optim.adam import adam


def row_parameters(model: nn.Module) -> list[Tensor]:
    """Return the tables of which a step changes only some rows: the embeddings that were made with ``sparse=True``."""
    tables = [part for part in model.modules() if isinstance(part, nn.Embedding) and part.sparse]
    return [table.weight for table in tables if table.weight.requires_grad]


class RowAdam(optim.Optimizer):
    """Adam on the rows that have a gradient; the moments of a row rest while it is in no batch.

    >>> table = nn.Embedding(1000, 2, sparse=True)
    >>> before = table.weight.detach().clone()
    >>> table(torch.tensor([7, 7, 3])).sum().backward()
    >>> RowAdam([table.weight], lr=0.1).step()
    >>> (table.weight != before).any(dim=1).nonzero().flatten().tolist()
    [3, 7]
    """

    def __init__(
        self, tables: Iterable[Tensor], *, lr: float, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8
    ) -> None:
        super().__init__(tables, {"lr": lr, "betas": betas, "eps": eps, "fused": True})

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:  # type: ignore[override]
        for group in self.param_groups:
            first, second = group["betas"]
            for table in group["params"]:
                if table.grad is None:
                    continue
                sparse = _each_row_once(table.grad)
                who, gradient = sparse._indices()[0], sparse._values()
                if not len(who):
                    continue
                state = self.state[table]
                if not state:
                    state["step"] = torch.zeros((), device=table.device)
                    state["exp_avg"], state["exp_avg_sq"] = torch.zeros_like(table), torch.zeros_like(table)
                whole = [table, state["exp_avg"], state["exp_avg_sq"]]
                # A batch that everybody labelled has all rows, in order: then there is nothing to take out.
                all_there = len(who) == len(table)
                rows = whole if all_there else [each.index_select(0, who) for each in whole]
                adam(
                    rows[:1], [gradient], rows[1:2], rows[2:], [], [state["step"]], fused=True, amsgrad=False,
                    beta1=first, beta2=second, lr=group["lr"], weight_decay=0.0, eps=group["eps"], maximize=False,
                )  # fmt: skip
                if not all_there:
                    for each, part in zip(whole, rows, strict=True):
                        each.index_copy_(0, who, part)


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
            parameter.grad = _each_row_once(parameter.grad)
            gradients.append(parameter.grad._values())
        else:
            gradients.append(parameter.grad)
    total = nn.utils.get_total_norm(gradients)
    if gradients:
        torch._foreach_mul_(gradients, torch.clamp(limit / (total + 1e-6), max=1.0))
    return total


def _each_row_once(gradient: Tensor) -> Tensor:
    """Return a sparse gradient in which no row is there twice."""
    who = gradient._indices()[0]
    # Adding rows up costs as much as a step; a crowd layer makes each once, in order, and PyTorch cannot know.
    return gradient if bool((who[1:] > who[:-1]).all()) else gradient.coalesce()
