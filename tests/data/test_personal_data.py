"""No id of a crowdsourcing platform, no address and no description of a person gets through the door of any set."""

from __future__ import annotations

import re

import pytest

import sfumato as sf

PSEUDONYM = re.compile(r"[A-Za-z]+[_-]?\d{1,4}|anonymous")
# Worker ids of Mechanical Turk, of Prolific and of CrowdFlower.
PLATFORM_ID = re.compile(r"\bA[0-9A-Z]{11,14}\b|\b[0-9a-f]{24}\b|\b\d{7,8}\b")
COLUMNS = re.compile(
    r"_ip|city|region|country|channel|worker|user_id|gender|race|^age$|occupation|education|comment|prolific|mturk",
    re.I,
)


@pytest.mark.parametrize("name", sf.data.names())
def test_no_person_can_be_named(name, shared_data):
    for part in list(sf.data.entry(name).parts)[:14] or [None]:
        data = sf.data.load(name, part=part)
        annotators = {response.annotator for response in data.responses}
        if data.annotations is not None:
            annotators.update(data.annotations.annotators)
        if data.ratings is not None:
            annotators.update(data.ratings["annotator"])
        assert [annotator for annotator in annotators if not PSEUDONYM.fullmatch(annotator)] == []
        columns = [column for frame in (data.texts, data.ratings) if frame is not None for column in frame.columns]
        assert [column for column in columns if COLUMNS.search(column)] == []
        assert [item for item in data.items if re.search(r"\bA[0-9A-Z]{11,14}\b", item)] == []


def test_the_patterns_recognise_what_they_look_for(shared_data):
    raw = (shared_data / "rte/rte.standardized.tsv").read_text().splitlines()[1].split("\t")[1]
    assert PLATFORM_ID.search(raw)
    assert not PSEUDONYM.fullmatch(raw)
    assert COLUMNS.search("!amt_worker_ids")
    assert COLUMNS.search("_ip")


def test_the_loaded_tables_hold_no_worker_id_of_the_raw_files(shared_data):
    for name in ("rte", "snow2008/wsd", "snow2008/temp", "stemming"):
        folder = sf.data.path(name)
        raw = "".join(
            (folder / file.path).read_text()
            for file in sf.data.entry(name).files_of(name.partition("/")[2] or None)
            if not file.path.endswith(".xlsx")
        )
        workers = set(re.findall(r"\bA[0-9A-Z]{11,14}\b", raw))
        assert len(workers) > 20
        data = sf.data.load(name)
        assert not workers & set(data.annotations.annotators)
        assert len(data.annotations.annotators) == len(set(data.annotations.annotators)) <= len(workers)
