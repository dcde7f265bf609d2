from __future__ import annotations

import csv
import gzip
import io

import numpy as np
import pytest

import sfumato as sf
from sfumato.errors import OptionError


def test_the_expert_subset_has_the_known_figures(shared_data, figures):
    data = sf.data.load("mre")
    votes = data.annotations
    assert (votes.n_items, votes.n_annotators, votes.n_annotations) == (975, 304, 14_920)
    assert np.bincount(data.gold.labels).tolist() == [728, 247]
    assert set(data.gold.items) == set(votes.items) == set(data.items)
    assert figures.vote_accuracy(data) == pytest.approx(0.763, abs=5e-4)
    assert figures.annotator_accuracies(data).mean() == pytest.approx(0.7606, abs=5e-5)
    assert figures.agreement(data) == pytest.approx(0.857, abs=5e-4)


def test_reading_the_whole_row_gives_the_published_vote(shared_data, figures):
    assert figures.vote_accuracy(sf.data.load("mre", cause="anywhere")) == pytest.approx(0.764, abs=5e-4)


def test_one_annotation_per_sentence_and_annotator_is_the_maximum(shared_data):
    votes = sf.data.load("mre").annotations
    pairs = np.stack([votes.item, votes.annotator])
    assert np.unique(pairs, axis=1).shape[1] == votes.n_annotations
    # An independent reading, with the standard library and dictionaries.
    found: dict[tuple[str, str], bool] = {}
    for path in sorted((shared_data / "mre/raw_RelEx").iterdir()):
        with gzip.open(path, "rt", newline="") as lines:
            for row in csv.DictReader(lines):
                key = (row["sent_id"].split("-FS")[0], row["_worker_id"])
                found[key] = found.get(key, False) or "[CAUSES]" in row["step_1_select_the_valid_relations"]
    kept = {key: value for key, value in found.items() if key[0] in set(votes.items)}
    assert len(kept) == votes.n_annotations
    cause = np.array([0.0] * votes.n_items)
    place = {item: row for row, item in enumerate(votes.items)}
    for (item, _), value in kept.items():
        cause[place[item]] += value
    np.testing.assert_array_equal(votes.counts()[:, 1], cause)


def test_all_sentences_can_be_had(shared_data):
    data = sf.data.load("mre", sentences="all")
    assert data.annotations.n_items == len(data.items) == 3142
    assert len(data.gold.items) == 975
    assert data.texts["text"].null_count() == 0


def test_the_places_of_the_terms_hold_where_entities_are_resolved(shared_data):
    texts = sf.data.load("mre", sentences="all").texts
    assert not texts["text"].str.contains("&(gt|lt|quot|amp);").any()
    with (shared_data / "mre/ground_truth_cause.csv").open(newline="") as lines:
        upstream = {row["SID"]: row for row in csv.DictReader(lines)}
    moved = {}
    for row in texts.iter_rows(named=True):
        for name in ("b1", "b2"):
            place = int(upstream[row["item"]][name])
            if row[name] != place:
                moved[row["item"], name] = (place, row[name])
    # One or two entities of four letters stand before these terms; two terms have no place upstream.
    assert moved == {
        ("902776", "b1"): (186, 180),
        ("902776", "b2"): (278, 272),
        ("903578", "b1"): (100, 97),
        ("903578", "b2"): (122, 119),
        ("906069", "b1"): (209, 206),
        ("812612", "b2"): (-1, None),
        ("813930", "b2"): (-1, None),
    }
    row = texts.filter(texts["item"] == "902776").row(0, named=True)
    assert row["text"][row["b1"] :].startswith("STERILE CIRRHOTIC AS")


def test_unknown_choices_are_refused(shared_data):
    with pytest.raises(OptionError, match="sentences"):
        sf.data.load("mre", sentences="some")
    with pytest.raises(OptionError, match="cause"):
        sf.data.load("mre", cause="maybe")


def test_personal_columns_are_cut_out_of_a_download():
    upstream = (
        '_unit_id,_ip,relations,_country,_city,_region,_channel,sent_id\n1,192.0.2.7,"[A],\nB",NLD,X,Y,neodev,9\n'
    )
    clean = next(file.clean for file in sf.data.entry("mre").files if file.clean is not None)
    kept = clean(upstream.encode())
    assert list(csv.reader(io.StringIO(kept.decode(), newline=""))) == [
        ["_unit_id", "relations", "sent_id"],
        ["1", "[A],\nB", "9"],
    ]
    assert clean(kept) == kept
