"""What learning from who said what costs in a step, and what it gains on real data.

Cost: a step with a crowd layer (MW), three labels per item, beside the same step on soft labels, for models of several
sizes. Sixty annotators label the batches, of sixty or of a thousand that the model knows: who said nothing about a
batch should cost nothing. Steps take turns and are measured in processor time, to which other work adds little; a
ratio is the median of those of the turns.
Gain: LabelMe (59 annotators, 2.5 labels per image), test accuracy over three seeds; and Popquorn (262 annotators), each
held-out annotation foretold by a head of its annotator, beside the majority of its item's panel.

python bench/crowd_layer.py [--full]     # without it one seed and few turns, to see that it runs
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch

import sfumato as sf
from sfumato.errors import MissingDataError
from sfumato.train import MODELS, config_from, examples_of, fit, join, needs_of
from sfumato.train.learner import Learner, build_learner
from sfumato.train.optimizers import build_optimizer

PER_ITEM, BUSY, SIZE = 3, 60, 128
# Model, its options, number of classes. The last but one is LabelMe's; the last is smaller than the matrices of sixty.
TIMED: tuple[tuple[str, dict[str, Any], int], ...] = (
    ("resnet34a", {}, 100),
    ("resnet8", {}, 100),
    ("mlp", {"hidden": [1024, 1024]}, 8),
    ("mlp", {"hidden": [1024, 1024]}, 100),
    ("mlp", {}, 8),
    ("mlp", {}, 100),
)


def example(kind: str, rng: np.random.Generator) -> dict[str, Any]:
    if kind == "image":
        return {"image": rng.integers(0, 256, (32, 32, 3), dtype=np.uint8), "item": 0}
    return {"features": rng.normal(size=512).astype(np.float32), "item": 0}


def step(
    model: str, given: Mapping[str, Any], n_classes: int, loss: str, n_annotators: int, options: Mapping[str, Any]
) -> Callable[[], float]:
    """Return a function that makes one step of training and says how much processor time it took."""
    size, kind = SIZE, "image" if model.startswith("resnet") else "features"
    rng = np.random.default_rng(0)
    examples = [{**example(kind, rng), "item": row} for row in range(size)]
    config = config_from(
        {
            "model": {"name": model},
            "loss": {"name": loss, "options": dict(options)},
            "optimizer": {"name": "adam"},
        }
    )
    architecture = MODELS[model]
    settings = architecture.settings(examples, kind, **given)
    learner: Learner = build_learner(
        config, settings, n_classes=n_classes, n_annotators=n_annotators, pretrained=False
    ).train()
    optimizer = build_optimizer(config.optimizer, learner)
    batch = architecture.collator(settings)(examples)
    soft = torch.tensor(rng.dirichlet(np.ones(n_classes), size)).float()
    generator = torch.Generator().manual_seed(0)

    def run() -> float:
        m = size * PER_ITEM
        targets = {"soft": soft} if loss == "soft" else {
            "annotator": torch.randint(BUSY, (m,), generator=generator),
            "label": torch.randint(n_classes, (m,), generator=generator),
            "row": torch.arange(size).repeat_interleave(PER_ITEM),
        }  # fmt: skip
        began = time.process_time()
        (learner(batch, targets) / learner.objective.counts(targets, batch["mask"])).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
        return time.process_time() - began

    return run


def cost(quick: bool) -> None:
    for model, given, n_classes in TIMED:
        n_steps = (6 if quick else 20) if model.startswith("resnet") else (40 if quick else 300)
        runners = {
            "soft labels": step(model, given, n_classes, "soft", 0, {}),
            "crowd layer, 60 annotators": step(model, given, n_classes, "crowd_mw", 60, {}),
            "crowd layer, 1,000 annotators": step(model, given, n_classes, "crowd_mw", 1000, {}),
            "the same with a whole gradient": step(model, given, n_classes, "crowd_mw", 1000, {"sparse": False}),
        }
        seconds: dict[str, list[float]] = {name: [] for name in runners}
        for turn in range(n_steps + 2):
            for name, run in runners.items():
                took = run()
                if turn > 1:
                    seconds[name].append(took)
        print(f"\n{model} {given or ''}, batch {SIZE}, {n_classes} classes, {PER_ITEM} labels per item")
        for name, each in seconds.items():
            ratio = float(np.median(np.array(each) / np.array(seconds["soft labels"])))
            print(f"  {name:32} {1e3 * float(np.median(each)):8.2f} ms   × {ratio:.2f}")


def labelme(seeds: int) -> None:
    images = sf.data.load("labelme")
    found = examples_of(images)
    print(f"\nLabelMe, test accuracy over {seeds} seeds")
    vote = {"name": "silver", "loss": {"name": "hard"}, "target": {"kind": "silver", "options": {"of": "annotations"}}}
    shares = {"name": "soft", "loss": {"name": "soft"}, "target": {"kind": "soft", "options": {"of": "annotations"}}}
    layers = [
        {"name": name, "loss": {"name": name}} for name in ("crowd_mw", "crowd_vw", "crowd_vwb", "crowd_s", "conal")
    ]
    for system in ({"name": "gold", "loss": {"name": "hard"}}, vote, shares, *layers):
        scores = []
        for seed in range(seeds):
            config = config_from(
                {name: value for name, value in system.items() if name != "name"}
                | {"seed": seed, "model": {"name": "mlp"}, "optimizer": {"name": "adam"}}
                | {"loop": {"epochs": 50, "batch_size": 64, "keep": "last", "device": "cpu", "log_every": 0}}
            )
            data = join(
                found.examples, items=found.items, splits=found.splits, needs=needs_of(config),
                gold=images.gold, annotations=images.annotations,
            )  # fmt: skip
            scores.append(fit(data, config).scores["test"]["accuracy_score"])
        print(f"  {system['name']:12} {np.mean(scores):.4f}   ({min(scores):.4f} to {max(scores):.4f})")


def popquorn(seeds: int) -> None:
    texts = sf.data.load("popquorn")
    votes, found = texts.annotations, examples_of(texts)
    words = hashed_words([example["text"] for example in found.examples])
    examples = [{"features": row, "item": number} for number, row in enumerate(words)]
    held = np.random.default_rng(0).random(votes.n_annotations) < 0.2
    counts = np.zeros((votes.n_items, votes.n_classes))
    np.add.at(counts, (votes.item[~held], votes.label[~held]), 1)
    top = (counts == counts.max(axis=1, keepdims=True)) & (counts > 0)
    item, who, said = votes.item[held], votes.annotator[held], votes.label[held]
    majority = float((top[item, said] / np.maximum(top[item].sum(axis=1), 1)).mean())
    print(f"\nPopquorn, {held.sum():,} annotations held out: share foretold")
    print(f"  the majority of the other annotators of the item {majority:.4f}   (ties shared)")
    alone: list[float] = []
    everybody: list[float] = []
    for seed in range(seeds):
        config = config_from(
            {
                "seed": seed, "model": {"name": "mlp"}, "loss": {"name": "annotator_heads"},
                "optimizer": {"name": "adam"},
                "loop": {"epochs": 30, "keep": "last", "device": "cpu", "log_every": 0},
            }
        )  # fmt: skip
        data = join(
            examples, items=found.items, splits={"train": range(len(examples))}, needs=needs_of(config),
            annotations=votes.take_annotations(~held), missing="drop",
        )  # fmt: skip
        learner = fit(data, config).learner.eval()
        row = {name: place for place, name in enumerate(found.items)}
        seen = torch.tensor(words[[row[votes.items[code]] for code in item]])
        with torch.inference_mode():
            outputs = learner.model({"features": seen})
            own = learner.objective.predict(outputs, torch.tensor(who).long()).argmax(dim=-1).numpy()
            alone.append((own == said).mean())
            everybody.append((learner.objective.predict(outputs).argmax(dim=-1).numpy() == said).mean())
    for name, scores in (("a head for all", everybody), ("a head for each annotator", alone)):
        print(f"  {name:48} {np.mean(scores):.4f}   ({min(scores):.4f} to {max(scores):.4f})")


def hashed_words(texts: list[str], width: int = 512) -> np.ndarray:
    """Return for each text which words it holds, hashed into *width* columns; the same on every machine."""
    import re
    from zlib import crc32

    found = np.zeros((len(texts), width), dtype=np.float32)
    for row, text in enumerate(texts):
        found[row, [crc32(word.encode()) % width for word in re.findall(r"\w+", text.lower())]] = 1
    return found


if __name__ == "__main__":
    torch.set_num_threads(1)
    quick = "--full" not in sys.argv
    cost(quick)
    for real in (labelme, popquorn):
        try:
            real(1 if quick else 3)
        except MissingDataError as error:
            print(f"\n{real.__name__}: {error}")
