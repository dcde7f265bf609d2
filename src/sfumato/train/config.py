"""The settings of a training run: typed data, read from TOML, checked at the door.

An experiment is a short file of differences: `read_config` lays a TOML file over the defaults (or over another
configuration), and refuses what it does not know.
"""

from __future__ import annotations

__all__ = [
    "Config",
    "DataConfig",
    "LoopConfig",
    "LossConfig",
    "ModelConfig",
    "OptimizerConfig",
    "ScheduleConfig",
    "TargetConfig",
    "config_from",
    "paths_of_options",
    "read_config",
    "shipped_configs",
]

import math
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from difflib import get_close_matches
from os import PathLike
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from sfumato.errors import InputError, OptionError

# What files give: a public set by name, or files of one's own.
Missing = Literal["error", "drop"]
Precision = Literal["no", "fp16", "bf16"]
Optimizer = Literal["adam", "adamw", "sgd"]
Schedule = Literal["constant", "linear", "cosine", "steps"]
Device = Literal["auto", "cpu", "cuda", "mps"]
Metric = Literal[
    "auto", "accuracy_score", "f1_score", "soft_cross_entropy_loss", "entropy_correlation_score",
    "jensen_shannon_divergence",
]  # fmt: skip
Service = Literal["tensorboard", "wandb", "mlflow"]


@dataclass(frozen=True)
class DataConfig:
    """Where items and labels come from: files (``items``, ``soft``, ``gold``, ``votes``), or a public ``set``.

    ``classes`` gives the classes and their order, where they are not those of the labels. Of a public set, ``view``
    says which soft labels to make of its annotations. ``split`` names the column of the items file that says train,
    dev or test; without it, ``dev_share`` and ``test_share`` of the items are drawn with ``split_seed``, the same
    share of each class where ``balanced``. ``missing`` says what to do with items without a label and labels
    without an item: stop, or leave them out and say how many. ``limit`` takes only the first items of each split,
    to try something out.
    """

    items: str | None = None
    soft: str | None = None
    gold: str | None = None
    votes: str | None = None
    set: str | None = None
    view: str = "standard"
    classes: tuple[str, ...] | None = None
    split: str = "split"
    dev_share: float = 0.1
    test_share: float = 0.0
    split_seed: int = 0
    balanced: bool = False
    missing: Missing = "error"
    limit: int | None = None


@dataclass(frozen=True)
class ModelConfig:
    """Which model, by its name in `sfumato.train.models.MODELS`, with its own options."""

    name: str = "mlp"
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class TargetConfig:
    """What each item is taught: ``auto`` is what the loss needs (gold, soft labels or the annotations)."""

    kind: str = "auto"
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class LossConfig:
    """Which loss, by its name in `sfumato.train.objectives.OBJECTIVES`, with its own options."""

    name: str = "soft"
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class OptimizerConfig:
    """What turns gradients into steps.

    ``weight_decay`` is added to the gradient by adam and sgd, and taken from the weights by adamw. ``momentum`` and
    ``nesterov`` are those of sgd, ``betas`` those of adam and adamw.
    """

    name: Optimizer = "adamw"
    learning_rate: float = 1e-3
    weight_decay: float = 0.0
    momentum: float = 0.0
    nesterov: bool = False
    betas: tuple[float, ...] = (0.9, 0.999)


@dataclass(frozen=True)
class ScheduleConfig:
    """How the learning rate goes: see `sfumato.train.schedules.factor`.

    ``warmup_steps`` are a linear rise in front of any schedule. ``at`` (epochs that are over) and ``rates`` (the
    learning rate from there on) belong to ``steps``.
    """

    name: Schedule = "constant"
    warmup_steps: int = 0
    at: tuple[int, ...] = ()
    rates: tuple[float, ...] = ()


@dataclass(frozen=True)
class LoopConfig:
    """The loop itself. ``batch_size`` are the examples of one step, over all processes and parts.

    ``parts`` cuts each step into that many pieces, one after another, with the same result and less memory.
    ``clip`` bounds the norm of the gradient, ``precision`` is that of the multiplications, and ``workers`` are the
    processes that make batches (0: none but the one that trains). ``metric`` chooses the best epoch on the dev
    split; after ``patience`` epochs without a better one the run stops. ``keep`` says which weights come out: those
    of the best epoch or of the last. ``log_every`` is the number of steps between two lines of the history (0: one
    line per epoch). ``log_to`` names services that are told too.
    """

    epochs: int = 10
    batch_size: int = 32
    parts: int = 1
    clip: float | None = None
    precision: Precision = "no"
    device: Device = "auto"
    metric: Metric = "auto"
    patience: int | None = None
    keep: Literal["best", "last"] = "best"
    workers: int = 0
    log_every: int = 50
    log_to: tuple[Service, ...] = ()


@dataclass(frozen=True)
class Config:
    """All settings of a run; ``out`` is the folder to write, ``seed`` the seed of everything that is random.

    >>> config = config_from({"loop": {"epochs": 3}, "optimizer": {"name": "sgd"}})
    >>> config.loop.epochs, config.optimizer.name, config.schedule.name
    (3, 'sgd', 'constant')
    """

    out: str | None = None
    seed: int = 0
    data: DataConfig = field(default_factory=DataConfig)
    model: ModelConfig = field(default_factory=ModelConfig)
    target: TargetConfig = field(default_factory=TargetConfig)
    loss: LossConfig = field(default_factory=LossConfig)
    optimizer: OptimizerConfig = field(default_factory=OptimizerConfig)
    schedule: ScheduleConfig = field(default_factory=ScheduleConfig)
    loop: LoopConfig = field(default_factory=LoopConfig)

    def __post_init__(self) -> None:
        _check_ranges(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as plain data, ready for JSON; `config_from` takes them back."""
        settings: dict[str, Any] = _plain(asdict(self))
        return settings

    def with_changes(self, changes: Mapping[str, Any]) -> Config:
        """Return the settings with *changes* (a nested mapping) laid over them."""
        return config_from(changes, over=self)


def read_config(path: str | PathLike[str], *, over: Config | None = None) -> Config:
    """Return the configuration in a TOML file, laid over the defaults or over another one.

    Paths in it are relative to the file, as someone who reads it expects.
    """
    path = Path(path)
    try:
        text = path.read_bytes().decode("utf-8-sig")
        changes = tomllib.loads(text.replace("\r\n", "\n"))
    except FileNotFoundError:
        known = list(shipped_configs())
        near = get_close_matches(str(path), known, n=1)
        hint = f" Did you mean {near[0]}?" if near else ""
        raise InputError(
            f"There is no file {path}. Give a TOML file, or one of the names {', '.join(known)}.{hint}"
        ) from None
    except UnicodeDecodeError:
        raise InputError(f"{path} is not UTF-8 text. Give a TOML file.") from None
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path} is not TOML: {error}.") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}. Give a TOML file.") from None
    config = config_from(changes, over=over, where=str(path))
    given = changes.get("data", {})
    here = {
        name: str(path.parent / given[name])
        for name in ("items", "soft", "gold", "votes")
        if given.get(name) is not None
    }
    data: DataConfig = replace(config.data, **here)  # type: ignore[arg-type]  # the names of those that are paths
    options = paths_of_options(changes.get("model", {}).get("options", {}), path.parent)
    model = replace(config.model, options={**config.model.options, **options})
    return replace(
        config, data=data, model=model, out=str(path.parent / changes["out"]) if "out" in changes else config.out
    )


def paths_of_options(options: Mapping[str, Any], folder: Path) -> dict[str, str]:
    """Return those options of a model that are paths, relative ones from *folder*.

    An encoder is given by path or by name: it is a path where a folder lies there.
    """
    found = {
        name: str(folder / value) for name in ("glove", "pretrained") if isinstance(value := options.get(name), str)
    }
    if "pretrained" in found and not Path(found["pretrained"]).is_dir():
        del found["pretrained"]
    return found


def config_from(changes: Mapping[str, Any], *, over: Config | None = None, where: str = "The configuration") -> Config:
    """Return the settings that a nested mapping gives, laid over the defaults or over another configuration."""
    result: Config = _laid_over(over or Config(), changes, where, "")
    return result


def shipped_configs() -> dict[str, Path]:
    """Return the configurations that come with the package, those of the papers: name → file."""
    return {path.stem: path for path in sorted((Path(__file__).parent / "configs").glob("*.toml"))}


def _laid_over(base: Any, changes: Mapping[str, Any], where: str, prefix: str) -> Any:
    if not isinstance(changes, Mapping):
        raise OptionError(f"{where}: '{prefix.rstrip('.')}' must be a table of settings. Got {changes!r} instead.")
    hints = get_type_hints(type(base))
    known = [each.name for each in fields(base)]
    made = {}
    for key, value in changes.items():
        if key not in known:
            near = get_close_matches(key, known, n=1)
            hint = f" Is it {prefix}{near[0]}?" if near else f" There are: {', '.join(known)}."
            raise OptionError(f"{where}: there is no setting '{prefix}{key}'.{hint}")
        old = getattr(base, key)
        if is_dataclass(old):
            made[key] = _laid_over(old, value, where, f"{prefix}{key}.")
        else:
            made[key] = _checked(value, hints[key], f"{where}: '{prefix}{key}'")
    # A model's options belong to that model: another name starts without them.
    if "name" in made and "options" in known and "options" not in made and made["name"] != getattr(base, "name", None):
        made["options"] = {}
    return replace(base, **made)


def _checked(value: Any, kind: Any, what: str) -> Any:
    """Return *value* as the type *kind*, or say what was wanted."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        if value is None:
            return None
        (kind,) = (each for each in inner if each is not type(None))
        return _checked(value, kind, what)
    if origin is Literal:
        if value not in inner:
            raise OptionError(f"{what} must be one of {', '.join(map(str, inner))}. Got {value!r} instead.")
        return value
    if origin is tuple:
        if isinstance(value, str) or not isinstance(value, list | tuple):
            raise OptionError(f"{what} must be a list. Got {value!r} instead.")
        return tuple(_checked(each, inner[0], what) for each in value)
    if origin is not None:  # the options of a model, a target or a loss, checked by whoever takes them
        if not isinstance(value, Mapping):
            raise OptionError(f"{what} must be a table of settings. Got {value!r} instead.")
        return dict(value)
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise OptionError(f"{what} must be {_WORDS[kind]}. Got {value!r} instead.")
    return value


_WORDS = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}


def _check_ranges(config: Config) -> None:
    data, optimizer, schedule, loop = config.data, config.optimizer, config.schedule, config.loop
    wanted = [
        ("data.dev_share", data.dev_share, 0 <= data.dev_share < 1, "between 0 and 1"),
        ("data.test_share", data.test_share, 0 <= data.test_share < 1, "between 0 and 1"),
        ("data.dev_share + data.test_share", data.dev_share + data.test_share,
         data.dev_share + data.test_share < 1, "below 1"),
        ("data.limit", data.limit, data.limit is None or data.limit > 0, "above 0"),
        ("optimizer.learning_rate", optimizer.learning_rate,
         math.isfinite(optimizer.learning_rate) and optimizer.learning_rate > 0, "above 0"),
        ("optimizer.weight_decay", optimizer.weight_decay, optimizer.weight_decay >= 0, "0 or more"),
        ("optimizer.momentum", optimizer.momentum, 0 <= optimizer.momentum < 1, "between 0 and 1"),
        ("optimizer.betas", optimizer.betas,
         len(optimizer.betas) == 2 and all(0 <= beta < 1 for beta in optimizer.betas), "two numbers between 0 and 1"),
        ("schedule.warmup_steps", schedule.warmup_steps, schedule.warmup_steps >= 0, "0 or more"),
        ("schedule.at", schedule.at,
         all(epoch > 0 for epoch in schedule.at) and list(schedule.at) == sorted(set(schedule.at)), "rising epochs"),
        ("schedule.rates", schedule.rates,
         len(schedule.rates) == len(schedule.at) and all(rate > 0 for rate in schedule.rates),
         "as many learning rates above 0 as there are epochs in schedule.at"),
        ("loop.epochs", loop.epochs, loop.epochs > 0, "above 0"),
        ("loop.batch_size", loop.batch_size, loop.batch_size > 0, "above 0"),
        ("loop.parts", loop.parts, 0 < loop.parts <= max(loop.batch_size, 1), "between 1 and loop.batch_size"),
        ("loop.clip", loop.clip, loop.clip is None or loop.clip > 0, "above 0"),
        ("loop.patience", loop.patience, loop.patience is None or loop.patience > 0, "above 0"),
        ("loop.workers", loop.workers, loop.workers >= 0, "0 or more"),
        ("loop.log_every", loop.log_every, loop.log_every >= 0, "0 or more"),
        ("seed", config.seed, config.seed >= 0, "0 or more"),
        ("data.split_seed", data.split_seed, data.split_seed >= 0, "0 or more"),
    ]  # fmt: skip
    for name, value, fine, words in wanted:
        if not fine:
            raise OptionError(f"The setting '{name}' must be {words}. Got {value!r} instead.")
    misplaced = [
        ("schedule.at", schedule.at and schedule.name != "steps", "schedule.name = 'steps'"),
        ("optimizer.momentum", optimizer.momentum and optimizer.name != "sgd", "optimizer.name = 'sgd'"),
        ("optimizer.nesterov", optimizer.nesterov and not optimizer.momentum, "optimizer.momentum above 0"),
        ("optimizer.betas", optimizer.name == "sgd" and optimizer.betas != OptimizerConfig.betas,
         "optimizer.name = 'adam' or 'adamw'"),
        ("data.items", data.set is not None and data.items is not None, "no data.set beside it"),
    ]  # fmt: skip
    for name, wrong, needs in misplaced:
        if wrong:
            raise OptionError(f"The setting '{name}' needs {needs}.")
    if schedule.name == "steps" and not schedule.at:
        raise OptionError("The schedule 'steps' needs schedule.at (epochs) and schedule.rates (learning rates).")


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, tuple | list) else value
