"""Learning rates: a number for each step, computed from the step alone, so that a resumed run goes on exactly."""

from __future__ import annotations

__all__ = ["learning_rate"]

import math

from sfumato.train.config import ScheduleConfig


def learning_rate(schedule: ScheduleConfig, start: float, *, step: int, steps_per_epoch: int, epochs: int) -> float:
    """Return the learning rate of a step (the first is 0) in a run of ``steps_per_epoch · epochs`` steps.

    Warm-up: ``start · (step + 1) / (warmup_steps + 1)`` for the first ``warmup_steps``. Then ``constant``: *start*;
    ``linear``: down to 0 at the end (with warm-up the triangular schedule of Wright et al.); ``cosine``: likewise along
    half a cosine; ``steps``: from each epoch in ``at`` the rate in ``rates`` (Uma et al., Collins et al.).

    >>> triangle = ScheduleConfig("linear", warmup_steps=3)
    >>> [round(learning_rate(triangle, 1.0, step=s, steps_per_epoch=4, epochs=2), 2) for s in range(8)]
    [0.25, 0.5, 0.75, 1.0, 0.8, 0.6, 0.4, 0.2]
    """
    total, warmup = steps_per_epoch * epochs, schedule.warmup_steps
    if step < warmup:
        return start * (step + 1) / (warmup + 1)
    share = (step - warmup) / max(total - warmup, 1)
    if schedule.name == "linear":
        return start * max(1 - share, 0.0)
    if schedule.name == "cosine":
        return start * (1 + math.cos(math.pi * min(share, 1.0))) / 2
    if schedule.name == "steps":
        over = sum(step // steps_per_epoch >= epoch for epoch in schedule.at)
        return schedule.rates[over - 1] if over else start
    return start
