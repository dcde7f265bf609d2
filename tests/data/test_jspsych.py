from __future__ import annotations

import json

import pytest

from sfumato.data import jspsych
from sfumato.errors import FormatError

HEAD = ",trial_type,trial_index,time_elapsed,subject,condition,rt,view_history,response,filename,task,label,img_id\n"


def row(number, subject, trial, form, *, task="spec_conf", item="12.0", label="Cat", rt="1500"):
    text = json.dumps(form).replace('"', '""')
    return f'{number},survey-html-form,{trial},60000,{subject},7,{rt},,"{text}",x.png,{task},{label},{item}\n'


def form(top="Cat", prob="70", second="No", prob2="", *marks):
    page = {"classSelect": f"mostProb{top}", "prob": prob, "classSelect2": f"secondProb{second}", "prob2": prob2}
    return page | {f"improbClassSelect{name}": "1" for name in marks}


def test_a_file_is_read_with_all_that_the_pages_say(tmp_path):
    path = tmp_path / "raw.csv"
    path.write_text(
        HEAD
        + "0,survey-text,5,1,someone,7,1,,free text of a person,,,,\n"
        + row(1, "someone", 6, form("Cat", "70", "Dog", "20", "Ship"))
        + row(2, "another", 6, form("Ship", "0"), item="3.0", label="Ship")
        + row(3, "someone", 7, form("Dog"), task="rerun_spec_conf")
        + row(9, "someone", 6, form("Cat", "70", "Dog", "20", "Ship"))
    )
    first, second, third = jspsych.read_pages(path)
    assert (first.batch, first.trial, first.elapsed, first.gold, first.is_repeat) == ("7", 6, 60.0, "cat", False)
    assert first.form["prob2"] == "20"
    said = first.response
    assert (said.item, said.annotator, said.stated) == ("12", "a001", (("cat", 70.0), ("dog", 20.0)))
    assert (said.impossible, said.mode, said.seconds) == (frozenset({"ship"}), "top2", 1.5)
    # What was typed is kept beside what it was read as.
    assert (second.form["prob"], second.response.stated, second.response.annotator) == ("0", (("ship", 100.0),), "a002")
    assert (third.is_repeat, third.response.annotator) == (True, "a001")
    assert len(jspsych.read_pages(path, keep_copies=True)) == 4


def test_classes_are_those_that_occur_or_those_that_are_given(tmp_path):
    assert jspsych.classes_in([form("B", "1", "No", "", "C"), form("A", "1", "B", "2")]) == ("a", "b", "c")
    path = tmp_path / "raw.csv"
    path.write_text(HEAD + row(1, "someone", 6, form("Cat")))
    with pytest.raises(FormatError, match=r"raw\.csv: the response to image 12 at trial 6 cannot be read"):
        jspsych.read_pages(path, classes=("deer", "dog"))


def test_numbers_are_read_as_they_were_meant():
    assert jspsych._percent("8p") == jspsych._percent(" 80") == 80
    assert jspsych._percent("05") == 5
    assert jspsych._percent("") is jspsych._percent("p\\\\\\") is jspsych._percent("nan") is None


@pytest.mark.parametrize("broken", ["not json", "[1]", '{"classSelect": 3, "prob": "1"}'])
def test_what_cannot_be_read_is_named(tmp_path, broken):
    path = tmp_path / "raw.csv"
    text = broken.replace('"', '""')
    path.write_text(f'{HEAD}1,survey-html-form,6,60000,someone,7,1500,,"{text}",x.png,spec_conf,Cat,12.0\n')
    with pytest.raises(FormatError, match="trial 6 cannot be read"):
        jspsych.read_pages(path)
