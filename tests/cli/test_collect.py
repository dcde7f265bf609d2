"""``sfumato collect`` as a data lead meets it: what it makes, what it says, and a sentence where it cannot."""

from __future__ import annotations

import contextlib
import csv
import json
import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import sfumato as sf
from sfumato.cli.app import run
from sfumato.collect.demo_items import CLASSES, draw_items
from sfumato.collect.secret_file import read_secrets
from sfumato.collect.sessions import platform_hash
from sfumato.collect.sqlite_store import SqliteStore
from sfumato.collect.store import Contact, PersonRow, PlaceRow, ResponseRow
from sfumato.collect.study_file import read_study

TEXTS = "item,text\na,A deer\nb,A horse\nc,A ship\n"


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study that was answered by two people of Prolific, and files that cannot be used, beside each other."""
    root = tmp_path_factory.mktemp("template")
    (root / "texts.csv").write_text(TEXTS)
    (root / "other.csv").write_text(TEXTS)
    (root / "broken.csv").write_text("a,b\n1\n")
    (root / "batches.json").write_text('[["a", "z"]]')
    (root / "empty").mkdir()
    made = ["--items", str(root / "texts.csv"), "--classes", "deer,horse,ship", "--panel", "2"]
    assert run(["collect", "new", str(root / "animals"), *made]) == 0
    assert run(["collect", "new", str(root / "unstarted")]) == 0
    path = root / "animals" / "study.toml"
    text = path.read_text()
    for line in ('kind = "prolific"', "amount = 1.5", "least_others = 1"):
        name = line.partition(" ")[0]
        text = re.sub(rf'^# {name} = ("plain"|[0-9.]+)', line, text, flags=re.MULTILINE)
    path.write_text(text)
    store = SqliteStore(root / "animals" / "study.sqlite")
    for name, percent in (("ann", 70.0), ("bob", 90.0)):
        contact = Contact(name, "prolific", f"pid-{name}", f"session-{name}", {}, 1000)
        store.add_person(
            PersonRow(id=name, platform="prolific", visitor=f"v-{name}", assigned_at=1000, finished_at=61_000), contact
        )
        for place, (item, top) in enumerate((("a", "deer"), ("b", "horse")), start=1):
            store.add_places(name, [PlaceRow(name, place, item)], at=1000)
            answer = {
                "mode": "top2", "top": top, "top_percent": percent, "second": None, "second_percent": None,
                "impossible": ["ship"],
            }  # fmt: skip
            store.add_response(
                ResponseRow(key=f"{name}-{place}", person=name, place=place, item=item, answer=answer, seconds=4.0)
            ).result()
    store.close()
    return root


@pytest.fixture
def animals(template: Path, tmp_path: Path) -> Path:
    """The study, in the folder in which the test runs."""
    shutil.copytree(template, tmp_path, dirs_exist_ok=True)
    return Path("animals")


def rows_of(path: str) -> list[dict[str, str]]:
    with Path(path).open(newline="") as file:
        return list(csv.DictReader(file))


def test_a_new_study_is_written_and_never_overwritten(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["collect", "new", "animals", "--mode", "chips", "--batch-size", "9", "--title", "Tiere"]) == 0
    study = read_study(Path("animals"))
    assert (study.title, study.mode, study.batches.size, study.items.source) == ("Tiere", "chips", 9, "items")
    assert "yes and no" in capsys.readouterr().err
    assert run(["collect", "new", "plants", "--items", "photos"]) == 0
    assert read_study(Path("plants")).title == "plants"
    assert "photos does not exist yet: put the items there" in capsys.readouterr().err
    before = Path("animals/study.toml").read_text()
    assert run(["collect", "new", "animals"]) == 2
    assert "exists" in capsys.readouterr().err
    assert Path("animals/study.toml").read_text() == before


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["new", "x", "--classes", "deer"], "two classes or more"),
        (["new", "x", "--mode", "top3"], "'top3'"),
        (["new", "x", "--language", "xx"], "xx"),
        (["new", "texts.csv/x"], "cannot be written"),
        (["start", "nowhere"], "nowhere does not exist"),
        (["start", "texts.csv"], "Name the classes"),
        (["start", "texts.csv", "--classes", "deer,deer"], "stands twice"),
        (["start", "empty", "--classes", "a,b"], "holds no"),
        (["start", "broken.csv", "--classes", "a,b"], "broken.csv"),
        (["start", "animals", "--classes", "a,b"], "its classes are deer, horse, ship"),
        (["start", "animals", "--mode", "hard"], "its mode is 'top2'"),
        (["start", "animals", "--study", "other"], "is a study already"),
        (["start", "texts.csv", "--study", "animals", "--panel", "9"], "its panel is 2"),
        (["start", "other.csv", "--study", "animals"], "for the items"),
        (["start", "animals", "--public-url", "example.org"], "must begin with https://"),
        (["start", "animals", "--public-url", "https://example.org/study1/"], "must end with the host"),
        (["status", "empty"], "collect new empty"),
        (["status", "nowhere"], "collect new nowhere"),
        (["status", "unstarted"], "holds no answers yet"),
        (["export", "animals", "-o", "x.csv"], "does not say what to write"),
        (["export", "animals", "-o", "soft.xlsx"], "must end in .csv"),
        (["export", "animals", "-o", "responses.csv"], "must end in .jsonl"),
        (["export", "animals", "-o", "none/soft.csv"], "no folder"),
        (["export", "animals", "-o", "soft.csv", "--what", "labels"], "'what' must be one of"),
        (["export", "animals", "-o", "soft.csv", "--method", "with_model"], "'method' must be one of"),
        (["export", "animals", "-o", "soft.csv", "--per", "class"], "'per' must be one of"),
        (["export", "animals", "-o", "soft.csv", "--use", "T3"], "redistribute.use"),
        (["export", "animals", "-o", "soft.csv", "--gamma", "1"], "below 1"),
        (["import", "nowhere.csv", "x"], "nowhere.csv"),
        (["import", "texts.csv", "x"], "subject"),
        (["import", "batches.json", "animals"], "no item 'z'"),
        (["import", "batches.json", "animals", "--classes", "a,b"], "Batches have no classes"),
        (["backup", "unstarted"], "nothing to back up"),
        (["restore", "empty", "x"], "is not a backup"),
        (["invite", "animals", "ann"], 'Set kind = "invitation"'),
        (["payments", "animals", "--layout", "paypal"], "'layout' must be one of"),
        (["payments", "animals", "--names", "nowhere.txt"], "nowhere.txt cannot be read"),
        (["delete-person", "animals", "eve", "--yes"], "nobody 'eve'"),
        (["delete-person", "animals", "eve"], "nobody 'eve'"),
        (["demo", "--study", "texts.csv"], "texts.csv"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_a_sentence(
    animals: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    assert run(["collect", *arguments]) == 2
    told = capsys.readouterr().err.replace("\n", " ")
    assert "Traceback" not in told
    assert said in told


def test_a_reference_that_is_not_there_is_told_before_the_server_starts(
    animals: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (animals / "study.toml").read_text()
    (animals / "study.toml").write_text(text.replace('# reference = ""', 'reference = "gold.csv"'))
    assert run(["collect", "start", "animals", "--port", "0"]) == 2
    assert "gold.csv cannot be read: No such file or directory." in capsys.readouterr().err.replace("\n", "")


def test_every_export_is_what_python_computes(animals: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("responses.jsonl", "votes.csv", "soft.parquet", "people.csv", "exit.jsonl"):
        assert run(["collect", "export", "animals", "-o", name]) == 0
    soft = sf.SoftLabels.load("soft.parquet")
    assert (soft.items, soft.classes) == (("a", "b"), ("deer", "horse", "ship"))
    np.testing.assert_allclose(soft.probs, [[0.8, 0.2, 0.0], [0.2, 0.8, 0.0]])
    assert soft.origin.options["collect"]["use"] == "T2"
    assert [each["annotator"] for each in rows_of("people.csv")] == ["ann", "bob"]
    told = [json.loads(line) for line in Path("responses.jsonl").read_text().splitlines()]
    assert [(each["annotator"], each["item"]) for each in told] == [
        ("ann", "a"),
        ("ann", "b"),
        ("bob", "a"),
        ("bob", "b"),
    ]
    assert Path("exit.jsonl").read_text() == ""
    assert run(["collect", "export", "animals", "-o", "soft-top.csv", "--use", "top1"]) == 0
    assert Path("soft-top.csv").read_text().splitlines()[1:] == ["a,1.0,0.0,0.0", "b,0.0,1.0,0.0"]
    for file in Path().iterdir():
        assert file.is_dir() or b"pid-" not in file.read_bytes(), file
    assert "4 responses" in capsys.readouterr().out


def test_the_round_trip_to_aggregate(animals: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["collect", "export", "animals", "-o", "votes.csv"]) == 0
    assert "Nobody gave any share to ship" in capsys.readouterr().err
    classes = ["--classes", "deer,horse,ship"]
    assert run(["aggregate", "votes.csv", "--method", "standard", "--out", "theirs.csv", *classes]) == 0
    assert run(["collect", "export", "animals", "-o", "soft.csv"]) == 0
    assert Path("theirs.csv").read_text() == Path("soft.csv").read_text()
    assert run(["aggregate", "votes.csv", "--method", "dawid_skene", "--out", "theirs.csv", *classes]) == 0
    assert run(["collect", "export", "animals", "-o", "soft.csv", "--method", "dawid_skene"]) == 0
    assert Path("theirs.csv").read_text() == Path("soft.csv").read_text()
    assert run(["aggregate", "votes.csv", "--method", "centroid", "--out", "theirs.csv", *classes]) == 0
    assert run(["collect", "export", "animals", "-o", "soft.csv", "--method", "centroid"]) == 0
    assert Path("theirs.csv").read_text() == Path("soft.csv").read_text()
    assert run(["collect", "export", "animals", "-o", "soft-each.csv", "--per", "annotator"]) == 0
    assert Path("soft-each.csv").read_text().splitlines()[:2] == ["item,annotator,deer,horse,ship", "a,ann,0.7,0.3,0.0"]
    assert run(["aggregate", "soft-each.csv", "--method", "standard", "--out", "theirs.csv"]) == 0
    np.testing.assert_allclose(sf.SoftLabels.load("theirs.csv").probs, [[0.8, 0.2, 0.0], [0.2, 0.8, 0.0]])


def test_status_exclude_and_payments(animals: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["collect", "status", "animals"]) == 0
    shown = capsys.readouterr().out
    assert "4 of 6 answers · 0 to 2 per item, 2 wanted · 2 people, 2 handed in" in shown
    assert "deer 80%, horse 20%" in shown
    assert run(["collect", "status", "animals", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["answers"]["usable"] == 4
    text = (animals / "study.toml").read_text()
    assert run(["collect", "export", "animals", "-o", "soft.csv"]) == 0
    assert "have not run yet" in capsys.readouterr().err
    rule = text.replace("# same_class_above = 1.0 ", "same_class_above = 0.1").replace(
        "# least_answers = 5", "least_answers = 1"
    )
    (animals / "study.toml").write_text(rule)
    assert run(["collect", "exclude", "animals"]) == 0
    assert "Run 1: of 2 people, 2 left out of the labels, 0 not to be paid" in capsys.readouterr().out
    assert run(["collect", "export", "animals", "-o", "soft.csv"]) == 2
    assert run(["collect", "export", "animals", "-o", "soft.csv", "--left-out"]) == 0
    (animals / "study.toml").write_text(text)
    capsys.readouterr()
    assert run(["collect", "exclude", "animals", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["verdicts"] == []
    assert run(["collect", "export", "animals", "-o", "soft.csv"]) == 0
    assert "have not run yet" not in capsys.readouterr().err
    assert run(["collect", "payments", "animals", "-o", "payments.csv"]) == 0
    assert "2 people, 2 to be paid, bonuses of 3.00 USD in all" in capsys.readouterr().out
    told = rows_of("payments.csv")
    assert [(each["platform_id"], each["pay"], each["bonus"]) for each in told] == [
        ("pid-ann", "yes", "1.50"), ("pid-bob", "yes", "1.50"),
    ]  # fmt: skip
    assert stat.S_IMODE(Path("payments.csv").stat().st_mode) == 0o600
    assert run(["collect", "payments", "animals", "--layout", "prolific"]) == 0
    assert capsys.readouterr().out == "pid-ann,1.50\npid-bob,1.50\n"


def test_backup_restore_and_delete(
    animals: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(["collect", "backup", "animals", "-o", "monday"]) == 0
    assert run(["collect", "backup", "animals"]) == 0
    assert len(list(Path().glob("animals-backup-*"))) == 1
    monkeypatch.setattr("typer.confirm", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
    assert run(["collect", "delete-person", "animals", "pid-ann"]) == 1
    capsys.readouterr()
    assert run(["collect", "delete-person", "animals", "pid-ann", "--yes"]) == 0
    shown = capsys.readouterr()
    assert "Deleted: ann, 2 answers, 0 answers at the end and the entry in the list of payments" in shown.out
    assert "Backups and exports from before" in shown.err
    for file in Path("animals").iterdir():
        assert b"pid-ann" not in file.read_bytes()
    assert run(["collect", "restore", "monday", "again"]) == 0
    assert "must be deleted again" in capsys.readouterr().err
    assert run(["collect", "payments", "again", "--json"]) == 0
    assert [each["platform_id"] for each in json.loads(capsys.readouterr().out)] == ["pid-ann", "pid-bob"]


def test_rules_that_wait_for_who_hands_in_are_no_remark_before(
    animals: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = SqliteStore(animals / "study.sqlite")
    for person in store.people():
        store.mark(person.id, "finished", None).result()
    store.close()
    capsys.readouterr()
    assert run(["collect", "export", "animals", "-o", "soft.csv"]) == 0
    assert "have not run yet" not in capsys.readouterr().err


def test_invitations_are_found_by_name_and_do_not_hold_it(
    animals: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (animals / "study.toml").read_text()
    (animals / "study.toml").write_text(text.replace('kind = "prolific"', 'kind = "invitation"'))
    Path("names.txt").write_text("ann@example.org\n\nbob@example.org\n")
    url = ["--url", "https://study.example.org/"]
    assert run(["collect", "invite", "animals", "--names", "names.txt", "-o", "links.csv", *url]) == 0
    links = rows_of("links.csv")
    assert [each["name"] for each in links] == ["ann@example.org", "bob@example.org"]
    token = links[0]["link"].removeprefix("https://study.example.org/i/")
    assert read_secrets(animals).invited(token) == links[0]["invitation"]
    assert "example" not in links[0]["invitation"]
    assert run(["collect", "invite", "animals", "ann@example.org", "-o", "again.csv", *url]) == 0
    assert rows_of("again.csv") == links[:1]
    capsys.readouterr()
    monkeypatch.setenv("COLUMNS", "40")
    assert run(["collect", "invite", "animals", "ann@example.org", *url]) == 0
    # A link in one piece, however narrow the terminal is.
    assert links[0]["link"] in capsys.readouterr().out
    assert run(["collect", "invite", "animals", "ann@example.org", "--url", "https://example.org/a"]) == 2
    assert run(["collect", "invite", "animals"]) == 2
    store = SqliteStore(animals / "study.sqlite")
    invited = Contact("cem", "invitation", links[0]["invitation"], "", {}, 5)
    visitor = platform_hash(read_secrets(animals), "invitation", links[0]["invitation"])
    store.add_person(PersonRow(id="cem", platform="invitation", visitor=visitor), invited).result()
    store.close()
    capsys.readouterr()
    assert run(["collect", "payments", "animals", "--names", "names.txt", "-o", "payments.csv"]) == 0
    assert [each["name"] for each in rows_of("payments.csv")] == ["", "", "ann@example.org"]
    assert run(["collect", "delete-person", "animals", "ann@example.org", "--yes"]) == 0
    assert "Deleted: cem" in capsys.readouterr().out


def test_the_ids_of_a_platform_are_found_when_the_list_of_payments_is_gone(
    animals: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = SqliteStore(animals / "study.sqlite")
    visitor = platform_hash(read_secrets(animals), "prolific", "pid-new")
    store.add_person(PersonRow(id="new", platform="prolific", visitor=visitor, assigned_at=5, finished_at=9)).result()
    store.close()
    for path in animals.glob("payments.sqlite*"):
        path.unlink()
    Path("ids.txt").write_text("pid-ann\npid-new\npid-nobody\n")
    assert run(["collect", "payments", "animals", "--names", "ids.txt", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [(each["name"], each["platform_id"], each["annotator"], each["pay"]) for each in told] == [
        ("", "", "ann", True), ("", "", "bob", True), ("pid-new", "", "new", True),
    ]  # fmt: skip


def test_without_the_extra_a_server_is_refused_and_the_rest_works(
    animals: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("starlette", "uvicorn"):
        for loaded in [each for each in sys.modules if each.partition(".")[0] == name]:
            monkeypatch.delitem(sys.modules, loaded)
        monkeypatch.setitem(sys.modules, name, None)
    for loaded in ("server", "app"):
        monkeypatch.delitem(sys.modules, f"sfumato.collect.{loaded}", raising=False)
    assert run(["collect", "start", "animals", "--port", "0"]) == 2
    assert 'pip install "sfumato[collect]"' in capsys.readouterr().err
    assert run(["collect", "status", "animals"]) == 0
    assert run(["collect", "export", "animals", "-o", "soft.csv"]) == 0


def test_batches_are_taken_over(animals: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("batches.js").write_text(
        'var batches = [{"0": [{"example_idx": "a"}, {"example_idx": "b"}], "1": [{"id": "c"}]}];'
    )
    assert run(["collect", "import", "batches.js", "animals"]) == 0
    assert "2 batches of 1 to 2 items" in capsys.readouterr().out
    assert json.loads((animals / "batches.json").read_text()) == {"0": ["a", "b"], "1": ["c"]}
    assert read_study(animals).batches.allocation == "batches.json"


def test_the_answers_of_the_paper(capsys: pytest.CaptureFixture[str]) -> None:
    raw = Path(os.environ["SFUMATO_DATA"]) / "cifar10s" / "raw_human_data.csv"
    if not raw.is_file():
        pytest.skip(f"the raw answers of CIFAR-10S are not at {raw}; set SFUMATO_DATA to where the sets are")
    assert run(["collect", "import", str(raw), "cifar"]) == 0
    assert "6,723 answers by 248 people, 0 of them left out" in capsys.readouterr().out
    assert run(["collect", "export", "cifar", "-o", "soft.parquet"]) == 0
    assert "1,000 soft labels of 6,200 answers by 248 people" in capsys.readouterr().out
    assert run(["collect", "export", "cifar", "-o", "votes.parquet", "--as-published"]) == 0
    assert "6,723 annotations" in capsys.readouterr().out
    assert run(["collect", "import", str(raw), "cifar"]) == 2
    assert "holds a study already" in capsys.readouterr().err


def test_the_items_of_the_demo_are_pictures(tmp_path: Path) -> None:
    names = draw_items(tmp_path / "items", n_items=4)
    assert draw_items(tmp_path / "again", n_items=4) == names
    for name in names:
        data = (tmp_path / "items" / name).read_bytes()
        assert data == (tmp_path / "again" / name).read_bytes()
        assert data.startswith(b"\x89PNG\r\n\x1a\n")
    assert len({(tmp_path / "items" / name).read_bytes() for name in names}) == 4


class Started:
    """A server as a process of its own on a free port, and what it printed."""

    def __init__(self, *arguments: str) -> None:
        command = [sys.executable, "-m", "sfumato", "collect", *arguments, "--port", "0"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.told, until = "", time.monotonic() + 60
        while "Completion code" not in self.told and time.monotonic() < until:
            line = self.process.stdout.readline() if self.process.stdout else ""
            assert line, f"the server ended: {self.told}"
            self.told += line

    def says(self, what: str) -> str:
        found = re.search(rf"{what} +(\S+)", self.told)
        assert found is not None, self.told
        return found[1]

    def stop(self) -> None:
        self.process.send_signal(signal.SIGINT)
        # Who presses Ctrl-C twice waits no less for what is still to be written.
        self.process.send_signal(signal.SIGINT)
        self.told += self.process.communicate(timeout=30)[0]


@pytest.fixture
def started() -> Iterator[Callable[..., Started]]:
    running: list[Started] = []

    def start(*arguments: str) -> Started:
        running.append(Started(*arguments))
        return running[-1]

    yield start
    for each in running:
        if each.process.poll() is None:
            each.stop()


class Visitor:
    """Somebody with a browser that runs no scripts."""

    def __init__(self) -> None:
        self._opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        self.url = self.page = ""

    def visit(self, url: str, form: dict[str, str] | None = None) -> str:
        data = None if form is None else urllib.parse.urlencode(form).encode()
        with self._opener.open(url, data, timeout=30) as answer:
            self.url = answer.url
            self.page = str(answer.read().decode())
        return self.page

    def hidden(self) -> dict[str, str]:
        return dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', self.page))

    def answer_all(self, url: str, top: str, percent: int) -> str:
        """Answer every item with the same class, hand in, and return the last page."""
        self.visit(url)
        base = "/".join(url.split("/")[:3])
        while "/item" in self.url:
            self.visit(f"{base}/api/answers", {**self.hidden(), "top": top, "top_percent": str(percent)})
        assert "/finish" in self.url
        return self.visit(f"{base}/api/finish", {"csrf": self.hidden()["csrf"]})


def test_the_demo_starts_says_where_and_stops(started: Callable[..., Started]) -> None:
    server = started("demo")
    assert "Shapes · 3 classes" in server.told
    assert "secret=" in server.says("Admin")
    assert len(server.says("Completion code")) >= 6
    visitor = Visitor()
    page = visitor.visit(server.says("Study"))
    assert all(name in page for name in CLASSES)
    assert read_study(Path("shapes-study")).class_names == CLASSES
    assert len(list(Path("shapes-study/items").glob("*.png"))) == 24
    # A second server of the same study is refused, and so are other settings.
    command = [sys.executable, "-m", "sfumato", "collect", "start", "shapes-study", "--port", "0"]
    again = subprocess.run(command, capture_output=True, text=True)
    assert again.returncode == 2
    assert "Another server" in again.stderr
    assert run(["collect", "demo", "--mode", "hard"]) == 2
    server.stop()
    assert server.process.returncode == 0
    assert "Traceback" not in server.told
    assert "collect export shapes-study" in server.told


def test_the_server_goes_on_when_nobody_reads_what_it_prints_any_more() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "sfumato", "collect", "demo", "--port", str(port)]
    read, write = os.pipe()
    os.close(read)
    process = subprocess.Popen(command, stdout=write, stderr=subprocess.PIPE, text=True)
    os.close(write)
    try:
        until = time.monotonic() + 60
        page = ""
        while not page and process.poll() is None and time.monotonic() < until:
            with contextlib.suppress(OSError):
                page = Visitor().visit(f"http://127.0.0.1:{port}/")
            time.sleep(0.05)
    finally:
        process.send_signal(signal.SIGINT)
    told = process.communicate(timeout=30)[1]
    assert all(name in page for name in CLASSES), told
    assert process.returncode == 0, told
    assert "Traceback" not in told
    assert "Stopped." in told


def test_from_a_folder_of_pictures_to_soft_labels_and_payments(
    started: Callable[..., Started], capsys: pytest.CaptureFixture[str]
) -> None:
    """The way of the README, with three people who come, answer and leave; the server runs all the time."""
    draw_items(Path("photos"), n_items=4)
    server = started("start", "photos", "--classes", "deer,horse,dog", "--panel", "3")
    for top, percent in (("deer", 90), ("deer", 60), ("horse", 80)):
        assert server.says("Completion code") in Visitor().answer_all(server.says("Study"), top, percent)
    assert "It takes no more answers" in Visitor().visit(server.says("Study"))
    for name in ("votes.csv", "responses.jsonl", "soft.parquet"):
        assert run(["collect", "export", "photos-study", "-o", name]) == 0
    soft = sf.SoftLabels.load("soft.parquet")
    assert set(soft.items) == {f"shape-{number:02}.png" for number in range(1, 5)}
    expected = np.array([[0.9, 0.05, 0.05], [0.6, 0.2, 0.2], [0.1, 0.8, 0.1]]).mean(axis=0)
    np.testing.assert_allclose(soft.probs, np.tile(expected, (4, 1)))
    assert run(["aggregate", "votes.csv", "--method", "standard", "--out", "theirs.parquet"]) == 0
    theirs = sf.SoftLabels.load("theirs.parquet").with_classes(["deer", "horse", "dog"]).take(soft.items)
    np.testing.assert_allclose(theirs.probs, soft.probs)
    capsys.readouterr()
    assert run(["collect", "payments", "photos-study", "-o", "payments.csv"]) == 0
    assert "3 people, 3 to be paid" in capsys.readouterr().out
    assert run(["collect", "backup", "photos-study", "-o", "copy"]) == 0
    # The admin sees the same, by the address that was printed once.
    admin = Visitor()
    admin.visit(server.says("Admin"))
    base = "/".join(server.says("Study").split("/")[:3])
    assert json.loads(admin.visit(f"{base}/api/admin/overview"))["answers"]["usable"] == 12
    assert admin.visit(f"{base}/admin/download/payments.csv").splitlines()[0].startswith("platform,platform_id")
    assert admin.visit(f"{base}/admin/download/votes.csv") == Path("votes.csv").read_text()
    # Somebody asks to be forgotten while the server runs, and their places are free again.
    person = rows_of("payments.csv")[2]["annotator"]
    assert run(["collect", "delete-person", "photos-study", person, "--yes"]) == 0
    for file in Path("photos-study").rglob("*"):
        assert file.is_dir() or person.encode() not in file.read_bytes(), file
    until = time.monotonic() + 30
    while json.loads(admin.visit(f"{base}/api/admin/overview"))["answers"]["usable"] != 8:
        assert time.monotonic() < until
        time.sleep(0.1)
    newcomer = Visitor()
    while "/item" not in newcomer.url:
        assert time.monotonic() < until
        newcomer.visit(server.says("Study"))
