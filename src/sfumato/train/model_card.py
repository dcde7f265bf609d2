"""The model card: what a model is, what it learned from, and how good it is, for people."""

from __future__ import annotations

__all__ = ["model_card"]

from typing import TYPE_CHECKING, Any

from sfumato.core.version import __version__
from sfumato.train.config import Config
from sfumato.train.training_data import TrainingData

if TYPE_CHECKING:
    from sfumato.train.loop import Run

_SHOWN = 20


def model_card(run: Run, data: TrainingData, config: Config) -> str:
    """Return the card as Markdown."""
    name = config.model.name
    if "pretrained" in config.model.options:
        name += f" ({config.model.options['pretrained']})"
    classes = ", ".join(f"`{each}`" for each in data.classes[:_SHOWN])
    more = f" and {len(data.classes) - _SHOWN} more" if len(data.classes) > _SHOWN else ""
    parameters = sum(parameter.numel() for parameter in run.learner.parameters())
    epochs = [record for record in run.history if record["kind"] == "epoch"]
    chosen = f"by {run.metric} on the dev split" if run.metric and config.loop.keep == "best" else "the last one"
    lines = [
        f"# {name}, taught with the loss {config.loss.name}",
        "",
        f"Made by sfumato {__version__}. {parameters:,} parameters; {len(data.classes)} classes: {classes}{more}.",
        "",
        "## What it learned from",
        "",
        *(f"- {note}" for note in data.notes),
        "",
        "## How",
        "",
        f"- loss {config.loss.name}{_options(config.loss.options)}, target {config.target.kind}"
        f"{_options(config.target.options)}",
        f"- {config.optimizer.name}, learning rate {config.optimizer.learning_rate:g}, schedule {config.schedule.name}",
        f"- {len(epochs)} epochs with batches of {config.loop.batch_size}; epoch {run.best_epoch} was kept ({chosen})",
        f"- seed {config.seed}; all settings are in `config.toml`",
        "",
        "## How good it is",
        "",
        *_table(run.scores),
        "",
        "## Use",
        "",
        "```",
        "sfumato train predict . items.csv --out predictions.parquet",
        "```",
        "",
        "The model repeats the judgement of the people whose labels it learned, their mistakes and biases included.",
        "It knows nothing of items unlike theirs; the numbers hold for the splits that they were measured on alone.",
    ]
    return "\n".join(lines) + "\n"


def _options(options: Any) -> str:
    return f" ({', '.join(f'{name} = {value}' for name, value in options.items())})" if options else ""


def _table(scores: Any) -> list[str]:
    names = sorted({name for split in scores.values() for name in split})
    if not names:
        return ["There was nothing to measure it on."]
    lines = [f"| | {' | '.join(scores)} |", f"|---|{'---:|' * len(scores)}"]
    for name in names:
        cells = [f"{split[name]:.4f}" if name in split else "" for split in scores.values()]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines
