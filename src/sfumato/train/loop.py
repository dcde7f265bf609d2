"""The training loop, read from top to bottom: step by step, epoch by epoch, from the last epoch that was whole.

Hugging Face accelerate brings devices, mixed precision and several processes (`accelerate launch`). One step is the
same whether one process does it at once, in parts, or several share it: losses are summed and divided by what the whole
step has of items, so that no mean of means creeps in.
"""

from __future__ import annotations

__all__ = ["Progress", "Run", "fit"]

import json
import math
import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from accelerate import Accelerator
from numpy.typing import NDArray
from torch import Tensor

from sfumato.core.origin import Origin
from sfumato.core.predictions import Predictions
from sfumato.core.simplex import softmax
from sfumato.errors import InputError, OptionError
from sfumato.tables.write import write_whole
from sfumato.train import development, folder
from sfumato.train.checkpoints import Checkpoint, load_checkpoint, save_checkpoint
from sfumato.train.config import Config
from sfumato.train.devices import accelerator_for, out_of_memory
from sfumato.train.history import History
from sfumato.train.learner import Learner, prepare
from sfumato.train.logging_to import open_dashboards
from sfumato.train.optimizers import build_optimizer
from sfumato.train.predict import Predictor, as_predictions, predict_rows
from sfumato.train.row_optimizer import clip_gradients
from sfumato.train.schedules import learning_rate
from sfumato.train.seeding import seeded
from sfumato.train.steps import Steps, epoch_steps, loader, on_device
from sfumato.train.training_data import TrainingData

# Called with the steps that are done, the steps of the whole run, and a few numbers in words.
Progress = Callable[[int, int, str], None]
# On an accelerator the loss is looked at only every so often: to look is to wait for the device.
_LOOK_EVERY = 50
_LISTED = 5


@dataclass(frozen=True, eq=False)
class Run:
    """What came out of a run.

    ``predictions`` are those of the dev and test split, by the weights of ``best_epoch`` (of the last epoch where
    nothing chose one); ``scores`` the numbers of each; ``history`` every record; ``out`` the folder, if there is one.
    """

    learner: Learner
    predictor: Predictor
    predictions: Mapping[str, Predictions]
    scores: Mapping[str, Mapping[str, float]]
    history: list[dict[str, Any]]
    best_epoch: int
    metric: str | None
    out: Path | None


def fit(data: TrainingData, config: Config, *, out: str | Path | None = None, progress: Progress | None = None) -> Run:
    """Train a model as *config* says, and return it with its predictions.

    With a folder *out* everything is written there: the weights, the settings, the history, the predictions and a model
    card; and a checkpoint after every epoch. A run that finds a checkpoint of the same settings and data goes on
    from it, and ends with the weights that it would have had without the stop.
    """
    out = Path(out) if out is not None else None if config.out is None else Path(config.out)
    loop, seed = config.loop, config.seed

    # ── what is learned, by what, from what ──────────────────────────────────────────────────────────────────────
    accelerator = accelerator_for(loop)
    main, n_processes, process = accelerator.is_main_process, accelerator.num_processes, accelerator.process_index
    with seeded(seed):
        learning = prepare(data, config)
    learner, collate = learning.learner, learning.collate
    optimizer = build_optimizer(config.optimizer, learner)
    whole, optimizer = accelerator.prepare(learner, optimizer)
    metric = development.choose_metric(
        loop.metric, target=learning.teaches,
        has_soft=bool(data.has_soft()[data.rows("dev")].any()), has_gold=bool(data.has_gold()[data.rows("dev")].any()),
    ) if len(data.splits["dev"]) else None  # fmt: skip
    if metric is None and (loop.patience or loop.metric != "auto"):
        raise OptionError("loop.metric and loop.patience need a dev split with labels. Give one, or take them out.")
    by_length = learning.lengths
    n_steps = len(epoch_steps(learning.numbers, by_length, batch_size=loop.batch_size, seed=seed, epoch=0))

    # ── where we are: at the beginning, or behind the last whole epoch ───────────────────────────────────────────
    settings, fingerprint = folder.settings_that_matter(config), folder.data_fingerprint(data)
    found = None
    if out is not None:
        if main:
            folder.open_folder(out)
            (out / folder.NAN_BATCH).unlink(missing_ok=True)  # of an attempt that ended so
        accelerator.wait_for_everyone()
        found = load_checkpoint(out)
        accelerator.wait_for_everyone()
        if found is not None:
            folder.check_same_run(found, settings, fingerprint, out)
    step = first_epoch = since_better = best_epoch = 0
    best_value: float | None = None
    best_weights: dict[str, Tensor] | None = None
    best_file: str | None = None
    if found is not None:
        if not found.finished:
            optimizer.load_state_dict(found.optimizer)
        if found.learner:
            learner.load_state_dict(found.learner)
        if found.scaler is not None and accelerator.scaler is not None:
            accelerator.scaler.load_state_dict(found.scaler)
        step, first_epoch, since_better = found.step, found.epoch, found.since_better
        best_value, best_epoch, best_file = found.best_value, found.best_epoch, found.best_weights
        if best_file is not None:
            best_weights = folder.load_weights(out, best_file)  # type: ignore[arg-type]  # a checkpoint lies in a folder
    finished = found is not None and found.finished
    history = History(
        None if out is None or not main else out / folder.HISTORY, size=None if found is None else found.history_size
    )
    dashboards = []
    if main and not finished and loop.log_to:
        dashboards = open_dashboards(loop.log_to, folder=out or Path.cwd(), config=config.to_dict())

    # ── the epochs ───────────────────────────────────────────────────────────────────────────────────────────────
    for epoch in range(loop.epochs if finished else first_epoch, loop.epochs):
        steps = epoch_steps(learning.numbers, by_length, batch_size=loop.batch_size, seed=seed, epoch=epoch)
        batches = loader(
            Steps(
                steps, learning.examples, collate, learning.targets, epoch=epoch, seed=seed,
                process=process, n_processes=n_processes, parts=loop.parts,
            ),
            workers=loop.workers, device=accelerator.device,
        )  # fmt: skip
        watch = _Watch(accelerator, n_steps, learning.names_of, out if main else None)
        began = time.perf_counter()
        whole.train()
        with seeded(seed, epoch, process), out_of_memory(loop):
            for place, parts in enumerate(batches):
                rate = learning_rate(
                    config.schedule, config.optimizer.learning_rate,
                    step=step, steps_per_epoch=n_steps, epochs=loop.epochs,
                )  # fmt: skip
                for group in optimizer.param_groups:
                    group["lr"] = rate
                parts = [(on_device(batch, accelerator.device), on_device(targets, accelerator.device))
                         for batch, targets in parts]  # fmt: skip
                # How much the whole step has of everything that is summed: items, annotations, weights.
                counts = torch.stack(
                    [learner.objective.counts(targets, batch["mask"]) for batch, targets in parts]
                ).sum(dim=0)
                if n_processes > 1:
                    counts = accelerator.reduce(counts, "sum")
                share = torch.where(counts > 0, counts, torch.ones_like(counts)).reciprocal()
                loss = torch.zeros((), device=accelerator.device)
                for part, (batch, targets) in enumerate(parts):
                    # Gradients travel between processes once per step, with the last part.
                    with accelerator.no_sync(whole) if part < len(parts) - 1 else nullcontext():
                        part_loss = (whole(batch, targets) * share).sum()
                        # Processes average their gradients where the sum is wanted.
                        accelerator.backward(part_loss * n_processes)
                    loss += part_loss.detach()
                if accelerator.device.type == "cpu":
                    watch.see(loss, steps[place])  # before the weights are touched
                if loop.clip is not None:
                    accelerator.unscale_gradients()
                    clip_gradients(whole.parameters(), loop.clip)
                optimizer.step()
                optimizer.zero_grad()
                step += 1
                if accelerator.device.type != "cpu":
                    watch.see(loss, steps[place])
                if loop.log_every and step % loop.log_every == 0 and main:
                    record = {"loss": watch.loss(), "learning_rate": rate, "examples_per_second": watch.speed()}
                    history.add({"kind": "step", "epoch": epoch + 1, "step": step, **record})
                    for dashboard in dashboards:
                        dashboard.log(record, step=step)
                if progress is not None and main:
                    progress(step, n_steps * loop.epochs, watch.words(epoch + 1, loop.epochs, best_value, metric))
            watch.look()

        # ── how good it is now ───────────────────────────────────────────────────────────────────────────────────
        dev = {}
        if len(data.splits["dev"]):
            logits, rows = predict_rows(learner, data, "dev", collate, loop=loop, accelerator=accelerator)
            dev = _scores(logits, rows, data)
        value = None if metric is None else dev[metric]
        better = value is not None and development.is_better(metric or "", value, best_value)
        since_better = 0 if better else since_better + 1
        if better:
            best_value, best_epoch = value, epoch + 1
            if loop.keep == "best":
                best_weights = {name: tensor.detach().cpu().clone() for name, tensor in learner.state_dict().items()}
        stop = loop.patience is not None and since_better >= loop.patience
        finished = stop or epoch + 1 == loop.epochs
        seconds = time.perf_counter() - began
        history.add({"kind": "epoch", "epoch": epoch + 1, "step": step, "loss": watch.mean(), "learning_rate": rate,
                     "dev": dev, "best": better, "seconds": round(seconds, 3)})  # fmt: skip
        for dashboard in dashboards:
            dashboard.log(
                {"epoch_loss": watch.mean(), **{f"dev/{name}": each for name, each in dev.items()}}, step=step
            )
        if out is not None and main:
            old = best_file
            if better and best_weights is not None:
                best_file = f"best-{epoch + 1:04}.safetensors"
                folder.save_weights(out, best_file, best_weights)
            # Of a run that is over only the weights are needed again, and those of the best epoch lie in a file.
            over = finished and best_file is not None
            save_checkpoint(
                Checkpoint(
                    epoch=epoch + 1, step=step, learner={} if over else learner.state_dict(),
                    optimizer={} if finished else optimizer.state_dict(),
                    scaler=None if accelerator.scaler is None else accelerator.scaler.state_dict(),
                    best_value=best_value, best_epoch=best_epoch, best_weights=best_file, since_better=since_better,
                    history_size=history.size, settings=settings, data=fingerprint, finished=finished,
                ),
                out,
            )  # fmt: skip
            if old is not None and old != best_file:
                (out / old).unlink(missing_ok=True)
        if finished:
            break

    # ── what comes out ───────────────────────────────────────────────────────────────────────────────────────────
    if best_weights is not None:
        learner.load_state_dict(best_weights)
    for dashboard in dashboards:
        dashboard.close()
    chosen = best_epoch if best_weights is not None else len(history.epochs()) or loop.epochs
    predictor = Predictor(
        learner, collate, data.kind, data.classes,
        () if data.annotations is None else data.annotations.annotators, loop,
        Origin(f"train {config.model.name} {config.loss.name}", options=settings, seed=seed, fingerprint=fingerprint),
        data.features,
    )  # fmt: skip
    predictions, numbers = {}, {}
    for split in ("dev", "test"):
        if len(data.splits[split]):
            logits, rows = predict_rows(learner, data, split, collate, loop=loop, accelerator=accelerator)
            predictions[split] = as_predictions(logits, rows, data.items, data.classes, predictor.origin)
            numbers[split] = _scores(logits, rows, data)
    run = Run(learner, predictor, predictions, numbers, history.records, chosen, metric, out)
    if out is not None and main:
        folder.write_folder(run, data, config, learning.settings)
        last = load_checkpoint(out)
        if last is not None and last.best_weights not in (None, folder.WEIGHTS):
            # They lie in the folder twice now.
            save_checkpoint(replace(last, best_weights=folder.WEIGHTS), out)
            (out / str(last.best_weights)).unlink()
    accelerator.wait_for_everyone()
    return run


def _scores(logits: NDArray[np.float32], rows: NDArray[np.int64], data: TrainingData) -> dict[str, float]:
    soft = None if data.soft is None else data.soft[rows]
    gold = None if data.gold is None else data.gold[rows]
    return development.scores(softmax(logits.astype(np.float64)), soft=soft, gold=gold)


class _Watch:
    """Looks after the loss of an epoch: its mean, its pace, and whether it is a number.

    On the CPU every step is looked at before the weights are touched; on an accelerator every so often.
    """

    def __init__(
        self,
        accelerator: Accelerator,
        n_steps: int,
        names_of: Callable[[NDArray[np.int64]], list[str]],
        out: Path | None,
    ) -> None:
        self._accelerator, self._n_steps, self._names_of, self._out = accelerator, n_steps, names_of, out
        self._often = accelerator.device.type == "cpu"
        self._waiting: list[tuple[Tensor, NDArray[np.int64]]] = []
        self._losses: list[float] = []
        self._examples = 0
        self._began = time.perf_counter()

    def see(self, loss: Tensor, step: NDArray[np.int64]) -> None:
        """Take note of the loss of a step, of which each process has a part."""
        self._waiting.append((loss, step))
        self._examples += len(step)
        if self._often or len(self._waiting) >= _LOOK_EVERY:
            self.look()

    def look(self) -> None:
        """Read the losses that nobody has looked at, and stop if one is not a number."""
        if not self._waiting:
            return
        losses = torch.stack([loss for loss, _ in self._waiting])
        if self._accelerator.num_processes > 1:
            losses = self._accelerator.reduce(losses, "sum")
        for value, (_, step) in zip(losses.tolist(), self._waiting, strict=True):
            if not math.isfinite(value):
                raise InputError(self._not_a_number(value, self._names_of(step)))
            self._losses.append(value)
        self._waiting.clear()

    def _not_a_number(self, value: float, items: list[str]) -> str:
        """Return the sentence for a loss that is none, and leave all items of the batch in the folder."""
        step = len(self._losses) + 1
        shown = ", ".join(map(repr, items[:_LISTED]))
        if len(items) > _LISTED:
            shown += f", … ({len(items):,} items)"
        if self._out is not None:
            path = self._out / folder.NAN_BATCH
            left = {"step_of_epoch": step, "loss": str(value), "items": items}
            write_whole(path, json.dumps(left, ensure_ascii=False, indent=1))
            shown += f" (all of them: {path})"
        return (
            f"The loss is {value} in step {step} of {self._n_steps} of this epoch. The batch holds the items {shown}. "
            "Lower optimizer.learning_rate, set loop.clip = 1.0, or look at these items."
        )

    def loss(self) -> float:
        """Return the mean loss of the last steps."""
        self.look()
        last = self._losses[-_LOOK_EVERY:]
        return sum(last) / max(len(last), 1)

    def mean(self) -> float:
        """Return the mean loss of the steps of the epoch so far."""
        return sum(self._losses) / max(len(self._losses), 1)

    def speed(self) -> float:
        """Return the examples per second of the epoch so far."""
        return round(self._examples / max(time.perf_counter() - self._began, 1e-9), 1)

    def words(self, epoch: int, epochs: int, best: float | None, metric: str | None) -> str:
        """Return the numbers that matter, for a progress bar."""
        shown = f"epoch {epoch}/{epochs}"
        if self._losses:
            shown += f" · loss {self._losses[-1]:.3f}"
        return shown if best is None else f"{shown} · best {metric} {best:.3f}"
