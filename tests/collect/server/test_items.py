"""Items of a study: from folders and tables, by ids that stay, and never from outside of where they should be."""

from __future__ import annotations

import pytest

from sfumato.collect.items import asked_of, item_of, read_items
from sfumato.collect.study import Check, Items, Practice, Study, StudyClass
from sfumato.errors import InputError


def read(folder, **options):
    return read_items(Items(**options), folder=folder)


def test_a_folder_of_many_kinds(tmp_path):
    for name in ("b.png", "a/c.jpg", "one.mp3", "film.webm", ".hidden.png", "notes.md", "a/.git/x.png"):
        (tmp_path / "items" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "items" / name).write_bytes(b"x")
    (tmp_path / "items" / "text.txt").write_bytes("\ufeffÄrger".encode())
    found = read(tmp_path)
    assert [(item.id, item.kind) for item in found.values()] == [
        ("a/c.jpg", "image"), ("b.png", "image"), ("film.webm", "video"), ("one.mp3", "audio"), ("text.txt", "text"),
    ]  # fmt: skip
    assert found["text.txt"].text == "Ärger"
    assert list(read(tmp_path, kind="audio")) == ["one.mp3"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("t.csv", "id,text,more\n7,One,x\n8,Two,y\n"),
        ("semicolons.csv", '\ufeffid;Text;more\n7;"One";x\n8;Two;y\n'),
        ("t.tsv", "id\ttext\tmore\n7\tOne\tx\n8\tTwo\ty\n"),
        ("t.jsonl", '{"id": 7, "text": "One", "more": "x"}\n\n{"id": 8, "text": "Two", "more": "y"}\n'),
        ("t.json", '[{"id": 7, "text": "One", "more": "x"}, {"id": 8, "text": "Two", "more": "y"}]'),
    ],
)
def test_a_table_of_texts(tmp_path, name, text):
    (tmp_path / name).write_text(text, encoding="utf-8")
    found = read(tmp_path, source=name)
    assert [(item.id, item.text, dict(item.meta)) for item in found.values()] == [
        ("7", "One", {"more": "x"}), ("8", "Two", {"more": "y"}),
    ]  # fmt: skip


def test_what_parts_the_names_parts_the_rows(tmp_path):
    (tmp_path / "t.csv").write_text("nr;text;source\n1;One, two;x\n", encoding="utf-8")
    assert [item.text for item in read(tmp_path, source="t.csv").values()] == ["One, two"]


def test_rows_without_an_id_are_counted(tmp_path):
    (tmp_path / "t.csv").write_text("sentence\nOne\nTwo\n", encoding="utf-8")
    assert list(read(tmp_path, source="t.csv")) == ["1", "2"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "has no rows"),
        ("id,text\n7,One\n7,Two\n", "stands there twice"),
        ("id,text\n7,\n", "row 1: the column 'text' is empty"),
        ("id,text\n,One\n", "row 1: the column 'id' is empty"),
        ("id,text\n7,One,more\n", "row 1: not as many cells"),
        ("id,words\n7,One\n", "has none of the columns"),
    ],
)
def test_a_table_that_cannot_be_used(tmp_path, text, words):
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=words):
        read(tmp_path, source="t.csv")


def test_where_there_is_nothing(tmp_path):
    with pytest.raises(InputError, match="do not exist"):
        read(tmp_path, source="none")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="holds no image"):
        read(tmp_path, source="empty", kind="image")
    (tmp_path / "latin.csv").write_bytes(b"text\n\xe4\n")
    with pytest.raises(InputError, match="not UTF-8"):
        read(tmp_path, source="latin.csv")


def test_a_link_that_leads_out_of_the_folder_is_refused(tmp_path):
    (tmp_path / "secret.png").write_bytes(b"x")
    (tmp_path / "items").mkdir()
    (tmp_path / "items" / "link.png").symlink_to(tmp_path / "secret.png")
    with pytest.raises(InputError, match="leads out"):
        read(tmp_path)


def test_what_a_line_of_the_study_means(tmp_path):
    folder = tmp_path / "study"
    (folder / "items").mkdir(parents=True)
    (folder / "items" / "one.png").write_bytes(b"x")
    (folder / "extra.png").write_bytes(b"x")
    (tmp_path / "outside.png").write_bytes(b"x")
    items = read(folder)
    assert item_of("one.png", items, folder=folder, kind="image") is items["one.png"]
    assert item_of("extra.png", items, folder=folder, kind="image").kind == "image"
    for told in ("../outside.png", str(tmp_path / "outside.png"), "none.png"):
        with pytest.raises(InputError, match="neither the id of an item nor a file"):
            item_of(told, items, folder=folder, kind="image")
    assert item_of("Choose ship.", items, folder=folder, kind="text").text == "Choose ship."


def test_what_people_are_told_is_not_asked_about(tmp_path):
    for name in ("a.png", "b.png", "c.png", "d.png", "e.png"):
        (tmp_path / "items").mkdir(exist_ok=True)
        (tmp_path / "items" / name).write_bytes(b"x")
    study = Study(
        title="Animals", folder=tmp_path,
        classes=(StudyClass(name="deer", example="c.png"), StudyClass(name="dog")),
        # By its id, and by its file in the folder of the study.
        practice=(Practice(item="a.png"), Practice(item="items/b.png")), checks=(Check(item="d.png", answer="dog"),),
    )  # fmt: skip
    items = read(tmp_path)
    assert list(asked_of(study, items)) == ["e.png"]
    (tmp_path / "items" / "e.png").unlink()
    with pytest.raises(InputError, match="No item is left to ask about"):
        asked_of(study, read(tmp_path))


def test_a_text_that_is_practised_is_not_asked_about(tmp_path):
    (tmp_path / "items.csv").write_text("item,text\n1,A deer.\n2,A dog.\n")
    classes = (StudyClass(name="deer"), StudyClass(name="dog"))
    study = Study(title="Animals", folder=tmp_path, classes=classes, practice=(Practice(item="A deer."),))
    assert list(asked_of(study, read(tmp_path, source="items.csv"))) == ["2"]
