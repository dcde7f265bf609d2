"""Which examples make which step, and what each process and each part of a step gets of them.

The steps of an epoch depend on seed and epoch alone: a run that goes on after a stop, with other workers or other
processes, sees the same examples in the same steps.
"""

from __future__ import annotations

__all__ = ["Batch", "Steps", "epoch_steps", "loader", "on_device", "shares"]

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

from sfumato.train.batches import by_length
from sfumato.train.targets import Targets
from sfumato.train.training_data import Example

Batch = dict[str, Tensor]
Numbers = NDArray[np.int64]


def epoch_steps(
    numbers: Numbers,
    lengths: Sequence[int] | Numbers | None,
    *,
    batch_size: int,
    seed: int,
    epoch: int,
    shuffle: bool = True,
) -> list[Numbers]:
    """Return for each step of an epoch the numbers of its examples; with *lengths*, of like length where possible."""
    chosen = None if lengths is None else [lengths[place] for place in range(len(numbers))]
    if chosen is None:
        order = np.random.default_rng([seed, epoch]).permutation(len(numbers)) if shuffle else np.arange(len(numbers))
        places = [order[first : first + batch_size] for first in range(0, len(order), batch_size)]
    else:
        places = by_length(chosen, batch_size, seed=seed, epoch=epoch, shuffle=shuffle)
    return [numbers[place] for place in places]


def shares(step: Numbers, *, process: int, n_processes: int, parts: int) -> list[Numbers]:
    """Return what one process works on in a step, cut into parts; every process gets as many parts as the others.

    A share may be empty (the last step of an epoch can be smaller than there are shares).

    >>> [part.tolist() for part in shares(np.arange(5), process=0, n_processes=2, parts=2)]
    [[0, 4], [2]]
    """
    parts = min(parts, -(-len(step) // n_processes))
    return [step[process + part * n_processes :: n_processes * parts] for part in range(parts)]


@dataclass(frozen=True)
class Steps(Dataset[list[tuple[Batch, Batch]]]):
    """The steps of one epoch as one process sees them: for each a list of parts (batch, targets)."""

    steps: Sequence[Numbers]
    examples: Sequence[Example]
    collate: Callable[[Sequence[Example]], Batch]
    targets: Targets | None
    epoch: int = 0
    seed: int = 0
    process: int = 0
    n_processes: int = 1
    parts: int = 1

    def __len__(self) -> int:
        return len(self.steps)

    def __getitem__(self, place: int) -> list[tuple[Batch, Batch]]:
        if place >= len(self.steps):
            raise IndexError(place)
        step = self.steps[place]
        cut = shares(step, process=self.process, n_processes=self.n_processes, parts=self.parts)
        return [self._part(numbers, step) for numbers in cut]

    def _part(self, numbers: Numbers, step: Numbers) -> tuple[Batch, Batch]:
        # All processes have to take part in every step: whoever has nothing to do works on an example that does not
        # count.
        chosen = [self.examples[number] for number in (numbers if len(numbers) else step[:1])]
        batch = self.collate(chosen)
        if not len(numbers):
            batch = {**batch, "item": torch.full_like(batch["item"], -1), "mask": torch.zeros_like(batch["mask"])}
        targets = {} if self.targets is None else self.targets.at(batch["item"], epoch=self.epoch, seed=self.seed)
        return batch, targets


def loader(steps: Steps, *, workers: int, device: torch.device) -> Iterable[list[tuple[Batch, Batch]]]:
    """Return the steps one after another, made ahead by *workers* processes where there are any."""
    if not workers:
        return (steps[place] for place in range(len(steps)))
    # With a generator of its own: opening a loader otherwise draws from the numbers that dropout is drawn from.
    return DataLoader(
        steps, batch_size=None, num_workers=workers, pin_memory=device.type == "cuda", generator=torch.Generator()
    )


def on_device(tensors: Mapping[str, Tensor], device: torch.device) -> Batch:
    """Return the tensors on the device; from pinned memory the copy does not wait."""
    return {name: tensor.to(device, non_blocking=True) for name, tensor in tensors.items()}
