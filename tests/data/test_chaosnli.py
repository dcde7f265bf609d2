from __future__ import annotations

import json

import numpy as np
import pytest

import sfumato as sf
from sfumato.data import chaosnli
from sfumato.errors import FormatError, OptionError


@pytest.mark.parametrize(
    ("part", "n_items", "n_classes", "agrees"),
    [("snli", 1514, 3, 1136), ("mnli", 1599, 3, 1091), ("alphanli", 1532, 2, 1369)],
)
def test_a_hundred_votes_for_each_item(shared_data, part, n_items, n_classes, agrees):
    data = sf.data.load("chaosnli", part=part)
    votes = data.annotations
    assert (votes.n_items, votes.n_annotators, votes.n_annotations) == (n_items, 1, 100 * n_items)
    assert (votes.per_item() == 100).all()
    np.testing.assert_array_equal(votes.counts(), data.counts)
    assert data.counts.shape == (n_items, n_classes)
    assert tuple(data.texts["item"]) == data.items == data.gold.items
    assert data.texts.null_count().sum_horizontal()[0] == 0
    # What upstream calls the majority label differs from the old one in the other items (ties as upstream breaks them).
    rows = [json.loads(line) for line in (shared_data / "chaosnli" / FILES[part]).read_text().splitlines()]
    assert sum(str(row["majority_label"]) == str(row["old_label"]) for row in rows) == agrees


FILES = {"snli": "chaosNLI_snli.jsonl", "mnli": "chaosNLI_mnli_m.jsonl", "alphanli": "chaosNLI_alphanli.jsonl"}


@pytest.mark.parametrize("part", list(FILES))
def test_the_counts_stand_under_the_right_classes(shared_data, part):
    """The counters of the files name their classes; the lists do not."""
    data = sf.data.load(f"chaosnli/{part}")
    rows = [json.loads(line) for line in (shared_data / "chaosnli" / FILES[part]).read_text().splitlines()]
    names = {"e": "entailment", "n": "neutral", "c": "contradiction", "1": "1", "2": "2"}
    assert data.items == tuple(row["uid"] for row in rows)
    for row, counts in zip(rows, data.counts, strict=True):
        said = {names[short]: count for short, count in row["label_counter"].items()}
        assert dict(zip(data.classes, counts, strict=True)) == {name: said.get(name, 0) for name in data.classes}
    assert data.gold.names() == tuple(names[str(row["old_label"])] for row in rows)
    assert data.texts[data.texts.columns[1]].to_list() == [list(row["example"].values())[1] for row in rows]


def test_the_example_of_the_readme(shared_data):
    data = sf.data.load("chaosnli/snli")
    row = data.items.index("193596775.jpg#3r1n")
    assert data.classes == ("entailment", "neutral", "contradiction")
    assert data.counts[row].tolist() == [4, 67, 29]
    assert data.gold.names()[row] == "neutral"
    assert data.texts["hypothesis"][row] == "A woman is walking her dog."


@pytest.mark.parametrize(("part", "votes"), [("snli", 7563), ("mnli", 7995)])
def test_the_original_panel(shared_data, part, votes):
    data = sf.data.load("chaosnli", part=part, panel="original")
    assert data.annotations.n_annotations == votes
    assert set(data.counts.sum(axis=1)) <= {4, 5}
    # Chosen so that three of the five agreed, and the gold is what the three said.
    gold = data.counts[np.arange(len(data.items)), data.gold.labels]
    assert (gold == 3).all()
    assert (data.counts.argmax(axis=1) == data.gold.labels).all()


def test_what_there_is_not_is_refused(shared_data, tmp_path):
    with pytest.raises(OptionError, match="'alphanli' does not say what its original panel answered"):
        sf.data.load("chaosnli/alphanli", panel="original")
    with pytest.raises(OptionError, match="'panel' must be one of chaos, original"):
        sf.data.load("chaosnli/snli", panel="all")
    (tmp_path / "chaosNLI_snli.jsonl").write_text('{"uid": ')
    with pytest.raises(FormatError, match="is not one JSON record per line"):
        chaosnli.load(tmp_path, part="snli")
