"""Small exports of every kind, written by hand, that the tests of all formats share."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

MOODS = ("glad", "sad")


def lines(records: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def label_studio_task(id: int, *choices: tuple[Any, str]) -> dict[str, Any]:
    """A task of the JSON export, with one annotation per (annotator, choice)."""
    annotations = [
        {
            "id": 100 * id + number,
            "completed_by": who,
            "was_cancelled": False,
            "ground_truth": False,
            "lead_time": 4.5,
            "result": [
                {"from_name": "mood", "to_name": "text", "type": "choices", "value": {"choices": [choice]}},
                {"from_name": "why", "to_name": "text", "type": "textarea", "value": {"text": ["it says so"]}},
            ],
        }
        for number, (who, choice) in enumerate(choices, start=1)
    ]
    return {"id": id, "data": {"text": f"text {id}", "key": f"k{id}"}, "annotations": annotations, "predictions": []}


def prodigy_line(input_hash: int, who: str, **fields: Any) -> dict[str, Any]:
    known = {"text": "a text", "_input_hash": input_hash, "_task_hash": 7, "_session_id": who, "_annotator_id": who}
    return {**known, "answer": "accept", **fields}


LEWIDI_ITEM = {
    "text": "a text",
    "annotation task": "mood detection",
    "number of annotations": 3,
    "annotations": "1,0,1",
    "annotators": "Ann1,Ann2,Ann6",
    "lang": "en",
    "hard_label": "1",
    "soft_label": {"0": 0.33, "1": 0.67},
    "split": "train",
    "other_info": {"other annotations": {"tone detection": "0, 0, 1"}},
}

MTURK_HEADER = (
    "HITId,HITTypeId,Title,AssignmentId,WorkerId,AssignmentStatus,Input.image_id,Input.text,{answers},Approve,Reject\n"
)
TOLOKA_HEADER = (
    "INPUT:image\tOUTPUT:mood\tGOLDEN:mood\tHINT:text\tASSIGNMENT:link\tASSIGNMENT:task_id\t"
    "ASSIGNMENT:assignment_id\tASSIGNMENT:worker_id\tASSIGNMENT:status\tASSIGNMENT:started\n"
)


def toloka_row(image: str, mood: str, who: str, *, golden: str = "", status: str = "APPROVED") -> str:
    return f"{image}\t{mood}\t{golden}\t\thttps://toloka.invalid/x\ttask-{image}\ta1\t{who}\t{status}\t2024-01-01\n"


# name of the example -> (format, file name, text)
EXAMPLES: dict[str, tuple[str, str, str]] = {
    "label_studio": (
        "label_studio",
        "export.json",
        json.dumps([label_studio_task(1, (3, "glad"), (4, "sad")), label_studio_task(2, (3, "sad"))], indent=2),
    ),
    "label_studio_min": (
        "label_studio",
        "min.json",
        json.dumps(
            [
                {"text": "a", "id": 1, "mood": "glad", "annotator": 3, "annotation_id": 9, "lead_time": 2.5},
                {"text": "a", "id": 1, "mood": "sad", "annotator": 4, "annotation_id": 10, "lead_time": 2.5},
            ]
        ),
    ),
    "argilla": (
        "argilla",
        "records.json",
        json.dumps(
            [
                {
                    "id": "r1",
                    "fields": {"text": "a"},
                    "metadata": {"source": "web"},
                    "suggestions": {"mood": {"value": "glad", "score": 0.5, "agent": "m"}},
                    "responses": {
                        "mood": [{"value": "glad", "user_id": "u1"}, {"value": "sad", "user_id": "u2"}],
                    },
                    "vectors": {},
                    "status": "pending",
                },
                {"id": "r2", "fields": {"text": "b"}, "responses": {"mood": [{"value": "sad", "user_id": "u1"}]}},
            ]
        ),
    ),
    "argilla_flat": (
        "argilla",
        "flat.jsonl",
        lines(
            [
                {
                    "id": "r1",
                    "text": "a",
                    "mood.responses": ["glad", "sad"],
                    "mood.responses.users": ["u1", "u2"],
                    "mood.responses.status": ["submitted", "draft"],
                    "mood.suggestion": "glad",
                },
                {"id": "r2", "text": "b", "mood.responses": None, "mood.responses.users": None},
                {
                    "id": "r3",
                    "text": "c",
                    "mood.responses": ["sad"],
                    "mood.responses.users": ["u1"],
                    "mood.responses.status": ["submitted"],
                },
            ]
        ),
    ),
    "argilla_feedback": (
        "argilla",
        "feedback.jsonl",
        lines(
            [
                {"text": "a", "external_id": "e1", "mood": []},
                {
                    "text": "b",
                    "external_id": "e2",
                    "mood": [
                        {"user_id": "u1", "value": "glad", "status": "submitted"},
                        {"user_id": "u2", "value": "sad", "status": "discarded"},
                    ],
                },
                {
                    "text": "c",
                    "external_id": "e3",
                    "mood": {"user_id": ["u1"], "value": ["sad"], "status": ["submitted"]},
                },
            ]
        ),
    ),
    "argilla_server": (
        "argilla",
        "server.json",
        json.dumps(
            [
                {
                    "id": "r1",
                    "fields": {"text": "a"},
                    "responses": [
                        {"user_id": "u1", "status": "submitted", "values": {"mood": {"value": "glad"}}},
                        {"user_id": "u2", "status": "discarded", "values": {}},
                    ],
                }
            ]
        ),
    ),
    "argilla_one": (
        "argilla",
        "classification.jsonl",
        lines(
            [
                {"id": "r1", "text": "a", "annotation": "glad", "annotation_agent": "u1", "status": "Validated"},
                {"id": "r2", "text": "b", "annotation": None, "annotation_agent": None, "status": "Default"},
            ]
        ),
    ),
    "prodigy_choice": (
        "prodigy",
        "choices.jsonl",
        lines(
            [
                prodigy_line(-31, "moods-ann", options=[{"id": mood} for mood in MOODS], accept=["glad"]),
                prodigy_line(-31, "moods-bob", options=[{"id": mood} for mood in MOODS], accept=["sad"]),
                prodigy_line(5, "moods-ann", options=[{"id": mood} for mood in MOODS], accept=["sad"]),
                prodigy_line(6, "moods-ann", options=[{"id": mood} for mood in MOODS], accept=[], answer="ignore"),
            ]
        ),
    ),
    "prodigy_binary": (
        "prodigy",
        "binary.jsonl",
        lines([prodigy_line(1, "ann", label="SPORT"), prodigy_line(1, "bob", label="SPORT", answer="reject")]),
    ),
    "doccano": (
        "doccano",
        "ann.jsonl",
        lines(
            [
                {"id": 1, "text": "a", "label": ["glad"], "Comments": []},
                {"id": 2, "text": "b", "label": [], "Comments": []},
                {"id": 3, "text": "c", "label": ["sad"], "Comments": []},
            ]
        ),
    ),
    "doccano_named": (
        "doccano",
        "all.json",
        json.dumps(
            [
                {"id": 1, "text": "a", "label": ["glad"], "annotator": "ann"},
                {"id": 1, "text": "a", "label": ["sad"], "annotator": "bob"},
            ]
        ),
    ),
    "doccano_numbers": (
        "doccano",
        "old.jsonl",
        lines(
            [
                {
                    "id": 1,
                    "text": "a",
                    "annotations": [{"label": 2, "user": 1}, {"label": 3, "user": 4}],
                    "meta": {},
                },
            ]
        ),
    ),
    "potato": (
        "potato",
        "annotated_instances.jsonl",
        lines(
            [
                {
                    "user_id": "ann",
                    "instance_id": "i1",
                    "displayed_text": "a",
                    "label_annotations": {"mood": {"glad": "1"}, "why": {"text_box": "it says so"}},
                    "span_annotations": {},
                    "behavioral_data": {"time": "4s"},
                },
                {
                    "user_id": "bob",
                    "instance_id": "i1",
                    "displayed_text": "a",
                    "label_annotations": {"mood": {"sad": "2"}},
                },
            ]
        ),
    ),
    "potato_new": (
        "potato",
        "annotations.jsonl",
        lines(
            [
                {"instance_id": "i1", "user_id": "ann", "labels": {"mood": {"glad": "glad"}}, "spans": {}, "links": {}},
                {"instance_id": "i1", "user_id": "bob", "labels": {"mood": {"sad": True, "glad": False}}, "spans": {}},
            ]
        ),
    ),
    "potato_table": (
        "potato",
        "annotated_instances.tsv",
        "user\tinstance_id\tdisplayed_text\tmood:::glad\tmood:::sad\nann\ti1\ta text\t1\t\nbob\ti1\ta text\t\t2\n",
    ),
    "potato_dotted": (
        "potato",
        "annotations.csv",
        "instance_id,user_id,mood.glad,mood.sad,ner._spans\ni1,ann,true,,[]\ni1,bob,False,True,[]\n",
    ),
    "mturk": (
        "mturk",
        "batch.csv",
        MTURK_HEADER.format(answers="Answer.mood.label")
        + 'H1,T,"A title, long",A1,W1,Approved,08,"a ""text""\nof two lines",glad,,\n'
        + "H1,T,title,A2,W2,Submitted,08,a text,sad,,\n"
        + "H2,T,title,A3,W1,Rejected,09,a text,sad,,\n",
    ),
    "mturk_boxes": (
        "mturk",
        "boxes.csv",
        MTURK_HEADER.format(answers="Answer.mood.glad,Answer.mood.sad")
        + "H1,T,title,A1,W1,Approved,08,a,true,false,,\nH1,T,title,A2,W2,Approved,08,a,false,true,,\n",
    ),
    "mturk_json": (
        "mturk",
        "json.csv",
        MTURK_HEADER.format(answers="Answer.taskAnswers")
        + 'H1,T,title,A1,W1,Approved,08,a,"[{""mood"":{""glad"":true,""sad"":false}}]",,\n'
        + 'H1,T,title,A2,W2,Approved,08,a,"[{""mood"":{""label"":""sad""}}]",,\n',
    ),
    "toloka": (
        "toloka",
        "assignments.tsv",
        TOLOKA_HEADER
        + toloka_row("08.png", "glad", "w1")
        + "\n"
        + toloka_row("08.png", "sad", "w2", golden="glad")
        + toloka_row("09.png", "sad", "w1", status="REJECTED"),
    ),
    "lewidi": ("lewidi", "HS_train.json", json.dumps({"1": LEWIDI_ITEM, "08": LEWIDI_ITEM}, indent=4)),
    "lewidi_2025": (
        "lewidi",
        "NLI_dev.json",
        json.dumps(
            {
                "49": {
                    "annotation task": "inference",
                    "text": {"context": "a", "statement": "b"},
                    "number of annotators": 2,
                    "annotators": "Ann1,Ann2,Ann2",
                    "number of annotations": 3,
                    "annotations": {"Ann1": "neutral", "Ann2": "entailment,neutral"},
                    "soft_label": {},
                },
                "50": {
                    "annotation task": "inference",
                    "annotators": "Ann1,Ann2",
                    "number of annotations": 2,
                    "annotations": {"Ann1": "neutral", "Ann2": "entailment"},
                },
            }
        ),
    ),
    "conll": (
        "conll",
        "tokens.tsv",
        "I\tPRON\tPRON\t?\nwin\tVERB\tNOUN\tVERB\n\nYou\tPRON\t-\tPRON\n",
    ),
    "conll_listed": (
        "conll",
        "crowd.tsv",
        "0001\tI\tPRON,,NOUN\tPRON\n\n0002\twin\tVERB,NOUN,\tVERB\n\n\n\n0003\tYou\t,PRON,PRON\tPRON\n\n",
    ),
    "crowdkit": ("crowdkit", "toloka.csv", "task,worker,label\n08,w1,cat\n08,w2,dog\n09,w1,cat\n"),
    "crowdkit_old": ("crowdkit", "old.tsv", "performer\ttask\tlabel\nw1\t08\tcat\nw2\t08\tdog\n"),
}


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str], Path]:
    """Write a text under a name, and return the path."""

    def written(name: str, text: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")
        return path

    return written


@pytest.fixture
def example(write: Callable[[str, str], Path]) -> Callable[[str], Path]:
    """Write one of the examples, and return the path."""
    return lambda name: write(*EXAMPLES[name][1:])


@pytest.fixture(params=sorted(EXAMPLES))
def any_example(request: pytest.FixtureRequest, example: Callable[[str], Path]) -> tuple[str, Path]:
    """Each example in turn: its format and its path."""
    return EXAMPLES[request.param][0], example(request.param)
