"""Other people's dashboards: TensorBoard, Weights & Biases, MLflow, where they are installed."""

from __future__ import annotations

__all__ = ["SERVICES", "Dashboard", "open_dashboards"]

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from sfumato.errors import OptionError, check_choice


class Dashboard(Protocol):
    """What is told the numbers of a run."""

    def log(self, numbers: Mapping[str, float], *, step: int) -> None: ...
    def close(self) -> None: ...


class _TensorBoard:
    def __init__(self, folder: Path, config: Mapping[str, Any]) -> None:
        from torch.utils.tensorboard import SummaryWriter

        self._writer = SummaryWriter(str(folder / "tensorboard"))
        self._writer.add_text("config", "\n".join(f"    {name} = {value!r}" for name, value in _flat(config).items()))

    def log(self, numbers: Mapping[str, float], *, step: int) -> None:
        for name, value in numbers.items():
            self._writer.add_scalar(name, value, step)

    def close(self) -> None:
        self._writer.close()


class _Wandb:
    def __init__(self, folder: Path, config: Mapping[str, Any]) -> None:
        import wandb

        self._run = wandb.init(dir=str(folder), name=folder.name, config=dict(config), resume="allow")

    def log(self, numbers: Mapping[str, float], *, step: int) -> None:
        self._run.log(dict(numbers), step=step)

    def close(self) -> None:
        self._run.finish()


class _MLflow:
    def __init__(self, folder: Path, config: Mapping[str, Any]) -> None:
        import mlflow

        self._mlflow = mlflow
        mlflow.start_run(run_name=folder.name)
        mlflow.log_params(_flat(config))

    def log(self, numbers: Mapping[str, float], *, step: int) -> None:
        self._mlflow.log_metrics(dict(numbers), step=step)

    def close(self) -> None:
        self._mlflow.end_run()


SERVICES: Mapping[str, Callable[[Path, Mapping[str, Any]], Dashboard]] = {
    "tensorboard": _TensorBoard,
    "wandb": _Wandb,
    "mlflow": _MLflow,
}


def open_dashboards(names: Sequence[str], *, folder: Path, config: Mapping[str, Any]) -> list[Dashboard]:
    """Return the services by name, opened for one run; one that is not installed is an `OptionError`.

    >>> open_dashboards([], folder=Path("run"), config={})
    []
    """
    opened: list[Dashboard] = []
    for name in names:
        check_choice(name, SERVICES, option="log_to")
        try:
            opened.append(SERVICES[name](folder, config))
        except ImportError:
            raise OptionError(
                f"Logging to {name} needs a package that is not installed. Install it with: pip install {name}, "
                "or take it out of loop.log_to."
            ) from None
    return opened


def _flat(config: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in config.items():
        flat.update(_flat(value, f"{prefix}{name}.") if isinstance(value, Mapping) else {f"{prefix}{name}": value})
    return flat
