"""``sfumato train``: items and what people said of them in, a model out; and what such a model says of new items."""

from __future__ import annotations

__all__ = ["app", "configs", "predict", "run"]

import tomllib
from collections.abc import Sequence
from dataclasses import asdict
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from sfumato.cli import screen
from sfumato.errors import OptionError

if TYPE_CHECKING:
    from sfumato.train import Config, Run, TrainingData
    from sfumato.train.plan import Plan

_SHOWN = 10
_TABLES = (".csv", ".tsv", ".jsonl", ".parquet", ".arrow", ".npz", ".gz")
_PRETRAINED = {
    "optimizer": {"learning_rate": 2e-5},
    "schedule": {"name": "linear"},
    "loop": {"epochs": 5, "batch_size": 16},
}
# What to learn with where nobody says, by what the items are.
_USUAL = {"features": "mlp", "tokens": "pos_tagger", "image": "resnet20"}


class _RunByDefault(TyperGroup):
    """`sfumato train X` is `sfumato train run X`, unless X is another of its commands."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            args = ["run", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    help="Train a model on soft labels, gold or votes. `sfumato train X` is short for `sfumato train run X`; "
    "`sfumato train run --help` shows its options.",
    no_args_is_help=True,
    cls=_RunByDefault,
)
Device = Annotated[str, typer.Option(help="auto, cpu, cuda or mps.")]


@app.command(
    "run", epilog="Example: sfumato train --items texts.csv --soft soft.parquet --model roberta-base --out model"
)
def run(
    config: Annotated[
        str | None,
        typer.Argument(metavar="CONFIG", help="A TOML file of settings, or a name that `sfumato train configs` shows."),
    ] = None,
    items: Annotated[Path | None, typer.Option(help="The items: item, and text, image (a path) or numbers.")] = None,
    soft: Annotated[Path | None, typer.Option(help="Their soft labels: item, one column per class.")] = None,
    gold: Annotated[Path | None, typer.Option(help="Reference classes: item, label.")] = None,
    votes: Annotated[Path | None, typer.Option(help="Votes: item, annotator, label.")] = None,
    model: Annotated[
        str | None,
        typer.Option(
            help="mlp, pos_tagger, stemming_cnn, resnet20, vgg11, …; or an encoder of Hugging Face, by name or path."
        ),
    ] = None,
    loss: Annotated[
        str | None, typer.Option(help="soft, hard, kl, jensen_shannon, label_smoothing, gold_plus_soft, crowd_mw, …")
    ] = None,
    target: Annotated[
        str | None, typer.Option(help="What an item is taught: gold, silver, soft, smoothed, drawn, repeated.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="The folder to write; a run that was stopped goes on there.")] = None,
    epochs: Annotated[int | None, typer.Option(help="How often every example is seen.")] = None,
    batch_size: Annotated[int | None, typer.Option(help="Examples of a step.")] = None,
    learning_rate: Annotated[float | None, typer.Option(help="The learning rate at the start.")] = None,
    seed: Annotated[int | None, typer.Option(help="The seed of everything that is random.")] = None,
    device: Annotated[str | None, typer.Option(help="auto, cpu, cuda or mps.")] = None,
    precision: Annotated[str | None, typer.Option(help="no, fp16 or bf16.")] = None,
    missing: Annotated[
        str | None, typer.Option(help="Items without a label, labels without an item: error, or drop and count them.")
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set", help="Any other setting as NAME=VALUE, such as loop.clip=1.0; may be given several times."
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show data, sizes, steps and the time it would take, and stop.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print a summary as JSON.")] = False,
) -> None:
    """Train a model, by a file of settings, by options, or by both (options come last)."""
    flags: dict[str, Any] = {
        "data.items": items, "data.soft": soft, "data.gold": gold, "data.votes": votes, "data.missing": missing,
        "loss.name": loss, "target.kind": target, "out": out, "seed": seed, "loop.epochs": epochs,
        "loop.batch_size": batch_size, "optimizer.learning_rate": learning_rate, "loop.device": device,
        "loop.precision": precision,
    }  # fmt: skip
    given = {
        name: str(value) if isinstance(value, Path) else value for name, value in flags.items() if value is not None
    }
    chosen = _config(config, model, given, set_ or [])
    if chosen.out is None and not dry_run:
        raise OptionError("Where to? Give the folder to write with --out.")
    from sfumato.cli.training_data import read_training_data
    from sfumato.core.vocabulary import counted

    data = read_training_data(chosen)
    n_steps = -(-len(data.splits["train"]) // chosen.loop.batch_size) * chosen.loop.epochs
    if chosen.schedule.warmup_steps >= n_steps:
        screen.note(
            f"The run has {counted(n_steps, 'step')}, and the learning rate rises for "
            f"{chosen.schedule.warmup_steps:,} (schedule.warmup_steps): it never gets to optimizer.learning_rate."
        )
    if dry_run:
        from sfumato.train.plan import plan

        with screen.working("Timing a few steps"):
            planned = plan(data, chosen)
        _tell_plan(planned, data, chosen, as_json=json)
        return
    from sfumato.train import fit

    for line in data.notes:
        screen.note(line)
    try:
        with screen.working("Preparing") as advance:
            done = fit(data, chosen, progress=advance)
    except KeyboardInterrupt:
        screen.note("The same command goes on from the last whole epoch.")
        raise
    _tell_run(done, data, chosen, as_json=json)


@app.command("predict", epilog="Example: sfumato train predict model items.csv --out predictions.parquet")
def predict(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder that a run wrote.")],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The items: item, and text, image or numbers.")],
    out: Annotated[Path | None, typer.Option(help="The file to write: .csv, .tsv, .jsonl, .parquet or .arrow.")] = None,
    annotator: Annotated[
        str | None, typer.Option(help="Predict what this annotator would say; for models taught who said what.")
    ] = None,
    device: Device = "auto",
    json: Annotated[bool, typer.Option("--json", help="Print a summary as JSON.")] = False,
) -> None:
    """Say what a trained model makes of items.

    Without --out, the first predictions are printed and nothing is written.
    """
    from sfumato.tables.doors import check_target
    from sfumato.train import Predictor, read_config, read_items

    if out is not None:
        check_target(out)
    with screen.working("Reading"):
        model = Predictor.load(folder, device=device)
        found = read_items(file, split=read_config(folder / "config.toml").data.split)
        if model.features is not None:
            found = found.with_features(model.features)
    with screen.working(f"Predicting {len(found.items):,} items"):
        said = model.predict(found.examples, found.items, annotator=annotator)
    if out is not None:
        said.save(out)
    if json:
        summary = {"n_items": said.n_items, "classes": list(said.classes), "annotator": annotator}
        screen.say_json({**summary, "out": None if out is None else str(out)})
        return
    screen.say(f"{said.n_items:,} items, {said.n_classes:,} classes")
    if out is not None:
        screen.say(f"→ {out}")
        return
    shown = said.classes[:8]
    rows = [
        [name, *(f"{p:.3f}" for p in said.probs[row, : len(shown)])] for row, name in enumerate(said.items[:_SHOWN])
    ]
    screen.table(["item", *shown], rows)
    if said.n_items > _SHOWN:
        screen.say(f"… {said.n_items - _SHOWN:,} more items. Write all with --out predictions.parquet")


@app.command("configs", epilog="Example: sfumato train configs")
def configs(json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False) -> None:
    """List the configurations that come with sfumato: those of the papers."""
    from sfumato.train import shipped_configs

    known = {name: _title(path) for name, path in shipped_configs().items()}
    if json:
        screen.say_json([{"name": name, "title": title} for name, title in known.items()])
    else:
        screen.table(["name", "what"], [[name, title] for name, title in known.items()], left=2)


def _title(path: Path) -> str:
    """Return the first line of a configuration, a comment that says what it is."""
    return path.read_text(encoding="utf-8").split("\n", 1)[0].lstrip("# ")


def _config(name: str | None, model: str | None, flags: dict[str, Any], pairs: Sequence[str]) -> Config:
    from sfumato.train import MODELS, Config, config_from, read_config, shipped_configs

    chosen = Config()
    if name is not None:
        if Path(name).suffix.lower() in _TABLES:
            raise OptionError(
                f"{name} is a table and no file of settings. Give items with --items, labels with --soft."
            )
        shipped = shipped_configs()
        chosen = read_config(shipped[name] if name in shipped and not Path(name).exists() else name)
    settings = {**flags, **dict(map(_setting, pairs))}
    if name is None and model is None and "model.name" not in settings:
        model = _usual_model(settings.get("data.items"), settings.get("data.split", chosen.data.split))
    if model is not None:
        if model not in MODELS:
            near = [] if Path(model).exists() or "/" in model else get_close_matches(model, MODELS, n=1)
            if near:
                raise OptionError(f"There is no model {model!r}. Is it {near[0]}? An encoder may be given by its path.")
            if name is None:
                chosen = config_from(_PRETRAINED, over=chosen)
                screen.note(
                    "An encoder learns at the rate 2e-05, falling to 0, in 5 epochs with batches of 16, "
                    "unless you say otherwise."
                )
            settings["model.options.pretrained"] = model
            model = "encoder"
        settings["model.name"] = model
    changes: dict[str, Any] = {}
    for place, value in settings.items():
        *tables, last = place.split(".")
        inner = changes
        for table in tables:
            inner = inner.setdefault(table, {})
            if not isinstance(inner, dict):
                raise OptionError(f"--set: '{place}' lies in a setting that has a value of its own.")
        inner[last] = value
    for part in ("model", "loss", "target"):
        before = getattr(chosen, part)
        options = changes.get(part, {}).get("options")
        same = changes.get(part, {}).get("name", getattr(before, "name", None)) == getattr(before, "name", None)
        if options is not None and same:
            changes[part]["options"] = {**before.options, **options}
    if "data.items" in flags and chosen.data.set is not None:
        changes["data"]["set"] = None
    return config_from(changes, over=chosen, where="The command line")


def _usual_model(items: str | None, split: str) -> str:
    from sfumato.train import read_items

    if items is None:
        raise OptionError(
            "There is nothing to do. Give a configuration, or --items and --soft (see sfumato train run --help)."
        )
    kind = read_items(items, split=split).kind
    if kind not in _USUAL:
        raise OptionError("For texts say which encoder: --model with a name on Hugging Face's hub, or a path.")
    screen.note(f"The model is {_USUAL[kind]}; choose another with --model.")
    return _USUAL[kind]


def _setting(pair: str) -> tuple[str, Any]:
    name, separator, text = pair.partition("=")
    if not separator or not name.strip():
        raise OptionError(f"--set takes NAME=VALUE, such as loop.clip=1.0. Got {pair!r} instead.")
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        value = text  # a word that needs no quotes here
    return name.strip(), value


def _tell_plan(planned: Plan, data: TrainingData, config: Config, *, as_json: bool) -> None:
    if as_json:
        screen.say_json({**asdict(planned), "data": list(data.notes), "config": config.to_dict()})
        return
    for line in data.notes:
        screen.say(line)
    loop = config.loop
    screen.say(
        f"{config.model.name}, {planned.n_parameters:,} parameters, {planned.n_classes:,} classes · "
        f"loss {config.loss.name} · device {planned.device}"
    )
    screen.say(
        f"{loop.epochs} epochs × {planned.steps_per_epoch:,} steps of {loop.batch_size} = {planned.n_steps:,} steps · "
        f"{planned.seconds_per_step * 1000:.0f} ms each (by {planned.timed_steps} of them) · "
        f"about {_duration(planned.seconds)}"
    )


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _tell_run(done: Run, data: TrainingData, config: Config, *, as_json: bool) -> None:
    epochs = sum(record["kind"] == "epoch" for record in done.history)
    if as_json:
        screen.say_json(
            {
                "best_epoch": done.best_epoch, "epochs": epochs, "metric": done.metric, "scores": done.scores,
                "data": list(data.notes), "out": str(done.out),
            }
        )  # fmt: skip
        return
    by = f", chosen by {done.metric} on the dev split" if done.metric and config.loop.keep == "best" else ""
    screen.say(f"{config.model.name} · loss {config.loss.name} · epoch {done.best_epoch} of {epochs}{by}")
    names = sorted({name for split in done.scores.values() for name in split})
    if names:
        rows = [[name, *(_cell(split.get(name)) for split in done.scores.values())] for name in names]
        screen.table(["", *done.scores], rows)
    screen.say(f"→ {done.out}")


def _cell(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"
