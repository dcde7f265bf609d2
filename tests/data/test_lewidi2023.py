from __future__ import annotations

import gzip
import json

import numpy as np
import pytest

import sfumato as sf
from sfumato.data import lewidi2023
from sfumato.errors import FormatError

# Texts in train, dev and test; annotators; annotations; how often each class was given.
FIGURES = {
    "hs_brexit": ([784, 168, 168], 6, 6720, [5851, 869]),
    "convabuse": ([2398, 812, 840], 8, 12168, [275, 886, 784, 647, 9576]),
    "md_agreement": ([6592, 1104, 3057], 819, 53765, [35427, 18338]),
    "armis": ([657, 141, 145], 3, 2829, [1666, 1163]),
}
TIES = {"hs_brexit": 84, "convabuse": 135, "md_agreement": 0, "armis": 0}


@pytest.mark.parametrize("part", list(FIGURES))
def test_texts_annotators_and_annotations(shared_data, part):
    data = sf.data.load("lewidi2023", part=part)
    n_texts, n_annotators, n_annotations, per_class = FIGURES[part]
    votes = data.annotations
    assert [len(data.splits[split]) for split in ("train", "dev", "test")] == n_texts
    assert (votes.n_annotators, votes.n_annotations) == (n_annotators, n_annotations)
    assert votes.counts().sum(axis=0).tolist() == per_class
    assert all(name.startswith("Ann") for name in votes.annotators)
    assert votes.items == data.items == tuple(data.texts["item"]) == data.soft_labels.items
    assert data.texts.null_count().sum_horizontal()[0] == 0


@pytest.mark.parametrize("part", list(FIGURES))
def test_soft_and_hard_labels_follow_from_the_annotations(shared_data, part):
    data = sf.data.load("lewidi2023", part=part, binary=True)
    assert data.annotations.classes == data.soft_labels.classes == data.gold.classes == ("0", "1")
    counts = data.annotations.counts()
    share = counts / counts.sum(axis=1, keepdims=True)
    # Upstream rounds shares to two, three or four digits.
    np.testing.assert_allclose(data.soft_labels.probs, share, atol=0.0034)
    tied = counts[:, 0] == counts[:, 1]
    assert tied.sum() == TIES[part]
    assert (counts.argmax(axis=1) == data.gold.labels)[~tied].all()
    if tied.any():
        assert 0.2 < data.gold.labels[tied].mean() < 0.8


def test_severities_are_folded_as_the_task_does(shared_data):
    severe, binary = sf.data.load("lewidi2023/convabuse"), sf.data.load("lewidi2023/convabuse", binary=True)
    assert severe.classes == ("-3", "-2", "-1", "0", "1")
    folded = severe.annotations.counts() @ np.array([[0, 1], [0, 1], [0, 1], [1, 0], [1, 0]])
    np.testing.assert_array_equal(binary.annotations.counts(), folded)
    assert binary.meanings == {"0": "not abusive", "1": "abusive"}


def test_two_annotations_of_one_text_by_one_annotator_are_kept(shared_data):
    votes = sf.data.load("lewidi2023/md_agreement").annotations
    pairs, times = np.unique(votes.item.astype(np.int64) * 1000 + votes.annotator, return_counts=True)
    assert (times > 1).sum() == 1
    item, annotator = divmod(int(pairs[times > 1][0]), 1000)
    assert (votes.items[item], votes.annotators[annotator]) == ("test-2038", "Ann448")


def test_each_annotation_is_where_the_file_has_it(shared_data):
    path = shared_data / "lewidi2023/HS-Brexit_dataset/HS-Brexit_dev.json.gz"
    records = json.loads(gzip.decompress(path.read_bytes()))
    data = sf.data.load("lewidi2023/hs_brexit")
    votes = data.annotations
    said = {
        (votes.items[i], votes.annotators[j]): votes.classes[k]
        for i, j, k in zip(votes.item, votes.annotator, votes.label, strict=True)
    }
    for number, record in records.items():
        for annotator, label in zip(record["annotators"].split(","), record["annotations"].split(","), strict=True):
            assert said[f"dev-{number}", annotator] == label
        row = data.items.index(f"dev-{number}")
        assert data.soft_labels.probs[row, 1] == record["soft_label"]["1"]


def test_texts(shared_data):
    turns = sf.data.load("lewidi2023/convabuse").texts
    assert turns.columns == ["item", "prev_agent", "prev_user", "agent", "user"]
    assert turns.row(0) == (
        "train-1",
        "Please go on.",
        "well, i have a eatproblem",
        "Can you elaborate on that?",
        "yes",
    )
    for part in ("hs_brexit", "md_agreement", "armis"):
        texts = sf.data.load(f"lewidi2023/{part}").texts
        assert texts.columns == ["item", "text"]
        assert not texts["text"].str.contains("&amp;|&lt;|&gt;").any()


def test_a_damaged_file_is_named(tmp_path):
    (tmp_path / "ArMIS_dataset").mkdir()
    (tmp_path / "ArMIS_dataset/ArMIS_train.json").write_text('{"1": ')
    with pytest.raises(FormatError, match=r"ArMIS_train\.json is not JSON"):
        lewidi2023.load(tmp_path, part="armis")
