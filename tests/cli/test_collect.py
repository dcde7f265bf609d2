"""``sfumato collect`` as a data lead meets it: what it makes, what it says, and a sentence where it cannot."""

from __future__ import annotations

import csv
import http.client
import json
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import sfumato as sf
from sfumato.cli.app import run
from sfumato.collect.demo_items import CLASSES, draw_items
from sfumato.collect.secret_file import read_secrets
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
        store.add_person(PersonRow(id=name, platform="prolific", visitor=f"v-{name}", finished_at=61_000), contact)
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
        (["status", "empty"], "collect new"),
        (["status", "unstarted"], "holds no answers yet"),
        (["export", "animals", "-o", "x.csv"], "does not say what to write"),
        (["export", "animals", "-o", "soft.xlsx"], "must end in .csv"),
        (["export", "animals", "-o", "responses.csv"], "must end in .jsonl"),
        (["export", "animals", "-o", "none/soft.csv"], "no folder"),
        (["export", "animals", "-o", "soft.csv", "--what", "labels"], "'what' must be one of"),
        (["export", "animals", "-o", "soft.csv", "--method", "centroid"], "'method' must be one of"),
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


def test_invitations_are_found_by_name_and_do_not_hold_it(animals: Path, capsys: pytest.CaptureFixture[str]) -> None:
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
    assert run(["collect", "invite", "animals"]) == 2
    store = SqliteStore(animals / "study.sqlite")
    invited = Contact("cem", "invitation", links[0]["invitation"], "", {}, 5)
    store.add_person(PersonRow(id="cem", platform="invitation", visitor="x"), invited).result()
    store.close()
    capsys.readouterr()
    assert run(["collect", "payments", "animals", "--names", "names.txt", "-o", "payments.csv"]) == 0
    assert [each["name"] for each in rows_of("payments.csv")] == ["", "", "ann@example.org"]
    assert run(["collect", "delete-person", "animals", "ann@example.org", "--yes"]) == 0
    assert "Deleted: cem" in capsys.readouterr().out


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


@pytest.fixture
def server() -> Iterator[subprocess.Popen[str]]:
    """The demo, as a process of its own on a free port."""
    command = [sys.executable, "-m", "sfumato", "collect", "demo", "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        yield process
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)


def test_the_demo_starts_says_where_and_stops(server: subprocess.Popen[str]) -> None:
    assert server.stdout is not None
    told, until = "", time.monotonic() + 30
    while "Completion code" not in told and time.monotonic() < until:
        told += server.stdout.readline()
    assert "Shapes · 3 classes" in told
    study = re.search(r"Study +(http\S+)", told)
    admin = re.search(r"Admin +(http\S+secret=\S+)", told)
    code = re.search(r"Completion code +(\S{6,})", told)
    assert study is not None
    assert admin is not None
    assert code is not None
    visitor = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    with visitor.open(study[1]) as answer:
        assert answer.status == 200
        page = answer.read().decode()
    assert all(name in page for name in CLASSES)
    host = re.search(r"//([^/]+)", study[1])
    assert host is not None
    connection = http.client.HTTPConnection(host[1])
    connection.request("GET", "/admin")
    assert connection.getresponse().status != 200
    connection.close()
    assert read_study(Path("shapes-study")).class_names == CLASSES
    assert len(list(Path("shapes-study/items").glob("*.png"))) == 24
    # A second server of the same study is refused, and so are other settings.
    command = [sys.executable, "-m", "sfumato", "collect", "start", "shapes-study", "--port", "0"]
    again = subprocess.run(command, capture_output=True, text=True)
    assert again.returncode == 2
    assert "Another server" in again.stderr
    assert run(["collect", "demo", "--mode", "hard"]) == 2
