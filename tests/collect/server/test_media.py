"""Files of items: pictures in the size at which they are shown, parts of sounds and films, links that lead out."""

from __future__ import annotations

import io
import re
import sys
from dataclasses import replace

import pytest

from sfumato.collect.study import Items, StudyClass

Image = pytest.importorskip("PIL.Image", reason='needs the extra "pictures"')


@pytest.fixture
def pictures(study):
    folder = study.folder / "pictures"
    folder.mkdir()
    tiny = Image.new("RGB", (32, 16), "white")
    tiny.putpixel((3, 3), (255, 0, 0))
    tiny.save(folder / "tiny.png")
    Image.new("RGB", (1200, 900), "navy").save(folder / "wide.jpg")
    Image.new("RGBA", (40, 40), (0, 0, 0, 0)).save(folder / "clear.png")
    (folder / "broken.png").write_bytes(b"\x89PNG not really")
    return replace(study, items=Items(source="pictures", size=240))


def media_of(this) -> dict[str, str]:
    """Return the address of each item's file, as somebody new is told."""
    browser = this.browser()
    places = this.store.places(this.store.people()[-1].id)
    return {each.item: browser.client.get(f"/api/places/{each.place}").json()["item"]["media"] for each in places}


def test_a_picture_is_sent_in_the_size_at_which_it_is_shown(opened, pictures):
    this = opened(pictures)
    client, media = this.browser().client, media_of(this)
    sizes = {}
    for name, size in [("tiny.png", 240), ("tiny.png", 480), ("wide.jpg", 240), ("clear.png", 240)]:
        reply = client.get(media[name], params={"size": size})
        assert reply.status_code == 200
        assert reply.headers["cache-control"] == "private, max-age=86400, immutable"
        picture = Image.open(io.BytesIO(reply.content))
        sizes[name, size] = picture.size
        assert picture.mode == ("RGBA" if name == "clear.png" else "RGB")
    assert sizes == {
        ("tiny.png", 240): (240, 120), ("tiny.png", 480): (480, 240), ("wide.jpg", 240): (240, 180),
        ("clear.png", 240): (240, 240),
    }  # fmt: skip
    assert client.get(media["tiny.png"]).content == (pictures.folder / "pictures" / "tiny.png").read_bytes()


def test_a_tiny_picture_is_blown_up_smoothly(opened, pictures):
    this = opened(pictures)
    reply = this.browser().client.get(media_of(this)["tiny.png"], params={"size": 240})
    picture = Image.open(io.BytesIO(reply.content))
    scaled = Image.open(pictures.folder / "pictures" / "tiny.png").resize((240, 120), Image.Resampling.LANCZOS)
    differences = [abs(a - b) for a, b in zip(picture.tobytes(), scaled.tobytes(), strict=True)]
    assert max(differences) < 24
    assert len(set(picture.tobytes()[1::3])) > 20  # not a block of one colour, as the nearest neighbour would be


def test_a_picture_that_cannot_be_read_is_sent_as_it_is(opened, pictures):
    this = opened(pictures)
    reply = this.browser().client.get(media_of(this)["broken.png"], params={"size": 240})
    assert reply.content == b"\x89PNG not really"


def test_a_picture_with_too_many_pixels_is_never_unpacked(opened, pictures, monkeypatch):
    monkeypatch.setattr("sfumato.collect.media._MOST_PIXELS", 32 * 16 - 1)
    this = opened(pictures)
    reply = this.browser().client.get(media_of(this)["tiny.png"], params={"size": 240})
    assert reply.content == (pictures.folder / "pictures" / "tiny.png").read_bytes()


@pytest.mark.parametrize("size", ["241", "99999", "-1", "0", "x", "٢٤٠"])
def test_only_the_sizes_that_pages_ask_for_are_made(opened, pictures, size):
    this = opened(pictures)
    assert this.browser().client.get(media_of(this)["tiny.png"], params={"size": size}).status_code == 404


def test_without_pillow_pictures_are_sent_as_they_are(opened, pictures, monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL", None)
    this = opened(pictures)
    reply = this.browser().client.get(media_of(this)["tiny.png"], params={"size": 240})
    assert reply.content == (pictures.folder / "pictures" / "tiny.png").read_bytes()


def test_addresses_say_nothing_about_the_items_and_differ_between_studies(opened, pictures):
    this = opened(pictures)
    addresses = media_of(this).values()
    assert all(re.fullmatch(r"/media/[0-9a-f]{32}", each) for each in addresses)
    assert len(set(addresses)) == 4


def test_a_sound_is_sent_in_parts(opened, study):
    folder = study.folder / "sounds"
    folder.mkdir()
    (folder / "one.wav").write_bytes(bytes(range(200)))
    this = opened(replace(study, items=Items(source="sounds")))
    browser = this.browser()
    assert "<audio controls" in browser.page
    address = re.search(r'src="(/media/\w+)"', browser.page)[1]
    part = browser.client.get(address, headers={"range": "bytes=10-19"})
    assert (part.status_code, part.content) == (206, bytes(range(10, 20)))
    assert part.headers["content-range"] == "bytes 10-19/200"
    assert browser.client.get(address, headers={"range": "bytes=900-"}).status_code == 416


def test_a_file_that_became_a_link_out_of_the_folder_is_not_sent(opened, pictures, tmp_path_factory):
    this = opened(pictures)
    address = media_of(this)["tiny.png"]
    outside = tmp_path_factory.mktemp("outside") / "secret.png"
    outside.write_bytes(b"secret")
    inside = pictures.folder / "pictures" / "tiny.png"
    inside.unlink()
    inside.symlink_to(outside)
    assert this.browser().client.get(address).status_code == 404


def test_classes_may_show_an_example(opened, pictures):
    classes = (StudyClass(name="deer", example="pictures/tiny.png"), *pictures.classes[1:])
    browser = opened(replace(pictures, classes=classes)).browser()
    assert browser.path == "/instructions"
    address = re.search(r'src="(/media/\w+\?size=160)"', browser.page)[1]
    assert browser.client.get(address).status_code == 200
