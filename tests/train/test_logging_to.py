"""Dashboards: what the history says, a service is told, and it is closed."""

from __future__ import annotations

import sys
from types import ModuleType

from sfumato.train import fit, logging_to


def test_a_service_is_told_what_the_history_says(features, settings, tmp_path, monkeypatch):
    told, closed = [], []

    class Service:
        def __init__(self, folder, config):
            assert folder == tmp_path / "run"
            assert config["loop"]["epochs"] == 3

        def log(self, numbers, *, step):
            told.append((step, dict(numbers)))

        def close(self):
            closed.append(True)

    monkeypatch.setattr(logging_to, "SERVICES", {"tensorboard": Service})
    run = fit(features(), settings({"loop": {"log_to": ["tensorboard"]}}), out=tmp_path / "run")
    steps = [record for record in run.history if record["kind"] == "step"]
    assert [(step, numbers["loss"]) for step, numbers in told if "loss" in numbers] == [
        (record["step"], record["loss"]) for record in steps
    ]
    dev = [numbers["dev/accuracy_score"] for _, numbers in told if "epoch_loss" in numbers]
    assert dev == [record["dev"]["accuracy_score"] for record in run.history if record["kind"] == "epoch"]
    assert closed == [True]


def test_mlflow_gets_settings_numbers_and_an_end(monkeypatch, tmp_path):
    calls = []
    fake = ModuleType("mlflow")
    for name in ("start_run", "log_params", "log_metrics", "end_run"):
        setattr(fake, name, lambda *given, _name=name, **options: calls.append((_name, given, options)))
    monkeypatch.setitem(sys.modules, "mlflow", fake)
    (service,) = logging_to.open_dashboards(["mlflow"], folder=tmp_path, config={"seed": 3, "loop": {"clip": None}})
    service.log({"loss": 0.5}, step=7)
    service.close()
    assert [name for name, *_ in calls] == ["start_run", "log_params", "log_metrics", "end_run"]
    assert calls[1][1] == ({"seed": 3, "loop.clip": None},)
    assert calls[2][1:] == (({"loss": 0.5},), {"step": 7})
