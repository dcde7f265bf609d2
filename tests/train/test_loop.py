"""The loop: it learns, it is the same however it is cut, and it goes on exactly after a stop."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch

from sfumato.errors import InputError, OptionError
from sfumato.train import Predictor, fit
from sfumato.train import loop as loop_module
from sfumato.train.config import config_from

PROGRAM = Path(__file__).with_name("one_run.py")


def weights(run):
    return {name: tensor.clone() for name, tensor in run.learner.state_dict().items()}


def same(left, right):
    return left.keys() == right.keys() and all(torch.equal(left[name], right[name]) for name in left)


def losses(run):
    return [record["loss"] for record in run.history if record["kind"] == "step"]


@pytest.mark.parametrize(
    ("loss", "needs"), [("hard", ["gold"]), ("soft", ["soft"]), ("kl", ["soft"]), ("jensen_shannon", ["soft"]),
                        ("label_smoothing", ["gold"]), ("gold_plus_soft", ["gold", "soft"])],
)  # fmt: skip
def test_it_learns(features, settings, loss, needs):
    config = settings({"loss": {"name": loss}, "loop": {"epochs": 25}, "model": {"options": {"dropout": 0.0}}})
    run = fit(features(needs), config)
    epochs = [record["loss"] for record in run.history if record["kind"] == "epoch"]
    assert epochs[-1] < 0.8 * epochs[0]
    assert run.scores["dev"]["accuracy_score"] > 0.5
    assert run.predictions["test"].items == tuple(f"i{row}" for row in range(34, 40))


def test_same_seed_same_bits_and_another_seed_others(features, settings):
    first, second, other = (fit(features(), settings({"seed": seed})) for seed in (3, 3, 4))
    assert same(weights(first), weights(second))
    assert losses(first) == losses(second)
    assert not same(weights(first), weights(other))


def test_it_neither_depends_on_nor_disturbs_the_random_numbers_of_the_process(features, settings):
    torch.manual_seed(1)
    first = fit(features(), settings())
    after = torch.rand(3)
    torch.manual_seed(1)
    assert torch.equal(after, torch.rand(3))
    assert same(weights(first), weights(fit(features(), settings())))


def test_workers_change_no_bit(features, settings):
    target = {"target": {"kind": "drawn"}}
    alone = fit(features(("annotations",)), settings(target))
    helped = fit(features(("annotations",)), settings({**target, "loop": {"workers": 2}}))
    assert same(weights(alone), weights(helped))


@pytest.mark.parametrize("loss", ["soft", "gold_plus_soft"])
def test_parts_change_nothing_but_roundings(sentences, settings, loss):
    changes = {"loss": {"name": loss}, "model": {"name": "pos_tagger", "options": {"dropout": 0.0, "hidden": 8}}}
    whole = fit(sentences(("gold", "soft")), settings(changes))
    cut = fit(sentences(("gold", "soft")), settings({**changes, "loop": {"parts": 3}}))
    np.testing.assert_allclose(losses(cut), losses(whole), rtol=2e-5)


def test_clipping_bounds_the_gradient(features, settings):
    seen = []

    class Sgd(torch.optim.SGD):
        def step(self, closure=None):
            squares = [float(p.grad.square().sum()) for group in self.param_groups for p in group["params"]]
            seen.append(sum(squares) ** 0.5)
            return super().step(closure)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loop_module, "build_optimizer", lambda config, model: Sgd(model.parameters(), lr=0.1))
        fit(features(), settings({"loop": {"clip": 0.05}}))
        assert max(seen) <= 0.05 * (1 + 1e-4)
        fit(features(), settings())
    assert max(seen) > 0.05


def test_bfloat16_learns_the_same_to_its_precision(features, settings):
    plain, half = (fit(features(), settings({"loop": {"precision": each}})) for each in ("no", "bf16"))
    np.testing.assert_allclose(losses(half), losses(plain), rtol=0.03)
    assert losses(half) != losses(plain)
    assert {tensor.dtype for tensor in weights(half).values()} == {torch.float32}


def test_the_best_epoch_is_kept_and_the_run_stops_when_no_better_one_comes(features, settings):
    config = settings({"optimizer": {"learning_rate": 0.2}, "loop": {"epochs": 60, "patience": 3}})
    run = fit(features(), config)
    epochs = [record for record in run.history if record["kind"] == "epoch"]
    values = [record["dev"]["soft_cross_entropy_loss"] for record in epochs]
    assert run.metric == "soft_cross_entropy_loss"
    assert run.best_epoch == 1 + int(np.argmin(values))
    assert len(epochs) == run.best_epoch + 3 < 60
    assert run.scores["dev"]["soft_cross_entropy_loss"] == min(values)
    last = fit(features(), config.with_changes({"loop": {"keep": "last"}}))
    assert last.scores["dev"]["soft_cross_entropy_loss"] == values[-1]


def test_a_loss_that_is_not_a_number_stops_the_run_and_names_the_items(features, settings, tmp_path):
    data = features()
    broken = dict(data.examples[3])
    broken["features"] = np.full(6, 3e38, dtype=np.float32)
    examples = list(data.examples)
    examples[3] = broken
    bad = type(data)(**{**vars(data), "examples": examples})
    with pytest.raises(InputError, match=r"The loss is (nan|inf) in step \d of 4 .*'i3'.*learning_rate"):
        fit(bad, settings({"model": {"options": {"hidden": [8], "standardise": False}}, "loop": {"batch_size": 8}}))
    config = settings({"model": {"options": {"hidden": [8], "standardise": False}}})
    with pytest.raises(InputError, match=r"… \(8 items\) \(all of them: .*nan-batch.json\)"):
        fit(bad, config, out=tmp_path)
    left = json.loads((tmp_path / "nan-batch.json").read_text())
    assert len(left["items"]) == 8
    assert "i3" in left["items"]
    fit(data, config, out=tmp_path)
    assert not (tmp_path / "nan-batch.json").exists()


# ── after a stop ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_killed_in_the_middle_of_an_epoch_it_ends_with_the_same_bits(tmp_path):
    arguments = ["--epochs", "6"]
    subprocess.run([sys.executable, str(PROGRAM), str(tmp_path / "whole"), *arguments], check=True)
    slow = subprocess.Popen([sys.executable, str(PROGRAM), str(tmp_path / "killed"), *arguments, "--slow"])
    history = tmp_path / "killed" / "history.jsonl"
    deadline = time.monotonic() + 120
    # Two whole epochs, and two steps of the third.
    while not history.exists() or history.read_text().count("\n") < 2 * 5 + 2:
        assert slow.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.005)
    slow.send_signal(signal.SIGKILL)
    slow.wait()
    assert not (tmp_path / "killed" / "weights.safetensors").exists()
    subprocess.run([sys.executable, str(PROGRAM), str(tmp_path / "killed"), *arguments], check=True)
    for name in ("weights.safetensors", "predictions.parquet"):
        assert (tmp_path / "killed" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    histories = [
        [json.loads(line) for line in (tmp_path / each / "history.jsonl").read_text().splitlines()]
        for each in ("killed", "whole")
    ]
    for record in [*histories[0], *histories[1]]:
        for timed in ("seconds", "examples_per_second"):
            record.pop(timed, None)
    assert histories[0] == histories[1]


def test_a_run_that_has_ended_gives_its_result_again_without_learning(features, settings, tmp_path):
    first = fit(features(), settings(), out=tmp_path / "run")
    again = fit(features(), settings(), out=tmp_path / "run", progress=lambda *_: pytest.fail("it learns again"))
    assert same(weights(first), weights(again))
    assert first.scores == again.scores
    assert first.best_epoch == again.best_epoch
    assert [path.name for path in (tmp_path / "run").glob("*.safetensors")] == ["weights.safetensors"]
    third = fit(features(), settings(), out=tmp_path / "run")
    assert same(weights(first), weights(third))


@pytest.mark.parametrize("left", [None, 10])
def test_a_history_that_is_not_whole_is_told(features, settings, tmp_path, left):
    fit(features(), settings({"loop": {"epochs": 1}}), out=tmp_path)
    history = tmp_path / "history.jsonl"
    text = history.read_bytes()
    history.unlink()
    if left is not None:
        history.write_bytes(text[:left])
    with pytest.raises(InputError, match=rf"history.jsonl holds {left or 0} bytes, and the checkpoint"):
        fit(features(), settings({"loop": {"epochs": 1}}), out=tmp_path)
    assert not history.exists() if left is None else history.read_bytes() == text[:left]


def test_another_run_in_the_same_folder_is_refused(features, settings, tmp_path):
    fit(features(), settings(), out=tmp_path / "run")
    with pytest.raises(InputError, match=r"other settings: optimizer\.learning_rate is 0\.01 there and 0\.02 here"):
        fit(features(), settings({"optimizer": {"learning_rate": 0.02}}), out=tmp_path / "run")
    with pytest.raises(InputError, match="a run on other data, or one of another version"):
        fit(features(n=41), settings(), out=tmp_path / "run")
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "a.txt").write_text("Dear")
    with pytest.raises(InputError, match="holds other things than a run"):
        fit(features(), settings(), out=tmp_path / "letters")


def test_two_processes_have_the_losses_of_one(tmp_path):
    """The batches are cut differently (an odd one included), the losses are equal to 1e-5."""
    common = {**os.environ, "OMP_NUM_THREADS": "1"}
    # The launcher knows several processes by the name of several GPUs; the settings put them on the CPU.
    launch = [sys.executable, "-m", "accelerate.commands.launch", "--multi_gpu", "--num_processes", "2",
              "--num_machines", "1", "--mixed_precision", "no", "--dynamo_backend", "no",
              "--main_process_port", "0"]  # fmt: skip
    for name, command in (("one", [sys.executable]), ("two", launch)):
        done = subprocess.run(
            [*command, str(PROGRAM), str(tmp_path / name), "--epochs", "3"],
            capture_output=True, text=True, env=common, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr[-3000:]
    curves = []
    for name in ("one", "two"):
        records = [json.loads(line) for line in (tmp_path / name / "history.jsonl").read_text().splitlines()]
        curves.append([record["loss"] for record in records])
        dev = [record["dev"] for record in records if record["kind"] == "epoch"]
        curves.append([each["soft_cross_entropy_loss"] for each in dev])
    np.testing.assert_allclose(curves[2], curves[0], atol=1e-5)
    np.testing.assert_allclose(curves[3], curves[1], atol=1e-5)
    one, two = (Predictor.load(tmp_path / name) for name in ("one", "two"))
    for name, tensor in one.learner.state_dict().items():
        torch.testing.assert_close(two.learner.state_dict()[name], tensor, atol=1e-4, rtol=0)


def test_what_there_is_not_is_said(features, settings):
    with pytest.raises(OptionError, match="There is no CUDA device"):
        fit(features(), settings({"loop": {"device": "cuda"}}))
    with pytest.raises(OptionError, match="fp16 needs a GPU"):
        fit(features(), settings({"loop": {"precision": "fp16"}}))
    with pytest.raises(OptionError, match="pip install mlflow"):
        fit(features(), settings({"loop": {"log_to": ["mlflow"]}}))
    with pytest.raises(OptionError, match=r"there is no setting .*\. Is it loop\.epochs\?"):
        config_from({"loop": {"epoch": 3}})


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"model": {"options": {"hidden": 64}}},
            "'hidden' of the model 'mlp' cannot be 64. It must be a list, each a wh",
        ),
        ({"model": {"options": {"hidden": ["a", 1]}}}, "cannot be ['a', 1]"),
        ({"loss": {"options": {"class_weights": 3}}}, "cannot be 3. It must be a list, each a number"),
        ({"loss": {"options": {"class_weights": ["a", 1, 2]}}}, "cannot be ['a', 1, 2]"),
        (
            {"loss": {"options": {"class_weights": [1, -1, 2]}}},
            "numbers of 0 or more, not all of them 0. Got [1, -1, 2]",
        ),
        ({"loss": {"options": {"class_weights": [1, float("nan"), 2]}}}, "numbers of 0 or more"),
        ({"loss": {"options": {"class_weights": [0, 0, 0]}}}, "not all of them 0"),
    ],
)
def test_options_that_are_lists_are_checked(features, settings, changes, words):
    with pytest.raises(OptionError, match=re.escape(words)):
        fit(features(), settings(changes))
