"""The words of the pages: two languages that say the same things, and files of others that must say all of them."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from sfumato.collect import languages
from sfumato.collect.languages import LANGUAGES, language
from sfumato.errors import InputError

_ENGLISH = (Path(languages.__file__).parent / "languages" / "en.toml").read_text(encoding="utf-8")


def test_every_language_fills_in_the_same_holes() -> None:
    english = language("en").words
    for code in LANGUAGES:
        words = language(code).words
        assert words.keys() == english.keys()
        for key, text in words.items():
            assert sorted(re.findall(r"\{\w+\}", text)) == sorted(re.findall(r"\{\w+\}", english[key])), (code, key)


def test_a_file_is_a_language(tmp_path: Path) -> None:
    (tmp_path / "he.toml").write_text(_ENGLISH.replace('code = "en"', 'code = "he"').replace('"ltr"', '"rtl"'))
    words = language("he.toml", folder=tmp_path)
    assert (words.code, words.direction) == ("he", "rtl")
    assert words("page.place", place=1, of=2) == "1 of 2"
    assert words.section("left")["over"] == "{over} % too much"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda text: text.replace('next = "Next"\n', "", 1), r"has no item\.next"),
        (lambda text: text.replace("[item]", '[item]\nmore = "More"'), r"has item\.more too many"),
        (
            lambda text: text.replace('next = "Next"', 'next = "Next {name}"', 1),
            r"item\.next: \{name\} is filled in by",
        ),
        (lambda text: text.replace('next = "Next"', 'next = " "', 1), r"item\.next is empty"),
        (lambda text: text.replace('next = "Next"', "next = 3", 1), r"item\.next must be a text\. Got 3"),
        (lambda text: text.replace('"ltr"', '"up"'), r"direction is .* Got 'up'"),
        (lambda text: text + "[[[", "cannot be read"),
    ],
)
def test_half_a_language_is_refused(tmp_path: Path, change: Callable[[str], str], told: str) -> None:
    (tmp_path / "xx.toml").write_text(change(_ENGLISH))
    with pytest.raises(InputError, match=told):
        language("xx.toml", folder=tmp_path)


def test_an_unknown_language_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="'fr' is neither en nor de, nor a file"):
        language("fr", folder=tmp_path)
