from __future__ import annotations

import re
import zipfile

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.data import treebank_sample
from sfumato.errors import FormatError


def test_sentences_tokens_and_tags(shared_data):
    data = sf.data.load("treebank_sample")
    assert len(data.items) == 94_084
    assert data.texts["sequence"].n_unique() == 3914
    assert data.texts["document"].n_unique() == 199
    counts = dict(zip(data.classes, np.bincount(data.gold.labels), strict=True))
    assert counts == {
        "ADJ": 6397, "ADP": 9857, "ADV": 3171, "CONJ": 2265, "DET": 8725, "NOUN": 28867, "NUM": 3546, "PRON": 2737,
        "PRT": 3219, ".": 11715, "VERB": 13564, "X": 21,
    }  # fmt: skip
    assert data.classes == sf.data.load("pos").classes


def test_the_first_sentence(shared_data):
    data = sf.data.load("treebank_sample")
    rows = data.texts.head(18)
    text = "Pierre Vinken , 61 years old , will join the board as a nonexecutive director Nov. 29 ."
    assert " ".join(rows["text"]) == text
    assert rows["tag"].to_list()[:6] == ["NNP", "NNP", ",", "CD", "NNS", "JJ"]
    assert data.gold.names()[:6] == ("NOUN", "NOUN", ".", "NUM", "NOUN", "ADJ")
    assert rows["sequence"].unique().to_list() == [0]
    assert rows["position"].to_list() == list(range(18))
    assert data.items[0] == "wsj_0001-0-0"
    assert data.texts["sequence"][18] == 1


def test_sequences_are_whole_and_stay_in_their_document(shared_data):
    texts = sf.data.load("treebank_sample").texts
    sequence, position = texts["sequence"].to_numpy(), texts["position"].to_numpy()
    starts = np.flatnonzero(position == 0)
    assert len(starts) == 3914
    assert (np.diff(sequence) == (position[1:] == 0)).all()
    assert (np.diff(position)[position[1:] != 0] == 1).all()
    assert (texts.group_by("sequence").n_unique()["document"] == 1).all()


def test_tokens_are_those_of_the_tagged_files(shared_data):
    """An independent reading: the tagged files of the archive, which were edited apart from the trees in places."""
    texts = sf.data.load("treebank_sample").texts.filter(pl.col("text") != "''")
    own = dict(texts.group_by("document").agg("text", "tag").rows_by_key("document", unique=True))
    brackets = {"-LRB-": "(", "-RRB-": ")", "-LCB-": "{", "-RCB-": "}"}
    same_words = same_tags = 0
    with zipfile.ZipFile(shared_data / "treebank_sample/treebank.zip") as archive:
        for path in (name for name in archive.namelist() if name.endswith(".pos")):
            cells = re.sub(r"={5,}", " ", archive.read(path).decode()).split()
            pairs = [cell.rpartition("/") for cell in cells if cell not in "[]" and not cell.startswith("''/")]
            words, tags = own[path[-12:-4]]
            same_words += words == [brackets.get(word, word.replace("\\", "")) for word, _, _ in pairs]
            same_tags += tags == [tag for _, _, tag in pairs]
    assert (same_words, same_tags) == (180, 101)


def test_brackets_and_slashes_are_those_of_the_text(shared_data):
    texts = sf.data.load("treebank_sample").texts["text"]
    assert not texts.str.contains(r"^-[LR][RC]B-$").any()
    assert not texts.str.contains("\\", literal=True).any()
    assert (texts == "(").sum() == 106
    assert (texts == "}").sum() == 14
    assert (texts == "3/4").sum() == 28


def test_a_damaged_archive_is_named(tmp_path):
    (tmp_path / "universal_tagset.zip").write_bytes(b"PK\x03\x04half")
    with pytest.raises(FormatError, match=r"universal_tagset\.zip is not a whole zip archive"):
        treebank_sample.load(tmp_path)
