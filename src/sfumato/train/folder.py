"""The folder of a run: what lies in it, how it is written, and how a model comes back from it."""

from __future__ import annotations

__all__ = [
    "HISTORY",
    "NAN_BATCH",
    "WEIGHTS",
    "check_same_run",
    "config_text",
    "data_fingerprint",
    "load_predictor",
    "load_weights",
    "open_folder",
    "save_weights",
    "settings_that_matter",
    "write_folder",
]

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.torch import load_file, save
from torch import Tensor

from sfumato.core.origin import Origin, fingerprint_of
from sfumato.core.version import __version__
from sfumato.errors import InputError
from sfumato.tables.write import write_whole
from sfumato.train.checkpoints import CHECKPOINT, Checkpoint
from sfumato.train.config import Config, DataConfig, paths_of_options, read_config
from sfumato.train.devices import device_named
from sfumato.train.learner import build_learner
from sfumato.train.model_card import model_card
from sfumato.train.models import MODELS
from sfumato.train.predict import Predictor
from sfumato.train.training_data import SPLITS, TrainingData

if TYPE_CHECKING:
    from sfumato.train.loop import Run

# The items of a batch whose loss is no number.
NAN_BATCH = "nan-batch.json"
WEIGHTS, CONFIG, MODEL, HISTORY, CARD = "weights.safetensors", "config.toml", "model.json", "history.jsonl", "README.md"
PREDICTIONS, DEV_PREDICTIONS = "predictions.parquet", "predictions-dev.parquet"
# What changes where and how a run is computed or told, but not what it computes.
# Nor does it matter where the data lie: what is in them has a fingerprint of its own.
_OF_NO_MATTER = {"data": ("items", "soft", "gold", "votes"), "loop": ("device", "workers", "log_every", "log_to")}


def open_folder(out: Path) -> None:
    """Make the folder, or go on with one that is the folder of a run; one of other things is refused."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise InputError(f"{out} is a file, or lies in one. Give a folder to write to.") from None
    except OSError as error:
        raise InputError(f"The folder {out} cannot be made: {error.strerror}. Give another one.") from None
    known = (CHECKPOINT, HISTORY)
    if any(out.iterdir()) and not any((out / name).exists() for name in known):
        raise InputError(
            f"The folder {out} holds other things than a run. Give an empty one, or one that is not there yet."
        )


def settings_that_matter(config: Config) -> dict[str, Any]:
    """Return the settings that decide what comes out."""
    settings = config.to_dict()
    del settings["out"]
    for table, names in _OF_NO_MATTER.items():
        for name in names:
            del settings[table][name]
    return settings


def data_fingerprint(data: TrainingData) -> str:
    """Return a short hash of examples, labels and splits."""
    seen = hashlib.blake2b(digest_size=12)
    for example in data.examples:
        for name, value in example.items():
            seen.update(value.tobytes() if isinstance(value, np.ndarray) else repr((name, value)).encode())
    arrays: list[NDArray[Any]] = [data.splits[split] for split in SPLITS]
    arrays += [array for array in (data.soft, data.gold) if array is not None]
    said = "" if data.annotations is None else data.annotations.fingerprint
    return fingerprint_of((data.items, data.classes, (seen.hexdigest(), said)), arrays)


def check_same_run(found: Checkpoint, settings: Mapping[str, Any], fingerprint: str, out: Path) -> None:
    """Refuse to go on with the run of other settings or data."""
    there, here = _flat(found.settings), _flat(settings)
    for name in sorted(there.keys() | here.keys()):
        if there.get(name) != here.get(name):
            raise InputError(
                f"The folder {out} holds a run with other settings: {name} is {there.get(name)!r} there and "
                f"{here.get(name)!r} here. Give another folder, or remove that one."
            )
    if found.data != fingerprint:
        raise InputError(
            f"The folder {out} holds a run on other data, or one of another version of sfumato, which may know data by "
            "another fingerprint. Give another folder, or remove that one."
        )


def save_weights(out: Path, name: str, weights: Mapping[str, Tensor]) -> None:
    """Write weights in the format safetensors, whole or not at all."""
    write_whole(out / name, save({key: tensor.detach().cpu().contiguous() for key, tensor in weights.items()}))


def load_weights(out: Path, name: str) -> dict[str, Tensor]:
    """Return the weights in a file of the folder."""
    try:
        weights: dict[str, Tensor] = load_file(out / name)
    except FileNotFoundError:
        raise InputError(f"There are no weights {out / name}. Is the folder that of a run that has ended?") from None
    except (SafetensorError, OSError) as error:
        raise InputError(f"{out / name} is not a file of weights that can be read ({error}).") from None
    return weights


def write_folder(run: Run, data: TrainingData, config: Config, settings: Mapping[str, Any]) -> None:
    """Write what a run leaves: weights, settings, predictions and a model card."""
    out = run.out
    if out is None:
        return
    save_weights(out, WEIGHTS, run.learner.state_dict())
    write_whole(out / CONFIG, config_text(config))
    annotators = () if data.annotations is None else data.annotations.annotators
    model = {
        "version": __version__, "kind": data.kind, "classes": data.classes, "annotators": annotators,
        "features": data.features, "settings": settings, "origin": run.predictor.origin.to_dict(),
    }  # fmt: skip
    write_whole(out / MODEL, json.dumps(model, ensure_ascii=False, indent=1))
    if "test" in run.predictions and "dev" in run.predictions:
        run.predictions["dev"].save(out / DEV_PREDICTIONS)
    for split in ("test", "dev"):
        if split in run.predictions:
            run.predictions[split].save(out / PREDICTIONS)
            break
    write_whole(out / CARD, model_card(run, data, config))


def load_predictor(folder: Path, *, device: str = "cpu") -> Predictor:
    """Return the model that lies in the folder of a run."""
    path = folder / MODEL
    try:
        model = json.loads(path.read_text(encoding="utf-8"))
        settings, classes, annotators = model["settings"], tuple(model["classes"]), tuple(model["annotators"])
        origin, kind = Origin.from_dict(model["origin"]), model["kind"]
        features = None if model.get("features") is None else tuple(model["features"])
    except OSError:
        raise InputError(
            f"{folder} is not the folder of a run that has ended: there is no {MODEL} that can be read."
        ) from None
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path} is not what a run writes ({error}).") from None
    config = read_config(folder / CONFIG)
    learner = build_learner(config, settings, n_classes=len(classes), n_annotators=len(annotators), pretrained=False)
    try:
        learner.load_state_dict(load_weights(folder, WEIGHTS))
    except RuntimeError as error:
        reason = str(error).split("\n")[1].strip() if "\n" in str(error) else str(error)
        raise InputError(f"The weights in {folder} are not those of the model in {MODEL} ({reason}).") from None
    learner.to(device_named(device)).eval()
    collate = MODELS[config.model.name].collator(settings)
    return Predictor(learner, collate, kind, classes, annotators, config.loop, origin, features)


def config_text(config: Config) -> str:
    """Return the settings as TOML, with absolute paths: `read_config` takes them back, wherever the file lies."""
    data = config.data
    paths = {
        name: str(Path(value).resolve())
        for name in ("items", "soft", "gold", "votes")
        if (value := getattr(data, name)) is not None
    }
    here: DataConfig = replace(data, **paths)  # type: ignore[arg-type]  # the names of those that are paths
    out = None if config.out is None else str(Path(config.out).resolve())
    options = {**config.model.options, **paths_of_options(config.model.options, Path.cwd())}
    settings = replace(config, data=here, model=replace(config.model, options=options), out=out).to_dict()
    plain = {name: value for name, value in settings.items() if not isinstance(value, dict)}
    lines = _assignments(plain)
    for name, table in settings.items():
        if isinstance(table, dict):
            lines += ["", f"[{name}]", *_assignments(table)]
    return "\n".join(lines) + "\n"


def _assignments(table: Mapping[str, Any]) -> list[str]:
    return [f"{_key(name)} = {_toml(value)}" for name, value in table.items() if value is not None]


def _key(name: str) -> str:
    return name if name.replace("_", "").isalnum() and name.isascii() else json.dumps(name)


def _toml(value: Any) -> str:
    if isinstance(value, Mapping):
        return (
            "{" + ", ".join(f"{_key(name)} = {_toml(each)}" for name, each in value.items() if each is not None) + "}"
        )
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return repr(value) if isinstance(value, float) else json.dumps(value, ensure_ascii=False)


def _flat(settings: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in settings.items():
        flat.update(_flat(value, f"{prefix}{name}.") if isinstance(value, Mapping) else {f"{prefix}{name}": value})
    return flat
