from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import sfumato as sf
from sfumato.data import places
from sfumato.errors import MissingDataError, OptionError

ROOM = Path(sf.data.__file__).parent


def test_every_set_of_the_room_is_registered():
    written = {path.stem for path in ROOM.glob("*.py") if "\nENTRY = Entry(" in path.read_text()}
    assert written == set(sf.data.names())


@pytest.mark.parametrize("name", sf.data.names())
def test_an_entry_says_all_that_a_reader_needs(name):
    known = sf.data.entry(name)
    assert known.name == known.folder == name
    for text in (known.title, known.summary, known.citation, known.licence):
        assert text == text.strip()
        assert len(text) > 2
    assert known.homepage.startswith("https://")
    assert known.files
    assert known.gives
    assert set(known.gives) <= set(sf.data.DataSet.__dataclass_fields__)
    assert known.size == sum(file.size for file in known.files) > 0
    paths = [file.path for file in known.files]
    assert len(set(paths)) == len(paths)
    for file in known.files:
        assert set(file.parts) <= set(known.parts)
        assert not file.path.startswith("/")
        assert ".." not in file.path
        assert not file.path.endswith(".gz")
        source = file.archive or file
        if source.address is not None:
            assert source.address.startswith("https://")
            assert " " not in source.address
            assert source.sha256 or source.git_blob
        assert (file.git_blob is not None) or (file.clean is None)
    for part in known.parts:
        assert known.files_of(part)


@pytest.mark.parametrize("name", sf.data.names())
def test_the_files_are_those_that_the_entry_describes(name, shared_data, monkeypatch):
    def no_network(*_args, **_options):
        raise AssertionError("all files are here; nothing may be fetched")

    monkeypatch.setattr("sfumato.data.fetch.urlopen", no_network)
    assert sf.data.get(name) == sf.data.path(name) == shared_data / name


@pytest.mark.parametrize("name", sf.data.names())
def test_loading_gives_what_the_entry_promises(name, shared_data):
    known = sf.data.entry(name)
    given = set()
    for part in list(known.parts)[:12] or [None]:
        data = sf.data.load(name, part=part)
        assert data.name == (name if part is None else f"{name}/{part}")
        assert len(set(data.items)) == len(data.items) > 0
        if data.annotations is not None:
            assert set(data.annotations.items) <= set(data.items)
            assert data.annotations.classes == data.classes
        if data.gold is not None:
            assert set(data.gold.items) <= set(data.items)
        if data.texts is not None:
            assert tuple(data.texts["item"]) == data.items
        for rows in (data.counts, data.images, data.features):
            assert rows is None or len(rows) == len(data.items)
        for split in data.splits.values():
            assert set(split) <= set(data.items)
        assert set(data.meanings) <= set(data.classes)
        for field in sf.data.DataSet.__dataclass_fields__:
            value = getattr(data, field)
            if field not in ("name", "items", "classes", "meanings", "notes"):
                given |= {field} if value is not None and (not hasattr(value, "__len__") or len(value)) else set()
    assert given == set(known.gives)


def test_a_missing_set_is_told_in_one_sentence(tmp_path, monkeypatch):
    monkeypatch.delenv("SFUMATO_DATA", raising=False)
    monkeypatch.setenv("SFUMATO_CACHE", str(tmp_path))
    folder = tmp_path / "data" / "rte"
    folder.mkdir(parents=True)
    (folder / "rte1.tsv").write_text("id\n")
    with pytest.raises(MissingDataError) as caught:
        sf.data.load("rte")
    assert str(caught.value) == (
        f"The data set 'rte' is not on this machine: put rte.standardized.tsv into {folder} (515,468 bytes from "
        "https://raw.githubusercontent.com/copenlu/aggregating-crowd-annotations-ood/"
        "eecaa50a32e11f205f40a0961b5f286e3e33f110/data/RTE/rte.standardized.tsv), or run: sfumato data get rte"
    )
    with pytest.raises(MissingDataError, match=r"'snow2008/joy'.* and 1 more .*sfumato data get snow2008/joy$"):
        sf.data.load("snow2008", part="joy")
    with pytest.raises(MissingDataError, match=r"put raw_human_data\.csv into .*cifar10s by hand, see https://[^ ]*$"):
        sf.data.load("cifar10s")


def test_the_folder_of_the_user_comes_before_the_cache(tmp_path, monkeypatch):
    files = sf.data.entry("rte").files
    monkeypatch.setenv("SFUMATO_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("SFUMATO_DATA", str(tmp_path / "own"))
    for root in (tmp_path / "cache" / "data", tmp_path / "own"):
        (root / "rte").mkdir(parents=True)
        for file in files:
            (root / "rte" / f"{file.path}.gz").write_bytes(b"")
    assert sf.data.path("rte") == tmp_path / "own" / "rte"
    (tmp_path / "own" / "rte" / "rte1.tsv.gz").unlink()
    assert sf.data.path("rte") == tmp_path / "cache" / "data" / "rte"


def test_the_cache_is_where_the_user_keeps_caches(monkeypatch, tmp_path):
    for name in ("SFUMATO_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert places.cache_folder() == tmp_path / ".cache" / "sfumato" / "data"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert places.cache_folder() == tmp_path / "xdg" / "sfumato" / "data"
    monkeypatch.setenv("SFUMATO_CACHE", str(tmp_path / "own"))
    assert places.cache_folder() == tmp_path / "own" / "data"


@pytest.mark.parametrize(
    ("name", "options", "sentence"),
    [
        ("rtee", {}, "'name' must be one of .*rte"),
        ("rte", {"sentences": "all"}, "'rte' does not know the option 'sentences'; it takes no options"),
        ("mre", {"seed": 0}, "'mre' does not know the option 'seed'; its options are sentences, cause"),
        ("rte", {"part": "x"}, "'rte' has no parts. Got the part 'x'"),
        ("rte/x", {}, "'rte' has no parts. Got the part 'x'"),
        ("snow2008/rte", {"part": "wsd"}, "'snow2008/rte' names the part 'rte', and the option 'part' says 'wsd'"),
        ("snow2008/x", {}, "'part' must be one of anger, .*Got 'x'"),
        ("snow2008", {}, "'snow2008' has parts; name one as 'snow2008/PART'"),
    ],
)
def test_what_is_not_known_is_refused(name, options, sentence):
    with pytest.raises(OptionError, match=sentence):
        sf.data.load(name, **options)


def test_listing_the_sets_imports_neither_polars_nor_any_of_them():
    code = "import sys, sfumato; sfumato.data.names(); print(*sys.modules)"
    loaded = set(
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    )
    assert "sfumato.data.registry" in loaded
    assert "polars" not in loaded
    assert not {f"sfumato.data.{name}" for name in sf.data.names()} & loaded
