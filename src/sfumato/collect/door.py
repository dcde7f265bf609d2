"""What every route asks first: who this is, whether the form came from our page, and what the body says."""

from __future__ import annotations

__all__ = ["Door"]

import json
import math
import re
import time
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from sfumato.collect.desk import Desk
from sfumato.collect.languages import Language
from sfumato.collect.limits import Bucket, Limits
from sfumato.collect.refusal import Refusal
from sfumato.collect.sessions import Session, Sessions
from sfumato.collect.visits import Visit

_MOST_FIELDS = 30_000
_KEY = re.compile(r"[A-Za-z0-9_-]{8,64}", re.ASCII)
_MONTHS = 60 * 24 * 3600


class Door:
    """Cookies, tokens, limits and bodies; *framed* studies are shown inside the page of a platform."""

    def __init__(self, desk: Desk, sessions: Sessions, words: Language, limits: Limits, *, framed: bool) -> None:
        self._desk, self._sessions, self._words, self._framed = desk, sessions, words, framed
        self._arrivals, self._answers, self._tries = (
            Bucket(*each) for each in (limits.arrivals, limits.answers, limits.tries)
        )

    # Who this is.

    def session(self, request: Request) -> Session | None:
        """Return the session of the cookie, where it is one of ours."""
        token = request.cookies.get(self._sessions.cookie)
        return self._sessions.session(token, now=self._desk.now()) if token else None

    def visit(self, request: Request) -> Visit:
        """Return the visit of a person who takes part, or refuse."""
        session = self.session(request)
        visit = self._desk.visits.of(session.person) if session is not None else None
        if visit is None:
            raise Refusal(401, "session", self._words("notice.expired.text"))
        return visit

    def keep(self, response: Response, request: Request, session: Session) -> Response:
        """Put a session into the cookie of a response."""
        self._set(response, request, self._sessions.cookie, self._sessions.token(session), framed=self._framed)
        return response

    def is_admin(self, request: Request) -> bool:
        """Return whether the admin's cookie is good."""
        return self._sessions.is_admin(request.cookies.get(self._sessions.admin_cookie, ""), now=self._desk.now())

    def admin(self, request: Request) -> str:
        """Return the name under which the admin's forms are signed, or refuse."""
        if not self.is_admin(request):
            raise Refusal(401, "session", "Open the admin address that the server printed when it was first started.")
        return f"admin {request.cookies[self._sessions.admin_cookie]}"

    def keep_admin(self, response: Response, request: Request, *, leave: bool = False) -> Response:
        """Put the admin's cookie into a response, or take it away."""
        token = "" if leave else self._sessions.admin_token(self._desk.now())
        self._set(response, request, self._sessions.admin_cookie, token, strict=True)
        return response

    def _set(
        self,
        response: Response,
        request: Request,
        name: str,
        value: str,
        *,
        framed: bool = False,
        strict: bool = False,
    ) -> None:
        # Written out, since Starlette knows `Partitioned` from Python 3.14 on only.
        secure = request.url.scheme == "https"
        parts = [f"{name}={value}", "Path=/", "HttpOnly", f"Max-Age={_MONTHS if value else 0}"]
        if framed and secure:
            parts += ["SameSite=None", "Secure", "Partitioned"]
        else:
            parts += ["SameSite=Strict" if strict else "SameSite=Lax"] + ["Secure"] * secure
        response.headers.append("set-cookie", "; ".join(parts))

    # Limits.

    def count_arrival(self, request: Request) -> None:
        """Count somebody new from an address."""
        self._count(self._arrivals, request.state.sender)

    def count_answer(self, visit: Visit) -> None:
        """Count something that a person sent."""
        self._count(self._answers, visit.row.id)

    def count_try(self, request: Request) -> None:
        """Count a guess at the admin secret."""
        self._count(self._tries, request.state.sender)

    def _count(self, bucket: Bucket, sender: str) -> None:
        wait = bucket.wait(sender, time.monotonic())
        if wait:
            raise Refusal(429, "busy", self._words("notice.busy.text"), retry_after=int(wait) + 1)

    # Forms and bodies.

    def csrf(self, person: str) -> str:
        """Return the token that the forms of a person carry."""
        return self._sessions.csrf(person)

    def check_csrf(self, request: Request, person: str, token: object) -> None:
        """Refuse what does not come from one of our own pages."""
        if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            raise Refusal(403, "csrf", self._words("notice.expired.text"))
        if not isinstance(token, str) or not self._sessions.csrf_holds(person, token):
            raise Refusal(403, "csrf", self._words("notice.expired.text"))

    async def form(self, request: Request, person: str) -> list[tuple[str, str]]:
        """Return the fields of a plain form of this person, in their order."""
        body = await request.body()
        try:
            pairs = parse_qsl(
                body.decode("utf-8"), keep_blank_values=True, errors="strict", max_num_fields=_MOST_FIELDS
            )
        except ValueError:
            raise Refusal(400, "shape", "The form could not be read.") from None
        self.check_csrf(request, person, dict(pairs).get("csrf", ""))
        return pairs

    async def json(self, request: Request, person: str) -> dict[str, Any]:
        """Return the object that a script of this person sent."""
        headers = request.headers
        self.check_csrf(request, person, headers.get("x-csrf") or headers.get("x-csrf-token"))
        body = await request.body()
        try:
            told = json.loads(body, parse_constant=_no_number, parse_float=_finite)
            if b"\\ud" in body or b"\\uD" in body:
                # Halves of characters can be spelt in JSON, and written down nowhere.
                json.dumps(told, ensure_ascii=False).encode()
        except (ValueError, RecursionError):
            raise Refusal(400, "shape", "The body is not JSON.") from None
        if not isinstance(told, dict):
            raise Refusal(400, "shape", "The body must be a JSON object.")
        return told

    @staticmethod
    def is_form(request: Request) -> bool:
        """Return whether a plain form was sent, not the JSON of a script."""
        return request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json"

    @staticmethod
    def key(told: object) -> str:
        """Return the key that makes a submission count once."""
        if not isinstance(told, str) or not _KEY.fullmatch(told):
            raise Refusal(400, "shape", "key must be 8 to 64 letters, digits, - or _.")
        return told

    @staticmethod
    def whole(told: object, name: str, *, most: int = 2**53) -> int:
        """Return a whole number from 0 on."""
        if isinstance(told, str) and told.isascii() and told.isdigit() and len(told) < 17:
            told = int(told)
        if not isinstance(told, int) or isinstance(told, bool) or not 0 <= told <= most:
            raise Refusal(400, "shape", f"{name} must be a whole number from 0 to {most}.")
        return told

    @staticmethod
    def events(told: object, *, most: int = 5000) -> Sequence[Mapping[str, Any]]:
        """Return what happened to the inputs, as it was sent."""
        if not isinstance(told, list) or len(told) > most or not all(isinstance(each, dict) for each in told):
            raise Refusal(400, "shape", f"events must be a list of up to {most} objects.")
        return told

    @staticmethod
    def go(path: str) -> Response:
        """Return a redirect inside the study, after which a reload sends nothing again."""
        return RedirectResponse(path, status_code=303)


def _finite(text: str) -> float:
    number = float(text)
    if number in (math.inf, -math.inf):
        raise ValueError(f"{text} is too large")
    return number


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")
