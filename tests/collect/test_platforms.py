"""What platforms put into their addresses, and what they want back."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from sfumato.collect.platforms import (
    Arrival,
    ArrivalError,
    address_of,
    arrival_of,
    contact_of,
    ending_of,
    form_targets,
    frame_ancestors,
)
from sfumato.collect.study import Platform, Study, StudyClass

PROLIFIC = {"PROLIFIC_PID": "5f1a", "STUDY_ID": "s1", "SESSION_ID": "x9"}
MTURK = {
    "assignmentId": "A1", "hitId": "H1", "workerId": "W1", "turkSubmitTo": "https://workersandbox.mturk.com",
}  # fmt: skip


def study(kind: str, **more: Any) -> Study:
    classes = (StudyClass(name="deer"), StudyClass(name="horse"))
    return Study(title="T", classes=classes, platform=Platform(kind=kind, **more))  # type: ignore[arg-type]


def test_prolific_says_who_and_for_which_submission() -> None:
    arrival = arrival_of(study("prolific"), PROLIFIC)
    assert arrival == Arrival(platform="prolific", platform_id="5f1a", submission="x9", details={"study": "s1"})
    contact = contact_of(arrival, person="ann", at=7)
    assert contact is not None
    assert (contact.person, contact.platform_id, contact.submission, contact.arrived_at) == ("ann", "5f1a", "x9", 7)


def test_mturk_shows_a_preview_before_the_task_is_accepted() -> None:
    preview = arrival_of(study("mturk"), {"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE", "hitId": "H1"})
    assert preview.preview
    assert contact_of(preview, person="ann", at=7) is None
    accepted = arrival_of(study("mturk"), MTURK)
    assert (accepted.preview, accepted.platform_id, accepted.submission) == (False, "W1", "A1")
    assert accepted.details == {"submit_to": "https://workersandbox.mturk.com", "hit": "H1"}


@pytest.mark.parametrize("kind", ["plain", "invitation"])
def test_a_link_without_a_platform_says_nothing_of_who_follows_it(kind: str) -> None:
    arrival = arrival_of(study(kind), {"PROLIFIC_PID": "5f1a", "utm": "x"})
    assert arrival == Arrival(platform=kind)  # type: ignore[arg-type]
    assert contact_of(arrival, person="ann", at=7) is None


@pytest.mark.parametrize(
    ("kind", "query", "name"),
    [
        ("prolific", {}, "PROLIFIC_PID"),
        ("prolific", {"PROLIFIC_PID": "  "}, "PROLIFIC_PID"),
        ("prolific", {"PROLIFIC_PID": "{{%PROLIFIC_PID%}}"}, "PROLIFIC_PID"),
        ("prolific", {"PROLIFIC_PID": "x" * 301}, "PROLIFIC_PID"),
        ("prolific", {"PROLIFIC_PID": "a\x00b"}, "PROLIFIC_PID"),
        ("prolific", {**PROLIFIC, "SESSION_ID": "{{%SESSION_ID%}}"}, "SESSION_ID"),
        ("mturk", {}, "assignmentId"),
        ("mturk", {**MTURK, "workerId": ""}, "workerId"),
        ("mturk", {**MTURK, "turkSubmitTo": ""}, "turkSubmitTo"),
        ("mturk", {**MTURK, "turkSubmitTo": "https://evil.example"}, "turkSubmitTo"),
        ("mturk", {**MTURK, "turkSubmitTo": "https://evilmturk.com"}, "turkSubmitTo"),
        ("mturk", {**MTURK, "turkSubmitTo": "http://www.mturk.com"}, "turkSubmitTo"),
        ("mturk", {**MTURK, "turkSubmitTo": "https://www.mturk.com/elsewhere"}, "turkSubmitTo"),
        ("mturk", {**MTURK, "turkSubmitTo": "https://x@evil.example/.mturk.com"}, "turkSubmitTo"),
        ("mturk", {**MTURK, "turkSubmitTo": "javascript:alert(1)"}, "turkSubmitTo"),
    ],
)
def test_who_cannot_be_paid_is_not_let_in(kind: str, query: dict[str, str], name: str) -> None:
    with pytest.raises(ArrivalError, match=name):
        arrival_of(study(kind), query)


def test_the_way_back() -> None:
    assert ending_of(study("plain"), None, code="C1").link == ""
    told = ending_of(study("plain", completion_url="https://example.org/?c={code}"), None, code="C 1&")
    assert (told.code, told.link) == ("C 1&", "https://example.org/?c=C%201%26")
    prolific = study("prolific", screen_out_code="OUT")
    assert ending_of(prolific, None, code="C1").link == "https://app.prolific.com/submissions/complete?cc=C1"
    out = ending_of(prolific, None, code="C1", screened=True)
    assert (out.code, out.link) == ("OUT", "https://app.prolific.com/submissions/complete?cc=OUT")
    # Without a code of its own, nobody who was screened out gets the one that is paid.
    assert ending_of(study("prolific"), None, code="C1", screened=True).code == ""
    assert ending_of(study("prolific"), None, code="C1", screened=True).link == ""
    elsewhere = study("prolific", completion_url="https://example.org/thanks")
    assert ending_of(elsewhere, None, code="C1").link == "https://example.org/thanks"


def test_mturk_gets_a_form_for_its_own_site() -> None:
    contact = contact_of(arrival_of(study("mturk"), MTURK), person="ann", at=7)
    ending = ending_of(study("mturk"), contact, code="C1")
    assert ending.mturk == {
        "action": "https://workersandbox.mturk.com/mturk/externalSubmit", "assignment_id": "A1",
    }  # fmt: skip
    assert ending_of(study("mturk"), contact, code="C1", screened=True).mturk is None


def test_frames_and_forms_of_others_are_for_mturk_alone() -> None:
    assert frame_ancestors(study("mturk")) == ("https://*.mturk.com",)
    assert frame_ancestors(study("prolific")) == ("'none'",)
    assert form_targets(study("mturk")) == ("'self'", "https://*.mturk.com")
    assert form_targets(study("plain")) == ("'self'",)


def test_the_address_for_prolific_has_the_places_that_it_fills_in() -> None:
    address = address_of(study("prolific"), "https://example.org/")
    filled = address.replace("{{%PROLIFIC_PID%}}", "p").replace("{{%STUDY_ID%}}", "s").replace("{{%SESSION_ID%}}", "x")
    query = dict(parse_qsl(urlsplit(filled).query))
    assert arrival_of(study("prolific"), query).platform_id == "p"
    # Who follows it as it stands is nobody.
    with pytest.raises(ArrivalError, match="PROLIFIC_PID"):
        arrival_of(study("prolific"), dict(parse_qsl(urlsplit(address).query)))
    assert address_of(study("plain"), "https://example.org/") == "https://example.org/"
