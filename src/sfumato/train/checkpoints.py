"""Checkpoints: everything that the next epoch depends on, in one file that is there whole or not at all.

A run that was killed, even in the middle of writing, goes on from its last whole epoch and ends with the weights that
it would have had. Random numbers need no place in the file: those of an epoch depend on seed and epoch alone.
"""

from __future__ import annotations

__all__ = ["CHECKPOINT", "Checkpoint", "load_checkpoint", "save_checkpoint"]

import pickle
from contextlib import suppress
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import torch

from sfumato.errors import InputError
from sfumato.tables.write import written_whole

CHECKPOINT = "checkpoint.pt"


@dataclass(frozen=True)
class Checkpoint:
    """The state of a run after ``epoch`` epochs.

    ``settings`` and ``data`` tell whose state it is. ``best_weights`` names the file with the weights of the best epoch
    so far, ``history_size`` the bytes of the history that belong to it; ``finished`` says that no epoch is left.
    """

    epoch: int
    step: int
    learner: dict[str, Any]
    optimizer: dict[str, Any]
    scaler: dict[str, Any] | None
    best_value: float | None
    best_epoch: int
    best_weights: str | None
    since_better: int
    history_size: int
    settings: dict[str, Any]
    data: str
    finished: bool = False


def save_checkpoint(checkpoint: Checkpoint, folder: Path) -> None:
    """Write the checkpoint in place of the one before."""
    with written_whole(folder / CHECKPOINT) as file:
        # Not `asdict` on the whole: it would copy every tensor.
        torch.save({each.name: getattr(checkpoint, each.name) for each in fields(checkpoint)}, file)


def load_checkpoint(folder: Path) -> Checkpoint | None:
    """Return the checkpoint of a folder, or None where there is none; what a killed process left half is removed."""
    for part in folder.glob(".sfumato-*.part"):
        with suppress(OSError):
            part.unlink()
    path = folder / CHECKPOINT
    if not path.exists():
        return None
    try:
        # Plain tensors and numbers only: a checkpoint from elsewhere cannot run code.
        return Checkpoint(**torch.load(path, map_location="cpu", weights_only=True))
    except (OSError, RuntimeError, TypeError, ValueError, EOFError, pickle.UnpicklingError) as error:
        reason = str(error).split("\n", 1)[0]
        raise InputError(f"{path} is not a checkpoint that can be read ({reason}). Remove it to begin anew.") from None
