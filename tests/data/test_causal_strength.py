from __future__ import annotations

import numpy as np
import pytest

import sfumato as sf
from sfumato.data import causal_strength
from sfumato.errors import FormatError

COUNTS = {
    "pubmed": [1356, 998, 213, 494],
    "eureka": [486, 738, 284, 568],
    "insciout_train": [24, 63, 39, 74],
    "insciout_test": [161, 414, 179, 372],
}


def test_sentences_and_strengths_of_every_split(shared_data):
    data = sf.data.load("causal_strength")
    assert len(data.items) == 6463
    assert list(data.splits) == list(COUNTS)
    strength = dict(zip(data.gold.items, data.gold.labels, strict=True))
    for split, counts in COUNTS.items():
        assert np.bincount([strength[item] for item in data.splits[split]]).tolist() == counts
    assert len(data.splits["insciout_test"]) == 1126


def test_the_strengths_mean_the_same_in_all_files(shared_data):
    """A correlation is told with "associated", conditional causation with "may", wherever the sentence comes from."""
    data = sf.data.load("causal_strength")
    texts = dict(zip(data.items, data.texts["sentence"], strict=True))
    strength = dict(zip(data.gold.items, data.gold.names(), strict=True))
    for items in data.splits.values():
        for word, expected in ((" associated ", "1"), (" may ", "2")):
            share = {
                level: np.mean([word in texts[item] for item in items if strength[item] == level])
                for level in data.classes
            }
            assert max(share, key=share.get) == expected


def test_a_pair_is_a_press_release_and_its_abstract(shared_data):
    data = sf.data.load("causal_strength")
    rows = data.texts.filter(data.texts["item"].str.starts_with("insciout_test-25-191-"))
    assert rows["item"].to_list() == ["insciout_test-25-191-press_release", "insciout_test-25-191-abstract"]
    assert rows["kind"].to_list() == ["press release", "abstract"]
    assert rows["exaggeration"].to_list() == ["same", "same"]
    pairs = data.texts.filter(data.texts["item"].str.starts_with("insciout_test"))
    strength = np.array([int(name) for name in data.gold.names()])[-len(pairs) :].reshape(-1, 2)
    assert pairs["exaggeration"].value_counts(sort=True).rows() == [
        ("same", 690),
        ("exaggerates", 244),
        ("downplays", 192),
    ]
    told = np.where(
        strength[:, 0] > strength[:, 1], "exaggerates", np.where(np.diff(strength)[:, 0] > 0, "downplays", "same")
    )
    assert (told == pairs["exaggeration"].to_numpy().reshape(-1, 2)[:, 0]).all()


def test_no_entities_are_left(shared_data):
    data = sf.data.load("causal_strength")
    assert not data.texts["sentence"].str.contains(r"&#?\w+;").any()
    assert data.texts["sentence"].str.contains("Malmö").any()


def test_a_damaged_file_is_named(shared_data, tmp_path):
    for file in sf.data.entry("causal_strength").files:
        (tmp_path / file.path).write_bytes((shared_data / "causal_strength" / file.path).read_bytes())
    (tmp_path / "insciout_test.jsonl").write_text('{"original_file_id": ')
    with pytest.raises(FormatError, match=r"insciout_test\.jsonl is not the one that upstream has"):
        causal_strength.load(tmp_path)
