from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path

import pytest

import sfumato as sf
from sfumato.errors import InputError

# Tests are no package: the corpus, which the test of the command line uses as well, is loaded by its path.
_spec = importlib.util.spec_from_file_location("broken_votes", Path(__file__).with_name("broken_votes.py"))
assert _spec
assert _spec.loader
broken_votes = importlib.util.module_from_spec(_spec)
sys.modules[_spec.name] = broken_votes
_spec.loader.exec_module(broken_votes)

BROKEN = broken_votes.broken_files()


def check_sentence(message: str, path: Path) -> None:
    """One or two sentences that begin with the file, and no more."""
    assert message.startswith((str(path), f"There is no file {path}")), message
    assert "\n" not in message
    said = message.replace(str(path), "FILE")
    # What stands in quotes or brackets is what came in, and may end like a sentence.
    plain = re.sub(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|\([^()]*\)", "x", said)
    assert len(re.findall(r"[.?!](?= |$)", plain)) <= 2, message
    assert plain.endswith("."), message
    assert len(said) < 500, message


@pytest.mark.parametrize("broken", BROKEN, ids=[broken.name for broken in BROKEN])
def test_broken_votes_get_a_sentence(tmp_path: Path, broken: broken_votes.Broken) -> None:  # type: ignore[name-defined]
    path = tmp_path / broken.filename
    path.write_bytes(broken.content)
    with pytest.raises(InputError) as caught:
        sf.read_annotations(path)
    check_sentence(str(caught.value), path)
    assert broken.says in str(caught.value)


def test_the_corpus_is_large_and_no_two_are_the_same() -> None:
    assert len(BROKEN) > 200
    assert len({broken.name for broken in BROKEN}) == len(BROKEN)
    assert len({(broken.content, broken.filename) for broken in BROKEN}) > 0.97 * len(BROKEN)


def test_the_file_from_which_most_are_made_is_sound(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text(broken_votes._SOUND)
    assert sf.read_annotations(path).n_annotations == 30


def test_no_file_and_a_folder(tmp_path: Path) -> None:
    for path, says in ((tmp_path / "none.csv", "There is no file"), (tmp_path, "is a folder")):
        with pytest.raises(InputError, match=says) as caught:
            sf.read_annotations(path)
        check_sentence(str(caught.value), path)
