"""Where the computing happens: the device, the precision, and what to do when its memory is full."""

from __future__ import annotations

__all__ = ["accelerator_for", "device_named", "out_of_memory"]

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import get_args

import torch
from accelerate import Accelerator
from accelerate.state import AcceleratorState
from accelerate.utils import DistributedDataParallelKwargs

from sfumato.errors import OptionError, TooLargeError, check_choice
from sfumato.train.config import Device, LoopConfig

# What PyTorch says on the CPU, where running out of memory has no exception of its own.
_CPU_IS_FULL = ("can't allocate memory", "not enough memory")


def device_named(name: str) -> torch.device:
    """Return the device auto, cpu, cuda or mps; "auto" is the best one that there is.

    >>> device_named("cpu")
    device(type='cpu')
    """
    there = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    if check_choice(name, get_args(Device), option="device") == "auto":
        return torch.device(next(kind for kind, is_there in there.items() if is_there))
    if not there[name]:
        raise OptionError(f"There is no {name.upper()} device on this machine. Choose the device auto or cpu.")
    return torch.device(name)


def accelerator_for(loop: LoopConfig) -> Accelerator:
    """Return accelerate's view of the device and the precision that *loop* asks for."""
    if device_named(loop.device).type == "cpu" and loop.precision == "fp16":
        raise OptionError("The precision fp16 needs a GPU. On the CPU choose bf16 or no.")
    # accelerate keeps the first settings of a process for good; each run has its own. Processes that were launched
    # together keep the ties between them.
    AcceleratorState._reset_state(reset_partial_state=int(os.environ.get("WORLD_SIZE", "1")) == 1)
    return Accelerator(
        cpu=loop.device == "cpu", mixed_precision=loop.precision,
        # Whose annotators are not in a batch, and what of somebody's encoder is not used, has no gradient.
        kwargs_handlers=[DistributedDataParallelKwargs(find_unused_parameters=True)],
    )  # fmt: skip


@contextmanager
def out_of_memory(loop: LoopConfig) -> Iterator[None]:
    """Turn running out of memory into a sentence that says which setting to lower."""
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        full = isinstance(error, MemoryError | torch.OutOfMemoryError)
        if not full and not any(words in str(error) for words in _CPU_IS_FULL):
            raise
        raise TooLargeError(
            f"The memory of the device is full. Raise loop.parts (now {loop.parts}): the same steps in smaller pieces; "
            f"or lower loop.batch_size (now {loop.batch_size}), or max_length in model.options where texts are long."
        ) from error
