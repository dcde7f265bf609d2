"""Where people come from and go back to: Prolific, Mechanical Turk, personal invitations, and plain links.

What a platform puts into its addresses is read here, and what it wants at the end is made here; nothing of it is kept
beside what people said (`Contact` goes to a file of its own, and the study file gets a keyed hash).
"""

from __future__ import annotations

__all__ = [
    "Arrival",
    "ArrivalError",
    "Ending",
    "address_of",
    "arrival_of",
    "contact_of",
    "ending_of",
    "form_targets",
    "frame_ancestors",
]

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import quote, urlsplit

from sfumato.collect.store import Contact
from sfumato.collect.study import PlatformKind, Study
from sfumato.errors import InputError

_LONGEST = 300
_MTURK = "https://*.mturk.com"
_NOT_ACCEPTED = "ASSIGNMENT_ID_NOT_AVAILABLE"
_PROLIFIC_START = "?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"
_PROLIFIC_END = "https://app.prolific.com/submissions/complete?cc={code}"


class ArrivalError(InputError):
    """Somebody came without *name*, which the platform adds to its links, so nobody could be paid for what they say."""

    def __init__(self, message: str, name: str) -> None:
        super().__init__(message)
        self.name = name


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """Somebody at the door: who they are to their platform, and for which *submission* of theirs.

    *platform_id* "" is somebody of whom nothing is known. A *preview* must not be let in: the task is not accepted yet.
    """

    platform: PlatformKind
    platform_id: str = ""
    submission: str = ""
    details: Mapping[str, str] = field(default_factory=dict)
    preview: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """What the last page needs: the code, the link back, and for Mechanical Turk the form to be sent there."""

    code: str = ""
    link: str = ""
    mturk: Mapping[str, str] | None = None


def arrival_of(study: Study, query: Mapping[str, str]) -> Arrival:
    """Return who is at the door, from the *query* of the address.

    >>> from sfumato.collect.study import Platform, StudyClass
    >>> classes = (StudyClass(name="deer"), StudyClass(name="horse"))
    >>> study = Study(title="Animals", classes=classes, platform=Platform(kind="prolific"))
    >>> arrival_of(study, {"PROLIFIC_PID": "5f1a", "STUDY_ID": "s", "SESSION_ID": "x"}).platform_id
    '5f1a'
    """
    kind = study.platform.kind
    if kind == "prolific":
        person, session = _told(query, "PROLIFIC_PID"), _told(query, "SESSION_ID", needed=False)
        return Arrival(
            platform=kind, platform_id=person, submission=session, details=_some(query, {"STUDY_ID": "study"})
        )
    if kind == "mturk":
        assignment = _told(query, "assignmentId")
        if assignment == _NOT_ACCEPTED:
            return Arrival(platform=kind, preview=True)
        target = _told(query, "turkSubmitTo")
        parts = urlsplit(target)
        if parts.scheme != "https" or not f".{parts.hostname}".endswith(".mturk.com") or parts.path.strip("/"):
            raise ArrivalError(f"turkSubmitTo must be an address of mturk.com. Got {target!r} instead.", "turkSubmitTo")
        return Arrival(
            platform=kind,
            platform_id=_told(query, "workerId"),
            submission=assignment,
            details={"submit_to": f"https://{parts.netloc}", **_some(query, {"hitId": "hit"})},
        )
    # A personal invitation stands in the path of its address, and a plain link says nothing of who follows it.
    return Arrival(platform=kind)


def contact_of(arrival: Arrival, *, person: str, at: int) -> Contact | None:
    """Return what the list of payments needs, where the platform said who it is."""
    if not arrival.platform_id:
        return None
    return Contact(person, arrival.platform, arrival.platform_id, arrival.submission, arrival.details, at)


def ending_of(study: Study, contact: Contact | None, *, code: str, screened: bool = False) -> Ending:
    """Return how a person leaves: done with the completion *code*, or screened out with that of the study file.

    ``{code}`` in an address of study.toml becomes the code.

    >>> from sfumato.collect.study import Platform, StudyClass
    >>> classes = (StudyClass(name="deer"), StudyClass(name="horse"))
    >>> study = Study(title="Animals", classes=classes, platform=Platform(kind="prolific"))
    >>> ending_of(study, None, code="C1").link
    'https://app.prolific.com/submissions/complete?cc=C1'
    """
    platform = study.platform
    if screened:
        code, link = platform.screen_out_code, platform.screen_out_url
    else:
        link = platform.completion_url
    if not link and code and platform.kind == "prolific":
        link = _PROLIFIC_END
    link = link.replace("{code}", quote(code, safe=""))
    if platform.kind == "mturk" and contact is not None and not screened:
        action = f"{contact.details['submit_to']}/mturk/externalSubmit"
        return Ending(code=code, link=link, mturk={"action": action, "assignment_id": contact.submission})
    return Ending(code=code, link=link)


def address_of(study: Study, address: str) -> str:
    """Return the *address* of the study as its platform wants it told, with what the platform is to fill in."""
    return address + _PROLIFIC_START if study.platform.kind == "prolific" else address


def frame_ancestors(study: Study) -> tuple[str, ...]:
    """Return the sites that may show the study in a frame, for the Content-Security-Policy."""
    return (_MTURK,) if study.platform.kind == "mturk" else ("'none'",)


def form_targets(study: Study) -> tuple[str, ...]:
    """Return where forms of the study may be sent, for the Content-Security-Policy."""
    return ("'self'", _MTURK) if study.platform.kind == "mturk" else ("'self'",)


def _told(query: Mapping[str, str], name: str, *, needed: bool = True) -> str:
    value = query.get(name, "").strip()
    # An unfilled placeholder of the platform would make one person of everybody.
    unfilled = value.startswith(("{{", "${"))
    if (needed and not value) or unfilled or len(value) > _LONGEST or not value.isprintable():
        message = f"The address must carry {name}, as the platform fills it in. Got {value[:40]!r} instead."
        raise ArrivalError(message, name)
    return value


def _some(query: Mapping[str, str], names: Mapping[str, str]) -> dict[str, str]:
    return {name: value for told, name in names.items() if (value := _told(query, told, needed=False))}
