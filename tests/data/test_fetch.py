from __future__ import annotations

import dataclasses
import hashlib
import io
import tarfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

import sfumato as sf
from sfumato.data import fetch, registry
from sfumato.data.dataset import DataFile, DataSet, Entry
from sfumato.errors import InputError, MissingDataError

CONTENT = bytes(range(256)) * 1_000


class Upstream(ThreadingHTTPServer):
    """A server on this machine that does as it is told and remembers what was asked of it."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.files = {"/set/votes.bin": CONTENT, "/set/gold.txt": b"a 1\n"}
        self.breaks: list[int] = []  # after how many bytes the next answers break off
        self.resumes = True
        self.asked: list[tuple[str, str | None]] = []

    def address(self, path: str) -> str:
        return f"http://127.0.0.1:{self.server_port}{path}"


class Handler(BaseHTTPRequestHandler):
    server: Upstream

    def do_GET(self) -> None:
        wanted = self.headers.get("Range")
        self.server.asked.append((self.path, wanted))
        if self.path not in self.server.files:
            self.send_error(404)
            return
        content = self.server.files[self.path]
        start = int(wanted.removeprefix("bytes=").removesuffix("-")) if wanted and self.server.resumes else 0
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        end = start + self.server.breaks.pop(0) if self.server.breaks else len(content)
        self.wfile.write(content[start:end])

    def log_message(self, *_args: object) -> None:
        pass


@pytest.fixture
def upstream(monkeypatch, tmp_path):
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.delenv("SFUMATO_DATA", raising=False)
    monkeypatch.setenv("SFUMATO_CACHE", str(tmp_path))
    with Upstream() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def git_blob(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def register(monkeypatch, *files: DataFile) -> None:
    known = Entry(
        name="toy", title="Toy", summary="Toy.", citation="Nobody.", licence="none", homepage="https://example.org",
        files=files, gives=(), load=lambda folder: DataSet("toy", ()),
    )  # fmt: skip
    monkeypatch.setattr(registry, "entry", lambda name: known)


@pytest.fixture
def toy(upstream, monkeypatch, tmp_path):
    """A set of two files on the server; the folder that it will be in."""
    votes = DataFile(
        "sub/votes.bin", upstream.address("/set/votes.bin"), len(CONTENT), hashlib.sha256(CONTENT).hexdigest()
    )
    gold = DataFile("gold.txt", upstream.address("/set/gold.txt"), 4, hashlib.sha256(b"a 1\n").hexdigest())
    register(monkeypatch, votes, gold)
    return tmp_path / "data" / "toy"


def test_all_files_come_whole_and_are_not_fetched_twice(toy, upstream):
    seen = []
    assert sf.data.get("toy", progress=lambda *step: seen.append(step)) == toy
    assert (toy / "sub/votes.bin").read_bytes() == CONTENT
    assert (toy / "gold.txt").read_bytes() == b"a 1\n"
    assert sorted(path.name for path in toy.rglob("*") if path.is_file()) == ["gold.txt", "votes.bin"]
    assert seen[-1] == ("gold.txt", 4, 4)
    steps = [done for path, done, total in seen if path == "sub/votes.bin" and total == len(CONTENT)]
    assert steps == sorted(steps)
    assert steps[-1] == len(CONTENT)
    assert len(steps) > 1
    assert sf.data.get("toy") == sf.data.path("toy") == toy
    assert len(upstream.asked) == 2


def test_a_broken_download_is_resumed_where_it_stopped(toy, upstream):
    upstream.breaks = [100_000, 50_000]
    sf.data.get("toy")
    assert (toy / "sub/votes.bin").read_bytes() == CONTENT
    assert [asked for path, asked in upstream.asked if path == "/set/votes.bin"] == [
        None,
        "bytes=100000-",
        "bytes=150000-",
    ]


def test_a_later_run_takes_up_what_an_earlier_one_left(toy, upstream):
    upstream.breaks = [1_000] * 5
    with pytest.raises(MissingDataError, match=r"broke off 5 times\. What has come is kept"):
        sf.data.get("toy")
    assert (toy / "sub/votes.bin.part").read_bytes() == CONTENT[:5_000]
    assert not (toy / "sub/votes.bin").exists()
    with pytest.raises(MissingDataError):
        sf.data.path("toy")
    sf.data.get("toy")
    assert upstream.asked[5] == ("/set/votes.bin", "bytes=5000-")
    assert (toy / "sub/votes.bin").read_bytes() == CONTENT
    assert not (toy / "sub/votes.bin.part").exists()


def test_a_server_that_cannot_resume_sends_the_whole_again(toy, upstream):
    upstream.resumes, upstream.breaks = False, [100_000]
    sf.data.get("toy")
    assert (toy / "sub/votes.bin").read_bytes() == CONTENT
    assert upstream.asked[1] == ("/set/votes.bin", "bytes=100000-")


def test_what_is_left_of_another_file_is_not_completed(toy, upstream):
    (toy / "sub").mkdir(parents=True)
    (toy / "sub/votes.bin.part").write_bytes(b"x" * 1_000)
    with pytest.raises(InputError, match=r"its sha256 is .*nothing was kept"):
        sf.data.get("toy")
    assert not (toy / "sub/votes.bin.part").exists()
    sf.data.get("toy")
    assert (toy / "sub/votes.bin").read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (
            CONTENT[:-1] + b"!",
            r"votes\.bin as it was \(its sha256 is [0-9a-f]{64}, not [0-9a-f]{64}\); nothing was kept",
        ),
        (CONTENT + CONTENT, r"votes\.bin as it was \([\d,]+ bytes came, not 256,000\); nothing was kept"),
    ],
)
def test_another_content_is_refused(toy, upstream, content, sentence):
    upstream.files["/set/votes.bin"] = content
    with pytest.raises(InputError, match=sentence):
        sf.data.get("toy")
    assert not [path for path in toy.rglob("*") if path.is_file()]


def test_a_file_that_upstream_no_longer_has_is_told(toy, upstream):
    del upstream.files["/set/votes.bin"]
    with pytest.raises(
        MissingDataError, match=r"votes\.bin answers 404 .*Put the file there yourself: .*sub/votes\.bin$"
    ):
        sf.data.get("toy")


def test_without_a_connection_one_sentence_says_what_to_do(monkeypatch, tmp_path):
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.delenv("SFUMATO_DATA", raising=False)
    monkeypatch.setenv("SFUMATO_CACHE", str(tmp_path))
    with ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as closed:
        port = closed.server_port
    register(monkeypatch, DataFile("votes.bin", f"http://127.0.0.1:{port}/votes.bin", 10, "0" * 64))
    partial = tmp_path / "data/toy/votes.bin.part"
    partial.parent.mkdir(parents=True)
    partial.write_bytes(b"12345")
    with pytest.raises(
        MissingDataError, match=r"cannot be reached \(.*refused.*\).*put the file there yourself: .*votes\.bin$"
    ) as caught:
        sf.data.get("toy")
    assert "\n" not in str(caught.value)
    assert partial.read_bytes() == b"12345"


def test_a_file_without_an_address_is_put_by_hand(monkeypatch, tmp_path):
    monkeypatch.delenv("SFUMATO_DATA", raising=False)
    monkeypatch.setenv("SFUMATO_CACHE", str(tmp_path))
    register(monkeypatch, DataFile("votes.bin", None, 10))
    with pytest.raises(MissingDataError, match=r"votes\.bin cannot be fetched: put it into .*toy by hand, see https"):
        sf.data.get("toy")


def test_personal_data_are_taken_out_before_a_file_is_kept(upstream, monkeypatch, tmp_path):
    content = upstream.files["/set/raw.csv"] = b"ip,label\n192.0.2.7,yes\n" * 5_000
    raw = DataFile(
        "raw.csv",
        upstream.address("/set/raw.csv"),
        len(content),
        git_blob=git_blob(content),
        clean=lambda whole: b"".join(line.split(b",")[1] for line in whole.splitlines(keepends=True)),
    )
    register(monkeypatch, raw)
    folder = tmp_path / "data/toy"
    upstream.breaks = [100] * 5
    with pytest.raises(MissingDataError, match="broke off"):
        sf.data.get("toy")
    assert not [path for path in folder.rglob("*") if path.is_file()]
    sf.data.get("toy")
    assert (folder / "raw.csv").read_bytes() == b"label\nyes\n" * 5_000
    assert [path.name for path in folder.iterdir()] == ["raw.csv"]


def test_the_name_that_git_gives_is_checked(upstream, monkeypatch, tmp_path):
    register(monkeypatch, DataFile("gold.txt", upstream.address("/set/gold.txt"), 4, git_blob=git_blob(b"b 1\n")))
    with pytest.raises(
        InputError, match=f"its git blob is {git_blob(b'a 1' + bytes([10]))}, not {git_blob(b'b 1' + bytes([10]))}"
    ):
        sf.data.get("toy")


def test_a_stored_file_that_was_changed_is_found(toy, upstream, monkeypatch, tmp_path):
    own = tmp_path / "own" / "toy"
    (own / "sub").mkdir(parents=True)
    (own / "gold.txt").write_bytes(b"a 1\n")
    (own / "sub/votes.bin").write_bytes(CONTENT[1:])
    monkeypatch.setenv("SFUMATO_DATA", str(tmp_path / "own"))
    with pytest.raises(InputError, match=r"own/toy/sub/votes\.bin is not the one that upstream has .*Delete it"):
        sf.data.get("toy")
    assert upstream.asked == []


def test_files_inside_an_archive_are_unpacked_and_the_archive_is_let_go(upstream, monkeypatch, tmp_path):
    packed = io.BytesIO()
    members = {"set/one.bin": CONTENT, "set/two.bin": CONTENT[::-1]}
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name, content in members.items():
            header = tarfile.TarInfo(name)
            header.size = len(content)
            archive.addfile(header, io.BytesIO(content))
    sent = upstream.files["/set.tar.gz"] = packed.getvalue()
    whole = DataFile("set.tar.gz", upstream.address("/set.tar.gz"), len(sent), hashlib.sha256(sent).hexdigest())
    files = [
        DataFile(name.removeprefix("set/"), name, len(content), hashlib.sha256(content).hexdigest(), archive=whole)
        for name, content in members.items()
    ]
    register(monkeypatch, *files)
    folder = sf.data.get("toy")
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == {"one.bin": CONTENT, "two.bin": CONTENT[::-1]}
    assert upstream.asked == [("/set.tar.gz", None)]
    (folder / "two.bin").unlink()
    register(monkeypatch, files[0], dataclasses.replace(files[1], sha256="0" * 64))
    with pytest.raises(InputError, match=r"set\.tar\.gz \(set/two\.bin\) sends is not two\.bin as it was"):
        sf.data.get("toy")
    assert not (folder / "two.bin").exists()


def test_a_cache_that_cannot_be_made_is_told(toy, upstream, monkeypatch, tmp_path):
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setenv("SFUMATO_CACHE", str(tmp_path / "file"))
    with pytest.raises(InputError, match=r"cannot be made .*set SFUMATO_CACHE"):
        sf.data.get("toy")
    assert upstream.asked == []


def test_only_the_missing_file_is_fetched(toy, upstream):
    sf.data.get("toy")
    (toy / "gold.txt").unlink()
    upstream.asked.clear()
    sf.data.get("toy")
    assert upstream.asked == [("/set/gold.txt", None)]


def test_an_interruption_leaves_a_part_that_can_be_resumed(toy, upstream):
    def interrupt(_path: str, done: int, _total: int) -> None:
        if done >= 2 * fetch._CHUNK:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sf.data.get("toy", progress=interrupt)
    left = (toy / "sub/votes.bin.part").read_bytes()
    assert left
    assert CONTENT.startswith(left)
    sf.data.get("toy")
    assert (toy / "sub/votes.bin").read_bytes() == CONTENT
