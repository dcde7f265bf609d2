"""What a run would do: sizes, steps, and how long it would take, from a few steps of it."""

from __future__ import annotations

__all__ = ["Plan", "plan"]

import time
from dataclasses import dataclass

import torch

from sfumato.train.config import Config
from sfumato.train.devices import accelerator_for, out_of_memory
from sfumato.train.learner import prepare
from sfumato.train.seeding import seeded
from sfumato.train.steps import Steps, epoch_steps, on_device
from sfumato.train.training_data import TrainingData

# The first steps are slower than the others, and steps of sequences differ in length.
_WARM, _TIMED = 1, 4
# Of a step, the forward pass is about a third.
_FORWARD = 1 / 3


@dataclass(frozen=True)
class Plan:
    """The size of a run; ``seconds`` is an estimate from ``timed_steps`` steps on this machine."""

    device: str
    n_parameters: int
    n_classes: int
    n_annotators: int
    steps_per_epoch: int
    n_steps: int
    timed_steps: int
    seconds_per_step: float
    seconds: float


def plan(data: TrainingData, config: Config) -> Plan:
    """Return what `fit` would do with the same data and settings; nothing is learned and nothing written."""
    loop = config.loop
    accelerator = accelerator_for(loop)
    with seeded(config.seed), out_of_memory(loop):
        learning = prepare(data, config)
        learner = learning.learner.to(accelerator.device).train()
        steps = epoch_steps(learning.numbers, learning.lengths, batch_size=loop.batch_size, seed=config.seed, epoch=0)
        work = Steps(steps, learning.examples, learning.collate, learning.targets, seed=config.seed, parts=loop.parts)
        timed = min(_TIMED, len(work))
        began = time.perf_counter()
        for place in [0] * _WARM + list(range(timed)):
            if place == 0:
                began = time.perf_counter()
            for batch, targets in work[place]:
                with accelerator.autocast():
                    sums = learner(on_device(batch, accelerator.device), on_device(targets, accelerator.device))
                accelerator.backward(sums.sum())
        if accelerator.device.type == "cuda":
            torch.cuda.synchronize()
    each = (time.perf_counter() - began) / timed
    dev, test = (len(data.splits[split]) / loop.batch_size for split in ("dev", "test"))
    return Plan(
        device=accelerator.device.type,
        n_parameters=sum(parameter.numel() for parameter in learner.parameters()),
        n_classes=data.n_classes,
        n_annotators=0 if data.annotations is None else data.annotations.n_annotators,
        steps_per_epoch=len(steps),
        n_steps=len(steps) * loop.epochs,
        timed_steps=timed,
        seconds_per_step=each,
        seconds=each * (len(steps) * loop.epochs + _FORWARD * (dev * (loop.epochs + 1) + test)),
    )
