from __future__ import annotations

import functools
import json

import numpy as np
import pytest
from scipy.stats import pearsonr, wasserstein_distance

import sfumato as sf
from sfumato.core.responses import Response, annotations_of, contradictions, distribution
from sfumato.core.simplex import entropy
from sfumato.data import cifar10s
from sfumato.data.cifar10 import CLASSES
from sfumato.errors import FormatError


@functools.cache
def loaded(as_released):
    return sf.data.load("cifar10s", as_released=as_released)


@pytest.fixture
def clean(shared_data):
    return loaded(as_released=False)


@pytest.fixture
def released(shared_data):
    return loaded(as_released=True)


def soft_of(annotations):
    counts = annotations.counts()
    return counts / counts.sum(axis=1, keepdims=True)


def people_of(items):
    """What CIFAR-10H says of the same images, as an independent reading of its file."""
    data = sf.data.load("cifar10h", gold=False)
    counts = data.counts[[int(item) for item in items]]
    return counts / counts.sum(axis=1, keepdims=True)


def test_clean_is_6200_soft_labels_and_496_repeats(clean):
    assert (len(clean.responses), len(clean.repeats)) == (6200, 496)
    votes = clean.annotations
    assert (votes.n_items, votes.n_annotators, votes.n_annotations, votes.n_classes) == (1000, 248, 6200, 10)
    assert clean.items == votes.items == clean.gold.items
    pairs = {(response.item, response.annotator) for response in clean.responses}
    assert len(pairs) == 6200
    assert all((response.item, response.annotator) in pairs for response in clean.repeats)
    assert set(votes.per_annotator()) == {25}


def test_as_released_keeps_the_copy_and_counts_the_repeats(clean, released):
    assert (len(released.responses), len(released.repeats)) == (6723, 0)
    assert released.annotations.n_annotations == 6723
    assert released.annotations.n_annotators == 248
    twice = len(released.responses) - len(set(released.responses))
    assert twice == 27
    assert set(released.responses) == set(clean.responses) | set(clean.repeats)


def test_the_released_labels_come_out_to_the_last_digit(shared_data, released):
    """The authors' labels of the even images, which say neither who gave them nor in which order."""
    theirs = json.loads((shared_data / "cifar10s/released_t2clamp_labels_even_images.json").read_text())
    ours = {item: [] for item in theirs}
    for response in released.responses:
        if response.item in ours:
            ours[response.item].append(
                distribution(response, CLASSES, use="T2", redistribute="clamp", gamma=0.1, as_published=True)
            )
    assert len(theirs) == sum(int(item) % 2 == 0 for item in released.items) == 493
    assert sum(map(len, theirs.values())) == 3308
    for item, labels in theirs.items():
        assert len(labels) == len(ours[item])
        left = [np.array(label) for label in labels]
        for own in ours[item]:
            match = [k for k, label in enumerate(left) if np.abs(own - label).max() < 1e-12]
            assert match, f"nothing in image {item} equals {own}"
            del left[match[0]]


def test_the_annotations_are_those_distributions(released, clean):
    for data, as_published in ((released, True), (clean, False)):
        votes = data.annotations
        expected = np.zeros((votes.n_items, 10))
        row = {item: k for k, item in enumerate(votes.items)}
        for response in data.responses:
            expected[row[response.item]] += distribution(response, CLASSES, as_published=as_published)
        np.testing.assert_allclose(votes.counts(), expected, atol=1e-12)


def test_a_mark_on_a_stated_class_follows_the_authors_only_when_asked():
    # deer 90, dog 10 and marked impossible, with five others: three classes are open, the authors count two.
    response = Response(
        "58", "a", (("deer", 90.0), ("dog", 10.0)),
        frozenset({"airplane", "automobile", "bird", "dog", "frog", "ship"}),
    )  # fmt: skip
    sane = dict(zip(CLASSES, distribution(response, CLASSES), strict=True))
    assert sane["deer"] == pytest.approx(0.81)
    assert sane["dog"] == pytest.approx(0.09)
    assert sane["cat"] == sane["horse"] == sane["truck"] == pytest.approx(0.1 / 3)
    theirs = dict(zip(CLASSES, distribution(response, CLASSES, as_published=True), strict=True))
    assert theirs["deer"] == pytest.approx(0.81 / 1.05)
    assert theirs["cat"] == theirs["horse"] == theirs["truck"] == pytest.approx(0.05 / 1.05)
    # top 100 and marked impossible with eight others: one class is open, the authors count none.
    response = Response("3012", "a", (("bird", 100.0),), frozenset(CLASSES) - {"automobile"})
    assert distribution(response, CLASSES)[1] == pytest.approx(0.1)
    assert distribution(response, CLASSES, as_published=True)[2] == 1
    # dog 70 and marked impossible: nine classes share what is open, the authors divide by eight.
    response = Response("1594", "a", (("dog", 70.0),), frozenset({"dog"}))
    assert distribution(response, CLASSES)[0] == pytest.approx(0.3 / 9)
    assert distribution(response, CLASSES, as_published=True)[0] == pytest.approx(0.0375 / 1.0375)
    # uniform redistribution knows no marks, so there the authors count right.
    uniform = {"redistribute": "uniform"}
    np.testing.assert_array_equal(
        distribution(response, CLASSES, **uniform), distribution(response, CLASSES, as_published=True, **uniform)
    )


def test_the_contradictions_are_those_that_are_known(released):
    stated = [[name for name, _ in response.stated] for response in released.responses]
    assert sum(len(names) == 2 and names[0] == names[1] for names in stated) == 153
    marked = [response.impossible for response in released.responses]
    assert sum(names[0] in marks for names, marks in zip(stated, marked, strict=True)) == 26
    # Nineteen with the one that named an impossible second class and gave it no percentage.
    assert sum(len(names) == 2 and names[1] in marks for names, marks in zip(stated, marked, strict=True)) == 18
    found = [contradictions(response, CLASSES) for response in released.responses]
    assert sum(map(bool, found)) == 1201
    # Leaving aside those who left a rest and marked everything else impossible: 10.9 %.
    assert sum(any("are left" not in sentence for sentence in sentences) for sentences in found) == 733


@pytest.mark.parametrize(("as_released", "as_published", "r"), [(True, True, 0.6243), (False, True, 0.6293)])
def test_entropy_goes_with_that_of_cifar10h(shared_data, as_released, as_published, r):
    data = loaded(as_released=as_released)
    votes = annotations_of(data.responses, CLASSES, as_published=as_published)
    soft, people = soft_of(votes), people_of(votes.items)
    assert pearsonr(entropy(soft), entropy(people))[0] == pytest.approx(r, abs=5e-5)
    distance = np.mean([wasserstein_distance(own, other) for own, other in zip(soft, people, strict=True)])
    assert distance == pytest.approx(0.0270, abs=5e-5)


def test_the_sane_rules_bring_people_no_further_apart(clean):
    soft, people = soft_of(clean.annotations), people_of(clean.annotations.items)
    assert pearsonr(entropy(soft), entropy(people))[0] == pytest.approx(0.6299, abs=5e-5)


def test_the_stated_classes_are_mostly_right_and_pages_take_half_a_minute(released):
    gold = dict(zip(released.gold.items, released.gold.names(), strict=True))
    top = [response.stated[0][0] == gold[response.item] for response in released.responses]
    either = [gold[response.item] in [name for name, _ in response.stated] for response in released.responses]
    assert np.mean(top) == pytest.approx(0.843, abs=5e-4)
    assert np.mean(either) == pytest.approx(0.920, abs=1e-3)
    assert np.median([response.seconds for response in released.responses]) == pytest.approx(32.0, abs=0.05)


def test_people_who_answer_again_mostly_say_the_same(clean):
    first = {(response.item, response.annotator): response.stated[0] for response in clean.responses}
    pairs = [(first[response.item, response.annotator], response.stated[0]) for response in clean.repeats]
    assert sum(before[0] != after[0] for before, after in pairs) == 34
    change = [abs(before[1] - after[1]) for before, after in pairs if before[0] == after[0]]
    assert np.mean(change) == pytest.approx(6.07, abs=0.005)


def test_typing_slips_are_read_as_they_were_meant(released):
    percents = [percent for response in released.responses for _, percent in response.stated]
    assert all(0 <= percent <= 100 for percent in percents)
    assert min(response.stated[0][1] for response in released.responses) == 1


def test_no_platform_id_gets_through(shared_data, clean, released):
    raw = (shared_data / "cifar10s/raw_human_data.csv").read_text()
    assert "cl73wyn5lh8fjj1" in raw
    for data in (clean, released):
        names = {response.annotator for response in (*data.responses, *data.repeats)} | set(data.annotations.annotators)
        assert names == {f"a{number:03}" for number in range(1, 249)}


def page(**form):
    answer = {"classSelect": "mostProbCat", "prob": "70", "classSelect2": "secondProbNo", "prob2": ""} | form
    return json.dumps(answer).replace('"', '""')


def write_raw(folder, response, rt="1500"):
    (folder / "raw_human_data.csv").write_text(
        ",trial_type,trial_index,time_elapsed,subject,condition,rt,view_history,response,filename,task,label,img_id\n"
        f'0,survey-html-form,6,1,who,1,{rt},,"{response}",x.png,spec_conf,Cat,12.0\n'
        "1,survey-text,7,1,who,1,1,,free text of a person,,,,\n"
    )


def test_one_page_is_read_with_everything_on_it(tmp_path):
    form = page(classSelect2="secondProbDog", prob2="20", improbClassSelectShip="1", improbClassSelectFrog="0")
    write_raw(tmp_path, form)
    data = cifar10s.load(tmp_path)
    expected = Response("12", "a001", (("cat", 70.0), ("dog", 20.0)), frozenset({"ship"}), "top2", 1.5)
    assert data.responses == (expected,)
    assert data.gold.names() == ("cat",)


@pytest.mark.parametrize(
    ("form", "stated"),
    [
        (page(classSelect2="secondProbDog", prob2=""), (("cat", 70.0),)),
        (page(classSelect2="secondProbNo", prob2="30"), (("cat", 70.0),)),
        (page(prob="0", classSelect2="secondProbDog", prob2="0"), (("cat", 100.0), ("dog", 0.0))),
    ],
)
def test_what_was_not_said_is_not_read(tmp_path, form, stated):
    write_raw(tmp_path, form)
    assert cifar10s.load(tmp_path).responses[0].stated == stated


@pytest.mark.parametrize(
    "form",
    [page(classSelect="mostProbUnicorn"), page(classSelect="mostProbNo"), page(prob="many"), "not json", "[1]"],
)
def test_a_page_that_cannot_be_read_is_named(tmp_path, form):
    write_raw(tmp_path, form)
    with pytest.raises(FormatError, match=r"the response to image 12 at trial 6 cannot be read"):
        cifar10s.load(tmp_path)
