"""Devices: which one is taken, and what is said when its memory is full."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from sfumato.errors import TooLargeError
from sfumato.train import MODELS, OBJECTIVES, fit
from sfumato.train import loop as loop_module
from sfumato.train.devices import device_named, out_of_memory
from sfumato.train.targets import TARGETS


@pytest.mark.parametrize(
    "error",
    [
        torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB"),
        RuntimeError("[enforce fail at alloc_cpu.cpp] DefaultCPUAllocator: can't allocate memory: you tried"),
        MemoryError(),
    ],
)
def test_a_full_memory_says_which_setting_to_change(features, settings, error):
    def full(*_):
        raise error

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loop_module, "learning_rate", lambda *_, **__: full())
        with pytest.raises(TooLargeError, match=r"Raise loop\.parts \(now 1\).*loop\.batch_size \(now 8\)"):
            fit(features(), settings())


def test_another_error_stays_what_it_is(settings):
    with pytest.raises(RuntimeError, match="shapes"), out_of_memory(settings().loop):
        raise RuntimeError("shapes do not fit")


def test_auto_is_the_best_there_is():
    best = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    assert device_named("auto").type == best


def test_the_embedding_is_what_the_heads_see(features, settings):
    data = features()
    run = fit(data, settings())
    seen = run.predictor.embed(data.examples)
    assert seen.shape == (40, 8)
    head = run.learner.model.heads.heads[0]
    logits = head(torch.from_numpy(seen)).detach().numpy()[data.splits["test"]]
    np.testing.assert_allclose(logits, run.predictions["test"].logits, atol=1e-5)


def test_every_model_loss_and_target_is_told_of_on_the_page_of_the_room():
    page = (Path(__file__).parents[2] / "docs" / "train.md").read_text()
    assert [name for name in [*MODELS, *OBJECTIVES, *TARGETS] if f"`{name}`" not in page] == []
