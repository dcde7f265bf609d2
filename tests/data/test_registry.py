from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path

import pytest

import sfumato as sf
from sfumato.data import places
from sfumato.data.dataset import DataFile
from sfumato.data.verification import verify_stored
from sfumato.errors import InputError, MissingDataError, OptionError

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
        f"The data set 'rte' is not on this machine: put rte.standardized.tsv (515,468 bytes from "
        "https://raw.githubusercontent.com/copenlu/aggregating-crowd-annotations-ood/"
        "eecaa50a32e11f205f40a0961b5f286e3e33f110/data/RTE/rte.standardized.tsv) into "
        f"{folder}, or run: sfumato data get rte"
    )
    with pytest.raises(MissingDataError, match=r"'snow2008/joy'.*sfumato data get snow2008/joy$") as caught:
        sf.data.load("snow2008", part="joy")
    for file in sf.data.entry("snow2008").files_of("joy"):
        assert f"{file.path} ({file.size:,} bytes from {file.source})" in str(caught.value)
    with pytest.raises(MissingDataError, match=r"from below https://\S+/; sfumato data describe mre gives") as caught:
        sf.data.load("mre")
    for file in sf.data.entry("mre").files:
        assert f"{file.path}, " in f"{caught.value}, ".replace(" (", ", ")
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
        (3, {}, "'name' must be the name of a data set, such as 'rte'. Got 3"),
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


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (lambda content: content[: len(content) // 2 + 1], r"it has [\d,]+ bytes, not 515,468"),
        (lambda content: content.replace(b"1", b"0", 1), r"its sha256 is [0-9a-f]{64}, not 3187c5de"),
        (lambda content: b"\xff" * len(content), r"its sha256 is"),
    ],
)
@pytest.mark.parametrize("zipped", [False, True])
def test_a_file_that_was_cut_or_changed_is_not_loaded(spoil, sentence, zipped, shared_data, tmp_path, monkeypatch):
    (tmp_path / "rte").mkdir()
    for file in sf.data.entry("rte").files:
        content = places.read_bytes(shared_data / "rte" / file.path)
        if file.path == "rte.standardized.tsv":
            content = spoil(content)
        target = tmp_path / "rte" / file.path
        if zipped:
            target.with_name(target.name + ".gz").write_bytes(gzip.compress(content, 1))
        else:
            target.write_bytes(content)
    monkeypatch.setenv("SFUMATO_DATA", str(tmp_path))
    stored = str(tmp_path / "rte" / "rte.standardized.tsv") + ".gz" * zipped
    with pytest.raises(InputError, match="its sha256 is" if zipped else sentence) as caught:
        sf.data.load("rte")
    assert str(caught.value).startswith(f"The file {stored} is not the one that upstream has (")
    assert str(caught.value).endswith("Delete it and run: sfumato data get rte")


def test_a_file_of_unknown_hash_that_cannot_be_read_is_told_in_a_sentence(shared_data, tmp_path, monkeypatch):
    (tmp_path / "mre").mkdir()
    for file in sf.data.entry("mre").files:
        found = places.stored(shared_data / "mre" / file.path)
        target = tmp_path / "mre" / found.relative_to(shared_data / "mre")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(gzip.compress(b"\xffjunk") if "batch_07" in target.name else found.read_bytes())
    monkeypatch.setenv("SFUMATO_DATA", str(tmp_path))
    with pytest.raises(InputError, match=r"cannot be read \(.*\)\. Delete it and run: sfumato data get mre$"):
        sf.data.load("mre")


def test_a_large_file_is_hashed_when_it_is_fetched_and_measured_when_it_is_loaded(tmp_path, monkeypatch):
    large = DataFile("votes.bin", "https://example.org/votes.bin", 20_000_001, "0" * 64)
    (tmp_path / "votes.bin").write_bytes(bytes(large.size))
    verify_stored(tmp_path, [large], remedy="")
    with pytest.raises(InputError, match="its sha256 is"):
        verify_stored(tmp_path, [large], remedy="", large_too=True)
    (tmp_path / "votes.bin").write_bytes(bytes(large.size - 1))
    with pytest.raises(InputError, match=r"it has 20,000,000 bytes, not 20,000,001"):
        verify_stored(tmp_path, [large], remedy="")


def test_listing_the_sets_imports_neither_polars_nor_any_of_them():
    code = "import sys, sfumato; sfumato.data.names(); print(*sys.modules)"
    loaded = set(
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    )
    assert "sfumato.data.registry" in loaded
    assert "polars" not in loaded
    assert not {f"sfumato.data.{name}" for name in sf.data.names()} & loaded
