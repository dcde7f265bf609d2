"""Settings: what a file says is what a run gets, and what it cannot say is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from sfumato.errors import InputError, OptionError
from sfumato.train import Config, config_from, read_config, shipped_configs
from sfumato.train.folder import config_text


def test_a_file_is_laid_over_the_defaults_with_paths_from_where_it_lies(tmp_path):
    (tmp_path / "a.toml").write_bytes(
        b'\xef\xbb\xbfseed = 3\r\nout = "run"\r\n[data]\r\nitems = "x.csv"\r\n[loop]\r\nclip = 1\r\n'
    )
    config = read_config(tmp_path / "a.toml")
    assert (config.seed, config.loop.clip, config.loop.epochs) == (3, 1.0, Config().loop.epochs)
    assert (config.out, config.data.items) == (str(tmp_path / "run"), str(tmp_path / "x.csv"))


@pytest.mark.parametrize("name", shipped_configs())
def test_what_is_written_reads_back_equal(name, tmp_path):
    config = read_config(shipped_configs()[name]).with_changes({"loop": {"clip": 0.1}, "data": {"items": None}})
    (tmp_path / "c.toml").write_text(config_text(config))
    assert read_config(tmp_path / "c.toml") == config
    assert config_from(config.to_dict()) == config


def test_paths_in_the_options_of_a_model_start_at_the_file(tmp_path, monkeypatch):
    (tmp_path / "there" / "encoder").mkdir(parents=True)
    file = tmp_path / "there" / "a.toml"
    file.write_text('[model]\nname = "pos_tagger"\noptions = { glove = "words.txt", hidden = 3 }\n')
    config = read_config(file)
    assert config.model.options == {"glove": str(tmp_path / "there" / "words.txt"), "hidden": 3}
    file.write_text('[model]\nname = "encoder"\noptions = { pretrained = "encoder" }\n')
    assert read_config(file).model.options == {"pretrained": str(tmp_path / "there" / "encoder")}
    file.write_text('[model]\nname = "encoder"\noptions = { pretrained = "roberta-base" }\n')
    assert read_config(file).model.options == {"pretrained": "roberta-base"}
    monkeypatch.chdir(tmp_path / "there")
    for name, given in (("glove", "words.txt"), ("pretrained", "encoder")):
        text = config_text(config_from({"model": {"options": {name: given}}}))
        file.write_text(text)
        assert read_config(file).model.options == {name: str(tmp_path / "there" / given)}
        assert str(tmp_path / "there" / given) in text


def test_options_belong_to_their_name():
    config = config_from({"model": {"name": "mlp", "options": {"hidden": [3]}}})
    assert config.with_changes({"seed": 1}).model.options == {"hidden": [3]}
    assert config.with_changes({"model": {"name": "pos_tagger"}}).model.options == {}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"lop": {}}, r"there is no setting 'lop'. Is it loop\?"),
        ({"loop": 3}, "'loop' must be a table of settings. Got 3"),
        ({"loop": {"epochs": 0}}, "'loop.epochs' must be above 0. Got 0"),
        ({"loop": {"epochs": True}}, "'loop.epochs' must be a whole number. Got True"),
        ({"loop": {"epochs": 2.5}}, "'loop.epochs' must be a whole number. Got 2.5"),
        ({"loop": {"device": "gpu"}}, "'loop.device' must be one of auto, cpu, cuda, mps. Got 'gpu'"),
        ({"optimizer": {"learning_rate": -1}}, "'optimizer.learning_rate' must be above 0"),
        ({"optimizer": {"momentum": 0.9}}, "'optimizer.momentum' needs optimizer.name = 'sgd'"),
        ({"optimizer": {"name": "sgd", "betas": [0.8, 0.9]}}, "'optimizer.betas' needs optimizer.name = 'adam' or"),
        ({"schedule": {"name": "steps"}}, "needs schedule.at"),
        ({"schedule": {"name": "steps", "at": [5, 3], "rates": [1, 1]}}, "rising epochs"),
        ({"schedule": {"at": [3], "rates": [0.1]}}, "needs schedule.name = 'steps'"),
        ({"data": {"dev_share": 0.5, "test_share": 0.5}}, "below 1"),
        ({"data": {"set": "pos", "items": "x.csv"}}, "needs no data.set beside it"),
    ],
)
def test_what_cannot_be_is_refused(changes, words):
    with pytest.raises(OptionError, match=words):
        config_from(changes)


def test_a_file_that_is_none_is_told(tmp_path: Path):
    with pytest.raises(InputError, match="one of the names collins-"):
        read_config(tmp_path / "none.toml")
    (tmp_path / "bad.toml").write_text("loop = [")
    with pytest.raises(InputError, match="is not TOML"):
        read_config(tmp_path / "bad.toml")
    (tmp_path / "latin.toml").write_bytes(b"# \xe9")
    with pytest.raises(InputError, match="is not UTF-8"):
        read_config(tmp_path / "latin.toml")
